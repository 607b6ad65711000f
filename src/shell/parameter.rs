//! Parameter expansion: `$NAME`, `${NAME:-default}`, `${NAME%suffix}`, `${NAME:0:1}`, `$@`.

use super::Word;
use super::fields::{Fields, Quoting};
use super::scope::Scope;
use super::slice::{indexed, place};
use super::walk::Walker;

/// What is known of a parameter.
enum Known {
    /// Its value, an array's elements being several words.
    Value(Vec<Word>),
    /// It may be set, by whoever started the shell.
    Unknown,
    /// It is certainly not set.
    Unset,
}

impl Walker<'_> {
    fn look_up(&mut self, name: &str) -> Known {
        let name = &self.scope.target(name).to_owned();
        if let Some(variable) = self.scope.variables.get(name) {
            self.alternatives = self.alternatives.max(variable.values.len());
            let at = self.alternative % variable.values.len().max(1);
            return variable
                .values
                .get(at)
                .map_or(Known::Unset, |v| Known::Value(v.clone()));
        }
        let plain = |text: &str| Known::Value(vec![Word::plain(text)]);
        let path = |dir: Option<&std::path::PathBuf>| {
            dir.map_or(Known::Unknown, |d| plain(&d.to_string_lossy()))
        };
        if let Ok(index) = name.parse::<usize>() {
            return match (&self.scope.positional, index) {
                (_, 0) => plain("bash"),
                (Some(words), n) => words
                    .get(n - 1)
                    .map_or(Known::Unset, |w| Known::Value(vec![w.clone()])),
                (None, _) => Known::Unknown,
            };
        }
        match name.as_str() {
            "#" => match &self.scope.positional {
                Some(words) => plain(&words.len().to_string()),
                None => Known::Unknown,
            },
            "@" | "*" => match &self.scope.positional {
                Some(words) => Known::Value(words.clone()),
                None => Known::Unknown,
            },
            "HOME" => match &self.surroundings.home {
                Some(_) => path(self.surroundings.home.as_ref()),
                None => plain("~"),
            },
            // The last word of the command before.
            "_" => match self.analysis.invocations.iter().rev().find(|i| !i.emulated) {
                Some(last) => last
                    .arguments
                    .last()
                    .map_or(Known::Unknown, |word| Known::Value(vec![word.clone()])),
                None => Known::Unknown,
            },
            "PWD" => path(self.scope.work_dir.as_ref()),
            "IFS" => plain(" \t\n"),
            "TMPDIR" => plain("/tmp"),
            "SHELL" | "BASH" => plain("/bin/bash"),
            "CLAUDE_PROJECT_DIR" | "AHP_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => {
                path(Some(&self.surroundings.project_root))
            }
            _ => Known::Unknown,
        }
    }

    /// Expands `$NAME`.
    pub(super) fn variable(&mut self, name: &str, quoting: Quoting, fields: &mut Fields) {
        match self.look_up(name) {
            Known::Value(words) => add_all(&words, name != "*", quoting, fields),
            Known::Unknown => fields.unknown(&format!("${name}"), 0..0),
            Known::Unset => {}
        }
    }

    /// Expands what stands between `${` and `}`.
    pub(super) fn parameter(&mut self, inner: &str, quoting: Quoting, fields: &mut Fields) {
        let written = format!("${{{inner}}}");
        if let Some(rest) = inner.strip_prefix('#').filter(|r| !r.is_empty()) {
            let list = rest.strip_suffix("[@]").or(rest.strip_suffix("[*]"));
            match self.look_up(list.unwrap_or(rest)) {
                Known::Value(words) => {
                    let of_first = || words.first().map_or(0, |w| w.text.chars().count());
                    let is_list = list.is_some() || matches!(rest, "@" | "*");
                    let length = if is_list { words.len() } else { of_first() };
                    fields.push_str(&length.to_string());
                }
                _ => fields.unknown(&written, 0..0),
            }
            return;
        }
        // `${!NAME}`, and zsh's `${(P)NAME}`; its other flags change how a value looks.
        let flags = inner
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'));
        let (indirect, inner) = match (inner.strip_prefix('!'), flags) {
            (Some(rest), _) => (true, rest),
            (None, Some((flags, rest))) => (flags.contains('P'), rest),
            (None, None) => (false, inner),
        };
        let end = inner
            .char_indices()
            .find(|&(i, c)| {
                !(c.is_ascii_alphanumeric() || c == '_' || (i == 0 && "@*#?$!-".contains(c)))
            })
            .map_or(inner.len(), |(i, _)| i);
        let (mut name, mut operation) = inner.split_at_checked(end).unwrap_or((inner, ""));
        let target;
        if indirect {
            let Known::Value(words) = self.look_up(name) else {
                fields.unknown(&written, 0..0);
                return;
            };
            target = words.first().map_or_else(String::new, |w| w.text.clone());
            name = &target;
        }
        let mut known = self.look_up(name);
        let mut is_list = matches!(name, "@" | "*");
        if let Some(rest) = operation.strip_prefix('[')
            && let Some((index, rest)) = indexed(rest)
        {
            operation = rest;
            is_list = matches!(index, "@" | "*");
            if !is_list {
                // An index is a sum, in which commands may run.
                let index = self.sum(index);
                if let Known::Value(words) = &known {
                    let at = index.and_then(|index| place(index, words.len()));
                    // One whose place is not known may be any of them.
                    let one = at.and_then(|at| words.get(at).cloned());
                    known = Known::Value(one.map_or_else(|| words.clone(), |word| vec![word]));
                }
            }
        }
        if let Known::Value(words) = &known
            && is_list
            && let Some(bounds) = operation.strip_prefix(':')
            && !bounds.starts_with(['-', '=', '?', '+'])
        {
            let words = self.slice(name == "@" || name == "*", words, bounds);
            let is_separate = name != "*" && !inner.contains("[*]");
            add_all(&words, is_separate, quoting, fields);
            return;
        }
        self.operate(name, known, operation, &written, quoting, fields);
    }

    fn operate(
        &mut self,
        name: &str,
        known: Known,
        operation: &str,
        written: &str,
        quoting: Quoting,
        fields: &mut Fields,
    ) {
        let (colon, operator) = operation
            .strip_prefix(':')
            .map_or((false, operation), |rest| (true, rest));
        let mut letters = operator.chars();
        let first = letters.next();
        let argument = letters.as_str();
        match first {
            None if operation.is_empty() => match known {
                Known::Value(words) => add_all(&words, name != "*", quoting, fields),
                Known::Unknown => fields.unknown(written, 0..0),
                Known::Unset => {}
            },
            Some('-' | '=') if colon || !operation.is_empty() => match known {
                Known::Value(words)
                    if !(colon && words.iter().all(|w| w.text.is_empty() && !w.dynamic)) =>
                {
                    add_all(&words, true, quoting, fields);
                }
                _ => {
                    let default = self.expand_whole(argument);
                    if first == Some('=') && Scope::is_name(name) {
                        self.scope.assign(name, vec![default.clone()]);
                    }
                    // It may be set from outside: the default is what is known of it.
                    let guess = Word {
                        dynamic: default.dynamic,
                        ..default
                    };
                    fields.add(&guess, quoting);
                }
            },
            Some('?') => match known {
                Known::Value(words) => add_all(&words, true, quoting, fields),
                _ => fields.unknown(written, 0..0),
            },
            Some('+') => {
                let other = self.expand_whole(argument);
                if !matches!(known, Known::Unset) {
                    fields.add(&other, quoting);
                }
            }
            Some(_) => {
                let Known::Value(words) = known else {
                    // The pattern or offset may run commands all the same.
                    let mut ignored = Fields::default();
                    self.expand_into(argument, Quoting::Double, &mut ignored);
                    fields.unknown(written, 0..0);
                    return;
                };
                let argument = self.expand_whole(argument);
                // What it holds is expanded as a prompt is.
                for word in words.iter().filter(|_| operator == "@P") {
                    self.expand_body(&word.text);
                }
                for (i, word) in words.iter().enumerate() {
                    if i > 0 {
                        fields.next();
                    }
                    let changed = if word.dynamic {
                        None
                    } else if colon {
                        substring(&word.text, operator)
                    } else {
                        change(&word.text, operator, &argument)
                    };
                    match changed {
                        Some(text) => fields.add(&Word::plain(text), quoting),
                        None => fields.unknown(written, 0..0),
                    }
                }
            }
            None => fields.unknown(written, 0..0),
        }
    }
}

fn add_all(words: &[Word], separate: bool, quoting: Quoting, fields: &mut Fields) {
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            if separate && quoting != Quoting::Whole {
                fields.next();
            } else {
                fields.push(' ');
            }
        }
        fields.add(word, quoting);
    }
}

/// `${X:offset:length}` of a known text.
fn substring(text: &str, operator: &str) -> Option<String> {
    let (offset, length) = operator
        .split_once(':')
        .map_or((operator, None), |(o, l)| (o, Some(l)));
    let count = i64::try_from(text.chars().count()).ok()?;
    let offset: i64 = offset.trim().parse().ok()?;
    let start = if offset < 0 { count + offset } else { offset }.clamp(0, count);
    let end = match length {
        None => count,
        Some(length) => {
            let length: i64 = length.trim().parse().ok()?;
            if length < 0 {
                count + length
            } else {
                start + length
            }
        }
    }
    .clamp(start, count);
    let take = usize::try_from(end - start).ok()?;
    Some(
        text.chars()
            .skip(usize::try_from(start).ok()?)
            .take(take)
            .collect(),
    )
}

/// The operators that need no offset: `#`, `%`, `/`, `^`, `,`, `@`.
fn change(text: &str, operator: &str, argument: &Word) -> Option<String> {
    if argument.dynamic {
        return None;
    }
    match operator.chars().next()? {
        '@' => Some(text.to_owned()),
        '^' if operator == "^^" => Some(text.to_uppercase()),
        ',' if operator == ",," => Some(text.to_lowercase()),
        '^' => capitalised(text, char::to_ascii_uppercase),
        ',' => capitalised(text, char::to_ascii_lowercase),
        '#' => {
            let pattern = argument.text.trim_start_matches('#');
            if let Some(end) = pattern.strip_prefix('*').filter(|end| is_plain(end)) {
                let parts = if operator.starts_with("##") {
                    text.rsplit_once(end)
                } else {
                    text.split_once(end)
                };
                return Some(parts.map_or(text, |(_, rest)| rest).to_owned());
            }
            let rest = text.strip_prefix(pattern).unwrap_or(text);
            is_plain(pattern).then(|| rest.to_owned())
        }
        '%' => {
            let pattern = argument.text.trim_start_matches('%');
            if let Some(start) = pattern.strip_suffix('*').filter(|start| is_plain(start)) {
                let parts = if operator.starts_with("%%") {
                    text.split_once(start)
                } else {
                    text.rsplit_once(start)
                };
                return Some(parts.map_or(text, |(rest, _)| rest).to_owned());
            }
            let rest = text.strip_suffix(pattern).unwrap_or(text);
            is_plain(pattern).then(|| rest.to_owned())
        }
        '/' => {
            let all = argument.text.starts_with('/');
            let rest = argument.text.trim_start_matches('/');
            let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
            if from.is_empty() || from.contains(['*', '?', '[']) {
                return None;
            }
            Some(if all {
                text.replace(from, to)
            } else {
                text.replacen(from, to, 1)
            })
        }
        _ => None,
    }
}

/// Whether a pattern is a text that stands for itself.
fn is_plain(pattern: &str) -> bool {
    !pattern.is_empty() && !pattern.contains(['*', '?', '[', '\\'])
}

fn capitalised(text: &str, change: fn(&char) -> char) -> Option<String> {
    let mut chars = text.chars();
    let first = chars.next()?;
    Some(std::iter::once(change(&first)).chain(chars).collect())
}
