//! Round: carries one log on by one batch: read, put into the spool, note what is pending, deliver, go on, delete.
//!
//! After a kill at any moment the pending batch is delivered again, with the same bytes under the same name.

use std::fs::{self, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ahp::signal_log::{LogPlace, Reader, log_key};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::cursor::{self, Cursor, NO_HASH, Pending};
use super::target::{Target, Trouble};
use crate::batch::{Batch, Cutter};
use crate::disk;
use crate::error::FleetError;
use crate::identity::Identity;
use crate::lake::{self, LakeFile};
use crate::otlp;
use crate::rows::Maker;

/// One log on its way.
#[derive(Debug)]
pub(super) struct Carrier<'c> {
    pub(super) log: LogPlace,
    pub(super) identity: &'c Identity,
    /// Whether every evaluation is sent as an event.
    pub(super) all: bool,
    pub(super) state: PathBuf,
    pub(super) key: String,
    pub(super) cursor: Cursor,
    /// Held as long as it is carried, so that no other process carries it at the same time.
    _alone: Option<fs::File>,
}

/// What one round came to.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A batch arrived: how many records, and what a person should know of it.
    Arrived { records: u64, told: Vec<String> },
    /// There is nothing more that can leave, and what a person should know of that.
    Done { told: Vec<String> },
    /// It did not arrive.
    Stuck(Trouble),
}

impl<'c> Carrier<'c> {
    /// Takes up a log where it was left; none where another process is carrying it.
    ///
    /// # Errors
    /// The cursor cannot be read.
    pub(super) fn take_up_alone(
        log: LogPlace,
        identity: &'c Identity,
        state: &Path,
        all: bool,
    ) -> Result<Option<Self>, FleetError> {
        let name = format!("{}.lock", log_key(log.path()));
        let path = state.join("ship").join(name);
        let file = fs::create_dir_all(state.join("ship")).and_then(|()| fs::File::create(&path));
        let file = file.map_err(|error| FleetError::io("lock", &path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(FleetError::io("lock", &path, error)),
        }
        Ok(Some(Self {
            _alone: Some(file),
            ..Self::take_up(log, identity, state, all)?
        }))
    }

    /// Takes up a log to look at what would leave.
    ///
    /// # Errors
    /// The cursor cannot be read.
    pub(super) fn take_up(
        log: LogPlace,
        identity: &'c Identity,
        state: &Path,
        all: bool,
    ) -> Result<Self, FleetError> {
        let key = log_key(log.path());
        Ok(Self {
            log,
            identity,
            all,
            state: state.to_owned(),
            cursor: Cursor::load(&cursor::path(state, &key))?,
            key,
            _alone: None,
        })
    }

    /// Carries it on by one batch.
    ///
    /// # Errors
    /// The log or the disk fails.
    pub(super) fn round(&mut self, target: &Target) -> Result<Outcome, FleetError> {
        let mut told = Vec::new();
        let files = match self.spooled() {
            Some(files) => files,
            None => match self.prepare(target, &mut told)? {
                Some(files) => files,
                None => return Ok(Outcome::Done { told }),
            },
        };
        for file in &files {
            match target.deliver(file) {
                Ok(said) => told.extend(said),
                Err(Trouble::TooLarge) => return self.halve(),
                Err(trouble) => return Ok(Outcome::Stuck(trouble)),
            }
        }
        let records = self
            .cursor
            .pending
            .as_ref()
            .map_or(0, |pending| pending.last + 1 - pending.first);
        self.cursor.advance();
        self.cursor.not_before = 0;
        self.cursor.kept = None;
        self.save()?;
        self.empty_spool();
        Ok(Outcome::Arrived { records, told })
    }

    /// Prints the next batch as it would leave: the rows of each table, one JSON object a line.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn show(&self) -> Result<(), FleetError> {
        let reader = Reader::open(self.log.clone())?;
        let log_id = self
            .identity
            .log_id(self.log.path(), self.cursor.generation);
        let behind = (self.cursor.last_hash != NO_HASH)
            .then(|| (self.cursor.next_seq - 1, self.cursor.last_hash.as_str()));
        let (batch, _) = read(&reader, behind, None, None)?;
        let mut maker = Maker::new(self.identity, &log_id);
        batch
            .iter()
            .flat_map(|batch| &batch.records)
            .for_each(|record| maker.add(record));
        let mut out = std::io::stdout().lock();
        for rows in maker.tables() {
            for row in &rows.rows {
                let written = serde_json::to_writer(&mut out, &rows.as_json(row))
                    .map_err(std::io::Error::from);
                written
                    .and_then(|()| out.write_all(b"\n"))
                    .map_err(|error| FleetError::io("write", "standard output".as_ref(), error))?;
            }
        }
        Ok(())
    }

    /// Writes where it is.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn save(&self) -> Result<(), FleetError> {
        self.cursor.save(&cursor::path(&self.state, &self.key))
    }

    /// Reads the pending batch from the spool; none where there is none, or where some of it is gone.
    fn spooled(&self) -> Option<Vec<LakeFile>> {
        let pending = self.cursor.pending.as_ref()?;
        let files = pending.files.iter().map(|path| {
            let bytes = fs::read(self.spool().join(path)).ok()?;
            Some(LakeFile {
                path: path.clone(),
                bytes,
            })
        });
        files.collect()
    }

    /// Reads the next batch and puts it into the spool.
    fn prepare(
        &mut self,
        target: &Target,
        told: &mut Vec<String>,
    ) -> Result<Option<Vec<LakeFile>>, FleetError> {
        let reader = Reader::open(self.log.clone())?;
        if reader.foreign()?.iter().any(|file| file == self.log.path()) {
            // Without it the log would seem to have begun anew, and all of it would leave a second time.
            told.push("it was begun on another machine or for another project: `--log` names it to send it all the same".to_owned());
            return Ok(None);
        }
        let Some((last_seq, first_seq)) = reader.last_seq()?.zip(reader.first_seq()) else {
            return Ok(None);
        };
        if self.has_begun_anew(&reader, last_seq)? {
            self.cursor.begin_anew();
        }
        let next = self.cursor.next_seq;
        let lost = first_seq.saturating_sub(next);
        let behind = if lost > 0 {
            told.push(format!(
                "{lost} records were deleted before they were carried"
            ));
            None
        } else {
            (self.cursor.last_hash != NO_HASH).then(|| (next - 1, self.cursor.last_hash.as_str()))
        };
        let until = self.cursor.pending.as_ref().map(|pending| pending.last);
        let (batch, broken) = read(&reader, behind, until, self.cursor.most_records)?;
        let log_id = self
            .identity
            .log_id(self.log.path(), self.cursor.generation);
        let mut maker = Maker::new(self.identity, &log_id);
        let Some(batch) = batch else {
            if broken > 0 {
                told.push(format!("the last {broken} records do not verify"));
            }
            return Ok(None);
        };
        batch.records.iter().for_each(|record| maker.add(record));
        let about = batch.about(&log_id, lost);
        let mut files = if target.takes_tables() {
            lake::files(&maker.tables(), &about)?
        } else {
            let request = otlp::request(&maker, self.identity, &log_id, self.all);
            vec![event_file(
                &format!("{}-{}", about.first_seq, about.last_seq),
                &request,
            )?]
        };
        if broken > 0 {
            let text = format!(
                "{broken} records near {} do not verify and were left out",
                about.first_seq
            );
            if !target.takes_tables() {
                let at = batch
                    .records
                    .first()
                    .map_or(0, |record| record.timestamp.timestamp_millis());
                let request = otlp::broken(&maker, self.identity, &log_id, at, &text);
                files.push(event_file(
                    &format!("{}-broken", about.first_seq),
                    &request,
                )?);
            }
            told.push(text);
        }
        for file in &files {
            disk::write_whole(&self.spool().join(&file.path), &file.bytes)?;
        }
        self.cursor.pending = Some(Pending {
            first: about.first_seq,
            last: about.last_seq,
            last_hash: about.hash,
            files: files.iter().map(|file| file.path.clone()).collect(),
        });
        self.save()?;
        Ok(Some(files))
    }

    /// Whether the log is another one than the one whose records were carried.
    fn has_begun_anew(&self, reader: &Reader, last_seq: u64) -> Result<bool, FleetError> {
        let carried = self.cursor.next_seq - 1;
        if last_seq < carried {
            return Ok(true);
        }
        let hash = if carried == 0 {
            None
        } else {
            reader.hash_of(carried)?
        };
        Ok(hash.is_some_and(|hash| hash != self.cursor.last_hash))
    }

    /// The next batch has half the records.
    fn halve(&mut self) -> Result<Outcome, FleetError> {
        let records = self
            .cursor
            .pending
            .take()
            .map_or(2, |pending| pending.last + 1 - pending.first);
        self.empty_spool();
        if records < 2 {
            let told = "the server takes not even one record at once".to_owned();
            return Ok(Outcome::Stuck(Trouble::Kept(told)));
        }
        self.cursor.most_records = usize::try_from(records / 2).ok();
        self.save()?;
        Ok(Outcome::Arrived {
            records: 0,
            told: Vec::new(),
        })
    }

    fn spool(&self) -> PathBuf {
        self.state.join("ship").join("spool").join(&self.key)
    }

    fn empty_spool(&self) {
        // What cannot be deleted is written over by the next batch.
        let _kept = fs::remove_dir_all(self.spool());
    }

    /// How many bytes wait in the spool.
    pub(super) fn spooled_bytes(&self) -> u64 {
        let pending = self
            .cursor
            .pending
            .iter()
            .flat_map(|pending| &pending.files);
        pending
            .filter_map(|path| fs::metadata(self.spool().join(path)).ok())
            .map(|about| about.len())
            .sum()
    }
}

fn event_file(name: &str, request: &serde_json::Value) -> Result<LakeFile, FleetError> {
    let path = format!("{name}.json.gz");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = serde_json::to_writer(&mut gzip, request)
        .map_err(std::io::Error::from)
        .and_then(|()| gzip.flush())
        .and_then(|()| gzip.finish());
    let bytes = bytes.map_err(|error| FleetError::io("write", path.as_ref(), error))?;
    Ok(LakeFile { path, bytes })
}

/// Reads one batch behind a record, up to another one where it has been cut before; and how many lines did not verify.
fn read(
    reader: &Reader,
    behind: Option<(u64, &str)>,
    until: Option<u64>,
    most_records: Option<usize>,
) -> Result<(Option<Batch>, u64), FleetError> {
    let mut cutter = most_records.map_or_else(Cutter::default, Cutter::at);
    let mut broken = 0;
    for record in reader.records_behind(behind) {
        match record {
            Ok(record) if until.is_some_and(|until| record.seq > until) => break,
            Ok(record) => {
                if let Some(batch) = cutter.push(record) {
                    return Ok((Some(batch), broken));
                }
            }
            Err(error) if error.line == 0 => return Err(FleetError::Refused(error.to_string())),
            Err(_) => broken += 1,
        }
    }
    Ok((cutter.finish(), broken))
}
