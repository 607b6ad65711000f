//! Format: the text of a file of rules, taken apart (docs/rules.md). The program's own files are read by it too, when it is built
//! (policies/reader/rules.rs), so it uses nothing else of the crate.

use std::borrow::Cow;
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

pub(super) type Text = Cow<'static, str>;

/// Names of which one is meant: `a|b`.
pub(super) type Names = Cow<'static, [Text]>;

/// The conditions of one pattern, taken apart; all must hold. `P` is what a predicate is known by.
#[derive(Clone, Debug)]
pub(super) struct Pattern<P: Clone + 'static> {
    /// As it is written.
    pub(super) text: Text,
    /// The names of the operands in their order.
    pub(super) path: Cow<'static, [Names]>,
    pub(super) conditions: Cow<'static, [Condition<P>]>,
}

/// One condition.
#[derive(Clone, Debug)]
pub(super) struct Condition<P> {
    /// As it is written.
    pub(super) text: Text,
    pub(super) is_negated: bool,
    pub(super) asks: Asks<P>,
    pub(super) names: Names,
}

/// What a condition asks for, of which one of its names is to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asks<P> {
    /// What a predicate says.
    Predicate(P),
    /// The program.
    Program,
    /// An operand behind those of the path.
    Operand,
    /// An argument, in lower case.
    Argument,
    /// That there is any operand behind those of the path.
    More,
    /// An option.
    Option,
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

/// Takes a pattern apart; `list` returns the words of a list, and `predicate` what a predicate is known by, which is told whether
/// names are given to it.
pub(super) fn pattern<'l, P: Clone>(
    text: &str,
    list: impl Fn(&str) -> Option<&'l [&'l str]>,
    predicate: impl Fn(&str, bool) -> Result<P, String>,
) -> Result<Pattern<P>, String> {
    if matches!(text.trim(), "" | "unless:" | "why:" | "try:") {
        return Err(
            "nothing stands behind it: `unless: CONDITIONS`, `why: …`, `try: …`".to_owned(),
        );
    }
    let (mut path, mut conditions) = (Vec::new(), Vec::new());
    for word in text.split_ascii_whitespace() {
        if is_path(word) {
            path.push(names(word, &list)?);
            continue;
        }
        let is_negated = word.len() > 1 && word.starts_with('!');
        let bare = word.get(usize::from(is_negated)..).unwrap_or_default();
        let (sign, rest) = bare.split_at_checked(1).unwrap_or_default();
        let (asks, given) = match sign {
            "@" => {
                let (name, given) = rest.split_once(':').unwrap_or((rest, ""));
                let found = predicate(name, !given.is_empty())?;
                (Asks::Predicate(found), given)
            }
            "=" => (Asks::Program, rest),
            "%" => (Asks::Operand, rest),
            "~" => (Asks::Argument, rest),
            "+" if rest.is_empty() => (Asks::More, ""),
            _ if is_option(bare) => (Asks::Option, bare),
            _ => (Asks::Operand, bare),
        };
        conditions.push(Condition {
            text: Text::Owned(word.to_owned()),
            is_negated,
            asks,
            names: names(given, &list)?,
        });
    }
    Ok(Pattern {
        text: Text::Owned(text.to_owned()),
        path: path.into(),
        conditions: conditions.into(),
    })
}

/// Returns the names in `a|b`; `x$list` stands for each word of a list, with what is around it.
fn names<'l>(given: &str, list: impl Fn(&str) -> Option<&'l [&'l str]>) -> Result<Names, String> {
    let mut names = Vec::new();
    for name in given.split('|').filter(|_| !given.is_empty()) {
        let Some((before, rest)) = name.split_once('$') else {
            names.push(Text::Owned(name.to_owned()));
            continue;
        };
        let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (named, after) = rest.split_at(end);
        let words = list(named).ok_or_else(|| format!("there is no list `${named}`"))?;
        let words = words.iter().map(|word| format!("{before}{word}{after}"));
        names.extend(words.map(Text::Owned));
    }
    Ok(names.into())
}

/// Whether a word of a pattern names the operand that comes at its place.
fn is_path(word: &str) -> bool {
    match word.as_bytes() {
        [b'@' | b'=' | b'%' | b'~', ..] | [b'!', _, ..] | b"+" => false,
        _ => !is_option(word),
    }
}

/// Whether a word of a pattern asks for an option.
fn is_option(word: &str) -> bool {
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
