//! ahp session: what marks have counted, and how it is forgotten.

use std::ops::ControlFlow;

use ahp::engine::MarkNow;
use ahp::event::{Event, Trigger};
use ahp::session::{Scope, Store};
use serde_json::json;

use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output::{self, Format};
use crate::project;
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the current value of each mark
    Show(ShowArgs),
    /// Reset the counts of a session, an issue, the project, or everything
    Forget(ForgetArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The session, by the host's name for it; by default that of the newest event in the log
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// The issue, for marks that are counted by issue
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, clap::Args)]
struct ForgetArgs {
    /// The session, by the host's name for it
    #[arg(value_name = "ID", required_unless_present_any = ["all", "issue", "of_project"])]
    session: Option<String>,
    /// What was counted by an issue
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// What was counted in the whole project
    #[arg(long = "project")]
    of_project: bool,
    /// All sessions, issues and projects
    #[arg(long, conflicts_with_all = ["session", "issue", "of_project"])]
    all: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    match &args.command {
        Command::Show(args) => show(args),
        Command::Forget(args) => forget(args),
    }
}

fn show(args: &ShowArgs) -> Result<Exit, String> {
    let engine = project::engine_at(None)?;
    if project::print_faults(&engine) {
        return Ok(Exit::Failure);
    }
    let session = match &args.session {
        Some(session) if !is_known(session)? => {
            return Err(format!(
                "neither the log nor the marks know a session `{session}`; `ahp log stats --by session` lists those of the log"
            ));
        }
        Some(session) => Some(session.clone()),
        None => newest()?,
    };
    let Some(session) = session else {
        return Err("the log tells of no session; name one: `ahp session show ID`".to_owned());
    };
    let mut event = Event::new(Trigger::PostAgentTurn).with_session(session.as_str());
    event.issue_id.clone_from(&args.issue);
    let marks = engine.marks_at(event);
    for mark in &marks {
        match args.format {
            Format::Json => output::json(&json!({
                "session": session,
                "mark": mark.name,
                "per": mark.scope,
                "by": mark.by,
                "least": mark.count.count.least,
                "most": mark.count.count.most,
                "why": mark.count.why,
            })),
            Format::Human => output::line(line(mark)),
        }
    }
    if marks.is_empty() {
        output::error("nothing asks for a mark, so that none is counted");
    }
    Ok(Exit::Success)
}

fn line(mark: &MarkNow) -> String {
    let by = mark.by.as_ref().map(|by| format!(", the highest by {by}"));
    format!(
        "marks.{:<24} {}  (per {}{})",
        mark.name,
        mark.count,
        mark.scope.name(),
        by.unwrap_or_default()
    )
}

/// Whether anything was logged or counted of a session.
fn is_known(session: &str) -> Result<bool, String> {
    let locations = project::locations(None);
    let is_counted = locations.state_dir.as_deref().is_some_and(|state_dir| {
        let store = Store::new(state_dir, &locations.project_root);
        store.file(Scope::Session, session).path().exists()
    });
    if is_counted {
        return Ok(true);
    }
    let mut is_logged = false;
    let reader = LogFile::default().read()?;
    let read = reader.newest_first(|_, line| {
        is_logged = line.session() == Some(session);
        if is_logged {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    read.map_err(|error| error.to_string())?;
    Ok(is_logged)
}

/// Returns the session of the newest event that tells one.
fn newest() -> Result<Option<String>, String> {
    let mut session = None;
    let reader = LogFile::default().read()?;
    let read = reader.newest_first(|_, line| match line.session() {
        Some(found) => {
            session = Some(found.to_owned());
            ControlFlow::Break(())
        }
        None => ControlFlow::Continue(()),
    });
    read.map_err(|error| error.to_string())?;
    Ok(session)
}

fn forget(args: &ForgetArgs) -> Result<Exit, String> {
    let locations = project::locations(None);
    let Some(state_dir) = &locations.state_dir else {
        return Err(
            "there is no state directory: neither `XDG_STATE_HOME` nor `HOME` is set".to_owned(),
        );
    };
    let store = Store::new(state_dir, &locations.project_root);
    let named = [
        (Scope::Session, args.session.as_deref()),
        (Scope::Issue, args.issue.as_deref()),
        (Scope::Project, args.of_project.then_some("")),
    ];
    let named = named
        .into_iter()
        .filter_map(|(scope, id)| Some((scope, id?)));
    if args.all {
        let removed = store.forget_all().map_err(|error| error.to_string())?;
        output::line(format!("forgotten: {}", count(removed as u64, "file")));
    } else {
        for (scope, id) in named {
            let was_there = store.file(scope, id).forget();
            output::line(if was_there.map_err(|error| error.to_string())? {
                format!("forgotten: the marks of this {} begin at 0", scope.name())
            } else {
                format!("nothing was counted in this {}", scope.name())
            });
        }
    }
    Ok(Exit::Success)
}
