//! ahp trust: what a project would run, what has changed since it was looked at, and the word that allows it.

use std::io;
use std::path::{Path, PathBuf};

use ahp::config::{Approved, Locations};
use ahp::engine::{Clock as _, Engine, SystemClock};
use ahp::trust::{Change, ChangeKind, Look, Trust};
use serde_json::{Value, json};

use crate::exit_code::Exit;
use crate::output::{self, Format};
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
    /// Withdraw the trust
    #[arg(long)]
    revoke: bool,
    /// Do not ask for confirmation, because a person has checked what is done. Required without a terminal
    #[arg(long, short)]
    yes: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let mut locations = project::named(args.dir.as_deref())?;
    let root = locations.project_root.clone();
    if locations.trust_all {
        output::error(
            "notice: `AHP_TRUST=all` trusts every project; what follows holds without it",
        );
    }
    locations.trust_all = false;
    let policy = locations.clone();
    let engine = project::built(project::engine(locations))?;
    let state = engine.state();
    let trust = state.trust();
    if args.revoke {
        let was = trust.revoke().map_err(|error| unkept(&policy, &error))?;
        let first = Approved::first(&policy, &state.faulty_files()).write(&policy);
        first.map_err(|error| unkept(&policy, &error))?;
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
        show(trust, &look, args.format);
        return Ok(Exit::Success);
    }
    if args.diff {
        tell_held(&held, args.format);
        for change in changes {
            print((trust, &look), change, args.format, true);
        }
        return Ok(Exit::Success);
    }
    project::decided(args.yes, "what may run")?;
    tell_held(&held, args.format);
    if let (true, Some(manifest)) = (changes.is_empty(), trust.manifest()) {
        let exit = approve(&policy, &engine)?;
        output::line(format!(
            "{} is trusted as it is: {}",
            root.display(),
            count(manifest.files.len(), "file")
        ));
        return Ok(exit);
    }
    if changes.is_empty() && args.format == Format::Human {
        output::line(
            "no hook, script or command; its tests and linters may run once it is trusted",
        );
    }
    // What is new as a whole is long; what has changed is what must be seen.
    let is_first = trust.manifest().is_none();
    for change in changes {
        print((trust, &look), change, args.format, !is_first);
    }
    if !args.yes && !project::confirmed(&format!("Allow {} to run this?", root.display())) {
        output::line("nothing was changed");
        return Ok(Exit::Failure);
    }
    let files = trust
        .grant(&look, SystemClock.now())
        .map_err(|error| unkept(&policy, &error))?;
    let exit = approve(&policy, &engine)?;
    if args.format == Format::Human {
        output::line(format!(
            "{} is trusted: {}",
            root.display(),
            count(files, "file")
        ));
    }
    Ok(exit)
}

/// Says where approvals could not be kept.
fn unkept(locations: &Locations, error: &io::Error) -> String {
    let dir = locations.state_dir.as_deref().unwrap_or(Path::new("?"));
    format!(
        "cannot keep approvals in `{}` (`$XDG_STATE_HOME/ahp`, else `~/.local/state/ahp`): {error}",
        dir.display()
    )
}

/// Approves the project's layers as they are: what they weaken has effect from now on. What has faults is not approved, for
/// nothing could be held to it.
fn approve(locations: &Locations, engine: &Engine) -> Result<Exit, String> {
    let state = engine.state();
    let mut faulty = state.faulty_files();
    let is_of_project = |name: &str| {
        let root = &locations.project_root;
        !name.starts_with("~/") && root.join(name).starts_with(root)
    };
    faulty.retain(|name| is_of_project(name));
    faulty.sort_unstable();
    faulty.dedup();
    if !faulty.is_empty() {
        engine.keep_first(&state);
        project::print_faults(engine);
        output::error(format!(
            "notice: the policy was not approved, because it has faults: {}; correct them, then run `ahp trust` again",
            faulty.join(", ")
        ));
        return Ok(Exit::Failure);
    }
    let approved = Approved::of(locations, true).write(locations);
    approved.map_err(|error| unkept(locations, &error))?;
    Ok(Exit::Success)
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

fn show(trust: &Trust, look: &Look, format: Format) {
    let changes = look.changes();
    if let Some(manifest) = trust.manifest() {
        for (path, state) in &manifest.files {
            if changes.iter().any(|change| change.path == *path) {
                continue;
            }
            let command = trust.issue_command(look, path);
            match format {
                Format::Human => line("trusted", path, command.as_deref()),
                Format::Json => {
                    let mut told =
                        json!({"path": path, "state": "trusted", "sha256": state.sha256});
                    add_command(&mut told, command);
                    output::json(&told);
                }
            }
        }
    }
    for change in changes {
        print((trust, look), change, format, false);
    }
    if format == Format::Human {
        output::line(match trust.manifest() {
            Some(manifest) => format!("trusted since {}", manifest.at.format("%Y-%m-%d %H:%M UTC")),
            None => "not trusted; `ahp trust` allows all of it".to_owned(),
        });
    }
}

fn print((trust, look): (&Trust, &Look), change: &Change, format: Format, with_diff: bool) {
    let state = match change.kind {
        ChangeKind::Added => "new",
        ChangeKind::Modified => "changed",
        ChangeKind::Mode => "mode",
        ChangeKind::Removed => "gone",
    };
    let command = trust.issue_command(look, &change.path);
    match format {
        Format::Json => {
            let diff = with_diff.then(|| change.diff());
            let mut told = json!({"path": change.path, "state": state, "diff": diff});
            add_command(&mut told, command);
            output::json(&told);
        }
        Format::Human => {
            line(state, &change.path, command.as_deref());
            if with_diff && change.kind != ChangeKind::Mode {
                output::line(change.diff().trim_end());
            }
        }
    }
}

/// Prints one thing that is trusted or not: a file by its name, a command of an issue by what it says, for its name tells
/// nobody anything.
fn line(state: &str, path: &str, command: Option<&str>) {
    // A name with a line feed in it would be two lines.
    let shown = match command {
        Some(command) => format!("the command of an issue: {command}"),
        None => path.to_owned(),
    };
    output::line(format!("{state:<8} {}", shown.replace('\n', "\\n")));
}

fn add_command(told: &mut Value, command: Option<String>) {
    if let Some(command) = command {
        told["command"] = command.into();
    }
}
