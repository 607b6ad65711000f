//! ahp run: evaluates one event, or many, without a host.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ahp::config::BindingSpec;
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, Trigger, parse_json};
use ahp::verdict::Verdict;
use ahp::workspace::{ChangeScope, DiskWorkspace, ToldBase, Workspace as _};

use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;
use crate::report;
use crate::report::Report;
use crate::view;

/// An event larger than this is not an event (spec §10).
const MAX_EVENT: u64 = 32 << 20;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["trigger", "event", "events"]))]
pub(crate) struct Args {
    /// The trigger, by any of its names
    trigger: Option<String>,
    /// The issue that is acted upon
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// The tool that is called
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's input
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// The agent session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The environment, such as `production`
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// The directory in which the operation happens
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    /// Read the event as JSON from a file, or from stdin with `-`; other options change it
    #[arg(long, value_name = "FILE", conflicts_with = "events")]
    event: Option<PathBuf>,
    /// Read many events, one JSON object a line, and write one verdict a line, in order
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trigger", "issue", "tool", "input", "session"])]
    events: Option<PathBuf>,
    /// The commit or ref to compare with [default: the one that the CI system names, else the default branch]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Report to a CI system too: `github`, `sarif=FILE` or `junit=FILE`; may be repeated
    #[arg(long, value_name = "FORMAT", conflicts_with = "events")]
    report: Vec<Report>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    match &args.events {
        Some(file) => run_many(args, file),
        None => run_one(args),
    }
}

fn run_one(args: &Args) -> Result<Exit, String> {
    let event = event(args)?;
    let engine = engine(args, event.work_dir.as_deref(), Some(event.trigger))?;
    if let Some(base) = &args.base {
        let state = engine.state();
        let policy = state.policy();
        let workspace = DiskWorkspace::new(policy.root().clone(), policy.settings().issues.clone());
        let told = Arc::new(told_base(base));
        tell_if_unchanged(&workspace.with_base(told), Some(base));
    }
    judge(&engine, vec![event], &args.report, args.format)
}

/// Says that there is nothing to judge where that is so: a pass says little then.
pub(super) fn tell_if_unchanged(workspace: &DiskWorkspace, base: Option<&str>) {
    if let Ok(changes) = workspace.changes(ChangeScope::Branch)
        && changes.paths.is_empty()
    {
        let base = base.map_or("the base".to_owned(), |base| format!("`{base}`"));
        output::error(format!("notice: nothing has changed since {base}"));
    }
}

/// Evaluates events, writes the reports of all of them, and prints what became of each.
pub(super) fn judge(
    engine: &Engine,
    events: Vec<Event>,
    reports: &[Report],
    format: Format,
) -> Result<Exit, String> {
    let all: Vec<_> = events
        .into_iter()
        .flat_map(|event| block_on(engine.evaluate_all(event, None)))
        .collect();
    let mut exit = Exit::Success;
    let verdicts: Vec<&Verdict> = all.iter().map(|one| &one.verdict).collect();
    report::write(reports, &verdicts)?;
    for evaluated in &all {
        print(format, &evaluated.verdict, subject(&evaluated.event));
        if evaluated.verdict.stops() {
            exit = Exit::Blocked;
        }
    }
    let broken = project::print_faults(engine);
    let state = engine.state();
    let is_bound = |spec: &BindingSpec| spec.enabled && spec.is_written();
    let has_hooks = state.hooks().is_some_and(|hooks| !hooks.all().is_empty());
    if format == Format::Human
        && !broken
        && !has_hooks
        && !state.policy().specs().values().flatten().any(is_bound)
    {
        output::error(if state.layers().is_empty() {
            "no policy is in force here: `ahp init` writes one"
        } else {
            "no binding is in force at this trigger: `ahp explain` shows the policy"
        });
    }
    Ok(exit)
}

fn run_many(args: &Args, file: &Path) -> Result<Exit, String> {
    let reader: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let opened =
            File::open(file).map_err(|e| format!("cannot read `{}`: {e}", file.display()))?;
        Box::new(BufReader::new(opened))
    };
    let engine = engine(args, None, None)?;
    let mut exit = Exit::Success;
    for (n, line) in reader.lines().enumerate() {
        let line = line.map_err(|e| format!("{}:{}: {e}", file.display(), n + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let event: Event = parse_json(line.as_bytes())
            .and_then(serde_json::from_value)
            .map_err(|e| format!("{}:{}: not an event: {e}", file.display(), n + 1))?;
        let verdict = block_on(engine.evaluate(event));
        if verdict.stops() {
            exit = Exit::Blocked;
        }
        output::json(&verdict);
    }
    Ok(exit)
}

fn engine(args: &Args, event_dir: Option<&Path>, only: Option<Trigger>) -> Result<Engine, String> {
    let mut locations = project::locations(args.work_dir.as_deref().or(event_dir));
    if let Some(base) = &args.base {
        locations.base = Arc::new(told_base(base));
    }
    let builder = project::engine(locations)
        .by_event_time()
        .report_skipped(args.format == Format::Json);
    project::built(match only {
        Some(trigger) => builder.only(trigger),
        None => builder,
    })
}

/// Returns the base that a person names on the command line.
pub(super) fn told_base(base: &str) -> ToldBase {
    ToldBase {
        commit: Some(base.to_owned()),
        ..ToldBase::default()
    }
}

fn event(args: &Args) -> Result<Event, String> {
    let mut event = match (&args.event, &args.trigger) {
        (Some(file), trigger) => {
            let mut event = read_event(file)?;
            if let Some(trigger) = trigger {
                event.trigger = parse_trigger(trigger)?;
            }
            event
        }
        (None, Some(trigger)) => Event::new(parse_trigger(trigger)?),
        (None, None) => return Err("say a trigger, `--event` or `--events`".to_owned()),
    };
    if let Some(issue) = &args.issue {
        event.issue_id = Some(issue.clone());
    }
    if let Some(name) = &args.tool {
        let input = match &args.input {
            Some(text) => parse_json(text.as_bytes()).map_err(|e| {
                format!("`--input` is not JSON: {e}; write `--input '{{\"command\": \"ls\"}}'`")
            })?,
            None => serde_json::Value::Object(serde_json::Map::new()),
        };
        let mut call = event.tool.unwrap_or_default();
        call.name.clone_from(name);
        call.input = input;
        event.tool = Some(call);
    }
    if args.session.is_some() {
        event.session_id.clone_from(&args.session);
    }
    if args.environment.is_some() {
        event.environment.clone_from(&args.environment);
    }
    if let Some(dir) = &args.work_dir {
        event.work_dir = Some(dir.clone());
    }
    if event.work_dir.is_none() {
        event.work_dir = Some(project::locations(None).work_dir);
    }
    Ok(event)
}

pub(super) fn parse_trigger(name: &str) -> Result<Trigger, String> {
    name.parse()
        .map_err(|e: ahp::event::UnknownTriggerError| e.to_string())
}

/// Reads one event in AHP's own form.
pub(crate) fn read_event(file: &Path) -> Result<Event, String> {
    let name = file.display();
    let mut text = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX_EVENT + 1)
            .read_to_end(&mut text)
    } else {
        File::open(file).and_then(|f| f.take(MAX_EVENT + 1).read_to_end(&mut text))
    };
    read.map_err(|e| format!("cannot read `{name}`: {e}"))?;
    if text.len() as u64 > MAX_EVENT {
        return Err(format!("`{name}` is larger than 32 MiB, which no event is"));
    }
    let event = parse_json(&text).and_then(serde_json::from_value);
    event.map_err(|e| format!("`{name}` is not an event: {e}"))
}

fn print(format: Format, verdict: &Verdict, subject: Option<&str>) {
    match format {
        Format::Human => output::line(view::verdict(verdict, subject)),
        Format::Json => output::json(verdict),
    }
}

fn subject(event: &Event) -> Option<&str> {
    event
        .issue_id
        .as_deref()
        .or_else(|| event.tool.as_ref().map(|tool| tool.name.as_str()))
}
