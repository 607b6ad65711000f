//! Programs that run other programs: how their own words end and the inner command begins.

use super::Word;
use crate::program::{self, Fact};

/// How a program's arguments hold another command: a line `runs` of the table of programs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wrapper {
    /// What becomes of the words after its own.
    pub(super) rest: Rest,
    /// The subcommands that lead to it, by commas.
    after: &'static str,
    /// The subcommands that run nothing, by commas.
    except: &'static str,
    /// The options that take the next word as their value, by commas.
    values: &'static str,
    /// The options that take the next two words, by commas.
    pairs: &'static str,
    /// The options behind which the inner command stands as behind `--`, by commas.
    behind: &'static str,
    /// The option whose value is the program; where it is not given, nothing is run.
    pub(super) by: &'static str,
    /// Whether a word of its own names the package whose program gets the words.
    pub(super) package: bool,
    /// How many words of its own stand before the inner command.
    pub(super) own: usize,
    /// Whether `NAME=value` may stand before the inner command.
    pub(super) assignments: bool,
    /// Whether it runs on another machine or in a container.
    pub(super) remote: bool,
    /// Whether it opens a shell where it is given no command, which then reads its input.
    pub(super) opens_shell: bool,
}

/// What the words after a wrapper's own are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// A command and its arguments.
    #[default]
    Command,
    /// Words that are joined and given to a shell.
    Text,
    /// Words each of which is given to a shell.
    Texts,
    /// A command, but only after `--`.
    AfterDashes,
}

impl Wrapper {
    fn read(line: &'static str) -> Self {
        let mut wrapper = Self::default();
        for word in line.split_ascii_whitespace() {
            match word.split_once('=') {
                Some(("after", words)) => wrapper.after = words,
                Some(("except", words)) => wrapper.except = words,
                Some(("behind", options)) => wrapper.behind = options,
                Some(("by", option)) => wrapper.by = option,
                Some(("values", options)) => wrapper.values = options,
                Some(("pairs", options)) => wrapper.pairs = options,
                Some((_, own)) => wrapper.own = own.parse().unwrap_or_default(),
                None => match word {
                    "text" => wrapper.rest = Rest::Text,
                    "texts" => wrapper.rest = Rest::Texts,
                    "after-dashes" => wrapper.rest = Rest::AfterDashes,
                    "assignments" => wrapper.assignments = true,
                    "away" => wrapper.remote = true,
                    "opens" => wrapper.opens_shell = true,
                    "package" => wrapper.package = true,
                    _ => {}
                },
            }
        }
        wrapper
    }

    /// Returns the subcommands that lead to it.
    pub(super) fn subcommands(&self) -> impl Iterator<Item = &'static str> {
        self.after.split(',').filter(|word| !word.is_empty())
    }

    /// Whether the inner command stands behind this word.
    pub(super) fn ends_at(&self, word: &str) -> bool {
        word == "--" || self.behind.split(',').any(|option| option == word)
    }

    /// Returns the program of the package that one of its own words names: `git` of `nixpkgs#git`.
    pub(super) fn packaged<'w>(&self, own: &'w [Word]) -> Option<&'w str> {
        let mut names = own.iter().filter_map(|word| word.text.split_once('#'));
        let (_, name) = names.find(|_| self.package)?;
        name.rsplit('.').next()
    }

    /// Whether one of its own options takes the next word as its value.
    fn takes_value(&self, option: &str) -> bool {
        let takes = |name: &str| self.values.split(',').any(|value| value == name);
        // Those of PowerShell have one dash and a long name.
        takes(option) || takes_next(option, takes)
    }

    /// Returns how many words one of its own options is, with its values.
    pub(super) fn length(&self, option: &str) -> usize {
        if self.pairs.split(',').any(|pair| pair == option) {
            return 3;
        }
        1 + usize::from(self.takes_value(option))
    }

    /// Returns the client that a container of an image runs, whatever its words.
    pub(super) fn client_of_image(&self, image: &str) -> Option<&'static str> {
        let name = image.rsplit('/').next()?;
        let name = name.split([':', '@']).next()?;
        let starts_container = self.remote && self.after == "run";
        starts_container
            .then(|| {
                program::find_subcommand("image", name)
                    .words(Fact::Starts)
                    .next()
            })
            .flatten()
    }
}

/// Finds how a program runs another.
pub(super) fn find(program: &str, arguments: &[Word]) -> Option<Wrapper> {
    let lines = program::find(program).lines(Fact::Runs);
    lines.map(Wrapper::read).find(|wrapper| {
        let mut at = 0;
        while arguments.get(at).is_some_and(Word::is_option) {
            at += wrapper.length(arguments.get(at).map_or("", |word| &word.text));
        }
        let first = arguments.get(at);
        let is_except = |word: &Word| wrapper.except.split(',').any(|name| name == word.text);
        if first.is_some_and(is_except) {
            return false;
        }
        let mut own = arguments.iter().filter(|a| !a.is_option());
        let mut at_once = arguments.iter();
        wrapper.subcommands().enumerate().all(|(i, wanted)| {
            // A global option may stand before the subcommand, its value may not be told from it.
            let exact = at_once.next().is_some_and(|word| word.text == wanted);
            let loose = own.next().is_some_and(|word| word.text == wanted);
            exact || loose || (i == 0 && arguments.iter().take(6).any(|a| a.text == wanted))
        })
    })
}

/// Whether an option takes the next word as its value, where it is known of each name whether it takes one.
pub(super) fn takes_next(option: &str, takes: impl Fn(&str) -> bool) -> bool {
    if option.starts_with("--") {
        return !option.contains('=') && takes(option);
    }
    let letters = option.get(1..).unwrap_or_default();
    let taker = letters.char_indices().find(|(_, letter)| {
        let mut name = [b'-'; 5];
        let length = letter.encode_utf8(&mut name[1..]).len();
        std::str::from_utf8(name.get(..=length).unwrap_or_default()).is_ok_and(&takes)
    });
    taker.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

/// Returns the values of an option that may end a cluster: `-c code`, `-Bc code`, `-e code`.
pub(super) fn values_of_cluster(arguments: &[Word], option: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if text == "--" {
            break;
        }
        let ends_cluster = option.len() == 2
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.len() <= 6
            && option.chars().nth(1).is_some_and(|c| text.ends_with(c));
        if text == option || ends_cluster {
            found.extend(words.next().cloned());
        } else if let Some(value) = text
            .strip_prefix(option)
            .filter(|_| option.len() == 2 && text.len() > 8)
        {
            found.push(Word::plain(value));
        } else if let Some(value) = text.strip_prefix(option).and_then(|v| v.strip_prefix('=')) {
            found.push(Word::plain(value));
        }
    }
    found
}
