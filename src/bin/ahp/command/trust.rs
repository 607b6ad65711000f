//! ahp trust: what a project would run, what has changed since it was looked at, and the word that allows it.

use std::path::PathBuf;

use ahp::config::{Approved, Locations};
use ahp::engine::{Clock as _, SystemClock};
use ahp::trust::{Change, ChangeKind, Trust};
use serde_json::json;

use crate::exit_code::Exit;
use crate::output;
use crate::output::Format;
use crate::project;
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project; by default the one around the current directory
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Show every file that can run or decide, and whether it is trusted; change nothing
    #[arg(long, conflicts_with_all = ["revoke", "diff"])]
    show: bool,
    /// Show what differs from what was trusted; change nothing
    #[arg(long, conflicts_with = "revoke")]
    diff: bool,
    /// Take the trust back
    #[arg(long)]
    revoke: bool,
    /// Do not ask for confirmation: what is done has been looked at. Required without a terminal
    #[arg(long, short)]
    yes: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Exit {
    trust(args).unwrap_or_else(output::failure)
}

fn trust(args: &Args) -> Result<Exit, String> {
    let mut locations = project::named(args.dir.as_deref())?;
    let root = locations.project_root.clone();
    if locations.trust_all {
        output::error(
            "notice: `AHP_TRUST=all` trusts every project; what follows holds without it",
        );
    }
    locations.trust_all = false;
    let policy = locations.clone();
    let engine = project::engine(locations)
        .build()
        .map_err(|e| e.to_string())?;
    let state = engine.state();
    let trust = state.trust();
    if args.revoke {
        let was = trust.revoke().map_err(|error| error.to_string())?;
        let first = Approved::of(&policy, false).write(&policy);
        first.map_err(|error| error.to_string())?;
        output::line(if was {
            format!("{} is no longer trusted", root.display())
        } else {
            format!("{} was not trusted", root.display())
        });
        return Ok(Exit::Success);
    }
    let held = state.held();
    let look = trust.look().map_err(|error| error.to_string())?;
    let changes = look.changes();
    if args.show {
        show(trust, changes, args.format);
        return Ok(Exit::Success);
    }
    if args.diff {
        tell_held(&held, args.format);
        for change in changes {
            print(change, args.format, true);
        }
        return Ok(Exit::Success);
    }
    project::decided(args.yes, "what may run")?;
    tell_held(&held, args.format);
    if let (true, Some(manifest)) = (changes.is_empty(), trust.manifest()) {
        approve(&policy)?;
        output::line(format!(
            "{} is trusted as it is: {}",
            root.display(),
            count(manifest.files.len(), "file")
        ));
        return Ok(Exit::Success);
    }
    if changes.is_empty() && args.format == Format::Human {
        output::line(
            "no hook, script or command; its tests and linters may run once it is trusted",
        );
    }
    // What is new as a whole is long; what has changed is what must be seen.
    let is_first = trust.manifest().is_none();
    for change in changes {
        print(change, args.format, !is_first);
    }
    if !args.yes && !project::confirmed(&format!("Allow {} to run this?", root.display())) {
        output::line("nothing was changed");
        return Ok(Exit::Failure);
    }
    let files = trust
        .grant(&look, SystemClock.now())
        .map_err(|error| error.to_string())?;
    approve(&policy)?;
    if args.format == Format::Human {
        output::line(format!(
            "{} is trusted: {}",
            root.display(),
            count(files, "file")
        ));
    }
    Ok(Exit::Success)
}

/// Approves the project's layers as they are: what they weaken has effect from now on.
fn approve(locations: &Locations) -> Result<(), String> {
    let approved = Approved::of(locations, true).write(locations);
    approved.map_err(|error| format!("what was approved cannot be kept: {error}"))
}

/// Tells what of the policy is weaker than what was approved, by what it means; the texts follow.
fn tell_held(held: &[String], format: Format) {
    for text in held {
        match format {
            Format::Human => output::line(format!("{:<8} {text}", "weaker")),
            Format::Json => output::json(&json!({"state": "weaker", "what": text})),
        }
    }
}

fn show(trust: &Trust, changes: &[Change], format: Format) {
    if let Some(manifest) = trust.manifest() {
        for (path, state) in &manifest.files {
            if changes.iter().any(|change| change.path == *path) {
                continue;
            }
            match format {
                Format::Human => output::line(format!("trusted  {}", path.replace('\n', "\\n"))),
                Format::Json => {
                    output::json(
                        &json!({"path": path, "state": "trusted", "sha256": state.sha256}),
                    );
                }
            }
        }
    }
    for change in changes {
        print(change, format, false);
    }
    if format == Format::Human {
        output::line(match trust.manifest() {
            Some(manifest) => format!("trusted since {}", manifest.at.format("%Y-%m-%d %H:%M UTC")),
            None => "not trusted; `ahp trust` allows all of it".to_owned(),
        });
    }
}

fn print(change: &Change, format: Format, with_diff: bool) {
    let state = match change.kind {
        ChangeKind::Added => "new",
        ChangeKind::Modified => "changed",
        ChangeKind::Mode => "mode",
        ChangeKind::Removed => "gone",
    };
    match format {
        Format::Json => {
            let diff = with_diff.then(|| change.diff());
            output::json(&json!({"path": change.path, "state": state, "diff": diff}));
        }
        Format::Human => {
            // A name with a line feed in it would be two lines.
            output::line(format!("{state:<8} {}", change.path.replace('\n', "\\n")));
            if with_diff && change.kind != ChangeKind::Mode {
                output::line(change.diff().trim_end());
            }
        }
    }
}
