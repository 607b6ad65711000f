//! The report as one HTML page: no script, nothing loaded from elsewhere.

use ahp::analysis::{
    Edit, Figures, FindingStats, Gathered, GroupStats, PartStats, Proposal, REPAIR_CLASSES, RULES,
    Stats,
};
use ahp::visible::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::bad_lines;
use super::super::table::counted;
use super::chart::{self, Bar, Share, Timeline};
use crate::view::count;

/// How many bindings, oracles and days a chart shows.
const MOST_BARS: usize = 15;
const MOST_DAYS: usize = 92;

/// Fewer repairs than these are called few.
const FEW: u64 = 10;

const INTENSITIES: [(&str, &str); 4] = [
    ("block", "block"),
    ("control", "control"),
    ("prompt", "prompt"),
    ("aid", "aid"),
];

const FATES: [(&str, &str); 6] = [
    ("good", "repaired"),
    ("aid", "heeded: stopped, and not tried again"),
    ("prompt", "dismissed"),
    ("control", "ignored"),
    ("block", "overridden"),
    ("none", "not known yet"),
];

/// What the page tells.
pub(super) struct Report<'r> {
    /// A project, or how many machines.
    pub(super) of: String,
    pub(super) stats: &'r Stats,
    pub(super) timelines: &'r [Timeline],
    pub(super) advice: &'r [(Proposal, Result<Edit, String>)],
}

pub(super) fn page(report: &Report<'_>) -> String {
    let stats = report.stats;
    let title = format!("Signals of {}", report.of);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                main {
                    h1 { (title) }
                    p.soft { (period(stats)) }
                    @if let Some(lines) = bad_lines(stats.bad_lines) { p { (lines) "; " code { "ahp log verify" } " says more." } }
                    (tiles(stats))
                    (over_time(stats))
                    (stopped(stats))
                    (repairs(&stats.total, &stats.rules))
                    (active(stats))
                    @if let Some(gathered) = &stats.gathered {
                        (parts("Teams", "The signals of each team; how many of its events were stopped.", &gathered.teams))
                        (parts("Repositories", "The signals of each repository; how many of its events were stopped.", &gathered.repos))
                        (parts("Policies", "The signals under each policy; how many of the events that it judged were stopped.", &gathered.policies))
                        (incomplete(gathered))
                    }
                    (groups("Hosts", "The signals of each agent host; how many of its events were stopped.", &stats.hosts))
                    // One agent alone has nothing to be compared with.
                    @if stats.agents.len() > 1 {
                        (groups("Agents", "The signals of each kind of subagent; how many of its events were stopped.", &stats.agents))
                    }
                    (groups("Sessions", "The signals of the sessions that were stopped most; how many of their events were.", &stats.sessions))
                    (marks(stats))
                    @if stats.gathered.is_none() { (slowest(stats)) }
                    @if stats.gathered.is_none() { (timelines(report.timelines)) }
                    (advice(report.advice))
                }
            }
        }
    };
    visible(&page.into_string()).into_owned()
}

fn period(stats: &Stats) -> String {
    match (stats.since, stats.until) {
        (Some(since), Some(until)) => format!(
            "{} to {} UTC, {} records",
            since.format("%Y-%m-%d %H:%M"),
            until.format("%Y-%m-%d %H:%M"),
            stats.records
        ),
        _ => "The log has no records.".to_owned(),
    }
}

fn tiles(stats: &Stats) -> Markup {
    let total = &stats.total;
    let stopped: u64 = ["block", "ask"]
        .iter()
        .filter_map(|d| stats.decisions.get(d))
        .sum();
    html! {
        ul.tiles {
            li { b { (stats.evaluations) } "events" }
            li { b { (stopped) } "stopped" }
            li { b { (stats.signals.total()) } "signals" }
            li { b { (total.fates.findings) } "findings" }
            li { b { (total.fates.repaired) } "repaired" }
            li { b { (duration(total.mean_time_to_repair_s)) } "to repair" }
            li { b { (percent(total.dismissal_rate)) } "of findings dismissed" }
            li { b { (percent(total.ignored_rate)) } "of findings ignored" }
        }
    }
}

fn over_time(stats: &Stats) -> Markup {
    let from = stats.days.len().saturating_sub(MOST_DAYS);
    let days = stats.days.get(from..).unwrap_or_default();
    html! {
        section {
            h2 { "Signals over time" }
            p.soft { "Each day, by intensity" @if from > 0 { ", the last " (MOST_DAYS) } "." }
            (chart::key(&INTENSITIES, &days.iter().flat_map(|day| chart::shares(&day.signals)).collect::<Vec<_>>()))
            (chart::days(days))
            details {
                summary { "Figures" }
                (table("Day|Events|Stopped|Block|Control|Prompt|Aid", days.iter().map(|day| {
                    let s = &day.signals;
                    let counts = [day.evaluations, day.stopped, s.block, s.control, s.prompt, s.aid];
                    counted(&day.name, &counts)
                })))
            }
        }
    }
}

fn active(stats: &Stats) -> Markup {
    let bars: Vec<Bar> = stats
        .bindings
        .iter()
        .filter(|b| b.figures.signals.total() > 0)
        .take(MOST_BARS)
        .map(|binding| Bar {
            name: format!("{} · {}", binding.id, binding.hook),
            shares: chart::shares(&binding.figures.signals),
            label: binding.figures.signals.total().to_string(),
        })
        .collect();
    html! {
        section {
            h2 { "Most active bindings" }
            p.soft { "Signals by binding." }
            (chart::bars(&bars, &INTENSITIES))
            details {
                summary { "Figures of all bindings" }
                (binding_table(stats))
            }
        }
    }
}

/// A table, with `|` between the names of its columns.
fn table(columns: &str, rows: impl IntoIterator<Item = Vec<String>>) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for name in columns.split('|') { th { (name) } } } }
            tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
        } }
    }
}

fn binding_table(stats: &Stats) -> Markup {
    let columns =
        "Binding|Runs|Accepted|Signals|Answered|Dismissed|Overridden|Repair|Tries|Errors|p50|p99";
    table(
        columns,
        stats.bindings.iter().take(200).map(|binding| {
            let f = &binding.figures;
            let name = format!("{} · {}", binding.id, binding.hook);
            let mut row = counted(&name, &[f.triggered, f.accepted, f.signals.total()]);
            row.extend([f.consumption_rate, f.dismissal_rate, f.override_rate].map(percent));
            row.extend([
                duration(f.mean_time_to_repair_s),
                tenths(f.mean_tries),
                f.errors.to_string(),
            ]);
            row.extend([f.p50_us, f.p99_us].map(milliseconds));
            row
        }),
    )
}

fn repairs(total: &Figures, rules: &[FindingStats]) -> Markup {
    let classes: Vec<(&str, u64)> = REPAIR_CLASSES
        .iter()
        .zip(total.repair_times)
        .map(|((name, _), count)| (*name, count))
        .collect();
    html! {
        section {
            h2 { "Time to repair" }
            @if total.fates.repaired == 0 { p { "Nothing was repaired." } } @else {
            p.soft { "From the first signal of a finding to its repair: " (count(total.fates.repaired, "repair")) ", on average "
                (duration(total.mean_time_to_repair_s)) ", "
                (tenths(total.mean_tries)) " tries and " (tenths(total.mean_turns)) " turns of the agent." }
            @if total.fates.repaired < FEW { p.soft { "These are few: an average of them says little of the next." } }
            (chart::histogram("Repairs by the time they took", &classes))
            (costs(rules))
            }
        }
    }
}

/// What the repairs of each rule took, the dearest first.
fn costs(rules: &[FindingStats]) -> Markup {
    let took = |f: &FindingStats| {
        let repaired = u32::try_from(f.fates.repaired).unwrap_or(u32::MAX);
        f.mean_time_to_repair_s.unwrap_or(0.0) * f64::from(repaired)
    };
    let mut dear: Vec<&FindingStats> = rules
        .iter()
        .filter(|f| f.mean_time_to_repair_s.is_some())
        .collect();
    dear.sort_by(|a, b| took(b).total_cmp(&took(a)));
    html! {
        @if !dear.is_empty() {
            h3 { "What each rule cost" }
            p.soft { "All repairs of a rule together, and one of them on average. What was stopped and not repaired has no such time." }
            (table("Rule|Repairs|In all|Each|Tries|Turns", dear.into_iter().take(MOST_BARS).map(|rule| {
                let mut row = counted(&format!("{} · {}", rule.rule, rule.binding), &[rule.fates.repaired]);
                row.extend([Some(took(rule)), rule.mean_time_to_repair_s].map(duration));
                row.extend([rule.mean_tries, rule.mean_turns].map(tenths));
                row
            })))
        }
    }
}

/// What was found most, and what became of it.
fn stopped(stats: &Stats) -> Markup {
    let bar = |finding: &FindingStats| {
        let fates = &finding.fates;
        Bar {
            name: match &finding.object {
                Some(object) => format!("{object} · {}", finding.rule),
                None => format!("{} · {}", finding.rule, finding.binding),
            },
            shares: vec![
                share("good", "repaired", fates.repaired),
                share("aid", "heeded", fates.heeded),
                share("prompt", "dismissed", fates.dismissed),
                share("control", "ignored", fates.ignored),
                share("block", "overridden", fates.overridden),
                share("none", "not known yet", fates.open()),
            ],
            label: fates.findings.to_string(),
        }
    };
    let bars = |findings: &[FindingStats], has_object: bool| -> Vec<Bar> {
        let found = findings.iter().filter(|f| f.fates.findings > 0);
        let found = found.filter(|f| !has_object || f.object.is_some());
        found.take(MOST_BARS).map(bar).collect()
    };
    let (rules, objects) = (bars(&stats.rules, false), bars(&stats.findings, true));
    html! {
        section {
            h2 { "What was found" }
            p.soft { "A finding is a rule with what broke it, counted once however often it was said. The rules with most findings, and what became of them:" }
            (chart::bars(&rules, &FATES))
            @if rules.is_empty() { p { "Nothing was found." } }
            @if !objects.is_empty() {
                h3 { "Commands and files" }
                (chart::bars(&objects, &FATES))
            }
        }
    }
}

fn groups(title: &str, about: &str, groups: &[GroupStats]) -> Markup {
    let told = groups.iter().filter(|g| g.signals.total() > 0);
    let bars: Vec<Bar> = told
        .take(MOST_BARS)
        .map(|group| Bar {
            name: group.name.clone(),
            shares: chart::shares(&group.signals),
            label: format!("{} / {}", group.stopped, group.evaluations),
        })
        .collect();
    html! {
        @if !bars.is_empty() {
            section {
                h2 { (title) }
                p.soft { (about) }
                (chart::bars(&bars, &INTENSITIES))
            }
        }
    }
}

fn marks(stats: &Stats) -> Markup {
    html! {
        @if !stats.marks.is_empty() {
            section {
                h2 { "Marks" }
                p.soft { "How many events each mark counted, was reset by and was asked by, and how often its value was unknown." }
                (table("Mark|Fed|Ended|Asked|Unknown", stats.marks.iter().map(|(name, mark)| {
                    counted(name, &[mark.fed, mark.ended, mark.asked, mark.untold])
                })))
            }
        }
    }
}

fn parts(title: &str, about: &str, parts: &[PartStats]) -> Markup {
    let mut told: Vec<GroupStats> = parts.iter().map(|part| part.group.clone()).collect();
    told.sort_by_key(|group| std::cmp::Reverse(group.signals.total()));
    for group in told.iter_mut().filter(|group| group.name.is_empty()) {
        "none".clone_into(&mut group.name);
    }
    groups(title, about, &told)
}

/// What makes the figures of many machines less than whole.
fn incomplete(gathered: &Gathered) -> Markup {
    html! {
        @if !gathered.gaps.is_empty() || !gathered.silent.is_empty() {
            section {
                h2 { "What is missing" }
                @if !gathered.gaps.is_empty() {
                    p.soft { "Logs of which records are missing or came twice." }
                    (table("Log|First|Last|Missing|Doubled", gathered.gaps.iter().take(200).map(|gap| {
                        counted(&gap.log_id, &[gap.first_seq, gap.last_seq, gap.missing, gap.doubled])
                    })))
                }
                @if !gathered.silent.is_empty() {
                    p.soft { "Machines that sent records before, and none for three days." }
                    (table("Machine|Last record", gathered.silent.iter().take(200).map(|silent| {
                        vec![silent.machine.clone(), silent.last.format("%Y-%m-%d %H:%M").to_string()]
                    })))
                }
            }
        }
    }
}

fn slowest(stats: &Stats) -> Markup {
    let mut oracles: Vec<_> = stats
        .oracles
        .iter()
        .filter_map(|o| Some((o.name.as_str(), o.figures.p50_us?, o.figures.p99_us?)))
        .collect();
    oracles.sort_by_key(|(_, _, p99)| std::cmp::Reverse(*p99));
    let bars: Vec<Bar> = oracles
        .into_iter()
        .take(MOST_BARS)
        .map(|(name, p50, p99)| Bar {
            name: name.to_owned(),
            shares: vec![
                share("aid", "µs at the middle (p50)", p50),
                share("none", "µs more for 99 of 100 (p99)", p99 - p50),
            ],
            label: format!("{} / {}", milliseconds(Some(p50)), milliseconds(Some(p99))),
        })
        .collect();
    html! {
        section {
            h2 { "Slowest oracles" }
            p.soft { "How long half of the runs took at most, and 99 of 100." }
            (chart::bars(&bars, &[("aid", "p50"), ("none", "p99")]))
        }
    }
}

fn timelines(timelines: &[Timeline]) -> Markup {
    html! {
        section {
            h2 { "Issues" }
            p.soft { "Each line is the time from an issue's first event to its last, with its signals; the issues with most signals." }
            (chart::key(&INTENSITIES, &timelines.iter().flat_map(|t| &t.signals).map(|(_, intensity, _)| share(intensity.name(), intensity.name(), 1)).collect::<Vec<_>>()))
            @for line in timelines {
                p.soft style="margin:.5rem 0 0" {
                    b { (line.issue) } " " (line.first.format("%m-%d %H:%M")) " – " (line.last.format("%m-%d %H:%M"))
                    ", stopped " (line.stopped) " times"
                }
                (chart::timeline(line))
            }
            @if timelines.is_empty() { p { "No issue has signals." } }
        }
    }
}

fn advice(advice: &[(Proposal, Result<Edit, String>)]) -> Markup {
    html! {
        section {
            h2 { "Advice" }
            @if advice.is_empty() { p { "The figures give no reason to change the policy." } }
            @for (proposal, edit) in advice {
                div.advice data-rule=(proposal.rule) {
                    p { b { (proposal.rule) } ": " (proposal.binding) " at " (proposal.hook) " "
                        span.soft { "(" (proposal.place) "; " (proposal.confidence.cases) " of " (proposal.confidence.of) ", so "
                            (format!("{:.0} to {:.0}", proposal.confidence.low * 100.0, proposal.confidence.high * 100.0)) " %, with 95 % certainty)" } }
                    p { (proposal.why) ". " (RULES.iter().find(|r| r.name == proposal.rule).map_or("", |r| r.meaning)) }
                    @match edit {
                        Ok(edit) => pre { (edit.diff()) },
                        Err(reason) => p.soft { "No patch: " (reason) "." },
                    }
                }
            }
        }
    }
}

const fn share(class: &'static str, name: &'static str, value: u64) -> Share {
    Share { class, name, value }
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or("–".to_owned(), |rate| format!("{:.0} %", rate * 100.0))
}

fn tenths(number: Option<f64>) -> String {
    number.map_or("–".to_owned(), |number| format!("{number:.1}"))
}

fn duration(seconds: Option<f64>) -> String {
    match seconds {
        None => "–".to_owned(),
        Some(s) if s < 90.0 => format!("{s:.0} s"),
        Some(s) if s < 5400.0 => format!("{:.0} min", s / 60.0),
        Some(s) if s < 129_600.0 => format!("{:.1} h", s / 3600.0),
        Some(s) => format!("{:.1} d", s / 86_400.0),
    }
}

fn milliseconds(us: Option<u64>) -> String {
    match us {
        None => "–".to_owned(),
        Some(us) if us < 10_000 => format!("{}.{} ms", us / 1000, us % 1000 / 100),
        Some(us) if us < 10_000_000 => format!("{} ms", us / 1000),
        Some(us) => format!("{} s", us / 1_000_000),
    }
}
