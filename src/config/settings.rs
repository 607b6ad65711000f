//! Settings: the typed `settings:` of a policy (spec §3.2).

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;

/// What an oracle that fails gives.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Nothing; the failure is logged.
    Allow,
    /// A prompt of type `oracle-error`.
    Prompt,
    /// A block of type `oracle-error`.
    Block,
}

/// Whether later stages still run after a block.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum OnBlock {
    /// They do not.
    Stop,
    /// They do.
    Continue,
}

/// What an agent gets that skips hooks by a flag.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Bypass {
    /// A block of type `hooks-bypassed`.
    Block,
    /// A prompt of that type.
    Prompt,
    /// Nothing; it is logged as an aid.
    Allow,
}

/// A variable by which whoever starts `ahp` loosens what is in force; the system layer can forbid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Override {
    /// `AHP_ON_CONFIG_ERROR`: a fault of the configuration is a warning.
    #[serde(rename = "AHP_ON_CONFIG_ERROR")]
    OnConfigError,
    /// `AHP_TRUST`: every project may run programs.
    #[serde(rename = "AHP_TRUST")]
    Trust,
    /// `AHP_ENV`: the environment.
    #[serde(rename = "AHP_ENV")]
    Env,
}

impl Override {
    /// All of them.
    pub const ALL: &[Self] = &[Self::OnConfigError, Self::Trust, Self::Env];

    /// Returns the variable's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnConfigError => "AHP_ON_CONFIG_ERROR",
            Self::Trust => "AHP_TRUST",
            Self::Env => "AHP_ENV",
        }
    }
}

/// How much of an event the log keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogEvents {
    /// Its digest alone.
    None,
    /// The whole event, with secrets cut.
    Redacted,
    /// The whole event.
    Full,
}

/// When the log is forced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fsync {
    /// After each append.
    Always,
    /// After an append that holds a signal or a response.
    Signals,
    /// Never; the operating system decides.
    Never,
}

/// `settings.log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSettings {
    /// Where the log lies, relative to the project root.
    pub path: PathBuf,
    /// The size in bytes at which it is rotated.
    pub max_size: u64,
    /// How many rotated files are kept.
    pub keep: u32,
    /// How much of an event is kept.
    pub events: LogEvents,
    /// When it is forced to the disk.
    pub fsync: Fsync,
    /// Whether an event must not pass unlogged: a log that cannot be written then blocks.
    pub required: bool,
    /// Further regular expressions whose matches are cut before writing.
    pub redact: Vec<String>,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            path: PathBuf::from(".ahp/signals.jsonl"),
            max_size: 64 << 20,
            keep: 10,
            events: LogEvents::Redacted,
            fsync: Fsync::Signals,
            required: false,
            redact: Vec::new(),
        }
    }
}

/// `settings:` with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The environment, where the event does not say; else `AHP_ENV`, else `development`.
    pub environment: Option<String>,
    /// What an oracle that fails gives; where nobody says, it depends on the binding.
    pub on_error: Option<OnError>,
    /// How long one oracle may take.
    pub timeout: Duration,
    /// Whether later stages still run after a block.
    pub on_block: OnBlock,
    /// After how many blocks in a row a stop is let through.
    pub max_stop_blocks: u32,
    /// What an agent gets that passes `--no-hooks` or `--force` to an issue command.
    pub bypass: Bypass,
    /// Where the issue files live, relative to the project root.
    pub issues: PathBuf,
    /// Whether HOOK.md hooks are discovered.
    pub agent_hooks: bool,
    /// Further directories with HOOK.md hooks.
    pub agent_hook_dirs: Vec<PathBuf>,
    /// Further directories with script oracles.
    pub oracles: Vec<PathBuf>,
    /// The log.
    pub log: LogSettings,
    /// Whether agents are kept from changing what governs them; only system and user layers may switch it off.
    pub self_protection: bool,
    /// Whether a project is held to what was approved of it; only system and user layers may switch it off.
    pub ratchet: bool,
    /// The variables that count as not set; only the system layer forbids any.
    pub forbid: Vec<Override>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            environment: None,
            on_error: None,
            timeout: Duration::from_mins(1),
            on_block: OnBlock::Stop,
            max_stop_blocks: 3,
            bypass: Bypass::Block,
            issues: PathBuf::from("Issues"),
            agent_hooks: true,
            agent_hook_dirs: Vec::new(),
            oracles: vec![PathBuf::from(".ahp/oracles")],
            log: LogSettings::default(),
            self_protection: true,
            ratchet: true,
            forbid: Vec::new(),
        }
    }
}

impl Settings {
    /// Whether they let more pass than others in a value that has an order, or that bindings choose by.
    pub(super) fn is_looser_than(&self, earlier: &Self) -> bool {
        self.environment != earlier.environment
            || self.max_stop_blocks < earlier.max_stop_blocks
            || self.bypass > earlier.bypass
            || self.on_block > earlier.on_block
            || self.timeout < earlier.timeout
            || (earlier.on_error.is_some() && self.on_error < earlier.on_error)
            || (earlier.on_error.is_none()
                && matches!(self.on_error, Some(OnError::Allow | OnError::Prompt)))
            || (earlier.log.required && !self.log.required)
            || (earlier.self_protection && !self.self_protection)
    }
}
