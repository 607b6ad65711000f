//! The table `policies/programs.table`: every program with its facts. What is wrong with it is an error of the build.

use std::collections::{BTreeMap, BTreeSet};

/// What is known of a program: facts, each with its words.
type Facts<'t> = Vec<(&'t str, &'t str)>;

/// Returns the kinds of facts, and the programs sorted by length and name, each with its facts in the order of the table.
pub(crate) fn written(table: &str) -> Result<String, String> {
    let kinds: Vec<_> = kinds(table).collect();
    let mut faults = faults(table, &kinds);
    let is_unused = |kind: &&&str| !table.contains(&format!("\n{kind}"));
    faults.extend(
        kinds
            .iter()
            .filter(is_unused)
            .map(|kind| format!("nobody has `{kind}`")),
    );
    if !faults.is_empty() {
        return Err(format!("policies/programs.table: {}", faults.join("\n")));
    }
    let mut programs: BTreeMap<(usize, &str), Facts<'_>> = BTreeMap::new();
    for section in table.split("\n[").skip(1) {
        let (names, lines) = section.split_once("]\n").unwrap_or_default();
        let lines = lines.lines().take_while(|line| !line.is_empty());
        let lines: Facts<'_> = lines
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_once(' ').unwrap_or((line, "")))
            .collect();
        for name in names.split(' ') {
            programs
                .entry((name.len(), name))
                .or_default()
                .extend(&lines);
        }
    }
    let entries = programs.iter().map(|((_, name), facts)| {
        let lines = facts
            .iter()
            .map(|(fact, words)| format!("(Fact::{}, {words:?}), ", variant(fact)));
        format!("({name:?}, Program(&[{}])),\n", lines.collect::<String>())
    });
    Ok(format!(
        "/// One kind of fact; the table's head tells what each means.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
         pub(crate) enum Fact {{ {} }}\n\
         static PROGRAMS: &[(&str, Program)] = &[\n{}];\n",
        kinds
            .iter()
            .map(|kind| variant(kind) + ", ")
            .collect::<String>(),
        entries.collect::<String>()
    ))
}

/// Returns the name of a kind of fact as one of Rust: `by-effect` is `ByEffect`.
fn variant(kind: &str) -> String {
    let parts = kind.split('-').filter_map(|part| part.split_at_checked(1));
    parts
        .map(|(first, rest)| first.to_ascii_uppercase() + rest)
        .collect()
}

/// Returns the kinds of facts, as the head of the table tells them.
fn kinds(table: &str) -> impl Iterator<Item = &str> {
    let lines = table.lines().filter_map(|line| line.strip_prefix("#   "));
    lines
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
}

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
        "code" | "flags" | "leads-elsewhere" | "only" | "unless" | "with" | "output" | "values"
        | "types" | "runs-values" | "signs-links" | "steers" | "texts" | "runs-settings"
        | "runs-variables" | "harmless-variables" | "loads" | "recipes" | "runs-behind"
        | "unnamed" | "unpacks-with" | "works-in" => {
            let distinct: BTreeSet<_> = words.iter().collect();
            !words.is_empty() && distinct.len() == words.len()
        }
        "downloads" | "fetches" | "foreign" | "hands-exit" | "keeps-address" | "prints-token"
        | "replaces-hooks" | "runs-file" | "sends" | "sweeps" | "unpacks" => {
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
        Some(("after" | "into" | "values", list)) => list.split(',').all(|word| !word.is_empty()),
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
pub(crate) fn faults(table: &str, kinds: &[&str]) -> Vec<String> {
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
            if !kinds.contains(&fact) {
                fault(format!("`{fact}` is not a fact"));
            } else if !is_well_formed(fact, &words) {
                fault(format!("these are not words of `{fact}`"));
            }
            if names.is_empty() {
                fault("a fact stands below the header of a section".to_owned());
            }
            for name in &names {
                let first = *seen.entry((name, fact)).or_insert(number);
                if first != number && !(matches!(fact, "brings" | "runs") && number < first + 12) {
                    fault(format!(
                        "`{fact}` of `{name}` stands in line {first} already"
                    ));
                }
            }
        }
    }
    faults
}
