//! Runs that look green and are not, and runs that look odd and are honest, as `tests/tools/cheats.toml` and `honest.toml` have
//! them; `.ci/tools` runs them all with the real tools.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::project::{Project, only, script};
use crate::world::is_here;

#[derive(Deserialize)]
struct Cases {
    #[serde(alias = "cheat", alias = "honest")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    needs: Vec<String>,
    /// The kind of the signal; none for a run that passes.
    gives: Option<String>,
    command: Option<String>,
    #[serde(default)]
    before: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
}

impl Case {
    /// Returns what is wrong with how it was judged.
    fn wrong(&self) -> Option<String> {
        let project = Project::new(&[(".gitignore", "target/\n__pycache__/\nnode_modules\n")]);
        let config = self.command.as_ref();
        let config = config.map_or(String::new(), |command| format!("{{command: {command:?}}}"));
        write(&project, &self.before);
        let project = project.in_git();
        if !self.before.is_empty() {
            let signals = project.judge("TestGate", &config);
            if !signals.is_empty() {
                return Some(format!("{}: honest, and stopped: {signals:#?}", self.name));
            }
        }
        write(&project, &self.files);
        let signals = project.judge("TestGate", &config);
        let Some(gives) = &self.gives else {
            return (!signals.is_empty()).then(|| format!("{}: stopped: {signals:#?}", self.name));
        };
        if signals.is_empty() {
            return Some(format!("{}: it passes", self.name));
        }
        let (kind, _, reason) = only(&signals);
        (gives != "*" && gives != kind)
            .then(|| format!("{}: `{kind}` and not `{gives}`: {reason}", self.name))
    }
}

fn write(project: &Project, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let text = text.trim_start_matches('\n');
        if let Some(program) = text.strip_prefix("#!/bin/sh\n") {
            script(project, path, program);
        } else {
            project.write(path, text);
        }
    }
}

/// Judges all cases whose tools are here.
fn judge(cases: &str, least: usize) {
    let cases: Cases = toml_edit::de::from_str(cases).unwrap();
    let is_here = |case: &&Case| case.needs.iter().all(|tool| is_here(tool));
    let here: Vec<&Case> = cases.cases.iter().filter(is_here).collect();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let judged: Vec<_> = here
            .chunks(here.len().div_ceil(4))
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .filter_map(|case| case.wrong())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        judged
            .into_iter()
            .flat_map(|part| part.join().unwrap())
            .collect()
    });
    assert!(here.len() > least, "only {} of them ran", here.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_cheat_passes() {
    judge(include_str!("../tools/cheats.toml"), 10);
}

#[test]
fn no_honest_run_is_stopped() {
    judge(include_str!("../tools/honest.toml"), 3);
}
