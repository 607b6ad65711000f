//! Tokens of inline code, as far as the languages that are known here share them.

use super::Language;
use super::expression::literal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A name, with the `$` or `@` that it begins with in Perl and PHP.
    Name(&'a str),
    /// A literal text, and whether names in it stand for their values.
    Text(String, bool),
    /// A list of words: `%w[a b]`, `qw(a b)`.
    Words(Vec<&'a str>),
    /// Any other character; the end of a line too.
    Sign(char),
}

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    /// Where it begins and ends, in bytes.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token<'_> {
    pub(super) fn is(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name(name)
    }
}

/// Splits code into tokens; white space within a line and comments are left out.
pub(super) fn tokens(language: Language, code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = first(language, rest);
        let end = at + length.max(1);
        if let Some(kind) = kind {
            tokens.push(Token {
                kind,
                start: at,
                end,
            });
        }
        at = end;
    }
    tokens
}

/// Returns what a text begins with, and how long that is in bytes; none for what says nothing.
fn first(language: Language, rest: &str) -> (Option<Kind<'_>>, usize) {
    use Language::{JavaScript, Lua, Perl, Php, Python, Ruby};
    let line = rest.find('\n').unwrap_or(rest.len());
    let comments: &[&str] = match language {
        JavaScript => &["//"],
        Php => &["//", "#"],
        Lua => &["--"],
        _ => &["#"],
    };
    if comments.iter().any(|begin| rest.starts_with(begin)) {
        return (None, line);
    }
    let words = match language {
        Ruby => rest.strip_prefix("%w"),
        Perl => rest.strip_prefix("qw"),
        _ => None,
    };
    if let Some(listed) = words
        && let Some(open) = listed.chars().next()
        && let Some(close) = closing(open)
        && let Some((inner, after)) = listed.get(1..).and_then(|l| l.split_once(close))
    {
        let words = inner.split_whitespace().collect();
        return (Some(Kind::Words(words)), rest.len() - after.len());
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let sigils: &[char] = match language {
        Perl => &['$', '@'],
        Php => &['$'],
        _ => &[],
    };
    let sigil = usize::from(rest.starts_with(sigils));
    let name = rest.get(sigil..).unwrap_or_default();
    let length = name.find(|c| !is_part(c)).unwrap_or(name.len());
    let prefix = name.get(..length).unwrap_or_default();
    let is_quoted = name
        .get(length..)
        .is_some_and(|t| t.starts_with(['\'', '"']));
    let prefixes = language == Python && is_quoted && length <= 2;
    let marked = if prefixes {
        prefix.to_ascii_lowercase()
    } else {
        String::new()
    };
    if length > 0 && !prefixes {
        let end = sigil + length;
        return (rest.get(..end).map(Kind::Name), end);
    }
    let quoted = rest.get(marked.len()..).unwrap_or_default();
    if quoted.starts_with(['\'', '"', '`'])
        && let Some((text, after)) = literal(rest)
    {
        let interpolates = match language {
            Python => marked.contains('f'),
            JavaScript => quoted.starts_with('`'),
            Perl | Php | Ruby => quoted.starts_with(['"', '`']),
            _ => false,
        };
        return (
            Some(Kind::Text(text, interpolates)),
            rest.len() - after.len(),
        );
    }
    let Some(sign) = rest.chars().next() else {
        return (None, 0);
    };
    let says_nothing = sign.is_whitespace() && sign != '\n';
    ((!says_nothing).then_some(Kind::Sign(sign)), sign.len_utf8())
}

const fn closing(open: char) -> Option<char> {
    Some(match open {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        '<' => '>',
        '/' | '|' => open,
        _ => return None,
    })
}
