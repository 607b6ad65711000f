//! ahp init: writes a starter `.ahp/hooks.yaml`.

use std::convert::Infallible;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ahp::config::{PACKS, Pack, parse_yaml};
use ahp::diagnostic::FileId;
use ahp::engine::Engine;
use ahp::event::Trigger;

use super::oracle::Oracles;
use super::schema;
use crate::exit_code::Exit;
use crate::output;
use crate::project;
use crate::project::PROJECT_FILE;
use crate::view::count;

/// What git should not keep: the person's own layer, and what the engine writes itself.
const IGNORED: &[&str] = &[
    ".ahp/hooks.local.yaml",
    ".ahp/signals*",
    ".ahp/evidence*",
    ".ahp/state/",
    ".ahp/schema.json",
    ".ahp/retrospectives/",
    "ahp-report.html",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A policy pack to begin with, or to add to the policy that is there; may be repeated
    #[arg(long, value_name = "NAME", value_parser = pack_name)]
    pack: Vec<String>,
    /// List the packs, one line each
    #[arg(long, conflicts_with = "pack")]
    list: bool,
    /// The project; by default the current directory
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Takes a pack by its name, as `extends` writes it too: `ahp:session`.
#[expect(clippy::unnecessary_wraps, reason = "clap asks for a result")]
fn pack_name(text: &str) -> Result<String, Infallible> {
    Ok(text.strip_prefix("ahp:").unwrap_or(text).to_owned())
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.list {
        for pack in PACKS {
            output::line(format!("{:<16}{}", pack.name, pack.summary()));
        }
        return Ok(Exit::Success);
    }
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
    // A folder of a mistyped name would be made, policy and all.
    if !dir.is_dir() {
        return Err(format!(
            "`{}` is not a directory; make it first, or check the name",
            dir.display()
        ));
    }
    let mut locations = project::locations(Some(&dir));
    let around = locations.project_root.join(PROJECT_FILE);
    if args.dir.is_none() && locations.project_root != locations.work_dir && around.exists() {
        return Err(format!(
            "`{}` governs this directory already; `ahp init .` makes a project of its own here",
            around.display()
        ));
    }
    // A policy makes a project of its folder, also below another one.
    locations.project_root.clone_from(&locations.work_dir);
    let written = [locations.project_root.join(PROJECT_FILE)];
    let file = dir.join(PROJECT_FILE);
    if file.exists() && !args.pack.is_empty() {
        return project::approving(&locations, false, &written, || extend(&file, &args.pack));
    }
    fs::create_dir_all(dir.join(".ahp"))
        .map_err(|e| format!("cannot make `{}`: {e}", dir.join(".ahp").display()))?;
    project::approving(&locations, false, &written, || {
        write_new(&file, &starter(&args.pack))
    })?;
    output::line(format!("wrote {}", file.display()));
    write_schema(&dir)?;
    let ignored = ignore(&dir)?;
    if ignored > 0 {
        output::line(format!(
            "added {} to {}",
            count(ignored, "line"),
            dir.join(".gitignore").display()
        ));
    }
    for line in told(&args.pack) {
        output::line(line);
    }
    Ok(Exit::Success)
}

/// What the standard policy does, and what to do next.
const STANDARD: &[&str] = &[
    "stops: deleting the system, a home or the whole project, raw disks, force-pushes to shared branches, running downloads, reading or sending secrets",
    "asks:  deleting, overwriting, resetting and publishing, where that may be intended",
    "warns: everything else that a rule knows; all other commands run, and everything is logged",
    "next:  `ahp install HOST` wires your agent (`ahp doctor --all` names the hosts), `ahp doctor` shows that it holds",
    "try:   `ahp run pre-tool-use --tool Bash --input '{\"command\": \"git push --force origin main\"}'`",
];

/// Returns what is said of a policy that was just written.
fn told(chosen: &[String]) -> Vec<String> {
    if chosen.is_empty() || *chosen == ["standard"] {
        return STANDARD.iter().map(|line| (*line).to_owned()).collect();
    }
    let packs = chosen.iter().filter_map(|name| Pack::find(name));
    packs
        .map(|pack| format!("{}: {}", pack.name, pack.summary()))
        .chain(STANDARD.iter().skip(3).map(|line| (*line).to_owned()))
        .collect()
}

/// Adds packs to the policy that is there.
fn extend(file: &Path, packs: &[String]) -> Result<Exit, String> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|e| format!("cannot read `{shown}`: {e}"))?;
    let mut changed = text.clone();
    let mut told = Vec::new();
    for name in packs {
        if named(&changed, name) {
            told.push(format!("{shown} has `ahp:{name}` already"));
            continue;
        }
        let longer = with_pack(&changed, name).filter(|longer| named(longer, name));
        changed = longer.ok_or_else(|| {
            format!("`extends` of `{shown}` has a form that is not understood; write `- ahp:{name}` into it")
        })?;
        let summary = Pack::find(name).map_or("", Pack::summary);
        told.push(format!("added ahp:{name} to {shown}: {summary}"));
    }
    if changed != text {
        fs::write(file, changed).map_err(|e| format!("cannot write `{shown}`: {e}"))?;
    }
    told.iter().for_each(output::line);
    Ok(Exit::Success)
}

fn named(policy: &str, pack: &str) -> bool {
    let node = parse_yaml(policy, FileId::default(), &mut Vec::new());
    let extends = node.as_ref().and_then(|node| node.get("extends"));
    extends.is_some_and(|extends| {
        extends
            .to_json()
            .to_string()
            .contains(&format!("\"ahp:{pack}\""))
    })
}

/// Returns a policy with one pack more behind those that it extends; none where its `extends` is of another form than a list.
fn with_pack(policy: &str, pack: &str) -> Option<String> {
    let mut lines: Vec<String> = policy.lines().map(str::to_owned).collect();
    let Some(at) = lines.iter().position(|line| line.starts_with("extends:")) else {
        let is_key = |line: &String| line.starts_with("hooks:") || line.starts_with("settings:");
        let at = lines.iter().position(is_key).unwrap_or(lines.len());
        lines.splice(
            at..at,
            [
                "extends:".to_owned(),
                format!("  - ahp:{pack}"),
                String::new(),
            ],
        );
        return Some(lines.join("\n") + "\n");
    };
    let first = lines.get_mut(at)?;
    if let Some((list, rest)) = first.rsplit_once(']') {
        *first = format!("{list}, ahp:{pack}]{rest}");
        return Some(lines.join("\n") + "\n");
    }
    let is_item = |line: &&String| line.trim_start().starts_with('-');
    let items = lines.iter().skip(at + 1).take_while(is_item).count();
    let last = lines.get(at + items).filter(|_| items > 0)?;
    let indent = last.len() - last.trim_start().len();
    let item = format!("{}- ahp:{pack}", " ".repeat(indent));
    lines.insert(at + items + 1, item);
    Some(lines.join("\n") + "\n")
}

fn starter(chosen: &[String]) -> String {
    let chosen: Vec<&str> = if chosen.is_empty() {
        vec!["standard"]
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

/// Writes a policy where there is none: none is ever overwritten, not even in a race.
fn write_new(file: &Path, text: &str) -> Result<(), String> {
    let unwritten = |e| format!("cannot write `{}`: {e}", file.display());
    match fs::File::create_new(file) {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Err(format!(
            "`{}` is already there; `ahp init --pack NAME` adds a pack to it",
            file.display()
        )),
        opened => opened
            .and_then(|mut opened| opened.write_all(text.as_bytes()))
            .map_err(unwritten),
    }
}

/// Writes what editors complete and check the policy by.
fn write_schema(dir: &Path) -> Result<(), String> {
    let file = dir.join(".ahp/schema.json");
    let schema = schema::of(&Oracles::around(dir)?);
    fs::write(&file, format!("{schema}\n"))
        .map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}

/// Adds what git should not keep to `.gitignore`; returns how many lines were missing.
fn ignore(dir: &Path) -> Result<usize, String> {
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
    let count = missing.len();
    if missing.is_empty() {
        return Ok(count);
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
    Ok(count)
}
