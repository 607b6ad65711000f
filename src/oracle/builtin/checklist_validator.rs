//! ChecklistValidator: an issue may go on when the items of its checklist are done.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::Texts;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::wording::{counted, listed};
use crate::oracle::{
    ConfigError, Definition, HookContext, Mode, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Severity, Signal};
use crate::workspace::{ChecklistItem, Issue, IssueError};

pub(super) static DEFINITION: Definition = Definition {
    name: "ChecklistValidator",
    kebab: "checklist-validator",
    summary: "The items of the issue's checklist are done.",
    triggers: &[
        Trigger::PreIssueSubmit,
        Trigger::PreIssueClose,
        Trigger::PreAgentTurnStop,
        Trigger::PreToolUse,
    ],
    intensities: &[Intensity::Block, Intensity::Prompt],
    needs: &[FactSource::Issue],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(ChecklistValidator),
    build: |config| {
        ChecklistValidator::build(config).map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>)
    },
};

/// How many open items are named in the reason.
const MOST_NAMED: usize = 20;

/// How many items have a step of their own: more cannot be worked on at once anyway.
const MOST_STEPS: usize = 40;

/// Lets an issue continue only if the items of its checklist are done.
///
/// What it does: it reads the checklist from the file of the issue: the `checklist:` of its front matter, or else the
/// task items of its text. There `- [ ]` is open, `- [/]` is being done, `- [x]` is done, and `- [~]` and `- [-]` are
/// cancelled. Cancelled items do not count. In the front matter, only `checked: true` means that an item is done. The
/// oracle blocks with the id and the line of each open item, one step for each. It also blocks if the file of the issue
/// is missing or cannot be understood, because then nothing is known. An issue without a checklist passes.
///
/// With `allow_partial: false`, every item must be done. With `allow_partial: true`, the share of done items must reach
/// `min_completion_rate`. If it does, a prompt lists what is still open; below that rate the oracle blocks.
///
/// ```yaml
/// hooks:
///   pre-issue-submit:
///     - oracle: ChecklistValidator
///       config:
///         allow_partial: true
///         min_completion_rate: 0.9
///         sections: [Acceptance Criteria, Technical Tasks]
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ChecklistValidator {
    /// Whether an issue may continue with open items if `min_completion_rate` is reached.
    allow_partial: bool,
    /// The share of items that must be done with `allow_partial: true`, from 0 to 1.
    min_completion_rate: f64,
    /// The headings whose items count, including headings below them; by default all. Items of the front matter have no heading
    /// and always count.
    sections: Texts,
    /// The ids of the items that count; by default all. An id that is not in the checklist blocks.
    ids: Texts,
}

impl Default for ChecklistValidator {
    fn default() -> Self {
        Self {
            allow_partial: false,
            min_completion_rate: 1.0,
            sections: Texts::default(),
            ids: Texts::default(),
        }
    }
}

#[async_trait]
impl Oracle for ChecklistValidator {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let signal = match (context.facts.issue(), context.facts.issue_id()) {
            (Ok(Some(issue)), _) => self.judge(issue),
            (Ok(None), Some(id)) => Some(not_found(id, context)),
            (Ok(None), None) => return context.issue().map(|_| Vec::new()),
            (Err(error), _) => Some(unreadable(error)),
        };
        Ok(signal.into_iter().collect())
    }

    fn mode(&self) -> Mode {
        Mode::Threaded
    }
}

impl ChecklistValidator {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let oracle: Self = config.decode()?;
        let rate = oracle.min_completion_rate;
        if !(0.0..=1.0).contains(&rate) {
            let hint = if (1.0..=100.0).contains(&rate) {
                format!(", such as `{}`", rate / 100.0)
            } else {
                String::new()
            };
            return Err(config.bad_value(
                "min_completion_rate",
                format!("`{rate}` is not a share of a whole; expected 0 to 1{hint}"),
            ));
        }
        Ok(oracle)
    }

    fn judge(&self, issue: &Issue) -> Option<Signal> {
        if let Some(missing) = self.missing(issue) {
            return Some(missing);
        }
        let items: Vec<&ChecklistItem> = issue.items().filter(|item| self.counts(item)).collect();
        let open: Vec<&ChecklistItem> = items.iter().copied().filter(|i| i.is_open()).collect();
        if open.is_empty() {
            return None;
        }
        let (total, done) = (items.len(), items.len() - open.len());
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let rate = done as f64 / total as f64;
        let reached = self.allow_partial && rate + 1e-9 >= self.min_completion_rate;
        let names: Vec<String> = open
            .iter()
            .map(|item| format!("[{}] {} (line {})", item.id, item.text, item.line))
            .collect();
        let needed = if self.allow_partial {
            let percent = |share: f64| (share * 1000.0).floor() / 10.0;
            format!(
                " ({} %, at least {} % are needed)",
                percent(rate),
                percent(self.min_completion_rate)
            )
        } else {
            String::new()
        };
        let text = format!(
            "checklist is not complete: {done} of {} done{needed}, open: {}",
            counted(total, "item"),
            listed(&names, MOST_NAMED)
        );
        let signal = if reached {
            Signal::prompt("checklist-incomplete", text).severity(Severity::Low)
        } else {
            Signal::block("checklist-incomplete", text)
        };
        Some(
            signal
                .steps(steps(issue, &open))
                .files([&issue.path].into_iter().filter(|path| !path.is_empty()))
                .locations(
                    open.iter()
                        .filter(|_| !issue.path.is_empty())
                        .map(|item| (&issue.path, item.line)),
                )
                .about_each(
                    "checklist-incomplete",
                    open.iter()
                        .map(|item| format!("{}: {}", issue.id, lasting(item))),
                ),
        )
    }

    fn counts(&self, item: &ChecklistItem) -> bool {
        let of_section = self.sections.0.is_empty()
            || item.headings.is_empty()
            || item
                .headings
                .iter()
                .any(|heading| self.sections.0.iter().any(|name| same(name, heading)));
        of_section && (self.ids.0.is_empty() || self.ids.0.iter().any(|id| same(id, &item.id)))
    }

    /// Says what the configuration names and the issue does not have: then nothing would be checked.
    fn missing(&self, issue: &Issue) -> Option<Signal> {
        let ids: Vec<String> = self
            .ids
            .0
            .iter()
            .filter(|id| !issue.checklist.iter().any(|item| same(id, &item.id)))
            .map(|id| format!("`{id}`"))
            .collect();
        let in_text = issue.checklist.iter().all(|item| item.headings.is_empty());
        let headings = issue.headings();
        let sections: Vec<String> = self
            .sections
            .0
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let no_section = !sections.is_empty()
            && (!in_text || issue.checklist.is_empty())
            && !self
                .sections
                .0
                .iter()
                .any(|name| headings.iter().any(|heading| same(name, heading)));
        let (what, step) = if !ids.is_empty() {
            let ids = listed(&ids, MOST_NAMED);
            (
                format!("{ids} must be done, but the checklist has no such item"),
                format!("Add {ids} to the checklist in {}", issue.path),
            )
        } else if no_section {
            let sections = listed(&sections, MOST_NAMED);
            (
                format!("the items below {sections} must be done, but there is no such heading"),
                format!(
                    "Add the section {sections} with its items to {}",
                    issue.path
                ),
            )
        } else {
            return None;
        };
        Some(
            Signal::block(
                "checklist-missing",
                format!(
                    "checklist of `{}` is not as the policy wants it: {what}",
                    issue.id
                ),
            )
            .steps([step])
            .files([&issue.path])
            .about("checklist-missing", format!("{}: {what}", issue.id)),
        )
    }
}

/// Returns one step for each open item, those that others depend on being named as such.
fn steps(issue: &Issue, open: &[&ChecklistItem]) -> Vec<String> {
    let mut steps: Vec<String> = open
        .iter()
        .take(MOST_STEPS)
        .map(|item| {
            let before: Vec<String> = item
                .depends_on
                .iter()
                .filter(|id| open.iter().any(|other| same(id, &other.id)))
                .map(|id| format!("`{id}`"))
                .collect();
            let after = if before.is_empty() {
                String::new()
            } else {
                format!(", after {}", before.join(" and "))
            };
            let text = if item.text.is_empty() {
                "(no text)"
            } else {
                &item.text
            };
            format!("Complete `{}` (line {}): {text}{after}", item.id, item.line)
        })
        .collect();
    let more = open.len().saturating_sub(MOST_STEPS);
    if more > 0 {
        steps.push(format!(
            "Complete the other {} of {}",
            counted(more, "open item"),
            issue.path
        ));
    }
    steps
}

/// Returns what an item is known by as long as it is open: its id, unless that is made of its place, which others may take;
/// else the words of its text, in whatever form and order they stand.
fn lasting(item: &ChecklistItem) -> String {
    if item.is_id_written {
        return item.id.clone();
    }
    let folded = item.text.to_lowercase();
    let words = folded.split(|c: char| !c.is_alphanumeric());
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

fn not_found(id: &str, context: &HookContext) -> Signal {
    let dir = context.workspace().issues_dir().display();
    Signal::block(
        "issue-not-found",
        format!("checklist cannot be checked: no issue `{id}` was found below `{dir}`"),
    )
    .steps([
        format!("Check the id: a file below `{dir}` has it as `id:` in its front matter, or at the beginning of its name"),
        "Where the issues lie elsewhere, set `settings.issues` in .ahp/hooks.yaml".to_owned(),
    ])
    .about("issue-not-found", id)
}

fn unreadable(error: &IssueError) -> Signal {
    Signal::block(
        "issue-unreadable",
        format!("checklist cannot be checked: {error}"),
    )
    .steps([error.remedy()])
    .files(error.files())
    .about("issue-unreadable", error.path.as_str())
}

/// Compares names as people write them.
fn same(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}
