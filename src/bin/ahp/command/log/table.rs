//! Tables for people: one line a row, as wide as the terminal, intensities in colour.

use ahp::analysis::Entry;
use ahp::signal::{Actor, Intensity};
use ahp::visible::{on_one_line, visible};
use anstyle::{AnsiColor, Style};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

use crate::output;
use crate::view::cut;

/// Less of a text than this is of no use.
const LEAST_TEXT: u16 = 20;

/// Makes an empty table with a head.
pub(super) fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_truncation_indicator("…")
        .set_header(head);
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    table
}

/// Makes a table as narrow as the terminal, where there is one; returns the heads that had to be left out.
///
/// Columns are left out whole, in the order that is given, so that each row stays one line; a text in the last column is
/// cut where it is too long.
pub(super) fn fit(table: &mut Table, leave_out: &str, last_is_text: bool) -> Vec<String> {
    output::terminal_width()
        .map(|room| fit_to(table, room, leave_out, last_is_text))
        .unwrap_or_default()
}

fn fit_to(table: &mut Table, room: u16, leave_out: &str, last_is_text: bool) -> Vec<String> {
    let heads: Vec<String> = table
        .header()
        .map(|row| row.cell_iter().map(comfy_table::Cell::content).collect())
        .unwrap_or_default();
    let mut widths = table.column_max_content_widths();
    let text = widths.len().saturating_sub(1);
    if last_is_text && let Some(width) = widths.get_mut(text) {
        *width = LEAST_TEXT.min(*width);
    }
    let mut needed: u16 = widths.iter().map(|width| width + 2).sum();
    let mut left_out = Vec::new();
    for head in leave_out.split(' ') {
        if needed <= room {
            break;
        }
        if let Some(place) = heads.iter().position(|h| h == head)
            && let (Some(column), Some(width)) = (table.column_mut(place), widths.get(place))
        {
            column.set_constraint(ColumnConstraint::Hidden);
            needed -= width + 2;
            left_out.push(head.to_owned());
        }
    }
    if last_is_text {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(room);
        for (place, column) in table.column_iter_mut().enumerate() {
            if place != text && !column.is_hidden() {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        for row in table.row_iter_mut() {
            row.max_height(1);
        }
    }
    left_out
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
    let heads = "TIME (UTC),HOOK,INTENSITY,BINDING,ABOUT,ANSWER,ID,WHAT";
    let mut table = table(&heads.split(',').collect::<Vec<_>>());
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
    fit(&mut table, "HOOK ABOUT ANSWER INTENSITY", true);
    table
}

/// Writes one signal as one line, for a tail.
pub(super) fn one_line(entry: &Entry) -> String {
    let line = format!(
        "{} {} {:8} {} {} {} {}",
        entry.timestamp.format("%m-%d %H:%M:%S"),
        entry.short_id(),
        entry.intensity.to_string(),
        entry.hook,
        entry.binding,
        about(entry),
        first_line(&entry.text)
    );
    coloured(&match output::terminal_width() {
        Some(width) => cut(&line, width.into()),
        None => line,
    })
}

fn about(entry: &Entry) -> String {
    let session = || {
        let session = entry.session_id.as_deref().unwrap_or_default();
        session.chars().take(12).collect()
    };
    on_one_line(&entry.issue_id.clone().unwrap_or_else(session)).into_owned()
}

/// Says how a signal was answered: by a person, inferred, refused, or not.
fn answer(entry: &Entry) -> String {
    match entry.action {
        Some(action) if entry.inferred && entry.by == Some(Actor::Human) => {
            format!("({action}) by human")
        }
        Some(action) if entry.inferred => format!("({action})"),
        Some(action) if entry.by == Some(Actor::Human) => format!("{action} by human"),
        Some(action) => action.to_string(),
        None if entry.refused.is_some() => "refused".to_owned(),
        None => "-".to_owned(),
    }
}

/// Returns a row: a name and counts.
pub(super) fn counted(name: &str, counts: &[u64]) -> Vec<String> {
    let counts = counts.iter().map(u64::to_string);
    std::iter::once(name.to_owned()).chain(counts).collect()
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 160;
    cut(&visible(text.lines().next().unwrap_or_default()), LONGEST)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Table {
        let mut made = table(&["NAME", "RUNS", "LATE", "WHAT"]);
        made.add_row([
            "checklist",
            "120",
            "3",
            "two of three items of the list are still open",
        ]);
        made.add_row(["size", "7", "0", "many files"]);
        made
    }

    #[test]
    fn columns_are_left_out_in_order_until_the_rest_fits() {
        let all = "NAME       RUNS  LATE  WHAT";
        for (room, last_is_text, head, gone) in [
            (80, false, all, &[][..]),
            (66, false, "NAME       RUNS  WHAT", &["LATE"]),
            (60, false, "NAME       WHAT", &["LATE", "RUNS"]),
            (55, true, all, &[]),
            (44, true, "NAME       RUNS  WHAT", &["LATE"]),
        ] {
            let mut table = made();
            assert_eq!(fit_to(&mut table, room, "LATE RUNS", last_is_text), gone);
            let text = table.to_string();
            assert_eq!(text.lines().next().unwrap().trim_end(), head);
            assert_eq!(text.lines().count(), 3, "{text}");
            for line in text.lines() {
                assert!(
                    line.trim_end().chars().count() <= usize::from(room),
                    "{text}"
                );
            }
            assert_eq!(text.contains('…'), last_is_text, "{text}");
        }
    }
}
