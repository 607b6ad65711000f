//! Wiring every host: what is written, that it is written once, and that nothing else is touched.

#![expect(
    clippy::panic,
    reason = "a test that cannot go on says where by panicking"
)]

mod deep;
mod first_steps;
mod guarded;
mod keeping;
mod machine;
mod plugin;
mod shared;
mod weak;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ahp::event::Trigger;
use ahp::host::{Form, HOSTS};
use ahp::install::{ByName, Change, InstallError, Installer, Needs, Patience, Places, Wire};
use ahp::place::{Roots, Scope};

use crate::world::World;

fn world() -> World {
    let world = World::new("");
    fs::create_dir_all(git_hooks(&world)).unwrap();
    world
}

fn places(world: &World) -> Places {
    Places {
        roots: Roots {
            machine: world.dir.path().join("machine"),
            ..Roots::new(world.root(), Some(world.home()))
        },
        program: PathBuf::from("/opt/my tools/ahp"),
        by_name: ByName::Nowhere,
    }
}

fn git_hooks(world: &World) -> PathBuf {
    world.path(".git/hooks")
}

fn install(world: &World, installer: &Installer, scope: Scope, needs: &Needs) -> Vec<Change> {
    let patience = Patience::for_bindings(Duration::from_secs(30));
    let changes = installer
        .install(
            &places(world),
            scope,
            needs,
            patience,
            Some(&git_hooks(world)),
        )
        .unwrap_or_else(|e| panic!("{} {scope}: {e}", installer.host.name));
    for change in &changes {
        change.apply().unwrap();
    }
    changes
}

fn uninstall(world: &World, installer: &Installer, scope: Scope) -> Vec<Change> {
    let changes = installer
        .uninstall(&places(world), scope, Some(&git_hooks(world)))
        .unwrap();
    for change in &changes {
        change.apply().unwrap();
    }
    changes
}

fn every_pair() -> Vec<(Installer, Scope)> {
    let world = world();
    let mut pairs = Vec::new();
    for installer in Installer::all() {
        for scope in Scope::ALL {
            if installer.file(&places(&world), scope).is_ok() {
                pairs.push((installer, scope));
            }
        }
    }
    pairs
}

/// Whether a scope has no hook commands to write: a program of the host's name stands before it, or its hooks are only allowed.
fn has_no_wires(installer: &Installer, scope: Scope) -> bool {
    let form = installer.host.settings.unwrap().form(scope);
    matches!(form, Form::Shim | Form::Permitted(_))
}

#[test]
fn every_host_with_settings_has_an_installer() {
    let without = ["agent-hooks", "claude-agent-sdk", "kiro-cli", "native"];
    for host in HOSTS {
        assert_eq!(
            Installer::find(host.name).is_none(),
            without.contains(&host.name),
            "{}",
            host.name
        );
    }
    assert!(Installer::all().is_sorted_by(|a, b| a.host.name < b.host.name));
}

#[test]
fn what_is_installed_is_there_once_and_goes_away_without_a_trace() {
    for (installer, scope) in every_pair() {
        let installer = &installer;
        let context = format!("{} {scope}", installer.host.name);
        let world = world();
        assert!(
            !install(&world, installer, scope, &Needs::All).is_empty(),
            "{context}"
        );
        let hooks = git_hooks(&world);
        let wires = installer
            .wires(&places(&world), scope, Some(&hooks))
            .unwrap();
        assert_eq!(
            wires.is_empty(),
            has_no_wires(installer, scope),
            "{context}"
        );
        let called = match (installer.host.name, scope) {
            ("git", _) | (_, Scope::User | Scope::Local | Scope::System) => "/opt/my tools/ahp",
            (_, Scope::Project) => "ahp",
        };
        let is_called = |wire: &Wire| wire.program().as_deref() == Some(called);
        assert!(wires.iter().all(is_called), "{wires:?}");
        assert!(installer.is_trusted(&places(&world), scope), "{context}");
        assert_eq!(
            install(&world, installer, scope, &Needs::All),
            [],
            "{context}: a second time"
        );
        assert!(!uninstall(&world, installer, scope).is_empty(), "{context}");
        assert_eq!(
            uninstall(&world, installer, scope),
            [],
            "{context}: a second time"
        );
        assert_eq!(
            installer
                .wires(&places(&world), scope, Some(&hooks))
                .unwrap(),
            [],
            "{context}"
        );
        let left: Vec<PathBuf> = walk(world.dir.path());
        assert_eq!(left, Vec::<PathBuf>::new(), "{context}");
    }
}

/// Returns every file that is not a backup and not empty.
fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else if !path.to_string_lossy().ends_with(".before-ahp")
            && fs::metadata(&path).unwrap().len() > 0
        {
            found.push(path);
        }
    }
    found
}

const GROUPS: &str = r#"{
    // How I like it.
    "model": "opus", /* the big one */
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash", // mine
                "hooks": [{"type": "command", "command": "./check.sh", "timeout": 5}]
            }
        ],
        "BeforeTool": [ { "hooks": [ { "type": "command", "command": "ahp-like hook" } ] } ]
    },
    "permissions": {"allow": ["Bash(ls)"]},
}
"#;

const FLAT: &str = "{\r\n\t\"version\": 1,\r\n\t\"hooks\": {\r\n\t\t\"preToolUse\": [\r\n\t\t\t{ \"command\": \"./mine\" }\r\n\t\t]\r\n\t}\r\n}";

const TOML: &str = "# mine\ndefault_model = \"x\" # quick\n\n[[hooks]]\nevent = \"Stop\"   # here\ncommand = \"./mine\"\n\n[models.x]\nmodel = \"y\"\n";

const REQUIREMENTS: &str = "# ours\nallowed_sandbox_modes = [\"read-only\"] # no other\n\n[features]\nweb_search = false\n\n\
    [hooks]\nmanaged_dir = \"/opt/hooks\"\n\n[[hooks.PreToolUse]]\nmatcher = \"^Bash$\" # shells\n\n[[hooks.PreToolUse.hooks]]\n\
    type = \"command\"\ncommand = \"/opt/hooks/mine\"\n";

#[test]
fn what_a_person_wrote_stays_byte_for_byte() {
    for (installer, scope) in every_pair() {
        let installer = &installer;
        let world = world();
        let file = installer.file(&places(&world), scope).unwrap();
        let before = match installer.host.name {
            "codex" if scope == Scope::System => REQUIREMENTS,
            "claude-code" | "gemini-cli" | "qwen-code" | "codex" => GROUPS,
            "cursor" | "windsurf" | "copilot" | "vscode" => FLAT,
            "kimi-cli" | "kimi-code" => TOML,
            _ => continue,
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        install(&world, installer, scope, &Needs::All);
        let during = fs::read_to_string(&file).unwrap();
        for line in before
            .lines()
            .map(str::trim)
            .filter(|l| l.starts_with('#') || l.contains("//"))
        {
            assert!(
                during.contains(line),
                "{}: {line} in\n{during}",
                installer.host.name
            );
        }
        assert_eq!(
            fs::read_to_string(file.with_file_name(backup_name(&file))).unwrap(),
            before
        );
        uninstall(&world, installer, scope);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            before,
            "{} {scope}",
            installer.host.name
        );
        assert!(!file.with_file_name(backup_name(&file)).exists());
    }
}

fn backup_name(file: &Path) -> String {
    format!("{}.before-ahp", file.file_name().unwrap().to_str().unwrap())
}

#[test]
fn a_broken_settings_file_is_left_alone() {
    let world = world();
    let installer = Installer::find("claude-code").unwrap();
    let file = installer.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\n  \"hooks\": {,\n}").unwrap();
    let patience = Patience::for_bindings(Duration::ZERO);
    let error = installer
        .install(&places(&world), Scope::User, &Needs::All, patience, None)
        .unwrap_err();
    assert!(error.to_string().contains("line 2, column 13"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"hooks\": {,\n}");
}

#[test]
fn a_scope_that_a_host_lacks_is_refused_with_one_that_it_has() {
    let world = world();
    let installer = Installer::find("kimi-code").unwrap();
    let error = installer.file(&places(&world), Scope::Project).unwrap_err();
    assert!(matches!(error, InstallError::NoScope { .. }));
    assert_eq!(
        error.to_string(),
        "kimi-code has no project settings; use --user"
    );
}

#[test]
fn only_the_events_that_the_policy_needs_are_wired() {
    let events = |host: &str, triggers: &[Trigger], tasks: &[Trigger]| {
        let world = world();
        let installer = Installer::find(host).unwrap();
        let scope = installer.default_scope();
        let needs = Needs::Policy {
            asks_again: false,
            elicited: [].into(),
            triggers: triggers.iter().copied().collect::<BTreeSet<_>>(),
            tasks: tasks.iter().copied().collect::<BTreeSet<_>>(),
        };
        install(&world, &installer, scope, &needs);
        let mut events: Vec<String> = installer
            .wires(&places(&world), scope, None)
            .unwrap()
            .into_iter()
            .map(|w| w.event)
            .collect();
        events.sort();
        events
    };
    assert_eq!(
        events("claude-code", &[], &[]),
        ["ConfigChange", "PreToolUse"]
    );
    let submit = [Trigger::PreIssueSubmit];
    assert_eq!(
        events("claude-code", &submit, &submit),
        ["ConfigChange", "PreToolUse", "TaskCompleted"]
    );
    // A policy about issues alone is not asked about an agent's own tasks.
    assert_eq!(
        events("claude-code", &submit, &[]),
        ["ConfigChange", "PreToolUse"]
    );
    assert_eq!(
        events("claude-code", &[Trigger::PostIssueClose], &[]),
        ["ConfigChange", "PostToolUse", "PreToolUse"]
    );
    assert_eq!(
        events("claude-code", &[Trigger::PreAgentTurnStop], &[]),
        ["ConfigChange", "PreToolUse", "Stop"]
    );
    // Advice before a tool has to go out later there.
    assert_eq!(
        events("gemini-cli", &[], &[]),
        ["AfterTool", "BeforeAgent", "BeforeTool"]
    );
    assert_eq!(
        events("kimi-code", &[], &[]),
        ["PreToolUse", "UserPromptSubmit"]
    );
    assert_eq!(
        events("cursor", &[], &[]),
        ["beforeMCPExecution", "beforeShellExecution", "preToolUse"]
    );
}

#[test]
fn git_hooks_that_were_there_run_after_ours_and_come_back() {
    let world = world();
    let hook = git_hooks(&world).join("pre-commit");
    fs::write(&hook, "#!/bin/sh\necho mine\n").unwrap();
    let git = Installer::find("git").unwrap();
    install(&world, &git, Scope::Project, &Needs::All);
    let before = git_hooks(&world).join("pre-commit.before-ahp");
    assert_eq!(
        fs::read_to_string(&before).unwrap(),
        "#!/bin/sh\necho mine\n"
    );
    // An update must not put our own hook in the place of the one that was there.
    fs::write(
        &hook,
        fs::read_to_string(&hook).unwrap().replace("/opt", "/old"),
    )
    .unwrap();
    install(&world, &git, Scope::Project, &Needs::All);
    assert_eq!(
        fs::read_to_string(&before).unwrap(),
        "#!/bin/sh\necho mine\n"
    );
    uninstall(&world, &git, Scope::Project);
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\necho mine\n");
    assert!(!before.exists());
}

#[test]
fn a_git_hook_that_is_no_text_is_put_aside_and_comes_back() {
    let world = world();
    let hook = git_hooks(&world).join("pre-push");
    let program = b"\x7fELF\xff\xfe";
    fs::write(&hook, program).unwrap();
    let git = Installer::find("git").unwrap();
    install(&world, &git, Scope::Project, &Needs::All);
    assert!(
        fs::read_to_string(&hook)
            .unwrap()
            .contains(" hook --host git ")
    );
    uninstall(&world, &git, Scope::Project);
    assert_eq!(fs::read(&hook).unwrap(), program);
}

#[test]
fn somebody_elses_executable_is_not_overwritten() {
    let world = world();
    let cline = Installer::find("cline").unwrap();
    let dir = cline.file(&places(&world), Scope::User).unwrap();
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("PreToolUse"), "#!/bin/sh\n").unwrap();
    let patience = Patience::for_bindings(Duration::ZERO);
    let error = cline
        .install(&places(&world), Scope::User, &Needs::All, patience, None)
        .unwrap_err();
    assert!(
        error.to_string().contains("PreToolUse` is there already"),
        "{error}"
    );
}

#[test]
fn a_hook_that_fails_stops_what_it_gates_where_the_host_knows_how() {
    let world = World::new(
        "hooks:\n  pre-tool-use: [{oracle: PermissionChecker}]\n  pre-agent-turn-stop: [{oracle: TestGate}]\n  \
         post-tool-use: [{oracle: ChangeLogger}]\n",
    );
    for host in ["claude-code", "cursor"] {
        let ran = world.ahp(&["install", host, "--project"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let read = |file: &str| serde_json::from_str::<serde_json::Value>(&world.read(file)).unwrap();
    let claude = read(".claude/settings.json");
    let closes = |event: &str| claude["hooks"][event][0]["hooks"][0]["onFailure"] == "block";
    assert!(closes("PreToolUse"));
    assert!(!closes("PostToolUse") && !closes("Stop"), "{claude}");
    let cursor = read(".cursor/hooks.json");
    assert_eq!(
        cursor["hooks"]["preToolUse"][0]["failClosed"], true,
        "{cursor}"
    );
    assert!(
        cursor["hooks"]["stop"][0].get("failClosed").is_none(),
        "{cursor}"
    );
}
