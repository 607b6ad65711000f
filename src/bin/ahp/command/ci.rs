//! ahp ci: the gate of a CI system, which a change cannot loosen for itself.

use std::path::PathBuf;
use std::sync::Arc;

use ahp::config::{BaseError, Environment, Locations, Reviewed};
use ahp::event::{Event, Trigger};
use ahp::signal::{Origin, Signal};
use ahp::verdict::Verdict;
use ahp::workspace::{DiskWorkspace, GitError};

use super::run::{judge, parse_trigger, tell_if_unchanged, told_base};
use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;
use crate::report;
use crate::report::{Report, is_github};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The triggers to evaluate
    #[arg(value_name = "TRIGGER", default_value = "pre-issue-submit")]
    triggers: Vec<String>,
    /// The issue that is acted upon [default: that of the branch, and each whose file the change touches]
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// The directory in which the project lies
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    /// The commit or ref to compare with [default: the one that the CI system names, else the default branch]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Whose policy judges the change
    #[arg(long, value_enum, default_value_t)]
    policy: Whose,
    /// Report to a CI system too: `github` (the default there), `sarif=FILE` or `junit=FILE`; may be repeated
    #[arg(long, value_name = "FORMAT")]
    report: Vec<Report>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    /// The policy of the base, plus what the change adds
    #[default]
    Base,
    /// Only the policy of the change
    Head,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let mut locations = Locations::find(&environment, args.work_dir.as_deref());
    // Whatever the variables say: whoever asks by this command asks as CI does.
    let mut told = match &args.base {
        Some(base) => told_base(base),
        None => (*locations.base).clone(),
    };
    told.is_ci = true;
    let mut reports = args.report.clone();
    if reports.is_empty() && is_github(&environment) {
        reports.push(Report::Github);
    }
    let triggers = args.triggers.iter().map(|name| parse_trigger(name));
    let triggers: Vec<Trigger> = triggers.collect::<Result<_, _>>()?;
    if let Some(base) = &told.elsewhere {
        let here = locations.project_root.display();
        let why = format!(
            "CI names the base `{base}` of another repository than the one around `{here}`; `--base REF` says what the change goes to"
        );
        return refuse(&triggers, &why, &reports, args.format);
    }
    locations.base = Arc::new(told);
    if args.policy == Whose::Base {
        match hold_to_base(&mut locations) {
            Ok(true) => {}
            Ok(false) => {
                output::error("notice: the base has no policy, so that of the change judges it");
            }
            // Nobody can tell what the change is: the gate is shut, whatever its policy would say.
            Err(error @ BaseError::Git(GitError::NoBase(_))) => {
                return refuse(&triggers, &error.to_string(), &reports, args.format);
            }
            Err(error) => {
                return Err(format!(
                    "{error}; `--policy head` judges by the change's own"
                ));
            }
        }
    }
    let work_dir = locations.work_dir.clone();
    let (root, told) = (locations.project_root.clone(), locations.base.clone());
    let engine = project::built(project::engine(locations).by_event_time())?;
    let state = engine.state();
    let workspace = DiskWorkspace::new(root, state.policy().settings().issues.clone());
    let workspace = workspace.with_base(told);
    tell_if_unchanged(&workspace, args.base.as_deref());
    let mut issues = vec![args.issue.clone()];
    // Where nobody can tell what the change is, the gates of one event say so.
    if args.issue.is_none()
        && let Ok(touched) = workspace.touched_issues()
        && !touched.is_empty()
    {
        issues = touched.into_iter().map(Some).collect();
    }
    let mut events = Vec::new();
    for trigger in triggers {
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

/// Stops every trigger where nobody can tell what the change is, and says so to the CI system too.
fn refuse(
    triggers: &[Trigger],
    why: &str,
    reports: &[Report],
    format: Format,
) -> Result<Exit, String> {
    const KIND: &str = "base-unknown";
    let verdicts: Vec<Verdict> = triggers
        .iter()
        .map(|trigger| {
            let mut signal = Signal::block(KIND, why);
            signal.origin = Origin {
                binding: KIND.to_owned(),
                ..Origin::default()
            };
            Verdict::of(*trigger, vec![signal])
        })
        .collect();
    report::write(reports, &verdicts.iter().collect::<Vec<_>>())?;
    if format == Format::Json {
        verdicts.iter().for_each(output::json);
    }
    output::error(format!("blocked: {why}"));
    Ok(Exit::Blocked)
}

/// Holds the change to the policy of what it goes to, in the folder that is the project there; returns whether there is one.
fn hold_to_base(locations: &mut Locations) -> Result<bool, BaseError> {
    let moved = locations.root_of_base()?;
    let moved = moved.map(|root| std::mem::replace(&mut locations.project_root, root));
    let base = Reviewed::of_base(locations)?.moved_to(moved);
    let has_policy = !base.is_empty();
    if has_policy {
        locations.reviewed = Some(Arc::new(base));
    }
    Ok(has_policy)
}
