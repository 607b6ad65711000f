//! Settings: the typed `settings:` of a policy (spec §3.2).

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;

/// What an oracle that fails gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnBlock {
    /// They do not.
    Stop,
    /// They do.
    Continue,
}

/// What an agent gets that skips hooks by a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bypass {
    /// A block of type `hooks-bypassed`.
    Block,
    /// A prompt of that type.
    Prompt,
    /// Nothing; it is logged as an aid.
    Allow,
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
    /// What an oracle that fails gives.
    pub on_error: OnError,
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
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            environment: None,
            on_error: OnError::Prompt,
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
        }
    }
}
