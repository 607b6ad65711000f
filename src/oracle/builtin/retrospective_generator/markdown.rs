//! Writes a story as Markdown.

use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};

use super::story::{Answer, Obstacle, Story};
use crate::oracle::wording::counted;
use crate::signal::{Action, Intensity};

/// How many rows a table or list has before the rest is counted.
const MOST_ROWS: usize = 200;

/// Writes the whole document.
pub(super) fn write(story: &Story, with_metrics: bool) -> String {
    let mut out = String::new();
    write_head(&mut out, story);
    write_obstacles(&mut out, story);
    write_answers(&mut out, story);
    write_work(&mut out, story);
    if with_metrics {
        write_metrics(&mut out, story);
    }
    write_lessons(&mut out, story);
    write_time_line(&mut out, story);
    out
}

fn write_head(out: &mut String, story: &Story) {
    let issue = story.issue.as_ref();
    let title = issue.and_then(|issue| issue.title.as_deref());
    let title = title.map_or(String::new(), |title| format!(": {title}"));
    writeln!(out, "# Retrospective of {}{title}\n", story.id).ok();
    writeln!(
        out,
        "Written at {}; {}.",
        moment(story.now),
        story.summary()
    )
    .ok();
    if let Some(fault) = &story.issue_fault {
        writeln!(out, "\nThe issue itself tells nothing here: {fault}.").ok();
    }
    let Some(issue) = issue else { return };
    out.push('\n');
    let fields = [
        ("Type", &issue.kind),
        ("Status", &issue.status),
        ("Solution", &issue.solution),
        ("Criticality", &issue.criticality),
        ("Opened", &issue.opened_at),
        ("Closed", &issue.closed_at),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            writeln!(out, "- {name}: {value}").ok();
        }
    }
    let (total, done) = issue.progress();
    if total > 0 {
        writeln!(
            out,
            "- Checklist: {done} of {} done",
            counted(total, "item")
        )
        .ok();
    }
}

fn write_obstacles(out: &mut String, story: &Story) {
    out.push_str("\n## What stood in the way\n\n");
    if story.obstacles.is_empty() {
        out.push_str("Nothing did.\n");
        return;
    }
    out.push_str("| check | at | strongest | times | until it was content | what it said last |\n");
    out.push_str("|---|---|---|---|---|---|\n");
    for obstacle in story.obstacles.iter().take(MOST_ROWS) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            cell(&obstacle.binding),
            cell(&obstacle.hook),
            obstacle.intensity,
            obstacle.times,
            repair(obstacle),
            cell(&obstacle.said)
        )
        .ok();
    }
    write_more(out, story.obstacles.len());
}

fn repair(obstacle: &Obstacle) -> String {
    match obstacle.repaired {
        Some(repaired) => span(repaired - obstacle.first),
        None if obstacle.is_open() && obstacle.intensity == Intensity::Block => "never".to_owned(),
        None => "was answered or left".to_owned(),
    }
}

fn write_answers(out: &mut String, story: &Story) {
    if story.answers.is_empty() {
        return;
    }
    out.push_str("\n## How it was answered\n\n");
    for action in Action::ALL {
        let count = story.answered(*action);
        if count > 0 {
            let of: Vec<&str> = story
                .answers
                .iter()
                .filter(|answer| answer.action == *action && answer.counts())
                .map(|answer| answer.binding.as_str())
                .collect();
            let mut names = of.clone();
            names.sort_unstable();
            names.dedup();
            writeln!(
                out,
                "- `{action}`, {}: {}",
                counted(count, "time"),
                names.join(", ")
            )
            .ok();
        }
    }
    let is_concluded = |answer: &&Answer| !answer.is_said && !answer.refused;
    let concluded = story.answers.iter().filter(is_concluded).count();
    if concluded > 0 {
        writeln!(
            out,
            "- {} concluded from what came next",
            counted(concluded, "answer")
        )
        .ok();
    }
    let refused = story.answers.iter().filter(|answer| answer.refused).count();
    if refused > 0 {
        writeln!(out, "- {} refused", counted(refused, "answer")).ok();
    }
}

fn write_work(out: &mut String, story: &Story) {
    out.push_str("\n## What was done\n\n");
    let changes = story
        .changes
        .as_ref()
        .filter(|changes| !changes.files.is_empty());
    if let Some(changes) = changes {
        writeln!(
            out,
            "{}, {} added and {} removed.\n",
            counted(changes.files.len(), "changed file"),
            counted(
                usize::try_from(changes.added_lines).unwrap_or(usize::MAX),
                "line"
            ),
            changes.removed_lines
        )
        .ok();
    }
    for commit in story.commits.iter().take(MOST_ROWS) {
        writeln!(
            out,
            "- {} {} ({})",
            commit.short_id(),
            commit.subject(),
            commit.author
        )
        .ok();
    }
    write_more(out, story.commits.len());
    let named = story.issue.iter().flat_map(|issue| &issue.files);
    let files: Vec<&String> = match changes {
        Some(changes) => changes.paths.iter().collect(),
        None => named.collect(),
    };
    if !files.is_empty() {
        out.push_str("\nFiles:\n\n");
        for path in files.iter().take(MOST_ROWS) {
            writeln!(out, "- `{path}`").ok();
        }
        write_more(out, files.len());
    }
    if changes.is_none() && story.commits.is_empty() && files.is_empty() {
        out.push_str("Neither git nor the issue tells.\n");
    }
}

fn write_metrics(out: &mut String, story: &Story) {
    out.push_str("\n## Figures\n\n| figure | value |\n|---|---|\n");
    let row = |out: &mut String, name: &str, value: String| {
        writeln!(out, "| {name} | {value} |").ok();
    };
    let started = story.passed("start");
    let submitted = story.passed("submit");
    let closed = story.passed("close");
    if let (Some((start, _)), Some((_, submit))) = (started, submitted) {
        row(
            out,
            "time in work, from start to the last submit",
            span(submit - start),
        );
    }
    if let (Some((_, submit)), Some((_, close))) = (submitted, closed) {
        row(
            out,
            "time in review, from the last submit to the close",
            span(close - submit),
        );
    }
    row(out, "events evaluated", story.evaluations.to_string());
    row(out, "events stopped", story.stops.to_string());
    for intensity in [Intensity::Block, Intensity::Control, Intensity::Prompt] {
        let count: usize = story
            .obstacles
            .iter()
            .filter(|obstacle| obstacle.intensity == intensity)
            .count();
        row(
            out,
            &format!("findings, {intensity} at the strongest"),
            count.to_string(),
        );
    }
    if let Some(mean) = story.mean_repair() {
        row(out, "mean time to fix", span(mean));
    }
    row(
        out,
        "prompts dismissed",
        story.answered(Action::Dismiss).to_string(),
    );
    row(
        out,
        "blocks passed at a risk",
        story.answered(Action::ProceedWithRisk).to_string(),
    );
    row(out, "commits", story.commits.len().to_string());
    row(
        out,
        "time that the checks took",
        format!("{} ms", story.spent_us / 1000),
    );
}

fn write_lessons(out: &mut String, story: &Story) {
    out.push_str("\n## What to take along\n\n");
    let lessons = story.lessons();
    if lessons.is_empty() {
        out.push_str("Nothing stands out.\n");
    }
    for lesson in lessons {
        writeln!(out, "- {lesson}").ok();
    }
}

fn write_time_line(out: &mut String, story: &Story) {
    if story.timeline.is_empty() {
        return;
    }
    out.push_str("\n## Time line\n\n| when (UTC) | what |\n|---|---|\n");
    for at in story.timeline.iter().take(MOST_ROWS) {
        writeln!(out, "| {} | {} |", moment(at.time), cell(&at.text)).ok();
    }
    write_more(out, story.timeline.len());
}

fn write_more(out: &mut String, count: usize) {
    if count > MOST_ROWS {
        writeln!(out, "\n… and {} more.", count - MOST_ROWS).ok();
    }
}

/// Makes a text fit into one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn moment(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M").to_string()
}

/// Says a length of time in its two largest units.
fn span(time: TimeDelta) -> String {
    let seconds = time.num_seconds().max(0);
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
    let mut parts = Vec::new();
    let mut rest = seconds;
    for (name, size) in units {
        if rest >= size && parts.len() < 2 {
            parts.push(format!("{} {name}", rest / size));
            rest %= size;
        } else if !parts.is_empty() {
            break;
        }
    }
    if parts.is_empty() {
        "less than a second".to_owned()
    } else {
        parts.join(" ")
    }
}
