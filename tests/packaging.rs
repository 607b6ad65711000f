//! What is packed: one version everywhere, every maker knows every target, and what is fetched at installation is nothing.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::permission_checker::oracle::evaluate;
use crate::world::{Ran, World, executable};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn parsed(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// The text behind a mark, up to a quote or white space.
fn behind(text: &str, mark: &str) -> String {
    let (_, rest) = text
        .split_once(mark)
        .unwrap_or_else(|| panic!("no `{mark}`"));
    rest.split(|c: char| c == '"' || c.is_whitespace())
        .next()
        .unwrap()
        .to_owned()
}

/// The versions of three numbers in a text.
fn versions(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let words = words.map(|word| word.trim_matches('.'));
    words
        .filter(|word| word.split('.').count() == 3)
        .filter(|word| word.split('.').all(|part| !part.is_empty()))
        .map(str::to_owned)
}

#[test]
fn the_version_is_one() {
    let version = env!("CARGO_PKG_VERSION");
    let wheel = read("packaging/python/pyproject.toml");
    assert_eq!(behind(&wheel, "\nversion = \""), version);
    assert_eq!(parsed("packaging/npm/package.json")["version"], version);
    let hooks = read("pyproject.toml");
    assert_eq!(behind(&hooks, "\nversion = \""), version);
    assert_eq!(behind(&hooks, "\"ahp-hooks=="), version);
    assert_eq!(
        parsed("packaging/plugin/.claude-plugin/plugin.json")["version"],
        version
    );
    let fleet = read("fleet/Cargo.toml");
    assert_eq!(behind(&fleet, "\nversion = \""), version);
    assert_eq!(behind(&fleet, "path = \"..\", version = \""), version);
    // What they tell people to install, but for the versions of other things.
    for (file, others) in [
        ("packaging/gitlab.yml", &[][..]),
        ("action.yml", &[]),
        ("docs/how-to/install.md", &[]),
        ("docs/how-to/ci.md", &["SARIF 2.1.0"]),
    ] {
        let mut text = read(file);
        for other in others {
            text = text.replace(other, "");
        }
        let versions: Vec<_> = versions(&text).collect();
        assert!(!versions.is_empty(), "{file} names no version");
        assert!(
            versions.iter().all(|v| v == version),
            "{file}: {versions:?}"
        );
    }
}

#[test]
fn every_maker_knows_every_target() {
    let targets = parsed("packaging/targets.json");
    let targets = targets.as_array().unwrap();
    let (script, formula) = (
        read("packaging/install.sh"),
        read("packaging/homebrew/ahp.rb"),
    );
    let release = read(".github/workflows/release.yml");
    let action = read("action.yml");
    for target in targets {
        let triple = target["triple"].as_str().unwrap();
        assert!(
            script.contains(&format!("triple={triple} ")),
            "install.sh: {triple}"
        );
        for mark in ["URL", "SUM"] {
            assert!(
                formula.contains(&format!("@{mark}:{triple}@")),
                "ahp.rb: {triple}"
            );
        }
        let is_linux = triple.contains("linux");
        assert_eq!(target["static"], is_linux, "{triple}");
        assert_eq!(target["deb"].is_string(), is_linux, "{triple}");
        assert_eq!(target["npm"]["os"] == "linux", is_linux, "{triple}");
        let (cpu, system) = triple.split_once('-').unwrap();
        for part in [cpu, system] {
            assert!(
                action.contains(&format!("={part} ;;")),
                "action.yml: {part}"
            );
        }
        assert!(target["wheel"].as_str().unwrap().contains(if is_linux {
            "manylinux"
        } else {
            "macosx"
        }));
    }
    assert_eq!(targets.len(), script.matches("triple=").count());
    // The workflow takes its machines from the same table.
    assert!(release.contains("packaging/targets.json"));
}

#[test]
fn a_system_without_a_program_is_told_the_way_out() {
    let way_out = "on Windows, install it in WSL";
    assert!(read("src/lib.rs").contains("#[cfg(not(unix))]\ncompile_error!("));
    for file in [
        "src/lib.rs",
        "packaging/install.sh",
        "packaging/npm/lib/program.js",
    ] {
        assert!(read(file).contains(way_out), "{file}");
    }
}

#[test]
fn nothing_runs_or_is_fetched_at_installation() {
    let manifest = parsed("packaging/npm/package.json");
    assert!(manifest.get("scripts").is_none());
    assert!(manifest.get("dependencies").is_none());
    assert!(!read("packaging/pack").contains("\"scripts\""));
    assert!(!read("packaging/python/pyproject.toml").contains("\ndependencies"));
}

/// Each way in which a program of our packages is started.
fn ways_to_start() -> Vec<String> {
    let npm = parsed("packaging/npm/package.json");
    let package = npm["name"].as_str().unwrap();
    let wheel = read("packaging/python/pyproject.toml");
    let (_, scripts) = wheel.split_once(".shared-scripts]").unwrap();
    let mut ways = Vec::new();
    for (name, file) in npm["bin"].as_object().unwrap() {
        let file = format!("node_modules/{package}/{}", file.as_str().unwrap());
        for node in ["", "node ", "bun ", "deno run -A ", "tsx ", "npx tsx "] {
            ways.push(format!("{node}{file}"));
            ways.push(format!("{node}node_modules/.bin/{name}"));
        }
        ways.push(format!("deno run -A npm:{package}"));
        for by in [
            "npx",
            "npm exec",
            "npm exec --",
            "pnpm",
            "pnpm exec",
            "yarn",
            "yarn run",
            "bun",
            "bunx",
            "bun x",
        ] {
            ways.push(format!("{by} {name}"));
        }
        for by in ["npx", "pnpm dlx", "yarn dlx", "bunx"] {
            ways.push(format!("{by} {package}"));
        }
    }
    let scripts = scripts
        .lines()
        .skip(1)
        .take_while(|line| line.contains('='));
    for name in scripts.map(|line| behind(line, "= \"")) {
        ways.extend([
            format!(".venv/bin/{name}"),
            format!("python3 .venv/bin/{name}"),
            format!("uv run {name}"),
            format!("uvx --from {package} {name}"),
            format!("pipx run --spec {package} {name}"),
        ]);
    }
    ways.push("docker run ghcr.io/acme/ahp".to_owned());
    ways
}

#[test]
fn no_agent_gives_a_persons_commands_however_a_product_is_started() {
    let world = World::new("");
    let passes = |command: &str| {
        let input = json!({ "command": command });
        let found = evaluate(&world, "SelfProtection", "{}", "Bash", input);
        found.is_ok_and(|found| found.is_empty())
    };
    let ways = ways_to_start();
    assert!(ways.len() > 30, "{ways:?}");
    for way in ways {
        // Nobody knows of deno that it only reads the script that it is given, and that of the launcher is guarded.
        let is_given_it = way.starts_with("deno run -A node_modules/");
        for command in [
            "trust -y",
            "uninstall claude-code",
            "respond last dismiss --by human",
        ] {
            assert!(
                !passes(&format!("{way} {command}")),
                "passes: {way} {command}"
            );
        }
        for command in ["check", "trust --help", "explain 'ls'"] {
            assert!(
                is_given_it || passes(&format!("{way} {command}")),
                "stopped: {way} {command}"
            );
        }
    }
}

#[test]
fn the_plugin_asks_at_the_events_that_install_would_wire() {
    let host = ahp::host::Host::find("claude-code").unwrap();
    let hooks = parsed("packaging/plugin/hooks/hooks.json");
    let events = hooks["hooks"].as_object().unwrap();
    for (event, entries) in events {
        let wired_event = host.event(event).unwrap_or_else(|| panic!("{event}"));
        let trigger = wired_event
            .trigger
            .unwrap_or_else(|| panic!("{event} is ignored"));
        let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(
            command,
            ahp::install::Installer::plugin_command(wired_event),
            "{event}"
        );
        assert_eq!(
            entries[0]["hooks"][0]["onFailure"] == "block",
            wired_event.gates(),
            "{event}"
        );
        assert_eq!(
            entries[0].get("matcher").is_some(),
            trigger.is_tool() && !wired_event.is_settings,
            "{event}"
        );
    }
    // What can hold something, and the beginning and end of what a session counts.
    for needed in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
    ] {
        assert!(events.contains_key(needed), "{needed}");
    }
}

/// In every shell by which a host may run it, an end of the program other than its own answer is a refusal with words where
/// the event gates something, and words alone where it does not.
#[test]
fn the_plugin_answers_where_its_program_is_missing_or_dies_or_is_another() {
    let host = ahp::host::Host::find("claude-code").unwrap();
    let hooks = parsed("packaging/plugin/hooks/hooks.json");
    let world = World::new("");
    fs::create_dir(world.path("absent")).unwrap();
    let programs = [
        ("killed", "kill -9 $$"),
        ("another", "exit 1"),
        ("refuses", "echo because >&2; exit 2"),
        ("passes", "echo noted >&2; exit 0"),
    ];
    for (name, text) in programs {
        fs::create_dir(world.path(name)).unwrap();
        executable(
            &world.path(name).join("ahp"),
            &format!("#!/bin/sh\n{text}\n"),
        );
    }
    let names = programs.map(|(name, _)| name).into_iter();
    let shells: &[&[&str]] = &[
        &["/bin/sh"],
        &["/bin/bash"],
        &["/bin/dash"],
        &["/bin/busybox", "sh"],
        &["/bin/mksh"],
        &["/bin/zsh"],
        &["/usr/bin/fish"],
    ];
    for shell in shells.iter().filter(|shell| Path::new(shell[0]).exists()) {
        for (event, entries) in hooks["hooks"].as_object().unwrap() {
            let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
            let gates = host.event(event).unwrap().gates();
            for name in names.clone().chain(["absent"]) {
                let mut run = world.command(shell[0]);
                let run = run.args(&shell[1..]).args(["-c", command]);
                let ran = Ran::of(&run.env("PATH", world.path(name)).output().unwrap());
                let at = format!("{shell:?} {event} {name}: {ran:?}");
                let is_fish = shell[0].ends_with("fish");
                match name {
                    "passes" => assert_eq!((ran.code, &*ran.stderr), (0, "noted\n"), "{at}"),
                    // It cannot be asked there how the program ended.
                    "refuses" if is_fish => assert_eq!(ran.code == 2, gates, "{at}"),
                    "refuses" => assert_eq!((ran.code, &*ran.stderr), (2, "because\n"), "{at}"),
                    _ => {
                        assert_eq!(ran.code, if gates { 2 } else { 0 }, "{at}");
                        let words = if gates {
                            "ahp did not answer, so this is refused; to install it: pipx"
                        } else {
                            "ahp did not answer, so nothing was judged; to install it: pipx"
                        };
                        assert!(ran.stderr.contains(words), "{at}");
                    }
                }
            }
        }
    }
}

/// What is installed is the very file that was verified, and nothing of it runs before.
#[test]
fn the_action_verifies_what_is_attested_before_it_runs_any_of_it() {
    let (action, release) = (read("action.yml"), read(".github/workflows/release.yml"));
    assert!(release.contains("subject-path: dist/*"));
    let at = |text: &str| action.find(text).unwrap_or_else(|| panic!("no `{text}`"));
    let verified = at("gh attestation verify \"$release/$file\"");
    let files = at("for file in install.sh SHA256SUMS \"ahp-$version-$cpu-$system.tar.gz\"");
    let run = at("AHP_BASE_URL=file://$release");
    assert!(files < verified && verified < run);
    assert_eq!(action.matches("sh \"$release/install.sh\"").count(), 1);
    assert!(action.contains("ahp test --report github"));
}

/// A workflow hands files from job to job without their modes.
#[test]
fn the_image_gives_its_programs_their_modes() {
    assert!(read("packaging/docker/Containerfile").contains("\nCOPY --chmod=755 "));
}

#[test]
fn the_action_says_what_it_lacks() {
    let action = read("action.yml");
    let (_, script) = action.split_once("run: |").unwrap();
    let (_, script) = script.split_once('\n').unwrap();
    let (script, _) = script.split_once("    - name: Run ahp").unwrap();
    let world = World::new("");
    for (version, at, os, arch, words) in [
        ("", "v0.1.0", "Windows", "X64", "no program for Windows"),
        ("", "v0.1.0", "Linux", "ARM", "no program for ARM"),
        ("", "main", "Linux", "X64", "`main` is no release"),
        ("", "0a1b2c3d", "Linux", "X64", "`0a1b2c3d` is no release"),
        ("", "", "Linux", "X64", "`` is no release"),
        (
            "v0.1.0",
            "main",
            "Linux",
            "X64",
            "/download/v0.1.0/install.sh cannot be fetched",
        ),
        (
            "",
            "v0.1.0",
            "macOS",
            "ARM64",
            "/download/v0.1.0/install.sh cannot be fetched",
        ),
    ] {
        let mut bash = world.command("bash");
        let temporary = world.path("runner");
        for (name, value) in [
            ("VERSION", version),
            ("REF", at),
            ("RUNNER_OS", os),
            ("RUNNER_ARCH", arch),
            ("REPOSITORY", "acme/ahp"),
            ("SERVER", "https://127.0.0.1:9"),
            ("RUNNER_TEMP", temporary.to_str().unwrap()),
        ] {
            bash.env(name, value);
        }
        let ran = Ran::of(
            &bash
                .args(["-eo", "pipefail", "-c", script])
                .output()
                .unwrap(),
        );
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.starts_with("::error::"), "{ran:?}");
        assert!(ran.stdout.contains(words), "{words}: {ran:?}");
    }
}

#[test]
fn nothing_is_installed_from_an_address_that_anybody_may_change() {
    let world = World::new("");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/install.sh");
    for base in ["http://127.0.0.1:9/x", "ftp://127.0.0.1/x", "/tmp/x"] {
        let mut sh = world.command("sh");
        let ran = Ran::of(&sh.arg(&script).env("AHP_BASE_URL", base).output().unwrap());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.stderr.contains("begins with https:// or file://"),
            "{ran:?}"
        );
        assert!(ran.stderr.contains("nothing was installed"), "{ran:?}");
    }
}

/// Not every package has the pages: a message names a command that tells, or tells itself.
#[test]
fn no_message_names_a_page() {
    let mut open = vec!["src".into(), "fleet/src".into()];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        let path: std::path::PathBuf = path;
        let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join(&path);
        if whole.is_dir() {
            let entries = fs::read_dir(&whole).unwrap();
            open.extend(entries.map(|entry| path.join(entry.unwrap().file_name())));
            continue;
        }
        if path.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let text = fs::read_to_string(&whole).unwrap();
        for (number, line) in text.lines().enumerate() {
            let shown = line.trim_start();
            let said = !shown.starts_with("//") && !shown.starts_with("#[doc");
            let mut pages = line
                .split(|c: char| !(c.is_ascii_alphanumeric() || "/-_.".contains(c)))
                .filter(|word| {
                    word.starts_with("docs/")
                        && Path::new(word).extension().is_some_and(|e| e == "md")
                });
            // Examples name pages too, but of other projects.
            if said && pages.any(|page| Path::new(env!("CARGO_MANIFEST_DIR")).join(page).is_file())
            {
                found.push(format!("{}:{}: {shown}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
