//! ReviewTrigger: the right people are asked for a review.

mod codeowners;
mod forge;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::codeowners::CodeOwners;
use super::values::Texts;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::toolchain::in_time;
use crate::oracle::wording::last_said;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::process::{Exit, Program};
use crate::signal::{Intensity, Signal};

pub(super) static DEFINITION: Definition = Definition {
    name: "ReviewTrigger",
    kebab: "review-trigger",
    summary: "The owners of the changed files are asked for a review.",
    triggers: &[Trigger::PostIssueSubmit],
    intensities: &[Intensity::Aid],
    needs: &[FactSource::Git, FactSource::Issue],
    programs: Programs::WithKeys(&["command", "create_pr", "webhook"]),
    file_key: None,
    schema: || schemars::schema_for!(ReviewTrigger),
    build: |config| ReviewTrigger::build(config).map(|r| Arc::new(r) as Arc<dyn Oracle>),
};

/// How many files are handed on.
const MAX_FILES: usize = 500;

/// Asks for a review of the change, and says who was asked and how.
///
/// What it does: it finds the reviewers: those in the configuration, and the owners of the changed files by CODEOWNERS,
/// read as GitHub reads it (`.github/`, the root, `docs/`; the last matching pattern wins). Then it does only what is
/// configured: it opens a pull request with `gh` or `glab` (`create_pr`), runs a `command`, and posts to a `webhook`. The
/// command and the webhook get one JSON document: `issue_id`, `title`, `branch`, `reviewers`, `files`.
///
/// It gives an aid that lists what was done, and what failed with the reason. The address of a webhook is a secret: write
/// `$NAME`, and set the variable in the environment. `curl` posts to it, up to three times. Neither the address nor the
/// content is shown or logged.
///
/// ```yaml
/// hooks:
///   post-issue-submit:
///     - oracle: ReviewTrigger
///       async: true
///       config:
///         notify_reviewers: true
///         create_pr: false
///         reviewers: ["@org/platform"]
///         webhook: $REVIEW_WEBHOOK
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReviewTrigger {
    /// Whether reviewers are found and named. If not, only the other configured steps are done; without any, nothing
    /// is said.
    notify_reviewers: bool,
    /// Whether a pull request is opened, or reviewers are added to the open one, with `gh` or `glab`.
    create_pr: bool,
    /// Reviewers in addition to the owners of the files: `@user`, `@organisation/team`, an address.
    reviewers: Texts,
    /// A command line that is run in the project's root; it reads the JSON document, and has `AHP_REVIEWERS` and
    /// `AHP_ISSUE_ID` in its environment.
    command: Option<String>,
    /// The address to which the JSON document is posted: `https://…`, or `$NAME` for a variable of the environment.
    webhook: Option<String>,
}

impl Default for ReviewTrigger {
    fn default() -> Self {
        Self {
            notify_reviewers: true,
            create_pr: false,
            reviewers: Texts::default(),
            command: None,
            webhook: None,
        }
    }
}

/// What is told of the change.
struct Change {
    title: String,
    branch: Option<String>,
    files: Vec<String>,
    /// Each reviewer with the files that she owns.
    reviewers: BTreeMap<String, Vec<String>>,
}

#[async_trait]
impl Oracle for ReviewTrigger {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let mut notes = Vec::new();
        let change = self.change(context, &mut notes);
        let reviewers: Vec<String> = change.reviewers.keys().cloned().collect();
        if self.notify_reviewers {
            notes.push(if reviewers.is_empty() {
                "nobody is configured as a reviewer, and CODEOWNERS names no owner of these files"
                    .to_owned()
            } else {
                format!("reviewers: {}", reviewers.join(", "))
            });
        }
        let issue = context.facts.issue_id();
        let document = json!({
            "issue_id": issue,
            "title": change.title,
            "branch": change.branch,
            "reviewers": reviewers,
            "files": change.files.iter().take(MAX_FILES).collect::<Vec<_>>(),
            "file_count": change.files.len(),
        })
        .to_string();
        if context.workspace().is_on_disk() {
            self.act(context, &change, &reviewers, &document, &mut notes);
        }
        if notes.is_empty() {
            return Ok(Vec::new());
        }
        if let (Ok(None), Some(id)) = (context.facts.issue(), issue) {
            notes.push(format!("no file was found for issue {id}"));
        }
        let steps: Vec<String> = change
            .reviewers
            .iter()
            .filter(|_| self.notify_reviewers && !self.create_pr)
            .map(|(reviewer, files)| {
                let named = files
                    .iter()
                    .take(3)
                    .map(|f| format!("`{f}`"))
                    .collect::<Vec<_>>()
                    .join(", ");
                match files.len() {
                    0 => format!("ask {reviewer} for a review"),
                    1..=3 => format!("ask {reviewer} for a review of {named}"),
                    n => format!("ask {reviewer} for a review of {named} and {} more", n - 3),
                }
            })
            .collect();
        let head = issue.map_or("review".to_owned(), |id| format!("review of {id}"));
        Ok(vec![
            Signal::aid("review-requested", format!("{head}: {}", notes.join("; ")))
                .steps(steps)
                .files(change.files.into_iter().take(MAX_FILES)),
        ])
    }
}

impl ReviewTrigger {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let trigger: Self = config.decode()?;
        if trigger
            .webhook
            .as_deref()
            .is_some_and(|address| !webhook::is_address(address))
        {
            // The address itself is not repeated: it may be a secret all the same.
            return Err(config.bad_value("webhook", "the webhook is not an address; expected `https://…`, `http://…`, or `$NAME` of a variable that holds one"));
        }
        if trigger
            .command
            .as_ref()
            .is_some_and(|c| c.trim().is_empty())
        {
            return Err(config.bad_value("command", "the command is empty"));
        }
        Ok(trigger)
    }

    fn change(&self, context: &HookContext, notes: &mut Vec<String>) -> Change {
        let files = match context.facts.changes() {
            Ok(changes) => changes.paths.clone(),
            Err(error) => {
                notes.push(format!("the changed files are not known: {error}"));
                Vec::new()
            }
        };
        let title = match context.facts.issue() {
            Ok(Some(issue)) => issue.title.clone().unwrap_or_else(|| issue.id.clone()),
            Ok(None) => context.facts.issue_id().unwrap_or("a change").to_owned(),
            Err(error) => {
                notes.push(format!("the issue cannot be read: {error}"));
                context.facts.issue_id().unwrap_or_default().to_owned()
            }
        };
        let mut reviewers = BTreeMap::<String, Vec<String>>::new();
        if self.notify_reviewers {
            for reviewer in &self.reviewers.0 {
                reviewers.entry(reviewer.clone()).or_default();
            }
            let owners = codeowners::PLACES
                .iter()
                .find_map(|place| context.workspace().read(place).ok());
            if let Some(owners) = owners.map(|bytes| CodeOwners::read(&bytes)) {
                for file in &files {
                    for owner in owners.of(file) {
                        reviewers
                            .entry(owner.clone())
                            .or_default()
                            .push(file.clone());
                    }
                }
            }
        }
        Change {
            title,
            branch: context
                .facts
                .git()
                .ok()
                .and_then(|git| git.branch().map(str::to_owned)),
            files,
            reviewers,
        }
    }

    /// Does what is configured, and notes what came of it.
    fn act(
        &self,
        context: &HookContext,
        change: &Change,
        reviewers: &[String],
        document: &str,
        notes: &mut Vec<String>,
    ) {
        if self.create_pr {
            let issue = context.facts.issue_id();
            let request = forge::Request {
                title: issue.map_or(change.title.clone(), |id| format!("{id}: {}", change.title)),
                body: issue.map_or_else(String::new, |id| format!("Issue {id}")),
                reviewers,
            };
            notes.push(
                forge::open(context, &request)
                    .unwrap_or_else(|e| format!("no pull request was opened: {e}")),
            );
        }
        if let Some(command) = &self.command {
            notes.push(match run(context, command, reviewers, document) {
                Ok(()) => format!("ran `{command}`"),
                Err(error) => format!("`{command}` failed: {error}"),
            });
        }
        if let Some(address) = &self.webhook {
            let shown = webhook::shown(address);
            notes.push(match webhook::post(context, address, document) {
                Ok(code) => format!("posted to {shown}, which answered {code}"),
                Err(error) => format!("posting to {shown} failed: {error}"),
            });
        }
    }
}

/// Runs the configured command with the document as its input.
fn run(
    context: &HookContext,
    command: &str,
    reviewers: &[String],
    document: &str,
) -> Result<(), String> {
    let finished = (context.held(Program::shell(command)))
        .dir(context.root())
        .env("AHP_REVIEWERS", reviewers.join(","))
        .env(
            "AHP_ISSUE_ID",
            context.facts.issue_id().unwrap_or_default().to_owned(),
        )
        .stdin(document)
        .deadline(in_time(context))
        .run()
        .map_err(|e| e.to_string())?;
    match finished.exit {
        Exit::Code(0) => Ok(()),
        Exit::TimedOut => Err("it did not end in time".to_owned()),
        Exit::Code(code) => {
            let said = last_said(&finished.stderr_text());
            Err(format!("it ended with code {code}: {said}"))
        }
        Exit::Signal(signal) => Err(format!("signal {signal} ended it")),
    }
}
