//! SecretValue: what stands behind a label, where it ends, and whether it is a secret or a part of a program.

use std::ops::Range;

use crate::words::words;

/// How long a value is at least where only a header or its scheme tells of it.
const LONG: usize = 16;
/// How far a value is read before it is taken for one, so that no text is read again and again.
const NEAR: usize = 512;

/// Words of types, languages and documents that stand where a value would.
const NO_VALUES: &[&str] = words!("no-secret-values");

/// What the values of programs are members of.
const ROOTS: &[&str] = words!("secret-value-roots");

/// What stands where a value would.
#[derive(Debug)]
pub(super) struct SecretValue {
    pub(super) range: Range<usize>,
    pub(super) quote: Option<u8>,
}

impl SecretValue {
    /// Reads the value that begins here, quoted or not.
    pub(super) fn at(text: &str, from: usize) -> Option<Self> {
        let bytes = text.as_bytes().get(from..)?;
        let slashes = bytes.iter().take_while(|b| **b == b'\\').count();
        let quote = bytes.get(slashes).copied();
        let value = match quote.filter(|b| is_quote(*b)) {
            Some(quote) => Self::quoted(text, from + slashes, slashes, quote),
            None => Self {
                range: from..bare_end(text, from),
                quote: None,
            },
        };
        Some(value.behind_scheme(text)).filter(|v| !v.is_reference(text))
    }

    /// Reads up to the quote that closes the one here, which stands behind so many backslashes.
    fn quoted(text: &str, at: usize, slashes: usize, quote: u8) -> Self {
        let bytes = text.as_bytes();
        let is_triple = bytes.get(at..at + 3) == Some(&[quote; 3]);
        let start = at + if is_triple { 3 } else { 1 };
        let rest = bytes.get(start..).unwrap_or_default();
        let mut run = 0;
        let closing = rest.iter().position(|byte| {
            // Within a text that is escaped itself, each quote has as many backslashes as the opening one.
            let closes = run <= slashes || ((run - slashes) / (slashes + 1)).is_multiple_of(2);
            if *byte == quote && closes {
                return true;
            }
            run = if *byte == b'\\' { run + 1 } else { 0 };
            false
        });
        let length = match closing {
            Some(length) => {
                let slashes = rest.get(..length).unwrap_or_default();
                length - slashes.iter().rev().take_while(|b| **b == b'\\').count()
            }
            None => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
        };
        Self {
            range: start..start + length,
            quote: Some(quote),
        }
    }

    /// Leaves out the scheme of a header: `Bearer` before a token is not a secret.
    fn behind_scheme(self, text: &str) -> Self {
        let rest = text.get(self.range.start..).unwrap_or_default();
        let scheme = ["basic ", "bearer ", "digest ", "token "]
            .into_iter()
            .find(|scheme| {
                let head = rest.get(..scheme.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
            });
        let Some(scheme) = scheme else {
            return self;
        };
        let start = self.range.start + scheme.len();
        let end = match self.quote {
            Some(_) => self.range.end,
            None => bare_end(text, start),
        };
        Self {
            range: start..end.max(start),
            ..self
        }
    }

    /// Returns all that belongs to the value.
    pub(super) fn whole(self, text: &str) -> Range<usize> {
        let Range { start, end } = self.range;
        match self.quote {
            Some(_) => start..end,
            None => start..start + text.as_bytes().get(start..).map_or(0, bare_length),
        }
    }

    pub(super) fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range.clone()).unwrap_or_default()
    }

    pub(super) fn is_behind_scheme(&self, text: &str) -> bool {
        let before = text.as_bytes().get(..self.range.start);
        before.is_some_and(|b| {
            b.ends_with(b" ") && b.iter().rev().nth(1).is_some_and(u8::is_ascii_alphabetic)
        })
    }

    pub(super) fn is_long(&self, text: &str) -> bool {
        let value = self.text(text);
        value.len() >= LONG && value.bytes().all(|b| b.is_ascii_graphic())
    }

    /// Whether it only names the value: `$NAME`, `<password>`, `{{ token }}`, or what was cut before.
    fn is_reference(&self, text: &str) -> bool {
        let value = self.text(text);
        let is_template = value.starts_with("{{")
            || value.starts_with("[redacted: ")
            || (value.starts_with('<') && value.ends_with('>'));
        match self.quote {
            Some(b'\'') => is_template,
            Some(_) => is_template || is_expansion(value.trim_start_matches(['\\', '\'', '"'])),
            None => {
                value.starts_with(['<', '{', '[', '('])
                    || is_expansion(value.trim_start_matches('\\'))
            }
        }
    }
}

/// Whether the shell puts something else in the place of this.
pub(super) fn is_expansion(value: &str) -> bool {
    let next = value.strip_prefix('$').and_then(|v| v.chars().next());
    next.is_some_and(|c| c.is_ascii_alphanumeric() || "_{(@*?#!$-".contains(c))
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Returns where a value without quotes ends, or is read up to.
fn bare_end(text: &str, from: usize) -> usize {
    let end = text.floor_char_boundary(from + NEAR);
    let near = text.as_bytes().get(from..end).unwrap_or_default();
    from + bare_length(near).min(near.len())
}

/// Returns how long a value without quotes is.
fn bare_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match byte {
            b'\\' if next.is_none_or(|b| is_quote(b) || matches!(b, b'\\' | b'\n' | b'\r')) => {
                break;
            }
            // What is escaped ends no word.
            b'\\' if next.is_some_and(|b| b.is_ascii()) => at += 2,
            b'"' | b'\'' | b',' | b';' | b'&' | b')' | b'}' => break,
            b'`' if ends_quotation(bytes.get(at + 1..).unwrap_or_default()) => break,
            byte if byte.is_ascii_whitespace() => break,
            _ => at += 1,
        }
    }
    at
}

/// Whether a backtick before this closes what a sentence quotes.
fn ends_quotation(rest: &[u8]) -> bool {
    let rest = match rest {
        [b':' | b',' | b'.' | b';' | b')', rest @ ..] => rest,
        _ => rest,
    };
    rest.first().is_none_or(u8::is_ascii_whitespace)
}

pub(super) fn is_word(value: &str) -> bool {
    NO_VALUES
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

pub(super) fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~', '.'])
}

/// Whether this is no text but a part of a program: a type, a member or a call.
pub(super) fn is_program(text: &str, value: &SecretValue, sign: char) -> bool {
    let rest = text.get(value.range.start..).unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '!');
    let length = rest
        .bytes()
        .take(NEAR)
        .take_while(|b| is_name(char::from(*b)))
        .count();
    let (name, behind) = rest.split_at_checked(length).unwrap_or_default();
    let root = name.split(['.', ':']).next().unwrap_or_default();
    if is_word(name) || (root.len() < name.len() && ROOTS.contains(&root)) {
        return true;
    }
    if behind.starts_with('(') {
        return is_call(behind);
    }
    // A macro may give a type: `Token![,]`.
    let letters = name.strip_suffix('!').unwrap_or(name);
    let is_letters = letters
        .bytes()
        .all(|b| b.is_ascii_alphabetic() || b == b'_');
    let is_type = name.starts_with(|c: char| c.is_ascii_uppercase());
    let next = behind.trim_start_matches([' ', '\t']).chars().next();
    sign == ':'
        && !name.is_empty()
        && is_letters
        && match next {
            Some(';' | '}') => true,
            Some('[' | '<') => behind.starts_with(['[', '<']),
            Some(',' | ')' | '=' | '|') => is_type,
            _ => false,
        }
}

/// Whether what is opened here is closed in the line, or the line ends as one does that goes on.
fn is_call(rest: &str) -> bool {
    let line = rest
        .as_bytes()
        .iter()
        .take(NEAR)
        .take_while(|b| **b != b'\n');
    let mut last = b'(';
    for byte in line {
        if *byte == b')' {
            return true;
        }
        if !byte.is_ascii_whitespace() {
            last = *byte;
        }
    }
    matches!(last, b'(' | b'[' | b'{' | b',')
}
