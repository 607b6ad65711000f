//! SelfProtection: no agent changes the policy that judges it, the wires that carry it, or its log.

mod agent;
mod answer;
mod binary;
mod brought;
mod changed;
mod clean;
mod client;
mod code;
mod disarm;
mod disk;
mod fields;
mod filled;
mod folders;
mod found;
mod front_matter;
mod git;
mod given;
mod guarded;
mod index;
mod judged;
mod judgement;
mod listing;
mod look;
mod mention;
mod named;
mod naming;
mod own;
mod packages;
mod pathspec;
mod reader;
mod reading;
mod rights;
mod script;
mod spelling;
mod tree;
mod twin;
mod unread;
mod unseen;
mod walk;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use self::found::Attempt;
use self::guarded::Guarded;
use self::judged::{Judged, Line};
use self::look::LastLook;
use super::permission_checker::{MAX_TEXT, told};
use crate::danger::{Finding, Selection, judge_with};
use crate::event::{ToolCall, ToolKind, Trigger, parse_json};
use crate::fact::{FactSource, Facts};
use crate::oracle::{
    Definition, HookContext, Mode, Oracle, OracleError, Programs, ProjectKnowledge,
};
use crate::shell::{Analysis, DoubtKind};
use crate::signal::{Intensity, Severity, Signal};

pub(super) static DEFINITION: Definition = Definition {
    name: "SelfProtection",
    kebab: "self-protection",
    summary: "No agent changes the policy that judges it, the wires that carry it, or its log.",
    triggers: &[Trigger::PreToolUse],
    intensities: &[Intensity::Block],
    needs: &[FactSource::Event, FactSource::Shell],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(SelfProtection),
    build: |config| {
        config
            .decode::<SelfProtection>()
            .map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>)
    },
};

/// Blocks tool calls that write to, delete, move or replace what guards the agent.
///
/// It protects `.ahp/` and `~/.ahp/`, `.agents/hooks/` and `~/.config/agents/hooks/`, the hook settings of every host,
/// the hooks of git, the log, and the state and cache of `ahp`. It does so for edit tools, MCP tools and parsed shell
/// commands: redirections, `tee`, `cp`, `mv`, `ln`, `sed -i`, `git checkout`, patches, inline code, and scripts on the
/// disk. `git clean` passes if git says that it removes none of this. It also blocks `ahp trust`, `ahp uninstall`, answers in the name of a person, and variables that disarm `ahp`.
/// Reading is allowed, except for two files of the state directory: with `key` an agent could forge evidence, and with
/// `serve.token` it could send requests in the name of the person. No tool, command, code, copy or archive may read
/// those.
///
/// It is always bound and locked at `pre-tool-use`. `settings.self_protection: false` in the system or user layer
/// switches it off.
///
/// ```yaml
/// hooks:
///   pre-tool-use:
///     - oracle: SelfProtection
///       id: also-the-pipeline
///       config:
///         paths: [.github/workflows, scripts/gate.sh]
/// ```
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SelfProtection {
    /// More files and directories to protect, relative to the project, absolute or below `~`.
    paths: Vec<String>,
    #[serde(skip)]
    #[schemars(skip)]
    last: LastLook,
}

#[async_trait]
impl Oracle for SelfProtection {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let facts = &context.facts;
        let Some(tool) = facts.tool() else {
            return Ok(Vec::new());
        };
        let workspace = facts.workspace().as_ref();
        let guarded = Guarded::new(&context.guards, &self.paths, &self.last, workspace);
        if context.event().tool.as_ref().is_some_and(only_looks) {
            let read = reading::by_tool(&guarded, facts, tool);
            return Ok(read.iter().map(read_signal).collect());
        }
        // The command line of the tool, and what it may run besides.
        let line = tool.command.as_deref().unwrap_or_default();
        let own = facts.shell().map(|shell| (line, shell.as_ref()));
        let lines = own.into_iter().chain(facts.may_run());
        let lines: Vec<Line<'_>> = lines
            .map(|(text, shell)| Line::of(&guarded, shell, text))
            .collect();
        if lines.iter().any(is_vast) {
            return Err(OracleError::CannotTell(UNFOLLOWED.to_owned()));
        }
        let attempt = judgement::by_tool(&guarded, facts, tool)
            .or_else(|| lines.iter().find_map(|line| judgement::by_shell(line, 0)))
            .or_else(|| answer::find(facts, context.root()));
        if let Some(attempt) = attempt {
            let graver = own.and_then(|(_, shell)| graver(facts, shell));
            let cleans =
                own.is_some_and(|(_, shell)| shell.invocations.iter().any(|i| clean::cleans(i)));
            let left_out = cleans.then(|| left_out(&attempt, context.root()));
            return Ok(vec![signal(&attempt, graver.as_ref(), left_out.as_deref())]);
        }
        let read = reading::by_tool(&guarded, facts, tool)
            .or_else(|| lines.iter().find_map(|line| reading::by_shell(line, 0)));
        if let Some(read) = read {
            return Ok(vec![read_signal(&read)]);
        }
        let unreadable = context.event().tool.as_ref().is_some_and(is_unreadable);
        let limit = || {
            let mut doubts = lines.iter().flat_map(|line| &line.analysis.doubts);
            doubts.find_map(|doubt| match doubt.kind {
                DoubtKind::TooComplex => Some(UNFOLLOWED),
                DoubtKind::Unparseable => Some("the command could not be parsed"),
                DoubtKind::DynamicProgram | DoubtKind::DynamicCode => None,
            })
        };
        let any = |is_it: fn(&Judged<'_>) -> bool| {
            let mut programs = lines.iter().flat_map(|line| &line.programs);
            programs.any(is_it)
        };
        let disguised = || {
            any(agent::may_be_one)
                .then_some("a program that is not known takes an option by which an agent starts without its hooks")
        };
        let blind = || {
            any(naming::is_blind)
                .then_some("the program that is given the project is known only when it runs")
        };
        let why = unreadable
            .then_some("the input of the tool could not be read")
            .or_else(limit)
            .or_else(disguised)
            .or_else(blind);
        why.map_or_else(
            || Ok(Vec::new()),
            |why| Err(OracleError::CannotTell(why.to_owned())),
        )
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }
}

/// Why a line is not judged that was not followed.
const UNFOLLOWED: &str = "the command is too long or too deeply nested to be followed to its end";

/// How many words a line may hold that was not followed to its end and is looked through all the same.
const MAX_WORDS: usize = 1 << 14;

/// Whether a line holds so many words that nobody waits for what each of them names, and is stopped in any case.
fn is_vast(line: &Line<'_>) -> bool {
    let mut doubts = line.analysis.doubts.iter();
    let words = || line.programs.iter().map(|one| one.arguments.len());
    doubts.any(|doubt| doubt.kind == DoubtKind::TooComplex) && words().sum::<usize>() > MAX_WORDS
}

/// Whether a tool changes nothing whatever it is given.
fn only_looks(call: &ToolCall) -> bool {
    let kind = ToolKind::of(&call.name);
    let is_look = matches!(
        kind,
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Agent
    );
    is_look && call.mcp.is_none()
}

/// Whether the input of a tool is JSON in a text, as some hosts give it, that does not parse, or that of a shell and nothing to
/// run.
fn is_unreadable(call: &ToolCall) -> bool {
    let begins = |text: &str| text.trim_start().starts_with(['{', '[']);
    let is_broken = |text: &str| parse_json(text.as_bytes()).is_err();
    let text = call.input.as_str().filter(|text| begins(text));
    text.is_some_and(is_broken) || call.says_nothing()
}

/// Returns what the same line does that cannot be undone: it is told first, whether the policy has rules about it or not.
fn graver(facts: &Facts, shell: &Analysis) -> Option<Finding> {
    let selection = Selection {
        presets: vec!["standard".to_owned()],
        ..Selection::default()
    };
    let found = judge_with(shell, &selection, &ProjectKnowledge::new(facts));
    let mut found = found.into_iter();
    found.find(|finding| finding.severity == Severity::Critical)
}

/// Says how `git clean` leaves alone what it may not take.
fn left_out(attempt: &Attempt, root: &Path) -> String {
    let inner = attempt.path.as_deref().map(|path| path.strip_prefix(root));
    let inner = inner.and_then(Result::ok).unwrap_or(Path::new(".ahp"));
    format!("`git clean` leaves it alone with `-e {}`", inner.display())
}

fn signal(attempt: &Attempt, graver: Option<&Finding>, left_out: Option<&str>) -> Signal {
    let own = say(
        attempt,
        "an agent may not change its own policy, hooks or log",
    );
    let text = match graver {
        Some(finding) => {
            let left = MAX_TEXT.saturating_sub(own.chars().count());
            format!("{}, and {own}", told(finding, left))
        }
        None => own,
    };
    let steps = [
        "leave these files as they are, and name only the others that you mean; reading them is allowed",
        "if the policy is wrong, say what should change and ask a person to change it",
    ];
    let first = graver.map(|finding| finding.instead.as_str());
    let first = first.into_iter().chain(left_out);
    block(attempt, text).steps(first.chain(steps))
}

fn read_signal(attempt: &Attempt) -> Signal {
    let why = "who reads that could forge evidence and answers, so no agent may";
    block(attempt, say(attempt, why)).steps([
        "go on without this file: no work needs what is in it",
        "name what you want to read or copy more narrowly, so that it is not part of that",
    ])
}

fn say(attempt: &Attempt, why: &str) -> String {
    format!("`{}` would {}: {why}", attempt.by, attempt.what)
}

fn block(attempt: &Attempt, text: String) -> Signal {
    Signal::block("self-protection", text)
        .unresolvable()
        .files(
            attempt
                .path
                .iter()
                .map(|p| p.to_string_lossy().into_owned()),
        )
        .about("self-protection", attempt.what.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::ToolView;

    #[test]
    fn a_tool_that_only_looks_does_so_whatever_it_is_given() {
        let patch = "*** Begin Patch\n*** Delete File: .ahp/hooks.yaml\n*** End Patch\n";
        let inputs = [
            json!({"command": "rm -r .ahp", "path": ".ahp", "new_text": "x"}),
            json!({"command": "create", "patch": patch}),
            json!(patch),
            json!("{\"command\": \"rm -r .ahp\"}"),
            json!({"server_name": "files", "tool_name": "write_file"}),
        ];
        let names = ["Read", "Grep", "WebFetch", "Task", "view", "read_file"];
        for (name, input) in names
            .iter()
            .flat_map(|n| inputs.iter().map(move |i| (n, i)))
        {
            let call = ToolCall {
                name: (*name).to_owned(),
                input: input.clone(),
                ..ToolCall::default()
            };
            let view = ToolView::of(&call, Path::new("/p"), Path::new("/p"));
            assert!(only_looks(&call), "{name}");
            assert_eq!(view.kind, ToolKind::of(name), "{name} {input}");
            assert_eq!(view.command, None, "{name} {input}");
        }
        for name in ["Bash", "Edit", "mcp__files__read", "frobnicate"] {
            let call = ToolCall {
                name: name.to_owned(),
                ..ToolCall::default()
            };
            assert!(!only_looks(&call), "{name}");
        }
    }
}
