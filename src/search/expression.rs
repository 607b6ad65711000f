//! Expression: what `find` comes to for one file, by its tests, and by what it leaves out on the way there.

use std::fs;
use std::path::{Path, PathBuf};

use super::filter::wild;
use crate::pattern::Pattern;
use crate::shell::{Invocation, Word, file_name, is_depth_first, roots};
use crate::words::words;

/// How deep an expression is followed; what lies deeper is not told.
const MAX_DEPTH: usize = 64;

/// How many folders deep a file is looked for in one, and among how many names of each.
const MAX_FOLDERS: usize = 4;
const MAX_ENTRIES: usize = 64;

/// What is asked of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Whether it deletes a file, or starts a program with it.
    Acts,
    /// Whether it prints the name of a file.
    Prints,
}

/// What is known of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    No,
    Maybe,
    Yes,
}

impl Known {
    const fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    const fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

/// Tests without a word behind them of which the answer is known.
const PLAIN: &[&str] = words!("plain-find-tests");

/// Tests with a word behind them, besides those that are judged.
const WITH_WORD: &[&str] = words!("find-tests-with-word");

/// What `find` prints by.
const PRINTS: &[&str] = &["-ls", "-print", "-print0", "-printf"];

/// What `find` starts programs by.
pub(crate) const STARTS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// One `find`, and what is asked of it.
#[derive(Debug)]
pub(crate) struct Expression<'a> {
    words: &'a [Word],
    deed: Deed,
    /// What lies in a folder comes before it, so that nothing is left out on the way.
    is_depth_first: bool,
    /// Whether it says itself what it does with what it finds.
    has_deed: bool,
}

impl<'a> Expression<'a> {
    /// Reads the words of a `find` behind its folders.
    pub(crate) fn of(find: &'a Invocation, deed: Deed) -> Self {
        let (_, words) = roots(find);
        let is = |word: &Word, names: &[&str]| names.contains(&word.text.as_str());
        Self {
            is_depth_first: is_depth_first(find),
            has_deed: words.iter().any(|w| {
                is(w, PRINTS)
                    || is(w, STARTS)
                    || is(w, &["-delete"])
                    || w.text.starts_with("-fprint")
            }),
            words,
            deed,
        }
    }

    /// Whether it comes to a file, given by its way from a folder, and does with it what is asked for. What cannot be told
    /// is yes.
    pub(crate) fn reaches(&self, root: &Word, dir: &Path, way: &Path) -> bool {
        let mut folders: Vec<PathBuf> = way.ancestors().skip(1).map(Path::to_owned).collect();
        folders.reverse();
        let on = |way: &Path| self.at(root, dir, way);
        let is_left_out = !self.is_depth_first && folders.iter().any(|folder| on(folder).prunes);
        !is_left_out && on(way).does
    }

    fn at(&self, root: &Word, dir: &Path, way: &Path) -> Visit<'_> {
        let mut visit = Visit {
            expression: self,
            at: 0,
            depth: 0,
            printed: printed(&root.text, way),
            path: dir.join(way),
            level: way.components().count(),
            prunes: false,
            does: false,
            is_out: false,
        };
        let value = visit.list(Known::Yes);
        if !self.has_deed && self.deed == Deed::Prints {
            visit.does = value != Known::No;
        }
        // Above the least depth nothing is asked of it.
        visit.does &= !visit.is_out;
        visit.prunes &= !visit.is_out;
        visit
    }
}

/// Whether a file lies in a folder, or in one of its folders down to a depth.
fn holds_file(dir: &Path, deep: usize) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.take(MAX_ENTRIES).any(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| !kind.is_dir() || deep > 0 && holds_file(&entry.path(), deep - 1))
    })
}

/// Whether a whole path meets a regular expression as `find` reads it where it is not told otherwise; none where it is not
/// as plain as `.*\\.\\(orig\\|rej\\)`.
fn meets(pattern: &str, path: &str, folds: bool) -> Option<bool> {
    let mut regex = String::from(if folds { "(?si)^(?:" } else { "(?s)^(?:" });
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                group @ ('(' | ')' | '|') => regex.push(group),
                c if c.is_ascii_punctuation() && !matches!(c, '<' | '>' | '`' | '\'') => {
                    regex.push('\\');
                    regex.push(c);
                }
                _ => return None,
            },
            '.' | '*' => regex.push(c),
            c if c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '~' | ' ') => regex.push(c),
            _ => return None,
        }
    }
    regex.push_str(")$");
    Some(Pattern::new(&regex).ok()?.is_match(path))
}

/// Returns a file as a program prints it that was sent into a folder.
pub(crate) fn printed(root: &str, way: &Path) -> String {
    if way.as_os_str().is_empty() {
        return root.to_owned();
    }
    format!("{}/{}", root.trim_end_matches('/'), way.display())
}

/// An expression on its way through one file.
#[derive(Debug)]
struct Visit<'a> {
    expression: &'a Expression<'a>,
    at: usize,
    depth: usize,
    printed: String,
    path: PathBuf,
    level: usize,
    prunes: bool,
    does: bool,
    /// Whether it is not as deep, or deeper, than is looked at all.
    is_out: bool,
}

impl<'a> Visit<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.expression.words.get(self.at).map(|w| w.text.as_str())
    }

    fn next(&mut self) -> Option<&'a Word> {
        let word = self.expression.words.get(self.at);
        self.at += usize::from(word.is_some());
        word
    }

    /// Alternatives, each tried where those before it do not hold.
    fn list(&mut self, runs: Known) -> Known {
        let mut value = self.all(runs);
        loop {
            match self.peek() {
                Some("-o" | "-or") => {
                    self.at += 1;
                    let right = self.all(runs.min(value.not()));
                    value = value.max(right);
                }
                Some(",") => {
                    self.at += 1;
                    value = self.all(runs);
                }
                _ => return value,
            }
        }
    }

    fn all(&mut self, runs: Known) -> Known {
        let mut value = self.term(runs);
        loop {
            match self.peek() {
                Some("-a" | "-and") => self.at += 1,
                None | Some("-o" | "-or" | "," | ")") => return value,
                Some(_) => {
                    let right = self.term(runs.min(value));
                    value = value.min(right);
                }
            }
        }
    }

    fn term(&mut self, runs: Known) -> Known {
        if self.depth >= MAX_DEPTH {
            // Where it is too deep to be followed, anything may come of it.
            self.at = self.expression.words.len();
            self.does |= runs != Known::No;
            return Known::Maybe;
        }
        self.depth += 1;
        let value = match self.peek() {
            Some("!" | "-not") => {
                self.at += 1;
                self.term(runs).not()
            }
            Some("(") => {
                self.at += 1;
                let value = self.list(runs);
                self.at += usize::from(self.peek() == Some(")"));
                value
            }
            _ => self.test(runs),
        };
        self.depth -= 1;
        value
    }

    fn test(&mut self, runs: Known) -> Known {
        let Some(word) = self.next() else {
            return Known::Yes;
        };
        match word.text.as_str() {
            "-prune" => {
                self.prunes |= runs == Known::Yes;
                Known::Yes
            }
            "-false" => Known::No,
            "-quit" => Known::Yes,
            "-maxdepth" | "-mindepth" => {
                let limit: Option<usize> = self.next().and_then(|w| w.text.parse().ok());
                let is_most = word.text == "-maxdepth";
                let is_out = |limit: usize| {
                    if is_most {
                        self.level > limit
                    } else {
                        self.level < limit
                    }
                };
                self.is_out |= limit.is_some_and(is_out);
                Known::Yes
            }
            "-delete" => self.do_it(Deed::Acts, runs),
            name if PRINTS.contains(&name) => {
                if name == "-printf" {
                    self.at += 1;
                }
                self.do_it(Deed::Prints, runs)
            }
            name if STARTS.contains(&name) => {
                while let Some(word) = self.next() {
                    if word.text == ";" || (word.text == "+" && self.ends_with_place()) {
                        break;
                    }
                }
                self.do_it(Deed::Acts, runs);
                Known::Maybe
            }
            "-name" | "-iname" | "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                let folds = word.text.starts_with("-i");
                let is_name = word.text.ends_with("name") && !word.text.ends_with("wholename");
                let Some(pattern) = self.next().filter(|word| !word.dynamic) else {
                    return Known::Maybe;
                };
                let whole = self.printed.trim_end_matches('/');
                let name = file_name(whole);
                let text = if is_name { name } else { &self.printed };
                wild(&pattern.text, text, folds).map_or(Known::Maybe, Known::of)
            }
            "-type" => {
                let Some(kinds) = self.next() else {
                    return Known::Maybe;
                };
                let Ok(found) = self.path.symlink_metadata() else {
                    return Known::Maybe;
                };
                if found.is_symlink() || kinds.dynamic {
                    return Known::Maybe;
                }
                let kind = if found.is_dir() { "d" } else { "f" };
                Known::of(kinds.text.split(',').any(|wanted| wanted == kind))
            }
            "-empty" => self.is_empty(),
            "-regex" | "-iregex" => {
                let pattern = self.next().filter(|word| !word.dynamic);
                let is_other = |word: &Word| word.text == "-regextype";
                let is_default = !self.expression.words.iter().any(is_other);
                pattern
                    .filter(|_| is_default)
                    .and_then(|pattern| meets(&pattern.text, &self.printed, word.text == "-iregex"))
                    .map_or(Known::Maybe, Known::of)
            }
            "-fprintf" => {
                self.at += 2;
                Known::Yes
            }
            name if PLAIN.contains(&name) => Known::Yes,
            name if WITH_WORD.contains(&name) || name.starts_with("-newer") => {
                self.at += 1;
                Known::Maybe
            }
            _ => Known::Maybe,
        }
    }

    /// Whether the file, or the folder, has nothing in it; folders in it may go before.
    fn is_empty(&self) -> Known {
        match self.path.symlink_metadata() {
            Ok(found) if found.is_dir() && holds_file(&self.path, MAX_FOLDERS) => Known::No,
            Ok(found) if found.is_file() => Known::of(found.len() == 0),
            _ => Known::Maybe,
        }
    }

    /// Whether the word before the last one stands for what was found.
    fn ends_with_place(&self) -> bool {
        let before = self.at.checked_sub(2);
        before.is_some_and(|at| {
            let word = self.expression.words.get(at);
            word.is_some_and(|word| word.text.contains("{}"))
        })
    }

    fn do_it(&mut self, deed: Deed, runs: Known) -> Known {
        self.does |= deed == self.expression.deed && runs != Known::No;
        Known::Yes
    }
}
