//! Program: what is known of the programs that command lines start, by the table `policies/programs.table`. The build takes it
//! apart (policies/reader/programs.rs).

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// What is known of one program, each fact with its words; nothing of one that the table does not name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program(&'static [(Fact, &'static str)]);

/// Finds a program by its name, with or without a version at its end.
pub(crate) fn find(name: &str) -> Program {
    let is_version = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    let without_version = || {
        let bare = name.trim_end_matches(is_version);
        (bare.len() < name.len()).then(|| exactly(bare)).flatten()
    };
    let found = exactly(name).or_else(without_version);
    found.unwrap_or(Program(&[]))
}

/// The table is sorted by length first, which most names differ in.
fn exactly(name: &str) -> Option<Program> {
    let order = |known: &str| known.len().cmp(&name.len()).then_with(|| known.cmp(name));
    let at = PROGRAMS.binary_search_by(|(known, _)| order(known)).ok()?;
    PROGRAMS.get(at).map(|(_, found)| *found)
}

/// Finds a subcommand of a program.
pub(crate) fn find_subcommand(program: &str, subcommand: &str) -> Program {
    find(&format!("{program}:{subcommand}"))
}

/// Returns the names of all programs of which there is such a fact.
pub(crate) fn all(fact: Fact) -> impl Iterator<Item = &'static str> {
    let known = PROGRAMS.iter().filter(move |(_, known)| known.is(fact));
    known.map(|(name, _)| *name)
}

impl Program {
    /// Whether anything is known of it, beside what it does with secrets.
    pub(crate) fn is_known(self) -> bool {
        self.0.iter().any(|(fact, _)| *fact != Fact::KeepsSecrets)
    }

    /// Whether there is such a fact.
    pub(crate) fn is(self, fact: Fact) -> bool {
        self.0.iter().any(|(known, _)| *known == fact)
    }

    /// Returns the words of each line of such a fact.
    pub(crate) fn lines(self, fact: Fact) -> impl Iterator<Item = &'static str> {
        let lines = self.0.iter().filter(move |(known, _)| *known == fact);
        lines.map(|(_, words)| *words)
    }

    /// Whether there is such a fact for a call with these subcommands: a line without words is for all of them,
    /// and words with a `+` between them must all be there.
    pub(crate) fn is_with(self, fact: Fact, subcommands: &[Option<&str>]) -> bool {
        self.lines(fact).any(|line| {
            let mut listed = line.split_ascii_whitespace().peekable();
            listed.peek().is_none()
                || listed.any(|all| all.split('+').all(|word| subcommands.contains(&Some(word))))
        })
    }

    /// Returns the words of such a fact.
    pub(crate) fn words(self, fact: Fact) -> impl Iterator<Item = &'static str> {
        self.lines(fact).flat_map(str::split_ascii_whitespace)
    }

    /// Whether such a fact lists a word.
    pub(crate) fn lists(self, fact: Fact, word: &str) -> bool {
        self.words(fact).any(|listed| listed == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_every_reader_it_is_known_which_options_it_may_have() {
        for reader in all(Fact::Reads) {
            let known = find(reader);
            let says = [Fact::Only, Fact::Letters, Fact::Flags];
            assert!(says.into_iter().any(|fact| known.is(fact)), "{reader}");
        }
    }

    #[test]
    fn a_program_is_found_with_its_facts() {
        assert!(find("cat").is(Fact::Reads) && find("cat").is(Fact::Shows));
        assert!(find("python3.12").lists(Fact::Language, "python"));
        assert!(find("sqlite3").is(Fact::Statements) && !find("cat7z").is(Fact::Reads));
        assert!(find_subcommand("git", "log").lists(Fact::Unless, "--output"));
        assert!(!find("").is(Fact::Reads) && !find("frobnicate").is(Fact::Runs));
        assert!(all(Fact::Shell).any(|name| name == "bash"));
        assert!(PROGRAMS.is_sorted_by_key(|(name, _)| (name.len(), name)));
    }
}
