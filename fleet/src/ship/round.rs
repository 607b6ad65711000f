//! Round: carries one log on by one batch: read, put into the spool, note what is pending, deliver, go on, delete.
//!
//! After a kill at any moment the pending batch is delivered again, with the same bytes under the same name.

use std::fs::{self, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ahp::engine::{Clock as _, SystemClock};
use ahp::signal_log::{LogPlace, Reader, log_key};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::cursor::{self, Cursor, NO_HASH, Pending};
use super::target::{Form, Target, Trouble};
use crate::batch::{self, Batch};
use crate::disk::{self, Mode};
use crate::error::FleetError;
use crate::identity::Identity;
use crate::lake::{self, LakeFile};
use crate::otlp;
use crate::rows::Maker;

/// How logs are carried.
#[derive(Debug)]
pub(super) struct How<'h> {
    /// Where the state of this user lies.
    pub(super) state: &'h Path,
    /// Whether every evaluation is sent as an event.
    pub(super) all: bool,
    /// Where to, unless it is the place of the settings: how far a log is there is counted apart, so that nothing that
    /// went elsewhere is missing in the place of the settings.
    pub(super) elsewhere: Option<String>,
}

/// The next records of a log.
enum Next {
    Batch(NextBatch),
    /// None that can leave; so many lines at the end do not verify.
    Nothing {
        broken: u64,
    },
}

struct NextBatch {
    batch: Batch,
    lost: u64,
    broken: u64,
}

/// What there is to deliver.
enum Prepared {
    Files(Vec<LakeFile>),
    Nothing,
    Stuck(Trouble),
}

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
        how: &How<'_>,
    ) -> Result<Option<Self>, FleetError> {
        let ship = how.state.join("ship");
        let path = ship.join(format!("{}.lock", key(&log, how)));
        let file = fs::create_dir_all(&ship).and_then(|()| fs::File::create(&path));
        let file = file.map_err(|error| FleetError::io("lock", &path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(FleetError::io("lock", &path, error)),
        }
        Ok(Some(Self {
            _alone: Some(file),
            ..Self::take_up(log, identity, how)?
        }))
    }

    /// Takes up a log to look at what would leave.
    ///
    /// # Errors
    /// The cursor cannot be read.
    pub(super) fn take_up(
        log: LogPlace,
        identity: &'c Identity,
        how: &How<'_>,
    ) -> Result<Self, FleetError> {
        let key = key(&log, how);
        Ok(Self {
            log,
            identity,
            all: how.all,
            state: how.state.to_owned(),
            cursor: Cursor::load(&cursor::path(how.state, &key))?,
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
        let files = match self.spooled(target.form()) {
            Some(files) => files,
            None => match self.prepare(target, &mut told)? {
                Prepared::Files(files) => files,
                Prepared::Nothing => return Ok(Outcome::Done { told }),
                Prepared::Stuck(trouble) => return Ok(Outcome::Stuck(trouble)),
            },
        };
        let mut arrived = Vec::new();
        for file in &files {
            match target.deliver(file) {
                Ok(said) => {
                    told.extend(said);
                    arrived.extend(file.part());
                }
                Err(Trouble::TooLarge) => return self.halve(&arrived),
                Err(trouble) => return Ok(Outcome::Stuck(trouble)),
            }
        }
        let records = self.cursor.pending.as_ref().map_or(0, |pending| {
            told.extend(pending.told.iter().cloned());
            pending.last + 1 - pending.first
        });
        self.cursor.advance();
        self.cursor.not_before = 0;
        self.cursor.kept = None;
        self.save()?;
        self.empty_spool();
        Ok(Outcome::Arrived { records, told })
    }

    /// Prints all that would leave, one JSON object a line: the rows of each table, or the requests. Returns what a person
    /// should know of it.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn show(mut self, form: Form) -> Result<Vec<String>, FleetError> {
        let mut told = Vec::new();
        self.cursor.pending = None;
        let mut out = io::stdout().lock();
        while let Next::Batch(next) = self.next(&mut told)? {
            let about = next.batch.about("", 0);
            let log_id = self.log_id();
            let maker = self.made(&next.batch, &log_id);
            let lines: Vec<Value> = match form {
                Form::Events => vec![otlp::request(&maker, self.identity, &log_id, self.all)],
                Form::Tables => {
                    let tables = maker.tables().into_iter();
                    let rows =
                        tables.flat_map(|rows| rows.rows.iter().map(|row| rows.as_json(row)));
                    rows.collect()
                }
            };
            let written = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
            match written {
                // Whoever reads has seen enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(told),
                written => {
                    let of_output =
                        |error| FleetError::io("write", "standard output".as_ref(), error);
                    written.map_err(of_output)?;
                }
            }
            drop(maker);
            (self.cursor.next_seq, self.cursor.last_hash) = (about.last_seq + 1, about.hash);
        }
        Ok(told)
    }

    /// Writes where it is.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn save(&self) -> Result<(), FleetError> {
        self.cursor.save(&cursor::path(&self.state, &self.key))
    }

    /// Reads the pending batch from the spool; none where there is none, where some of it is gone, or where it was made
    /// for a place that takes another form.
    fn spooled(&self, form: Form) -> Option<Vec<LakeFile>> {
        let pending = self.cursor.pending.as_ref()?;
        if !pending.files.iter().all(|file| form.is_of(file)) {
            return None;
        }
        let files = pending.files.iter().map(|path| {
            let bytes = fs::read(self.spool().join(path)).ok()?;
            Some(LakeFile {
                path: path.clone(),
                bytes,
            })
        });
        files.collect()
    }

    fn log_id(&self) -> String {
        let cursor = &self.cursor;
        let first = cursor.first_hash.as_deref();
        let first = first.filter(|_| cursor.is_named_by_content);
        self.identity
            .log_id(self.log.path(), cursor.generation, first)
    }

    fn made(&self, batch: &Batch, log_id: &str) -> Maker<'c> {
        let mut maker = Maker::new(self.identity, log_id);
        batch.records.iter().for_each(|record| maker.add(record));
        maker
    }

    /// Reads the next batch; none where there is nothing more that can leave.
    fn next(&mut self, told: &mut Vec<String>) -> Result<Next, FleetError> {
        let reader = Reader::open(self.log.clone())?;
        if reader.foreign()?.iter().any(|file| file == self.log.path()) {
            // Without it the log would seem to have begun anew, and all of it would leave a second time.
            told.push("it was begun on another machine or for another project: `--log` names it to send it all the same".to_owned());
            return Ok(Next::Nothing { broken: 0 });
        }
        let Some((last_seq, first_seq)) = reader.last_seq()?.zip(reader.first_seq()) else {
            return Ok(Next::Nothing { broken: 0 });
        };
        let (first_hash, carried) = (reader.hash_of(1)?, self.cursor.next_seq - 1);
        let now = if carried == 0 {
            None
        } else {
            reader.hash_of(carried)?
        };
        let mut is_rewritten = now.is_some_and(|now| now != self.cursor.last_hash);
        // Another log has another first record. Where that is gone, or was never noted, nobody can tell.
        let is_other = match (&self.cursor.first_hash, &first_hash) {
            (Some(then), Some(now)) => then != now,
            (None, _) => is_rewritten,
            (Some(_), None) => false,
        };
        if carried > 0 && (last_seq < carried || is_other) {
            self.cursor.begin_anew();
            is_rewritten = false;
        }
        if self.cursor.next_seq == 1 || self.cursor.first_hash.is_none() {
            self.cursor.first_hash = first_hash;
        }
        if is_rewritten {
            told.push(format!(
                "records up to {carried} were changed after they had been carried"
            ));
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
        // Where some of a batch has arrived already, the rest of it ends where that ends.
        let pending = self.cursor.pending.iter().map(|pending| pending.last);
        let until = pending.chain(self.cursor.arrived.values().copied()).min();
        let (batch, broken) = batch::read(&reader, behind, until, self.cursor.most_records)?;
        let Some(batch) = batch else {
            let broken = broken + u64::from(is_torn(self.log.path()));
            if broken > 0 {
                told.push(format!("the last {broken} records do not verify"));
            }
            return Ok(Next::Nothing { broken });
        };
        if broken > 0 {
            let first = batch.records.first().map_or(0, |record| record.seq);
            told.push(format!(
                "{broken} records near {first} do not verify and were left out"
            ));
        }
        Ok(Next::Batch(NextBatch {
            batch,
            lost,
            broken,
        }))
    }

    /// Tells a collector once of lines at the log's end that do not verify: behind them there may never be a batch.
    fn tell_of_end(
        &mut self,
        target: &Target,
        broken: u64,
        told: &[String],
    ) -> Result<Option<Trouble>, FleetError> {
        let at = Some((self.cursor.next_seq, broken));
        let Some(text) = told
            .last()
            .filter(|_| broken > 0 && target.form() == Form::Events)
            .filter(|_| self.cursor.told_broken != at)
        else {
            return Ok(None);
        };
        let log_id = self.log_id();
        let maker = Maker::new(self.identity, &log_id);
        let now = SystemClock.now().timestamp_millis();
        let request = otlp::broken(&maker, self.identity, &log_id, now, text);
        let name = format!("{}-broken", self.cursor.next_seq);
        if let Err(trouble) = target.deliver(&event_file(&name, &request)?) {
            return Ok(Some(trouble));
        }
        self.cursor.told_broken = at;
        self.save()?;
        Ok(None)
    }

    /// Reads the next batch and puts it into the spool.
    fn prepare(&mut self, target: &Target, told: &mut Vec<String>) -> Result<Prepared, FleetError> {
        let form = target.form();
        let next = match self.next(told)? {
            Next::Batch(next) => next,
            Next::Nothing { broken } => {
                let trouble = self.tell_of_end(target, broken, told)?;
                return Ok(trouble.map_or(Prepared::Nothing, Prepared::Stuck));
            }
        };
        let log_id = self.log_id();
        let maker = self.made(&next.batch, &log_id);
        let about = next.batch.about(&log_id, next.lost);
        let files = match form {
            Form::Tables => {
                let mut files = lake::files(&maker.tables(), &about)?;
                let arrived = &self.cursor.arrived;
                files.retain(|file| {
                    let until = file.part().and_then(|part| arrived.get(part));
                    until.is_none_or(|until| *until < about.last_seq)
                });
                files
            }
            Form::Events => {
                let request = otlp::request(&maker, self.identity, &log_id, self.all);
                let name = format!("{}-{}", about.first_seq, about.last_seq);
                let mut files = vec![event_file(&name, &request)?];
                if let Some(text) = told.last().filter(|_| next.broken > 0) {
                    let first = next.batch.records.first();
                    let at = first.map_or(0, |record| record.timestamp.timestamp_millis());
                    let request = otlp::broken(&maker, self.identity, &log_id, at, text);
                    let name = format!("{}-broken", about.first_seq);
                    files.push(event_file(&name, &request)?);
                }
                files
            }
        };
        for file in &files {
            disk::write_whole(&self.spool().join(&file.path), &file.bytes, Mode::Private)?;
        }
        self.cursor.pending = Some(Pending {
            first: about.first_seq,
            last: about.last_seq,
            last_hash: about.hash,
            files: files.iter().map(|file| file.path.clone()).collect(),
            // It may be another process that sees it arrive.
            told: std::mem::take(told),
        });
        self.save()?;
        Ok(Prepared::Files(files))
    }

    /// The next batch has half the records, if there are two to part. What arrived of this one is not sent again.
    fn halve(&mut self, arrived: &[&str]) -> Result<Outcome, FleetError> {
        let pending = self.cursor.pending.take();
        let last = pending.as_ref().map_or(0, |pending| pending.last);
        let records = pending.map_or(0, |pending| pending.last + 1 - pending.first);
        self.empty_spool();
        // An evaluation leaves with its signals, so that a batch may hold more records than were asked for.
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        let most = self
            .cursor
            .most_records
            .map_or(records, |most| most.min(records));
        if most < 2 {
            let told = "the server takes not even one evaluation with its signals".to_owned();
            return Ok(Outcome::Stuck(Trouble::Kept(told)));
        }
        self.cursor.most_records = Some(most / 2);
        let parts = arrived.iter().map(|part| ((*part).to_owned(), last));
        self.cursor.arrived.extend(parts);
        self.save()?;
        Ok(Outcome::Stuck(Trouble::TooLarge))
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

/// Whether the last line of a log is cut off; one that is being written has its end a moment later.
fn is_torn(log: &Path) -> bool {
    let torn_at = || {
        let mut file = fs::File::open(log).ok()?;
        let mut last = [0];
        file.seek(SeekFrom::End(-1)).ok()?;
        file.read_exact(&mut last).ok()?;
        let length = file.stream_position().ok()?;
        (last != *b"\n").then_some(length)
    };
    torn_at().is_some_and(|length| {
        thread::sleep(Duration::from_millis(100));
        torn_at() == Some(length)
    })
}

/// Under which name it is noted how far a log is.
fn key(log: &LogPlace, how: &How<'_>) -> String {
    let log = log_key(log.path());
    match &how.elsewhere {
        Some(to) => format!("{log}-{}", log_key(to.as_ref())),
        None => log,
    }
}

fn event_file(name: &str, request: &Value) -> Result<LakeFile, FleetError> {
    let path = format!("{name}.json.gz");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = serde_json::to_writer(&mut gzip, request)
        .map_err(io::Error::from)
        .and_then(|()| gzip.flush())
        .and_then(|()| gzip.finish());
    let bytes = bytes.map_err(|error| FleetError::io("write", path.as_ref(), error))?;
    Ok(LakeFile { path, bytes })
}
