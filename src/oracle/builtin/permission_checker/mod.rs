//! PermissionChecker: no command runs that loses data, leaks it or opens the machine.

mod judged;
mod reading;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::judged::{Judged, allows_deed, judged};

use self::judged::Form;
use super::values::{Texts, globs};
use crate::danger::{CommandPattern, Finding, PRESETS, RuleFile, Selection, judge_with};
use crate::diagnostic::Code;
use crate::event::Trigger;
use crate::fact::{FactSource, Facts};
use crate::oracle::{
    ConfigError, Definition, HookContext, Mode, Oracle, OracleConfig, OracleError, Programs,
    ProjectKnowledge,
};
use crate::regular_file;
use crate::shell::{lexical, real};
use crate::signal::{Intensity, Severity, Signal};

pub(super) static DEFINITION: Definition = Definition {
    name: "PermissionChecker",
    kebab: "permission-checker",
    summary: "No command runs that loses data, leaks it or opens the machine.",
    triggers: &[Trigger::PreToolUse],
    intensities: &[Intensity::Block, Intensity::Prompt],
    needs: &[FactSource::Event, FactSource::Shell],
    programs: Programs::None,
    file_key: Some(("rules", &[])),
    schema: || schemars::schema_for!(PermissionChecker),
    build: |config| {
        PermissionChecker::build(config).map(|checker| Arc::new(checker) as Arc<dyn Oracle>)
    },
};

/// How much of a command a message tells, in characters: an agent reads the reason, not the command that it has written.
const MAX_SHOWN: usize = 160;

/// The most characters of a reason, of a rule's id and of what a command runs through.
const MAX_REASON: usize = 180;
const MAX_PART: usize = 48;

/// The most characters of all that stands before the steps, so that with the name of the oracle it is at most 400.
pub(super) const MAX_TEXT: usize = 360;

/// The most findings that one event gives signals of.
const MAX_SIGNALS: usize = 10;

/// Stops a tool call that would run a dangerous command. It judges what would run, not what the text says.
///
/// The command line is parsed and followed through `sudo`, `env`, `xargs`, `find -exec`, `bash -c`, `eval`, pipes into a
/// shell, here-documents, command substitutions, variables of the same line, functions, containers, remote shells, and
/// inline code of interpreters. A text that only mentions a command (`echo`, `grep`, a commit message) is not stopped.
///
/// Every rule has an id, a reason and a safer alternative, and the agent is told all three. If a command line cannot be
/// parsed and contains anything that a rule names, a person is asked, whatever `require_confirmation` says.
///
/// ```yaml
/// hooks:
///   pre-tool-use:
///     - oracle: PermissionChecker
///       config:
///         dangerous_commands: ["rm -rf", "DROP TABLE"]
///         protected_paths: ["migrations/**", "~/.ssh"]
///         allow_commands: ["git push --force-with-lease"]
///         require_confirmation: true
///       when:
///         tool: [Bash, Database]
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PermissionChecker {
    /// More commands to stop, in addition to those of the preset: a program with options in any order and form (`rm -rf`
    /// means `rm -r -f` too) and words, or the words of a statement for a database (`DROP TABLE`).
    dangerous_commands: Vec<String>,
    /// Commands that are never stopped, written in the same way: such an entry lets them pass with further words and options
    /// as well. With `=` before it, it means the command with these words alone, run in the root of the project, or in
    /// another folder: `=cd docs && rm -rf out`. `ahp allow` writes that form. What a tool does is written as a message shows
    /// it: `read .env`.
    allow_commands: Vec<String>,
    /// Paths and globs that no tool may write, delete or move; a directory includes everything below it, and `*.pem`
    /// means files with such a name in any directory.
    #[serde(deserialize_with = "globs")]
    protected_paths: Vec<String>,
    /// Asks a person instead of blocking.
    require_confirmation: bool,
    /// The rules in force: `standard` (the default: rules about lost and leaked data), `none`, or one or more of `cloud`,
    /// `database`, `exfiltration`, `filesystem`, `git`, `secrets`, `supply-chain`, `system`, each including its strict rules.
    preset: Texts,
    /// Files with more rules (`*.rules`, relative to the project), in the format of docs/rules.md. They apply with every
    /// `preset`; a rule's id begins with the name of its file.
    rules: Vec<String>,
    #[serde(skip)]
    #[schemars(skip)]
    selection: Selection,
}

impl Default for PermissionChecker {
    fn default() -> Self {
        Self {
            dangerous_commands: Vec::new(),
            allow_commands: Vec::new(),
            protected_paths: Vec::new(),
            require_confirmation: false,
            preset: Texts(vec!["standard".to_owned()]),
            rules: Vec::new(),
            selection: Selection::default(),
        }
    }
}

impl PermissionChecker {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let mut checker: Self = config.decode()?;
        let presets = checker.preset.0.clone();
        let known = || PRESETS.iter().copied().chain(["standard", "none"]);
        if let Some(wrong) = presets.iter().find(|p| !known().any(|k| k == p.as_str())) {
            return Err(ConfigError(vec![
                crate::diagnostic::Diagnostic::error(
                    Code::BadValue,
                    format!("there is no preset `{wrong}`"),
                    config.span_of("preset"),
                )
                .did_you_mean(wrong, known())
                .help(format!(
                    "expected one of {}",
                    known()
                        .map(|k| format!("`{k}`"))
                        .collect::<Vec<_>>()
                        .join(", ")
                )),
            ]));
        }
        for (key, commands) in [
            ("dangerous_commands", &checker.dangerous_commands),
            ("allow_commands", &checker.allow_commands),
        ] {
            if commands.iter().any(|c| c.trim().is_empty()) {
                return Err(config.bad_value(key, "a command must not be empty"));
            }
        }
        let patterns =
            |commands: &[String]| commands.iter().map(|c| CommandPattern::new(c)).collect();
        let mut files = Vec::new();
        for path in &checker.rules {
            let file = read_rules(&config.root.join(path));
            files.push(file.map_err(|faults| {
                let message = format!("the rules of `{path}` cannot be used:\n{faults}");
                config.bad_value("rules", message)
            })?);
        }
        checker.selection = Selection {
            presets,
            files,
            dangerous: patterns(&checker.dangerous_commands),
            allowed: patterns(&checker.allow_commands),
        };
        Ok(checker)
    }

    fn findings(&self, context: &HookContext) -> Vec<Finding> {
        let facts = &context.facts;
        let (Some(tool), Some(call)) = (facts.tool(), &facts.event().tool) else {
            return Vec::new();
        };
        let knowledge = ProjectKnowledge::new(facts);
        let mut findings: Vec<Finding> = Vec::new();
        let mut has_read = false;
        for one in judged(facts) {
            if one.form == Form::Reading && has_read {
                continue;
            }
            for finding in judge_with(&one.analysis, &self.selection, &knowledge) {
                let finding = match &one.shown {
                    Some(shown) => Finding {
                        command: shown.clone(),
                        ..finding
                    },
                    None => finding,
                };
                let is_allowed = || self.allows(&finding.command, facts.work_dir(), facts);
                if one.form != Form::Line && is_allowed() {
                    continue;
                }
                has_read |= one.form == Form::Reading;
                let is_same = |known: &Finding| {
                    known.rule == finding.rule && known.command == finding.command
                };
                if !findings.iter().any(is_same) {
                    findings.push(finding);
                }
                // What a tool does itself is one thing, and its gravest rule is told.
                if one.form != Form::Line {
                    break;
                }
            }
            if one.form == Form::Line && !self.protected_paths.is_empty() {
                for effect in one.analysis.writes() {
                    self.protect(context, &effect.path, &effect.program, &mut findings);
                }
            }
        }
        if tool.changes_files(&call.name) {
            for path in &tool.paths {
                let path = lexical(path, context.root(), facts.home());
                self.protect(context, &path, tool.kind.name(), &mut findings);
            }
        }
        findings
    }

    /// Whether the policy allows what a tool does that is no shell, in the words that a message has for it: `read .env`.
    fn allows(&self, shown: &str, from: &Path, facts: &Facts) -> bool {
        let mut entries = self.allow_commands.iter();
        entries.any(|entry| allows_deed(entry, shown, from, facts))
    }

    fn protect(&self, context: &HookContext, path: &Path, by: &str, findings: &mut Vec<Finding>) {
        let root = context.root();
        let found = self.protected_paths.iter().find(|protected| {
            let bare = protected.strip_prefix("glob:").unwrap_or(protected);
            let bare = bare.trim_end_matches('/');
            let plain = bare.strip_suffix("/**").unwrap_or(bare);
            let target = lexical(plain, root, context.facts.home());
            let is_below = |path: &Path, target: &Path| path.starts_with(target);
            let inner = path.strip_prefix(root).unwrap_or(path);
            // As elsewhere, a pattern without a directory means files of that name in every one.
            let is_named = || {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                !bare.contains('/') && fast_glob::glob_match(bare, name.as_ref())
            };
            is_below(path, &target)
                || is_below(&real(path), &real(&target))
                || fast_glob::glob_match(bare, inner.to_string_lossy().as_ref())
                || fast_glob::glob_match(bare, path.to_string_lossy().as_ref())
                || (bare.contains('*') && is_named())
        });
        if let Some(protected) = found {
            let shown = relative(path, root);
            let finding = Finding {
                rule: format!("protected_paths:{protected}"),
                severity: Severity::High,
                reason: format!("`{}` is protected by the policy", shown.display()),
                instead: "leave it as it is, or ask a person to change it".to_owned(),
                command: format!("{by} {}", shown.display()),
                through: Vec::new(),
                uncertain: false,
            };
            if !findings.contains(&finding) && !self.allows(&finding.command, root, &context.facts)
            {
                findings.push(finding);
            }
        }
    }

    fn signal(&self, finding: &Finding) -> Signal {
        let text = told(finding, MAX_TEXT);
        let signal = if self.require_confirmation || finding.uncertain {
            Signal::prompt("dangerous-command", text).must_be_answered()
        } else {
            Signal::block("dangerous-command", text)
        };
        // What could not be understood is no less grave for that.
        let least = if finding.uncertain {
            Severity::High
        } else {
            Severity::Low
        };
        let severity = finding.severity.max(least);
        signal
            .severity(severity)
            .steps([finding.instead.clone(), by_a_person(finding).to_owned()])
            .about(&finding.rule, &finding.command)
    }
}

/// Says a finding in so many characters: the command, what it does, and the rule.
pub(super) fn told(finding: &Finding, most: usize) -> String {
    let through = match finding.through.as_slice() {
        [] => String::new(),
        [first, _, _, _, _, ..] => {
            format!(" (through {first} and {} more)", finding.through.len() - 1)
        }
        few => format!(" (through {})", few.join(", ")),
    };
    let doubt = if finding.uncertain {
        "; the command could not be fully understood"
    } else {
        ""
    };
    let why = format!(
        "{}: {}{doubt} [{}]",
        cut(&through, MAX_PART),
        cut(&finding.reason, MAX_REASON),
        cut(&finding.rule, MAX_PART)
    );
    let left = most.saturating_sub(why.chars().count());
    format!("`{}`{why}", cut(&finding.command, left.min(MAX_SHOWN)))
}

/// Returns what a person can do for a command: allow it only where the words that the message shows are an entry for it.
fn by_a_person(finding: &Finding) -> &'static str {
    let shown = finding.command.as_str();
    let is_whole = !shown.contains('…')
        && !matches!(
            finding.rule.as_str(),
            "system:fork-bomb" | "unreadable-command"
        );
    let is_entry = || {
        !shown.contains(" | ")
            || finding.through.is_empty() && CommandPattern::exactly(shown, Path::new("")).is_ok()
    };
    if is_whole && is_entry() {
        "if it must be this command, ask a person to run it or to allow it by `allow_commands`"
    } else {
        "if it must be this command, ask a person to run it"
    }
}

/// The longest file of rules that is read, in bytes.
const MAX_RULES: u64 = 16 << 20;

/// Reads a file of rules; an error tells each fault with its line.
fn read_rules(path: &Path) -> Result<RuleFile, String> {
    let text = regular_file::text(path, MAX_RULES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "there is no file `{}`: a path is relative to the project",
            path.display()
        ),
        _ => error.to_string(),
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    RuleFile::new(&name, &text).map_err(|faults| {
        let lines = faults
            .iter()
            .map(|fault| format!("{}:{}: {}", path.display(), fault.line, fault.message));
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// Cuts a text to so many characters, and shows that it was.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn relative(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

#[async_trait]
impl Oracle for PermissionChecker {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        Ok(self
            .findings(context)
            .iter()
            .take(MAX_SIGNALS)
            .map(|finding| self.signal(finding))
            .collect())
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }
}
