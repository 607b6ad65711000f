//! Pattern: one line of a rule, the conditions under which an invocation is meant.
//!
//! Words: `reset` the next operand; `-f|--force` an option, also in a cluster; `%glob` any later operand;
//! `~glob` any argument, without regard to case; `@name` a predicate; `+` one more operand. `!` before one
//! of them: it must not hold. `a|b`: either.

use super::digest::Digest;
use super::predicate;
use super::predicate::Predicate;

/// The conditions of one pattern; all must hold.
#[derive(Debug)]
pub(super) struct Pattern {
    path: Vec<Vec<&'static str>>,
    conditions: Vec<Condition>,
    /// Whether it asks what feeds the invocation.
    asks_feeders: bool,
}

#[derive(Debug)]
struct Condition {
    negated: bool,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Option(Vec<&'static str>),
    Operand(Vec<&'static str>),
    Argument(Vec<&'static str>),
    More,
    Predicate(Option<Predicate>),
    #[cfg(test)]
    Unknown(&'static str),
}

impl Pattern {
    pub(super) fn new(line: &'static str) -> Self {
        let mut pattern = Self {
            path: Vec::new(),
            conditions: Vec::new(),
            asks_feeders: line.contains("@fed"),
        };
        for word in line.split_whitespace() {
            let (negated, bare) = match word.strip_prefix('!') {
                Some(rest) if !rest.is_empty() => (true, rest),
                _ => (false, word),
            };
            let list = |text: &'static str| text.split('|').collect::<Vec<_>>();
            let test = if let Some(name) = bare.strip_prefix('@') {
                #[cfg(test)]
                if predicate::find(name).is_none() {
                    pattern.conditions.push(Condition {
                        negated,
                        test: Test::Unknown(name),
                    });
                }
                Test::Predicate(predicate::find(name))
            } else if let Some(globs) = bare.strip_prefix('%') {
                Test::Operand(list(globs))
            } else if let Some(globs) = bare.strip_prefix('~') {
                Test::Argument(list(globs))
            } else if bare == "+" {
                Test::More
            } else if bare.starts_with('-') {
                Test::Option(list(bare))
            } else if negated {
                Test::Operand(list(bare))
            } else {
                pattern.path.push(list(bare));
                continue;
            };
            pattern.conditions.push(Condition { negated, test });
        }
        pattern
    }

    /// Whether it asks what feeds the invocation, which then belongs to what is told of it.
    pub(super) fn asks_feeders(&self) -> bool {
        self.asks_feeders
    }

    /// Whether an invocation is meant.
    pub(super) fn matches(&self, digest: &Digest<'_>) -> bool {
        let mut operands = digest.operands.iter();
        for names in &self.path {
            let Some(operand) = operands.next() else {
                return false;
            };
            if !names.iter().any(|name| glob(name, &operand.text)) {
                return false;
            }
        }
        let later = operands.as_slice();
        self.conditions.iter().all(|condition| {
            let holds = match &condition.test {
                Test::Option(names) => names.iter().any(|name| digest.has_option(name)),
                Test::Operand(globs) => later
                    .iter()
                    .any(|word| globs.iter().any(|g| glob(g, &word.text))),
                Test::Argument(globs) => digest.invocation.arguments.iter().any(|word| {
                    let lower = word.text.to_ascii_lowercase();
                    globs.iter().any(|g| glob(g, &lower))
                }),
                Test::More => !later.is_empty(),
                Test::Predicate(Some(test)) => test(digest, later),
                Test::Predicate(None) => false,
                #[cfg(test)]
                Test::Unknown(_) => false,
            };
            holds != condition.negated
        })
    }

    #[cfg(test)]
    pub(super) fn unknown_predicate(&self) -> Option<&'static str> {
        self.conditions.iter().find_map(|c| match &c.test {
            Test::Unknown(name) => Some(*name),
            _ => None,
        })
    }
}

/// Whether a text fits a pattern of `*` and `?`.
#[inline]
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    // Most pairs differ in their first byte.
    let first = pattern.as_bytes().first();
    if !matches!(first, Some(b'*' | b'?')) && first != text.as_bytes().first() {
        return false;
    }
    fits(pattern, text)
}

fn fits(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return pattern == text;
    }
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(b'?') => {
                p += 1;
                t += 1;
                // The rest of a character of several bytes.
                while text.get(t).is_some_and(|b| b & 0xc0 == 0x80) {
                    t += 1;
                }
            }
            byte if byte == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => match &mut retry {
                Some((star, from)) => {
                    *from += 1;
                    p = *star + 1;
                    t = *from;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|&b| b == b'*'))
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn globs_match_whole_texts() {
        assert!(glob("delete-*", "delete-bucket"));
        assert!(glob("*://*", "https://x"));
        assert!(glob("a?c", "abc"));
        assert!(glob("a?c", "aéc"));
        assert!(!glob("a?c", "ac"));
        assert!(!glob("delete", "delete-bucket"));
        assert!(glob("*a*b*", "xxaxxbxx"));
    }
}
