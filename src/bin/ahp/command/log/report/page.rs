//! The report as one HTML page: no script, nothing loaded from elsewhere.

use ahp::analysis::Edit;
use ahp::analysis::Figures;
use ahp::analysis::Proposal;
use ahp::analysis::REPAIR_CLASSES;
use ahp::analysis::RULES;
use ahp::analysis::Stats;
use ahp::signal::Action;
use maud::DOCTYPE;
use maud::Markup;
use maud::PreEscaped;
use maud::html;

use super::chart;
use super::chart::Bar;
use super::chart::Share;
use super::chart::Timeline;

/// How many bindings, oracles and days a chart shows.
const MOST_BARS: usize = 15;
const MOST_DAYS: usize = 92;

const INTENSITIES: [(&str, &str); 4] = [
    ("block", "block"),
    ("control", "control"),
    ("prompt", "prompt"),
    ("aid", "aid"),
];

/// What the page tells.
pub(super) struct Report<'r> {
    pub(super) project: String,
    pub(super) stats: &'r Stats,
    pub(super) timelines: &'r [Timeline],
    pub(super) advice: &'r [(Proposal, Result<Edit, String>)],
}

pub(super) fn page(report: &Report<'_>) -> String {
    let stats = report.stats;
    let title = format!("Signals of {}", report.project);
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
                    (tiles(stats))
                    (over_time(stats))
                    (active(stats))
                    (repairs(&stats.total))
                    (answers(stats))
                    (slowest(stats))
                    (timelines(report.timelines))
                    (advice(report.advice))
                }
            }
        }
    };
    page.into_string()
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
    let rate = |rate: Option<f64>| rate.map_or("–".to_owned(), |r| format!("{:.0} %", r * 100.0));
    let stopped: u64 = ["block", "ask"]
        .iter()
        .filter_map(|d| stats.decisions.get(d))
        .sum();
    html! {
        ul.tiles {
            li { b { (stats.evaluations) } "events" }
            li { b { (stopped) } "stopped" }
            li { b { (stats.signals.total()) } "signals" }
            li { b { (rate(total.consumption_rate)) } "answered" }
            li { b { (rate(total.dismissal_rate)) } "dismissed" }
            li { b { (duration(total.mean_time_to_repair_s)) } "to repair" }
        }
    }
}

fn over_time(stats: &Stats) -> Markup {
    let from = stats.days.len().saturating_sub(MOST_DAYS);
    let days = stats.days.get(from..).unwrap_or_default();
    html! {
        section {
            h2 { "Signals over time" }
            p.soft { "Each day with events, by intensity" @if from > 0 { ", the last " (MOST_DAYS) } "." }
            (chart::key(&INTENSITIES))
            (chart::days(days))
            details {
                summary { "Figures" }
                div.wide {
                    table {
                        thead { tr { th { "Day" } th { "Events" } th { "Stopped" } th { "Block" } th { "Control" } th { "Prompt" } th { "Aid" } } }
                        tbody {
                            @for day in days {
                                tr {
                                    td { (day.name) } td { (day.evaluations) } td { (day.stopped) } td { (day.signals.block) }
                                    td { (day.signals.control) } td { (day.signals.prompt) } td { (day.signals.aid) }
                                }
                            }
                        }
                    }
                }
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
            (chart::key(&INTENSITIES))
            (chart::bars(&bars))
            details {
                summary { "Figures of all bindings" }
                div.wide { (binding_table(stats)) }
            }
        }
    }
}

fn binding_table(stats: &Stats) -> Markup {
    let rate = |rate: Option<f64>| rate.map_or("–".to_owned(), |r| format!("{:.0} %", r * 100.0));
    html! {
        table {
            thead { tr {
                th { "Binding" } th { "Runs" } th { "Accepted" } th { "Signals" } th { "Answered" } th { "Dismissed" }
                th { "Overridden" } th { "Repair" } th { "Tries" } th { "Errors" } th { "p50" } th { "p99" }
            } }
            tbody {
                @for binding in stats.bindings.iter().take(200) {
                    @let f = &binding.figures;
                    tr {
                        td { (binding.id) " · " (binding.hook) } td { (f.triggered) } td { (f.accepted) } td { (f.signals.total()) }
                        td { (rate(f.consumption_rate)) } td { (rate(f.dismissal_rate)) } td { (rate(f.override_rate)) }
                        td { (duration(f.mean_time_to_repair_s)) }
                        td { (f.mean_tries.map_or("–".to_owned(), |t| format!("{t:.1}"))) }
                        td { (f.errors) } td { (milliseconds(f.p50_us)) } td { (milliseconds(f.p99_us)) }
                    }
                }
            }
        }
    }
}

fn repairs(total: &Figures) -> Markup {
    let classes: Vec<(&str, u64)> = REPAIR_CLASSES
        .iter()
        .zip(total.repair_times)
        .map(|((name, _), count)| (*name, count))
        .collect();
    html! {
        section {
            h2 { "Time to repair" }
            p.soft { "From the first violation to the acceptance: " (total.repaired) " repairs, on average "
                (duration(total.mean_time_to_repair_s)) "." }
            (chart::histogram("Repairs by the time they took", &classes))
        }
    }
}

fn answers(stats: &Stats) -> Markup {
    let of = |figures: &Figures, actions: &[Action]| -> u64 {
        actions
            .iter()
            .filter_map(|a| figures.responses.get(a.name()))
            .sum()
    };
    let bars: Vec<Bar> = stats
        .bindings
        .iter()
        .filter(|b| b.figures.signals.total() > 0)
        .take(MOST_BARS)
        .map(|binding| {
            let figures = &binding.figures;
            let followed = of(
                figures,
                &[
                    Action::RetryAfterFix,
                    Action::AcceptModification,
                    Action::ApplySuggestion,
                    Action::SuggestionApplied,
                ],
            );
            let acknowledged = of(figures, &[Action::Acknowledge, Action::Abort]);
            let dismissed = of(
                figures,
                &[
                    Action::Dismiss,
                    Action::RejectModification,
                    Action::SuggestionDeferred,
                ],
            );
            let overridden = of(figures, &[Action::ProceedWithRisk]);
            let open = figures.signals.total().saturating_sub(figures.answered);
            let share = |class, name, value| Share { class, name, value };
            Bar {
                name: format!("{} · {}", binding.id, binding.hook),
                shares: vec![
                    share("good", "followed", followed),
                    share("aid", "acknowledged or given up", acknowledged),
                    share("prompt", "dismissed", dismissed),
                    share("block", "overridden", overridden),
                    share("none", "not answered", open),
                ],
                label: figures
                    .dismissal_rate
                    .map_or_else(String::new, |r| format!("{:.0} % dismissed", r * 100.0)),
            }
        })
        .collect();
    html! {
        section {
            h2 { "Answers and dismissals" }
            p.soft { "What became of the signals of each binding." }
            (chart::key(&[("good", "followed"), ("aid", "acknowledged or given up"), ("prompt", "dismissed"), ("block", "overridden"), ("none", "not answered")]))
            (chart::bars(&bars))
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
                Share {
                    class: "aid",
                    name: "µs at the middle (p50)",
                    value: p50,
                },
                Share {
                    class: "none",
                    name: "µs more for 99 of 100 (p99)",
                    value: p99 - p50,
                },
            ],
            label: format!("{} / {}", milliseconds(Some(p50)), milliseconds(Some(p99))),
        })
        .collect();
    html! {
        section {
            h2 { "Slowest oracles" }
            p.soft { "How long half of the runs took at most, and 99 of 100." }
            (chart::key(&[("aid", "p50"), ("none", "p99")]))
            (chart::bars(&bars))
        }
    }
}

fn timelines(timelines: &[Timeline]) -> Markup {
    html! {
        section {
            h2 { "Issues" }
            p.soft { "Each line is the time from an issue's first event to its last, with its signals; the issues with most signals." }
            (chart::key(&INTENSITIES))
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
                        span.soft { "(" (proposal.place) ", " (format!("{:.0}", proposal.confidence * 100.0)) " % sure)" } }
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
