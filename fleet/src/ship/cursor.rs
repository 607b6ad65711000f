//! Cursor: how far a log has been carried. It is written whole after each step, so that a process that is killed anywhere
//! goes on where it was.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{self, Mode};
use crate::error::FleetError;

/// The hash before the first record of a log.
pub(super) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How far one log has been carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// The number of the first record that has not arrived.
    pub(super) next_seq: u64,
    /// The hash of the record before it.
    pub(super) last_hash: String,
    /// The hash of the log's first record: another one means another log. Cursors of older programs have none.
    #[serde(default)]
    pub(super) first_hash: Option<String>,
    /// How often the log has begun anew.
    pub(super) generation: u32,
    /// What was about to be delivered.
    pub(super) pending: Option<Pending>,
    /// Before when a server does not want to be asked again, in seconds since 1970.
    #[serde(default)]
    pub(super) not_before: i64,
    /// Why nothing more is sent, until somebody changes something; `ahp doctor` tells it.
    #[serde(default)]
    pub(super) kept: Option<String>,
    /// How many records at most go together, after a server refused more.
    #[serde(default)]
    pub(super) most_records: Option<usize>,
    /// Up to which record the rows of a table and day have arrived already: a server may have refused the next file of the
    /// same batch for its size.
    #[serde(default)]
    pub(super) arrived: BTreeMap<String, u64>,
    /// The record at which a collector was told of lines that do not verify, and how many there were at the log's end.
    #[serde(default)]
    pub(super) told_broken: Option<(u64, u64)>,
    /// Whether the first record of the log is a part of the log's name in the lake. Of a log that an older program began to
    /// carry it is not, so that its records stay together.
    #[serde(default)]
    pub(super) is_named_by_content: bool,
}

/// A batch that was written into the spool and may or may not have arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) last_hash: String,
    /// The names of its files in the spool, which are paths below the lake.
    pub(super) files: Vec<String>,
    /// What a person should know of it once it has arrived.
    #[serde(default)]
    pub(super) told: Vec<String>,
}

impl Default for Cursor {
    fn default() -> Self {
        Self {
            next_seq: 1,
            last_hash: NO_HASH.to_owned(),
            first_hash: None,
            generation: 0,
            pending: None,
            not_before: 0,
            kept: None,
            most_records: None,
            arrived: BTreeMap::new(),
            told_broken: None,
            is_named_by_content: true,
        }
    }
}

/// Where the cursor of a log lies.
pub(super) fn path(state: &Path, log_key: &str) -> PathBuf {
    state.join("ship").join(format!("{log_key}.json"))
}

impl Cursor {
    /// Reads the cursor of a log; one that is lost begins at the first record, and what arrives twice is dropped when it is
    /// summed.
    ///
    /// # Errors
    /// It cannot be read, or is not a cursor.
    pub(super) fn load(path: &Path) -> Result<Self, FleetError> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                FleetError::Refused(format!(
                    "`{}` is not a cursor ({error}); delete it to ship the log from its first record again",
                    path.display()
                ))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(FleetError::io("read", path, error)),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn save(&self, path: &Path) -> Result<(), FleetError> {
        let bytes = serde_json::to_vec(self)
            .map_err(|error| FleetError::io("write", path, error.into()))?;
        disk::write_whole(path, &bytes, Mode::Private)
    }

    /// The log was begun anew.
    pub(super) fn begin_anew(&mut self) {
        *self = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
    }

    /// What was pending has arrived.
    pub(super) fn advance(&mut self) {
        if let Some(arrived) = self.pending.take() {
            self.next_seq = arrived.last + 1;
            self.last_hash = arrived.last_hash;
            let next = self.next_seq;
            self.arrived.retain(|_, until| *until >= next);
        }
    }
}
