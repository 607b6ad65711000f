//! ahp exec: runs a command between its pre- and post-hooks.

use std::borrow::Cow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ahp::engine::{Engine, block_on};
use ahp::event::{Event, ToolCall, Trigger};
use ahp::host::Host;
use ahp::shell::{Analysis, IssueCommand};
use ahp::verdict::Verdict;
use serde::Deserialize;
use serde_json::Value;

use crate::ask;
use crate::exit_code::Exit;
use crate::output;
use crate::project;
use crate::view;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command, such as `monoco issue submit FEAT-0001`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    gate(&args.command)
}

/// Runs a command between its hooks; a blocked one is not started.
pub(crate) fn gate(command: &[String]) -> Result<Exit, String> {
    let locations = project::locations(None);
    let mut event = Event::new(Trigger::PreToolUse);
    event.work_dir = Some(locations.work_dir.clone());
    event.host = Some("exec".to_owned());
    event.tool = Some(ToolCall::new(
        "Bash",
        serde_json::json!({ "command": command }),
    ));
    let engine = project::built(project::engine(locations))?;
    let facts = engine.facts(&engine.state(), Arc::new(event.clone()));
    let Some(analysis) = facts.shell() else {
        return start(command);
    };
    let mut issues = gated(analysis);
    let program = Path::new(command.first().map_or("", String::as_str));
    let subject = program.file_name().unwrap_or_default().to_string_lossy();
    // The commands of Monoco have hooks of their own.
    let is_tool_call = !Host::find("monoco").is_some_and(|host| host.programs.contains(&&*subject));
    let mut command = Cow::Borrowed(command);
    if is_tool_call {
        let verdict = judged(&engine, event.clone());
        if say(&verdict, &subject) {
            return Ok(Exit::Blocked);
        }
        if let (Some(input), Some(tool)) = (verdict.modified_input, &mut event.tool) {
            command = Cow::Owned(changed(&input)?);
            tool.input = input;
            let facts = engine.facts(&engine.state(), Arc::new(event.clone()));
            issues = facts.shell().map(|a| gated(a)).unwrap_or_default();
        }
    }
    for issue in &issues {
        if say(&before(&engine, &event, issue), issue_name(issue)) {
            return Ok(Exit::Blocked);
        }
    }
    let exit = start(&command)?;
    // What did not happen has no after.
    if exit == Exit::Of(0) {
        if is_tool_call {
            event.trigger = Trigger::PostToolUse;
            say(&judged(&engine, event.clone()), &subject);
        }
        for issue in &issues {
            if let Some(trigger) = Trigger::of_issue_verb(&issue.verb, false) {
                let event = issue_event(&event, trigger, issue);
                say(&judged(&engine, event), issue_name(issue));
            }
        }
    }
    Ok(exit)
}

fn gated(analysis: &Analysis) -> Vec<IssueCommand> {
    let mut commands = analysis.issue_commands();
    commands.retain(|c| Trigger::of_issue_verb(&c.verb, true).is_some());
    commands
}

/// Returns the command that the policy wants to be run instead: its words, or a line for the shell.
fn changed(input: &Value) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        command: Command,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Command {
        Words(Vec<String>),
        Line(String),
    }
    match Input::deserialize(input) {
        Ok(Input {
            command: Command::Words(words),
        }) => Ok(words),
        Ok(Input {
            command: Command::Line(line),
        }) => Ok(vec!["sh".to_owned(), "-c".to_owned(), line]),
        Err(_) => Err(format!(
            "not run: the policy changes the command to {input}, which `ahp exec` cannot start; \
             it can change `tool.input.command` alone"
        )),
    }
}

/// Judges an event; inside a shield the judge outside does, which alone can log it.
pub(crate) fn judged(engine: &Engine, event: Event) -> Verdict {
    ask::verdict(&event).unwrap_or_else(|| block_on(engine.evaluate(event)))
}

fn before(engine: &Engine, event: &Event, issue: &IssueCommand) -> Verdict {
    let trigger = Trigger::of_issue_verb(&issue.verb, true).unwrap_or(event.trigger);
    let event = issue_event(event, trigger, issue);
    match &issue.bypass {
        Some(flag) => block_on(engine.evaluate_bypassed(event, flag)),
        None => judged(engine, event),
    }
}

fn issue_event(event: &Event, trigger: Trigger, issue: &IssueCommand) -> Event {
    let mut context = event.context.clone();
    if let Some(solution) = &issue.solution {
        context.insert("solution".to_owned(), solution.as_str().into());
    }
    let mut event = event.clone();
    event.trigger = trigger;
    event.issue_id.clone_from(&issue.issue_id);
    event.tool = None;
    event.context = context;
    event
}

fn issue_name(issue: &IssueCommand) -> &str {
    issue.issue_id.as_deref().unwrap_or("the issue")
}

/// Says on stderr what there is to say, so that the command's own output stays its own; returns whether it must not start.
fn say(verdict: &Verdict, subject: &str) -> bool {
    if !verdict.signals.is_empty() || !verdict.warnings.is_empty() {
        output::error(view::verdict(verdict, Some(subject)));
    }
    verdict.stops()
}

/// Runs the command with the terminal as it is, and returns its own exit code.
fn start(command: &[String]) -> Result<Exit, String> {
    let (program, arguments) = command.split_first().ok_or("no command was given")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the command gets the terminal itself and may take as long as it likes"
    )]
    let status = Command::new(program)
        .args(arguments)
        .status()
        .map_err(|e| format!("cannot start `{program}`: {e}"))?;
    Ok(status.into())
}
