//! CODEOWNERS: who owns which files, matched as GitHub does: the last pattern that matches wins.

use regex::Regex;

use crate::words::words;

/// The places of the file, in the order in which GitHub looks.
pub(super) const PLACES: &[&str] = words!("codeowners-files");
/// GitHub does not read a larger file.
const MAX_SIZE: usize = 3 << 20;

/// The rules of a CODEOWNERS file, in its order.
#[derive(Debug)]
pub(super) struct CodeOwners {
    rules: Vec<(Regex, Vec<String>)>,
}

impl CodeOwners {
    /// Reads a file; a line that GitHub would not understand counts for nothing, as there.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = if bytes.len() > MAX_SIZE {
            String::new()
        } else {
            String::from_utf8_lossy(bytes).into_owned()
        };
        Self {
            rules: text.lines().filter_map(rule).collect(),
        }
    }

    /// Returns the owners of a file; none where the last pattern that matches names none.
    pub(super) fn of(&self, path: &str) -> &[String] {
        self.rules
            .iter()
            .rev()
            .find(|(pattern, _)| pattern.is_match(path))
            .map_or(&[], |(_, owners)| owners.as_slice())
    }
}

fn rule(line: &str) -> Option<(Regex, Vec<String>)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (pattern, rest) = split_pattern(line);
    // Not understood there: negation and ranges. A section header of GitLab begins with a range too.
    if pattern.starts_with('!') || pattern.contains('[') || pattern.contains(']') {
        return None;
    }
    let owners: Vec<String> = rest
        .split_whitespace()
        .take_while(|word| !word.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if owners.iter().any(|owner| !is_owner(owner)) {
        return None;
    }
    Some((regex(&pattern)?, owners))
}

/// Splits at the first blank that no backslash stands before.
fn split_pattern(line: &str) -> (String, &str) {
    let mut pattern = String::new();
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                if let Some((_, next)) = chars.next() {
                    if next != ' ' {
                        pattern.push('\\');
                    }
                    pattern.push(next);
                }
            }
            c if c.is_whitespace() => return (pattern, line.get(at..).unwrap_or_default()),
            c => pattern.push(c),
        }
    }
    (pattern, "")
}

/// `@user`, `@organisation/team` or an address.
fn is_owner(word: &str) -> bool {
    match word.strip_prefix('@') {
        Some(name) => !name.is_empty() && !name.contains('@'),
        None => word
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.')),
    }
}

/// Makes a regular expression of a pattern.
fn regex(pattern: &str) -> Option<Regex> {
    if pattern == "/" {
        return None;
    }
    let mut parts: Vec<&str> = pattern.split('/').collect();
    let mut expression = String::from(r"\A");
    if parts.first() == Some(&"") {
        parts.remove(0);
    } else if parts.len() == 1 || (parts.len() == 2 && parts.last() == Some(&"")) {
        // A name alone is looked for in every directory.
        expression.push_str("(?:.+/)?");
    }
    // A directory stands for all that is in it.
    let is_directory = parts.len() > 1 && parts.last() == Some(&"");
    if is_directory {
        parts.pop();
    }
    let last = parts.len().checked_sub(1)?;
    let mut needs_slash = false;
    for (n, part) in parts.iter().enumerate() {
        match *part {
            "**" if n == last => {
                expression.push_str(if needs_slash { "/.+" } else { ".+" });
            }
            "**" => {
                expression.push_str(if needs_slash { "/(?:.+/)?" } else { "(?:.+/)?" });
                needs_slash = false;
            }
            part => {
                if needs_slash {
                    expression.push('/');
                }
                segment(part, &mut expression);
                needs_slash = true;
                // `docs/*` is the files of `docs` alone; any other name may be that of a directory.
                if n == last && part != "*" && !is_directory {
                    expression.push_str("(?:/.*)?");
                }
            }
        }
    }
    if is_directory {
        expression.push_str("/.*");
    } else if parts == ["*"] {
        // `*` alone is every file, however deep.
        expression = String::from(r"\A.*");
    }
    expression.push_str(r"\z");
    Regex::new(&expression).ok()
}

fn segment(part: &str, expression: &mut String) {
    if part == "*" {
        expression.push_str("[^/]+");
        return;
    }
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '\\' => {
                if let Some(next) = chars.next() {
                    expression.push_str(&regex::escape(&next.to_string()));
                }
            }
            c => expression.push_str(&regex::escape(&c.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_githubs_documentation_says() {
        let cases = include_str!("../../../../tests/cases/codeowners.txt");
        for case in cases.lines().skip(1) {
            let fields: Vec<&str> = case.split('\t').collect();
            let [pattern, matching, other] = fields[..] else {
                panic!("{case}");
            };
            let pattern = regex(pattern).unwrap();
            for path in matching.split_whitespace() {
                assert!(pattern.is_match(path), "{case}: {path}");
            }
            for path in other.split_whitespace() {
                assert!(!pattern.is_match(path), "{case}: {path}");
            }
        }
    }

    #[test]
    fn the_last_match_wins_and_may_name_nobody() {
        let owners = CodeOwners::read(
            b"# comment\n*  @global\n*.rs @rust dev@example.org # inline\n/docs/ @org/docs\n/docs/free\n!x @no\n[Section]\nbad owner\nwith\\ blank.txt @blank\n",
        );
        assert_eq!(owners.of("a.txt"), ["@global"]);
        assert_eq!(owners.of("src/a.rs"), ["@rust", "dev@example.org"]);
        assert_eq!(owners.of("docs/a.rs"), ["@org/docs"]);
        assert!(owners.of("docs/free/a").is_empty());
        assert_eq!(owners.of("with blank.txt"), ["@blank"]);
    }
}
