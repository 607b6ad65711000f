//! Settings: the typed `settings:` of a policy (spec §3.2).

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FleetSettings;

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

/// What `ahp ci` gives where the policy of a change is not that of what it goes to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PolicyChanged {
    /// A prompt.
    Prompt,
    /// A prompt that must be answered, which in CI nobody does.
    Ask,
    /// A block.
    Block,
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

/// What loosens the policy in force: a variable of whoever starts `ahp`, or the broken glass. The machine's layers can forbid it.
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
    /// `AHP_HOME`: where the user's layer lies.
    #[serde(rename = "AHP_HOME")]
    Home,
    /// `AHP_BASE`: what changes are measured against.
    #[serde(rename = "AHP_BASE")]
    Base,
    /// `XDG_STATE_HOME`: where it is kept what is trusted and approved.
    #[serde(rename = "XDG_STATE_HOME")]
    State,
    /// Locked bindings that only advise for some hours, because somebody with root has said so.
    #[serde(rename = "break-glass")]
    BreakGlass,
}

impl Override {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::OnConfigError,
        Self::Trust,
        Self::Env,
        Self::Home,
        Self::Base,
        Self::State,
        Self::BreakGlass,
    ];

    /// Returns the name by which it is forbidden: that of the variable.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnConfigError => "AHP_ON_CONFIG_ERROR",
            Self::Trust => "AHP_TRUST",
            Self::Env => "AHP_ENV",
            Self::Home => "AHP_HOME",
            Self::Base => "AHP_BASE",
            Self::State => "XDG_STATE_HOME",
            Self::BreakGlass => "break-glass",
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

/// `settings.shield`: what an agent may reach that is started by `ahp shield`; only system and user layers say it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShieldSettings {
    /// Further folders and files that may be written.
    pub write: Vec<PathBuf>,
    /// Sockets that may be reached: paths, and `ssh-agent`.
    pub sockets: Vec<PathBuf>,
    /// Devices that may be used.
    pub devices: Vec<PathBuf>,
    /// Folders and files that may not even be read.
    pub deny_read: Vec<PathBuf>,
    /// Whether servers may be reached.
    pub network: bool,
}

impl Default for ShieldSettings {
    fn default() -> Self {
        Self {
            write: Vec::new(),
            sockets: Vec::new(),
            devices: Vec::new(),
            deny_read: Vec::new(),
            network: true,
        }
    }
}

/// `settings.provenance`: which results are the project's own, and which are not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenanceSettings {
    /// MCP servers of which the results are believed.
    pub trusted_mcp: Vec<String>,
    /// Those that the project's own layers name, which count once a person has approved them.
    pub project_mcp: Vec<String>,
    /// Globs of files that hold what somebody else wrote.
    pub untrusted_paths: Vec<String>,
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
    /// What `ahp ci` gives for a change of the policy.
    pub policy_changed: PolicyChanged,
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
    /// Which results are the project's own.
    pub provenance: ProvenanceSettings,
    /// Whether agents are kept from changing what governs them; only system and user layers may switch it off.
    pub self_protection: bool,
    /// Whether a project is held to what was approved of it; only system and user layers may switch it off.
    pub ratchet: bool,
    /// Destinations that what leaves the machine may go to: `host`, `host:port` or `host/path/prefix`.
    pub trusted_hosts: Vec<String>,
    /// Those that the project's own layers name, which count once a person has approved them.
    pub project_hosts: Vec<String>,
    /// What loosens nothing here; only the bundle and the system layer forbid any.
    pub forbid: Vec<Override>,
    /// The team, by which figures of many machines are told apart.
    pub team: Option<String>,
    /// What may leave this machine, and from where policy comes to it; only the bundle and the system layer say.
    pub fleet: FleetSettings,
    /// What a shielded agent may reach; only system and user layers say it.
    pub shield: ShieldSettings,
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
            policy_changed: PolicyChanged::Prompt,
            issues: PathBuf::from("Issues"),
            agent_hooks: true,
            agent_hook_dirs: Vec::new(),
            oracles: vec![PathBuf::from(".ahp/oracles")],
            log: LogSettings::default(),
            provenance: ProvenanceSettings::default(),
            self_protection: true,
            ratchet: true,
            trusted_hosts: Vec::new(),
            project_hosts: Vec::new(),
            forbid: Vec::new(),
            team: None,
            fleet: FleetSettings::default(),
            shield: ShieldSettings::default(),
        }
    }
}

impl Settings {
    /// Takes over from earlier settings what these have weakened; returns the keys. Beside the values that have an order, and
    /// those that bindings choose by, all are compared where `all` says so.
    pub(super) fn raise_to(&mut self, earlier: &Self, all: bool) -> Vec<&'static str> {
        let mut changed = Vec::new();
        let mut take = |is_weaker: bool, key: &'static str| {
            if is_weaker {
                changed.push(key);
            }
            is_weaker
        };
        if take(self.environment != earlier.environment, "environment") {
            self.environment.clone_from(&earlier.environment);
        }
        if take(
            self.max_stop_blocks < earlier.max_stop_blocks,
            "max_stop_blocks",
        ) {
            self.max_stop_blocks = earlier.max_stop_blocks;
        }
        if take(self.bypass > earlier.bypass, "bypass") {
            self.bypass = earlier.bypass;
        }
        if take(
            self.policy_changed < earlier.policy_changed,
            "policy_changed",
        ) {
            self.policy_changed = earlier.policy_changed;
        }
        if take(self.on_block > earlier.on_block, "on_block") {
            self.on_block = earlier.on_block;
        }
        if take(self.timeout < earlier.timeout, "timeout") {
            self.timeout = earlier.timeout;
        }
        let is_laxer = match (self.on_error, earlier.on_error) {
            (now, Some(then)) => now < Some(then),
            (now, None) => matches!(now, Some(OnError::Allow | OnError::Prompt)),
        };
        if take(is_laxer, "on_error") {
            self.on_error = earlier.on_error;
        }
        let (given, known) = (&mut self.provenance, &earlier.provenance);
        let mut lost = known.untrusted_paths.clone();
        lost.retain(|path| !given.untrusted_paths.contains(path));
        if take(!lost.is_empty(), "provenance.untrusted_paths") {
            given.untrusted_paths.append(&mut lost);
        }
        if take(earlier.log.required && !self.log.required, "log.required") {
            self.log.required = true;
        }
        if take(
            earlier.self_protection && !self.self_protection,
            "self_protection",
        ) {
            self.self_protection = true;
        }
        if !all {
            return changed;
        }
        if take(earlier.agent_hooks && !self.agent_hooks, "agent_hooks") {
            self.agent_hooks = true;
        }
        for (now, then, key) in [
            (
                &mut self.agent_hook_dirs,
                &earlier.agent_hook_dirs,
                "agent_hooks",
            ),
            (&mut self.oracles, &earlier.oracles, "oracles"),
        ] {
            // What comes behind takes nobody's place.
            if take(!now.starts_with(then), key) {
                now.retain(|dir| !then.contains(dir));
                now.splice(0..0, then.iter().cloned());
            }
        }
        if take(self.issues != earlier.issues, "issues") {
            self.issues.clone_from(&earlier.issues);
        }
        let log = LogSettings {
            required: self.log.required,
            ..earlier.log.clone()
        };
        if take(self.log != log, "log") {
            self.log = log;
        }
        changed
    }
}
