//! The calls that are known in each language, and what their arguments mean, as `policies/calls.txt` lists them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::Language;

const TEXT: &str = include_str!("../../../policies/calls.txt");

/// What the arguments of a known call mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// The first argument is a text for a shell.
    Shell,
    /// The arguments, or the list that is the first, are a program and its arguments.
    Program,
    /// The arguments are paths for this command with its options.
    Paths(&'static str, &'static str),
    /// What stands before the call is a path for this command: `Path("x").unlink()`.
    Receiver(&'static str, &'static str),
    /// The first argument is a path, written where the second is a mode that writes, else read.
    Open,
    /// The first argument is a statement for a database.
    Sql,
    /// The first argument is more code.
    Code,
    /// The arguments send data to an address.
    Send,
}

type Calls = Vec<(&'static str, Meaning)>;

/// Returns the calls of a language, read when code of it is first met.
pub(super) fn calls(language: Language) -> &'static [(&'static str, Meaning)] {
    static LANGUAGES: [OnceLock<Calls>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];
    let number = NAMES.iter().position(|(known, _)| *known == language);
    let found = number.and_then(|number| Some((LANGUAGES.get(number)?, NAMES.get(number)?)));
    found.map_or(&[], |(calls, (_, name))| calls.get_or_init(|| read(name)))
}

const NAMES: [(Language, &str); 10] = [
    (Language::Python, "python"),
    (Language::JavaScript, "javascript"),
    (Language::Perl, "perl"),
    (Language::Ruby, "ruby"),
    (Language::Php, "php"),
    (Language::Lua, "lua"),
    (Language::Awk, "awk"),
    (Language::Expect, "expect"),
    (Language::Julia, "julia"),
    (Language::Other, "other"),
];

/// Returns the names that only read in a language; none where nothing is known of it.
pub(super) fn reading(language: Language) -> &'static BTreeSet<&'static str> {
    static NONE: BTreeSet<&str> = BTreeSet::new();
    static LANGUAGES: [OnceLock<BTreeSet<&str>>; NAMES.len()] =
        [const { OnceLock::new() }; NAMES.len()];
    let number = NAMES.iter().position(|(known, _)| *known == language);
    let found = number.and_then(|number| Some((LANGUAGES.get(number)?, NAMES.get(number)?)));
    found.map_or(&NONE, |(names, (_, name))| {
        names.get_or_init(|| {
            let list = TEXT.split_once(&format!("\n[reads {name}]\n"));
            let (_, list) = list.unwrap_or_default();
            let lines = list.lines().take_while(|line| !line.is_empty());
            lines.flat_map(str::split_ascii_whitespace).collect()
        })
    })
}

fn read(language: &str) -> Calls {
    let list = TEXT.split_once(&format!("\n[{language}]\n"));
    let (_, list) = list.unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let calls = lines.filter_map(|line| line.split_once(" = "));
    calls.map(|(name, says)| (name, meaning(says))).collect()
}

fn meaning(says: &'static str) -> Meaning {
    match says {
        "shell" => Meaning::Shell,
        "program" => Meaning::Program,
        "open" => Meaning::Open,
        "sql" => Meaning::Sql,
        "code" => Meaning::Code,
        "send" => Meaning::Send,
        _ => {
            let (receiver, command) = match says.strip_prefix("on ") {
                Some(command) => (true, command),
                None => (false, says),
            };
            let (program, options) = command.split_once(' ').unwrap_or((command, ""));
            if receiver {
                Meaning::Receiver(program, options)
            } else {
                Meaning::Paths(program, options)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, TEXT, read};

    #[test]
    fn every_line_of_the_list_belongs_to_a_language() {
        let listed: usize = NAMES.iter().map(|(_, name)| read(name).len()).sum();
        assert_eq!(
            listed,
            TEXT.lines().filter(|line| line.contains(" = ")).count()
        );
        assert!(NAMES.iter().all(|(_, name)| !read(name).is_empty()));
    }
}
