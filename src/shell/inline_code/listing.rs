//! Listings: what code that deletes whatever a directory holds would delete.

use super::expression::literal;
use crate::shell::Word;

/// A call that lists files.
pub(super) struct Listing {
    pub(super) name: &'static str,
    /// Whether it is given a pattern, not a folder.
    pub(super) is_pattern: bool,
    /// Whether it goes down into folders.
    pub(super) goes_down: bool,
    /// Whether it lists names that begin with a dot as any other.
    pub(super) sees_hidden: bool,
}

const fn folder(name: &'static str) -> Listing {
    Listing {
        name,
        is_pattern: false,
        goes_down: false,
        sees_hidden: true,
    }
}

const fn tree(name: &'static str) -> Listing {
    Listing {
        goes_down: true,
        ..folder(name)
    }
}

const fn pattern(name: &'static str) -> Listing {
    Listing {
        is_pattern: true,
        sees_hidden: false,
        ..folder(name)
    }
}

/// Calls that list files.
pub(super) const CALLS: &[Listing] = &[
    folder("os.listdir"),
    folder("os.scandir"),
    tree("os.walk"),
    tree("os.fwalk"),
    folder("readdirSync"),
    folder(".readdir"),
    folder("opendirSync"),
    folder("readDirSync"),
    folder("readDir"),
    folder("readdir"),
    folder("scandir"),
    folder("DirectoryIterator"),
    folder("FilesystemIterator"),
    tree("RecursiveDirectoryIterator"),
    folder("lfs.dir"),
    tree("walkdir"),
    folder("Dir.entries"),
    folder("Dir.children"),
    folder("Dir.each_child"),
    folder("Dir.foreach"),
    tree("Find.find"),
    Listing {
        is_pattern: true,
        ..tree(".rglob")
    },
    folder(".iterdir"),
    pattern("glob.glob"),
    pattern("glob.iglob"),
    Listing {
        sees_hidden: true,
        ..pattern(".glob")
    },
    pattern("globSync"),
    pattern("glob"),
    pattern("Dir"),
];

/// Perl's `find(sub { … }, "dir")`.
pub(super) const FILE_FIND: Listing = tree("File::Find");

/// Whether code may hold a call that lists files; it is given in lower case.
pub(crate) fn may_list(lower: &str) -> bool {
    let mut calls = CALLS.iter().chain([&FILE_FIND]);
    calls.any(|call| lower.contains(&call.name.to_lowercase()))
}

/// Returns what stands for the files that a listing in the code finds, and whether directories are among them.
pub(super) fn listed(code: &str) -> Option<(Word, bool)> {
    // Perl's `<*.txt>`.
    if let Some((pattern, _)) = code
        .split_once("<*")
        .and_then(|(_, rest)| rest.split_once('>'))
        && !pattern.contains([' ', ';'])
    {
        let word = Word {
            text: format!("./*{pattern}"),
            glob: true,
            ..Word::default()
        };
        return Some((word, false));
    }
    if let Some(found) = walked(code) {
        return Some((found, true));
    }
    CALLS.iter().find_map(|call| {
        let (name, is_pattern) = (call.name, call.is_pattern);
        code.match_indices(name).find_map(|(at, _)| {
            let before = code.get(..at)?;
            let is_longer = !name.starts_with('.')
                && before
                    .chars()
                    .next_back()
                    .is_some_and(|c| c.is_alphanumeric() || c == '_');
            let inner = code
                .get(at + name.len()..)?
                .trim_start()
                .strip_prefix(['(', '['])
                .filter(|_| !is_longer)?;
            let given = literal(inner.trim_start()).map(|(text, _)| text);
            let root = receiver_literal(before).unwrap_or_else(|| ".".to_owned());
            let text = match (given, is_pattern) {
                (Some(pattern), true)
                    if name.starts_with('.') && !pattern.starts_with(['/', '~']) =>
                {
                    format!("{root}/{pattern}")
                }
                (Some(pattern), true) => pattern,
                (Some(dir), false) => format!("{}/*", dir.trim_end_matches('/')),
                (None, false) if name.starts_with('.') => format!("{root}/*"),
                (None, false) if inner.starts_with(')') => "./*".to_owned(),
                _ => return None,
            };
            let goes_down = call.goes_down || text.contains("**");
            let word = Word {
                text: text.replace("**/", ""),
                glob: true,
                ..Word::default()
            };
            Some((word, goes_down))
        })
    })
}

/// Returns what Perl's `find(sub { … }, "dir")` goes through, narrowed to an ending that the code asks for.
pub(super) fn walked(code: &str) -> Option<Word> {
    let (_, call) = code
        .split_once("finddepth")
        .or_else(|| code.split_once("find"))?;
    let call = call.trim_start().trim_start_matches('(').trim_start();
    let takes_code = call.starts_with("sub")
        || call.starts_with("\\&")
        || call.starts_with('{') && call.contains("wanted");
    if !takes_code {
        return None;
    }
    let (_, roots) = call.rsplit_once('}')?;
    let root = roots
        .find(['"', '\''])
        .and_then(|at| literal(roots.get(at..)?));
    let root = root.map_or_else(|| ".".to_owned(), |(text, _)| text);
    let ending = call.split_once("\\.").and_then(|(_, rest)| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric())?;
        rest.get(end..)?.starts_with('$').then(|| rest.get(..end))?
    });
    let name = ending.map_or_else(|| "*".to_owned(), |ending| format!("*.{ending}"));
    Some(Word {
        text: format!("{}/{name}", root.trim_end_matches('/')),
        glob: true,
        ..Word::default()
    })
}

/// Returns the literal of the call right before: `Path("x")` in `Path("x").rglob("*")`.
fn receiver_literal(before: &str) -> Option<String> {
    let inner = before.strip_suffix(')')?;
    let (_, inner) = inner.rsplit_once('(')?;
    literal(inner).map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn listings_tell_what_they_find() {
        for (code, text, goes_down) in [
            (
                "for r, d, fs in os.walk('/home/u'): pass",
                "/home/u/*",
                true,
            ),
            ("Dir.glob('*').each", "./*", false),
        ] {
            let (word, down) = listed(code).unwrap();
            assert_eq!((word.text.as_str(), down), (text, goes_down), "{code}");
        }
    }
}
