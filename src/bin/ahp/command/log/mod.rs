//! ahp log: what the signal log holds and what it teaches.

mod advise;
mod export;
mod filter;
mod report;
mod show;
mod stats;
mod table;
mod tail;
mod verify;

use ahp::analysis::Filter;
use ahp::signal_log::Reader;

use crate::exit_code::Exit;
use crate::log_file::LogFile;
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
    /// Propose changes of the policy, with the figures behind each
    Advise(advise::Args),
    /// Write the signals, or the records as they are, as CSV or NDJSON
    Export(export::Args),
    /// Write one HTML page with charts, time lines and advice
    Report(report::Args),
    /// Show the newest signals and what became of them
    Show(show::Args),
    /// Count how each binding fires, how it is answered, how long a repair takes
    Stats(stats::Args),
    /// Show the newest signals, and with -f those that come
    Tail(tail::Args),
    /// Check the hash chain, over rotated files too
    Verify(verify::Args),
}

/// Says why there is nothing to show: an empty page could mean anything.
fn tell_of_nothing(log: &LogFile, reader: &Reader, filter: &Filter) {
    if reader.is_empty() {
        let path = log.find().0;
        output::error(format!("nothing is logged in `{}` yet", path.display()));
    } else if filter.is_open() && !filter.unanswered {
        output::error("the log has no signals");
    } else {
        output::error("nothing in the log is what these filters ask for");
    }
}

pub(crate) fn run(args: &Args) -> Exit {
    let done = match &args.command {
        Command::Advise(advise) => advise::run(&args.log, advise),
        Command::Export(export) => export::run(&args.log, export),
        Command::Report(report) => report::run(&args.log, report),
        Command::Show(show) => show::run(&args.log, show),
        Command::Stats(stats) => stats::run(&args.log, stats),
        Command::Tail(tail) => tail::run(&args.log, tail),
        Command::Verify(verify) => verify::run(&args.log, verify),
    };
    done.unwrap_or_else(output::failure)
}
