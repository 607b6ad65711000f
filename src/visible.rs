//! Visible: text of others with what would steer a terminal, or the eye of a reader, written out.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns a text in which characters that control a terminal or the direction of writing are written out (`\u001b`), but for
/// line feeds and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, |_| 0)
}

/// Returns a text as [`visible`] does, but lets our own colours stand.
pub fn visible_beside_colours(text: &str) -> Cow<'_, str> {
    written_out(text, colour)
}

/// Returns a text as [`visible`] does, with line feeds and tabs written out as well: a name makes no second line.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    if text.contains(['\n', '\t']) {
        Cow::Owned(text.replace('\n', "\\u000a").replace('\t', "\\u0009"))
    } else {
        text
    }
}

/// Returns a text of which a CI system that reads along takes nothing for a command: neither a line that begins with `::`, spaces before
/// it or not (GitHub and its kin), nor `##[` and `##name[` anywhere (the same, Azure, TeamCity). The marks of GitLab's sections end
/// with characters that [`visible`] writes out.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let command = line.trim_start();
        let (before, rest) = line.split_at(line.len() - command.len());
        out.push_str(before);
        let mut rest = match rest.strip_prefix("::") {
            Some(rest) => {
                out.push_str("\\u003a:");
                rest
            }
            None => rest,
        };
        while let Some(at) = rest.find("##") {
            let (plain, from) = rest.split_at(at + 1);
            out.push_str(plain);
            let name = from.trim_start_matches('#');
            let opens = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            rest = match from.strip_prefix('#') {
                Some(after) if opens.starts_with('[') => {
                    out.push_str("\\u0023");
                    after
                }
                _ => from,
            };
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

/// Writes out what steers; `stands` tells how many bytes stand as they are where something that steers begins.
fn written_out(text: &str, stands: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(steers) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        // The end of a line in tables.
        let kept = if from.starts_with("\r\n") {
            1
        } else {
            stands(from)
        };
        let mut after = from.chars();
        if kept == 0 {
            let steering = after.next().unwrap_or_default();
            // As JSON writes it, so that an answer in JSON says the same.
            for unit in steering.encode_utf16(&mut [0; 2]) {
                // Never fails: it goes into a string.
                write!(out, "\\u{unit:04x}").ok();
            }
            rest = after.as_str();
        } else {
            let (colour, after) = from.split_at(kept);
            out.push_str(colour);
            rest = after;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn steers(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // A model reads tags, and no person sees them.
    let hides = matches!(c, '\u{e0000}'..='\u{e007f}');
    turns || hides || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Returns how long the sequence is with which a text begins, if it sets nothing but a colour or a weight that can be read.
fn colour(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let Some((codes, _)) = parameters.split_once('m') else {
        return 0;
    };
    let is_harmless = |code: &str| {
        let code = code
            .parse()
            .unwrap_or(if code.is_empty() { 0 } else { u8::MAX });
        matches!(code, 0..=4 | 22..=24 | 31..=37 | 39 | 90..=97)
    };
    let is_colour = codes.len() < 16 && codes.split(';').all(is_harmless);
    if is_colour {
        "\u{1b}[m".len() + codes.len()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_written_out_and_nothing_else() {
        for (text, expected) in [
            ("plain äöü\n\t✓", "plain äöü\n\t✓"),
            ("\u{1b}]0;x\u{7}", "\\u001b]0;x\\u0007"),
            ("\u{1b}[31mred\u{1b}[0m", "\\u001b[31mred\\u001b[0m"),
            (
                "a\r\n\rb\u{8}\u{7f}\u{9b}2J",
                "a\r\n\\u000db\\u0008\\u007f\\u009b2J",
            ),
            ("a\u{202e}b\u{2066}c\u{61c}", "a\\u202eb\\u2066c\\u061c"),
            ("a\u{e0041}", "a\\udb40\\udc41"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn nothing_is_a_command_of_a_ci_system() {
        for (text, expected) in [
            ("a::b # ## c [d] x##", "a::b # ## c [d] x##"),
            ("::error::x", "\\u003a:error::x"),
            ("a\n \t::add-mask::x\n", "a\n \t\\u003a:add-mask::x\n"),
            ("a ##[error]x", "a #\\u0023[error]x"),
            ("##vso[task.x]y ###[z]", "#\\u0023vso[task.x]y #\\u0023#[z]"),
        ] {
            assert_eq!(without_commands(text), expected);
        }
    }

    #[test]
    fn colours_of_ours_stand() {
        for text in ["\u{1b}[1m\u{1b}[31mx\u{1b}[0m", "\u{1b}[1;94mx\u{1b}[m"] {
            assert_eq!(visible_beside_colours(text), text);
        }
        for (text, expected) in [
            ("\u{1b}[8mhidden", "\\u001b[8mhidden"),
            ("\u{1b}[2J\u{1b}[31", "\\u001b[2J\\u001b[31"),
            ("\u{1b}[30;40mx", "\\u001b[30;40mx"),
            ("\u{1b}]52;c;eA==\u{7}", "\\u001b]52;c;eA==\\u0007"),
        ] {
            assert_eq!(visible_beside_colours(text), expected);
        }
    }
}
