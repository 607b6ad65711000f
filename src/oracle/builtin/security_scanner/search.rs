//! Searches texts for secrets and injectable SQL: one pass finds the words of all rules, and only what stands around them is
//! looked into.

use super::finding::Finding;
use super::finding::fingerprint;
use super::keywords::Found;
use super::keywords::Keywords;
use super::secrets::Rule;
use super::secrets::Scanner;
use super::sql;
use crate::oracle::added::Added;
use crate::signal::Severity;

/// All rules, ready.
#[derive(Debug)]
pub(super) struct Search {
    secrets: Scanner,
    sql: bool,
    /// The words of secrets, then those of SQL.
    words: Keywords,
}

impl Search {
    /// Makes the known formats of secrets and the search for SQL ready, where they are wanted, and a user's own rules.
    ///
    /// # Errors
    /// The rules have more keywords than can be searched for.
    pub(super) fn new(secrets: bool, sql: bool, own: &[Rule]) -> Result<Self, String> {
        let secrets = Scanner::new(secrets, own);
        let of_secrets = secrets.words().iter().map(String::as_str);
        let of_sql = if sql { sql::WORDS } else { &[] };
        let words: Vec<&str> = of_secrets.chain(of_sql.iter().copied()).collect();
        Ok(Self {
            words: Keywords::new(&words)?,
            secrets,
            sql,
        })
    }

    /// Finds what an added text must not hold. `read` gives the whole of its file.
    pub(super) fn scan(&self, text: &Added, read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
        let words = self.words.find(&text.text);
        let of_secrets = words.iter().filter(|found| self.is_of_secrets(found));
        let mut findings = self.secrets_in(text, of_secrets.cloned());
        let source_file = text
            .path
            .as_deref()
            .filter(|path| self.sql && sql::knows(path));
        if let Some(path) = source_file {
            // The tree needs the whole file, of which only the added lines count.
            match (!text.lines.is_empty()).then(|| read(path)).flatten() {
                Some(whole) => {
                    let words = self.words.find(&whole);
                    findings.extend(self.injections_in(text, path, &whole, &words));
                }
                None => findings.extend(self.injections_in(text, path, &text.text, &words)),
            }
        }
        findings
    }

    fn is_of_secrets(&self, found: &Found) -> bool {
        found.word < self.secrets.words().len()
    }

    fn secrets_in(&self, text: &Added, words: impl Iterator<Item = Found>) -> Vec<Finding> {
        let path = text.path.as_deref();
        self.secrets
        .scan(&text.text, path, words)
        .into_iter()
        .filter_map(|hit| {
            let secret = text.text.get(hit.range.clone())?;
            let rule = hit.rule.and_then(|n| self.secrets.rule(n));
            let id = rule.map_or("random-value", |rule| rule.id.as_str());
            let severity = rule.map_or_else(
                // Made-up passwords are common in tests.
                || if path.is_some_and(is_test) { Severity::Low } else { Severity::Medium },
                |rule| rule.severity,
            );
            Some(Finding {
                rule: id.to_owned(),
                what: rule.map_or_else(|| "a random-looking value of a password, token or secret".to_owned(), |rule| rule.description.clone()),
                severity,
                file: text.path.clone(),
                line: path.map(|_| text.line_at(hit.range.start)),
                fingerprint: fingerprint(id, secret),
                remedy: "take it out and read it from the environment or a secret store; if it was ever committed or sent, revoke it",
            })
        })
        .collect()
    }

    fn injections_in(
        &self,
        text: &Added,
        path: &str,
        source: &str,
        words: &[Found],
    ) -> Vec<Finding> {
        let words = words
            .iter()
            .filter(|found| !self.is_of_secrets(found))
            .map(|found| Found {
                word: found.word - self.secrets.words().len(),
                range: found.range.clone(),
            });
        sql::scan(path, source, words)
            .into_iter()
            .filter(|found| {
                text.touches(found.line, found.last_line) || text.touches(found.built, found.built)
            })
            .map(|found| {
                let nth = usize::try_from(found.line).unwrap_or(1).saturating_sub(1);
                let code = source.lines().nth(nth).unwrap_or_default().trim();
                Finding {
                    rule: "no-sql-injection".to_owned(),
                    what: "a query that is put together from values".to_owned(),
                    severity: Severity::High,
                    file: Some(path.to_owned()),
                    line: Some(found.line),
                    fingerprint: fingerprint("no-sql-injection", &format!("{path}\0{code}")),
                    remedy: "write placeholders in the query and pass the values as parameters",
                }
            })
            .collect()
    }
}

/// Whether a file is a test, or data of one.
fn is_test(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.split(['/', '.', '_', '-']).any(|part| {
        matches!(
            part,
            "test"
                | "tests"
                | "spec"
                | "specs"
                | "fixture"
                | "fixtures"
                | "testdata"
                | "mock"
                | "mocks"
                | "example"
                | "examples"
                | "bench"
                | "benches"
        )
    })
}
