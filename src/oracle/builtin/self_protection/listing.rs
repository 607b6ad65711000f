//! Listing: which files git lists, by the paths to which a command of it is narrowed, and by what it keeps a list of. What
//! cannot be told it lists.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use super::index::Index;
use super::judged::Judged;
use super::pathspec::Spec;
use crate::search::{Options, holds};
use crate::shell::{Invocation, Word, lexical};
use crate::words::words;

/// Options of git without a value of their own, behind which a path may stand.
const FLAGS: &[&str] = words!("git-flags");

/// Options with which `ls-files` and `grep` list files that git tracks, and no others.
const TRACKED: &[&str] = words!("git-tracked");

/// Options with which `diff` lists changes of files that git tracks, where it is told of no other state.
const CHANGED: &[&str] = words!("git-changed");

/// Options with which `ls-files` lists files that are no longer there.
const DELETED: &[&str] = &["-d", "--deleted"];

/// Words with which `diff` lists them and nothing else.
const LISTS_DELETED: &[&str] = &["--diff-filter=D", "--name-only", "-z"];

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
    pub(super) specs: Option<Vec<Spec>>,
    /// Whether it lists only what git tracks now.
    pub(super) lists_tracked: bool,
    /// Whether it lists only files that are no longer there.
    lists_deleted: bool,
    index: OnceCell<Option<Index>>,
}

impl<'a> Listing<'a> {
    /// Reads a command. One that is steered by variables may list anything.
    pub(super) fn of(git: &'a Judged<'_>, is_steered: bool) -> Self {
        let (own, command, rest) = parts(git);
        let own = folders(own).filter(|_| !is_steered);
        let here = git.path_of(".");
        let dirs = own.iter().flatten();
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
            // In another folder the same names are other files.
            lists_deleted: here == top
                && here == git.guarded.root()
                && words.as_ref().is_some_and(|words| words.only_deleted),
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
        let is_there = || self.top.join(way).symlink_metadata().is_ok();
        let is_hidden = way.starts_with(".git") || self.lists_deleted && is_there();
        is_in
            && !is_hidden
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

/// Returns the folders into which git goes by the words before its command, one after the other; none where these may turn it
/// to other files.
fn folders(words: &[Word]) -> Option<Vec<&str>> {
    let mut dirs = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-C" => dirs.push(words.next().filter(|dir| !dir.dynamic)?.text.as_str()),
            "-c" => {
                let setting = words.next()?.text.to_lowercase();
                let mut harmless = ["color.", "core.pager=", "core.quotepath="].into_iter();
                harmless.find(|start| setting.starts_with(start))?;
            }
            "-P" | "--no-pager" | "--no-optional-locks" => {}
            _ => return None,
        }
    }
    Some(dirs)
}

/// What stands behind the command of git.
#[derive(Debug)]
struct Words<'a> {
    paths: Vec<&'a Word>,
    only_tracked: bool,
    only_deleted: bool,
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
                    // Another filter adds to it, and `-R`, `--relative` and the like turn what it lists.
                    only_deleted: command == "diff"
                        && before
                            .iter()
                            .filter(|w| w.text == "--diff-filter=D")
                            .count()
                            == 1
                        && before
                            .iter()
                            .all(|word| LISTS_DELETED.contains(&&*word.text)),
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
            only_deleted: command == "ls-files"
                && options.has(DELETED)
                && options.are_only(&[DELETED, &["-z"]].concat()),
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
    let only_looks = command == "grep" && options.has(words!("git-grep-name-options"));
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
