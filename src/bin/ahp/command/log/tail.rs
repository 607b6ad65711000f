//! ahp log tail: the newest signals, and those that come.

use std::ops::ControlFlow;
use std::time::Duration;

use ahp::analysis::{Entry, Filter, Passed, newest_entries};
use ahp::signal_log::{Body, Follow, Line, ResponseRecord};
use uuid::Uuid;

use super::filter::SignalFilterArgs;
use super::table;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output::{self, Format};

/// How often new lines are looked for.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: SignalFilterArgs,
    /// At most this many, the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Go on with the signals and answers that come, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// One JSON object a line; the same as --format json
    #[arg(long)]
    json: bool,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let for_programs = args.json || args.format == Format::Json;
    let print = |entry: &Entry| {
        if for_programs {
            output::json(entry);
        } else {
            output::line(table::one_line(entry));
        }
    };
    // First the place from which to follow, so that nothing falls between.
    let mut follow = Follow::new(log.find()?.0).map_err(|e| e.to_string())?;
    let reader = log.read()?;
    let filter = args.filter.filter(&reader)?;
    if args.limit > 0 {
        let newest = newest_entries(&reader, &filter, args.limit).map_err(|e| e.to_string())?;
        newest.iter().for_each(print);
        super::tell_of_bad_lines(reader.left_out());
        if newest.is_empty() && !args.follow {
            super::tell_of_nothing(log, &reader, &filter);
        }
    }
    drop(reader);
    if !args.follow {
        return Ok(Exit::Success);
    }
    let mut passed = Passed::new(&filter);
    let mut links = follow.links();
    loop {
        for bytes in follow.news().map_err(|e| e.to_string())? {
            let line: Line<'_> = match links.read(&bytes) {
                Ok(line) => line,
                Err(bad) => {
                    let bad = format!("a line of the log does not count: {bad}");
                    output::error(format!("{bad}; `ahp log verify` says more"));
                    continue;
                }
            };
            if !passed.admits(&line, |signal| was_admitted(log, &filter, signal)) {
                continue;
            }
            match &line.body {
                Body::Evaluation(_) => {}
                Body::Response(_) if filter.unanswered => {}
                Body::Response(answer) => print_answer(answer, for_programs),
                Body::Signal(_) => {
                    if let Some(entry) = Entry::of_signal(line) {
                        print(&entry);
                    }
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Looks up a signal that was given before the tail began, and whether it is asked for.
fn was_admitted(log: &LogFile, filter: &Filter, signal: Uuid) -> bool {
    let mut is_admitted = false;
    let read = log.read().map(|reader| {
        reader.newest_first(|_, line| match &line.body {
            Body::Signal(record) if record.signal.header.id == signal => {
                is_admitted = filter.admits(&line);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        })
    });
    matches!(read, Ok(Ok(()))) && is_admitted
}

fn print_answer(record: &ResponseRecord, for_programs: bool) {
    if for_programs {
        return output::json(record);
    }
    let response = &record.response;
    let id = response.signal_id.simple().to_string();
    let how = match (&record.refused, response.inferred) {
        (Some(reason), _) => format!(" refused: {reason}"),
        (None, true) => " (inferred)".to_owned(),
        (None, false) => String::new(),
    };
    output::line(format!(
        "{} {} answered {}{how}",
        response.consumed_at.format("%m-%d %H:%M:%S"),
        id.get(24..).unwrap_or_default(),
        response.action
    ));
}
