//! Format: the text of a file of rules, taken apart (docs/rules.md). The program's own files are read by it too, when it is built
//! (policies/reader/rules.rs), so it uses nothing else of the crate.

use std::ops::BitOr;

/// A header such as `[git] -C -c`, and the rules below it.
pub(super) struct Section<'t> {
    pub(super) programs: &'t str,
    /// The options that take the next word as their value.
    pub(super) values: &'t str,
    pub(super) rules: Vec<Rule<'t>>,
}

/// A rule as it is written; what it lacks is empty.
#[derive(Default)]
pub(super) struct Rule<'t> {
    pub(super) line: usize,
    pub(super) name: &'t str,
    pub(super) severity: &'t str,
    pub(super) is_strict: bool,
    /// The lines of its patterns, each with its number.
    pub(super) patterns: Vec<(usize, &'t str)>,
    pub(super) unless: Vec<(usize, &'t str)>,
    pub(super) reason: &'t str,
    pub(super) instead: &'t str,
}

/// Takes the file of a preset apart as far as it is understood; what is not is told with its line, from 1, and what rules lack.
pub(super) fn read<'t>(
    preset: &str,
    text: &'t str,
    fault: &mut dyn FnMut(usize, &str),
) -> Vec<Section<'t>> {
    let mut sections: Vec<Section<'t>> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(header) = text.strip_prefix('[') {
            let (programs, values) = header.split_once(']').unwrap_or_default();
            if programs.trim().is_empty() {
                fault(
                    line,
                    "a section names programs: `[git]`, `[cp mv]`, `[aws*]`",
                );
            }
            sections.push(Section {
                programs,
                values,
                rules: Vec::new(),
            });
            continue;
        }
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let Some(section) = sections.last_mut() else {
            fault(line, "a rule belongs below a section: `[program]`");
            continue;
        };
        let Some(inner) = text.strip_prefix("  ") else {
            let mut words = text.split_whitespace();
            let rule = Rule {
                line,
                name: words.next().unwrap_or_default(),
                severity: words.next().unwrap_or_default(),
                is_strict: words.clone().next().is_some(),
                ..Rule::default()
            };
            if words.next().is_some_and(|word| word != "strict") || words.next().is_some() {
                fault(line, "behind the severity only `strict` may stand");
            }
            section.rules.push(rule);
            continue;
        };
        match section.rules.last_mut() {
            None => fault(line, "a pattern belongs below a rule: `name severity`"),
            Some(rule) => match inner.split_once(": ") {
                Some(("why", reason)) => rule.reason = reason,
                Some(("try", instead)) => rule.instead = instead,
                Some(("unless", conditions)) => rule.unless.push((line, conditions)),
                _ => rule.patterns.push((line, inner)),
            },
        }
    }
    for rule in sections.iter().flat_map(|section| &section.rules) {
        for (part, is_lacking) in [
            ("pattern", rule.patterns.is_empty()),
            ("reason: `why: …`", rule.reason.is_empty()),
            ("way out: `try: …`", rule.instead.is_empty()),
        ] {
            if is_lacking {
                fault(
                    rule.line,
                    &format!("`{preset}:{}` has no {part}", rule.name),
                );
            }
        }
    }
    sections
}

/// Whether a word of a pattern names the operand that comes at its place.
pub(super) fn is_path(word: &str) -> bool {
    match word.as_bytes() {
        [b'@' | b'=' | b'%' | b'~', ..] | [b'!', _, ..] | b"+" => false,
        _ => !is_option(word),
    }
}

/// Whether a word of a pattern asks for an option.
pub(super) fn is_option(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', second, ..] if *second != b'|')
}

/// With which bytes something begins, as a set of bits: those that differ by 64 are told apart no more.
pub(super) const fn first(byte: u8) -> u64 {
    1 << (byte % 64)
}

impl Rule<'_> {
    /// Returns with what the first operand begins that one of its patterns means; all bits where that is anything.
    pub(super) fn firsts(&self) -> u64 {
        let words = self.patterns.iter().map(|(_, text)| text.split(' ').next());
        words.flatten().fold(0, |all, word| {
            let names = word.split('|').map(|name| match name.bytes().next() {
                None | Some(b'*' | b'?' | b'[' | b'$') => u64::MAX,
                Some(byte) => first(byte),
            });
            let meant = if is_path(word) {
                names.fold(0, BitOr::bitor)
            } else {
                u64::MAX
            };
            all | meant
        })
    }
}
