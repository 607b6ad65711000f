//! Runs the command hooks of an event, each as its own host would.

use std::path::Path;
use std::time::Instant;

use super::file::{Command, Handler};
use super::input::Tool;
use super::{Dialect, HookFile, answer, input, rule};
use crate::event::Trigger;
use crate::fact::Facts;
use crate::oracle::{HookContext, OracleError};
use crate::process::Program;
use crate::shell::{Invocation, Surroundings, Word, analyse};
use crate::shell_word::quoted;
use crate::signal::{Intensity, Signal};

/// Whether the file has commands for an event that nobody waits for.
pub(crate) fn has_unawaited(file: &HookFile, facts: &Facts) -> bool {
    due(file, facts).any(|handler| handler.is_async)
}

fn due<'a>(file: &'a HookFile, facts: &'a Facts) -> impl Iterator<Item = &'a Handler> {
    file.handlers(facts.event().trigger)
        .filter(|handler| !is_own_wire(handler) && is_for(handler, facts))
}

/// Runs every command of the file that the event is for, those that are waited for or the others; the signals come in the order of
/// the file.
pub(crate) fn run(
    file: &HookFile,
    name: &str,
    context: &HookContext,
    is_awaited: bool,
    permitted: impl Fn() -> Result<(), OracleError>,
) -> Result<Vec<Signal>, OracleError> {
    let due: Vec<&Handler> = due(file, &context.facts).collect();
    if due.is_empty() {
        return Ok(Vec::new());
    }
    permitted()?;
    let one = |handler: &&Handler| run_one(handler, name, context);
    let (in_turn, at_once): (Vec<_>, Vec<_>) = due
        .iter()
        .filter(|handler| handler.is_async != is_awaited)
        .partition(|handler| handler.dialect == Dialect::Copilot);
    let mut results: Vec<_> = in_turn.into_iter().map(one).collect();
    results.extend(std::thread::scope(|scope| {
        let threads: Vec<_> = at_once
            .into_iter()
            .map(|handler| scope.spawn(move || run_one(handler, name, context)))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    Err(OracleError::Panicked("a command hook's thread".to_owned()))
                })
            })
            .collect::<Vec<_>>()
    }));
    settle(results)
}

/// Puts the answers of several commands together: what one has found stands, whatever became of the others.
pub(crate) fn settle(
    results: Vec<Result<Vec<Signal>, OracleError>>,
) -> Result<Vec<Signal>, OracleError> {
    let mut signals = Vec::new();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(found) => signals.extend(found),
            Err(error) => failures.push(error),
        }
    }
    let blocks = signals
        .iter()
        .any(|signal| signal.intensity() == Intensity::Block);
    if !blocks && let Some(first) = failures.into_iter().next() {
        if signals.is_empty() {
            return Err(first);
        }
        signals.push(Signal::prompt("hook-failed", first.to_string()));
    }
    Ok(signals)
}

/// Whether a handler is the wire by which its host calls `ahp`: what it would be told of is judged here already, and `ahp`
/// would call itself without end.
pub(super) fn is_own_wire(handler: &Handler) -> bool {
    let line = match &handler.command {
        Some(Command::Shell { line, .. }) => line.clone(),
        Some(Command::Exec(words)) => {
            let words = words.iter().map(|word| quoted(word));
            words.collect::<Vec<_>>().join(" ")
        }
        None => return false,
    };
    // Few lines name us: the others need no analysis.
    if !line.contains("ahp") || !line.contains("hook") {
        return false;
    }
    let anywhere = Surroundings {
        work_dir: "/".into(),
        home: Some("/".into()),
        project_root: "/".into(),
    };
    let analysis = analyse(&line, anywhere);
    let (ours, others): (Vec<_>, Vec<_>) = analysis.invocations.iter().partition(|i| calls_us(i));
    // Whatever else stands in the line may be a guard, which must run.
    let is_idle = |other: &Invocation| {
        IDLE.contains(&&*other.program)
            || speaks_only(other)
            || analysis
                .invocations
                .iter()
                .any(|inner| leads_to(other, inner))
            || ours.iter().any(|own| looks_for(other, own))
    };
    !ours.is_empty() && analysis.doubts.is_empty() && others.iter().all(|other| is_idle(other))
}

/// What may stand beside a wire and objects to nothing by itself.
const IDLE: &[&str] = &[":", "cat", "cd", "command", "exit", "true", "type", "which"];

/// Whether an invocation is the hook of this program, by whatever path it is named.
fn calls_us(invocation: &Invocation) -> bool {
    let name = &*invocation.program;
    let mut words = invocation.texts();
    (name == "ahp" || name.starts_with("ahp-"))
        && words.find(|word| !word.starts_with('-')) == Some("hook")
}

/// Whether an invocation gives words to the person alone, such as those that the program of a wire is missing.
fn speaks_only(invocation: &Invocation) -> bool {
    let mut redirects = invocation.redirects.iter();
    invocation.program == "echo"
        && redirects
            .any(|to| to.operator == ">&" && to.descriptor.is_none() && to.target.text == "2")
}

/// Whether an invocation only asks whether the program of another one is there, or with what it has ended.
fn looks_for(asking: &Invocation, own: &Invocation) -> bool {
    let words: Vec<&str> = asking
        .arguments
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    asking.program == "test"
        && (words == ["-x", own.path.text.as_str()] || words == ["$?", "=", "2"])
}

/// Whether an invocation only starts another one: `env`, `timeout 5`, `sh -c`.
fn leads_to(outer: &Invocation, inner: &Invocation) -> bool {
    let text = |words: &[Word]| {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        words.join(" ")
    };
    let started = format!("{} {}", inner.path.text, text(&inner.arguments));
    inner.wrappers.contains(&outer.program) && text(&outer.arguments).contains(&started)
}

fn is_for(handler: &Handler, facts: &Facts) -> bool {
    let event = facts.event();
    let Some(call) = &event.tool else {
        // What the matchers of these events are about; elsewhere a matcher means nothing.
        let told = |key: &str| event.context.get(key).and_then(serde_json::Value::as_str);
        let about = match event.trigger {
            Trigger::PreSession => told("source"),
            Trigger::PreContextCompact | Trigger::PostContextCompact => told("trigger"),
            Trigger::PreSubagent | Trigger::PostSubagent => event
                .subagent
                .as_ref()
                .and_then(|subagent| subagent.kind.as_deref()),
            _ => None,
        };
        return about.is_none_or(|about| handler.matcher.matches(&[about]));
    };
    let view = facts.tool();
    let root = facts.project_root();
    let tool = Tool::of(call, view, event.host.as_deref(), handler.dialect, root);
    let claude = input::claude_name(call, view);
    if let Some(rule) = &handler.rule
        && !rule::meets(rule, &claude, facts)
    {
        return false;
    }
    let takes_claude_names = handler.dialect == Dialect::Copilot
        && handler.event.starts_with(|c: char| c.is_ascii_uppercase());
    if takes_claude_names {
        handler.matcher.matches(&[&claude, &call.name])
    } else {
        handler.matcher.matches(&[&tool.name, &call.name])
    }
}

fn run_one(
    handler: &Handler,
    name: &str,
    context: &HookContext,
) -> Result<Vec<Signal>, OracleError> {
    let shown = format!("the {} hook of `{name}`", handler.event);
    let Some(command) = &handler.command else {
        if handler.kind == "command" {
            // It has commands for other systems alone, which is not a fault.
            return Ok(Vec::new());
        }
        return Err(OracleError::failed(format!(
            "{shown} is of type `{}`, which only its own host can run; `command` can be run everywhere",
            handler.kind
        )));
    };
    let root = context.root();
    let work_dir = handler
        .cwd
        .as_ref()
        .map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    let facts = &*context.facts;
    let event = facts.event();
    let call = event.tool.as_ref();
    let mut tool = call.map(|call| {
        Tool::of(
            call,
            facts.tool(),
            event.host.as_deref(),
            handler.dialect,
            root,
        )
    });
    if let (Some(tool), Some(call)) = (&mut tool, call)
        && handler.dialect == Dialect::Copilot
        && handler.event.starts_with(|c: char| c.is_ascii_uppercase())
    {
        tool.name = input::claude_name(call, facts.tool());
    }
    let program = Program::new(argv(command, &work_dir, context)?);
    let mut program = (context.held(program))
        .dir(&work_dir)
        .outside(context.outside)
        .env("CLAUDE_PROJECT_DIR", root)
        .env("AHP_PROJECT_DIR", root)
        .env("AHP_TRIGGER", event.trigger.name());
    if let Some(path) = facts.tool().and_then(|view| view.paths.first()) {
        program = program.env("TOOL_INPUT_FILE_PATH", path);
    }
    for (name, value) in &handler.env {
        program = program.env(name, value);
    }
    let own_deadline =
        Instant::now().checked_add(handler.timeout.unwrap_or(handler.dialect.timeout()));
    let deadline = match (context.deadline, own_deadline) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let finished = program
        .stdin(input::of(facts, handler, tool.as_ref()))
        .deadline(deadline)
        .run()
        .map_err(|error| OracleError::failed(format!("{shown}: {error}")))?;
    if handler.is_async {
        return Ok(answer::noted(&shown, &finished));
    }
    let changes = |updated: &_| match (&tool, facts.tool()) {
        (Some(tool), Some(view)) => tool.changes(view, updated, root),
        _ => Vec::new(),
    };
    answer::read(handler, &shown, &changes, &finished)
}

/// Returns the words that run a command, scripts of the project as their trusted copies.
fn argv(
    command: &Command,
    work_dir: &Path,
    context: &HookContext,
) -> Result<Vec<String>, OracleError> {
    let untrusted = |error: crate::trust::NotTrusted| OracleError::Untrusted(error.to_string());
    match command {
        Command::Shell { shell, line } => {
            let line = context
                .trust
                .verified_command(line, work_dir)
                .map_err(untrusted)?;
            let flag = if *shell == "pwsh" { "-Command" } else { "-c" };
            Ok(vec![(*shell).to_owned(), flag.to_owned(), line])
        }
        Command::Exec(words) => words
            .iter()
            .enumerate()
            .map(|(n, word)| {
                let path = work_dir.join(word);
                // The program, or a script that is given to an interpreter.
                if (word.contains('/') || n == 1) && path.is_file() {
                    let copy = context.trust.verified(&path).map_err(untrusted)?;
                    return Ok(copy.to_string_lossy().into_owned());
                }
                Ok(word.clone())
            })
            .collect(),
    }
}
