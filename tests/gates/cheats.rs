//! Runs that look green and are not, as `tests/tools/cheats.toml` has them; `.ci/tools` runs them all with the real tools.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::project::{Project, only, script};
use crate::world::is_here;

#[derive(Deserialize)]
struct Cheats {
    cheat: Vec<Cheat>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cheat {
    name: String,
    needs: Vec<String>,
    gives: String,
    command: Option<String>,
    #[serde(default)]
    before: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
}

impl Cheat {
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
        if signals.is_empty() {
            return Some(format!("{}: it passes", self.name));
        }
        let (kind, _, reason) = only(&signals);
        (self.gives != "*" && self.gives != kind)
            .then(|| format!("{}: `{kind}` and not `{}`: {reason}", self.name, self.gives))
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

#[test]
fn no_cheat_passes() {
    let cheats: Cheats = toml_edit::de::from_str(include_str!("../tools/cheats.toml")).unwrap();
    let here = cheats
        .cheat
        .iter()
        .filter(|cheat| cheat.needs.iter().all(|tool| is_here(tool)));
    let here: Vec<&Cheat> = here.collect();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let judged: Vec<_> = here
            .chunks(here.len().div_ceil(4))
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .filter_map(|cheat| cheat.wrong())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        judged
            .into_iter()
            .flat_map(|part| part.join().unwrap())
            .collect()
    });
    assert!(here.len() > 10, "only {} of them ran", here.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
