//! Extra: what a script can ask its context for beside the facts.

use std::sync::Arc;

use rhai::{Array, Dynamic, Map};

use super::limits::{Fallible, failure};
use super::list::List;
use super::{committed, value};
use crate::fact::{FactSource, Facts};
use crate::shell::{Analysis, MessageFrom};
use crate::workspace::{Change, ChecklistItem, GitError, Issue, ItemState};

/// Something that scripts can ask for and conditions cannot, because it is neither a text, a number nor a list of texts.
#[derive(Clone, Copy, Debug)]
pub struct Extra {
    /// The dotted name below the context.
    pub name: &'static str,
    /// What must be asked.
    pub source: FactSource,
    /// One line on what it is.
    pub summary: &'static str,
    pub(super) get: fn(&Facts, &Map) -> Fallible<Dynamic>,
}

/// Everything that a script can ask its context for, beside the facts.
pub const EXTRAS: &[Extra] = &[
    extra(
        "config",
        FactSource::Event,
        "The binding's `config:`, with the script's defaults.",
        |_, config| Ok(Dynamic::from_map(config.clone())),
    ),
    extra(
        "event",
        FactSource::Event,
        "The whole event, as a map.",
        |facts, _| {
            let event = serde_json::to_value(facts.event()).unwrap_or_default();
            Ok(value::from_json(&event))
        },
    ),
    extra(
        "files.all",
        FactSource::Git,
        "Every changed file as `#{path, old_path, change, added_lines, removed_lines}`; `change` is added, modified, deleted or renamed.",
        |facts, _| changed_files(facts),
    ),
    extra(
        "issue.body",
        FactSource::Issue,
        "The issue's Markdown below its front matter.",
        |facts, _| part_of_issue(facts, |issue| issue.body.as_str().into()),
    ),
    extra(
        "issue.items",
        FactSource::Issue,
        "The checklist as `#{id, text, state, section, line, verification}`; `state` is open, doing, done or cancelled.",
        |facts, _| checklist(facts),
    ),
    extra(
        "issue.related",
        FactSource::Issue,
        "The issues that this one is related to.",
        |facts, _| {
            part_of_issue(facts, |issue| {
                Dynamic::from(issue.related.iter().map(String::as_str).collect::<List>())
            })
        },
    ),
    extra(
        "issue.solution",
        FactSource::Issue,
        "How the issue was solved.",
        |facts, _| part_of_issue(facts, |issue| value::optional(issue.solution.as_deref())),
    ),
    extra(
        "stop.final_message",
        FactSource::Event,
        "The agent's last message of the turn.",
        |facts, _| {
            let stop = facts.event().stop.as_ref();
            Ok(value::optional(
                stop.and_then(|s| s.final_message.as_deref()),
            ))
        },
    ),
    extra(
        "subagent.task",
        FactSource::Event,
        "What the subagent was asked to do.",
        |facts, _| {
            let subagent = facts.event().subagent.as_ref();
            Ok(value::optional(subagent.and_then(|s| s.task.as_deref())))
        },
    ),
    extra(
        "tool.commands",
        FactSource::Shell,
        "Every program that the command line would run, as `#{program, arguments, wrappers}`; `wrappers` are those it comes through, such as `sudo`.",
        |facts, _| {
            Ok(facts
                .shell()
                .map_or_else(|| Array::new().into(), |analysis| commands(analysis)))
        },
    ),
    extra(
        "tool.commit_messages",
        FactSource::Shell,
        "The messages of the commits that the command line would make.",
        |facts, _| {
            let messages = facts.shell().map(|analysis| analysis.commit_messages());
            let known = messages.into_iter().flatten();
            let known = known.filter(|message| message.from == MessageFrom::Line);
            Ok(Dynamic::from(
                known.map(|message| message.more).collect::<List>(),
            ))
        },
    ),
    extra(
        "tool.committed",
        FactSource::Git,
        "The files that the command line would commit: what is staged, what its `git add` stages, what `git commit -a` or the paths given to it take.",
        |facts, _| match committed::files(facts) {
            Ok(files) => Ok(Dynamic::from(files.into_iter().collect::<List>())),
            Err(GitError::NoRepository(_)) => Ok(Dynamic::from(List::default())),
            Err(error) => Err(failure(error.to_string())),
        },
    ),
    extra(
        "tool.input",
        FactSource::Event,
        "The tool's whole input, as the host gives it.",
        |facts, _| {
            let tool = facts.event().tool.as_ref();
            Ok(tool.map_or(Dynamic::UNIT, |t| value::from_json(&t.input)))
        },
    ),
    extra(
        "tool.writes",
        FactSource::Shell,
        "The paths that the command line would write, move or delete, relative to the project where they lie in it.",
        |facts, _| {
            let effects = facts.shell().map(|analysis| analysis.writes());
            let root = facts.project_root();
            let paths = effects.into_iter().flatten().map(|effect| {
                let path = effect.path.strip_prefix(root).unwrap_or(&effect.path);
                path.to_string_lossy().into_owned()
            });
            Ok(Dynamic::from(paths.collect::<List>()))
        },
    ),
];

const fn extra(
    name: &'static str,
    source: FactSource,
    summary: &'static str,
    get: fn(&Facts, &Map) -> Fallible<Dynamic>,
) -> Extra {
    Extra {
        name,
        source,
        summary,
        get,
    }
}

/// Returns the issue of the event; that nobody can tell which one is meant is a failure, for a script must not judge by it.
pub(super) fn issue(facts: &Facts) -> Fallible<Option<&Arc<Issue>>> {
    let issue = facts.issue().map_err(|e| failure(e.to_string()))?;
    facts
        .lacks_issue()
        .map_or(Ok(issue), |why| Err(failure(why)))
}

fn part_of_issue(facts: &Facts, part: fn(&Issue) -> Dynamic) -> Fallible<Dynamic> {
    Ok(issue(facts)?.map_or(Dynamic::UNIT, |issue| part(issue)))
}

fn checklist(facts: &Facts) -> Fallible<Dynamic> {
    let issue = issue(facts)?;
    let items = issue.map_or(&[][..], |issue| &issue.checklist);
    let item = |item: &ChecklistItem| {
        let state = match item.state {
            ItemState::Open => "open",
            ItemState::Doing => "doing",
            ItemState::Done => "done",
            ItemState::Cancelled => "cancelled",
        };
        value::map([
            ("id", item.id.as_str().into()),
            ("text", item.text.as_str().into()),
            ("state", state.into()),
            ("section", value::optional(item.section())),
            ("line", i64::from(item.line).into()),
            (
                "verification",
                value::optional(item.verification.as_deref()),
            ),
        ])
    };
    Ok(Dynamic::from_array(items.iter().map(item).collect()))
}

fn changed_files(facts: &Facts) -> Fallible<Dynamic> {
    let changes = match facts.changes() {
        Ok(changes) => changes,
        Err(GitError::NoRepository(_)) => return Ok(Array::new().into()),
        Err(error) => return Err(failure(error.to_string())),
    };
    let lines = |n: Option<u32>| n.map_or(Dynamic::UNIT, |n| i64::from(n).into());
    let files = changes.files.iter().map(|file| {
        let change = match file.change {
            Change::Added => "added",
            Change::Modified => "modified",
            Change::Deleted => "deleted",
            Change::Renamed => "renamed",
        };
        value::map([
            ("path", file.path.as_str().into()),
            ("old_path", value::optional(file.old_path.as_deref())),
            ("change", change.into()),
            ("added_lines", lines(file.added_lines)),
            ("removed_lines", lines(file.removed_lines)),
        ])
    });
    Ok(Dynamic::from_array(files.collect()))
}

/// Makes the list of programs that a command line would run.
pub(super) fn commands(analysis: &Analysis) -> Dynamic {
    let commands = analysis.invocations.iter().map(|invocation| {
        let arguments: List = invocation
            .arguments
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let wrappers: List = invocation.wrappers.iter().map(String::as_str).collect();
        value::map([
            ("program", invocation.program.as_str().into()),
            ("arguments", Dynamic::from(arguments)),
            ("wrappers", Dynamic::from(wrappers)),
        ])
    });
    Dynamic::from_array(commands.collect())
}
