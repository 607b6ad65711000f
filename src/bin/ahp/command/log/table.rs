//! Tables for people: as wide as the terminal, intensities in colour.

use ahp::analysis::Entry;
use ahp::signal::Actor;
use ahp::signal::Intensity;
use anstyle::AnsiColor;
use anstyle::Style;
use comfy_table::ColumnConstraint;
use comfy_table::ContentArrangement;
use comfy_table::Table;
use comfy_table::Width;
use comfy_table::presets;

use crate::output;

/// Without a terminal a table is as wide as this.
const WIDTH: u16 = 140;

/// Makes an empty table with a head.
pub(super) fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(output::terminal_width().unwrap_or(WIDTH))
        .set_header(head);
    table
}

/// Prints a table: head underlined, intensities in their colours, no spaces at the ends of lines.
pub(super) fn print(table: &Table) {
    let heading = Style::new().underline();
    for (i, line) in table.to_string().lines().enumerate() {
        let line = line.trim_end();
        if i == 0 {
            output::line(format!("{heading}{line}{heading:#}"));
        } else {
            output::line(coloured(line));
        }
    }
}

/// Makes the table of signals.
pub(super) fn entries(entries: &[Entry]) -> Table {
    let mut table = table(&[
        "TIME",
        "HOOK",
        "INTENSITY",
        "BINDING",
        "ABOUT",
        "ANSWER",
        "ID",
        "WHAT",
    ]);
    for entry in entries {
        table.add_row([
            entry.timestamp.format("%m-%d %H:%M:%S").to_string(),
            entry.hook.clone(),
            entry.intensity.to_string(),
            entry.binding.clone(),
            about(entry),
            answer(entry),
            entry.short_id(),
            first_line(&entry.text),
        ]);
    }
    for (column, width) in [(0, 16), (2, 11), (6, 10)] {
        if let Some(column) = table.column_mut(column) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
    }
    table
}

/// Writes one signal as one line, for a tail.
pub(super) fn one_line(entry: &Entry) -> String {
    coloured(&format!(
        "{} {} {:8} {} {} {} {}",
        entry.timestamp.format("%m-%d %H:%M:%S"),
        entry.short_id(),
        entry.intensity,
        entry.hook,
        entry.binding,
        about(entry),
        first_line(&entry.text)
    ))
}

fn about(entry: &Entry) -> String {
    let session = || {
        let session = entry.session_id.as_deref().unwrap_or_default();
        session.chars().take(12).collect()
    };
    entry.issue_id.clone().unwrap_or_else(session)
}

/// Says how a signal was answered: by a person, inferred, refused, or not.
fn answer(entry: &Entry) -> String {
    match entry.action {
        Some(action) if entry.inferred => format!("({action})"),
        Some(action) if entry.by == Some(Actor::Human) => format!("{action} by human"),
        Some(action) => action.to_string(),
        None if entry.refused.is_some() => "refused".to_owned(),
        None => "-".to_owned(),
    }
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let cut: String = line.chars().take(LONGEST).collect();
    format!("{cut}…")
}

/// Colours the first intensity of a line; the stream drops colours where there are none.
fn coloured(line: &str) -> String {
    for intensity in Intensity::ALL {
        let word = format!(" {intensity} ");
        if let Some((before, after)) = line.split_once(&word) {
            let style = style(intensity);
            return format!("{before} {style}{intensity}{style:#} {after}");
        }
    }
    line.to_owned()
}

fn style(intensity: Intensity) -> Style {
    let colour = match intensity {
        Intensity::Block => AnsiColor::Red,
        Intensity::Control => AnsiColor::Magenta,
        Intensity::Prompt => AnsiColor::Yellow,
        Intensity::Aid => AnsiColor::Cyan,
    };
    Style::new().fg_color(Some(colour.into())).bold()
}
