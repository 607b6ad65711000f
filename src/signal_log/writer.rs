//! SignalLog: appends records under a lock, each chained to the one before.

use std::fs::{File, Metadata};
use std::future::poll_fn;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use rustix::fs::OFlags;

use super::compose::{Composed, compose};
use super::evaluation::Evaluation;
use super::files::LogFiles;
use super::group::{Group, Outcome, let_others_come};
use super::lock::Lock;
use super::redact::Redactor;
use super::rotation::Full;
use super::tail::Tail;
use super::{Body, LogError, LogPlace, Notice, frame, rotation};
use crate::config::{Fsync, LogSettings};
use crate::regular_file::{Opened, still_at};

/// How long a writer waits for the others.
const PATIENCE: Duration = Duration::from_secs(10);

/// A log that can be appended to, by many tasks and processes at once.
#[derive(Debug)]
pub struct SignalLog {
    files: LogFiles,
    settings: LogSettings,
    redactor: Redactor,
    group: Group,
    /// The lock and the file that the last append has opened; taken by who appends.
    kept: Mutex<Option<(Opened, Current)>>,
}

/// The file that is written to.
#[derive(Debug)]
struct Current {
    file: File,
    /// What it was when it was opened.
    about: Metadata,
    /// What the last append has left there.
    tail: Option<Tail>,
}

/// The records of one append, ready to be written.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) bodies: Vec<Vec<u8>>,
    pub(super) now: DateTime<Utc>,
    durable: bool,
}

/// What became of appends that were written together.
#[derive(Debug)]
pub(super) struct Written {
    /// What each has done, in their order.
    pub(super) appended: Vec<Appended>,
    /// Whether they are as durable as was asked.
    pub(super) saved: io::Result<()>,
}

/// What an append has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// The number of the first record.
    pub first_seq: u64,
    /// The number of the last record.
    pub last_seq: u64,
    /// What was amiss and is now noted in the first record.
    pub notice: Option<Notice>,
    /// Whether a file of the log begins with it.
    pub begins_file: bool,
    /// What went wrong beside the append itself: a rotated part that could not be packed or deleted.
    pub warnings: Vec<String>,
}

impl SignalLog {
    /// Prepares the log at a path; no file is touched before the first append.
    ///
    /// # Errors
    /// A pattern of `settings.redact` that is no regular expression.
    pub fn open(place: impl Into<LogPlace>, settings: &LogSettings) -> Result<Self, LogError> {
        Ok(Self {
            files: LogFiles::new(place),
            settings: settings.clone(),
            redactor: Redactor::new(&settings.redact)?,
            group: Group::default(),
            kept: Mutex::default(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Option<(Opened, Current)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file that is written to.
    pub fn path(&self) -> &Path {
        &self.files.current
    }

    /// Returns where the log lies, for whoever reads it.
    pub fn place(&self) -> LogPlace {
        self.files.place()
    }

    /// Appends records in one write; when it returns they are in the log, as durable as `fsync` says.
    ///
    /// Secrets are cut out before. After an error none of the records is in the log, but for one case: where `fsync`
    /// fails ([`LogError::NotSaved`]) all of them are there for every reader, only not yet surely on the disk. After a
    /// power cut they may be gone; the number of the last record beside the log then tells that they are. An append
    /// is not to be tried again: it would write them twice.
    ///
    /// # Errors
    /// A [`LogError`] that says what stood in the way and how to mend it.
    pub fn append(&self, bodies: Vec<Body>, now: DateTime<Utc>) -> Result<Appended, LogError> {
        self.append_alone(&self.request(bodies, now)?, PATIENCE)
    }

    /// Appends records like [`Self::append`], in one write with those of the tasks that append at the same time.
    ///
    /// Where other processes hold the log, it is waited for until the given time at most.
    ///
    /// # Errors
    /// A [`LogError`] that says what stood in the way and how to mend it.
    pub async fn append_together(
        &self,
        bodies: Vec<Body>,
        now: DateTime<Utc>,
        until: Option<Instant>,
    ) -> Result<Appended, LogError> {
        self.append_request(self.request(bodies, now)?, until).await
    }

    /// Appends the record of an evaluated event and then further ones, like [`Self::append_together`].
    ///
    /// # Errors
    /// A [`LogError`] that says what stood in the way and how to mend it.
    pub async fn append_evaluation(
        &self,
        evaluation: Evaluation<'_>,
        further: Vec<Body>,
        now: DateTime<Utc>,
        until: Option<Instant>,
    ) -> Result<Appended, LogError> {
        let text = evaluation.text(&self.redactor, self.settings.events)?;
        let mut request = self.request(further, now)?;
        request.bodies.insert(0, text);
        self.append_request(request, until).await
    }

    async fn append_request(
        &self,
        request: Request,
        until: Option<Instant>,
    ) -> Result<Appended, LogError> {
        let patience = || {
            until.map_or(PATIENCE, |until| {
                PATIENCE.min(until.saturating_duration_since(Instant::now()))
            })
        };
        let mut member = self.group.join(request);
        let outcome = loop {
            if let Some(outcome) = poll_fn(|context| member.poll(context)).await {
                break outcome;
            }
            let_others_come().await;
            let batch = member.batch();
            let requests: Vec<_> = batch.requests().collect();
            // Why nothing could be written, each hears for itself.
            if let Ok(written) = self.write(&requests, patience()) {
                batch.tell(written);
            }
        };
        drop(member);
        match outcome {
            Outcome::Written(appended) => Ok(appended),
            Outcome::Unsaved(error) => Err(self.not_saved(error)),
            Outcome::Failed(request) => self.append_alone(&request, patience()),
        }
    }

    fn append_alone(&self, request: &Request, patience: Duration) -> Result<Appended, LogError> {
        let Written {
            mut appended,
            saved,
        } = self.write(&[request], patience)?;
        saved.map_err(|error| self.not_saved(error))?;
        Ok(appended.pop().unwrap_or_default())
    }

    /// Makes the records of an append ready to be written.
    fn request(&self, bodies: Vec<Body>, now: DateTime<Utc>) -> Result<Request, LogError> {
        let durable = match self.settings.fsync {
            Fsync::Always => true,
            Fsync::Signals => bodies.iter().any(|b| !matches!(b, Body::Evaluation(_))),
            Fsync::Never => false,
        };
        let bodies = bodies
            .into_iter()
            .map(|mut body| {
                self.redactor.clean(&mut body, self.settings.events);
                if let (Body::Response(answer), Some(key)) = (&mut body, &self.files.key) {
                    answer.sign(key);
                }
                serde_json::to_vec(&body)
            })
            .collect::<Result<_, _>>()?;
        Ok(Request {
            bodies,
            now,
            durable,
        })
    }

    /// Writes the records of some appends in one write; returns what became of each.
    fn write(&self, requests: &[&Request], patience: Duration) -> Result<Written, LogError> {
        let now = requests.first().map_or_else(DateTime::default, |r| r.now);
        let (kept_lock, kept_current) = self.kept().take().unzip();
        let lock = Lock::take(&self.files, kept_lock, patience)?;
        let (mut current, length) = self.open_current(&lock, kept_current)?;
        let anchor = lock.anchor();
        let known = current.tail.take();
        let known = known.filter(|tail| tail.is_at(length, anchor.as_ref()));
        let is_own = known.is_some();
        let mut tail = match known {
            Some(tail) => tail,
            None => Tail::find(&self.files, &current.file, length)?,
        };
        // What another machine began is closed as it is: it says nothing here, and what comes now shall.
        let is_foreign = !is_own
            && tail.end > 0
            && self.files.place().is_known()
            && !self
                .files
                .has_begun(&current.file, length)
                .map_err(|source| LogError::io("read", &self.files.current, source))?;
        tail.unterminated &= !is_foreign;
        let notice = tail.notice(length, anchor.as_ref(), now);
        let notice = notice.filter(|_| !is_foreign);
        let Composed {
            mut lines,
            last,
            mut appended,
        } = compose(requests, &tail, notice)?;

        let grown = length + lines.len() as u64;
        let is_full = length > 0
            && tail.end == length
            && grown > self.settings.max_size
            && !tail.unterminated;
        let rotated = is_foreign || is_full;
        if rotated || tail.end == 0 {
            frame::mark_first(&mut lines, |hash| self.files.mark(hash));
        }
        let outcome = if tail.end < length && !rotated {
            self.repair(&current.file, &tail, length, &lines, now)
        } else {
            if rotated {
                current = self.rotate(&lock, &current.file)?;
            }
            let before = if rotated { 0 } else { length };
            current.file.write_all(&lines).map_err(|source| {
                // Half of a write must not stay: a whole line of it would be a record that nobody acknowledged.
                current.file.set_len(before).ok();
                LogError::io("write", &self.files.current, source)
            })
        };
        outcome?;
        lock.set_anchor(&last);
        let lock = lock.release();
        let next_segment = tail.seq + 1;
        let start = if rotated { 0 } else { tail.end };
        let end = start + lines.len() as u64;
        current.tail = Some(Tail::after(last, requests.last().map(|r| r.now), end));

        let saved = if requests.iter().any(|request| request.durable) {
            self.sync(&current.file, length == 0 || rotated)
        } else {
            Ok(())
        };
        if let Some(first) = appended.first_mut() {
            first.begins_file = length == 0 || rotated;
            if rotated {
                let full = Full {
                    keep: self.settings.keep,
                    next: next_segment,
                };
                first.warnings = rotation::tidy(&self.files, (!is_foreign).then_some(full));
            }
        }
        *self.kept() = lock.map(|lock| (lock, current));
        Ok(Written { appended, saved })
    }

    /// Opens the file that is written to, unless it is still open and lies where it did; returns its length too.
    fn open_current(&self, lock: &Lock, kept: Option<Current>) -> Result<(Current, u64), LogError> {
        let path = &self.files.current;
        if let Some(kept) = kept
            && let Some(about) = still_at(path, &kept.about)
        {
            let length = about.len();
            return Ok((Current { about, ..kept }, length));
        }
        let (file, about) = lock
            .open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)
            .map_err(|source| LogError::io("open", path, source))?;
        let length = about.len();
        let current = Current {
            file,
            about,
            tail: None,
        };
        Ok((current, length))
    }

    /// Puts new lines in the place of a torn tail, which is kept aside first.
    ///
    /// The new lines, which tell of the repair, are written over the torn bytes before the file is cut: ended at any
    /// point, what is found next time is either the old torn tail or another one, never a log that looks whole.
    fn repair(
        &self,
        file: &File,
        tail: &Tail,
        length: u64,
        lines: &[u8],
        now: DateTime<Utc>,
    ) -> Result<(), LogError> {
        let path = &self.files.current;
        let torn_bytes = usize::try_from(length - tail.end).unwrap_or(usize::MAX);
        let mut torn = vec![0; torn_bytes];
        file.read_exact_at(&mut torn, tail.end)
            .map_err(|source| LogError::io("read", path, source))?;
        let aside = self.files.torn();
        let mut kept = format!(
            "# {} {torn_bytes} bytes after record {}\n",
            now.to_rfc3339(),
            tail.seq
        )
        .into_bytes();
        kept.append(&mut torn);
        kept.push(b'\n');
        self.files
            .open(&aside, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
            .and_then(|mut file| {
                file.write_all(&kept)?;
                file.sync_data()
            })
            .map_err(|source| LogError::io("write", aside, source))?;

        // A file opened for appending cannot be written in its middle.
        let over = self
            .files
            .open(path, OFlags::WRONLY)
            .map_err(|source| LogError::io("open", path, source))?;
        over.write_all_at(lines, tail.end)
            .and_then(|()| over.set_len(tail.end + lines.len() as u64))
            .map_err(|source| {
                over.set_len(tail.end).ok();
                LogError::io("write", path, source)
            })
    }

    /// Makes room: the current file gets its number and a new one takes its place.
    fn rotate(&self, lock: &Lock, file: &File) -> Result<Current, LogError> {
        let path = &self.files.current;
        let mut head = [0; 32];
        let read = file
            .read_at(&mut head, 0)
            .map_err(|source| LogError::io("read", path, source))?;
        let first_seq = head
            .get(..read)
            .and_then(frame::read_seq)
            .ok_or_else(|| LogError::Foreign { path: path.clone() })?;
        let rotated = self.files.segment(first_seq, false);
        std::fs::rename(path, &rotated).map_err(|source| LogError::io("rename", path, source))?;
        self.open_current(lock, None).map(|(current, _)| current)
    }

    fn sync(&self, file: &File, is_new: bool) -> io::Result<()> {
        file.sync_data()?;
        if is_new {
            // A new name is durable only when its directory is.
            File::open(self.files.directory())?.sync_all()?;
        }
        Ok(())
    }

    fn not_saved(&self, source: io::Error) -> LogError {
        LogError::NotSaved {
            path: self.files.current.clone(),
            source,
        }
    }
}
