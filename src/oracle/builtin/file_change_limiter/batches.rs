//! Batches: splits a change into parts of files that lie together, each within limits.

use crate::oracle::wording::counted;

/// How large a batch may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many files.
    pub(super) files: usize,
    /// How many changed lines; a single file with more is a batch of its own.
    pub(super) lines: Option<u64>,
}

/// A part of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch<'a> {
    /// The files, sorted.
    pub(super) paths: Vec<&'a str>,
    lines: u64,
}

impl Limits {
    fn hold(self, files: usize, lines: u64) -> bool {
        files <= self.files && (files == 1 || self.lines.is_none_or(|max| lines <= max))
    }
}

impl Batch<'_> {
    fn with(&self, other: &Self) -> (usize, u64) {
        (
            self.paths.len() + other.paths.len(),
            self.lines + other.lines,
        )
    }

    /// Says what is in it: how many files, and where they lie.
    pub(super) fn describe(&self) -> String {
        let mut places: Vec<&str> = Vec::new();
        let common = self.common_dir();
        for path in &self.paths {
            let below = path.get(common.len()..).unwrap_or(path);
            let place = match below.split_once('/') {
                Some((dir, _)) => path.get(..=common.len() + dir.len()).unwrap_or(path),
                None => path,
            };
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
        let files = counted(self.paths.len(), "file");
        match places.as_slice() {
            [only] if self.paths.len() == 1 => format!("`{only}`"),
            [only] => format!("{files} in `{only}`"),
            few if few.len() <= 4 => format!("{files}: {}", quoted(few)),
            _ if !common.is_empty() => format!("{files} in `{common}`"),
            many => format!(
                "{files}: {} and {} more places",
                quoted(many.get(..3).unwrap_or_default()),
                many.len() - 3
            ),
        }
    }

    /// Returns the deepest directory that holds all files, with `/` at its end; empty for the root.
    fn common_dir(&self) -> &str {
        let (Some(first), Some(last)) = (self.paths.first(), self.paths.last()) else {
            return "";
        };
        // The paths are sorted: what the outermost have in common, all have.
        let same = first
            .bytes()
            .zip(last.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let end = first
            .as_bytes()
            .get(..same)
            .and_then(|start| memchr::memrchr(b'/', start));
        end.and_then(|end| first.get(..=end)).unwrap_or("")
    }
}

fn quoted(places: &[&str]) -> String {
    let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
    places.join(", ")
}

/// Splits files, given by path and changed lines, into batches within `limits`.
///
/// A directory that fits into one batch is never torn; neighbours share a batch where they fit together.
pub(super) fn split<'a>(
    files: impl Iterator<Item = (&'a str, u64)>,
    limits: Limits,
) -> Vec<Batch<'a>> {
    let mut files: Vec<(&str, u64)> = files.collect();
    files.sort_unstable();
    let mut batches = Vec::new();
    part(&files, 0, limits, &mut batches);
    batches
}

/// Splits what lies in one directory, whose path has `depth` bytes.
fn part<'a>(files: &[(&'a str, u64)], depth: usize, limits: Limits, out: &mut Vec<Batch<'a>>) {
    let mut units: Vec<Batch<'a>> = Vec::new();
    let mut rest = files;
    while let Some((path, _)) = rest.first() {
        let name = child(path, depth);
        let count = rest
            .iter()
            .take_while(|(other, _)| child(other, depth) == name)
            .count();
        let (these, others) = rest.split_at(count);
        rest = others;
        let lines = these.iter().map(|(_, lines)| lines).sum();
        if limits.hold(count, lines) {
            units.push(Batch {
                paths: these.iter().map(|(path, _)| *path).collect(),
                lines,
            });
        } else {
            part(these, depth + name.len(), limits, &mut units);
        }
    }
    for unit in units {
        let joined = out.last_mut().filter(|last| {
            let (files, lines) = last.with(&unit);
            limits.hold(files, lines)
        });
        match joined {
            Some(last) => {
                last.paths.extend(unit.paths);
                last.lines += unit.lines;
            }
            None => out.push(unit),
        }
    }
}

/// Returns the part of a path below a directory: a file's name, or a directory's with `/` at its end.
fn child(path: &str, depth: usize) -> &str {
    let below = path.get(depth..).unwrap_or_default();
    below
        .find('/')
        .and_then(|end| below.get(..=end))
        .unwrap_or(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(limits: Limits, paths: &[&str]) -> Vec<Vec<String>> {
        let batches = split(paths.iter().map(|path| (*path, 1)), limits);
        batches
            .into_iter()
            .map(|batch| batch.paths.into_iter().map(str::to_owned).collect())
            .collect()
    }

    const TWO: Limits = Limits {
        files: 2,
        lines: None,
    };

    #[test]
    fn directories_that_fit_stay_whole() {
        assert_eq!(
            files(TWO, &["a/1", "a/2", "b/1", "c/1", "c/2"]),
            [vec!["a/1", "a/2"], vec!["b/1"], vec!["c/1", "c/2"]]
        );
        assert_eq!(
            files(TWO, &["a/x/1", "a/x/2", "a/y/1", "b"]),
            [vec!["a/x/1", "a/x/2"], vec!["a/y/1", "b"]]
        );
    }

    #[test]
    fn lines_limit_a_batch_too_but_not_a_single_file() {
        let limits = Limits {
            files: 10,
            lines: Some(5),
        };
        let batches = split([("a", 3), ("b", 3), ("c", 9), ("d", 1)].into_iter(), limits);
        let shown: Vec<_> = batches.iter().map(|b| b.paths.join(" ")).collect();
        assert_eq!(shown, ["a", "b", "c", "d"]);
    }

    #[test]
    fn every_file_is_in_one_batch_and_no_batch_is_too_large() {
        let paths: Vec<String> = (0..500)
            .map(|n| format!("{}/{}/{n}", n % 3, n % 7))
            .collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        for size in [1, 2, 7, 20, 499, 500] {
            let batches = files(
                Limits {
                    files: size,
                    lines: None,
                },
                &paths,
            );
            assert!(
                batches
                    .iter()
                    .all(|batch| batch.len() <= size && !batch.is_empty())
            );
            let mut all: Vec<_> = batches.concat();
            all.sort_unstable();
            let mut expected = paths.clone();
            expected.sort_unstable();
            assert_eq!(all, expected);
        }
    }

    #[test]
    fn a_batch_says_where_its_files_lie() {
        let of = |paths: &[&'static str]| {
            let paths = paths.to_vec();
            Batch { paths, lines: 0 }.describe()
        };
        assert_eq!(of(&["src/a.rs"]), "`src/a.rs`");
        assert_eq!(of(&["src/a/1", "src/a/2"]), "2 files: `src/a/1`, `src/a/2`");
        assert_eq!(of(&["src/a/1", "src/b/2"]), "2 files: `src/a/`, `src/b/`");
        assert_eq!(of(&["d/1", "d/2", "d/3", "d/4", "d/5"]), "5 files in `d/`");
    }
}
