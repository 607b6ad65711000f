//! Commits, as git tells them.

use chrono::DateTime;
use chrono::Utc;

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
