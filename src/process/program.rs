//! Program: what is to be run, where, with what input and until when.

use std::ffi::OsString;
use std::io;
use std::io::{Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::enclosure::enclosure;
use super::error::is_text;
use super::pump::Pump;
use super::running::Running;
use super::{
    DEPTH, Enclosed, Exit, Finished, Folder, ProcessError, depth, find_program, group, installed,
    lies_in, path_where, running, too_deep,
};
use crate::random;

/// How long the outputs of a program that has ended are still read, where a child of it holds them open.
const GRACE: Duration = Duration::from_millis(100);
/// How long a program may take to end after its deadline before the caller goes on without it.
const GRACE_AFTER_DEADLINE: Duration = Duration::from_millis(40);

/// A program that is to be run.
///
/// It gets a process group of its own, which is ended whole: at the deadline, and when the program itself has
/// ended and left others behind. Ended means TERM, and KILL two seconds later for what is still there.
#[derive(Clone, Debug)]
pub struct Program {
    argv: Vec<String>,
    dir: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    env_removed: Vec<OsString>,
    stdin: Vec<u8>,
    deadline: Option<Instant>,
    max_output: usize,
    is_outside: bool,
    folder: Option<Arc<Folder>>,
    /// How many programs of policies stand above it, where it is one itself.
    depth: Option<u32>,
}

impl Program {
    /// Makes a program of its name and arguments; a name without a slash is looked for in `PATH`.
    pub fn new(argv: Vec<String>) -> Self {
        Self {
            argv,
            dir: None,
            env: Vec::new(),
            env_removed: Vec::new(),
            stdin: Vec::new(),
            deadline: None,
            max_output: 1 << 20,
            is_outside: false,
            folder: None,
            depth: None,
        }
    }

    /// Makes a program of a command line for `sh`.
    pub fn shell(command: &str) -> Self {
        Self::new(vec!["sh".to_owned(), "-c".to_owned(), command.to_owned()])
    }

    /// Sets the working directory.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets a variable, beside the environment of this process, which is passed on.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Keeps a variable of this process from being passed on; what [`Self::env`] sets by that name is passed all the same.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env_removed.push(name.into());
        self
    }

    /// Has it, and what it starts by a name, found only by entries of `PATH` that lead out of a folder.
    #[must_use]
    pub fn found_outside(self, folder: &Path) -> Self {
        match path_where(|entry| entry.is_absolute() && !lies_in(entry, folder)) {
            Some(path) => self.env("PATH", path),
            None => self,
        }
    }

    /// Sets what the program can read; nothing by default.
    #[must_use]
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin = input.into();
        self
    }

    /// Sets when it must have ended; without a deadline it may run for ever.
    #[must_use]
    pub const fn deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how many bytes of each output are kept: 1 MiB by default; the rest is read and counted.
    #[must_use]
    pub const fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Sets whether it runs outside of what [`super::enclose`] starts programs in.
    #[must_use]
    pub const fn outside(mut self, is_outside: bool) -> Self {
        self.is_outside = is_outside;
        self
    }

    /// Gives it a folder, which it sees at [`Folder::seen`].
    #[must_use]
    pub fn sharing(mut self, folder: &Arc<Folder>) -> Self {
        self.folder = Some(folder.clone());
        self
    }

    /// Says that a policy has it run: it is told how many of its kind stand above it, at least `depth`, and is not started below
    /// too many.
    #[must_use]
    pub fn of_policy(mut self, depth: u32) -> Self {
        self.depth = Some(depth.max(depth::depth()));
        self
    }

    /// Runs it to its end, or to its deadline and at most 100 ms beyond.
    ///
    /// # Errors
    /// Where it could not be started. A program that ends badly is not an error here.
    pub fn run(&self) -> Result<Finished, ProcessError> {
        let start = Instant::now();
        if self.depth.is_some() {
            running::prepare();
        }
        let (mut child, running) =
            Running::start(|| self.start(Streams::Pumped), |error| self.failed(error))?;
        let pid = running.pid();
        let mut pump = Pump::new(&mut child, pid, &self.stdin, self.max_output)
            .map_err(|source| self.failed(source))?;

        let in_time = pump.until_end(self.deadline);
        if in_time {
            let patience = self.deadline.map_or(GRACE, |deadline| {
                (deadline.saturating_duration_since(Instant::now()) + GRACE_AFTER_DEADLINE)
                    .min(GRACE)
            });
            pump.until_closed(Instant::now() + patience);
        }
        // It is ended here, and its number may soon mean another.
        drop(running);
        group::terminate(pid);
        if !in_time {
            let patience = Instant::now() + GRACE_AFTER_DEADLINE;
            if pump.until_end(Some(patience)) {
                pump.until_closed(patience);
            }
        }
        let (stdout, stderr) = (pump.stdout, pump.stderr);
        let status = group::end(pid, child);
        let exit = match status {
            Some(status) if in_time => status
                .code()
                .map(Exit::Code)
                .or_else(|| status.signal().map(Exit::Signal))
                .unwrap_or(Exit::TimedOut),
            _ => Exit::TimedOut,
        };
        Ok(Finished {
            exit,
            stdout: stdout.kept,
            stderr: stderr.kept,
            stdout_dropped: stdout.dropped,
            stderr_dropped: stderr.dropped,
            duration: start.elapsed(),
        })
    }

    /// Starts it and goes on without it: it outlives this process, and its outputs go nowhere.
    ///
    /// Its deadline is not enforced: what is started so must see to its own end. Returns its process id.
    ///
    /// # Errors
    /// Where it could not be started.
    pub fn start_detached(&self) -> Result<u32, ProcessError> {
        let mut child = self.start(Streams::Detached)?;
        let id = child.id();
        // No zombie where this process lives on; where it ends first there is nobody to reap.
        std::thread::Builder::new()
            .name("reaper".to_owned())
            .spawn(move || child.wait())
            .ok();
        Ok(id)
    }

    fn start(&self, streams: Streams) -> Result<Child, ProcessError> {
        let [program, arguments @ ..] = self.argv.as_slice() else {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "no program is named");
            return Err(self.failed(source));
        };
        let depth = self.depth.map(|depth| depth.max(depth::above()));
        if let Some(why) = depth.and_then(too_deep) {
            let program = program.clone();
            return Err(ProcessError::TooDeep { program, why });
        }
        let enclosure = enclosure().filter(|_| !self.is_outside);
        let enclosed = enclosure.map(|enclosure| {
            (enclosure.start)(&Enclosed {
                argv: &self.argv,
                dir: self.dir.as_deref(),
                folder: self
                    .folder
                    .as_ref()
                    .map(|folder| (folder.path(), folder.seen())),
            })
        });
        let (starter, words) = match enclosed.as_deref() {
            Some([starter, words @ ..]) => {
                // What encloses it would tell of a missing program in words of its own.
                self.find(program)?;
                (starter, words)
            }
            _ => (program, arguments),
        };
        let mut command = group::command(starter);
        for name in &self.env_removed {
            command.env_remove(name);
        }
        command
            .args(words)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(
                streams
                    .input(&self.stdin)
                    .map_err(|source| self.failed(source))?,
            )
            .stdout(streams.output())
            .stderr(streams.output());
        if let Some(depth) = depth {
            command.env(DEPTH, (depth + 1).to_string());
        }
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        let error = match spawn(&mut command) {
            Ok(child) => return Ok(child),
            Err(error) => error,
        };
        let path = self.dir.clone().unwrap_or_default().join(program);
        // A script without a `#!` line, which every shell runs.
        if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) && is_text(&path)
        {
            let mut by_shell = self.clone();
            by_shell.argv.insert(0, "sh".to_owned());
            return by_shell.start(streams);
        }
        Err(ProcessError::diagnose(program, self.dir.as_deref(), error))
    }

    /// Finds out whether a program is there at all.
    fn find(&self, program: &str) -> Result<(), ProcessError> {
        let path = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let found = match path {
            _ if program.contains('/') => {
                let dir = self.dir.clone().unwrap_or_default();
                dir.join(program).exists()
            }
            Some((_, path)) => find_program(program, Some(path)).is_some(),
            None => installed(program).is_some(),
        };
        if found {
            return Ok(());
        }
        let error = io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error());
        Err(ProcessError::diagnose(program, self.dir.as_deref(), error))
    }

    fn failed(&self, source: io::Error) -> ProcessError {
        ProcessError::Io {
            program: self.argv.first().cloned().unwrap_or_default(),
            source,
        }
    }
}

/// Where a program's input comes from and its outputs go to.
#[derive(Clone, Copy, Debug)]
enum Streams {
    /// Pipes, which this process fills and empties.
    Pumped,
    /// Nothing that needs this process.
    Detached,
}

impl Streams {
    fn input(self, content: &[u8]) -> io::Result<Stdio> {
        match self {
            _ if content.is_empty() => Ok(Stdio::null()),
            Self::Pumped => Ok(Stdio::piped()),
            // A pipe would have to be filled by this process, which may end first.
            Self::Detached => nameless_file(content),
        }
    }

    fn output(self) -> Stdio {
        match self {
            Self::Pumped => Stdio::piped(),
            Self::Detached => Stdio::null(),
        }
    }
}

/// Starts a command; a script that another thread has only just written is busy for a moment.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 0..20 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
    command.spawn()
}

/// Returns a file that holds `content`, stands at its start and has no name any more.
fn nameless_file(content: &[u8]) -> io::Result<Stdio> {
    let path = std::env::temp_dir().join(format!("ahp-{}", random::id()));
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    let removed = std::fs::remove_file(&path);
    file.write_all(content)?;
    file.rewind()?;
    removed?;
    Ok(file.into())
}
