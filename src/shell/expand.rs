//! Expansion of raw words: quotes, escapes, `~`, parameters, substitutions, splitting.

use super::fields::{Fields, Quoting};
use super::walk::{Sink, Walker};
use super::{DoubtKind, Word, brace, text};

impl Walker<'_> {
    /// Adds the words that a raw word becomes to others; most are themselves.
    pub(super) fn expand_onto(&mut self, raw: &str, words: &mut Vec<Word>) {
        if is_itself(raw) {
            words.push(Word::plain(raw));
            return;
        }
        let most = words.len() + super::fields::MAX_FIELDS;
        for one in brace::expand(raw) {
            let mut fields = Fields::split_at(self.separators());
            self.expand_into(&one, Quoting::Bare, &mut fields);
            if fields.is_cut() {
                self.doubt(DoubtKind::TooComplex, raw);
            }
            let mut made = fields.finish();
            if self.scope.matches_hidden
                || self.scope.variables.contains_key("GLOBIGNORE")
                || asks_for_hidden(&one)
            {
                let hidden: Vec<Word> = made.iter().filter_map(hidden).collect();
                made.extend(hidden);
            }
            words.extend(made);
        }
        if words.len() > most {
            self.doubt(DoubtKind::TooComplex, raw);
            words.truncate(most);
        }
    }

    /// Returns what the shell splits expansions at, where this line has changed it.
    pub(super) fn separators(&self) -> Option<String> {
        let value = self.scope.variables.get("IFS")?.values.first()?.first()?;
        (!value.dynamic).then(|| value.text.clone())
    }

    /// Expands a raw word that stays one word: the value of an assignment, the target of a redirection.
    pub(super) fn expand_whole(&mut self, raw: &str) -> Word {
        self.expand_one(raw, Quoting::Whole)
    }

    /// Expands the body of a here-document.
    pub(super) fn expand_body(&mut self, raw: &str) -> Word {
        self.expand_one(raw, Quoting::Double)
    }

    fn expand_one(&mut self, raw: &str, quoting: Quoting) -> Word {
        let mut fields = Fields::default();
        self.expand_into(raw, quoting, &mut fields);
        if fields.is_cut() {
            self.doubt(DoubtKind::TooComplex, raw);
        }
        let mut words = fields.finish().into_iter();
        let mut whole = words.next().unwrap_or_default();
        for word in words {
            whole.text.push(' ');
            whole.text.push_str(&word.text);
            whole.dynamic |= word.dynamic;
        }
        whole
    }

    pub(super) fn expand_into(&mut self, raw: &str, quoting: Quoting, fields: &mut Fields) {
        let chars: Vec<char> = raw.chars().collect();
        let mut i = 0;
        if quoting != Quoting::Double && chars.first() == Some(&'~') {
            i = self.tilde(&chars, fields);
        }
        while let Some(&c) = chars.get(i) {
            match c {
                '\\' => i = escape(&chars, i, quoting, fields),
                '\'' if quoting != Quoting::Double => {
                    let end = position(&chars, i + 1, '\'');
                    fields.push_str(&slice(&chars, i + 1, end));
                    fields.quoted();
                    i = end;
                }
                '"' if quoting != Quoting::Double => {
                    let end = double_quote_end(&chars, i + 1);
                    fields.quoted();
                    self.expand_into(&slice(&chars, i + 1, end), Quoting::Double, fields);
                    i = end;
                }
                '$' => i = self.dollar(&chars, i, quoting, fields),
                '`' => {
                    let mut end = i + 1;
                    while chars.get(end).is_some_and(|&e| e != '`') {
                        end += if chars.get(end) == Some(&'\\') { 2 } else { 1 };
                    }
                    let inner = slice(&chars, i + 1, end)
                        .replace("\\`", "`")
                        .replace("\\$", "$")
                        .replace("\\\\", "\\");
                    let written = slice(&chars, i, end + 1);
                    self.substitute(&inner, &written, quoting, fields);
                    i = end;
                }
                '<' | '>' if quoting != Quoting::Double && chars.get(i + 1) == Some(&'(') => {
                    let end = paren_end(&chars, i + 1);
                    let inner = slice(&chars, i + 2, end);
                    let written = slice(&chars, i, end + 1);
                    let made_by = if c == '<' {
                        self.side_command(&inner, &written)
                    } else {
                        self.sinks.push(Sink {
                            text: inner,
                            from: self.analysis.invocations.len(),
                            said: String::new(),
                            scope: self.scope.clone(),
                        });
                        0..0
                    };
                    fields.unknown(&written, made_by);
                    i = end;
                }
                // `@(a|b)` and its like match more than a `*` says, and never more than it does.
                '@' | '+' | '!' | '*' | '?'
                    if quoting == Quoting::Bare && chars.get(i + 1) == Some(&'(') =>
                {
                    fields.push('*');
                    fields.matches_files();
                    i = paren_end(&chars, i + 1);
                }
                '*' | '?' | '[' if quoting == Quoting::Bare => {
                    fields.push(c);
                    fields.matches_files();
                }
                _ => fields.push(c),
            }
            i += 1;
        }
    }

    /// Expands a leading `~` and returns where to go on.
    fn tilde(&mut self, chars: &[char], fields: &mut Fields) -> usize {
        let end = chars
            .iter()
            .position(|&c| matches!(c, '/' | ':'))
            .unwrap_or(chars.len());
        let name = slice(chars, 1, end);
        match name.as_str() {
            "" => match &self.surroundings.home {
                Some(home) => fields.push_str(&home.to_string_lossy()),
                None => fields.push('~'),
            },
            "+" => match &self.scope.work_dir {
                Some(dir) => fields.push_str(&dir.to_string_lossy()),
                None => fields.unknown("~+", 0..0),
            },
            "-" => self.variable("OLDPWD", Quoting::Whole, fields),
            "root" => fields.push_str("/root"),
            user if user
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) =>
            {
                fields.push_str("/home/");
                fields.push_str(user);
            }
            _ => return 0,
        }
        end
    }

    /// Expands what starts with `$` and returns the last place used.
    fn dollar(
        &mut self,
        chars: &[char],
        start: usize,
        quoting: Quoting,
        fields: &mut Fields,
    ) -> usize {
        match chars.get(start + 1) {
            Some('\'') if quoting != Quoting::Double => {
                let mut end = start + 2;
                while chars.get(end).is_some_and(|&e| e != '\'') {
                    end += if chars.get(end) == Some(&'\\') { 2 } else { 1 };
                }
                fields.push_str(&text::unescape(&slice(chars, start + 2, end)));
                fields.quoted();
                end
            }
            Some('"') if quoting != Quoting::Double => start,
            Some('(') if is_arithmetic(chars, start + 1) => {
                let end = paren_end(chars, start + 1);
                let inner = slice(chars, start + 3, end.saturating_sub(1));
                let is_known = !inner.contains(['$', '`']);
                if let Some(sum) = is_known.then(|| self.sum(&inner)).flatten() {
                    fields.push_str(&sum.to_string());
                } else {
                    // What runs inside an expression matters, whatever its value.
                    let mut ignored = Fields::default();
                    self.expand_into(&inner, Quoting::Double, &mut ignored);
                    fields.unknown(&slice(chars, start, end + 1), 0..0);
                }
                end
            }
            Some('(') => {
                let end = paren_end(chars, start + 1);
                let inner = slice(chars, start + 2, end);
                let written = slice(chars, start, end + 1);
                self.substitute(&inner, &written, quoting, fields);
                end
            }
            Some('{') => {
                let end = brace_end(chars, start + 1);
                let inner = slice(chars, start + 2, end);
                self.parameter(&inner, quoting, fields);
                end
            }
            Some('[') => {
                let end = position(chars, start + 2, ']');
                fields.unknown(&slice(chars, start, end + 1), 0..0);
                end
            }
            Some(&c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut end = start + 1;
                while chars
                    .get(end)
                    .is_some_and(|n| n.is_ascii_alphanumeric() || *n == '_')
                {
                    end += 1;
                }
                self.variable(&slice(chars, start + 1, end), quoting, fields);
                end - 1
            }
            // The number of the shell is the same on the whole line, and no file has it for a name yet.
            Some('$') => {
                fields.push_str("$$");
                start + 1
            }
            Some(&c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.variable(&c.to_string(), quoting, fields);
                start + 1
            }
            _ => {
                fields.push('$');
                start
            }
        }
    }

    /// Runs a command substitution and adds its output, where that can be told.
    fn substitute(&mut self, inner: &str, written: &str, quoting: Quoting, fields: &mut Fields) {
        let from = self.analysis.invocations.len();
        let output = self.run_substitution(inner);
        let made_by = from..self.analysis.invocations.len();
        match output {
            Some(output) => {
                let value = Word::plain(output.trim_end_matches('\n'));
                fields.add(&value, quoting);
            }
            None => fields.unknown(written, made_by),
        }
    }
}

/// Whether two parentheses open an expression, and both close together at its end; else the second is a group of commands.
fn is_arithmetic(chars: &[char], open: usize) -> bool {
    chars.get(open + 1) == Some(&'(') && paren_end(chars, open + 1) + 1 == paren_end(chars, open)
}

/// Whether a pattern ends with qualifiers of zsh that let it match names which begin with a dot: `*(D)`, `*(#qND)`.
fn asks_for_hidden(raw: &str) -> bool {
    let inner = raw.strip_suffix(')').and_then(|raw| raw.rsplit_once('('));
    inner.is_some_and(|(pattern, qualifiers)| {
        pattern.contains(['*', '?', '[', ']', '>']) && qualifiers.contains('D')
    })
}

/// Returns which names that begin with a dot a pattern of a name matches, where they are no exception.
pub(crate) fn hidden_name(pattern: &str) -> Option<String> {
    if let Some(rest) = pattern.strip_prefix('*') {
        let rest = rest.trim_start_matches(['*', '?']);
        return Some(format!(".*{}", rest.trim_start_matches('.')));
    }
    if let Some(rest) = pattern.strip_prefix('?') {
        return Some(format!(".{rest}"));
    }
    pattern.starts_with('[').then(|| format!(".{pattern}"))
}

/// Returns what a pattern matches besides where names that begin with a dot are no exception; none where it does not begin so.
fn hidden(word: &Word) -> Option<Word> {
    let parts = word.text.split('/');
    let text: Vec<String> = parts
        .map(|part| hidden_name(part).unwrap_or_else(|| part.to_owned()))
        .collect();
    let text = text.join("/");
    (word.glob && text != word.text).then(|| Word {
        text,
        ..word.clone()
    })
}

/// Whether nothing in a raw word is expanded, quoted or matched against file names.
fn is_itself(raw: &str) -> bool {
    !raw.bytes().any(|byte| {
        matches!(
            byte,
            b'\''
                | b'"'
                | b'\\'
                | b'$'
                | b'`'
                | b'~'
                | b'{'
                | b'*'
                | b'?'
                | b'['
                | b'<'
                | b'>'
                | b'('
        )
    })
}

fn escape(chars: &[char], at: usize, quoting: Quoting, fields: &mut Fields) -> usize {
    match chars.get(at + 1) {
        Some('\n') => {}
        Some(&c) if quoting != Quoting::Double || matches!(c, '$' | '`' | '"' | '\\') => {
            fields.push(c);
        }
        Some(&c) => {
            fields.push('\\');
            fields.push(c);
        }
        None => fields.push('\\'),
    }
    at + 1
}

pub(super) fn slice(chars: &[char], from: usize, to: usize) -> String {
    chars
        .get(from..to.min(chars.len()))
        .unwrap_or_default()
        .iter()
        .collect()
}

fn position(chars: &[char], from: usize, wanted: char) -> usize {
    chars
        .get(from..)
        .and_then(|rest| rest.iter().position(|&c| c == wanted))
        .map_or(chars.len(), |at| from + at)
}

fn double_quote_end(chars: &[char], from: usize) -> usize {
    let mut i = from;
    while let Some(&c) = chars.get(i) {
        match c {
            '\\' => i += 1,
            '"' => return i,
            '$' if chars.get(i + 1) == Some(&'(') => i = paren_end(chars, i + 1),
            '$' if chars.get(i + 1) == Some(&'{') => i = brace_end(chars, i + 1),
            '`' => i = position(chars, i + 1, '`'),
            _ => {}
        }
        i += 1;
    }
    chars.len()
}

/// Returns where the parenthesis that opens at `start` closes; comments and the bodies of
/// here-documents may hold quotes and parentheses that mean nothing.
pub(super) fn paren_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut bodies: Vec<(String, bool)> = Vec::new();
    // The depths at which a `case` is open, where the pattern of a branch ends with a `)` of its own.
    let mut cases: Vec<usize> = Vec::new();
    let mut i = start;
    while let Some(&c) = chars.get(i) {
        match c {
            'c' if is_word(chars, i, "case") && begins_command(chars, i) => cases.push(depth),
            'e' if is_word(chars, i, "esac") && begins_command(chars, i) => {
                cases.pop();
            }
            ')' if cases.last() == Some(&depth) => {}
            '\\' => i += 1,
            '\'' => i = position(chars, i + 1, '\''),
            '"' => i = double_quote_end(chars, i + 1),
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i;
                }
            }
            '#' if chars
                .get(i.saturating_sub(1))
                .is_some_and(|p| p.is_whitespace() || ";|&()".contains(*p)) =>
            {
                i = position(chars, i, '\n');
                continue;
            }
            '<' if chars.get(i + 1) == Some(&'<') => {
                if chars.get(i + 2) == Some(&'<') {
                    i += 2;
                } else if let Some(body) = delimiter(chars, i + 2) {
                    bodies.push(body);
                    i += 1;
                }
            }
            '\n' if !bodies.is_empty() => {
                for (word, strips_tabs) in bodies.drain(..) {
                    i = body_end(chars, i + 1, &word, strips_tabs);
                }
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    chars.len()
}

/// Whether a word stands at a place, and ends there.
fn is_word(chars: &[char], at: usize, word: &str) -> bool {
    let end = at + word.len();
    chars
        .get(at..end)
        .is_some_and(|found| found.iter().copied().eq(word.chars()))
        && chars
            .get(end)
            .is_none_or(|c| c.is_whitespace() || ";|&()".contains(*c))
}

/// Whether a command may begin at a place: behind what separates commands, or a word that another one follows.
fn begins_command(chars: &[char], at: usize) -> bool {
    let before = chars.get(..at).unwrap_or_default();
    let end = before.iter().rposition(|c| !matches!(c, ' ' | '\t'));
    let Some((end, last)) = end.and_then(|end| Some((end, *before.get(end)?))) else {
        return true;
    };
    if "(){;|&\n!".contains(last) {
        return true;
    }
    let begin = before.get(..end).unwrap_or_default();
    let begin = begin.iter().rposition(|c| !c.is_ascii_lowercase());
    let word = slice(chars, begin.map_or(0, |begin| begin + 1), end + 1);
    let follows = ["then", "do", "else", "elif", "if", "while", "until", "time"];
    end + 1 < at && follows.contains(&word.as_str())
}

/// Returns the delimiter of a here-document behind its `<<`, and whether leading tabs do not count.
fn delimiter(chars: &[char], from: usize) -> Option<(String, bool)> {
    let strips_tabs = chars.get(from) == Some(&'-');
    let mut i = from + usize::from(strips_tabs);
    while chars.get(i) == Some(&' ') {
        i += 1;
    }
    let word: String = chars
        .get(i..)?
        .iter()
        .take_while(|c| !c.is_whitespace() && !matches!(c, ';' | '|' | '&' | ')' | '<' | '>'))
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .collect();
    (!word.is_empty()).then_some((word, strips_tabs))
}

/// Returns where the body of a here-document ends: the newline behind its delimiter.
fn body_end(chars: &[char], from: usize, word: &str, strips_tabs: bool) -> usize {
    let mut i = from;
    while i < chars.len() {
        let end = position(chars, i, '\n');
        let line = slice(chars, i, end);
        let bare = if strips_tabs {
            line.trim_start_matches('\t')
        } else {
            &line
        };
        if bare == word {
            return end;
        }
        i = end + 1;
    }
    chars.len()
}

/// Returns where the brace that opens at `start` closes.
pub(super) fn brace_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut i = start;
    while let Some(&c) = chars.get(i) {
        match c {
            '\\' => i += 1,
            '\'' => i = position(chars, i + 1, '\''),
            '"' => i = double_quote_end(chars, i + 1),
            '$' if chars.get(i + 1) == Some(&'(') => i = paren_end(chars, i + 1),
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
        i += 1;
    }
    chars.len()
}
