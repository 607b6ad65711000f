//! Names of oracles as ids: kebab-case, the same for every spelling of one name.

use std::path::Path;

use super::Target;

/// Former names of oracles and what they are now: a policy may use both, and the default ids of two layers meet.
const RENAMED: &[(&str, &str)] = &[("change-size-limiter", "file-change-limiter")];

/// Returns the names that an oracle had before.
pub fn former_names(oracle: &str) -> impl Iterator<Item = &'static str> {
    RENAMED
        .iter()
        .filter(move |(_, now)| *now == oracle)
        .map(|(former, _)| *former)
}

/// Returns the id that a binding has where none is written: its oracle's name in kebab-case, a script's without its path.
pub fn default_id(target: &Target) -> String {
    match target {
        Target::Oracle(name) => {
            let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
            let kebab = kebab_case(stem.unwrap_or(name));
            let folded = |name: &str| name.replace('-', "");
            let same = |former: &str| folded(former) == folded(&kebab);
            match RENAMED.iter().find(|(former, _)| same(former)) {
                Some((_, now)) => (*now).to_owned(),
                None => kebab,
            }
        }
        hook => hook.name().to_owned(),
    }
}

impl Target {
    /// Whether both name one thing; oracles are compared without case and punctuation.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Oracle(_), Self::Oracle(_)) => default_id(self) == default_id(other),
            _ => self == other,
        }
    }
}

/// Returns a name in kebab-case: `ChecklistValidator` and `checklist_validator` give `checklist-validator`.
pub fn kebab_case(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 4);
    let mut characters = name.trim().chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = characters.next() {
        if c.is_alphanumeric() {
            let starts_word = c.is_uppercase()
                && before.is_some_and(|b| {
                    b.is_lowercase()
                        || b.is_numeric()
                        || (b.is_uppercase() && characters.peek().is_some_and(|n| n.is_lowercase()))
                });
            if starts_word && !kebab.ends_with('-') {
                kebab.push('-');
            }
            kebab.extend(c.to_lowercase());
        } else if !kebab.ends_with('-') && !kebab.is_empty() {
            kebab.push('-');
        }
        before = Some(c);
    }
    kebab.trim_end_matches('-').to_owned()
}
