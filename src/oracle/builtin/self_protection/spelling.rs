//! Spelling: how code would name what is guarded. Every guarded place is told by its last names, which the code may hold as
//! one path or as the parts that it joins.

use std::sync::LazyLock;

use crate::guard;
use crate::place::Place;

/// What decides over hooks and is no place: our log by its name alone, and the setting of git that moves its hooks.
const FURTHER: &[&str] = &["signals.jsonl", "core.hookspath", "agents/hooks"];

/// Endings that say nothing: beside `settings.json` there is `settings.local.json`.
const ENDINGS: &[&str] = &[".json", ".jsonc", ".toml", ".js"];

/// How many names of a place tell it from others.
const TELLING_NAMES: usize = 2;

/// One guarded place.
#[derive(Debug)]
struct Spelling {
    /// As a message names it.
    shown: String,
    /// What a text holds that names it, one behind the other: more than one where a name between them is not known.
    pieces: Vec<String>,
}

static SPELLINGS: LazyLock<Vec<Spelling>> = LazyLock::new(|| {
    let places = guard::known().map(Place::shown);
    let further = FURTHER.iter().map(|name| (*name).to_owned());
    let mut spellings: Vec<Spelling> = Vec::new();
    for shown in places.chain(further) {
        let spelling = Spelling::of(shown);
        if !spellings
            .iter()
            .any(|known| known.pieces == spelling.pieces)
        {
            spellings.push(spelling);
        }
    }
    spellings
});

impl Spelling {
    fn of(shown: String) -> Self {
        let pieces = shown.split('*').map(telling);
        Self {
            pieces: pieces.collect(),
            shown,
        }
    }

    fn stands_in(&self, text: &str) -> bool {
        let mut rest = text;
        self.pieces
            .iter()
            .all(|piece| match rest.find(piece.as_str()) {
                Some(at) => {
                    rest = rest.get(at + piece.len()..).unwrap_or_default();
                    true
                }
                None => false,
            })
    }
}

/// Returns the end of a path that tells it from others: its last names, from the last hidden one on, where there is one
/// before the last. `git/config` alone is said by every call of `git config`.
fn telling(path: &str) -> String {
    let path = joined(&path.to_lowercase());
    let names: Vec<&str> = path
        .split('/')
        .filter(|name| !matches!(*name, "" | "~"))
        .collect();
    let least = names.len().saturating_sub(TELLING_NAMES);
    let hidden = names.iter().rposition(|name| name.starts_with('.'));
    let telling = names.get(hidden.unwrap_or(least).min(least)..);
    let telling = telling.unwrap_or_default().join("/");
    let ending = ENDINGS
        .iter()
        .filter(|_| names.len() >= TELLING_NAMES)
        .find_map(|ending| telling.strip_suffix(ending));
    ending.map_or_else(|| telling.clone(), str::to_owned)
}

/// Returns what is guarded and is named by a text, as a message names it.
pub(super) fn named(text: &str) -> Option<&'static str> {
    let joined = joined(&text.to_lowercase());
    let found = SPELLINGS
        .iter()
        .find(|spelling| spelling.stands_in(&joined));
    found.map(|spelling| spelling.shown.as_str())
}

/// Returns a text with the parts of its paths joined: `'.ah' + 'p'`, `join(".claude", "settings.json")`, `Path(".git") / "x"`.
/// What stands between the end of one quoted part and the begin of the next is left out where it only joins them.
pub(super) fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', '`', '\\']) {
        let (before, from) = rest.split_at(at);
        joined.push_str(before);
        if from.starts_with('\\') {
            if !joined.ends_with('/') {
                joined.push('/');
            }
            rest = from.trim_start_matches(['\\', '/']);
            continue;
        }
        let behind = from.get(1..).unwrap_or_default();
        let between = behind.find(['\'', '"', '`']).unwrap_or(behind.len());
        let (joint, next) = behind.split_at(between);
        let is_joint = |c: char| c.is_whitespace() || matches!(c, '+' | ',' | '/' | '(' | ')');
        if next.is_empty() || !joint.chars().all(is_joint) {
            joined.push_str(from.get(..1).unwrap_or_default());
            rest = behind;
            continue;
        }
        rest = next.get(1..).unwrap_or_default();
        let parts = joint.contains([',', '/']) && !joined.ends_with('/');
        if parts {
            joined.push('/');
            rest = rest.trim_start_matches('/');
        }
    }
    joined.push_str(rest);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guarded_place_is_named_by_its_path_and_by_its_parts() {
        let mut tried = 0;
        for place in guard::known() {
            let path = place.shown().replace('*', "x");
            let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            let code = [
                format!("open('{path}', 'w')"),
                format!("os.remove(os.path.join('{}'))", parts.join("', '")),
                format!("(Path('{}')).unlink()", parts.join("') / '")),
                format!("fs.rmSync(\"{}\")", parts.join("\\\\")),
            ];
            for code in code {
                assert!(named(&code).is_some(), "{code}");
                tried += 1;
            }
        }
        assert!(tried > 300, "{tried}");
    }

    #[test]
    fn what_only_looks_like_a_guarded_place_is_not_named() {
        for code in [
            "open('.gitignore', 'w')",
            "url = 'https://example.com/x.git'; config = load()",
            "open('.claude/skills/x/SKILL.md', 'w')",
            "open('settings.json', 'w')",
            "open('.vscode/settings.json', 'w')",
            "shutil.rmtree('build/hooks')",
            "open('docs/ahp.md', 'w')",
            "subprocess.run(['git', 'config', 'user.name', 'x'])",
            "print('opencode and crush are agents'); open('x', 'w')",
            "print('It blocks. ahp then'); open('x', 'w')",
            "print('see .' + ' ahp')",
        ] {
            assert_eq!(named(code), None, "{code}");
        }
    }
}
