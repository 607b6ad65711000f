//! SecurityScanner: secrets and injectable SQL in what is added.

pub(in crate::oracle) mod added;
mod finding;
mod rule_file;
mod sarif;
mod secrets;
mod sql;

use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

use async_trait::async_trait;
use rayon::iter::IntoParallelRefIterator as _;
use rayon::iter::ParallelIterator as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Deserializer;
use serde::de;

use self::added::Added;
use self::finding::Finding;
use self::finding::fingerprint;
use self::secrets::Rule;
use self::secrets::Scanner;
use super::values::Texts;
use crate::diagnostic::Code;
use crate::diagnostic::nearest;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::ConfigError;
use crate::oracle::Definition;
use crate::oracle::HookContext;
use crate::oracle::Oracle;
use crate::oracle::OracleConfig;
use crate::oracle::OracleError;
use crate::signal::Intensity;
use crate::signal::Severity;
use crate::signal::Signal;

pub(super) static DEFINITION: Definition = Definition {
    name: "SecurityScanner",
    kebab: "security-scanner",
    summary: "No secret and no injectable SQL is added.",
    triggers: &[
        Trigger::PreToolUse,
        Trigger::PostToolUse,
        Trigger::PreAgentTurnStop,
        Trigger::PreIssueSubmit,
        Trigger::PreIssueClose,
    ],
    intensities: &[Intensity::Block, Intensity::Prompt],
    needs: &[FactSource::Git],
    runs_programs: true,
    schema: || schemars::schema_for!(SecurityScanner),
    build: |config| SecurityScanner::build(config).map(|s| Arc::new(s) as Arc<dyn Oracle>),
};

/// The rules that need no file.
const OWN_RULES: &[&str] = &["no-secrets", "no-sql-injection"];
/// How many findings are named one by one.
const NAMED: usize = 20;

/// Stops secrets and injectable SQL before they are written, committed or submitted.
///
/// What it does: at tool triggers it scans what is about to be written, or the command line with its here-documents; at
/// all others the lines that the change adds. `no-secrets` knows more than a hundred formats of keys and tokens as their
/// vendors document them, passwords in URLs, and random-looking values that are given to something called a password,
/// token or secret; placeholders and examples are left alone. `no-sql-injection` looks at syntax trees of Python,
/// JavaScript, TypeScript, Go, Java, Rust and PHP for queries that are put together from values. A file of own rules has
/// the fields of gitleaks (`id`, `regex`, `keywords`, `entropy`, `secretGroup`, `path`, `allowlist`) and `severity`. A
/// scanner is a command that prints SARIF 2.1.0; it runs where files have changed, not before a tool.
///
/// It blocks at `severity_threshold` and above, and prompts below. A finding names its rule, file, line and fingerprint.
/// The secret itself is never shown, logged or kept.
///
/// ```yaml
/// hooks:
///   pre-issue-submit:
///     - oracle: SecurityScanner
///       config:
///         rules: [no-secrets, no-sql-injection]
///         severity_threshold: medium
///         allow:
///           fingerprints: [3f2a90c1d4be]
///           paths: ["tests/fixtures/**"]
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SecurityScanner {
    /// `no-secrets`, `no-sql-injection`, and files of rules in the form of gitleaks (YAML, JSON, TOML).
    rules: Vec<String>,
    /// The gravity at which a finding blocks; below it prompts.
    severity_threshold: Severity,
    /// What is no finding: fingerprints and paths; a list of both is understood too.
    allow: Allow,
    /// Command lines that print SARIF 2.1.0.
    scanners: Texts,
    #[serde(skip)]
    engine: Engine,
}

/// What is no finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
struct Allow {
    /// Fingerprints as findings name them, or `file:rule:line`.
    fingerprints: Vec<String>,
    /// Globs of files that are not looked into.
    paths: Vec<String>,
}

/// The rules, made ready when something is first scanned.
#[derive(Clone, Default)]
struct Engine {
    own: Arc<OnceLock<Vec<Rule>>>,
    scanner: Arc<OnceLock<Result<Scanner, String>>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Engine")
    }
}

impl Default for SecurityScanner {
    fn default() -> Self {
        Self {
            rules: OWN_RULES.iter().map(|&r| r.to_owned()).collect(),
            severity_threshold: Severity::Medium,
            allow: Allow::default(),
            scanners: Texts::default(),
            engine: Engine::default(),
        }
    }
}

impl<'de> Deserialize<'de> for Allow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[derive(Default)]
        struct Fields {
            fingerprints: Vec<String>,
            paths: Vec<String>,
        }

        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Allow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of `fingerprints` and `paths`, or a list of both")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Allow, A::Error> {
                let mut allow = Allow::default();
                while let Some(item) = items.next_element::<String>()? {
                    let is_fingerprint =
                        item.len() == 12 && item.bytes().all(|b| b.is_ascii_hexdigit());
                    if is_fingerprint || item.split(':').count() == 3 {
                        allow.fingerprints.push(item);
                    } else {
                        allow.paths.push(item);
                    }
                }
                Ok(allow)
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Allow, A::Error> {
                let fields = Fields::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Allow {
                    fingerprints: fields.fingerprints,
                    paths: fields.paths,
                })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[async_trait]
impl Oracle for SecurityScanner {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let at_tool = context.event().trigger.is_tool();
        let added = if at_tool {
            added::by_tool(context)
        } else {
            added::by_change(context)?
        };
        let mut findings = self.scan(&added, context)?;
        let mut failure = None;
        let can_scan =
            context.workspace().is_on_disk() && context.event().trigger != Trigger::PreToolUse;
        if can_scan && !self.scanners.0.is_empty() {
            let added = if at_tool {
                added::by_change(context)?
            } else {
                added
            };
            for scanner in &self.scanners.0 {
                match sarif::run(scanner, context) {
                    Ok(found) => findings.extend(
                        found
                            .into_iter()
                            .filter(|f| is_added(f, &added))
                            .map(|f| f.finding),
                    ),
                    Err(error) => failure = Some(error),
                }
            }
        }
        findings.retain(|finding| !self.allows(finding));
        findings.sort_by(|a, b| {
            (b.severity, &a.file, a.line, &a.rule).cmp(&(a.severity, &b.file, b.line, &b.rule))
        });
        findings.dedup_by(|a, b| {
            a.file == b.file && a.line == b.line && a.fingerprint == b.fingerprint
        });
        let (grave, light): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|f| f.severity >= self.severity_threshold);
        let mut signals = Vec::new();
        if !grave.is_empty() {
            signals.push(signal(&grave, Intensity::Block));
        } else if let Some(failure) = failure {
            // What a scanner could not look at is not known to be clean.
            return Err(failure);
        }
        if !light.is_empty() {
            signals.push(signal(&light, Intensity::Prompt));
        }
        Ok(signals)
    }
}

impl SecurityScanner {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let scanner: Self = config.decode()?;
        let mut own = Vec::new();
        for rule in &scanner.rules {
            if OWN_RULES.contains(&rule.as_str()) {
                continue;
            }
            let is_file = rule.contains('/')
                || ["yaml", "yml", "json", "toml"]
                    .iter()
                    .any(|e| rule.ends_with(&format!(".{e}")));
            if !is_file {
                let hint = nearest(rule, OWN_RULES.iter().copied())
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                return Err(config.error_at(
                    "rules",
                    Code::BadValue,
                    format!("there is no rule `{rule}`{hint} (expected `no-secrets`, `no-sql-injection`, or the path of a rule file)"),
                ));
            }
            let rules = rule_file::read(&config.root.join(rule)).map_err(|e| {
                config.error_at(
                    "rules",
                    Code::BadValue,
                    format!("the rule file `{rule}` cannot be used: {e}"),
                )
            })?;
            own.extend(rules);
        }
        scanner.engine.own.get_or_init(|| own);
        Ok(scanner)
    }

    fn has_rule(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| rule == name)
    }

    fn scanner(&self) -> Result<&Scanner, OracleError> {
        self.engine
            .scanner
            .get_or_init(|| {
                Scanner::new(
                    self.has_rule("no-secrets"),
                    self.engine.own.get().map(Vec::as_slice).unwrap_or_default(),
                )
            })
            .as_ref()
            .map_err(|e| OracleError::failed(e.as_str()))
    }

    /// Scans texts, each on whatever core is free.
    fn scan(&self, added: &[Added], context: &HookContext) -> Result<Vec<Finding>, OracleError> {
        if added.is_empty() {
            return Ok(Vec::new());
        }
        let scanner = self.scanner()?;
        let sql = self.has_rule("no-sql-injection");
        let is_left_out = |path: &str| {
            self.allow
                .paths
                .iter()
                .any(|glob| fast_glob::glob_match(glob, path))
        };
        Ok(added
            .par_iter()
            .filter(|text| !text.path.as_deref().is_some_and(is_left_out))
            .flat_map_iter(|text| {
                let mut found = secrets_in(scanner, text);
                if sql {
                    found.extend(injections_in(text, context));
                }
                found
            })
            .collect())
    }

    fn allows(&self, finding: &Finding) -> bool {
        self.allow
            .fingerprints
            .iter()
            .any(|entry| finding.is_named_by(entry))
            || finding.file.as_deref().is_some_and(|file| {
                self.allow
                    .paths
                    .iter()
                    .any(|glob| fast_glob::glob_match(glob, file))
            })
    }
}

/// Whether a scanner's result lies in an added line.
fn is_added(found: &sarif::Found, added: &[Added]) -> bool {
    let file = added.iter().find(|text| text.path == found.finding.file);
    match (file, found.finding.line) {
        (Some(text), Some(line)) => text.touches(line, found.last_line.unwrap_or(line)),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

fn secrets_in(scanner: &Scanner, text: &Added) -> Vec<Finding> {
    let path = text.path.as_deref();
    scanner
        .scan(&text.text, path)
        .into_iter()
        .filter_map(|hit| {
            let secret = text.text.get(hit.range.clone())?;
            let rule = hit.rule.and_then(|n| scanner.rule(n));
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

fn injections_in(text: &Added, context: &HookContext) -> Vec<Finding> {
    let Some(path) = text.path.as_deref().filter(|path| sql::knows(path)) else {
        return Vec::new();
    };
    // The tree needs the whole file, of which only the added lines count.
    let whole = (!text.lines.is_empty())
        .then(|| context.workspace().read(path).ok())
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let source = whole.as_deref().unwrap_or(&text.text);
    sql::scan(path, source)
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

/// Says what was found.
fn signal(findings: &[Finding], intensity: Intensity) -> Signal {
    let named: Vec<String> = findings
        .iter()
        .take(NAMED)
        .map(|f| {
            format!(
                "{} in {} ({}, {})",
                f.what,
                f.place(),
                f.rule,
                f.fingerprint
            )
        })
        .collect();
    let mut reason = match findings.len() {
        1 => "1 security finding: ".to_owned(),
        n => format!("{n} security findings: "),
    };
    reason.push_str(&named.join("; "));
    if findings.len() > NAMED {
        reason.push_str(&format!("; and {} more", findings.len() - NAMED));
    }
    let mut steps: Vec<String> = findings
        .iter()
        .take(NAMED)
        .map(|f| format!("{}: {}", f.place(), f.remedy))
        .collect();
    steps.dedup();
    steps
        .push("what is no finding, a person can allow by its fingerprint under `allow`".to_owned());
    let mut files: Vec<String> = findings.iter().filter_map(|f| f.file.clone()).collect();
    files.sort_unstable();
    files.dedup();
    let mut fingerprints: Vec<&str> = findings.iter().map(|f| f.fingerprint.as_str()).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    let severity = findings
        .iter()
        .map(|f| f.severity)
        .max()
        .unwrap_or_default();
    Signal::with(intensity, "security-finding", reason)
        .severity(severity)
        .steps(steps)
        .files(files)
        .fingerprint(fingerprints)
}
