//! The rules of `policies/rules/`: every section with its rules, and by which names of programs it is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::words;
use super::words::Lists;

#[path = "../../src/danger/format.rs"]
mod format;

/// Every preset that is made of files of rules, with its files.
const PRESETS: &[(&str, &[&str])] = &[
    ("cloud", &["cloud", "clusters", "platforms"]),
    ("database", &["database", "migrations"]),
    ("exfiltration", &["exfiltration"]),
    ("filesystem", &["filesystem", "devices", "windows"]),
    ("git", &["git"]),
    ("secrets", &["secrets"]),
    ("supply-chain", &["supply-chain"]),
    ("system", &["system", "rights", "services"]),
];

/// Returns the sections of all files with the index of their programs, sorted by name; and the programs that those about losing
/// something name.
pub(super) fn written(
    read: impl Fn(&str) -> Result<String, String>,
    lists: &Lists<'_>,
) -> Result<(String, String), Box<dyn std::error::Error>> {
    let lists: BTreeMap<_, _> = lists
        .iter()
        .map(|(name, lines)| (*name, words::words(lines)))
        .collect();
    let mut rules = String::new();
    let mut sections = String::new();
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut prefixes = Vec::new();
    let (mut losing, mut losing_begin) = (BTreeSet::new(), BTreeSet::new());
    let mut count = 0;
    for (preset, files) in PRESETS {
        for file in *files {
            let path = format!("policies/rules/{file}.rules");
            let text = read(&path)?;
            let mut faults = Vec::new();
            let read = format::read(preset, &text, &mut |line, what| {
                faults.push(format!("{path}:{line}: {what}"));
            });
            if !faults.is_empty() {
                return Err(faults.join("\n").into());
            }
            let is_of_others = matches!(*preset, "exfiltration" | "secrets" | "supply-chain");
            for section in read {
                let is_of_losses = section.programs != "*" && !is_of_others;
                for name in section.programs.split_ascii_whitespace() {
                    if let Some(prefix) = name.strip_suffix('*') {
                        prefixes.push((prefix.to_owned(), count));
                        losing_begin.extend(is_of_losses.then(|| prefix.to_owned()));
                    } else {
                        names.entry(name.to_owned()).or_default().push(count);
                        losing.extend(is_of_losses.then(|| name.to_owned()));
                    }
                }
                let (programs, values) = (section.programs, section.values);
                writeln!(
                    rules,
                    "static RULES_{count}: [Rule; {}] = [",
                    section.rules.len()
                )?;
                for rule in &section.rules {
                    rules.push_str(&self::rule(preset, rule, &|text| {
                        let list = |name: &str| lists.get(name).map(Vec::as_slice);
                        let name = |name: &str, _| Ok(name.to_owned());
                        format::pattern(text, list, name)
                    })?);
                }
                writeln!(rules, "];")?;
                writeln!(
                    sections,
                    "Section {{ preset: B({preset:?}), programs: B({programs:?}), values: B({values:?}), rules: B(&RULES_{count}) }},"
                )?;
                count += 1;
            }
        }
    }
    let presets: Vec<_> = PRESETS.iter().map(|(preset, _)| preset).collect();
    let names = slices(&names);
    let [losing, losing_begin] = [losing, losing_begin].map(Vec::from_iter);
    let losses = format!(
        "static LOSING: &[&str] = &{losing:?};\nstatic LOSING_BEGIN: &[&str] = &{losing_begin:?};\n"
    );
    let rules = format!(
        "/// Every preset that is made of files of rules; `standard` is all of their rules that are not strict.\n\
         pub static PRESETS: &[&str] = &{presets:?};\n\
         {rules}static SECTIONS: [Section; {count}] = [\n{sections}];\n\
         static NAMES: &[(&str, &[usize])] = &[{names}];\n\
         static PREFIXES: &[(&str, usize)] = &{prefixes:?};\n"
    );
    Ok((rules, losses))
}

type Pattern = format::Pattern<String>;

fn rule(
    preset: &str,
    rule: &format::Rule<'_>,
    pattern: &dyn Fn(&str) -> Result<Pattern, String>,
) -> Result<String, String> {
    let patterns = |lines: &[(usize, &str)]| {
        let written = lines
            .iter()
            .map(|(_, text)| Ok(written_pattern(&pattern(text)?)));
        let written: Result<Vec<_>, String> = written.collect();
        written.map(|written| written.concat())
    };
    let id = format!("{preset}:{}", rule.name);
    let (first, rest) = rule.severity.split_at_checked(1).unwrap_or_default();
    let severity = first.to_ascii_uppercase() + rest;
    let (patterns, unless) = (patterns(&rule.patterns)?, patterns(&rule.unless)?);
    let format::Rule {
        is_strict: strict,
        reason,
        instead,
        ..
    } = rule;
    Ok(format!(
        "Rule {{ id: B({id:?}), preset: B({preset:?}), severity: Severity::{severity}, strict: {strict}, \
         reason: B({reason:?}), instead: B({instead:?}), \
         patterns: B(&[{patterns}]), unless: B(&[{unless}]), firsts: {} }},\n",
        grouped(rule.firsts())
    ))
}

fn written_pattern(pattern: &Pattern) -> String {
    let path: String = pattern
        .path
        .iter()
        .map(|names| self::names(names) + ", ")
        .collect();
    let conditions = pattern.conditions.iter().map(|condition| {
        let format::Condition {
            text,
            is_negated,
            asks,
            names,
        } = condition;
        let asks = match asks {
            format::Asks::Predicate(name) => format!("Predicate(predicate::known({name:?}))"),
            other => format!("{other:?}"),
        };
        let names = self::names(names);
        format!(
            "Condition {{ text: B({text:?}), is_negated: {is_negated}, asks: Asks::{asks}, names: {names} }}, "
        )
    });
    let (text, conditions) = (&pattern.text, conditions.collect::<String>());
    format!("Pattern {{ text: B({text:?}), path: B(&[{path}]), conditions: B(&[{conditions}]) }}, ")
}

fn names(names: &[format::Text]) -> String {
    let names = names.iter().map(|name| format!("B({name:?})"));
    format!("B(&[{}])", names.collect::<Vec<_>>().join(", "))
}

/// Returns a number as it is written in code, in groups of digits.
fn grouped(number: u64) -> String {
    let groups = [48, 32, 16, 0].map(|shift| format!("{:04x}", number >> shift & 0xffff));
    format!("0x{}", groups.join("_"))
}

fn slices(names: &BTreeMap<String, Vec<usize>>) -> String {
    let names = names
        .iter()
        .map(|(name, at)| format!("({name:?}, &{at:?})"));
    names.collect::<Vec<_>>().join(", ")
}
