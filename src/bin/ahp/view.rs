//! A verdict as a person reads it.

use std::fmt::Write as _;

use ahp::signal::{Action, Intensity, Payload, Signal};
use ahp::verdict::{Decision, Outcome, Verdict};
use ahp::visible::{on_one_line, visible};
use anstyle::{AnsiColor, Style};
use serde_json::Value;
use uuid::Uuid;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

const fn colour(intensity: Intensity) -> Style {
    match intensity {
        Intensity::Block => AnsiColor::Red.on_default().bold(),
        Intensity::Control => AnsiColor::Magenta.on_default().bold(),
        Intensity::Prompt => AnsiColor::Yellow.on_default().bold(),
        Intensity::Aid => AnsiColor::Cyan.on_default().bold(),
    }
}

/// Writes a number with its noun.
pub(crate) fn count(number: impl std::fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns what a judge that stays tells of one of its engines.
pub(crate) fn judge_line(engine: &Value) -> String {
    let number = |name: &str| engine.get(name).and_then(Value::as_u64).unwrap_or(0);
    format!(
        "{}: {}, p50 {} µs, p99 {} µs",
        engine.get("project").and_then(Value::as_str).unwrap_or("?"),
        count(number("events"), "event"),
        number("p50_us"),
        number("p99_us")
    )
}

/// Returns what happened, in the words of a person: `subject` is the issue or tool that the event is about.
pub(crate) fn verdict(verdict: &Verdict, subject: Option<&str>) -> String {
    let is_waived = verdict.bindings.iter().any(|b| !b.waived.is_empty());
    let (mark, word, style) = match verdict.decision {
        Decision::None if is_waived => ("✓", "let through by an answer", colour(Intensity::Prompt)),
        Decision::Block => ("✗", "blocked", colour(Intensity::Block)),
        Decision::Ask => ("?", "must be answered first", colour(Intensity::Prompt)),
        Decision::Allow => ("✓", "may go on", AnsiColor::Green.on_default().bold()),
        Decision::None => ("✓", "accepted", AnsiColor::Green.on_default().bold()),
    };
    let mut text = format!(
        "{style}{mark} {word}{style:#}  {BOLD}{}{BOLD:#}{}",
        verdict.trigger,
        subject
            .map(|s| format!(" {}", on_one_line(s)))
            .unwrap_or_default()
    );
    for signal in &verdict.signals {
        text.push_str("\n\n");
        text.push_str(&self::signal(signal));
    }
    for warning in &verdict.warnings {
        write!(
            text,
            "\n\n  {}warning{:#} {}",
            colour(Intensity::Prompt),
            Style::new(),
            visible(warning)
        )
        .ok();
    }
    if !verdict.bindings.is_empty() {
        text.push('\n');
    }
    for report in &verdict.bindings {
        if report.outcome == Outcome::Skipped {
            continue;
        }
        write!(
            text,
            "\n  {DIM}{:<10} {} ({}{}){DIM:#}",
            if report.waived.is_empty() {
                report.outcome.name()
            } else {
                "waived"
            },
            report.id,
            report.source,
            if report.duration_us > 0 {
                format!(", {}", duration(report.duration_us))
            } else {
                String::new()
            }
        )
        .ok();
        if !report.waived.is_empty() {
            let ids = report.waived.iter().map(short);
            write!(
                text,
                "\n             {DIM}what it found is held back by an answer to {}; `ahp log show` has it{DIM:#}",
                ids.collect::<Vec<_>>().join(", ")
            )
            .ok();
        }
        if let Some(error) = &report.error {
            write!(text, "\n             {DIM}{}{DIM:#}", visible(error)).ok();
        }
    }
    text
}

/// How many modifications of a control are shown one by one.
const MODIFICATIONS: usize = 20;

/// Returns one signal: what is the matter, what to do, how to answer.
pub(crate) fn signal(signal: &Signal) -> String {
    let style = colour(signal.intensity());
    let mut text = format!(
        "  {style}{:<7}{style:#} {BOLD}{}{BOLD:#} {DIM}{} ({}){DIM:#}",
        signal.intensity(),
        signal.header.kind,
        signal.header.source,
        signal.origin.source
    );
    // Colours of others are written out here: later they could not be told from our own.
    for line in visible(signal.payload.text()).lines() {
        write!(text, "\n    {line}").ok();
    }
    if let Payload::Control(control) = &signal.payload {
        for m in control.modifications.iter().take(MODIFICATIONS) {
            let updated = m.updated_in_words();
            let updated = visible(&updated);
            write!(text, "\n      {} = {updated}", visible(&m.target)).ok();
            if !m.reason.is_empty() {
                write!(text, "  {DIM}{}{DIM:#}", visible(&m.reason)).ok();
            }
        }
        let more = control.modifications.len().saturating_sub(MODIFICATIONS);
        if more > 0 {
            write!(text, "\n      … and {more} more; `--format json` has all").ok();
        }
    }
    for (n, step) in signal.payload.steps().iter().enumerate() {
        write!(text, "\n      {}. {}", n + 1, visible(step)).ok();
    }
    if signal.intensity() != Intensity::Aid {
        let actions: Vec<_> = Action::for_intensity(signal.intensity())
            .filter(|a| *a != Action::ProceedWithRisk || signal.origin.overridable)
            .map(Action::name)
            .collect();
        write!(
            text,
            "\n    {DIM}answer: ahp respond {} {}{DIM:#}",
            short_id(signal),
            actions.join("|")
        )
        .ok();
    }
    text
}

/// Returns a line, no longer than so many characters.
pub(crate) fn cut(line: &str, longest: usize) -> String {
    if line.chars().count() <= longest {
        return line.to_owned();
    }
    let cut: String = line.chars().take(longest.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// Returns the last digits of a signal's id, which tell it apart: the first ones are its time.
pub(crate) fn short_id(signal: &Signal) -> String {
    short(&signal.header.id)
}

fn short(id: &Uuid) -> String {
    let id = id.simple().to_string();
    id.get(id.len() - 8..).unwrap_or(&id).to_owned()
}

fn duration(micros: u64) -> String {
    if micros < 1_000 {
        format!("{micros} µs")
    } else if micros < 1_000_000 {
        format!("{} ms", micros / 1_000)
    } else {
        format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10)
    }
}
