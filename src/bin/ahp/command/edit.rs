//! ahp edit: opens the editor at a binding's line, or adds a binding first.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use ahp::config::{Config, Environment, LayerSource, Loaded, Locations, with_binding};
use ahp::diagnostic::Span;
use ahp::event::Trigger;

use crate::exit_code::Exit;
use crate::output;
use crate::project;
use crate::project::PROJECT_FILE;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The trigger, or `TRIGGER/ID` for one binding; without it the project's file is opened
    #[arg(value_name = "TRIGGER[/ID]")]
    place: Option<String>,
    /// Add a binding of this oracle to the project's file first
    #[arg(long, value_name = "ORACLE", requires = "place")]
    add: Option<String>,
    /// Print the file and the line, and open no editor; `--add` still writes
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let locations = project::locations(None);
    let place = args
        .place
        .as_deref()
        .map(project::parse_place)
        .transpose()?;
    let (file, line) = match (place, &args.add) {
        (Some((trigger, _)), Some(oracle)) => {
            let written = [project_file(&locations)];
            project::approving(&locations, false, &written, || {
                add(&locations, trigger, oracle)
            })?
        }
        (Some((trigger, id)), None) => find(&locations, trigger, id)?,
        (None, _) => (project_file(&locations), 1),
    };
    if !file.exists() {
        return Err(format!(
            "there is no `{}`; `ahp init` writes one",
            locations.display(&file)
        ));
    }
    if args.print {
        output::line(format!("{}:{line}", file.display()));
        return Ok(Exit::Success);
    }
    project::approving(&locations, false, slice::from_ref(&file), || {
        open(&Environment::of_process(), &file, line)
    })
}

fn project_file(locations: &Locations) -> PathBuf {
    locations.project_root.join(PROJECT_FILE)
}

/// Returns the file and line of a binding, or of the first one of a trigger.
fn find(
    locations: &Locations,
    trigger: Trigger,
    id: Option<&str>,
) -> Result<(PathBuf, u32), String> {
    let loaded = Config::load(locations);
    let bindings = loaded
        .config
        .bindings
        .get(&trigger)
        .map_or(&[][..], Vec::as_slice);
    let span = match id {
        None => bindings.first().map(|binding| binding.span),
        Some(id) => {
            let found = bindings.iter().find(|binding| binding.id == id);
            if found.is_none() && !bindings.is_empty() {
                let ids: Vec<_> = bindings.iter().map(|b| format!("`{}`", b.id)).collect();
                return Err(format!(
                    "no binding of `{trigger}` has the id `{id}`; there are {}",
                    ids.join(", ")
                ));
            }
            found.map(|binding| binding.span)
        }
    };
    let Some(span) = span else {
        return Err(format!(
            "nothing is bound to `{trigger}`; `ahp edit {trigger} --add ORACLE` adds a binding"
        ));
    };
    Ok((path_of(locations, &loaded, span)?, span.line))
}

/// Returns the file that a name in messages stands for.
fn path_of(locations: &Locations, loaded: &Loaded, span: Span) -> Result<PathBuf, String> {
    let name = loaded.sources.name(span.file);
    if name.starts_with("ahp:") {
        return Err(format!(
            "the binding comes from the pack `{name}`, which ships with `ahp`; give it under its id in `{}` to change it",
            locations.display(&project_file(locations))
        ));
    }
    Ok(match (name.strip_prefix("~/"), &locations.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => locations.project_root.join(name),
    })
}

/// Adds a binding to the project's file; returns where it stands.
fn add(locations: &Locations, trigger: Trigger, oracle: &str) -> Result<(PathBuf, u32), String> {
    let file = project_file(locations);
    let shown = locations.display(&file);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(format!("cannot read `{shown}`: {e}")),
    };
    let parsed = |text: &str| {
        let layer = [(LayerSource::Project, shown.as_str(), text)];
        Config::from_layers(&layer, &locations.project_root.join(".ahp"))
    };
    known(locations, oracle)?;
    let before = parsed(&text);
    if let Some(fault) = before.diagnostics.first() {
        return Err(format!(
            "fix the file first: {}",
            fault.one_line(&before.sources)
        ));
    }
    let (new, line) = with_binding(&text, trigger, &[format!("oracle: {oracle}")]);
    let after = parsed(&new);
    let count = |loaded: &Loaded| loaded.config.bindings.get(&trigger).map_or(0, Vec::len);
    // Written by a rule of thumb, so it is read back before it counts.
    if let Some(fault) = after.diagnostics.first() {
        return Err(format!(
            "the binding cannot be added: {}; open the file by `ahp edit` and write it by hand",
            fault.one_line(&after.sources)
        ));
    }
    if count(&after) != count(&before) + 1 {
        return Err(format!(
            "`{shown}` is not laid out in lines; open it by `ahp edit` and write the binding by hand"
        ));
    }
    let dir = file.parent().unwrap_or(&locations.project_root);
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(&file, new))
        .map_err(|e| format!("cannot write `{shown}`: {e}"))?;
    Ok((file, line))
}

/// Refuses the name of an oracle that the project's file cannot bind: it would break the layer.
fn known(locations: &Locations, oracle: &str) -> Result<(), String> {
    let state = project::quiet_engine(locations.clone())?.state();
    let found = state
        .lookup()
        .oracle(oracle, LayerSource::Project, Span::default());
    found.map(drop).map_err(|fault| {
        let help = fault.help.iter().map(|help| format!("; {help}"));
        format!("{}{}", fault.message, help.collect::<String>())
    })
}

/// Opens a file in the person's editor, in the terminal, and waits for it.
#[expect(
    clippy::disallowed_methods,
    reason = "an editor has the terminal to itself, for as long as it likes"
)]
fn open(environment: &Environment, file: &Path, line: u32) -> Result<Exit, String> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| environment.get(name))
        .unwrap_or("vi");
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program)
        .args(words)
        .args(at_line(program, file, line))
        .status()
        .map_err(|e| format!("cannot start the editor `{editor}`: {e}; set `EDITOR`"))?;
    if !status.success() {
        return Err(format!("the editor `{editor}` ended with {status}"));
    }
    let locations = project::locations(None);
    let loaded = Config::load(&locations);
    for fault in &loaded.diagnostics {
        output::error(output::diagnostic(fault, &loaded.sources));
    }
    Ok(Exit::unless(loaded.is_broken()))
}

/// Returns the arguments by which an editor opens a file at a line.
fn at_line(program: &str, file: &Path, line: u32) -> Vec<String> {
    let name = Path::new(program)
        .file_stem()
        .and_then(|name| name.to_str());
    let file = file.display();
    match name.unwrap_or_default() {
        "code" | "code-insiders" | "codium" | "cursor" | "windsurf" => {
            ["--wait", "--goto", &format!("{file}:{line}")]
                .map(str::to_owned)
                .to_vec()
        }
        "hx" | "helix" | "subl" | "zed" => vec![format!("{file}:{line}")],
        "vi" | "vim" | "nvim" | "nano" | "emacs" | "emacsclient" | "micro" | "kak" | "joe" => {
            vec![format!("+{line}"), file.to_string()]
        }
        // An editor that is not known may take `+12` for a file.
        _ => vec![file.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_are_told_the_line_in_their_own_way() {
        let file = Path::new("a.yaml");
        assert_eq!(at_line("/usr/bin/vim", file, 7), ["+7", "a.yaml"]);
        assert_eq!(at_line("code", file, 7), ["--wait", "--goto", "a.yaml:7"]);
        assert_eq!(at_line("unknown", file, 7), ["a.yaml"]);
    }
}
