//! Every HOOK.md and script that the standard's three documents print, run as printed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ahp::event::Event;
use ahp::hook_md::Hooks;
use ahp::oracle::OracleError;
use serde::Deserialize;

use super::due;
use crate::world::{World, copy, is_here};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Example {
    /// Programs without which the example cannot be run.
    #[serde(default)]
    needs: Vec<String>,
    /// What must be said of a hook that is printed incomplete.
    #[serde(default)]
    pub(super) invalid: Vec<String>,
    #[serde(default)]
    pub(super) cases: Vec<Case>,
}

impl Example {
    /// Whether the programs that it needs are here.
    pub(super) fn runs(&self) -> bool {
        self.needs.iter().all(|program| is_here(program))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) event: Event,
    /// Files of the project before the event.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// An intensity, `none`, `no-program`, or `unmet` where the hook must not run at all.
    pub(super) gives: String,
    says: Option<String>,
}

/// Every printed example: its name, its folder and its cases.
pub(super) fn examples() -> Vec<(String, PathBuf, Example)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hook_md/seeds");
    let dirs = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let read = |dir: PathBuf| {
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(dir.join("case.yaml")).unwrap();
        let example = serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        (name, dir, example)
    };
    dirs.map(read).collect()
}

#[test]
fn printed_hooks_work_as_printed() {
    let examples = examples();
    assert!(
        examples.len() >= 25,
        "only {} examples were found",
        examples.len()
    );
    for (name, dir, example) in &examples {
        run(name, dir, example);
    }
}

/// Returns what the one hook of a world gives for an event, and its words; `due` where it would run and shall not.
pub(super) fn outcome(
    world: &World,
    hooks: &Hooks,
    event: &Event,
    runs: bool,
) -> (&'static str, String) {
    let due = due(hooks, event);
    let [hook] = due.as_slice() else {
        return ("unmet", String::new());
    };
    if !runs {
        return ("due", String::new());
    }
    match world.run_hook(hook, event) {
        Ok(signals) => (
            signals.first().map_or("none", |s| s.intensity().name()),
            serde_json::to_string(&signals).unwrap(),
        ),
        Err(OracleError::NoProgram(why)) => ("no-program", why),
        Err(error) => ("failed", error.to_string()),
    }
}

fn run(name: &str, dir: &Path, example: &Example) {
    let world = World::new("");
    copy(dir, &world.user_hooks());
    let hooks = world.hooks();
    if !example.invalid.is_empty() {
        let broken = &hooks.broken()[0];
        let faults = broken.faults.join("\n");
        for expected in &example.invalid {
            assert!(faults.contains(expected), "{name}: {expected}\n{faults}");
        }
        return;
    }
    assert!(hooks.broken().is_empty(), "{name}: {:?}", hooks.broken());
    for (n, case) in example.cases.iter().enumerate() {
        let at = format!("{name}, case {n}");
        for (file, text) in &case.files {
            fs::write(world.root().join(file), text).unwrap();
        }
        let (gives, text) = outcome(&world, &hooks, &case.event, example.runs());
        if gives == "due" && case.gives != "unmet" {
            continue;
        }
        assert_eq!(gives, case.gives, "{at}: {text}");
        if let Some(says) = &case.says {
            assert!(text.contains(says), "{at}: {text}");
        }
    }
}
