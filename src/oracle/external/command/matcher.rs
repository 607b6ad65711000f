//! The matchers of command hooks, as each format's host means them.

use super::Dialect;
use crate::pattern::Pattern;

/// For which tools a command runs.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// All.
    All,
    /// Those with one of these names.
    Names(Vec<String>),
    /// Those whose name the pattern is found in.
    Found(Pattern),
    /// None: its host skips an entry with such a matcher.
    Never,
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) | (Self::Never, Self::Never) => true,
            (Self::Names(a), Self::Names(b)) => a == b,
            (Self::Found(a), Self::Found(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

impl Matcher {
    /// Reads a matcher; `is_lower` says that the event has Copilot's own lower-case name.
    pub(super) fn new(
        text: Option<&str>,
        dialect: Dialect,
        is_lower: bool,
    ) -> Result<Self, String> {
        let Some(text) = text else {
            return Ok(Self::All);
        };
        match dialect {
            Dialect::VsCode => Ok(Self::All),
            Dialect::Copilot if is_lower => {
                if text.is_empty() {
                    return Ok(Self::Never);
                }
                Ok(Pattern::new(&format!("^(?:{text})$")).map_or(Self::Never, Self::Found))
            }
            // Copilot takes upper-case event names as Claude Code does.
            Dialect::Claude | Dialect::Copilot => {
                if text.is_empty() || text == "*" {
                    return Ok(Self::All);
                }
                let is_list = text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_- ,|".contains(c));
                if is_list {
                    let names = text.split([',', '|']).map(|name| name.trim().to_owned());
                    return Ok(Self::Names(names.collect()));
                }
                Pattern::new(text)
                    .map(Self::Found)
                    .map_err(|error| error.to_string())
            }
        }
    }

    /// Whether it meets any of a tool's names.
    pub(super) fn matches(&self, names: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Never => false,
            Self::Names(wanted) => names.iter().any(|name| wanted.iter().any(|w| w == name)),
            Self::Found(pattern) => names.iter().any(|name| pattern.is_match(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &str, dialect: Dialect, is_lower: bool, name: &str) -> bool {
        Matcher::new(Some(text), dialect, is_lower)
            .unwrap()
            .matches(&[name])
    }

    #[test]
    fn claude_takes_plain_words_as_names_and_all_else_as_a_pattern() {
        let claude = |text, name| matches(text, Dialect::Claude, false, name);
        assert!(claude("Bash|Write", "Bash") && claude("Bash, Write", "Write"));
        assert!(!claude("Bash", "BashOutput") && !claude("mcp__s", "mcp__s__t"));
        assert!(claude("^Ba", "Bash") && claude("mcp__s__.*", "mcp__s__t"));
        assert!(claude("", "x") && claude("*", "x"));
    }

    #[test]
    fn copilot_matches_whole_names_and_never_by_nothing() {
        let copilot = |text, name| matches(text, Dialect::Copilot, true, name);
        assert!(copilot("ba.*|view", "bash") && copilot("ba.*|view", "view"));
        assert!(!copilot("ba", "bash") && !copilot("", "bash") && !copilot("(", "bash"));
    }

    #[test]
    fn vscode_ignores_matchers() {
        assert!(matches("(", Dialect::VsCode, false, "x"));
    }
}
