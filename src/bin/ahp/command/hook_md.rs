//! ahp hook-md: the HOOK.md hooks that there are, what is wrong with one, and a new one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ahp::diagnostic::{Diagnostic, SourceMap};
use ahp::event::Trigger;
use ahp::hook_md::{self, Hook, Origin, Places, entry_point};
use ahp::trust::Trust;
use comfy_table::Table;
use serde_json::json;

use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List every hook of the user and the project, in the order in which they run
    List {
        /// The project; by default the one around the current directory
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
        /// How the list is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Report all errors of hooks
    Validate {
        /// A hook's folder, its `HOOK.md`, or a directory of hooks; by default all hooks of the user and the project
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Create a new hook
    New {
        /// Its name: lower-case letters, digits and single hyphens
        name: String,
        /// When it runs
        #[arg(long, default_value = "pre-tool-use")]
        trigger: Trigger,
        /// Make it for the user, not for the project
        #[arg(long)]
        user: bool,
    },
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    match &args.action {
        Action::List { dir, format } => list(dir.as_deref(), *format),
        Action::Validate { paths } => validate(paths),
        Action::New {
            name,
            trigger,
            user,
        } => new(name, *trigger, *user),
    }
}

/// Returns what keeps a hook from running, if something does.
fn obstacle(hook: &Hook, trust: &Trust) -> Option<String> {
    if let Err(error) = entry_point(&hook.dir) {
        return Some(error.to_string());
    }
    (!hook.is_trusted(trust)).then(|| "not trusted; `ahp trust` shows and allows it".to_owned())
}

fn list(dir: Option<&Path>, format: Format) -> Result<Exit, String> {
    let engine = project::engine_at(dir)?;
    let state = engine.state();
    let Some(hooks) = state.hooks() else {
        output::line("HOOK.md hooks are switched off by `agent_hooks: false`");
        return Ok(Exit::Success);
    };
    let mut sorted: Vec<_> = hooks.all().iter().collect();
    sorted.sort_by_key(|hook| {
        let front = &hook.front;
        (
            front.trigger,
            front.is_async,
            std::cmp::Reverse(front.priority),
        )
    });
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["NAME", "TRIGGER", "PRIORITY", "MODE", "FROM", "STATE"]);
    for hook in sorted {
        let front = &hook.front;
        let obstacle = obstacle(hook, state.trust());
        let mode = if front.is_async { "async" } else { "sync" };
        match format {
            Format::Human => {
                table.add_row([
                    front.name.clone(),
                    front.trigger.to_string(),
                    front.priority.to_string(),
                    mode.to_owned(),
                    hook.origin.name().to_owned(),
                    obstacle.unwrap_or_else(|| "ready".to_owned()),
                ]);
            }
            Format::Json => output::json(&json!({
                "name": front.name,
                "description": front.description,
                "trigger": front.trigger,
                "event_type": front.event_type,
                "matcher": front.matcher,
                "timeout_ms": u64::try_from(front.timeout.as_millis()).unwrap_or(u64::MAX),
                "async": front.is_async,
                "priority": front.priority,
                "origin": hook.origin.name(),
                "dir": hook.dir,
                "obstacle": obstacle,
            })),
        }
    }
    for broken in hooks.broken() {
        match format {
            Format::Human => {
                let trigger = broken.trigger.map_or("?", Trigger::name);
                let first = broken.faults.first().map_or("", String::as_str);
                let state = format!("broken: {first}");
                let row = [
                    broken.name.as_str(),
                    trigger,
                    "",
                    "",
                    broken.origin.name(),
                    &state,
                ];
                table.add_row(row);
            }
            Format::Json => output::json(&json!({
                "name": broken.name,
                "trigger": broken.trigger,
                "origin": broken.origin.name(),
                "dir": broken.dir,
                "faults": broken.faults,
            })),
        }
    }
    if format == Format::Human {
        if !state.policy().settings().agent_hooks {
            output::line(
                "HOOK.md hooks are switched off by `agent_hooks: false`, but for locked ones of the user",
            );
        } else if hooks.is_empty() {
            output::line("no hooks; `ahp hook-md new NAME` makes one");
        }
        if !hooks.is_empty() {
            for line in table.to_string().lines() {
                output::line(line.trim_end());
            }
        }
    }
    for notice in hooks.notices() {
        output::error(format!("notice: {notice}"));
    }
    Ok(Exit::Success)
}

fn validate(paths: &[PathBuf]) -> Result<Exit, String> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if paths.is_empty() {
        let state = project::engine_at(None)?.state();
        if let Some(hooks) = state.hooks() {
            folders.extend(hooks.all().iter().map(|hook| hook.dir.clone()));
            folders.extend(hooks.broken().iter().map(|broken| broken.dir.clone()));
        }
    }
    for path in paths {
        folders.extend(folders_of(path)?);
    }
    if folders.is_empty() {
        output::line("no hooks to check");
        return Ok(Exit::Success);
    }
    let mut failed = 0;
    for folder in &folders {
        if !is_valid(folder)? {
            failed += 1;
        }
    }
    let count = folders.len();
    if failed > 0 {
        output::line(match (failed, count) {
            (_, 1) => "the hook is not valid".to_owned(),
            (1, _) => format!("1 of {count} hooks is not valid"),
            _ => format!("{failed} of {count} hooks are not valid"),
        });
        return Ok(Exit::Failure);
    }
    output::line(match count {
        1 => "the hook is valid".to_owned(),
        _ => format!("all {count} hooks are valid"),
    });
    Ok(Exit::Success)
}

fn folders_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    let full = path
        .canonicalize()
        .map_err(|error| format!("`{}`: {error}", path.display()))?;
    if full.is_file() {
        return Ok(full.parent().map(Path::to_owned).into_iter().collect());
    }
    if hook_md::hook_file(&full).is_some() {
        return Ok(vec![full]);
    }
    let places = Places::default().named(full, Origin::Further);
    let hooks = hook_md::discover(&places);
    let meant = hooks.broken().iter().filter(|broken| broken.is_meant);
    let meant = meant.map(|broken| broken.dir.clone());
    let valid = hooks.all().iter().map(|hook| hook.dir.clone());
    let mut folders: Vec<_> = valid.chain(meant).collect();
    folders.sort();
    if folders.is_empty() {
        return Err(format!(
            "`{}` has no `HOOK.md`, and neither has a folder in it",
            path.display()
        ));
    }
    Ok(folders)
}

/// Checks one hook and tells its faults; returns whether it can run.
fn is_valid(folder: &Path) -> Result<bool, String> {
    let Some(file) = hook_md::hook_file(folder) else {
        let shown = folder.display();
        output::error(format!(
            "error: `{shown}` has no regular file `HOOK.md` that can be read"
        ));
        return Ok(false);
    };
    let text = fs::read(&file).map_err(|error| format!("`{}`: {error}", file.display()))?;
    let (text, garbled) = hook_md::readable(&text);
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut sources = SourceMap::default();
    let id = sources.add(file.display().to_string(), text);
    let parsed = hook_md::parse(text, &name, id);
    if let (None, Some(error)) = (&parsed.front, garbled) {
        return Err(format!("`{}` is not UTF-8 text: {error}", file.display()));
    }
    for fault in &parsed.diagnostics {
        output::error(output::diagnostic(fault, &sources));
    }
    let entry = entry_point(folder);
    if let Err(error) = &entry {
        output::error(format!("error: {error}"));
    }
    Ok(entry.is_ok() && !parsed.diagnostics.iter().any(Diagnostic::is_error))
}

fn new(name: &str, trigger: Trigger, user: bool) -> Result<Exit, String> {
    let locations = project::locations(None);
    let parent = if user {
        locations
            .user_hooks
            .ok_or("there is no home directory to put a hook into")?
    } else {
        locations.project_root.join(".agents/hooks")
    };
    let matcher = if trigger.is_tool() {
        "matcher:\n  tool: Shell\n  pattern: 'rm -rf'\n"
    } else {
        ""
    };
    let text = format!(
        "---\nname: {name}\ndescription: What this hook guards, in one sentence\ntrigger: {trigger}\n{matcher}timeout: 5000\n---\n\n# {name}\n\nWhat it does, when it blocks, and what to do then.\n"
    );
    let mut sources = SourceMap::default();
    let id = sources.add("HOOK.md", text.as_str());
    if let Some(fault) = hook_md::parse(&text, name, id).diagnostics.first() {
        return Err(fault.message.clone());
    }
    let dir = parent.join(name);
    if dir.exists() {
        return Err(format!("`{}` is already there", dir.display()));
    }
    let script = dir.join("scripts/run.sh");
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(dir.join("scripts"))?;
        fs::write(dir.join("HOOK.md"), &text)?;
        fs::write(&script, SCRIPT)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
    };
    write().map_err(|error| format!("cannot write `{}`: {error}", dir.display()))?;
    output::line(format!("wrote {}", dir.display()));
    if !user {
        output::line("next: write the check in scripts/run.sh, then `ahp trust`");
    }
    Ok(Exit::Success)
}

const SCRIPT: &str = include_str!("hook_md/run.sh");
