//! Pathspec: which files git lists, by the paths to which a command of it is narrowed, and by what it keeps a list of. What
//! cannot be told it lists.

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

use super::index::Index;
use super::judged::Judged;
use crate::search::{Options, holds, wild};
use crate::shell::{Invocation, Word, lexical};

/// Options of git without a value of their own, behind which a path may stand.
const FLAGS: &[&str] = &[
    "--cached",
    "--name-only",
    "--name-status",
    "--numstat",
    "--raw",
    "--relative",
    "--staged",
    "--stat",
    "-r",
    "-z",
];

/// Options with which `ls-files` and `grep` list files that git tracks, and no others.
const TRACKED: &[&str] = &[
    "-E",
    "-F",
    "-G",
    "-H",
    "-I",
    "-L",
    "-P",
    "-c",
    "-e",
    "-h",
    "-l",
    "-m",
    "-n",
    "-s",
    "-t",
    "-v",
    "-w",
    "-z",
    "--and",
    "--cached",
    "--count",
    "--deleted",
    "--eol",
    "--error-unmatch",
    "--extended-regexp",
    "--files-with-matches",
    "--files-without-match",
    "--fixed-strings",
    "--full-name",
    "--ignore-case",
    "--invert-match",
    "--line-number",
    "--modified",
    "--name-only",
    "--not",
    "--null",
    "--or",
    "--perl-regexp",
    "--regexp",
    "--stage",
    "--word-regexp",
];

/// Options with which `diff` lists changes of files that git tracks, where it is told of no other state.
const CHANGED: &[&str] = &[
    "-r",
    "-z",
    "--diff-filter",
    "--name-only",
    "--name-status",
    "--no-color",
    "--no-renames",
    "--numstat",
    "--raw",
    "--relative",
    "--stat",
];

/// A command of git that lists files.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    git: &'a Invocation,
    command: &'a str,
    /// Where git works.
    pub(super) here: PathBuf,
    /// The top of its working tree, or else where it works.
    pub(super) top: PathBuf,
    /// The paths to which it is narrowed; none where that cannot be told.
    specs: Option<Vec<Spec>>,
    /// Whether it lists only what git tracks now.
    lists_tracked: bool,
    index: OnceCell<Option<Index>>,
}

/// One path to which a command is narrowed.
#[derive(Debug)]
struct Spec {
    is_out: bool,
    /// Whether its words are no pattern.
    is_literal: bool,
    /// From the top of the working tree; none where it cannot be read.
    pattern: Option<String>,
}

impl<'a> Listing<'a> {
    /// Reads a command. One that is steered by variables may list anything.
    pub(super) fn of(git: &'a Judged<'_>, is_steered: bool) -> Self {
        let (own, command, rest) = parts(git);
        let own = Own::of(own).filter(|_| !is_steered);
        let here = git.path_of(".");
        let dirs = own.iter().flat_map(|own| &own.dirs);
        let here = dirs.fold(here, |here, dir| lexical(dir, &here, git.guarded.home()));
        let top = here.ancestors().find(|dir| dir.join(".git").exists());
        let top = top.unwrap_or(&here).to_owned();
        let prefix = here.strip_prefix(&top).unwrap_or(Path::new(""));
        let words = Words::of(git, command, rest, &here);
        let is_narrowed = matches!(command, "clean" | "grep" | "ls-files" | "ls-tree");
        let specs = own.zip(words.as_ref()).map(|(_, words)| {
            let mut specs: Vec<Spec> = words
                .paths
                .iter()
                .map(|word| Spec::of(word, prefix))
                .collect();
            if specs.is_empty() && is_narrowed {
                specs.push(Spec::of(&Word::plain("."), prefix));
            }
            specs
        });
        Self {
            git,
            command,
            specs,
            lists_tracked: words.is_some_and(|words| words.only_tracked)
                && !top.join(".gitmodules").exists(),
            here,
            top,
            index: OnceCell::new(),
        }
    }

    /// Whether it names folders of which it does not know the files.
    pub(super) fn names_folders(&self) -> bool {
        matches!(self.command, "clean" | "status")
    }

    /// Whether git lists a file, given by its way from the top.
    pub(super) fn lists(&self, way: &Path) -> bool {
        let Some(specs) = &self.specs else {
            return true;
        };
        let is_out = |spec: &Spec| spec.is_out && spec.fits(way) == Some(true);
        let mut ways_in = specs.iter().filter(|spec| !spec.is_out).peekable();
        let is_in = ways_in.peek().is_none() || ways_in.any(|spec| spec.fits(way) != Some(false));
        !way.starts_with(".git")
            && is_in
            && !specs.iter().any(is_out)
            && self.may_be_tracked(way)
            && self.may_hold(way)
    }

    /// Whether a file may hold what `git grep` looks for in the files as they are.
    fn may_hold(&self, way: &Path) -> bool {
        let is_search = self.command == "grep" && self.lists_tracked;
        !is_search || holds(self.git, &Options::of(self.git), &self.top.join(way))
    }

    /// Whether git may know a file: by the list of files that it keeps, where that is there to be read.
    fn may_be_tracked(&self, way: &Path) -> bool {
        let index = || self.index.get_or_init(|| Index::read(&self.top));
        let known = self.lists_tracked.then(index).and_then(Option::as_ref);
        known.is_none_or(|index| index.holds(&way.to_string_lossy()))
    }
}

impl Spec {
    fn of(word: &Word, prefix: &Path) -> Self {
        let mut is_out = false;
        let mut is_literal = false;
        let mut is_from_top = false;
        let mut is_known = !word.dynamic;
        let mut path = word.text.as_str();
        if let Some((words, rest)) = path
            .strip_prefix(":(")
            .and_then(|text| text.split_once(')'))
        {
            for word in words.split(',') {
                match word {
                    "exclude" => is_out = true,
                    "top" => is_from_top = true,
                    "literal" => is_literal = true,
                    // Names are compared in any case, and a star may stand for a slash.
                    "icase" | "glob" if !is_out => {}
                    _ => is_known = false,
                }
            }
            path = rest;
        } else if let Some(magic) = path.strip_prefix(':') {
            path = magic.trim_start_matches(['!', '^', '/']);
            let signs = magic.strip_suffix(path).unwrap_or_default();
            is_out = signs.contains(['!', '^']);
            is_from_top = signs.contains('/');
            is_known &= !signs.is_empty() && !path.starts_with(['(', ':']);
        }
        let from = if is_from_top { Path::new("") } else { prefix };
        let is_plain = !from.to_string_lossy().contains(['*', '?', '[', '\\']);
        Self {
            is_out,
            is_literal,
            pattern: (is_known && is_plain).then(|| below(from, path)).flatten(),
        }
    }

    /// Whether it fits a file; none where that cannot be told.
    fn fits(&self, way: &Path) -> Option<bool> {
        let pattern = self.pattern.as_deref()?;
        let bare = pattern.trim_end_matches('/');
        if way.starts_with(bare) || !self.is_out && is_below_any_case(way, bare) {
            // With a slash behind it, it is a folder.
            let is_folder = bare.len() == pattern.len() || way != Path::new(bare);
            return is_folder.then_some(true);
        }
        if self.is_literal {
            return Some(false);
        }
        wild(pattern, &way.to_string_lossy(), !self.is_out)
    }
}

/// Whether a way lies at or below a folder, in any case.
fn is_below_any_case(way: &Path, folder: &str) -> bool {
    let mut names = way.components();
    Path::new(folder).components().all(|part| {
        names
            .next()
            .is_some_and(|name| name.as_os_str().eq_ignore_ascii_case(part.as_os_str()))
    })
}

/// Returns what is guarded and a command of git would delete, put away or replace, by the patterns and signs in the paths that
/// it is given. Plain paths are told by what the command does to files.
pub(super) fn changed(git: &Judged<'_>) -> Option<PathBuf> {
    let (_, command, mut rest) = parts(git);
    match command {
        "clean" | "rm" if only_shows(rest) => return None,
        "clean" | "rm" | "checkout" | "restore" => {}
        "stash" => match rest.split_first()? {
            (first, behind) if first.text == "push" => rest = behind,
            (first, _) if first.text.starts_with('-') => {}
            _ => return None,
        },
        _ => return None,
    }
    let dashes = rest.iter().position(|word| word.text == "--");
    let operands = match dashes {
        Some(at) => rest.get(at + 1..).unwrap_or_default(),
        None => rest,
    };
    let given = git
        .has_long("--pathspec-from-file")
        .then(|| git.stdin.text())
        .flatten();
    let lines: Vec<Word> = given
        .into_iter()
        .flat_map(str::lines)
        .map(Word::plain)
        .collect();
    let mut is_message = false;
    let is_told = |word: &&Word| {
        let was_message = std::mem::replace(&mut is_message, takes_message(command, word));
        dashes.is_some() || !word.is_option() && !was_message
    };
    let words: Vec<&Word> = operands.iter().filter(is_told).chain(&lines).collect();
    // What brings all of a state back is told as that of `git checkout STATE -- .` is.
    let is_all =
        |text: &str| matches!(command, "checkout" | "restore") && matches!(text, ":/" | ":(top)");
    let has_signs = |word: &&Word| {
        !is_all(&word.text) && (word.text.starts_with(':') || word.text.contains(['*', '?', '[']))
    };
    if lines.is_empty() && !words.iter().any(has_signs) {
        return None;
    }
    let from_elsewhere = match command {
        "clean" => true,
        "checkout" => {
            let before = rest.get(..dashes.unwrap_or(rest.len())).unwrap_or_default();
            // Behind a colon may stand a search for a state.
            let is_pattern = |word: &Word| {
                has_signs(&word) && !word.text.starts_with(':') && !is_state(command, word)
            };
            let is_whole = |word: &Word| dashes.is_none() && (word.text == "." || is_pattern(word));
            before
                .iter()
                .any(|word| !word.is_option() && !is_whole(word))
        }
        "restore" => git.has_short('s') || rest.iter().any(|word| word.text.starts_with("--so")),
        _ => false,
    };
    // What is brought back from what git keeps of it now, or put away, is judged as where all of it is.
    let is_whole = match command {
        "checkout" | "restore" => !from_elsewhere,
        "stash" => {
            let mut letters = ['a', 'u'].iter();
            let is_more =
                |word: &Word| word.text.starts_with("--a") || word.text.starts_with("--i");
            !letters.any(|letter| git.has_short(*letter)) && !rest.iter().any(is_more)
        }
        _ => false,
    };
    let is_of_whole = |word: &Word| is_whole && word.text.starts_with('*');
    let mut listing = Listing::of(git, false);
    let here = listing.here.clone();
    let prefix = here.strip_prefix(&listing.top).unwrap_or(Path::new(""));
    let is_path = |word: &&&Word| dashes.is_some() || !lines.is_empty() || !is_state(command, word);
    let specs: Vec<Spec> = words
        .iter()
        .filter(is_path)
        .filter(|word| !is_of_whole(word))
        .map(|word| Spec::of(word, prefix))
        .collect();
    // Narrowed to nothing here, it would list all.
    if specs.iter().all(|spec| spec.is_out)
        && (specs.is_empty() || words.iter().any(|word| is_of_whole(word)))
    {
        return None;
    }
    listing.specs = Some(specs);
    // What another state holds may be untracked now.
    listing.lists_tracked = !from_elsewhere;
    let top = listing.top.clone();
    let mut ways = git.guarded.below(&top).into_iter();
    ways.find_map(|way| {
        let hit = listing
            .lists(&way)
            .then(|| git.guarded.covers_word(&top.join(&way)))??;
        Some(hit)
    })
}

/// Whether `git clean` or `git rm` is told to only show what it would do, before any option that takes a value.
fn only_shows(rest: &[Word]) -> bool {
    let is_plain = |text: &str| {
        let letters = text.strip_prefix('-').unwrap_or_default();
        text == "--dry-run" || !letters.is_empty() && letters.chars().all(|c| "dfnqrxX".contains(c))
    };
    let mut options = rest.iter().take_while(|word| is_plain(&word.text));
    let is_taken_back = rest.iter().any(|word| word.text.starts_with("--no"));
    !is_taken_back && options.any(|word| word.text == "--dry-run" || word.text.contains('n'))
}

/// Whether the word behind this one is a message of `git stash`.
fn takes_message(command: &str, word: &Word) -> bool {
    let letters = word.text.strip_prefix('-').unwrap_or_default();
    let by_letter = !letters.starts_with('-') && letters.find('m') == letters.len().checked_sub(1);
    command == "stash" && (word.text == "--message" || !letters.is_empty() && by_letter)
}

/// Whether a word of `git checkout` names a state of the files by a search: no name of a state holds the signs of a pattern
/// otherwise.
fn is_state(command: &str, word: &Word) -> bool {
    let before = word.text.split(['*', '?', '[']).next().unwrap_or_default();
    command == "checkout" && (before.contains("^{") || before.contains("@{"))
}

/// Returns a path from the top of the working tree; none where it leads out of it.
fn below(prefix: &Path, path: &str) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for part in prefix.join(path).components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                names.pop()?;
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => return None,
        }
    }
    let slash = if path.ends_with('/') && !names.is_empty() {
        "/"
    } else {
        ""
    };
    Some(names.join("/") + slash)
}

/// What stands before the command of git.
#[derive(Debug, Default)]
struct Own<'a> {
    /// The folders into which it goes, one after the other.
    dirs: Vec<&'a str>,
}

impl<'a> Own<'a> {
    /// Reads the words before the command; none where they may turn git to other files.
    fn of(words: &'a [Word]) -> Option<Self> {
        let mut own = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-C" => own
                    .dirs
                    .push(words.next().filter(|dir| !dir.dynamic)?.text.as_str()),
                "-c" => {
                    let setting = words.next()?.text.to_lowercase();
                    let is_harmless = ["color.", "core.pager=", "core.quotepath="]
                        .iter()
                        .any(|start| setting.starts_with(start));
                    is_harmless.then_some(())?;
                }
                "-P" | "--no-pager" | "--no-optional-locks" => {}
                _ => return None,
            }
        }
        Some(own)
    }
}

/// What stands behind the command of git.
#[derive(Debug)]
struct Words<'a> {
    paths: Vec<&'a Word>,
    only_tracked: bool,
}

impl<'a> Words<'a> {
    /// Returns the paths to which a command is narrowed, if they can be told from its other words.
    fn of(git: &'a Invocation, command: &str, rest: &'a [Word], here: &Path) -> Option<Self> {
        let dashes = rest.iter().position(|word| word.text == "--");
        let (before, behind) = rest.split_at(dashes.unwrap_or(rest.len()));
        let behind = behind.iter().skip(1);
        let options = Options::among(git, before);
        let own = match command {
            "clean" | "ls-files" | "status" => 0,
            "grep" => usize::from(!options.has(&["-e", "-f"])),
            "ls-tree" => 1,
            _ => {
                let paths = if dashes.is_some() {
                    Vec::new()
                } else {
                    paths_among(before, here)
                };
                let only_paths = options.operands().len() == paths.len();
                return Some(Self {
                    only_tracked: command == "diff" && only_paths && options.are_only(CHANGED),
                    paths: paths.into_iter().chain(behind).collect(),
                });
            }
        };
        if !options.are_known() {
            return None;
        }
        let mut next = options.operands().into_iter().peekable();
        let mut is_operand =
            |word: &Word| next.next_if(|(text, _)| std::ptr::eq(*text, word.text.as_str()));
        let operands = before.iter().filter(|word| is_operand(word).is_some());
        let operands: Vec<&Word> = operands.skip(own).collect();
        // What is no path is another state of the files.
        let is_path = |word: &&Word| is_path(word, here);
        let has_tree = command == "grep"
            && (dashes.is_some() && !operands.is_empty() || !operands.iter().all(is_path));
        Some(Self {
            only_tracked: matches!(command, "grep" | "ls-files")
                && !has_tree
                && options.are_only(TRACKED),
            paths: if has_tree { Vec::new() } else { operands }
                .into_iter()
                .chain(behind)
                .collect(),
        })
    }
}

/// Whether a word is a path rather than a state of the files.
fn is_path(word: &Word, here: &Path) -> bool {
    word.text.contains('*') || word.text.starts_with([':', '.']) || here.join(&word.text).exists()
}

/// Returns the paths among words of which it is not known which of them are values of options.
fn paths_among<'a>(words: &'a [Word], here: &Path) -> Vec<&'a Word> {
    let mut before = "";
    let is_given = |word: &&'a Word| {
        let option = std::mem::replace(&mut before, word.text.as_str());
        // It may be the value of an option.
        let is_free = !option.starts_with('-') || option.contains('=') || FLAGS.contains(&option);
        !word.is_option() && is_free && (word.text.contains('*') || here.join(&word.text).exists())
    };
    words.iter().filter(is_given).collect()
}

/// Returns the words before the command of git, the command, and the words behind it.
pub(super) fn parts(git: &Invocation) -> (&[Word], &str, &[Word]) {
    let (own, rest) = git.around_subcommand();
    let name = git.subcommand().map_or("", |word| word.text.as_str());
    (own, name, rest)
}

/// Returns the words by which git is given files, or a text to print: not what it leaves out, and not what it looks for in
/// files of which it prints the names.
pub(super) fn named(git: &Invocation) -> Vec<&str> {
    let (own, command, rest) = parts(git);
    let options = Options::among(git, rest);
    let only_looks = command == "grep"
        && options.has(&[
            "-L",
            "-l",
            "--files-with-matches",
            "--files-without-match",
            "--name-only",
        ]);
    let pattern = only_looks
        .then(|| options.patterns().into_iter().next())
        .flatten();
    let given = options.given.iter().filter(|given| {
        let is_pattern = match given.name.as_str() {
            "" => given.value == pattern,
            "-e" => only_looks,
            "-x" | "--exclude" => true,
            _ => false,
        };
        let text = given.value.map_or("", |(text, _)| text);
        !is_pattern && !Spec::of(&Word::plain(text), Path::new("")).is_out
    });
    let texts = given.filter_map(|given| given.value).map(|(text, _)| text);
    own.iter()
        .map(|word| word.text.as_str())
        .chain(texts)
        .collect()
}
