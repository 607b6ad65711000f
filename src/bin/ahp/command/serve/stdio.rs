//! Standard input and output: requests read a line at a time, judged by some threads, answered a line at a time.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::judge::Judge;
use super::line::{Line, Lines};
use super::{Args, MOST_JOBS, method};
use crate::answer::STACK;
use crate::daemon::engines::Engines;
use crate::exit_code::Exit;
use crate::output;
use crate::project;

pub(super) fn serve(args: &Args) -> Result<Exit, String> {
    let locations = project::named(args.project.as_deref())?;
    let judge = Judge::new(
        locations,
        args.project.is_some(),
        Duration::from_secs_f64(args.timeout),
        args.answers == "human",
        Engines::of_person(),
    );
    // A panic is answered for; what it would print is not for the client.
    std::panic::set_hook(Box::new(|_| {}));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, usize::from).min(MOST_JOBS);
    // No more is read than can be judged soon, so that a client that writes without end is held back.
    let (give, take) = mpsc::sync_channel::<Line>(jobs);
    let take = Arc::new(Mutex::new(take));
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (judge, take) = (&judge, take.clone());
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || work(judge, &take))
                .map_err(|error| format!("no thread could be started: {error}"))?;
        }
        // Where nobody is left who takes lines, giving one fails instead of waiting for ever.
        drop(take);
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
        let answer: Option<Value> = method::answer(judge, &line, "");
        if let Some(answer) = answer
            && !output::whole_line(&answer)
        {
            return;
        }
    }
}
