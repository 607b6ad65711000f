//! LogError: why the log could not be written or read, and how to mend it.

use std::io;
use std::path::PathBuf;

/// Why the log could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system refused.
    #[error("cannot {doing} `{}`: {source}{}", .path.display(), hint(.source))]
    Io {
        /// What was tried: `open`, `write`.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The records are in the log, but the system could not put them on the disk.
    #[error("cannot save `{}`: {source}; this event was logged, but a power cut may lose it", .path.display())]
    NotSaved {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file system has no locks.
    #[error("cannot lock `{}`: {source}; put `settings.log.path` on a file system with locks", .path.display())]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another writer did not let go.
    #[error("another process has held `{}` for {seconds} s", .path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The file at the log's path is something else.
    #[error("`{}` is not a signal log: expected lines that begin with `{{\"seq\":`; nothing was written to it", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A record could not be written as JSON.
    #[error("cannot write a record as JSON: {0}")]
    Encode(#[from] serde_json::Error),
    /// A pattern of `settings.log.redact` is no regular expression.
    #[error("`settings.log.redact` has a bad pattern `{pattern}`: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl LogError {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.into(),
            source,
        }
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; nothing of this event was logged: free some space"
        }
        io::ErrorKind::FileTooLarge => {
            "; nothing of this event was logged: lower `settings.log.max_size`"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; make it writable, or set `settings.log.path` to a place that is"
        }
        io::ErrorKind::IsADirectory => "; `settings.log.path` must name a file",
        _ => "",
    }
}
