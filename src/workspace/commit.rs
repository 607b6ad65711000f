//! Commits, as git tells them.

use chrono::{DateTime, Utc};

/// One commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Its whole name.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// When it was committed.
    pub time: DateTime<Utc>,
    /// Its message, with subject, body and trailers.
    pub message: String,
}

/// Which commits are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitsOf {
    /// Those of the branch since it left the default branch, without merges.
    Branch,
    /// Those before HEAD that touched one of some paths.
    Paths(Vec<String>),
}

impl Commit {
    /// Returns the short form of its name.
    pub fn short_id(&self) -> &str {
        self.id.get(..7).unwrap_or(&self.id)
    }

    /// Returns the first line of its message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// Whether a text names an id, not only a longer one that begins with it.
pub(crate) fn names_id(text: &str, id: &str) -> bool {
    let text = text.to_lowercase();
    let id = id.to_lowercase();
    text.match_indices(&id).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + id.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
