//! Issue: a Markdown file with YAML front matter (spec §4.4).

use super::{ChecklistItem, ItemState, task_items};

/// One issue.
#[derive(Clone, Debug, Default)]
pub struct Issue {
    /// Its id: `FEAT-0123`.
    pub id: String,
    /// Its identity across projects.
    pub uid: Option<String>,
    /// Its type.
    pub kind: Option<String>,
    /// Its status.
    pub status: Option<String>,
    /// Its stage.
    pub stage: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its parent.
    pub parent: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The issues that it depends on.
    pub dependencies: Vec<String>,
    /// The issues that it is related to.
    pub related: Vec<String>,
    /// The files that it names.
    pub files: Vec<String>,
    /// Its criticality.
    pub criticality: Option<String>,
    /// How it was solved.
    pub solution: Option<String>,
    /// When it was opened, as written.
    pub opened_at: Option<String>,
    /// When it was closed, as written.
    pub closed_at: Option<String>,
    /// Its file, relative to the project root.
    pub path: String,
    /// Its checklist, cancelled items too.
    pub checklist: Vec<ChecklistItem>,
    /// The Markdown below the front matter.
    pub body: String,
    /// The line at which the body begins, from 1.
    pub body_line: u32,
}

/// The statuses that an issue can have: those of `monoco`, and other words for its end.
pub(crate) const STATUSES: &[&str] =
    &["open", "backlog", "closed", "archived", "done", "completed"];

/// The stages that an issue can be in: those of `monoco`, and another word for the last one.
pub(crate) const STAGES: &[&str] = &["draft", "doing", "review", "done", "freezed", "completed"];

/// Words of an issue that was closed without being done: its solution, its status or its stage.
pub(crate) const GIVEN_UP: &[&str] = &[
    "abandoned",
    "canceled",
    "cancelled",
    "duplicate",
    "invalid",
    "obsolete",
    "rejected",
    "wontfix",
    "won't fix",
];

/// Why an issue's file cannot be understood.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{path}:{line}: {message}")]
pub struct IssueError {
    /// The file, relative to the project root.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// The other files that carry the same id, where that is what is wrong.
    pub others: Vec<String>,
}

impl IssueError {
    /// Returns what puts it right.
    pub fn remedy(&self) -> String {
        match self.others.as_slice() {
            [] => format!("Fix line {} of {}", self.line, self.path),
            others => format!(
                "Keep one of {} and {}: give the issue that is another one an id of its own, and remove a copy",
                self.path,
                others.join(", ")
            ),
        }
    }

    /// Returns the files that it is about.
    pub fn files(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.path).chain(&self.others)
    }
}

impl Issue {
    /// Makes the issue that a task of an agent is: its subject is the title, its description the text.
    pub fn of_task(id: &str, subject: &str, description: &str) -> Self {
        Self {
            id: id.to_owned(),
            kind: Some("task".to_owned()),
            title: Some(subject.to_owned()),
            checklist: task_items::find(description, 1),
            body: description.to_owned(),
            body_line: 1,
            ..Self::default()
        }
    }

    /// Returns the items that count.
    pub fn items(&self) -> impl Iterator<Item = &ChecklistItem> {
        self.checklist
            .iter()
            .filter(|item| item.state != ItemState::Cancelled)
    }

    /// Returns the headings of its text, in order.
    pub fn headings(&self) -> Vec<String> {
        task_items::headings(&self.body)
    }

    /// Returns the text below a heading, without comments; none where there is no such heading or nothing below it.
    pub fn section(&self, heading: &str) -> Option<String> {
        task_items::section(&self.body, heading)
    }

    /// Whether the work on it is over: it is closed or archived, or it or its stage is done.
    pub fn is_finished(&self) -> bool {
        const DONE: [&str; 2] = ["done", "completed"];
        let is = |value: &Option<String>, words: &[&str]| {
            value.as_deref().is_some_and(|value| words.contains(&value))
        };
        is(&self.status, &["closed", "archived"])
            || is(&self.status, &DONE)
            || is(&self.stage, &DONE)
    }

    /// Returns how many items count, and how many of them are done.
    pub fn progress(&self) -> (usize, usize) {
        let total = self.items().count();
        (total, self.items().filter(|i| !i.is_open()).count())
    }
}
