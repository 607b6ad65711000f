//! Every HOOK.md and script that the standard's three documents print, run as printed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ahp::event::Event;
use ahp::oracle::OracleError;
use serde::Deserialize;

use super::due;
use crate::world::World;
use crate::world::copy;
use crate::world::is_here;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    /// Programs without which the example cannot be run.
    #[serde(default)]
    needs: Vec<String>,
    /// What must be said of a hook that is printed incomplete.
    #[serde(default)]
    invalid: Vec<String>,
    #[serde(default)]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    event: Event,
    /// Files of the project before the event.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// An intensity, `none`, `no-program`, or `unmet` where the hook must not run at all.
    gives: String,
    says: Option<String>,
}

#[test]
fn printed_hooks_work_as_printed() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hook_md/seeds");
    let mut count = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let dir = entry.unwrap().path();
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(dir.join("case.yaml")).unwrap();
        let example: Example =
            serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        run(&name, &dir, &example);
        count += 1;
    }
    assert!(count >= 25, "only {count} examples were found");
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
    let runs = example.needs.iter().all(|program| is_here(program));
    for (n, case) in example.cases.iter().enumerate() {
        let at = format!("{name}, case {n}");
        for (file, text) in &case.files {
            fs::write(world.root().join(file), text).unwrap();
        }
        let due = due(&hooks, &case.event);
        if case.gives == "unmet" {
            assert!(due.is_empty(), "{at}: the hook runs");
            continue;
        }
        assert_eq!(due.len(), 1, "{at}: the hook does not run");
        if !runs {
            continue;
        }
        let (gives, text) = match world.run_hook(&due[0], &case.event) {
            Ok(signals) => (
                signals.first().map_or("none", |s| s.intensity().name()),
                serde_json::to_string(&signals).unwrap(),
            ),
            Err(OracleError::NoProgram(why)) => ("no-program", why),
            Err(error) => panic!("{at}: {error}"),
        };
        assert_eq!(gives, case.gives, "{at}: {text}");
        if let Some(says) = &case.says {
            assert!(text.contains(says), "{at}: {text}");
        }
    }
}
