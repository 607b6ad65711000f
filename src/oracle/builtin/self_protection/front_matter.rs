//! Front matter: files of words for an agent, a subagent, a skill or a command, that can carry hooks at their head. Such hooks
//! govern like those of the settings, and run what they say without being judged; the words below stay free.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use crate::config::{Node, Value, parse_yaml};
use crate::diagnostic::{Diagnostic, FileId};
use crate::glob::glob;
use crate::guard::{GuardedDir, Places};
use crate::host::HOSTS;
use crate::place::{Place, Roots};
use crate::search::read;
use crate::shell::{Analysis, Stdin, lexical, unescape};

/// How many files a command names, or a folder holds, that are looked into.
const MOST_FILES: usize = 64;

/// Returns where such files lie, each as a directory and a pattern below it.
fn places(roots: &Roots) -> impl Iterator<Item = (&Path, Cow<'static, str>)> {
    known().flat_map(|place| roots.all(place))
}

/// Returns the places of such files, whoever works where.
fn known() -> impl Iterator<Item = &'static Place> {
    HOSTS.iter().flat_map(|host| host.switches.front_matter)
}

/// A file that lies where such files do.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Whether it is a link, or the folder is that it lies in.
    pub(super) is_linked: bool,
}

impl Candidate {
    pub(super) fn carries_hooks(&self) -> bool {
        read(&self.path).is_some_and(|text| carries_hooks(&text))
    }
}

/// Returns the files that lie where such files do, none of them read.
pub(super) fn candidates(roots: &Roots, disk: &mut Disk<'_>) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (dir, pattern) in places(roots) {
        let mut found = vec![(dir.to_owned(), false, false)];
        for part in pattern.split('/') {
            let mut below = Vec::new();
            for (dir, _, is_link) in &found {
                let named = disk.named(dir, part).into_iter();
                below.extend(named.map(|(path, kind)| (path, *is_link, kind.is_symlink())));
            }
            found = below;
        }
        all.extend(found.into_iter().map(|(path, above, own)| Candidate {
            path,
            is_linked: above || own,
        }));
    }
    all
}

/// Returns where such files may lie.
pub(super) fn ways(roots: &Roots) -> Places {
    GuardedDir::all(roots, known()).collect()
}

/// Whether a path that is given by its names may be on such a way, at its end or, where that counts, before it.
pub(super) fn may_meet(ways: &Places, names: &[String], looks_below: bool) -> bool {
    // A pattern may stand for a name that another pattern means.
    let open = names.iter().position(|name| name.contains(['*', '?', '[']));
    let plain = open.and_then(|at| names.get(..at)).unwrap_or(names);
    ways.along(plain, false)
        .any(|way| looks_below || open.is_some() || names.len() >= way.depth())
}

/// Whether a path is such a file, or on the way to one below the directory that its place begins at.
pub(super) fn leads_to(roots: &Roots, path: &Path) -> bool {
    places(roots).any(|(dir, pattern)| {
        let Ok(below) = path.strip_prefix(dir) else {
            return false;
        };
        let mut names = below
            .iter()
            .map(|name| name.to_string_lossy().to_lowercase())
            .peekable();
        let parts: Vec<String> = pattern.split('/').map(str::to_lowercase).collect();
        names.peek().is_some()
            && below.iter().count() <= parts.len()
            && names.zip(&parts).all(|(name, part)| glob(part, &name))
    })
}

/// Says that a tool would write hooks at the head of such a file.
pub(super) fn in_content<'a>(
    path: &Path,
    mut texts: impl Iterator<Item = &'a str>,
    is_one: impl FnOnce(&Path) -> bool,
) -> Option<&'static str> {
    let brings = may_be_one(path) && texts.any(carries_hooks) && is_one(path);
    brings.then_some(BRINGS)
}

const BRINGS: &str = "bring hooks along that run without being judged";

/// Whether a path may be such a file, or a folder that holds some, as far as its name tells.
fn may_be_one(path: &Path) -> bool {
    path.extension()
        .is_none_or(|end| end.eq_ignore_ascii_case("md"))
}

/// Says the same of a command line, with what it copies there.
pub(super) fn in_line(
    roots: &Roots,
    analysis: &Analysis,
    path: &Path,
    is_one: impl FnOnce(&Path) -> bool,
) -> Option<&'static str> {
    if !may_be_one(path) || !is_one(path) {
        return None;
    }
    let all = || analysis.invocations.iter().filter(|i| !i.remote);
    let mut named = all().flat_map(|i| {
        let input = match &i.stdin {
            Stdin::File(word) => Some(word),
            _ => None,
        };
        let words = i.operands().chain(input).filter(|word| !word.dynamic);
        let files = words.filter_map(|word| {
            let dir = i.work_dir.as_ref()?;
            Some(lexical(&word.text, dir, roots.home.as_deref()))
        });
        files
            .filter(|file| !leads_to(roots, file))
            .collect::<Vec<_>>()
    });
    let brings = analysis.texts().any(carries_hooks) || named.any(|file| holds_hooks(&file, 2));
    brings.then_some(BRINGS)
}

/// Whether a file carries hooks, or one in a folder does.
fn holds_hooks(path: &Path, deep: usize) -> bool {
    let is_of_words = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("md"));
    if path.is_dir() && deep > 0 {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries = entries.take(MOST_FILES);
        return entries.any(|entry| {
            let path = entry.path();
            let may_be = path.is_dir() || path.extension().is_some_and(|end| end == "md");
            may_be && holds_hooks(&path, deep - 1)
        });
    }
    (is_of_words || deep > 1) && read(path).is_some_and(|text| carries_hooks(&text))
}

/// Whether a text has a key `hooks` at its head, or, where it is but a part of a file, at the begin of a line.
fn carries_hooks(text: &str) -> bool {
    // Code that writes it has the end of a line as two characters.
    has_hooks(text) || text.contains('\\') && has_hooks(&unescape(text))
}

fn has_hooks(text: &str) -> bool {
    // However YAML spells it, it says the word, or it has an escape.
    if !text.contains("hooks") && !text.contains('\\') {
        return false;
    }
    // A carriage return alone ends a line of YAML, too.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_start_matches('\u{feff}');
    let (head, is_whole) = match text.strip_prefix("---") {
        Some(rest) => (rest.split_once("\n---").map_or(rest, |(h, _)| h), true),
        None => (text, false),
    };
    let mut faults = Vec::new();
    let read = parse_yaml(head, FileId::default(), &mut faults);
    if read.as_ref().is_some_and(has_key) {
        return true;
    }
    let is_read = read.is_some() && !faults.iter().any(Diagnostic::is_error);
    let mut lines = head.lines();
    !is_read && lines.any(|line| begins_hooks(if is_whole { line.trim_start() } else { line }))
}

/// Whether a map has the key, or takes it over by a merge, which other readers also know in quotes.
fn has_key(head: &Node) -> bool {
    let merged = head.get("<<").map(|merged| match &merged.value {
        Value::Seq(maps) => maps.as_slice(),
        _ => std::slice::from_ref(merged),
    });
    head.get("hooks").is_some() || merged.unwrap_or_default().iter().any(has_key)
}

/// Whether a line of a head that cannot be read as a whole may begin with the key.
fn begins_hooks(line: &str) -> bool {
    let mut rest = line;
    let mut is_marked = false;
    while rest.starts_with(['?', '!', '&']) {
        is_marked = true;
        let behind = rest.split_once(char::is_whitespace);
        rest = behind.map_or("", |(_, rest)| rest.trim_start());
    }
    if rest.is_empty() || rest.starts_with(['|', '>']) {
        return is_marked;
    }
    // What an alias or a merge stands for may be said elsewhere.
    let mut merges = ["<<", "\"<<\"", "'<<'"].into_iter();
    if let Some(behind) = merges.find_map(|merge| rest.strip_prefix(merge)) {
        let behind = behind.trim_start();
        return behind.starts_with(':') || is_marked && behind.is_empty();
    }
    if rest.starts_with('*') {
        let name = rest.split_once(char::is_whitespace);
        return name.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'));
    }
    if rest.starts_with('{') {
        let unquoted = rest.replace(['"', '\''], "");
        let mut keys = unquoted.split(['{', ',']);
        return keys.any(|key| is_key(key.trim_start(), false));
    }
    match rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => {
            let inner = rest.get(1..).unwrap_or_default();
            let is_end =
                |(at, _): &(usize, &str)| !inner.get(..*at).is_some_and(|b| b.ends_with('\\'));
            let Some((end, _)) = inner.match_indices(quote).find(is_end) else {
                return is_marked;
            };
            let key = inner.get(..end).unwrap_or_default();
            let behind = inner.get(end + 1..).unwrap_or_default();
            is_key(&format!("{}{behind}", unescape(key)), is_marked)
        }
        None => is_key(rest, is_marked),
    }
}

/// Whether a text is the key `hooks` with what stands behind it.
fn is_key(text: &str, may_be_alone: bool) -> bool {
    let behind = text.strip_prefix("hooks").map(str::trim_start);
    behind.is_some_and(|rest| rest.starts_with(':') || may_be_alone && rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::carries_hooks;

    #[test]
    fn only_a_key_at_the_head_is_hooks() {
        for text in [
            "---\nname: x\nhooks:\n  PreToolUse: []\n---\nwords\n",
            "---\n\"hooks\" : {}\n---\n",
            "---\n{name: x, hooks: {}}\n---\n",
            "hooks:\n  Stop:\n",
            "open('a.md', 'w').write('---\\nname: x\\nhooks:\\n')",
            // As YAML may spell it.
            "---\n\"ho\\u006fks\": {}\n---\n",
            "---\n\"ho\\x6fks\": {}\n---\n",
            "---\n? hooks\n: {}\n---\n",
            "---\n? |-\n  hooks\n: {}\n---\n",
            "---\n?\n  hooks\n: {}\n---\n",
            "---\n!!str hooks: {}\n---\n",
            "---\n! hooks: {}\n---\n",
            "---\n&a hooks: {}\n---\n",
            "---\nx: &k hooks\n*k : {}\n---\n",
            "---\nx: &m {hooks: {}}\n<<: *m\n---\n",
            "---\n<<: {hooks: {}}\n---\n",
            "---\n\"<<\": {hooks: {}}\n---\n",
            "---\n? '<<'\n: [{name: y}, {hooks: {}}]\n---\n",
            "---\ndescription: a: b\n\"<<\": {hooks: {}}\n---\n",
            "---\nname: zed\rhooks: {}\r---\nYou.\n",
            "---\n{\"ho\\u006fks\": {}}\n---\n",
            "---\n  name: x\n  hooks: {}\n---\n",
            "---\r\nname: x\r\n'hooks': {}\r\n---\r\n",
            // As a part of a file, or with what cannot be read.
            "\"ho\\u006fks\": {}\n",
            "? hooks\n: {}\n",
            "---\nname: x\ndescription: Use when: a\n\"ho\\u006fks\":\n---\n",
            "---\ndescription: Use when: a\n!!str hooks:\n---\n",
            "---\ndescription: Use when: a\n*k : {}\nx: &k hooks\n---\n",
            "---\ndescription: Use when: a\n{name: x, 'hooks': {}}\n---\n",
            "printf '---\\n\"ho\\\\u006fks\": {}\\n---\\n'",
            "printf '---\\nho\\x6fks: {}\\n'",
        ] {
            assert!(carries_hooks(text), "{text}");
        }
        for text in [
            "---\nname: x\ndescription: writes React hooks: useState\n---\nhooks: as words\n",
            "# Hooks\n\nUse React hooks: useState, useEffect.\n",
            "---\nname: hooks\n---\n",
            "",
            "---\nname: x\ndescription: Use when: hooks are asked about\n---\nwords\n",
            "---\nname: x\nmetadata: {about: hooks}\ntags: [hooks]\n---\n",
            "---\n\"hooks and more\": x\n---\n",
            "- *hooks* of git: see there\n- `hooks`: what git runs\n",
            "\"hooks\" is a word,\nand *this* one too: hooks\n",
            "? why hooks\n! careful: hooks\n",
            "a path of Windows: C:\\hooks\\x\n",
        ] {
            assert!(!carries_hooks(text), "{text}");
        }
    }
}
