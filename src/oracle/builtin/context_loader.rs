//! ContextLoader: tells an agent what it needs to know of its issue before it begins.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::wording::counted;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Signal};
use crate::words::words;
use crate::workspace::{ChecklistItem, CommitsOf, Issue};

pub(super) static DEFINITION: Definition = Definition {
    name: "ContextLoader",
    kebab: "context-loader",
    summary: "Tells the agent what it needs to know of its issue.",
    triggers: &[
        Trigger::PostIssueStart,
        Trigger::PreIssueStart,
        Trigger::PreSession,
        Trigger::PreAgentTurn,
        Trigger::PreSubagent,
        Trigger::PostContextCompact,
    ],
    intensities: &[Intensity::Aid],
    needs: &[FactSource::Issue, FactSource::Git],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(ContextLoader),
    build: |config| ContextLoader::build(config).map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>),
};

/// How many files, items or related issues are named one by one.
const MOST_NAMED: usize = 30;

/// Headings below which an issue says what it is for.
const OBJECTIVES: &[&str] = words!("objective-headings");

/// Tells the agent what it needs to know about its issue.
///
/// What it does: it gives an aid with the title and state of the issue, its objective, the open items of its checklist,
/// its files with their size, the recent commits that changed them, and the issues that it belongs to, depends on or is
/// related to, with their state. If the trigger names no issue, it uses the issue whose id is part of the branch name
/// (`FEAT-0123-login`, `me/FEAT-0123/login`). If there is no such issue, it says nothing.
///
/// ```yaml
/// hooks:
///   post-issue-start:
///     - oracle: ContextLoader
///       config:
///         include_files: true
///         include_git_history: true
///         max_commits: 5
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ContextLoader {
    /// Whether the files of the issue are listed: those that it names, or else those that its branch changes.
    include_files: bool,
    /// Whether the recent commits on those files are listed; without such files, those of the whole project.
    include_git_history: bool,
    /// The largest length of the text in bytes, at least 256; it is cut at the end of a line.
    #[schemars(range(min = 256))]
    max_bytes: usize,
    /// The largest number of commits that are listed.
    max_commits: usize,
}

impl Default for ContextLoader {
    fn default() -> Self {
        Self {
            include_files: true,
            include_git_history: false,
            max_bytes: 8192,
            max_commits: 10,
        }
    }
}

#[async_trait]
impl Oracle for ContextLoader {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let Some(id) = context.facts.issue_id() else {
            return Ok(Vec::new());
        };
        let signal = match context.facts.issue() {
            Ok(Some(issue)) => Some(self.describe(issue, context)),
            Ok(None) => Some(Signal::aid(
                "issue-not-found",
                format!(
                    "no issue `{id}` was found below `{}`",
                    context.workspace().issues_dir().display()
                ),
            )),
            Err(error) => Some(
                Signal::aid(
                    "issue-unreadable",
                    format!("issue `{id}` cannot be read: {error}"),
                )
                .steps([error.remedy()])
                .files(error.files()),
            ),
        };
        Ok(signal.into_iter().collect())
    }
}

impl ContextLoader {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let oracle: Self = config.decode()?;
        if oracle.max_bytes < 256 {
            return Err(config.bad_value(
                "max_bytes",
                format!(
                    "{} bytes are too few to say anything; expected at least 256",
                    oracle.max_bytes
                ),
            ));
        }
        Ok(oracle)
    }

    fn describe(&self, issue: &Issue, context: &HookContext) -> Signal {
        let files = self.files(issue, context);
        let mut text = head(issue);
        write_objective(&mut text, issue);
        write_checklist(&mut text, issue);
        if self.include_files {
            write_files(&mut text, &files, context);
        }
        if self.include_git_history {
            self.write_commits(&mut text, &files, context);
        }
        let waiting = write_relations(&mut text, issue, context);
        let follow_ups = waiting.into_iter().chain(next_item(issue));
        Signal::aid("issue-context", cut(&text, self.max_bytes, &issue.path))
            .steps(follow_ups)
            .files(std::iter::once(issue.path.clone()).chain(files.into_iter().take(MOST_NAMED)))
    }

    fn files(&self, issue: &Issue, context: &HookContext) -> Vec<String> {
        if !issue.files.is_empty() || !(self.include_files || self.include_git_history) {
            return issue.files.clone();
        }
        // Without git there is nothing to add.
        let changes = context
            .workspace()
            .changes(crate::workspace::ChangeScope::Branch);
        changes.map_or_else(|_| Vec::new(), |changes| changes.paths.clone())
    }

    fn write_commits(&self, text: &mut String, files: &[String], context: &HookContext) {
        let paths = files.iter().take(1000).cloned().collect();
        let commits = context
            .workspace()
            .commits(&CommitsOf::Paths(paths), self.max_commits);
        let commits = match commits {
            Ok(commits) if commits.is_empty() => return,
            Ok(commits) => commits,
            Err(error) => {
                writeln!(text, "\nRecent commits are not known: {error}").ok();
                return;
            }
        };
        text.push_str(if files.is_empty() {
            "\nRecent commits:\n"
        } else {
            "\nRecent commits on these files:\n"
        });
        for commit in commits {
            writeln!(
                text,
                "- {} {} {} ({})",
                commit.short_id(),
                commit.time.format("%Y-%m-%d"),
                commit.subject(),
                commit.author
            )
            .ok();
        }
    }
}

fn head(issue: &Issue) -> String {
    let title = issue.title.as_deref().unwrap_or("(no title)");
    format!("{}: {title}{}\n", issue.id, state(issue))
}

/// Returns type, status, stage and criticality in brackets.
fn state(issue: &Issue) -> String {
    let parts = [&issue.kind, &issue.status, &issue.stage, &issue.criticality];
    let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    if known.is_empty() {
        String::new()
    } else {
        format!(" ({})", known.join(", "))
    }
}

fn write_objective(text: &mut String, issue: &Issue) {
    let objective = OBJECTIVES.iter().find_map(|name| issue.section(name));
    if let Some(objective) = objective {
        writeln!(text, "\nObjective:\n{objective}").ok();
    }
}

fn write_checklist(text: &mut String, issue: &Issue) {
    let (total, done) = issue.progress();
    if total == 0 {
        return;
    }
    writeln!(
        text,
        "\nChecklist: {done} of {} done",
        counted(total, "item")
    )
    .ok();
    let open: Vec<&ChecklistItem> = issue.items().filter(|item| item.is_open()).collect();
    for item in open.iter().take(MOST_NAMED) {
        writeln!(text, "- [{}] {} (line {})", item.id, item.text, item.line).ok();
    }
    write_more(text, open.len());
}

fn write_files(text: &mut String, files: &[String], context: &HookContext) {
    if files.is_empty() {
        return;
    }
    text.push_str("\nFiles:\n");
    for path in files.iter().take(MOST_NAMED) {
        let size = match context.workspace().read(path) {
            Ok(content) => counted(content.len(), "byte"),
            Err(_) if context.workspace().exists(path) => "a folder".to_owned(),
            Err(_) => "not there".to_owned(),
        };
        writeln!(text, "- {path} ({size})").ok();
    }
    write_more(text, files.len());
}

fn write_more(text: &mut String, count: usize) {
    if count > MOST_NAMED {
        writeln!(text, "- and {} more", count - MOST_NAMED).ok();
    }
}

/// Writes what the issue hangs together with; returns what must be done before it.
fn write_relations(text: &mut String, issue: &Issue, context: &HookContext) -> Vec<String> {
    let mut waiting = Vec::new();
    let relations = issue
        .parent
        .iter()
        .map(|id| ("Part of", id))
        .chain(issue.dependencies.iter().map(|id| ("Depends on", id)))
        .chain(issue.related.iter().map(|id| ("Related to", id)));
    let mut first = true;
    for (relation, id) in relations.take(MOST_NAMED) {
        if std::mem::take(&mut first) {
            text.push('\n');
        }
        let told = match context.workspace().issue(id) {
            Ok(Some(other)) => {
                let title = other.title.as_deref().unwrap_or("(no title)");
                if relation == "Depends on" && !other.is_finished() {
                    waiting.push(format!(
                        "Finish {id} first, or make sure that nothing of it is needed: {title}"
                    ));
                }
                format!(": {title}{}", state(&other))
            }
            Ok(None) => " (no such issue)".to_owned(),
            Err(error) => format!(" ({error})"),
        };
        writeln!(text, "{relation} {id}{told}").ok();
    }
    waiting
}

fn next_item(issue: &Issue) -> Option<String> {
    let item = issue.items().find(|item| item.is_open())?;
    Some(format!("Begin with `{}`: {}", item.id, item.text))
}

/// Cuts a text at the end of a line so that it is no longer than `max` bytes.
fn cut(text: &str, max: usize, path: &str) -> String {
    let text = text.trim_end();
    if text.len() <= max {
        return text.to_owned();
    }
    let rest = format!("… the rest is in {path}");
    let mut kept = String::new();
    for line in text.lines() {
        if kept.len() + line.len() + 1 + rest.len() > max {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept.push_str(&rest);
    kept
}
