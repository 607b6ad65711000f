//! ahp hook: what hosts call; one event on stdin, the host's own reply on stdout, exit code 0 or 2 whatever happens.

use std::ffi::OsString;
use std::io;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ahp::config::{Config, Environment, Locations};
use ahp::engine::Engine;
use ahp::event::Trigger;
use ahp::host::{Decoded, Host, MOST_BYTES, Reply};
use ahp::install::{Disarming, Installer, KeptHooks, Needs};
use ahp::process::depth;
use ahp::signal::Signal;
use ahp::verdict::Verdict;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::answer::{self, Call, Deadlines, INDEX, Judge, Past, Progress, Trouble};
use crate::ask::{self, Asked};
use crate::command::install;
use crate::exit_code::Exit;
use crate::output;
use crate::project;

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// The host that calls: `ahp doctor` lists them; without it the payload tells
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The host's name of the event, for payloads that do not give it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// The time limit for the answer, in seconds; less than the host's own
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// The arguments that the host gives its hook; only git does
    #[arg(last = true)]
    arguments: Vec<String>,
}

impl Args {
    /// Reads the arguments without clap, for hosts call this on every tool call and wait for it.
    ///
    /// Returns nothing where they ask for something that clap knows better: help, or an option that is none.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut words = words.map(|w| w.to_string_lossy().into_owned());
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            if name == "--" {
                args.arguments = words.collect();
                break;
            }
            let value = inline.or_else(|| words.next())?;
            match name.as_str() {
                "--host" => args.host = Some(value),
                "--event" => args.event = Some(value),
                "--timeout" => args.timeout = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        Some(args)
    }
}

/// Judges one event, in a process of its own.
struct Alone<'a> {
    environment: &'a Environment,
    here: Locations,
}

impl Judge for Alone<'_> {
    fn locations(&self, dir: Option<&Path>) -> Locations {
        match dir {
            Some(dir) => Locations::find(self.environment, Some(dir)),
            None => self.here.clone(),
        }
    }

    fn tells_project(&self, host: &Host) -> bool {
        self.environment.project_dir(host).is_some()
    }

    fn host_dirs(&self, host: &Host, dir: &Path) -> Vec<PathBuf> {
        answer::host_dirs(self.environment, &self.here, host, dir)
    }

    fn depth(&self) -> u32 {
        depth()
    }

    fn engine(&self, locations: Locations, trigger: Trigger, past: Past) -> Result<Engine, String> {
        let engine = project::built(past.known_to(project::engine(locations).only(trigger)))?;
        // The process ends with the answer: what the engine holds goes with it, at once, instead of piece by piece.
        std::mem::forget(engine.clone());
        Ok(engine)
    }

    fn settings_changed(&self, decoded: &Decoded) -> Option<Verdict> {
        settings_changed(self.environment, &self.here, decoded, None)
    }
}

/// Blocks a change of the host's own settings after which it would not ask where the policy has to be asked, unless the hooks stand as
/// they did when they were last right: the policy has grown since, and the change leaves them alone. `judge` is where this process
/// answers over HTTP.
pub(crate) fn settings_changed(
    environment: &Environment,
    here: &Locations,
    decoded: &Decoded,
    judge: Option<SocketAddr>,
) -> Option<Verdict> {
    let host_event = decoded.host_event?;
    let installer = Installer::of(decoded.host)?;
    let why = match install::places(environment, here) {
        Ok(places) => {
            let engine = project::quiet_engine(here.clone());
            let needs = engine.map_or_else(|_| Needs::none(), |engine| install::surely(&engine));
            let state_dir = here.state_dir.as_deref();
            let hooks = state_dir.and_then(|dir| KeptHooks::of(&installer, &places, dir));
            // What this process was started with is in force already.
            let is_new = |found: &Disarming| {
                let value = found.value.as_deref();
                value.is_none() || environment.get(&found.name) != value
            };
            let disarming = || installer.disarming(&places).into_iter().find(is_new);
            let undone = installer.is_undone(&places, &needs, judge).or_else(|| {
                Some(format!(
                    "{}: take it out, or look at it and run `ahp install {}`, which takes it as it stands",
                    disarming()?,
                    installer.host.name
                ))
            });
            let Some(why) = undone else {
                if let Some(hooks) = hooks {
                    hooks.keep();
                }
                return None;
            };
            if hooks.is_some_and(|hooks| hooks.is_known()) {
                return None;
            }
            why
        }
        Err(error) => error,
    };
    let reason = format!("this session keeps its settings as they were: {why}");
    let mut signal = Signal::block("self-protection", reason).unresolvable();
    "self-protection".clone_into(&mut signal.header.source);
    Some(Verdict::of(host_event.trigger?, vec![signal]))
}

/// Answers the host.
pub(crate) fn run(args: &Args) -> ExitCode {
    // Whatever a panic would print, a host would take for an answer; it goes to the journal.
    std::panic::set_hook(Box::new(|_| {}));
    let call = Call {
        host: args.host.clone(),
        event: args.event.clone(),
        arguments: args.arguments.clone(),
        timeout: args.timeout,
        index: None,
    };
    let deadlines = Deadlines::of(&call);
    let reply = answer::reply(&call, |progress| evaluate(&call, progress, deadlines));
    match write(&reply) {
        Ok(()) if !reply.stdout.is_empty() && is_unheard() => {
            output::error("ahp: the answer goes nowhere: standard output is closed");
            Exit::Blocked.into()
        }
        Ok(()) => ExitCode::from(reply.exit_code()),
        Err(error) => {
            // What the answer says is lost, and it may be a block: the exit code is all that the host still hears.
            output::error(format!("ahp: the answer cannot be written: {error}"));
            Exit::Blocked.into()
        }
    }
}

/// Whether nobody reads standard output: where it is closed, the null device is opened in its place.
fn is_unheard() -> bool {
    let is_null = |file: &rustix::fs::Stat| {
        let null = rustix::fs::stat("/dev/null");
        null.is_ok_and(|null| null.st_rdev == file.st_rdev && null.st_mode == file.st_mode)
    };
    rustix::fs::fstat(io::stdout()).is_ok_and(|file| is_null(&file))
}

fn evaluate(call: &Call, progress: &mut Progress, deadlines: Deadlines) -> Result<Reply, Trouble> {
    let environment = Environment::of_process();
    let with_index;
    let call = match environment.get(INDEX) {
        Some(index) => {
            with_index = Call {
                index: Some(index.into()),
                ..call.clone()
            };
            &with_index
        }
        None => call,
    };
    let bytes = if call.has_input() {
        read_event(deadlines.answer)
    } else {
        Ok(Vec::new())
    };
    // A judge that listens knows everything else already: nothing is looked for before it is asked.
    if let Ok(bytes) = &bytes {
        match ask::judge(&environment, call, bytes, deadlines.answer) {
            Asked::Answer(reply) => return Ok(reply),
            Asked::Nobody => {}
            Asked::TooLate => {
                // A part of the host's time is left to find out what the project says of failures.
                let here = Locations::find(&environment, None);
                progress.on_error = Config::load(&here).config.settings.on_error;
                progress.happens_at(&here);
                progress.decode(call, bytes, environment.current_dir());
                return Err(Trouble::Own("the judge did not answer in time".to_owned()));
            }
            Asked::Shielded(why) => {
                progress.decode(call, bytes, environment.current_dir());
                return Err(Trouble::NoJudge(why));
            }
        }
    }
    let judge = Alone {
        here: Locations::find(&environment, None),
        environment: &environment,
    };
    progress.happens_at(&judge.here);
    answer::evaluate(call, &bytes?, &judge, progress, deadlines)
}

/// Reads what the host sends, for as long as there is time to answer it.
fn read_event(deadline: Instant) -> Result<Vec<u8>, Trouble> {
    let unreadable = |error: io::Error| Trouble::Event(format!("stdin cannot be read: {error}"));
    let stdin = io::stdin();
    let mut bytes = Vec::with_capacity(8 << 10);
    while bytes.len() <= MOST_BYTES {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        match rustix::event::poll(&mut ready, left.as_ref()) {
            Ok(0) => {
                return Err(Trouble::Own(
                    "the host did not send its event in time".to_owned(),
                ));
            }
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(unreadable(error.into())),
        }
        bytes.reserve(1);
        match rustix::io::read(&stdin, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(unreadable(error.into())),
        }
    }
    Ok(bytes)
}

/// Writes the reply: the words as far as somebody reads them, the answer whole.
fn write(reply: &Reply) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr
        .write_all(output::without_commands_in_ci(&reply.stderr).as_bytes())
        .ok();
    stderr.flush().ok();
    let mut stdout = io::stdout().lock();
    stdout.write_all(output::without_commands_in_ci(&reply.stdout).as_bytes())?;
    stdout.flush()
}
