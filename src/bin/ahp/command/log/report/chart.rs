//! The charts of the report: plain SVG and bars, each with a text for those who do not see it.

use ahp::analysis::{GroupStats, Intensities};
use ahp::signal::Intensity;
use chrono::{DateTime, Utc};
use maud::{Markup, html};

/// One part of a bar: its class, what it is called, how much it is.
#[derive(Clone)]
pub(super) struct Share {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    pub(super) value: u64,
}

/// One bar with its name and what stands behind it.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) shares: Vec<Share>,
    pub(super) label: String,
}

pub(super) fn shares(signals: &Intensities) -> Vec<Share> {
    Intensity::ALL
        .into_iter()
        .map(|intensity| Share {
            class: intensity.name(),
            name: intensity.name(),
            value: signals.of(intensity),
        })
        .collect()
}

/// Explains the colours that are there.
pub(super) fn key(names: &[(&str, &str)], shares: &[Share]) -> Markup {
    let is_there = |class: &str| {
        shares
            .iter()
            .any(|share| share.class == class && share.value > 0)
    };
    html! {
        ul.key aria-hidden="true" {
            @for (class, name) in names.iter().filter(|(class, _)| is_there(class)) {
                li { i class=(class) {} (name) }
            }
        }
    }
}

/// Draws bars that lie, the longest as long as there is room, with the key to their colours.
pub(super) fn bars(bars: &[Bar], names: &[(&str, &str)]) -> Markup {
    let shares: Vec<Share> = bars.iter().flat_map(|bar| bar.shares.clone()).collect();
    let sum = |bar: &Bar| bar.shares.iter().map(|s| s.value).sum::<u64>();
    let most = bars.iter().map(sum).max().unwrap_or(0).max(1);
    html! {
        (key(names, &shares))
        ul.bars {
            @for bar in bars {
                li {
                    span.name { (bar.name) }
                    span.bar role="img" aria-label=(spoken(bar)) data-name=(bar.name) {
                        @for share in bar.shares.iter().filter(|s| s.value > 0) {
                            span class=(share.class) style={ "width:" (percent(share.value, most)) "%" }
                                data-value=(share.value) title={ (share.value) " " (share.name) } {}
                        }
                    }
                    span.sum { (bar.label) }
                }
            }
        }
    }
}

fn spoken(bar: &Bar) -> String {
    let parts: Vec<String> = bar
        .shares
        .iter()
        .filter(|s| s.value > 0)
        .map(|s| format!("{} {}", s.value, s.name))
        .collect();
    format!("{}: {}", bar.name, parts.join(", "))
}

fn percent(part: u64, whole: u64) -> String {
    let thousandths = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}", thousandths / 100, thousandths % 100)
}

const WIDTH: u64 = 720;
const HEIGHT: u64 = 200;
/// The room for texts below a chart, and above it.
const FOOT: u64 = 24;
const HEAD: u64 = 24;
/// Half of the room for the name of a day where texts are largest, on a phone.
const HALF_DAY: u64 = 36;

/// Draws the signals of each day, stacked by intensity.
pub(super) fn days(days: &[GroupStats]) -> Markup {
    let most = days
        .iter()
        .map(|d| d.signals.total())
        .max()
        .unwrap_or(0)
        .max(1);
    let step = WIDTH * 1000 / (days.len() as u64).max(1);
    let every = days.len().div_ceil(6).max(1);
    html! {
        div.wide {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + FOOT) } role="img" aria-label="Signals of each day by intensity" {
                line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                line.axis x1="0" x2=(WIDTH) y1=(HEAD) y2=(HEAD) {}
                text x="2" y=(HEAD - 6) { (most) }
                @for (i, day) in days.iter().enumerate() {
                    @let left = i as u64 * step + step / 10;
                    @let wide = (step * 8 / 10).min(60_000);
                    @let x = thousandths(left);
                    g data-day=(day.name) {
                        title { (day.name) ": " (day.signals.total()) " signals" }
                        @for (class, value, top) in stacked(&day.signals) {
                            rect class=(class) x=(x) width=(thousandths(wide))
                                y=(thousandths(HEIGHT * 1000 - top * (HEIGHT - HEAD) * 1000 / most))
                                height=(thousandths(value * (HEIGHT - HEAD) * 1000 / most)) data-value=(value) {}
                        }
                    }
                    @if i % every == 0 {
                        @let middle = ((left + wide / 2) / 1000).clamp(HALF_DAY, WIDTH - HALF_DAY);
                        text x=(middle) y=(HEIGHT + FOOT - 5) text-anchor="middle" { (day.name.get(5..).unwrap_or_default()) }
                    }
                }
            }
        }
    }
}

/// Returns the parts of a standing bar from below: class, height, top.
fn stacked(signals: &Intensities) -> Vec<(&'static str, u64, u64)> {
    let mut top = 0;
    Intensity::ALL
        .into_iter()
        .filter(|intensity| signals.of(*intensity) > 0)
        .map(|intensity| {
            let value = signals.of(intensity);
            top += value;
            (intensity.name(), value, top)
        })
        .collect()
}

fn thousandths(value: u64) -> String {
    format!("{}.{}", value / 1000, value % 1000 / 100)
}

/// Draws how many of something fall into each of some classes.
pub(super) fn histogram(what: &str, classes: &[(&str, u64)]) -> Markup {
    let most = classes.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1);
    let step = WIDTH / (classes.len() as u64).max(1);
    html! {
        div.wide {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + FOOT) } role="img" aria-label=(what) {
                line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                @for (i, (name, value)) in classes.iter().enumerate() {
                    @let x = i as u64 * step + step / 10;
                    @let height = value * (HEIGHT - HEAD) / most;
                    rect.good x=(x) width=(step * 8 / 10) y=(HEIGHT - height) height=(height) data-value=(value) data-class=(name) {
                        title { (name) ": " (value) }
                    }
                    text x=(x + step * 4 / 10) y=(HEIGHT - height - 5) text-anchor="middle" { (value) }
                    text x=(x + step * 4 / 10) y=(HEIGHT + FOOT - 5) text-anchor="middle" { (name) }
                }
            }
        }
    }
}

/// What happened to one issue, and when.
pub(super) struct Timeline {
    pub(super) issue: String,
    pub(super) first: DateTime<Utc>,
    pub(super) last: DateTime<Utc>,
    pub(super) signals: Vec<(DateTime<Utc>, Intensity, String)>,
    pub(super) stopped: u64,
}

/// Draws the life of one issue as a line with its signals.
pub(super) fn timeline(line: &Timeline) -> Markup {
    let span = (line.last - line.first).num_seconds().max(1);
    let x = |at: DateTime<Utc>| {
        let at = (at - line.first).num_seconds().clamp(0, span);
        10 + at * 700 / span
    };
    html! {
        svg viewBox="0 0 720 24" role="img" data-issue=(line.issue)
            aria-label={ (line.issue) ": " (line.signals.len()) " signals, stopped " (line.stopped) " times" } {
            line.axis x1="10" x2="710" y1="12" y2="12" {}
            @for (at, intensity, text) in &line.signals {
                circle class=(intensity.name()) cx=(x(*at)) cy="12" r="5" {
                    title { (at.format("%Y-%m-%d %H:%M")) " " (intensity) ": " (text) }
                }
            }
        }
    }
}
