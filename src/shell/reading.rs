//! Whether an invocation leaves the files that it is given as they are, by the table of programs.

use super::wrapper::takes_next;
use super::{Invocation, Word};
use crate::program;
use crate::program::{Fact, Program};

impl Invocation {
    /// Returns what is known of the program, or of its subcommand where that is known by itself.
    pub(crate) fn known(&self) -> Program {
        let known = program::find(&self.program);
        if self.program != "git" {
            return known;
        }
        match self.subcommand() {
            Some(name) => program::find_subcommand(&self.program, &name.text),
            None => known,
        }
    }

    /// Returns the first word that is neither an option of the program nor the value of one.
    pub(crate) fn subcommand(&self) -> Option<&Word> {
        let known = program::find(&self.program);
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            if !word.is_option() {
                return Some(word);
            }
            if takes_next(&word.text, |name| known.lists(Fact::Values, name)) {
                words.next();
            }
        }
        None
    }

    /// Whether the program is known to leave the files that it is given as they are, with the options that it has.
    pub(crate) fn only_reads(&self) -> bool {
        let known = self.known();
        let options = self.options(known);
        let is_given = |fact: Fact| self.gives(known, &options, fact);
        let only = |option: &String| {
            known.lists(Fact::Only, option)
                || option.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
        };
        let Some(most) = known.lines(Fact::Reads).next() else {
            return known.is(Fact::Text) && !is_given(Fact::Unless);
        };
        (!known.is(Fact::With) || is_given(Fact::With))
            && (!known.is(Fact::Only) || options.iter().all(only))
            && !is_given(Fact::Unless)
            && most
                .parse()
                .map_or(true, |most: usize| self.own_operands(known).count() <= most)
    }

    /// Whether the program changes what it finds in the folders that it is given, with the options that it has.
    pub(crate) fn sweeps(&self) -> bool {
        let known = self.known();
        let is_always = known.words(Fact::Sweeps).next().is_none();
        known.is(Fact::Sweeps)
            && (is_always || self.gives(known, &self.options(known), Fact::Sweeps))
    }

    /// Whether one of the options or words is there that a fact lists.
    fn gives(&self, known: Program, options: &[String], fact: Fact) -> bool {
        let has = |listed: &str| self.arguments.iter().any(|word| word.text == listed);
        known.words(fact).any(|listed| {
            options.iter().any(|option| abbreviates(option, listed))
                || (!listed.starts_with('-') && has(listed))
        })
    }

    /// Returns the operands without the values of options.
    pub(crate) fn own_operands(&self, known: Program) -> impl Iterator<Item = &Word> {
        let mut is_value = false;
        let mut is_rest = false;
        self.arguments.iter().filter(move |word| {
            let takes = |name: &str| known.lists(Fact::Values, name);
            if is_rest || std::mem::take(&mut is_value) {
                return is_rest;
            }
            is_rest = word.text == "--";
            is_value = word.is_option() && takes_next(&word.text, takes);
            !is_rest && !word.is_option()
        })
    }

    /// Returns the names of the options, each letter of a cluster by itself.
    fn options(&self, known: Program) -> Vec<String> {
        let mut options = Vec::new();
        let mut is_value = false;
        let is_listed = |name: &str| {
            [Fact::Only, Fact::Sweeps, Fact::Unless, Fact::With]
                .into_iter()
                .any(|fact| known.lists(fact, name))
        };
        for (at, word) in self.before_dashes().enumerate() {
            let text = word.text.as_str();
            if std::mem::take(&mut is_value) {
                continue;
            }
            let is_cluster = at == 0 && known.is(Fact::Cluster) && !text.starts_with('-');
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if text.starts_with("--") || is_listed(name) {
                options.push(name.to_owned());
                is_value = known.lists(Fact::Values, text);
            } else if word.is_option() || is_cluster {
                for letter in text.trim_start_matches('-').chars() {
                    let option = format!("-{letter}");
                    let takes = known.lists(Fact::Values, &option);
                    options.push(option);
                    if takes && !is_cluster {
                        is_value = text.ends_with(letter);
                        break;
                    }
                }
            } else if let Some((name, _)) = text.split_once('=') {
                // `dd of=file`
                if known.words(Fact::Only).any(|only| only.ends_with('=')) {
                    options.push(format!("{name}="));
                }
            }
        }
        options
    }
}

/// Whether an option is another, or may be an abbreviation of it.
fn abbreviates(option: &str, listed: &str) -> bool {
    option == listed
        || (listed.starts_with("--") && option.len() >= 3 && listed.starts_with(option))
}
