//! Search: which files `grep`, `rg` and `fd` list when they go through folders. What cannot be told they list.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::file;
use super::filter::{meets_any, wild};
use super::options::{Given, INSTEAD_OF_PATTERN, Options, is_grep};
use crate::shell::{Invocation, Word, glob_of};
use crate::words::words;

/// The longest file in which is looked for what a search looks for, in bytes.
const MOST_LOOKED_AT: u64 = 1 << 20;

/// Options with which a search for a plain text finds no file that does not hold it, besides `-E` of `grep`.
const PLAIN: &[&str] = words!("plain-search-options");

/// Whether a search goes into folders that begin with a dot.
pub(crate) fn goes_into_hidden(search: &Invocation) -> bool {
    let options = Options::of(search);
    if is_grep(&search.program) {
        let recurses = ["-r", "-R", "--recursive", "--dereference-recursive"];
        let mut directories = options.values(&["-d", "--directories"]).into_iter();
        return options.has(&recurses)
            || directories.any(|(value, _)| !matches!(value, "read" | "skip"));
    }
    let shows = ["-.", "-H", "-u", "--hidden", "--unrestricted"];
    // A glob that a hidden file fits shows it.
    let mut globs = options.values(&["-g", "--glob", "--iglob"]).into_iter();
    let is_shown = search.program == "rg" && globs.any(|(glob, _)| !glob.starts_with('!'));
    options.has(&shows) || is_shown || !options.are_known()
}

/// Whether a program that was sent into a folder lists a file, given by its way from there, and where it lies.
pub(crate) fn lists(lister: &Invocation, root: &str, way: &Path, path: &Path) -> bool {
    let options = Options::of(lister);
    if !options.are_known() {
        return true;
    }
    match lister.program.as_str() {
        "rg" => by_rg(&options, root, way) && holds(lister, &options, path),
        program if is_grep(program) => by_grep(&options, way) && holds(lister, &options, path),
        _ => true,
    }
}

fn by_grep(grep: &Options<'_>, way: &Path) -> bool {
    let name = name_of(way);
    let fits = |value: Option<(&str, bool)>, name: &str| {
        let (pattern, _) = value.filter(|(_, is_dynamic)| !is_dynamic)?;
        wild(pattern.trim_end_matches('/'), name, false)
    };
    let is_in_left_out = grep.named(&["--exclude-dir"]).any(|given| {
        let mut folders = way.iter().rev().skip(1);
        folders.any(|folder| fits(given.value, &folder.to_string_lossy()) == Some(true))
    });
    // The last one that fits decides; where none does, the first says what is usual.
    let told: Vec<_> = grep.named(&["--include", "--exclude"]).collect();
    let is_in = |name: &str| name == "--include";
    let is_usual = told.first().is_none_or(|given| !is_in(&given.name));
    let decides = told
        .into_iter()
        .rfind(|given| fits(given.value, &name).unwrap_or(is_in(&given.name)));
    !is_in_left_out && decides.map_or(is_usual, |given| is_in(&given.name))
}

fn by_rg(rg: &Options<'_>, root: &str, way: &Path) -> bool {
    let folds_all = rg.has(&["--glob-case-insensitive"]);
    let globs: Vec<_> = rg.named(&["-g", "--glob", "--iglob"]).collect();
    let is_positive =
        |given: &&Given<'_>| given.value.is_none_or(|(glob, _)| !glob.starts_with('!'));
    let has_positive = globs.iter().any(is_positive);
    // The last one that fits decides, and before every kind.
    let told = |way: &Path| {
        globs.iter().rev().find_map(|given| {
            let (glob, is_dynamic) = given.value?;
            let folds = folds_all || given.name == "--iglob";
            let (is_out, glob) = match glob.strip_prefix('!') {
                Some(out) => (true, out),
                None => (false, glob),
            };
            let fits = (!is_dynamic)
                .then(|| fits(glob, root, way, folds))
                .flatten();
            (fits.unwrap_or(!is_out)).then_some(!is_out)
        })
    };
    let is_hidden = |way: &Path| name_of(way).starts_with('.');
    let shows_hidden = rg.has(&["-.", "-u", "--hidden", "--unrestricted"]);
    let mut folders = way
        .ancestors()
        .filter(|folder| !folder.as_os_str().is_empty());
    if folders.any(|folder| !shows_hidden && is_hidden(folder) && told(folder) != Some(true)) {
        return false;
    }
    if let Some(told) = told(way) {
        return told;
    }
    if has_positive {
        return false;
    }
    let kinds = rg.values(&["-t", "--type"]);
    let ending = way.extension().map(|e| e.to_string_lossy().to_lowercase());
    let makes_kinds = rg.has(&["--type-add", "--type-clear"]);
    // The kinds of files that have to do with what is guarded, as `rg` calls them, with their endings.
    let known = words!("rg-kinds", lines).iter().map(|line| line.split(' '));
    let endings_of = |kind: &str| {
        known
            .clone()
            .find_map(|mut words| (words.next() == Some(kind)).then_some(words))
    };
    let may_be = |(kind, is_dynamic): &(&str, bool)| {
        let endings = endings_of(kind).filter(|_| !is_dynamic && !makes_kinds);
        endings.is_none_or(|mut endings| {
            ending
                .as_deref()
                .is_some_and(|e| endings.any(|one| one == e))
        })
    };
    kinds.is_empty() || kinds.iter().any(may_be)
}

/// Whether a glob of `rg` or `fd` fits a file, or a folder on the way to it; none where that cannot be told.
fn fits(glob: &str, root: &str, way: &Path, folds: bool) -> Option<bool> {
    // It would turn the answer round.
    if glob.starts_with('!') {
        return None;
    }
    let (glob, is_folder) = match glob.strip_suffix('/') {
        Some(bare) => (bare, true),
        None => (glob, false),
    };
    let case = |text: &str| {
        if folds {
            text.to_lowercase()
        } else {
            text.to_owned()
        }
    };
    let pattern = case(glob.trim_start_matches('/'));
    let matches = |text: &str| fast_glob::glob_match(pattern.as_str(), case(text).as_str());
    let mut folders = way
        .ancestors()
        .skip(usize::from(is_folder))
        .filter(|folder| !folder.as_os_str().is_empty());
    if !glob.contains('/') {
        return Some(folders.any(|folder| matches(&name_of(folder))));
    }
    // One with a slash is read from where the program stands.
    let mut here = PathBuf::new();
    for part in Path::new(root).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => here.push(name),
            _ => return None,
        }
    }
    Some(folders.any(|folder| matches(&here.join(folder).to_string_lossy())))
}

/// Whether a file may hold what is looked for: a plain text can be looked for here as well.
pub(crate) fn holds(search: &Invocation, options: &Options<'_>, path: &Path) -> bool {
    let is_plain = |(text, is_dynamic): &(&str, bool)| {
        let plain = |c: char| c.is_alphanumeric() || " _-/:=,'\"<>".contains(c);
        !is_dynamic && !text.is_empty() && text.chars().all(plain)
    };
    let is_git = search.program == "git";
    let patterns = options.patterns();
    // Before the pattern stands the subcommand of git.
    let patterns = if is_git && !options.has(INSTEAD_OF_PATTERN) {
        options.operands().into_iter().skip(1).take(1).collect()
    } else {
        patterns
    };
    let is_listing = options.has(&["-l", "--files-with-matches"]);
    let is_readable = match search.program.as_str() {
        "git" => options.are_only(&[PLAIN, &["-E", "-z", "--name-only"]].concat()),
        program if is_grep(program) => options.are_only(&[PLAIN, &["-E"]].concat()),
        _ => options.are_only(PLAIN),
    };
    if !is_listing || !is_readable || patterns.is_empty() {
        return true;
    }
    // Of a longer one only a part would be read.
    let is_short = fs::metadata(path).is_ok_and(|found| found.len() < MOST_LOOKED_AT);
    let Some(text) = is_short.then(|| file::read(path)).flatten() else {
        return true;
    };
    if patterns.iter().all(is_plain) {
        let text = text.to_lowercase();
        return patterns
            .iter()
            .any(|(pattern, _)| text.contains(&pattern.to_lowercase()));
    }
    // A setting may say which syntax git reads where no option does, and only these signs mean the same in each but one.
    let means_one =
        |(pattern, _): &(&str, bool)| !pattern.contains(['(', ')', '{', '}', '|', '+', '?']);
    let says_syntax = options.has(&["-E", "-F", "-G", "-P"]);
    let is_told = !is_git || says_syntax || patterns.iter().all(means_one);
    let is_literal = |(pattern, _): &(&str, bool)| is_git && !says_syntax && text.contains(pattern);
    !is_told || patterns.iter().any(is_literal) || meets_any(search, text.lines()) != Some(false)
}

/// A `fd`: where it is sent, and what it finds there.
#[derive(Debug)]
pub(crate) struct Fd<'a> {
    options: Options<'a>,
    /// The folder that it makes its own first.
    pub(crate) base: Option<&'a str>,
    pub(crate) roots: Vec<&'a str>,
    names: Vec<String>,
}

impl<'a> Fd<'a> {
    pub(crate) fn of(fd: &'a Invocation) -> Self {
        let options = Options::among(fd, own_words(fd));
        let text = |(text, _): (&'a str, bool)| text;
        let mut operands = options.operands().into_iter();
        let pattern = operands.next().unwrap_or_default();
        let mut roots: Vec<&str> = options
            .values(&["--search-path"])
            .into_iter()
            .map(text)
            .collect();
        roots.extend(operands.map(text));
        let extensions = options.values(&["-e", "--extension"]).into_iter();
        let mut names: Vec<String> = extensions
            .map(|(extension, is_dynamic)| {
                let extension = if is_dynamic {
                    "*"
                } else {
                    extension.trim_start_matches('.')
                };
                format!("*.{}", extension.to_lowercase())
            })
            .collect();
        if names.is_empty() {
            names.push(match pattern {
                (_, true) => "*".to_owned(),
                (glob, _) if options.has(&["-g", "--glob"]) => glob.to_lowercase(),
                (pattern, _) => glob_of(&pattern.to_lowercase()),
            });
        }
        Self {
            base: options.values(&["--base-directory"]).pop().map(text),
            roots,
            names,
            options,
        }
    }

    /// Whether it finds a file, given by its way from a folder into which it is sent.
    pub(crate) fn finds(&self, root: &str, way: &Path) -> bool {
        if !self.options.are_known() {
            return true;
        }
        let name = name_of(way).to_lowercase();
        let is_whole = self.options.has(&["-p", "--full-path"]);
        let is_named = |glob: &String| {
            is_whole || glob.is_empty() || fast_glob::glob_match(glob.as_str(), name.as_str())
        };
        let is_out = |(glob, is_dynamic): (&str, bool)| {
            !is_dynamic && fits(glob, root, way, false) == Some(true)
        };
        let mut out = self.options.values(&["-E", "--exclude"]).into_iter();
        self.names.iter().any(is_named) && !out.any(is_out)
    }
}

/// Returns the words of a `fd` without those of the programs that it starts.
pub(crate) fn own_words(fd: &Invocation) -> impl Iterator<Item = &Word> {
    let mut is_command = false;
    fd.arguments
        .iter()
        .filter(move |word| match word.text.as_str() {
            ";" if is_command => {
                is_command = false;
                false
            }
            "-x" | "-X" | "--exec" | "--exec-batch" => {
                is_command = true;
                false
            }
            _ => !is_command,
        })
}

fn name_of(way: &Path) -> String {
    way.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
