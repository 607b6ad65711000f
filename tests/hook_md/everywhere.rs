//! The documents' own guards hold in every host: each recorded payload, with a command that they stop.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ahp::event::{Event, ToolCall, ToolKind, ToolView, Trigger};
use ahp::host;
use ahp::host::{Host, Input};
use ahp::signal::Intensity;
use serde_json::Value;

use super::{due, seeds};
use crate::world::{World, copy, is_here};

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    found.sort();
    found
}

/// Every recorded event of every host, with the name of its payload.
pub(crate) fn recorded() -> Vec<(String, Event)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host");
    let mut found = Vec::new();
    for dir in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        for file in entries(&dir).iter().flat_map(|version| entries(version)) {
            let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let host = Host::find(&name).unwrap();
            let event = stem.split('.').find(|word| host.event(word).is_some());
            let bytes = fs::read(&file).unwrap();
            let decoded = host::decode(&Input {
                bytes: &bytes,
                host: Some(host),
                event,
                arguments: &[],
                work_dir: Path::new("/elsewhere"),
            });
            let events = decoded.map(|decoded| decoded.events).unwrap_or_default();
            found.extend(
                events
                    .into_iter()
                    .map(|event| (format!("{name}/{stem}"), event)),
            );
        }
    }
    found
}

/// Puts a text in the place of another, wherever a tool's input has it.
pub(crate) fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text == from => to.clone_into(text),
        Value::String(text) => {
            let quoted = |text: &str| Value::from(text).to_string().trim_matches('"').to_owned();
            *text = text.replace(&quoted(from), &quoted(to));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Value::Object(map) => map.values_mut().for_each(|item| replace(item, from, to)),
        _ => {}
    }
}

/// Every recorded call of a shell, before it runs, with another command in the place of its own.
pub(crate) fn with_command(command: &str) -> Vec<(String, Event)> {
    let calls = recorded().into_iter().filter_map(|(name, mut event)| {
        let tool = event.tool.as_mut()?;
        let view = ToolView::of(tool, Path::new("/"), Path::new("/"));
        let is_shell = event.trigger == Trigger::PreToolUse && view.kind == ToolKind::Shell;
        let own = view.command.filter(|_| is_shell)?;
        let given = tool.input.clone();
        replace(&mut tool.input, &own, command);
        (tool.input != given).then_some((name, event))
    });
    calls.collect()
}

/// Every recorded event of a case's trigger that is about the same: a tool that is of a kind of the case's, with its command or path.
fn like(case: &Event) -> Vec<(String, Event)> {
    let root = Path::new("/home/user/project");
    let view = |event: &Event| {
        event
            .tool
            .as_ref()
            .map(|tool| ToolView::of(tool, root, root))
    };
    let wanted = view(case);
    let command = wanted.as_ref().and_then(|wanted| wanted.command.clone());
    let path = wanted
        .as_ref()
        .and_then(|wanted| wanted.paths.first().cloned());
    let kinds = |event: &Event| event.tool.as_ref().map(ToolCall::kinds);
    let wanted_kinds = kinds(case);
    let alike = recorded().into_iter().filter_map(|(name, mut event)| {
        let own = view(&event);
        let is_of_kind = match (kinds(&event), wanted_kinds) {
            (Some(own), Some(wanted)) => own.iter().any(|kind| wanted.contains(kind)),
            (own, wanted) => own.is_none() && wanted.is_none(),
        };
        if event.trigger != case.trigger || !is_of_kind {
            return None;
        }
        if let (Some(tool), Some(own)) = (event.tool.as_mut(), own) {
            let given = tool.input.clone();
            if let (Some(own), Some(command)) = (&own.command, &command) {
                replace(&mut tool.input, own, command);
            } else if let (Some(own), Some(path)) = (own.paths.first(), &path) {
                let whole = root.join(own).display().to_string();
                replace(&mut tool.input, &whole, path);
                replace(&mut tool.input, own, path);
            }
            if tool.input == given {
                return None;
            }
        }
        Some((name, event))
    });
    alike.collect()
}

#[test]
fn every_printed_hook_gives_the_same_in_every_host() {
    let mut table: Vec<String> = Vec::new();
    let mut hosts = Vec::new();
    for (name, dir, example) in seeds::examples() {
        if !example.invalid.is_empty() {
            continue;
        }
        for (n, case) in example.cases.iter().enumerate() {
            // The second of two equal events is about what the first has left behind.
            let is_again =
                n > 0 && example.cases[n - 1].files == case.files && case.event.tool.is_none();
            if is_again {
                continue;
            }
            let mut tried = BTreeSet::new();
            for (payload, mut event) in like(&case.event) {
                // All are matched; the program runs once for each tool of a host.
                let host = payload.split('/').next().unwrap().to_owned();
                let tool = event.tool.as_ref().map(|tool| tool.name.clone());
                let runs = example.runs() && tried.insert((host.clone(), tool));
                let world = World::new("");
                copy(&dir, &world.user_hooks());
                for (file, text) in &case.files {
                    world.write(file, text);
                }
                event.work_dir = Some(world.root());
                let hooks = world.hooks();
                let (gives, text) = seeds::outcome(&world, &hooks, &event, runs);
                let wanted = if runs || case.gives == "unmet" {
                    case.gives.as_str()
                } else {
                    "due"
                };
                if gives != wanted {
                    table.push(format!(
                        "{name} case {n}: {payload} gives {gives}, not {wanted}: {text}"
                    ));
                }
                hosts.push(host);
            }
        }
    }
    assert_eq!(table, Vec::<String>::new(), "{}", table.join("\n"));
    hosts.sort();
    hosts.dedup();
    assert!(hosts.len() >= 12, "{hosts:?}");
}

#[test]
fn a_guard_of_the_documents_stops_the_same_command_in_every_host() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hook_md/seeds");
    let mut hosts = Vec::new();
    for seed in ["000-python", "000-example", "002-pattern-1"] {
        if seed == "000-python" && !is_here("python3") {
            continue;
        }
        for (name, event) in with_command("mkfs.ext4 /dev/sdz && rm -rf /nowhere") {
            let world = World::new("");
            copy(&seeds.join(seed), &world.user_hooks());
            let hooks = world.hooks();
            let due = due(&hooks, &event);
            assert_eq!(due.len(), 1, "{seed} does not run for {name}");
            let signals = world.run_hook(&due[0], &event).unwrap();
            let blocks = signals
                .iter()
                .any(|signal| signal.intensity() == Intensity::Block);
            assert!(blocks, "{seed} lets {name} through: {event:?}");
            hosts.push(name.split('/').next().unwrap().to_owned());
        }
    }
    hosts.sort();
    hosts.dedup();
    assert!(hosts.len() >= 12, "{hosts:?}");
}
