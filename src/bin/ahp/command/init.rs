//! ahp init: writes a starter `.ahp/hooks.yaml`.

use std::fs;
use std::io::IsTerminal as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;

use ahp::config::Approved;
use ahp::config::PACKS;
use ahp::config::Pack;
use ahp::engine::Engine;
use ahp::event::Trigger;

use super::oracle::Oracles;
use super::schema;
use crate::exit_code::Exit;
use crate::output;
use crate::project;

/// What git should not keep: the person's own layer, and what the engine writes itself.
const IGNORED: &[&str] = &[
    ".ahp/hooks.local.yaml",
    ".ahp/signals*",
    ".ahp/evidence*",
    ".ahp/state/",
    ".ahp/schema.json",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A policy pack to begin with; may be repeated
    #[arg(long, value_name = "NAME")]
    pack: Vec<String>,
    /// The project; by default the current directory
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Exit {
    init(args).unwrap_or_else(output::failure)
}

fn init(args: &Args) -> Result<Exit, String> {
    for name in &args.pack {
        if Pack::find(name).is_none() {
            let names: Vec<_> = PACKS.iter().map(|p| p.name).collect();
            let near = ahp::diagnostic::nearest(name, names.iter().copied())
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(format!(
                "no policy pack is called `{name}`{near} (there are {})",
                names.join(", ")
            ));
        }
    }
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => project::locations(None).work_dir,
    };
    let file = dir.join(".ahp/hooks.yaml");
    fs::create_dir_all(dir.join(".ahp"))
        .map_err(|e| format!("cannot make `{}`: {e}", dir.join(".ahp").display()))?;
    // `create_new`, so that no policy is ever overwritten, not even in a race.
    let mut opened = fs::File::create_new(&file).map_err(|e| {
        if e.kind() == std::io::ErrorKind::AlreadyExists {
            format!(
                "`{}` is already there; edit it, or remove it first",
                file.display()
            )
        } else {
            format!("cannot write `{}`: {e}", file.display())
        }
    })?;
    opened
        .write_all(starter(&args.pack).as_bytes())
        .map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    output::line(format!("wrote {}", file.display()));
    if std::io::stdin().is_terminal() {
        let locations = project::locations(Some(&dir));
        Approved::of(&locations, true).write(&locations).ok();
    }
    write_schema(&dir)?;
    if ignore(&dir)? {
        output::line(format!(
            "added {} lines to {}",
            IGNORED.len(),
            dir.join(".gitignore").display()
        ));
    }
    output::line(
        "next: `ahp check`, then `ahp install <host>` for your agent, or `ahp run pre-tool-use --tool Bash --input '{\"command\": \"rm -rf ~\"}'`",
    );
    Ok(Exit::Success)
}

fn starter(chosen: &[String]) -> String {
    let chosen: Vec<&str> = if chosen.is_empty() {
        vec!["baseline"]
    } else {
        chosen.iter().map(String::as_str).collect()
    };
    let mut text = String::from(
        "# yaml-language-server: $schema=schema.json\n\
         # The policy of this project. `ahp check` checks it, `ahp explain` shows what is in force and why.\n\
         version: 1\n\n\
         # Packs lie below this file: a binding with the same trigger and id overrides what they bring.\n\
         extends:\n",
    );
    for name in &chosen {
        let summary = Pack::find(name).map_or("", Pack::summary);
        text.push_str(&format!("  - ahp:{name}  # {summary}\n"));
    }
    text.push_str(if judge_submissions(&chosen) {
        "\n# Bindings of your own; `ahp edit TRIGGER --add ORACLE` adds one.\nhooks:\n"
    } else {
        "\nhooks:\n  # Work on an issue is submitted when its checklist is done.\n  pre-issue-submit:\n    - oracle: ChecklistValidator\n      priority: 1\n"
    });
    text
}

/// Whether packs have a word about issues that are submitted.
fn judge_submissions(packs: &[&str]) -> bool {
    let packs: Vec<_> = packs.iter().map(|name| format!("ahp:{name}")).collect();
    let engine = Engine::builder()
        .policy_text(format!("extends: [\"{}\"]", packs.join("\", \"")))
        .build();
    engine.is_ok_and(|engine| {
        let state = engine.state();
        state
            .policy()
            .specs()
            .contains_key(&Trigger::PreIssueSubmit)
    })
}

/// Writes what editors complete and check the policy by.
fn write_schema(dir: &Path) -> Result<(), String> {
    let file = dir.join(".ahp/schema.json");
    let schema = schema::of(&Oracles::around(dir)?);
    fs::write(&file, format!("{schema}\n"))
        .map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}

/// Adds what git should not keep to `.gitignore`; returns whether anything was missing.
fn ignore(dir: &Path) -> Result<bool, String> {
    let file = dir.join(".gitignore");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(format!("cannot read `{}`: {e}", file.display())),
    };
    let missing: Vec<_> = IGNORED
        .iter()
        .filter(|line| !text.lines().any(|have| have.trim() == **line))
        .collect();
    if missing.is_empty() {
        return Ok(false);
    }
    let mut added = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        added.push('\n');
    }
    for line in missing {
        added.push_str(line);
        added.push('\n');
    }
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&file)
        .and_then(|mut f| f.write_all(added.as_bytes()))
        .map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    Ok(true)
}
