//! ahp log stats: the figures of the policy.

use ahp::analysis::Figures;
use ahp::analysis::GroupStats;
use ahp::analysis::Stats;
use comfy_table::CellAlignment;
use comfy_table::Table;

use super::filter::FilterArgs;
use super::table;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output;
use crate::output::Format;
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// What the rows are
    #[arg(long, value_enum, default_value_t)]
    by: By,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The same as --format json
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum By {
    #[default]
    Binding,
    Oracle,
    Issue,
    Host,
    Day,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let reader = log.read()?;
    let filter = args.filter.filter()?;
    let stats = Stats::collect(&reader, &filter).map_err(|e| e.to_string())?;
    if args.json || args.format == Format::Json {
        output::json(&stats);
        return Ok(Exit::Success);
    }
    let mut table = match args.by {
        By::Binding => by_binding(&stats),
        By::Oracle => by_oracle(&stats),
        By::Issue => by_group("ISSUE", &stats.issues),
        By::Host => by_group("HOST", &stats.hosts),
        By::Day => by_group("DAY", &stats.days),
    };
    if let (Some(since), Some(until)) = (stats.since, stats.until) {
        output::line(format!(
            "{}, {}, {}, {} to {} UTC",
            count(stats.evaluations, "event"),
            count(stats.signals.total(), "signal"),
            count(stats.total.answered, "answer"),
            since.format("%Y-%m-%d %H:%M"),
            until.format("%Y-%m-%d %H:%M")
        ));
    }
    if stats.records == 0 {
        super::tell_of_nothing(log, &reader, &filter);
    } else if table.row_count() == 0 {
        output::error(match args.by {
            By::Binding | By::Oracle => "no binding judged any of these events",
            By::Issue => "none of these events is of an issue",
            By::Host => "none of these events names its host",
            By::Day => "none of these events has a day",
        });
    }
    if table.row_count() == 0 {
        tell_of_bad_lines(&stats);
        return Ok(Exit::Success);
    }
    let left_out = table::fit(&mut table, LEAVE_OUT, false);
    table::print(&table);
    if !left_out.is_empty() {
        output::error(format!(
            "no room for {}: a wider terminal or --json shows them",
            left_out.join(", ")
        ));
    }
    tell_of_bad_lines(&stats);
    Ok(Exit::Success)
}

fn tell_of_bad_lines(stats: &Stats) {
    if stats.bad_lines > 0 {
        output::error(format!(
            "{} no record; `ahp log verify` says more",
            match stats.bad_lines {
                1 => "1 line is".to_owned(),
                lines => format!("{lines} lines are"),
            }
        ));
    }
}

const COLUMNS: [&str; 15] = [
    "RUNS",
    "OK",
    "BLOCK",
    "CTRL",
    "PROMPT",
    "AID",
    "ANSWERED",
    "DISMISSED",
    "OVERRIDDEN",
    "REPAIR",
    "TRIES",
    "ERRORS",
    "LATE",
    "P50",
    "P99",
];

/// What a narrow terminal does without, the least important first.
const LEAVE_OUT: &[&str] = &[
    "LATE",
    "P50",
    "OK",
    "TRIES",
    "P99",
    "ERRORS",
    "AID",
    "CTRL",
    "OVERRIDDEN",
    "ANSWERED",
    "REPAIR",
    "REPAIRED",
];

fn by_binding(stats: &Stats) -> Table {
    let mut table = table::table(&[&["BINDING", "HOOK"], &COLUMNS[..]].concat());
    for binding in &stats.bindings {
        let names = [binding.id.clone(), binding.hook.clone()];
        table.add_row(names.into_iter().chain(cells(&binding.figures)));
    }
    align(table, 2)
}

fn by_oracle(stats: &Stats) -> Table {
    let mut table = table::table(&[&["ORACLE"], &COLUMNS[..]].concat());
    for oracle in &stats.oracles {
        let names = [oracle.name.clone()];
        table.add_row(names.into_iter().chain(cells(&oracle.figures)));
    }
    align(table, 1)
}

fn by_group(what: &str, groups: &[GroupStats]) -> Table {
    let mut table = table::table(&[
        what, "EVENTS", "STOPPED", "BLOCK", "CTRL", "PROMPT", "AID", "ANSWERED", "REPAIRED",
        "REPAIR",
    ]);
    for group in groups {
        table.add_row([
            group.name.clone(),
            group.evaluations.to_string(),
            group.stopped.to_string(),
            group.signals.block.to_string(),
            group.signals.control.to_string(),
            group.signals.prompt.to_string(),
            group.signals.aid.to_string(),
            group.answered.to_string(),
            group.repaired.to_string(),
            seconds(group.mean_time_to_repair_s),
        ]);
    }
    align(table, 1)
}

/// Puts the figures behind the names to the right.
fn align(mut table: Table, names: usize) -> Table {
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(figures: &Figures) -> [String; 15] {
    [
        figures.triggered.to_string(),
        figures.accepted.to_string(),
        figures.signals.block.to_string(),
        figures.signals.control.to_string(),
        figures.signals.prompt.to_string(),
        figures.signals.aid.to_string(),
        percent(figures.consumption_rate),
        percent(figures.dismissal_rate),
        percent(figures.override_rate),
        seconds(figures.mean_time_to_repair_s),
        figures
            .mean_tries
            .map_or_else(|| "-".to_owned(), |tries| format!("{tries:.1}")),
        figures.errors.to_string(),
        figures.timeouts.to_string(),
        microseconds(figures.p50_us),
        microseconds(figures.p99_us),
    ]
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.0}%", rate * 100.0))
}

fn seconds(seconds: Option<f64>) -> String {
    match seconds {
        None => "-".to_owned(),
        Some(s) if s < 60.0 => format!("{s:.0}s"),
        Some(s) if s < 3600.0 => format!("{:.1}m", s / 60.0),
        Some(s) if s < 86_400.0 => format!("{:.1}h", s / 3600.0),
        Some(s) => format!("{:.1}d", s / 86_400.0),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a duration to three digits")]
fn microseconds(duration: Option<u64>) -> String {
    match duration {
        None => "-".to_owned(),
        Some(us) if us < 1000 => format!("{us}us"),
        Some(us) if us < 1_000_000 => format!("{:.1}ms", us as f64 / 1e3),
        Some(us) => format!("{:.1}s", us as f64 / 1e6),
    }
}
