//! Program: what is known of the programs that command lines start, by the table `policies/programs.table`.
//!
//! The compiler reads the table, as it does the index of the rules: a process that judges one command would pay for
//! reading all of it. What is kept are places in the text, which need no relocation when a process starts.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "made by the compiler, which would tell"
)]

const TABLE: &str = include_str!("../policies/programs.table");

macro_rules! facts {
    ($($fact:ident $name:literal)*) => {
        /// One kind of fact; the table's head tells what each means.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fact { $($fact),* }

        const FACTS: &[&str] = &[$($name),*];
    };
}

facts! {
    Agent "agent"
    Brings "brings"
    ByEffect "by-effect"
    Client "client"
    Cluster "cluster"
    Code "code"
    Console "console"
    Data "data"
    Decodes "decodes"
    Downloads "downloads"
    Evaluates "evaluates"
    Every "every"
    Fetches "fetches"
    Fixes "fixes"
    Flags "flags"
    Foreign "foreign"
    HarmlessVariables "harmless-variables"
    Jar "jar"
    KeepsAddress "keeps-address"
    KeepsSecrets "keeps-secrets"
    Language "language"
    Letters "letters"
    Lists "lists"
    LooksAt "looks-at"
    MayBe "may-be"
    Mounts "mounts"
    Moves "moves"
    Only "only"
    Output "output"
    PatternFirst "pattern-first"
    PrintsToken "prints-token"
    Reads "reads"
    ReplacesHooks "replaces-hooks"
    Runs "runs"
    RunsSettings "runs-settings"
    RunsValues "runs-values"
    RunsVariables "runs-variables"
    Sends "sends"
    Shell "shell"
    Shows "shows"
    SignsLinks "signs-links"
    Starts "starts"
    Statements "statements"
    Steers "steers"
    Sweeps "sweeps"
    TakesNames "takes-names"
    Text "text"
    Texts "texts"
    ToLast "to-last"
    Types "types"
    Unless "unless"
    Unnamed "unnamed"
    Unpacks "unpacks"
    UnpacksWith "unpacks-with"
    Values "values"
    Walks "walks"
    With "with"
    WorksIn "works-in"
}

/// What is known of one program; nothing of one that the table does not name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    entries: &'static [Entry],
}

/// Finds a program by its name, with or without a version at its end.
pub(crate) fn find(name: &str) -> Program {
    let exact = entries(name);
    if !exact.is_empty() {
        return Program { entries: exact };
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let entries = if bare.len() < name.len() {
        entries(bare)
    } else {
        exact
    };
    Program { entries }
}

/// Finds a subcommand of a program.
pub(crate) fn find_subcommand(program: &str, subcommand: &str) -> Program {
    find(&format!("{program}:{subcommand}"))
}

/// Returns the names of all programs of which there is such a fact.
pub(crate) fn all(fact: Fact) -> impl Iterator<Item = &'static str> {
    let entries = INDEX.entries.iter();
    entries
        .filter(move |entry| entry.facts(fact).next().is_some())
        .map(|entry| entry.name.text())
}

impl Program {
    /// Whether anything is known of it, beside what it does with secrets.
    pub(crate) fn is_known(self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.facts(Fact::KeepsSecrets).next().is_none())
    }

    /// Whether there is such a fact.
    pub(crate) fn is(self, fact: Fact) -> bool {
        self.lines(fact).next().is_some()
    }

    /// Returns the words of each line of such a fact.
    pub(crate) fn lines(self, fact: Fact) -> impl Iterator<Item = &'static str> {
        self.entries.iter().flat_map(move |entry| entry.facts(fact))
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

fn entries(name: &str) -> &'static [Entry] {
    let number = number(name.as_bytes(), 0, name.len());
    let first = INDEX.entries.partition_point(|e| e.number < number);
    let found = &INDEX.entries[first..];
    let same = found
        .iter()
        .take_while(|e| e.number == number && e.name.text() == name);
    &found[..same.count()]
}

/// A part of the table's text.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u32,
    end: u32,
}

/// A name in the header of a section.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    name: Part,
    /// The section's lines: the first, and the one behind the last.
    lines: Part,
}

/// A line of a section.
#[derive(Clone, Copy)]
struct Line {
    /// The place of the fact among all; behind the last where the word is unknown.
    fact: u8,
    words: Part,
}

struct Index<const ENTRIES: usize, const LINES: usize> {
    /// Sorted by number.
    entries: [Entry; ENTRIES],
    lines: [Line; LINES],
}

const COUNTS: (usize, usize) = count();
static INDEX: Index<{ COUNTS.0 }, { COUNTS.1 }> = make();

impl Part {
    fn text(self) -> &'static str {
        TABLE
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

impl Entry {
    fn facts(&self, fact: Fact) -> impl Iterator<Item = &'static str> {
        INDEX.lines[self.lines.start as usize..self.lines.end as usize]
            .iter()
            .filter(move |line| line.fact == fact as u8)
            .map(|line| line.words.text())
    }
}

/// Returns a number by which a part of a text is found: FNV-1a of 64 bits.
pub(crate) const fn number(bytes: &[u8], mut at: usize, end: usize) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    while at < end {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// Returns where the line ends that holds a place.
const fn line_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
    }
    at
}

/// Returns where the word ends that begins at a place.
const fn word_end(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && bytes[at] != b' ' && bytes[at] != b']' {
        at += 1;
    }
    at
}

const fn is_fact(bytes: &[u8], at: usize, end: usize) -> bool {
    at < end && bytes[at] != b'#' && bytes[at] != b'['
}

const fn count() -> (usize, usize) {
    let bytes = TABLE.as_bytes();
    let (mut names, mut lines) = (0, 0);
    let mut at = 0;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        if is_fact(bytes, at, end) {
            lines += 1;
        } else if at < end && bytes[at] == b'[' {
            while at < end {
                at = word_end(bytes, at, end) + 1;
                names += 1;
            }
        }
        at = end + 1;
    }
    (names, lines)
}

const fn make<const ENTRIES: usize, const LINES: usize>() -> Index<ENTRIES, LINES> {
    let bytes = TABLE.as_bytes();
    let nothing = Part { start: 0, end: 0 };
    let mut index = Index {
        entries: [Entry {
            number: 0,
            name: nothing,
            lines: nothing,
        }; ENTRIES],
        lines: [Line {
            fact: u8::MAX,
            words: nothing,
        }; LINES],
    };
    let (mut entry, mut line) = (0, 0);
    let mut at = 0;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        if at < end && bytes[at] == b'[' {
            let lines = Part {
                start: line as u32,
                end: facts_behind(bytes, end, line) as u32,
            };
            at += 1;
            while at < end {
                let stop = word_end(bytes, at, end);
                let name = Part {
                    start: at as u32,
                    end: stop as u32,
                };
                let number = number(bytes, at, stop);
                insert(
                    &mut index.entries,
                    entry,
                    Entry {
                        number,
                        name,
                        lines,
                    },
                );
                entry += 1;
                at = stop + 1;
                if bytes[stop] == b']' {
                    at = end;
                }
            }
        } else if is_fact(bytes, at, end) {
            let stop = word_end(bytes, at, end);
            index.lines[line] = Line {
                fact: fact(bytes, at, stop),
                words: Part {
                    start: (if stop < end { stop + 1 } else { end }) as u32,
                    end: end as u32,
                },
            };
            line += 1;
        }
        at = end + 1;
    }
    index
}

/// Returns how many facts there are up to the end of the section whose header ends at a place.
const fn facts_behind(bytes: &[u8], header: usize, before: usize) -> usize {
    let mut lines = before;
    let mut at = header + 1;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        if !is_fact(bytes, at, end) {
            return lines;
        }
        lines += 1;
        at = end + 1;
    }
    lines
}

/// Returns the place of a fact among all by its name.
const fn fact(bytes: &[u8], start: usize, end: usize) -> u8 {
    let mut fact = 0;
    while fact < FACTS.len() {
        let name = FACTS[fact].as_bytes();
        let mut at = 0;
        while at < name.len() && start + at < end && bytes[start + at] == name[at] {
            at += 1;
        }
        if at == name.len() && start + at == end {
            return fact as u8;
        }
        fact += 1;
    }
    u8::MAX
}

/// Puts an entry where it belongs among the first ones.
const fn insert<const N: usize>(entries: &mut [Entry; N], filled: usize, entry: Entry) {
    let mut at = filled;
    while at > 0 && entries[at - 1].number > entry.number {
        entries[at] = entries[at - 1];
        at -= 1;
    }
    entries[at] = entry;
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// What the words of a fact are.
    fn is_well_formed(fact: &str, words: &[&str]) -> bool {
        let is_name = |word: &str| word.bytes().all(|b| b.is_ascii_graphic());
        match fact {
            "brings" => is_brought(words),
            "runs" => is_run(words),
            "reads" => matches!(words, [] | ["1" | "2"]),
            "every" => matches!(words, ["write" | "delete" | "move" | "rights"]),
            "client" => words == ["none"],
            "language" => words.len() == 1 && words.iter().all(|w| is_name(w)),
            "starts" => words.len() == 1,
            "letters" => {
                let letters: BTreeSet<_> = words.iter().flat_map(|word| word.chars()).collect();
                matches!(words, [word] if word.len() == letters.len())
            }
            "code" | "flags" | "only" | "unless" | "with" | "output" | "values" | "types"
            | "runs-values" | "signs-links" | "steers" | "texts" | "runs-settings"
            | "runs-variables" | "harmless-variables" | "unnamed" | "unpacks-with" | "works-in" => {
                let distinct: BTreeSet<_> = words.iter().collect();
                !words.is_empty() && distinct.len() == words.len()
            }
            "downloads" | "fetches" | "foreign" | "keeps-address" | "prints-token"
            | "replaces-hooks" | "sends" | "sweeps" | "unpacks" => {
                words.iter().collect::<BTreeSet<_>>().len() == words.len()
            }
            _ => words.is_empty(),
        }
    }

    fn is_brought(words: &[&str]) -> bool {
        let Some((form, marks)) = words.split_first() else {
            return false;
        };
        let is_mark = |mark: &&str| match mark.split_once('=') {
            None => matches!(
                *mark,
                "first" | "here" | "inside" | "last" | "named" | "second" | "slash"
            ),
            Some(("after" | "into" | "values", list)) => {
                list.split(',').all(|word| !word.is_empty())
            }
            Some(_) => false,
        };
        matches!(*form, "copies" | "fetches" | "files" | "links") && marks.iter().all(is_mark)
    }

    fn is_run(words: &[&str]) -> bool {
        let Some((form, marks)) = words.split_first() else {
            return false;
        };
        let is_mark = |mark: &&str| match mark.split_once('=') {
            None => matches!(*mark, "away" | "assignments" | "opens" | "package"),
            Some(("own", count)) => matches!(count, "1" | "2"),
            Some(("by", option)) => option.starts_with('-'),
            Some(("after" | "behind" | "except" | "pairs" | "values", list)) => {
                list.split(',').all(|word| !word.is_empty())
            }
            Some(_) => false,
        };
        matches!(*form, "command" | "text" | "texts" | "after-dashes") && marks.iter().all(is_mark)
    }

    /// Returns the faults of a table, each with its line.
    fn faults(table: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        for (line, number) in table.lines().zip(1..) {
            let mut fault = |what: String| faults.push(format!("line {number}: {what}"));
            if line.is_empty() {
                names.clear();
            } else if let Some(header) = line.strip_prefix('[') {
                names = header.trim_end_matches(']').split(' ').collect();
                if !names.is_sorted() || !line.ends_with(']') || names.contains(&"") {
                    fault("names are sorted, one blank apart, between brackets".to_owned());
                }
            } else if !line.starts_with('#') {
                let (fact, words) = line.split_once(' ').unwrap_or((line, ""));
                let words: Vec<&str> = words.split_ascii_whitespace().collect();
                if !FACTS.contains(&fact) {
                    fault(format!("`{fact}` is not a fact"));
                } else if !is_well_formed(fact, &words) {
                    fault(format!("these are not words of `{fact}`"));
                }
                if names.is_empty() {
                    fault("a fact stands below the header of a section".to_owned());
                }
                for name in &names {
                    let first = *seen.entry((name, fact)).or_insert(number);
                    if first != number
                        && !(matches!(fact, "brings" | "runs") && number < first + 12)
                    {
                        fault(format!(
                            "`{fact}` of `{name}` stands in line {first} already"
                        ));
                    }
                }
            }
        }
        faults
    }

    #[test]
    fn the_table_is_sound() {
        assert!(FACTS.is_sorted(), "facts are sorted");
        assert_eq!(faults(TABLE), Vec::<String>::new());
        for fact in FACTS {
            assert!(TABLE.contains(&format!("\n{fact}")), "nobody has `{fact}`");
        }
    }

    #[test]
    fn of_every_reader_it_is_known_which_options_it_may_have() {
        for reader in all(Fact::Reads) {
            let known = find(reader);
            let says = [Fact::Only, Fact::Letters, Fact::Flags];
            assert!(says.into_iter().any(|fact| known.is(fact)), "{reader}");
        }
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        for (table, fault) in [
            ("[a]\nraeds\n", "line 2: `raeds` is not a fact"),
            ("[b a]\nreads\n", "line 1: names are sorted"),
            ("reads\n", "line 1: a fact stands below"),
            ("[a]\nreads x\n", "line 2: these are not words of `reads`"),
            ("[a]\nonly\n", "line 2: these are not words of `only`"),
            ("[a]\nruns words\n", "line 2: these are not words of `runs`"),
            ("[a]\nreads\n\n[a b]\nreads\n", "line 5: `reads` of `a`"),
        ] {
            let found = faults(table);
            assert!(found.iter().any(|f| f.starts_with(fault)), "{found:?}");
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
        for entry in &INDEX.entries {
            assert!(!entry.name.text().is_empty() && entry.lines.start < entry.lines.end);
        }
    }
}
