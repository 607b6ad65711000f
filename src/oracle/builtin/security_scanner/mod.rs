//! SecurityScanner: secrets and injectable SQL in what is added.

mod finding;
mod rule_file;
mod sarif;
mod search;
mod sql;

use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use self::finding::{Finding, signal};
use self::rule_file::Rule;
use self::search::Search;
use super::values::{Texts, check_globs};
use crate::diagnostic::nearest;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::added::Added;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs, added,
};
use crate::signal::{Intensity, Severity, Signal};

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
    programs: Programs::WithKeys(&["scanners"]),
    file_key: Some(("rules", OWN_RULES)),
    schema: || schemars::schema_for!(SecurityScanner),
    build: |config| SecurityScanner::build(config).map(|s| Arc::new(s) as Arc<dyn Oracle>),
};

/// The rules that need no file.
pub(super) const OWN_RULES: &[&str] = &["no-secrets", "no-sql-injection"];

/// How many bytes take longer to scan than other threads to be woken.
const WORTH_THREADS: usize = 256 << 10;

/// What is to be done about what a later commit has taken away.
const IN_HISTORY: &str = "taking it away later does not take it out of what is pushed: rewrite the commits (`git rebase -i`), and replace a secret that has left this machine";

/// What is to be done about what is only in the index.
const STAGED: &str = "it is staged, though the file does not hold it: `git add` the file as it is, or `git restore --staged` it";

/// Stops secrets and injectable SQL before they are written or submitted.
///
/// What it does: at tool triggers it scans the text that is about to be written, or the command line with its
/// here-documents. At all other triggers it scans the lines that the change adds, those that are staged, the lines that
/// each commit adds (even if a later commit removes them), all that a commit says (message, people, notes, the branches and
/// tags that point at it), the names of new files and what links lead to. It looks into the commits of submodules too. Where
/// there is a remote, commits that no remote has count even if they are on the default branch; on a default branch without
/// a remote, it scans the newest hundred commits. Attributes, encodings, replaced commits and flags of the index
/// (`--assume-unchanged`) hide nothing. What is not committed in a submodule or another repository, what is stashed and what
/// only a tag holds is not part of the change. A file that cannot be read, or whose encoding hides its text
/// (`working-tree-encoding`), cannot be judged.
///
/// `no-secrets` knows more than a hundred formats of keys and tokens as their vendors document them, passwords in URLs,
/// and random-looking values that are assigned to something called a password, token or secret. Placeholders and examples
/// are ignored. `no-sql-injection` searches the syntax trees of Python, JavaScript, TypeScript, Go, Java, Rust and PHP
/// for queries that are built from values. A file with your own rules has the fields of gitleaks (`id`, `regex`,
/// `keywords`, `entropy`, `secretGroup`, `path`, `allowlist`) and `severity`. A scanner is a command that prints SARIF
/// 2.1.0. It runs if files have changed, but not before a tool.
///
/// At `pre-tool-use` it does not read the content of a `git commit` or `git push`, neither from the shell of an agent nor
/// from the hooks of git. To stop a secret there, bind the oracle at `pre-issue-submit`, and let a hook of git judge that
/// trigger: `ahp run pre-issue-submit`.
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
    /// The severity from which a finding blocks; below that, it prompts.
    severity_threshold: Severity,
    /// What is not reported: fingerprints and paths; a list of both is accepted too.
    allow: Allow,
    /// Command lines that print SARIF 2.1.0.
    scanners: Texts,
    #[serde(skip)]
    engine: Engine,
}

/// What is not a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
struct Allow {
    /// Fingerprints as findings name them, or `file:rule:line`.
    fingerprints: Vec<String>,
    /// Globs of files that are not scanned.
    paths: Vec<String>,
}

/// The rules, made ready when something is first scanned.
#[derive(Clone, Default)]
struct Engine {
    own: Arc<OnceLock<Vec<Rule>>>,
    search: Arc<OnceLock<Result<Search, String>>>,
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
        let allow = deserializer.deserialize_any(Visitor)?;
        check_globs(&allow.paths)?;
        Ok(allow)
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
        let (mut findings, not_judged) = self.scan(&added, context)?;
        let mut failures: Vec<OracleError> = not_judged.into_iter().collect();
        if !at_tool {
            let (staged, not_judged) = self.scan(&added::by_index(context)?, context)?;
            failures.extend(not_judged);
            let (committed, not_judged) = self.scan(&added::by_commits(context)?, context)?;
            failures.extend(not_judged);
            let is_gone = |finding: &Finding| {
                let is_it =
                    |f: &Finding| f.fingerprint == finding.fingerprint && f.file == finding.file;
                !findings.iter().any(is_it)
            };
            let gone = staged.into_iter().chain(committed).filter(is_gone);
            let mut gone: Vec<Finding> = gone.collect();
            gone.sort_by(|a, b| (&a.fingerprint, &a.file).cmp(&(&b.fingerprint, &b.file)));
            gone.dedup_by(|a, b| a.fingerprint == b.fingerprint && a.file == b.file);
            findings.extend(gone.into_iter().map(|finding| Finding {
                remedy: if finding.commit.is_some() {
                    IN_HISTORY
                } else {
                    STAGED
                },
                ..finding
            }));
        }
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
                    Err(error) => failures.push(error),
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
        }
        if !light.is_empty() {
            signals.push(signal(&light, Intensity::Prompt));
        }
        // What a scanner could not look at is not known to be clean.
        if signals.is_empty() {
            return all_of(failures).map_or_else(|| Ok(signals), Err);
        }
        signals.extend(failures.iter().map(failed));
        Ok(signals)
    }
}

impl SecurityScanner {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let scanner: Self = config.decode()?;
        if scanner.rules.is_empty() && scanner.scanners.0.is_empty() {
            return Err(config.bad_value("rules", "no rule and no scanner is named, so that nothing would be found (expected `no-secrets`, `no-sql-injection`, or the path of a rule file); `enabled: false` switches a binding off"));
        }
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
                return Err(config.bad_value("rules", format!("there is no rule `{rule}`{hint} (expected `no-secrets`, `no-sql-injection`, or the path of a rule file)")));
            }
            let rules = rule_file::read(&config.root.join(rule)).map_err(|e| {
                config.bad_value(
                    "rules",
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

    fn search(&self) -> Result<&Search, OracleError> {
        self.engine
            .search
            .get_or_init(|| {
                Search::new(
                    self.has_rule("no-secrets"),
                    self.has_rule("no-sql-injection"),
                    self.engine.own.get().map(Vec::as_slice).unwrap_or_default(),
                )
            })
            .as_ref()
            .map_err(|e| OracleError::failed(e.as_str()))
    }

    /// Scans texts; where they are many, each on whatever core is free. The error inside is of what could not be judged.
    fn scan(
        &self,
        added: &[Added],
        context: &HookContext,
    ) -> Result<(Vec<Finding>, Option<OracleError>), OracleError> {
        if added.is_empty() {
            return Ok((Vec::new(), None));
        }
        let search = self.search()?;
        let is_left_out = |path: &str| {
            self.allow
                .paths
                .iter()
                .any(|glob| fast_glob::glob_match(glob, path))
        };
        let read = |path: &str| {
            let bytes = context.workspace().read(path).ok()?;
            Some(added::text_of(&bytes))
        };
        let find = |text: &Added| {
            if text.path.as_deref().is_some_and(is_left_out) {
                return (Vec::new(), None);
            }
            search.scan(text, read)
        };
        let bytes: usize = added.iter().map(|text| text.text.len()).sum();
        let scanned: Vec<_> = if bytes < WORTH_THREADS {
            added.iter().map(find).collect()
        } else {
            added.par_iter().map(find).collect()
        };
        let (findings, unjudged): (Vec<_>, Vec<_>) = scanned.into_iter().unzip();
        let unjudged = unjudged.into_iter().flatten().next();
        Ok((findings.into_iter().flatten().collect(), unjudged))
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

/// Returns one error that tells all of them; that a person has yet to trust something only where there is nothing else.
fn all_of(mut failures: Vec<OracleError>) -> Option<OracleError> {
    failures.sort_by_key(|failure| matches!(failure, OracleError::Untrusted(_)));
    if failures.len() < 2 || matches!(failures.first(), Some(OracleError::Untrusted(_))) {
        return failures.into_iter().next();
    }
    let told: Vec<String> = failures.iter().map(ToString::to_string).collect();
    Some(OracleError::failed(told.join("; ")))
}

/// Blocks beside findings for a scanner that failed: they must not be all that is told.
fn failed(failure: &OracleError) -> Signal {
    let told = failure.to_string();
    let reason = format!("{told}; what it looks at is not known to be clean");
    Signal::block("scanner-failed", reason)
        .steps(["run the scanner and fix what keeps it from its work"])
        .fingerprint(["scanner-failed", &told])
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
