//! Whether an invocation leaves the files that it is given as they are, by the table of programs.

use super::invocation::program_name;
use super::wrapper::takes_next;
use super::{Invocation, Word};
use crate::program::{self, Fact, Program};

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
            let takes =
                |name: &str| known.lists(Fact::Values, name) || known.lists(Fact::WorksIn, name);
            if takes_next(&word.text, takes) {
                words.next();
            }
        }
        None
    }

    /// Returns the words before the subcommand, and those behind it.
    pub(crate) fn around_subcommand(&self) -> (&[Word], &[Word]) {
        let words = self.arguments.as_slice();
        let subcommand = self.subcommand();
        let is_it =
            |word: &Word| subcommand.is_some_and(|subcommand| std::ptr::eq(word, subcommand));
        let at = words.iter().position(is_it).unwrap_or(words.len());
        let (own, rest) = words.split_at(at);
        (own, rest.get(1..).unwrap_or_default())
    }

    /// Whether the program is known to leave the files that it is given as they are, with the options that it has.
    pub(crate) fn only_reads(&self) -> bool {
        self.reads_but_for(&[Fact::Unless, Fact::Output, Fact::RunsValues])
    }

    /// Whether the program only reads, with none of the options and words that some facts list.
    fn reads_but_for(&self, facts: &[Fact]) -> bool {
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
        !self.runs_by_setting()
            && (!known.is(Fact::With) || is_given(Fact::With))
            && (!known.is(Fact::Only) || options.iter().all(only))
            && !facts.iter().any(|fact| is_given(*fact))
            && most
                .parse()
                .map_or(true, |most: usize| self.own_operands(known).count() <= most)
    }

    /// Whether a copying program only tells what it would do.
    pub(crate) fn only_tries(&self) -> bool {
        let is_told = || self.has_short('n') || self.has_long("--dry-run");
        self.program == "rsync" && is_told() && self.only_reads()
    }

    /// Whether the program reads the files that it is given, and writes no others than the options say that are there for it.
    pub(crate) fn only_reads_inputs(&self) -> bool {
        let known = self.known();
        if !known.is(Fact::Output) || !known.is(Fact::Reads) {
            return false;
        }
        let given = self.options(known);
        let means_output = |option: &&String| {
            let mut listed = known.words(Fact::Output);
            listed.any(|listed| abbreviates(option, listed))
        };
        let mut outputs = given.iter().filter(means_output).peekable();
        // What is told in another way than its value is found may be any file.
        let is_found = |option: &String| {
            let values: Vec<Word> = self.values_of(&[option]).collect();
            let count = given.iter().filter(|given| *given == option).count();
            known.lists(Fact::Output, option)
                && values.len() == count
                && !values
                    .iter()
                    .any(|word| word.dynamic || word.glob || word.each)
        };
        outputs.peek().is_some()
            && outputs.all(is_found)
            && self.reads_but_for(&[Fact::Unless, Fact::RunsValues])
    }

    /// Whether git is given a setting by which it runs a program, or takes more settings.
    fn runs_by_setting(&self) -> bool {
        let own = self.arguments.windows(2).take_while(|pair| {
            pair.first().is_some_and(Word::is_option)
                || pair.get(1).is_some_and(|word| word.text.contains('='))
        });
        let mut pairs = own.filter(|_| self.program == "git");
        pairs.any(|pair| match pair {
            [option, setting] if option.text == "-c" => {
                let (name, value) = setting.text.split_once('=').unwrap_or((&setting.text, ""));
                name.starts_with("include") || (is_run_setting(name) && !is_reader(value))
            }
            [option, _] => option.text.starts_with("--config-env"),
            _ => false,
        })
    }

    /// Whether the program changes what it finds in the folders that it is given, with the options that it has.
    pub(crate) fn sweeps(&self) -> bool {
        let known = self.known();
        let is_always = known.words(Fact::Sweeps).next().is_none();
        known.is(Fact::Sweeps)
            && (is_always || self.gives(known, &self.options(known), Fact::Sweeps))
    }

    /// Whether an archiver takes an archive apart with the options that it has.
    pub(crate) fn unpacks(&self, known: Program) -> bool {
        if known.is(Fact::UnpacksWith) {
            return self.gives(known, &self.options(known), Fact::UnpacksWith);
        }
        known.is(Fact::Unpacks) && !self.only_reads()
    }

    /// Returns the folders that the options of a fact name, or else the one where the program stands.
    pub(crate) fn folders(&self, known: Program, fact: Fact) -> Vec<Word> {
        let options = known.words(fact).filter(|word| word.starts_with('-'));
        let takes = |letter| known.lists(Fact::Values, &format!("-{letter}"));
        let named = options.filter_map(|option| {
            let letter = option.strip_prefix('-')?;
            let letter = letter
                .chars()
                .next()
                .filter(|_| letter.chars().count() == 1);
            let in_cluster = || self.value_of_letter(letter?, takes);
            self.value_of(&[option]).or_else(in_cluster)
        });
        let mut folders: Vec<Word> = named.collect();
        if fact == Fact::Unpacks && known.lists(fact, "last") {
            folders.extend(self.own_operands(known).skip(1).last().cloned());
        }
        if folders.is_empty() {
            folders.push(Word::plain("."));
        }
        folders
    }

    /// Whether what comes keeps none of the names that the words say.
    pub(crate) fn brings_unnamed(&self, known: Program) -> bool {
        self.gives(known, &self.options(known), Fact::Unnamed)
    }

    /// Whether one of the options or words is there that a fact lists, and `only` does not.
    fn gives(&self, known: Program, options: &[String], fact: Fact) -> bool {
        let has = |listed: &str| {
            let mut words = self.texts();
            match listed.strip_suffix('*') {
                Some(start) => words.any(|word| word.starts_with(start)),
                None => words.any(|word| word == listed),
            }
        };
        known.words(fact).any(|listed| {
            let is_option = |option: &String| {
                abbreviates(option, listed) && (option == listed || !self.knows_flag(known, option))
            };
            let writes = matches!(fact, Fact::Output | Fact::RunsValues);
            let is_kept = writes && known.lists(Fact::Only, listed);
            !is_kept && (options.iter().any(is_option) || (!listed.starts_with('-') && has(listed)))
        })
    }

    /// Whether an option is one of which it is known that it neither writes nor runs anything, whatever its value.
    fn knows_flag(&self, known: Program, option: &str) -> bool {
        let lists = |program: Program, fact: Fact| program.lists(fact, option);
        let flags = [Fact::Flags, Fact::Values, Fact::Only, Fact::With];
        flags.into_iter().any(|fact| lists(known, fact))
            || lists(program::find(&self.program), Fact::Flags)
            || lists(program::find("*"), Fact::Flags)
    }

    /// Returns the words that a program which else only reads is given as the value of an option that the table does not
    /// know: with the option, `--name=value`, or behind it.
    pub(crate) fn unknown_values(&self) -> impl Iterator<Item = &Word> {
        let known = self.known();
        let is_open = known.is(Fact::Reads) && !known.is(Fact::Only);
        let mut before: Option<&Word> = None;
        self.before_dashes().filter(move |word| {
            let option = before.replace(word).filter(|before| before.is_option());
            let attached = word.is_option() && !self.knows_option(known, &word.text);
            let behind = option.is_some_and(|option| {
                !option.text.contains('=') && !self.knows_option(known, &option.text)
            });
            is_open && (attached || (behind && !word.is_option()))
        })
    }

    /// Whether an option is known, with or without its value; a cluster is where all its letters are.
    pub(crate) fn knows_option(&self, known: Program, text: &str) -> bool {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if self.knows_flag(known, name) {
            return true;
        }
        let letters = known.lines(Fact::Letters).next().unwrap_or_default();
        let is_letter = |letter: &char| {
            (letters == "*" && letter.is_ascii_alphanumeric()) || letters.contains(*letter)
        };
        let Some(cluster) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
            return false;
        };
        // A value may stand behind the last letter.
        let mut own = cluster.chars();
        own.next().is_some_and(|first| is_letter(&first))
            && own
                .take_while(char::is_ascii_alphabetic)
                .all(|letter| is_letter(&letter))
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
            [
                Fact::Flags,
                Fact::Only,
                Fact::Output,
                Fact::RunsValues,
                Fact::Sweeps,
                Fact::Unless,
                Fact::With,
            ]
            .into_iter()
            .any(|fact| known.lists(fact, name))
        };
        let is_view = self.program == "view";
        for (at, word) in self.before_dashes().enumerate() {
            let text = word.text.as_str();
            if std::mem::take(&mut is_value) {
                continue;
            }
            let next = || self.arguments.get(at + 1).map_or("", |word| &*word.text);
            if is_view && only_shows(text, next()) {
                is_value = true;
                continue;
            }
            let is_cluster = at == 0 && known.is(Fact::Cluster) && !text.starts_with('-');
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if text.starts_with("--") || is_listed(name) {
                options.push(name.to_owned());
                is_value = known.lists(Fact::Values, text);
            } else if word.is_option() || is_cluster {
                // What is neither letter nor digit begins a value.
                let letters = text.trim_start_matches('-').chars().enumerate();
                let own = letters.take_while(|(nth, c)| *nth == 0 || c.is_alphanumeric());
                for (_, letter) in own {
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

/// Whether an editor that shows files is given a command that shows some of it or ends it, or is told to take no settings.
fn only_shows(option: &str, value: &str) -> bool {
    let lines = value.trim_start_matches(|c: char| c.is_ascii_digit() || "%,$.".contains(c));
    let shows = matches!(lines, "p" | "print" | "nu" | "number" | "#" | "l" | "list");
    let ends = matches!(
        value,
        "q" | "q!" | "qa" | "qa!" | "qall" | "qall!" | "quit" | "quit!"
    );
    match option {
        "-c" => shows || ends,
        "-u" | "-U" => value == "NONE",
        _ => false,
    }
}

/// Whether git runs the value of a setting.
pub(super) fn is_run_setting(name: &str) -> bool {
    let is_driver = [
        ("filter.", ".clean"),
        ("filter.", ".smudge"),
        ("filter.", ".process"),
        ("diff.", ".command"),
        ("diff.", ".textconv"),
        ("merge.", ".driver"),
        ("mergetool.", ".cmd"),
        ("difftool.", ".cmd"),
        ("pager.", ""),
    ]
    .iter()
    .any(|(start, end)| name.starts_with(start) && name.ends_with(end));
    is_driver || program::find("git").lists(Fact::RunsSettings, name)
}

/// Whether a command is a program that only reads, with nothing around it; no command is as good.
pub(crate) fn is_reader(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace();
    let Some(first) = words.next() else {
        return true;
    };
    let invocation = Invocation {
        program: program_name(first),
        arguments: words.map(Word::plain).collect(),
        ..Invocation::default()
    };
    let is_found =
        first == invocation.program || first.starts_with("/usr/") || first.starts_with("/bin/");
    is_found && !command.contains(|c: char| "$`;|&<>()\n".contains(c)) && invocation.only_reads()
}

/// Whether an option is another, or may be an abbreviation of it.
fn abbreviates(option: &str, listed: &str) -> bool {
    option == listed
        || (listed.starts_with("--") && option.len() >= 3 && listed.starts_with(option))
}
