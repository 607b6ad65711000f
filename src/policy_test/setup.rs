//! Setup: what a test is made of, as written; a test's own part lies over its file's.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::expectation::Expectation;
use crate::workspace::TestFigures;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Setup {
    /// A policy: the path of a file beside the test, or the text or map of one.
    pub(super) policy: Option<Value>,
    /// A policy pack by its name, without `ahp:`.
    pub(super) pack: Option<String>,
    /// One oracle, bound to the trigger.
    pub(super) oracle: Option<String>,
    /// Its configuration.
    pub(super) config: Map<String, Value>,
    /// Other keys of its binding: `when`, `escalate`, `intensity`.
    pub(super) binding: Map<String, Value>,
    /// `settings:` of the policy that is made for the oracle.
    pub(super) settings: Map<String, Value>,
    pub(super) trigger: Option<String>,
    /// The event, without its trigger.
    pub(super) event: Map<String, Value>,
    /// A command line that a shell tool is about to run.
    pub(super) command: Option<String>,
    /// A file that a tool is about to write.
    pub(super) write: Option<Write>,
    pub(super) project: Project,
    pub(super) environment: Option<String>,
    /// When the event happens; else 2026-02-09T10:00:00Z.
    #[serde(deserialize_with = "moment")]
    pub(super) time: Option<DateTime<Utc>>,
    /// How long after what happened before.
    pub(super) after: Option<String>,
    /// What happened before, oldest first.
    pub(super) history: Vec<Earlier>,
}

/// A file that a tool is about to write.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Write {
    pub(super) path: String,
    pub(super) content: String,
}

/// A made-up project.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Project {
    /// Files by their path, with their text.
    pub(super) files: BTreeMap<String, String>,
    /// The text of the issue's file; its front matter names its id.
    pub(super) issue: Option<String>,
    /// Files that the change modifies.
    pub(super) changed: Vec<String>,
    /// Files that the change adds.
    pub(super) added: Vec<String>,
    /// Files that the change deletes.
    pub(super) deleted: Vec<String>,
    /// Files that the change moves: new path to old.
    pub(super) renamed: BTreeMap<String, String>,
    /// Files as they were before the change, with their text.
    pub(super) before: BTreeMap<String, String>,
    /// The files whose change is staged; by default all that have changed.
    pub(super) staged: Option<Vec<String>>,
    /// Lines added and removed by file; else the lines of an added file's text, and one of a modified file.
    pub(super) lines: BTreeMap<String, Lines>,
    /// The repository; where neither this nor a change is given, there is none.
    pub(super) git: Option<Git>,
    /// What is known of tests and coverage.
    pub(super) tests: TestFigures,
}

/// How many lines a change adds to a file and removes from it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Lines {
    pub(super) added: u32,
    pub(super) removed: u32,
}

/// The state of a repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Git {
    pub(super) branch: Option<String>,
    pub(super) default_branch: Option<String>,
    pub(super) dirty: bool,
    pub(super) ahead: u32,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            branch: Some("feature".to_owned()),
            default_branch: Some("main".to_owned()),
            dirty: false,
            ahead: 1,
        }
    }
}

/// Reads a moment, and says how one is written.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let read = DateTime::parse_from_rfc3339(&text).map(|time| time.to_utc());
    read.map(Some).map_err(|_| {
        D::Error::custom(format!(
            "`{text}` is not a time; write it as `2026-02-09T10:00:00Z`"
        ))
    })
}

/// An event that happened before the one that is tested, under the same policy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Earlier {
    pub(super) trigger: Option<String>,
    pub(super) event: Map<String, Value>,
    pub(super) command: Option<String>,
    pub(super) write: Option<Write>,
    pub(super) project: Project,
    #[serde(deserialize_with = "moment")]
    pub(super) time: Option<DateTime<Utc>>,
    /// What was answered to its signals: `acknowledge`, `dismiss`, `retry_after_fix`, …
    pub(super) answer: Option<String>,
    /// How often it happened.
    pub(super) times: Option<u32>,
    /// How long after what happened before it.
    pub(super) after: Option<String>,
    /// The exit code of what its tool runs; else 0.
    pub(super) exit_code: Option<i64>,
    /// Whether the result of its tool is told.
    pub(super) post: Option<Post>,
    /// What must come of it.
    pub(super) expect: Option<Expected>,
}

/// Whether the result of a tool is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Post {
    /// It never comes.
    None,
}

/// What must come of an earlier event: a decision alone, or a map.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Expected {
    /// `none`, `allow`, `ask` or `block`.
    Decision(String),
    /// All that can be expected of an event.
    Whole(Box<Expectation>),
}

impl Expected {
    pub(super) fn whole(&self) -> Expectation {
        match self {
            Self::Decision(decision) => Expectation {
                decision: Some(decision.clone()),
                ..Expectation::default()
            },
            Self::Whole(whole) => (**whole).clone(),
        }
    }
}

impl Setup {
    /// Lays a test's own setup over that of its file.
    pub(super) fn over(self, file: &Self) -> Self {
        let file = file.clone();
        let names_policy = self.policy.is_some() || self.pack.is_some() || self.oracle.is_some();
        let (policy, pack, oracle) = if names_policy {
            (self.policy, self.pack, self.oracle)
        } else {
            (file.policy, file.pack, file.oracle)
        };
        let acts = self.command.is_some() || self.write.is_some();
        let (command, write) = if acts {
            (self.command, self.write)
        } else {
            (file.command, file.write)
        };
        Self {
            policy,
            pack,
            oracle,
            config: over(file.config, self.config),
            binding: over(file.binding, self.binding),
            settings: over(file.settings, self.settings),
            trigger: self.trigger.or(file.trigger),
            event: over(file.event, self.event),
            command,
            write,
            project: self.project.over(file.project),
            environment: self.environment.or(file.environment),
            time: self.time.or(file.time),
            after: self.after.or(file.after),
            history: if self.history.is_empty() {
                file.history
            } else {
                self.history
            },
        }
    }

    /// Returns what an earlier event was made of: as the tested one, but for what is told of it.
    pub(super) fn earlier(&self, earlier: Earlier) -> Self {
        let own = Self {
            trigger: earlier.trigger,
            event: earlier.event,
            command: earlier.command,
            write: earlier.write,
            project: earlier.project,
            time: earlier.time,
            ..Self::default()
        };
        Self {
            history: Vec::new(),
            after: earlier.after,
            ..own.over(self)
        }
    }

    pub(super) fn event_json(&self, time: DateTime<Utc>) -> Value {
        let mut event = self.event.clone();
        event.entry("timestamp").or_insert(json!(time));
        if let Some(trigger) = &self.trigger {
            event.insert("trigger".to_owned(), json!(trigger));
        }
        if let Some(command) = &self.command {
            let tool = json!({"name": "Bash", "input": {"command": command}});
            event.entry("tool").or_insert(tool);
        }
        if let Some(write) = &self.write {
            let input = json!({"file_path": write.path, "content": write.content});
            let tool = json!({"name": "Write", "input": input});
            event.entry("tool").or_insert(tool);
        }
        if let Some(id) = self.project.issue_id() {
            event.entry("issue_id").or_insert(json!(id));
        }
        if let Some(environment) = &self.environment {
            event.insert("environment".to_owned(), json!(environment));
        }
        if !event.contains_key("issue_id") {
            event.entry("session_id").or_insert(json!("test"));
        }
        Value::Object(event)
    }
}

impl Project {
    fn over(self, file: Self) -> Self {
        let mut files = file.files;
        files.extend(self.files);
        // The change is told as a whole: half of one and half of another is not a change.
        let tells_change = !(self.changed.is_empty()
            && self.added.is_empty()
            && self.deleted.is_empty()
            && self.renamed.is_empty());
        let (changed, added, deleted, renamed) = if tells_change {
            (self.changed, self.added, self.deleted, self.renamed)
        } else {
            (file.changed, file.added, file.deleted, file.renamed)
        };
        let mut before = file.before;
        before.extend(self.before);
        let mut lines = file.lines;
        lines.extend(self.lines);
        Self {
            files,
            issue: self.issue.or(file.issue),
            changed,
            added,
            deleted,
            renamed,
            before,
            staged: self.staged.or(file.staged),
            lines,
            git: self.git.or(file.git),
            tests: self.tests.or(file.tests),
        }
    }

    /// Returns the id that the issue's front matter gives.
    pub(super) fn issue_id(&self) -> Option<&str> {
        let lines = self.issue.as_deref()?.lines();
        lines
            .filter_map(|line| line.strip_prefix("id:"))
            .map(|id| id.trim().trim_matches(['"', '\'']))
            .next()
    }
}

/// Lays one map over another; maps inside are laid over each other too.
fn over(mut below: Map<String, Value>, above: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in above {
        let merged = match (below.remove(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => Value::Object(over(below, above)),
            (_, above) => above,
        };
        below.insert(key, merged);
    }
    below
}
