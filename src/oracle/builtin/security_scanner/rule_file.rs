//! Reads a user's own rules, in the form of gitleaks: YAML, JSON or TOML.

use std::path::Path;

use regex::Regex;
use serde::Deserialize;

use crate::diagnostic::nearest;
use crate::regular_file;
use crate::secret::Format;
use crate::signal::Severity;

/// A user's own rule: what a secret looks like, and what is none although it looks like one.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// What it finds.
    pub(super) format: Format,
    /// Matches that are none: of the secret or of its line.
    allowed: Vec<Regex>,
    /// Files in which nothing is one.
    allowed_paths: Vec<Regex>,
    /// Files in which alone it looks.
    path: Option<Regex>,
}

impl Rule {
    /// Whether it looks into a file.
    pub(super) fn applies_to(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|only| only.is_match(path))
            && !self.allowed_paths.iter().any(|a| a.is_match(path))
    }

    /// Whether what was found in a line is a secret indeed.
    pub(super) fn is_secret(&self, found: &str, line: &str) -> bool {
        let is_allowed = |a: &Regex| a.is_match(found) || a.is_match(line);
        self.format.is_secret(found) && !self.allowed.iter().any(is_allowed)
    }
}

/// A rule file: gitleaks' fields, and `severity` beside them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct File {
    #[serde(rename = "title")]
    _title: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "minVersion")]
    _min_version: String,
    #[serde(rename = "extend")]
    _extend: serde::de::IgnoredAny,
    rules: Vec<Entry>,
    allowlist: Option<Allowlist>,
    allowlists: Vec<Allowlist>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    id: String,
    description: String,
    regex: Option<String>,
    path: Option<String>,
    secret_group: usize,
    entropy: f32,
    keywords: Vec<String>,
    severity: Option<Severity>,
    #[serde(rename = "tags")]
    _tags: Vec<String>,
    #[serde(rename = "skipReport")]
    _skip_report: bool,
    allowlist: Option<Allowlist>,
    allowlists: Vec<Allowlist>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Allowlist {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "condition")]
    _condition: String,
    #[serde(rename = "regexTarget")]
    _regex_target: String,
    #[serde(rename = "commits")]
    _commits: Vec<String>,
    regexes: Vec<String>,
    paths: Vec<String>,
    stopwords: Vec<String>,
    target_rules: Vec<String>,
}

/// The longest file of rules that is read, in bytes.
const MAX_RULES: u64 = 16 << 20;

/// Reads the rules of a file.
///
/// # Errors
/// What is wrong with it, in one line.
pub(super) fn read(path: &Path) -> Result<Vec<Rule>, String> {
    let text = regular_file::text(path, MAX_RULES).map_err(|e| e.to_string())?;
    let is_toml = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let file: File = if is_toml {
        toml_edit::de::from_str(&text).map_err(|e| first_line(&e.to_string()))?
    } else {
        serde_yaml::from_str(&text).map_err(|e| first_line(&e.to_string()))?
    };
    if file.rules.is_empty() {
        return Err("it holds no `rules`".to_owned());
    }
    let shared: Vec<&Allowlist> = file.allowlist.iter().chain(&file.allowlists).collect();
    let ids: Vec<&str> = file.rules.iter().map(|r| r.id.as_str()).collect();
    for name in shared.iter().flat_map(|list| &list.target_rules) {
        if !ids.contains(&name.as_str()) {
            let near = nearest(name, ids.iter().copied());
            let hint = near
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(format!("`targetRules` names no rule `{name}`{hint}"));
        }
    }
    file.rules
        .iter()
        .map(|entry| rule(entry, &shared))
        .collect()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn rule(entry: &Entry, shared: &[&Allowlist]) -> Result<Rule, String> {
    if entry.id.is_empty() {
        return Err("a rule has no `id`".to_owned());
    }
    let wrong = |what: &str, e: &regex::Error| {
        let message = e.to_string();
        let reason = message.lines().last().unwrap_or_default().trim();
        format!(
            "the {what} of rule `{}` does not compile: {}",
            entry.id,
            reason.trim_start_matches("error: ")
        )
    };
    let Some(pattern) = &entry.regex else {
        return Err(format!("rule `{}` has no `regex`", entry.id));
    };
    let compiled = Regex::new(pattern).map_err(|e| wrong("regex", &e))?;
    if entry.secret_group >= compiled.captures_len() {
        return Err(format!(
            "`secretGroup: {}` of rule `{}` is too large: its regex has {} groups",
            entry.secret_group,
            entry.id,
            compiled.captures_len() - 1
        ));
    }
    let own = entry.allowlist.iter().chain(&entry.allowlists);
    let lists = own.chain(
        shared
            .iter()
            .copied()
            .filter(|list| list.target_rules.is_empty() || list.target_rules.contains(&entry.id)),
    );
    let mut allowed = Vec::new();
    let mut allowed_paths = Vec::new();
    for list in lists {
        for regex in &list.regexes {
            allowed.push(Regex::new(regex).map_err(|e| wrong("allowlist", &e))?);
        }
        for word in &list.stopwords {
            let regex = format!("(?i){}", regex::escape(word));
            allowed.push(Regex::new(&regex).map_err(|e| wrong("allowlist", &e))?);
        }
        for path in &list.paths {
            allowed_paths.push(Regex::new(path).map_err(|e| wrong("allowlist", &e))?);
        }
    }
    let path = entry
        .path
        .as_ref()
        .map(|path| Regex::new(path).map_err(|e| wrong("path", &e)))
        .transpose()?;
    let description = if entry.description.is_empty() {
        format!("a match of rule `{}`", entry.id)
    } else {
        entry.description.clone()
    };
    // A group that is not named is the first, where there is one.
    let group = match entry.secret_group {
        0 => usize::from(compiled.captures_len() > 1),
        group => group,
    };
    let mut format = Format::new(entry.id.clone(), pattern.clone());
    format.description = description;
    format.severity = Some(entry.severity.unwrap_or(Severity::High));
    format.entropy = entry.entropy;
    format.group = group;
    format.keywords.clone_from(&entry.keywords);
    Ok(Rule {
        format,
        allowed,
        allowed_paths,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(name: &str, text: &str) -> Result<Vec<Rule>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn the_fields_of_gitleaks_are_read_in_all_three_formats() {
        let yaml = "rules:\n  - id: own\n    regex: 'own_([a-z0-9]{8})'\n    keywords: [own_]\n    entropy: 2.5\n    secretGroup: 1\n    severity: low\n    allowlists:\n      - regexes: ['own_test']\n        paths: ['^tests/']\n";
        let json = r#"{"rules":[{"id":"own","regex":"own_([a-z0-9]{8})","keywords":["own_"]}]}"#;
        let toml = "title = 'mine'\n[extend]\nuseDefault = true\n[[rules]]\nid = 'own'\nregex = '''own_([a-z0-9]{8})'''\nkeywords = ['own_']\n[rules.allowlist]\nstopwords = ['test']\n";
        for (name, text) in [("a.yaml", yaml), ("a.json", json), ("a.toml", toml)] {
            let rules = read_as(name, text).unwrap();
            assert_eq!(rules[0].format.id, "own", "{name}");
            assert_eq!(rules[0].format.keywords, ["own_"], "{name}");
        }
        assert_eq!(
            read_as("a.yaml", yaml).unwrap()[0].format.severity,
            Some(Severity::Low)
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("rules:\n  - id: a\n    regex: '('\n", "does not compile"),
            ("rules:\n  - id: a\n", "no `regex`"),
            ("rules: []\n", "no `rules`"),
            (
                "rules:\n  - id: a\n    regex: a\n    secretGroup: 2\n",
                "too large",
            ),
            ("rules:\n  - id: a\n    regexp: a\n", "regexp"),
            ("rules:\n  - regex: a\n", "no `id`"),
            (
                "rules:\n  - id: abc\n    regex: a\nallowlists:\n  - targetRules: [abd]\n",
                "did you mean `abc`",
            ),
        ] {
            let error = read_as("a.yaml", text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
