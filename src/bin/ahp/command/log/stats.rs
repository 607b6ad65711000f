//! ahp log stats: the figures of the policy.

use ahp::analysis::{
    Figures, FindingStats, Gap, Gathered, GroupStats, Intensities, PartStats, Silent, Stats,
};
use comfy_table::{CellAlignment, Table};

use super::filter::FilterArgs;
use super::sums::SumsFile;
use super::table::{self, counted};
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output::{self, Format};
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

/// What a narrow terminal does without, the least important first.
const LEAVE_OUT: &str =
    "LATE P50 OK TRIES P99 ERRORS AID CTRL OVERRIDDEN ANSWERED REPAIR REPAIRED OPEN SIGNALS";

/// Makes a table of figures, each row with the names that stand before them.
fn of_figures<'f>(
    heads: &[&str],
    each: impl IntoIterator<Item = (Vec<&'f str>, &'f Figures)>,
) -> Table {
    let columns = columns(&Figures::default()).map(|(head, _)| head);
    let rows = each.into_iter().map(|(names, figures)| {
        let cells = self::columns(figures).map(|(_, cell)| cell);
        let names = names.into_iter().map(str::to_owned);
        names.chain(cells).collect()
    });
    table(&[heads, &columns].concat(), heads.len(), rows)
}

/// Makes a table of rows whose cells behind the names are figures, and stand to the right.
fn table(heads: &[&str], names: usize, rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = table::table(heads);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn by_binding(stats: &Stats) -> Table {
    let bindings = stats.bindings.iter();
    let rows = bindings.map(|binding| (vec![&*binding.id, &*binding.hook], &binding.figures));
    of_figures(&["BINDING", "HOOK"], rows)
}

/// Each binding of each part: what a binding does is compared from row to row.
fn by_part(what: &str, parts: &[PartStats]) -> Table {
    let each = parts
        .iter()
        .flat_map(|part| part.bindings.iter().map(move |binding| (binding, part)));
    let mut rows: Vec<_> = each.collect();
    rows.sort_by_key(|(binding, part)| (&binding.id, &binding.hook, &part.group.name));
    let rows = rows.into_iter().map(|(binding, part)| {
        let name = match part.group.name.as_str() {
            "" => "-",
            name => name,
        };
        (vec![&*binding.id, &*binding.hook, name], &binding.figures)
    });
    of_figures(&["BINDING", "HOOK", what], rows)
}

fn by_gap(gathered: &Gathered) -> Table {
    let row = |gap: &Gap| {
        let counts = [gap.first_seq, gap.last_seq, gap.missing, gap.doubled];
        counted(&gap.log_id, &counts)
    };
    let heads = ["LOG", "FIRST", "LAST", "MISSING", "DOUBLED"];
    table(&heads, 1, gathered.gaps.iter().map(row))
}

fn by_silence(gathered: &Gathered) -> Table {
    let row = |silent: &Silent| {
        let last = silent.last.format("%Y-%m-%d %H:%M").to_string();
        vec![silent.machine.clone(), last]
    };
    let rows = gathered.silent.iter().map(row);
    table(&["MACHINE", "LAST RECORD (UTC)"], 2, rows)
}

fn by_oracle(stats: &Stats) -> Table {
    let oracles = stats.oracles.iter();
    let rows = oracles.map(|oracle| (vec![&*oracle.name], &oracle.figures));
    of_figures(&["ORACLE"], rows)
}

fn by_group(what: &str, groups: &[GroupStats]) -> Table {
    let heads = [
        what, "EVENTS", "STOPPED", "BLOCK", "CTRL", "PROMPT", "AID", "ANSWERED", "REPAIRED",
        "REPAIR",
    ];
    let row = |group: &GroupStats| {
        let Intensities {
            block,
            control,
            prompt,
            aid,
        } = group.signals;
        let (events, repaired) = (group.evaluations, group.fates.repaired);
        let counts = [
            events,
            group.stopped,
            block,
            control,
            prompt,
            aid,
            group.answered,
            repaired,
        ];
        let mut row = counted(&group.name, &counts);
        row.push(seconds(group.mean_time_to_repair_s));
        row
    };
    table(&heads, 1, groups.iter().map(row))
}

fn by_mark(stats: &Stats) -> Table {
    let rows = stats
        .marks
        .iter()
        .map(|(name, mark)| counted(name, &[mark.fed, mark.ended, mark.asked, mark.untold]));
    table(&["MARK", "FED", "ENDED", "ASKED", "UNTOLD"], 1, rows)
}

fn by_finding(findings: &[FindingStats]) -> Table {
    let heads = [
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
    ];
    let found = findings.iter().filter(|f| f.signals.total() > 0);
    let rows = found.map(|finding| {
        let f = &finding.fates;
        let known = [
            f.findings,
            f.repaired,
            f.overridden,
            f.dismissed,
            f.heeded,
            f.ignored,
        ];
        let object = finding.object.as_deref().unwrap_or("-");
        let counts = [&[finding.signals.total()], &known[..], &[f.open()]].concat();
        let names = [&*finding.binding, &*finding.rule].map(str::to_owned);
        names.into_iter().chain(counted(object, &counts)).collect()
    });
    table(&heads, 3, rows)
}

/// Returns the columns of figures: each head with its cell.
fn columns(figures: &Figures) -> [(&'static str, String); 17] {
    let tries = |tries: f64| format!("{tries:.1}");
    [
        ("RUNS", figures.triggered.to_string()),
        ("OK", figures.accepted.to_string()),
        ("BLOCK", figures.signals.block.to_string()),
        ("CTRL", figures.signals.control.to_string()),
        ("PROMPT", figures.signals.prompt.to_string()),
        ("AID", figures.signals.aid.to_string()),
        ("ANSWERED", percent(figures.consumption_rate)),
        ("FOUND", figures.fates.findings.to_string()),
        ("DISMISSED", percent(figures.dismissal_rate)),
        ("OVERRIDDEN", percent(figures.override_rate)),
        ("IGNORED", percent(figures.ignored_rate)),
        ("REPAIR", seconds(figures.mean_time_to_repair_s)),
        ("TRIES", figures.mean_tries.map_or("-".to_owned(), tries)),
        ("ERRORS", figures.errors.to_string()),
        ("LATE", figures.timeouts.to_string()),
        ("P50", microseconds(figures.p50_us)),
        ("P99", microseconds(figures.p99_us)),
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
