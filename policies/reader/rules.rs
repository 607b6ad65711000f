//! The rules of `policies/rules/`: every section with its rules, and by which names of programs it is found.

use std::collections::BTreeMap;
use std::fmt::Write as _;

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

/// Returns the sections of all files, and the index of their programs, sorted by name.
pub(super) fn written(
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut rules = String::new();
    let mut sections = String::new();
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut prefixes = Vec::new();
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
            for section in read {
                for name in section.programs.split_ascii_whitespace() {
                    match name.strip_suffix('*') {
                        Some(prefix) => prefixes.push((prefix.to_owned(), count)),
                        None => names.entry(name.to_owned()).or_default().push(count),
                    }
                }
                let (programs, values) = (section.programs, section.values);
                writeln!(
                    rules,
                    "static RULES_{count}: [Rule; {}] = [",
                    section.rules.len()
                )?;
                for rule in &section.rules {
                    rules.push_str(&self::rule(preset, rule));
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
    Ok(format!(
        "/// Every preset that is made of files of rules; `standard` is all of their rules that are not strict.\n\
         pub static PRESETS: &[&str] = &{presets:?};\n\
         {rules}static SECTIONS: [Section; {count}] = [\n{sections}];\n\
         static NAMES: &[(&str, &[usize])] = &[{names}];\n\
         static PREFIXES: &[(&str, usize)] = &{prefixes:?};\n"
    ))
}

fn rule(preset: &str, rule: &format::Rule<'_>) -> String {
    let lines = |lines: &[(usize, &str)]| {
        let texts: Vec<_> = lines.iter().map(|(_, text)| *text).collect();
        texts.join("\n")
    };
    let id = format!("{preset}:{}", rule.name);
    let (first, rest) = rule.severity.split_at_checked(1).unwrap_or_default();
    let severity = first.to_ascii_uppercase() + rest;
    let (patterns, unless) = (lines(&rule.patterns), lines(&rule.unless));
    let format::Rule {
        is_strict: strict,
        reason,
        instead,
        ..
    } = rule;
    format!(
        "Rule {{ id: B({id:?}), preset: B({preset:?}), severity: Severity::{severity}, strict: {strict}, \
         reason: B({reason:?}), instead: B({instead:?}), patterns: B({patterns:?}), unless: B({unless:?}), firsts: {} }},\n",
        grouped(rule.firsts())
    )
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
