//! ahp ci: the gate of a CI system, which a change cannot loosen for itself.

use std::path::PathBuf;
use std::sync::Arc;

use ahp::config::{Approved, BaseError, Environment, Locations, Reviewed};
use ahp::engine::Engine;
use ahp::event::{Event, Trigger};
use ahp::visible::on_one_line;
use ahp::workspace::{DiskWorkspace, GitError};

use super::run::{judge, parse_trigger, told_base};
use crate::exit_code::Exit;
use crate::output;
use crate::output::Format;
use crate::project;
use crate::report::Report;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The triggers to ask at
    #[arg(value_name = "TRIGGER", default_value = "pre-issue-submit")]
    triggers: Vec<String>,
    /// The issue that is acted upon [default: that of the branch, and each whose file the change touches]
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// The directory in which the project lies
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    /// What the change is measured against: a commit or a ref [default: what CI says, else the default branch]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Whose policy holds
    #[arg(long, value_enum, default_value_t)]
    policy: Whose,
    /// Report to a CI system too: `github` (the default there), `sarif=FILE` or `junit=FILE`; may be repeated
    #[arg(long, value_name = "FORMAT")]
    report: Vec<Report>,
    /// How the verdict is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    /// What the base binds holds, beside what the change adds to it
    #[default]
    Base,
    /// That of the change alone
    Head,
}

pub(crate) fn run(args: &Args) -> Exit {
    ask(args).unwrap_or_else(output::failure)
}

fn ask(args: &Args) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let mut locations = Locations::find(&environment, args.work_dir.as_deref());
    // Whatever the variables say: whoever asks by this command asks as CI does.
    let mut told = match &args.base {
        Some(base) => told_base(base),
        None => (*locations.base).clone(),
    };
    told.is_ci = true;
    if let Some(base) = &told.elsewhere {
        let here = locations.project_root.display();
        output::error(format!(
            "blocked: CI names the base `{base}` of another repository than the one around `{here}`; `--base REF` says what the change goes to"
        ));
        return Ok(Exit::Blocked);
    }
    locations.base = Arc::new(told);
    let mut reports = args.report.clone();
    if reports.is_empty() && environment.is_on("GITHUB_ACTIONS") {
        reports.push(Report::Github);
    }
    let mut changed = Vec::new();
    if args.policy == Whose::Base {
        let base = match Reviewed::of_base(&locations) {
            Ok(base) => base,
            // Nobody can tell what the change is: the gate is shut, whatever its policy would say.
            Err(error @ BaseError::Git(GitError::NoBase(_))) => {
                output::error(format!("blocked: {error}"));
                return Ok(Exit::Blocked);
            }
            Err(error) => {
                return Err(format!(
                    "{error}; `--policy head` judges by the change's own"
                ));
            }
        };
        if base.is_empty() {
            output::error("notice: the base has no policy, so that of the change judges it");
        } else {
            let head = Approved::of(&locations, true).into_reviewed();
            let differing = base.differing(&head);
            let shown = differing.map(|path| locations.display(path));
            changed = shown.map(|path| on_one_line(&path).into_owned()).collect();
            locations.reviewed = Some(Arc::new(base));
        }
    }
    let work_dir = locations.work_dir.clone();
    let (root, told) = (locations.project_root.clone(), locations.base.clone());
    let engine = project::engine(locations)
        .by_event_time()
        .build()
        .map_err(|error| error.to_string())?;
    tell_change(&engine, &changed, &reports);
    let triggers: Result<Vec<Trigger>, String> = args
        .triggers
        .iter()
        .map(|name| parse_trigger(name))
        .collect();
    let state = engine.state();
    let workspace = DiskWorkspace::new(root, state.policy().settings().issues.clone());
    let mut issues = vec![args.issue.clone()];
    // Where nobody can tell what the change is, the gates of one event say so.
    if args.issue.is_none()
        && let Ok(touched) = workspace.with_base(told).touched_issues()
        && !touched.is_empty()
    {
        issues = touched.into_iter().map(Some).collect();
    }
    let mut events = Vec::new();
    for trigger in triggers? {
        // Only a trigger of issues is about one.
        let given = std::slice::from_ref(&args.issue);
        let about = if trigger.is_issue() { &issues } else { given };
        for issue in about {
            let mut event = Event::new(trigger);
            event.issue_id.clone_from(issue);
            event.work_dir = Some(work_dir.clone());
            events.push(event);
        }
    }
    judge(&engine, events, &reports, args.format)
}

/// Says that the change touches the policy, and what of the base's stays in force in spite of it.
fn tell_change(engine: &Engine, changed: &[String], reports: &[Report]) {
    if changed.is_empty() {
        return;
    }
    let mut told = format!(
        "the policy is not that of what the change goes to: {}",
        changed.join(", ")
    );
    for held in engine.state().held() {
        told.push_str(&format!("\n- {held}; what the base has stays in force"));
    }
    output::error(format!("policy-changed: {told}"));
    if reports
        .iter()
        .any(|report| matches!(report, Report::Github))
    {
        output::command(&Report::warning_for_github("policy-changed", &told));
    }
}
