//! Journal: what was odd about the calls of hosts: unknown events, wrong wires, answers that came too late.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::secret;

/// At this size the journal starts anew; the one before is kept.
const MOST_BYTES: u64 = 256 << 10;

/// A file of notes in the user's state directory.
///
/// Not part of the signal log: nothing here was evaluated.
#[derive(Clone, Debug)]
pub struct Journal {
    file: PathBuf,
    project: Option<String>,
}

/// One note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// When it was written.
    pub time: String,
    /// The host, if it is known.
    pub host: Option<String>,
    /// The host's event, if it is known.
    pub event: Option<String>,
    /// The project in which it was, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What was odd.
    pub note: String,
}

impl Journal {
    /// Names the journal below the state directory; nothing is touched yet.
    pub fn new(state_dir: &Path) -> Self {
        Self {
            file: state_dir.join("hook.jsonl"),
            project: None,
        }
    }

    /// Adds notes in the name of a project, and returns those that are not another one's.
    #[must_use]
    pub fn of_project(mut self, root: &Path) -> Self {
        self.project = Some(root.to_string_lossy().into_owned());
        self
    }

    /// Adds a note; where that is impossible nobody is told, for a host waits for another answer.
    pub fn add(&self, now: DateTime<Utc>, host: Option<&str>, event: Option<&str>, text: &str) {
        let note = Note {
            time: now.to_rfc3339_opts(SecondsFormat::Millis, true),
            host: host.map(str::to_owned),
            event: event.map(|event| secret::redact(event).into_owned()),
            project: self.project.clone(),
            note: secret::redact(text).into_owned(),
        };
        let Ok(line) = serde_json::to_string(&note) else {
            return;
        };
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir).ok();
        }
        if fs::metadata(&self.file).is_ok_and(|meta| meta.len() > MOST_BYTES) {
            fs::rename(&self.file, self.file.with_extension("1.jsonl")).ok();
        }
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.file);
        if let Ok(mut file) = file {
            // One write, so that the lines of two processes do not mix.
            file.write_all(format!("{line}\n").as_bytes()).ok();
        }
    }

    /// Returns the last notes, oldest first.
    pub fn last(&self, most: usize) -> Vec<Note> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let mut notes: Vec<Note> = text
            .lines()
            .rev()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|note: &Note| {
                let is_told = self.project.is_none() || note.project.is_none();
                is_told || note.project == self.project
            })
            .take(most)
            .collect();
        notes.reverse();
        notes
    }
}
