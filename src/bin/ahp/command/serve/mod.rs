//! ahp serve: a judge that stays, asked by JSON-RPC lines on stdin, answered on stdout.

mod event;
mod harness;
mod judge;
mod known;
mod line;
mod method;
mod rpc;

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use self::judge::Judge;
use self::line::Line;
use self::line::Lines;
use crate::exit_code::Exit;
use crate::output;
use crate::project;

/// How long one event may take at most, in seconds: a test gate runs a whole suite.
const TIMEOUT: f64 = 480.0;

/// The size of the stack of each thread that evaluates: scripts and parsers go deep.
const STACK: usize = 16 << 20;

/// The most events that are judged at once.
const MOST_JOBS: usize = 64;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read requests from stdin and answer on stdout, one JSON-RPC object a line, until stdin ends
    #[arg(long, required = true)]
    stdio: bool,
    /// Judge by the policy of this project, whatever directory an event names
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// How many events are judged at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS as i64))]
    jobs: Option<u16>,
    /// How long one event may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = seconds)]
    timeout: f64,
    /// Who may answer signals; `human` where a person sits behind this program
    #[arg(long, value_name = "agent|human", default_value = "agent", value_parser = ["agent", "human"])]
    answers: String,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected a number of seconds, above 0 and at most 3600".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Exit {
    serve(args).unwrap_or_else(output::failure)
}

fn serve(args: &Args) -> Result<Exit, String> {
    let locations = project::named(args.project.as_deref())?;
    let judge = Judge::new(
        locations,
        args.project.is_some(),
        Duration::from_secs_f64(args.timeout),
        args.answers == "human",
    );
    // A panic is answered for; what it would print is not for the client.
    std::panic::set_hook(Box::new(|_| {}));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, usize::from).min(MOST_JOBS);
    // No more is read than can be judged soon, so that a client that writes without end is held back.
    let (give, take) = mpsc::sync_channel::<Line>(jobs);
    let take = Mutex::new(take);
    thread::scope(|scope| {
        for _ in 0..jobs {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || work(&judge, &take))
                .map_err(|error| format!("no thread could be started: {error}"))?;
        }
        let mut lines = Lines::new(io::stdin().lock());
        while let Some(line) = lines
            .next()
            .map_err(|error| format!("stdin cannot be read: {error}"))?
        {
            if give.send(line).is_err() {
                break;
            }
        }
        drop(give);
        Ok(Exit::Success)
    })
}

/// Judges lines until there are no more; ends early where nobody reads the answers.
fn work(judge: &Judge, lines: &Mutex<mpsc::Receiver<Line>>) {
    loop {
        let line = lines.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(line) = line else { return };
        let answer: Option<Value> = method::answer(judge, &line);
        if let Some(answer) = answer
            && !output::whole_line(&answer)
        {
            return;
        }
    }
}
