//! Invocation: one program that would run, with its words, redirections and input.

use crate::words::words;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

/// What stands for a line of a file that `read` takes: it may name any file.
pub(crate) const LINE_OF_FILE: &str = "{}";

/// One word of a command after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text; what is not known stands as it was written (`$NAME`, `$(date)`).
    pub text: String,
    /// Whether a part of it is known only when it runs.
    pub dynamic: bool,
    /// Whether the shell would match it against file names.
    pub glob: bool,
    /// Whether it stands for each of several files in turn: the variable of a loop, what a search finds.
    pub each: bool,
    /// Which invocations make its text, by index: those of a command or process substitution.
    pub made_by: Range<usize>,
}

impl Word {
    /// Makes a word that is fully known.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Makes what stands for any line that some invocations print.
    pub(super) fn any_line(made_by: Range<usize>) -> Self {
        Self {
            text: LINE_OF_FILE.to_owned(),
            dynamic: true,
            glob: true,
            each: true,
            made_by,
        }
    }

    /// Makes the same word with another text.
    pub(crate) fn with_text(&self, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..self.clone()
        }
    }

    /// Whether it is an option: `-x` or `--long`, but neither `-` nor `--`.
    pub fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-') && self.text != "--"
    }
}

/// One redirection of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The operator: `>`, `>>`, `<`, `&>`, …
    pub operator: String,
    /// The descriptor before the operator: 2 in `2>log`; none where none is written.
    pub descriptor: Option<i32>,
    /// The file, or the descriptor after `>&`.
    pub target: Word,
}

impl Redirect {
    /// Whether it opens its target for writing.
    pub fn writes(&self) -> bool {
        match self.operator.as_str() {
            ">" | ">>" | ">|" | "&>" | "&>>" | "<>" => true,
            ">&" => {
                self.target.text != "-" && !self.target.text.bytes().all(|b| b.is_ascii_digit())
            }
            _ => false,
        }
    }

    /// Whether what the command prints goes to its target, where nobody sees it: not `2>log`, not `>/dev/stderr`.
    pub fn takes_output(&self) -> bool {
        const SHOWN: &[&str] = words!("shown-outputs");
        self.writes()
            && self.descriptor.is_none_or(|descriptor| descriptor == 1)
            && !SHOWN.contains(&self.target.text.as_str())
    }

    /// Whether it opens its target for reading.
    pub fn reads(&self) -> bool {
        matches!(self.operator.as_str(), "<" | "<>")
    }
}

/// What a program would read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// What the shell itself reads.
    #[default]
    Inherited,
    /// A text that is known: a here-document, a here-string, the output of `echo`.
    Text(String),
    /// The output of other programs, known only when they run.
    Pipe,
    /// A file.
    File(Word),
}

impl Stdin {
    /// Returns the text, where it is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// One program that would run.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The program's name without its directory; empty where it cannot be told.
    pub program: String,
    /// The program as the command writes it.
    pub path: Word,
    /// The arguments after it, expanded and unquoted.
    pub arguments: Vec<Word>,
    /// Its redirections, those of an enclosing group or loop too.
    pub redirects: Vec<Redirect>,
    /// The variables set for it alone, `NAME=value` before the command.
    pub environment: Vec<(String, Word)>,
    /// The programs it came through, outermost first: `sudo`, `bash`, `xargs`.
    pub wrappers: Vec<String>,
    /// The directory it would run in; none where that is not known.
    pub work_dir: Option<PathBuf>,
    /// What it would read.
    pub stdin: Stdin,
    /// The invocations whose output it reads, by index.
    pub fed_by: Range<usize>,
    /// Whether it would run on another machine or in a container, where paths are not ours.
    pub remote: bool,
    /// Whether it is not a program of its own, but what inline code does, said as a command.
    pub emulated: bool,
    /// Whether it was found in a part that could not be parsed.
    pub uncertain: bool,
}

impl Invocation {
    /// Returns the texts of the arguments.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        self.arguments.iter().map(|word| word.text.as_str())
    }

    /// Whether one of these words is among the arguments.
    pub(crate) fn has_word(&self, words: &[&str]) -> bool {
        self.texts().any(|text| words.contains(&text))
    }

    /// Returns the arguments that are no options, in order; all of those after `--`.
    pub fn operands(&self) -> impl Iterator<Item = &Word> {
        let mut rest = false;
        self.arguments.iter().filter(move |word| {
            if rest {
                return true;
            }
            if word.text == "--" {
                rest = true;
                return false;
            }
            !word.is_option()
        })
    }

    /// Returns the arguments before `--`.
    pub fn before_dashes(&self) -> impl Iterator<Item = &Word> {
        self.arguments.iter().take_while(|w| w.text != "--")
    }

    /// Whether a short option is given, alone or in a cluster (`-rf`).
    pub fn has_short(&self, letter: char) -> bool {
        self.before_dashes().any(|w| {
            w.text
                .strip_prefix('-')
                .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
        })
    }

    /// Whether this is a shell that reads commands and runs none: `bash -n`. Interactive ones take no notice of it, and
    /// `+n` takes it back.
    pub(crate) fn only_parses(&self) -> bool {
        let mut options = self
            .arguments
            .iter()
            .take_while(|w| w.text.starts_with(['-', '+']));
        options.any(|w| w.text == "-n")
            && !self.arguments.iter().any(|w| w.text.starts_with('+'))
            && !self.has_short('i')
    }

    /// Whether one of these options is given: of one letter also in a cluster, a long one also abbreviated.
    pub(crate) fn has_any_option<'o>(&self, mut options: impl Iterator<Item = &'o str>) -> bool {
        options.any(|option| match option.strip_prefix('-').map(str::as_bytes) {
            Some([letter]) => self.has_short(char::from(*letter)),
            Some([b'-', ..]) => self.has_long(option),
            _ => self.has_word(&[option]),
        })
    }

    /// Whether a long option is given, with or without a value, or by an abbreviation that only it can mean.
    pub fn has_long(&self, name: &str) -> bool {
        self.before_dashes().any(|w| {
            let text = w.text.split_once('=').map_or(w.text.as_str(), |(n, _)| n);
            means_long(text, name)
        })
    }

    /// Returns the value of a long option, which may be abbreviated as [`has_long`](Self::has_long) knows it.
    pub(crate) fn value_of_long(&self, name: &str) -> Option<Word> {
        let mut words = self.before_dashes();
        while let Some(word) = words.next() {
            match word.text.split_once('=') {
                Some((text, value)) if means_long(text, name) => {
                    return Some(word.with_text(value));
                }
                None if means_long(&word.text, name) => return words.next().cloned(),
                _ => {}
            }
        }
        None
    }

    /// Returns the value of an option, as `-o value`, `-ovalue`, `--name value` or `--name=value`.
    pub fn value_of(&self, names: &[&str]) -> Option<Word> {
        self.values_of(names).next()
    }

    /// Returns all values of an option by any of its names, in order.
    pub(crate) fn values_of(&self, names: &[&str]) -> impl Iterator<Item = Word> {
        let mut words = self.arguments.iter();
        std::iter::from_fn(move || {
            while let Some(word) = words.next() {
                for name in names {
                    if word.text == *name {
                        return words.next().cloned();
                    }
                    if let Some(rest) = word.text.strip_prefix(name) {
                        let value = if name.starts_with("--") {
                            rest.strip_prefix('=')
                        } else {
                            Some(rest)
                        };
                        if let Some(value) = value {
                            return Some(word.with_text(value));
                        }
                    }
                }
            }
            None
        })
    }

    /// Returns the value of an option of one letter, which may stand behind others in a cluster; `takes` says which of those
    /// have a value of their own, so that nothing behind them is an option.
    pub(crate) fn value_of_letter(
        &self,
        letter: char,
        takes: impl Fn(char) -> bool,
    ) -> Option<Word> {
        let mut words = self.before_dashes();
        while let Some(word) = words.next() {
            let cluster = word.text.strip_prefix('-');
            let cluster = cluster.filter(|rest| !rest.starts_with('-'));
            let Some((before, behind)) = cluster.and_then(|rest| rest.split_once(letter)) else {
                continue;
            };
            if before.chars().any(&takes) {
                continue;
            }
            if behind.is_empty() {
                return words.next().cloned();
            }
            return Some(word.with_text(behind));
        }
        None
    }

    /// Whether it came through one of these programs.
    pub fn through(&self, names: &[&str]) -> bool {
        self.wrappers.iter().any(|w| names.contains(&w.as_str()))
    }

    /// Returns the command as one line, for messages.
    pub fn display(&self) -> String {
        let mut line = if self.program.is_empty() {
            self.path.text.clone()
        } else {
            self.program.clone()
        };
        for word in &self.arguments {
            line.push(' ');
            if word.text.is_empty() || word.text.contains([' ', '\t', '\n']) {
                line.push('\'');
                line.push_str(&word.text.replace('\n', "\\n"));
                line.push('\'');
            } else {
                line.push_str(&word.text);
            }
        }
        for redirect in &self.redirects {
            line.push(' ');
            if let Some(descriptor) = redirect.descriptor {
                line.push_str(&descriptor.to_string());
            }
            line.push_str(&redirect.operator);
            line.push_str(&redirect.target.text);
        }
        if line.len() > 160 {
            let cut = (0..=157)
                .rev()
                .find(|&i| line.is_char_boundary(i))
                .unwrap_or(0);
            line.truncate(cut);
            line.push('…');
        }
        line
    }
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of the file of a program.
pub(super) fn base_name(path: &str) -> &str {
    let name = file_name(path);
    let name = name.rsplit('\\').next().unwrap_or(name);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Returns the name of a program: in capitals alone it is the same one where file systems do not tell case apart, and so
/// is a cmdlet (`Remove-Item`) in any case.
pub(crate) fn program_name(path: &str) -> String {
    // A runner of packages takes a version behind the name: `npx supabase@latest`.
    let name = match base_name(path).split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => base_name(path),
    };
    let is_shouted = name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase());
    let is_cmdlet = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains('-');
    if is_shouted || is_cmdlet {
        name.to_ascii_lowercase()
    } else {
        name.to_owned()
    }
}

/// Returns texts without repetitions, in order of first appearance.
pub(super) fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// Whether a text is a long option, or an abbreviation that only it can mean.
fn means_long(text: &str, name: &str) -> bool {
    text == name
        || (text.len() >= 5
            && text.starts_with("--")
            // `--force` is an option of its own, no abbreviation of `--force-with-lease`.
            && name.strip_prefix(text).is_some_and(|rest| !rest.starts_with('-')))
}
