//! Tree: which folder, or which files, a program puts where, by what the table of programs says of it.

use crate::program::{self, Fact, Program};
use crate::shell::{Invocation, Word};

/// What is known of what is put somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It is there already, as it will be.
    Copies,
    /// It can be filled later.
    Links,
    /// It comes from elsewhere.
    Fetches,
    /// Files, each by the last name of its source.
    Files,
}

/// What a program puts where.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) form: Form,
    pub(super) sources: Vec<String>,
    pub(super) place: String,
    /// The directory that it is told to work in.
    pub(super) works_in: Option<String>,
    /// Whether a folder means what lies in it: always, or where a slash stands behind it.
    pub(super) is_inside: bool,
    pub(super) is_inside_by_slash: bool,
}

impl Tree {
    /// Reads what an invocation puts somewhere; none where the table knows nothing of that.
    pub(super) fn of(invocation: &Invocation) -> Option<Self> {
        let program = program::find(&invocation.program);
        let sub = invocation.subcommand();
        let sub = sub.map(|word| program::find_subcommand(&invocation.program, &word.text));
        let of_sub = sub.filter(|sub| sub.is(Fact::Brings));
        let works_in: Vec<&str> = program.words(Fact::WorksIn).collect();
        let mut lines = of_sub.unwrap_or(program).lines(Fact::Brings);
        lines.find_map(|line| {
            let line = Line::read(line)?;
            let mut words = Words::read(invocation, program, &line, &works_in);
            if of_sub.is_some() && !words.operands.is_empty() {
                words.operands.remove(0);
            }
            line.tree(words)
        })
    }
}

/// A line of the table.
#[derive(Debug, Default)]
struct Line {
    form: Option<Form>,
    into: Vec<&'static str>,
    values: Vec<&'static str>,
    after: Vec<&'static str>,
    marks: Vec<&'static str>,
}

impl Line {
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let form = match words.next()? {
            "copies" => Form::Copies,
            "links" => Form::Links,
            "fetches" => Form::Fetches,
            "files" => Form::Files,
            _ => return None,
        };
        let mut read = Self {
            form: Some(form),
            ..Self::default()
        };
        for word in words {
            let (name, list) = word.split_once('=').unwrap_or((word, ""));
            let list = list.split(',');
            match name {
                "into" => read.into = list.collect(),
                "values" => read.values = list.collect(),
                "after" => read.after = list.collect(),
                mark => read.marks.push(mark),
            }
        }
        Some(read)
    }

    fn has(&self, mark: &str) -> bool {
        self.marks.contains(&mark)
    }

    fn tree(&self, words: Words) -> Option<Tree> {
        let Words {
            mut operands,
            into,
            works_in,
        } = words;
        if !self.after.is_empty() {
            let first = operands.first()?;
            self.after.iter().find(|word| first == *word)?;
            operands.remove(0);
        }
        let here = || ".".to_owned();
        let own = |address: &String| {
            let name = address.trim_end_matches('/').rsplit(['/', ':']).next();
            name.map(|name| name.trim_end_matches(".git").to_owned())
        };
        let place = match into {
            Some(into) if self.has("last") => into + "/",
            Some(into) => into,
            // With one name alone, a link is made here.
            None if self.has("last") && self.form == Some(Form::Links) && operands.len() == 1 => {
                here()
            }
            None if self.has("last") => operands.pop()?,
            None if self.has("first") => operands.first()?.clone(),
            None if self.has("named") => {
                let address = operands.first()?;
                operands.get(1).cloned().or_else(|| own(address))?
            }
            None if self.has("second") => operands.get(1).cloned().unwrap_or_else(here),
            None if self.has("here") => here(),
            None => return None,
        };
        let form = self.form?;
        let has_source = matches!(form, Form::Fetches) || !operands.is_empty();
        has_source.then_some(Tree {
            form,
            sources: operands,
            place,
            works_in,
            is_inside: self.has("inside"),
            is_inside_by_slash: self.has("slash"),
        })
    }
}

/// The words of a command line, told apart by the options that take values.
#[derive(Debug, Default)]
struct Words {
    operands: Vec<String>,
    into: Option<String>,
    works_in: Option<String>,
}

impl Words {
    fn read(invocation: &Invocation, program: Program, line: &Line, works_in: &[&str]) -> Self {
        let mut words = Self::default();
        let takes = |option: &str| {
            let listed = [&line.into[..], &line.values, works_in].concat();
            listed.contains(&option) || program.lists(Fact::Values, option)
        };
        let mut rest = invocation
            .arguments
            .iter()
            .map(|word: &Word| word.text.as_str());
        while let Some(word) = rest.next() {
            if word == "--" {
                words.operands.extend(rest.by_ref().map(str::to_owned));
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                let option = full(&format!("--{name}"), &line.into);
                if takes(&option)
                    && let Some(value) = value.or_else(|| rest.next())
                {
                    words.take(&option, value, line, works_in);
                }
            } else if word.len() > 1 && word.starts_with('-') {
                let taking = word.char_indices().skip(1).find_map(|(at, letter)| {
                    let option = format!("-{letter}");
                    takes(&option).then_some((option, at + letter.len_utf8()))
                });
                let Some((option, behind)) = taking else {
                    continue;
                };
                let attached = word.get(behind..).filter(|value| !value.is_empty());
                if let Some(value) = attached.or_else(|| rest.next()) {
                    // What stands behind it in its cluster is its value.
                    words.take(&option, value, line, works_in);
                }
            } else {
                words.operands.push(word.to_owned());
            }
        }
        words
    }

    fn take(&mut self, option: &str, value: &str, line: &Line, works_in: &[&str]) {
        if line.into.contains(&option) {
            self.into = Some(value.to_owned());
        } else if works_in.contains(&option) {
            self.works_in = Some(value.to_owned());
        }
    }
}

/// Returns the option that an abbreviation means, if it is one of these.
fn full(option: &str, options: &[&str]) -> String {
    let meant = options
        .iter()
        .find(|full| option.len() >= 5 && full.starts_with(option) && full.starts_with("--"));
    meant.map_or_else(|| option.to_owned(), |full| (*full).to_owned())
}
