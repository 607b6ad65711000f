//! ahp log: what the signal log holds and what it teaches.

mod advise;
mod export;
mod filter;
mod report;
mod show;
mod stats;
mod sums;
mod table;
mod tail;
mod verify;

use ahp::analysis::Filter;
use ahp::signal_log::Reader;

use crate::exit_code::Exit;
use crate::log_file::{LogFile, has_records};
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogFile,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Propose changes to the policy, each with its figures
    Advise(advise::Args),
    /// Write the signals, or the records as they are, as CSV or NDJSON
    Export(export::Args),
    /// Write one HTML page with charts, time lines and advice
    Report(report::Args),
    /// Show the newest signals and their answers
    Show(show::Args),
    /// Count how often each binding fires, how it is answered, and how long a fix takes
    Stats(stats::Args),
    /// Show the newest signals, and with -f new ones as they come
    Tail(tail::Args),
    /// Check the hash chain, including rotated files
    Verify(verify::Args),
}

/// Says why there is nothing to show: an empty page could mean anything.
fn tell_of_nothing(log: &LogFile, reader: &Reader, filter: &Filter) {
    if reader.is_empty() {
        let place = log
            .find()
            .map(|(place, _)| place.path().display().to_string());
        let place = place.unwrap_or_default();
        output::error(format!("nothing is logged in `{place}` yet"));
    } else if !has_records(reader) {
        let place = log.find().map(|(place, _)| place.path().to_owned());
        output::error(format!(
            "`{}` is not a signal log: no line of it is a record",
            place.unwrap_or_default().display()
        ));
    } else if filter.is_open() && !filter.unanswered {
        output::error("the log has no signals");
    } else {
        output::error("nothing in the log is what these filters ask for");
    }
}

/// Says that lines were left out: what was edited or put in by hand is counted nowhere.
fn tell_of_bad_lines(count: u64) {
    if let Some(lines) = bad_lines(count) {
        output::error(format!("{lines}; `ahp log verify` says more"));
    }
}

/// Returns how many lines are not records of the log; none where all are.
fn bad_lines(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 line is not a record and was not counted".to_owned()),
        lines => Some(format!(
            "{lines} lines are not records and were not counted"
        )),
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    match &args.command {
        Command::Advise(advise) => advise::run(&args.log, advise),
        Command::Export(export) => export::run(&args.log, export),
        Command::Report(report) => report::run(&args.log, report),
        Command::Show(show) => show::run(&args.log, show),
        Command::Stats(stats) => stats::run(&args.log, stats),
        Command::Tail(tail) => tail::run(&args.log, tail),
        Command::Verify(verify) => verify::run(&args.log, verify),
    }
}
