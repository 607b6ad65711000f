//! ahp log stats: the figures of the policy.

use ahp::analysis::{Figures, FindingStats, Gathered, GroupStats, PartStats, Stats};
use comfy_table::{CellAlignment, Table};

use super::filter::FilterArgs;
use super::sums::SumsFile;
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
    #[command(flatten)]
    sums: SumsFile,
    /// What each row stands for
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
    /// The kinds of subagents, and the session's own agent
    Agent,
    Day,
    Mark,
    Session,
    /// What was found, by the rule that was broken
    Rule,
    /// What was found, by what broke the rule
    Finding,
    /// Each binding in each team; needs --sums, as all that follow
    Team,
    /// Each binding in each repository
    Repo,
    /// Each binding under each policy, to compare versions
    Policy,
    /// The logs of which records are missing or came twice
    Gaps,
    /// The machines that sent records before, and none for three days
    Silent,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let (stats, source) = if let Some(stats) = args.sums.read(log)? {
        (stats, None)
    } else {
        let reader = log.read()?;
        let filter = args.filter.filter(&reader)?;
        let stats = Stats::collect(&reader, &filter).map_err(|e| e.to_string())?;
        (stats, Some((reader, filter)))
    };
    is_there(args.by, stats.gathered.is_some())?;
    if args.json || args.format == Format::Json {
        output::json(&stats);
        return Ok(Exit::Success);
    }
    let none = Gathered::default();
    let gathered = stats.gathered.as_ref().unwrap_or(&none);
    let mut table = match args.by {
        By::Binding => by_binding(&stats),
        By::Oracle => by_oracle(&stats),
        By::Issue => by_group("ISSUE", &stats.issues),
        By::Host => by_group("HOST", &stats.hosts),
        By::Agent => by_group("AGENT", &stats.agents),
        By::Day => by_group("DAY", &stats.days),
        By::Mark => by_mark(&stats),
        By::Session => by_group("SESSION", &stats.sessions),
        By::Rule => by_finding(&stats.rules),
        By::Finding => by_finding(&stats.findings),
        By::Team => by_part("TEAM", &gathered.teams),
        By::Repo => by_part("REPO", &gathered.repos),
        By::Policy => by_part("POLICY", &gathered.policies),
        By::Gaps => by_gap(gathered),
        By::Silent => by_silence(gathered),
    };
    if let (Some(since), Some(until)) = (stats.since, stats.until) {
        output::line(format!(
            "{}{}, {}, {}, {} to {} UTC",
            match &stats.gathered {
                Some(gathered) => format!("{}, ", count(gathered.machines, "machine")),
                None => String::new(),
            },
            count(stats.evaluations, "event"),
            count(stats.signals.total(), "signal"),
            count(stats.total.answered, "answer"),
            since.format("%Y-%m-%d %H:%M"),
            until.format("%Y-%m-%d %H:%M")
        ));
    }
    if stats.records == 0
        && let Some((reader, filter)) = &source
    {
        super::tell_of_nothing(log, reader, filter);
    } else if table.row_count() == 0 {
        output::error(match args.by {
            By::Binding | By::Oracle => "no binding judged any of these events",
            By::Issue => "none of these events is of an issue",
            By::Host => "none of these events names its host",
            By::Agent | By::Day => "there are none of these events",
            By::Mark => "none of these events did anything to a mark",
            By::Session => "none of these events names its session",
            By::Rule | By::Finding => "nothing was found in any of these events",
            By::Team | By::Repo | By::Policy => "nothing was gathered",
            By::Gaps => "no record is missing, and none came twice",
            By::Silent => "every machine has sent records within three days",
        });
    }
    if table.row_count() == 0 {
        super::tell_of_bad_lines(stats.bad_lines);
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
    super::tell_of_bad_lines(stats.bad_lines);
    Ok(Exit::Success)
}

/// Says why there are no such rows.
fn is_there(by: By, is_gathered: bool) -> Result<(), String> {
    let name = clap::ValueEnum::to_possible_value(&by);
    let name = name.map_or_else(String::new, |name| name.get_name().to_owned());
    match by {
        By::Team | By::Repo | By::Policy | By::Gaps | By::Silent if !is_gathered => Err(format!(
            "`--by {name}` compares many machines: `--sums FILE` gives their figures"
        )),
        By::Agent | By::Mark | By::Session | By::Finding if is_gathered => Err(format!(
            "`--by {name}` is of one log: what agents, sessions and marks are called and what was found is not gathered"
        )),
        _ => Ok(()),
    }
}

const COLUMNS: [&str; 17] = [
    "RUNS",
    "OK",
    "BLOCK",
    "CTRL",
    "PROMPT",
    "AID",
    "ANSWERED",
    "FOUND",
    "DISMISSED",
    "OVERRIDDEN",
    "IGNORED",
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
    "OPEN",
    "SIGNALS",
];

fn by_binding(stats: &Stats) -> Table {
    let mut table = table::table(&[&["BINDING", "HOOK"], &COLUMNS[..]].concat());
    for binding in &stats.bindings {
        let names = [binding.id.clone(), binding.hook.clone()];
        table.add_row(names.into_iter().chain(cells(&binding.figures)));
    }
    align(table, 2)
}

/// Each binding of each part: what a binding does is compared from row to row.
fn by_part(what: &str, parts: &[PartStats]) -> Table {
    let mut table = table::table(&[&["BINDING", "HOOK", what], &COLUMNS[..]].concat());
    let each = parts
        .iter()
        .flat_map(|part| part.bindings.iter().map(move |binding| (binding, part)));
    let mut rows: Vec<_> = each.collect();
    rows.sort_by_key(|(binding, part)| (&binding.id, &binding.hook, &part.group.name));
    for (binding, part) in rows {
        let name = match part.group.name.as_str() {
            "" => "-",
            name => name,
        };
        let names = [binding.id.clone(), binding.hook.clone(), name.to_owned()];
        table.add_row(names.into_iter().chain(cells(&binding.figures)));
    }
    align(table, 3)
}

fn by_gap(gathered: &Gathered) -> Table {
    let mut table = table::table(&["LOG", "FIRST", "LAST", "MISSING", "DOUBLED"]);
    for gap in &gathered.gaps {
        let counts = [gap.first_seq, gap.last_seq, gap.missing, gap.doubled];
        let counts = counts.iter().map(ToString::to_string);
        table.add_row([gap.log_id.clone()].into_iter().chain(counts));
    }
    align(table, 1)
}

fn by_silence(gathered: &Gathered) -> Table {
    let mut table = table::table(&["MACHINE", "LAST RECORD (UTC)"]);
    for silent in &gathered.silent {
        let last = silent.last.format("%Y-%m-%d %H:%M").to_string();
        table.add_row([silent.machine.clone(), last]);
    }
    table
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
            group.fates.repaired.to_string(),
            seconds(group.mean_time_to_repair_s),
        ]);
    }
    align(table, 1)
}

fn by_mark(stats: &Stats) -> Table {
    let mut table = table::table(&["MARK", "FED", "ENDED", "ASKED", "UNTOLD"]);
    for (name, mark) in &stats.marks {
        table.add_row([
            name.clone(),
            mark.fed.to_string(),
            mark.ended.to_string(),
            mark.asked.to_string(),
            mark.untold.to_string(),
        ]);
    }
    align(table, 1)
}

fn by_finding(findings: &[FindingStats]) -> Table {
    let mut table = table::table(&[
        "BINDING",
        "RULE",
        "OBJECT",
        "SIGNALS",
        "FOUND",
        "REPAIRED",
        "OVERRIDDEN",
        "DISMISSED",
        "HEEDED",
        "IGNORED",
        "OPEN",
    ]);
    for finding in findings.iter().filter(|f| f.signals.total() > 0) {
        let fates = &finding.fates;
        let counts = [
            finding.signals.total(),
            fates.findings,
            fates.repaired,
            fates.overridden,
            fates.dismissed,
            fates.heeded,
            fates.ignored,
            fates.open(),
        ];
        let names = [
            finding.binding.clone(),
            finding.rule.clone(),
            finding.object.clone().unwrap_or_else(|| "-".to_owned()),
        ];
        table.add_row(
            names
                .into_iter()
                .chain(counts.map(|count| count.to_string())),
        );
    }
    align(table, 3)
}

/// Puts the figures behind the names to the right.
fn align(mut table: Table, names: usize) -> Table {
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(figures: &Figures) -> [String; 17] {
    [
        figures.triggered.to_string(),
        figures.accepted.to_string(),
        figures.signals.block.to_string(),
        figures.signals.control.to_string(),
        figures.signals.prompt.to_string(),
        figures.signals.aid.to_string(),
        percent(figures.consumption_rate),
        figures.fates.findings.to_string(),
        percent(figures.dismissal_rate),
        percent(figures.override_rate),
        percent(figures.ignored_rate),
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
