//! The cache of checked policies: it answers as the layers do, is never stale, and is not believed when it is odd.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use ahp::config::{Config, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, Trigger};
use ahp::verdict::Decision;

use crate::world::World;

const POLICY: &str = "\
extends: [house.yml, ahp:secrets]
settings: {timeout: 5s}
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      config: {dangerous_commands: [rm -rf], rate: 0.5, none: null}
      when: {tool: [Bash]}
      intensity: {by: environment, production: block}
      escalate: {steps: [prompt, block]}
  pre-issue-submit:
    - oracle: TestGate
";

struct Project {
    dir: tempfile::TempDir,
    locations: Locations,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut locations = Locations::of_project(dir.path().join("project"));
        locations.cache_dir = Some(dir.path().join("cache"));
        locations.system_layer = Some(dir.path().join("system.yaml"));
        let project = Self { dir, locations };
        fs::create_dir_all(project.dir.path().join("project/.ahp")).unwrap();
        project.write("hooks.yaml", POLICY);
        project.write(
            "house.yml",
            "hooks: {pre-tool-use: [{oracle: SecurityScanner}]}",
        );
        project
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join("project/.ahp").join(name), text).unwrap();
    }

    fn remember(&self) {
        let entry = Config::load(&self.locations).cache_entry(&self.locations);
        if let Some(entry) = entry {
            entry.write();
        }
    }

    /// Whether the policy of a tool call comes from the cache.
    fn is_cached(&self) -> bool {
        Config::load_for(&self.locations, &[Trigger::PreToolUse]).is_cached
    }

    fn entries(&self) -> Vec<PathBuf> {
        fs::read_dir(self.dir.path().join("cache/policies"))
            .map(|dir| dir.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default()
    }
}

#[test]
fn a_cached_policy_is_the_one_that_was_loaded() {
    let project = Project::new();
    assert!(!project.is_cached());
    project.remember();
    let cached = Config::load_for(&project.locations, &[Trigger::PreToolUse]);
    let loaded = Config::load(&project.locations);
    assert!(cached.is_cached && !loaded.is_cached);
    assert_eq!(cached.config.settings, loaded.config.settings);
    // The places of keys are left out, but for those on which trust depends and which script is meant.
    let bindings = |config: &Config| {
        let mut bindings = config.bindings[&Trigger::PreToolUse].clone();
        for binding in &mut bindings {
            binding
                .provenance
                .retain(|p| p.key.starts_with("config") || p.key == "oracle");
        }
        serde_json::to_value(bindings).unwrap()
    };
    assert_eq!(bindings(&cached.config), bindings(&loaded.config));
    assert_eq!(
        cached.config.bindings.len(),
        1,
        "other triggers are not decoded"
    );
    let line = |loaded: &ahp::config::Loaded| {
        let binding = &loaded.config.bindings[&Trigger::PreToolUse][3];
        loaded.sources.line(binding.span)
    };
    assert_eq!(line(&cached), ".ahp/hooks.yaml:5");
    assert_eq!(line(&cached), line(&loaded));
}

#[test]
fn any_change_of_any_file_is_seen() {
    let project = Project::new();
    project.remember();
    project.write("hooks.yaml", &POLICY.replace("5s", "6s"));
    assert!(!project.is_cached());
    project.write("hooks.yaml", POLICY);
    assert!(project.is_cached());
    project.write("house.yml", "hooks: {}");
    assert!(!project.is_cached());
    project.write(
        "house.yml",
        "hooks: {pre-tool-use: [{oracle: SecurityScanner}]}",
    );
    assert!(project.is_cached());
    project.write("hooks.local.yaml", "hooks: {}");
    assert!(!project.is_cached());
}

#[test]
fn a_broken_policy_and_one_of_an_organisation_are_not_cached() {
    let project = Project::new();
    project.write("hooks.yaml", "hoooks: {}");
    project.remember();
    assert!(project.entries().is_empty());
    let project = Project::new();
    project.remember();
    fs::write(project.dir.path().join("system.yaml"), "hooks: {}").unwrap();
    assert!(!project.is_cached());
    project.remember();
    assert!(!project.is_cached());
}

#[test]
fn an_entry_that_is_damaged_foreign_or_a_link_is_not_believed() {
    let project = Project::new();
    project.remember();
    let entry = project.entries().remove(0);
    let whole = fs::read(&entry).unwrap();
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&entry, &whole[..length]).unwrap();
        let loaded = Config::load_for(&project.locations, Trigger::ALL);
        assert!(
            !loaded.is_cached,
            "{length} bytes of {} were believed",
            whole.len()
        );
    }
    fs::write(&entry, &whole).unwrap();
    assert!(project.is_cached());
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!project.is_cached(), "others could have written it");
    fs::remove_file(&entry).unwrap();
    let elsewhere = project.dir.path().join("elsewhere");
    fs::write(&elsewhere, &whole).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    assert!(!project.is_cached());
    fs::remove_file(&entry).unwrap();
    project.remember();
    assert!(project.is_cached());
    let dir = entry.parent().unwrap();
    assert_eq!(
        fs::metadata(dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(!project.is_cached());
}

#[test]
fn an_entry_that_holds_what_was_never_checked_stops_the_agent() {
    let project = Project::new();
    let line = "tool.command: '~ ^deploy'";
    project.write(
        "hooks.yaml",
        &format!("hooks: {{pre-tool-use: [{{oracle: PermissionChecker, when: {{{line}}}}}]}}"),
    );
    let decision = || {
        let builder = Engine::builder().locations(project.locations.clone());
        let engine = builder.only(Trigger::PreToolUse).build().unwrap();
        let event = Event::tool_use("Bash", serde_json::json!({"command": "ls"}));
        let verdict = block_on(engine.evaluate(event));
        (verdict.decision, verdict.signals.first().cloned())
    };
    assert_eq!(decision().0, Decision::None);
    assert!(project.is_cached());
    let entry = project.entries().remove(0);
    let mut content = fs::read(&entry).unwrap();
    let place = content.windows(8).position(|w| w == b"~ ^deplo");
    content[place.unwrap() + 2] = b'(';
    fs::write(&entry, content).unwrap();
    let (stopped, signal) = decision();
    assert_eq!(stopped, Decision::Block);
    let text = serde_json::to_string(&signal).unwrap();
    assert!(text.contains("is not a regular expression"), "{text}");
}

#[test]
fn a_cached_policy_makes_the_same_bindings() {
    let project = Project::new();
    let root = project.dir.path();
    let user = root.join("home/.ahp");
    let hooks = root.join("home/.agents/hooks");
    let mut locations = project.locations.clone();
    locations.home = Some(root.join("home"));
    locations.user_dir = Some(user.clone());
    locations.user_hooks = Some(hooks.clone());
    for name in ["guard", "watch"] {
        fs::create_dir_all(hooks.join(name)).unwrap();
        fs::write(
            hooks.join(name).join("HOOK.md"),
            format!(
                "---\nname: {name}\ndescription: d\ntrigger: pre-tool-call\nasync: true\ntimeout: 8000\n\
                 matcher:\n  tool: Shell\n---\n"
            ),
        )
        .unwrap();
    }
    fs::create_dir_all(user.join("oracles")).unwrap();
    fs::write(
        user.join("oracles/mine.rhai"),
        "fn evaluate(ctx) { accept() }",
    )
    .unwrap();
    fs::write(
        user.join("hooks.yaml"),
        "hooks: {pre-tool-use: [{oracle: mine, locked: true}, {oracle: SecurityScanner, id: s, timeout: 2s}]}",
    )
    .unwrap();
    project.write(
        "hooks.yaml",
        "hooks:\n  pre-tool-use:\n    when: {host: '!= x'}\n    oracles:\n      \
         - {hook: guard, async: false, timeout: 1s, on_error: block}\n      - {hook: watch}\n      \
         - {id: s, priority: 3, enabled: false}\n      \
         - {oracle: PermissionChecker, when: {tool: Bash, any: [{tool.paths: a}]}, override: true, \
         intensity: {by: environment, default: prompt}, escalate: {steps: [aid, block], per: session}}\n",
    );
    let bindings = || {
        let engine = Engine::builder()
            .locations(locations.clone())
            .only(Trigger::PreToolUse)
            .without_log()
            .build()
            .unwrap();
        let state = engine.state();
        assert!(state.faults().is_empty(), "{:?}", state.faults());
        let policy = state.policy().trigger(Trigger::PreToolUse, state.lookup());
        let bindings = policy.unwrap().bindings().map(|(b, _)| {
            let strength = (&b.escalate, b.strongest(), b.overridable, b.on_error);
            let running = (
                b.is_async,
                b.timeout,
                b.priority,
                b.enabled,
                b.runs_programs,
            );
            let origin = (b.layer, b.locked, &b.source, b.oracle.config().to_json());
            let meets = (&b.conditions, &b.matcher);
            format!(
                "{} {} {strength:?} {running:?} {origin:?} {meets:?}",
                b.id, b.oracle_name
            )
        });
        bindings.collect::<Vec<_>>()
    };
    let read = bindings();
    // Those of the layers, self-protection, and the user's that nobody has approved to be switched off.
    assert_eq!(read.len(), 7, "{read:#?}");
    assert!(Config::load_for(&locations, &[Trigger::PreToolUse]).is_cached);
    assert_eq!(bindings(), read);
}

#[test]
fn a_cached_policy_takes_the_script_that_the_naming_layer_means() {
    let project = Project::new();
    let root = project.dir.path();
    let user = root.join("home/.ahp");
    let mut locations = project.locations.clone();
    locations.home = Some(root.join("home"));
    locations.user_dir = Some(user.clone());
    for (dir, says) in [
        (&user, "accept()"),
        (&root.join("project/.ahp"), "block(\"found\", [\"x\"])"),
    ] {
        fs::create_dir_all(dir.join("oracles")).unwrap();
        let script = format!("fn evaluate(ctx) {{ {says} }}");
        fs::write(dir.join("oracles/mine.rhai"), script).unwrap();
        fs::write(
            dir.join("hooks.yaml"),
            "hooks: {pre-tool-use: [{oracle: mine}]}",
        )
        .unwrap();
    }
    for round in ["read", "cached", "cached again"] {
        let engine = Engine::builder()
            .locations(locations.clone())
            .only(Trigger::PreToolUse)
            .without_log()
            .build()
            .unwrap();
        let event = Event::tool_use("Read", serde_json::json!({}));
        let verdict = block_on(engine.evaluate(event));
        assert_eq!(verdict.decision, Decision::Block, "{round}");
    }
    assert!(Config::load_for(&locations, &[Trigger::PreToolUse]).is_cached);
}

#[test]
fn old_entries_make_room() {
    let project = Project::new();
    for number in 1..80 {
        project.write("hooks.yaml", &POLICY.replace("5s", &format!("{number}s")));
        project.remember();
    }
    assert!(project.is_cached());
    assert!(project.entries().len() <= 64);
}

#[test]
fn a_file_that_is_gone_is_a_fault_as_it_is_without_the_cache() {
    for (policy, file) in [
        (
            "hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: named.json}}]}",
            "{\"hooks\": {}}",
        ),
        (
            "hooks: {pre-tool-use: [{oracle: SecurityScanner, config: {rules: [named.json]}}]}",
            "{\"rules\": [{\"id\": \"x\", \"regex\": \"y\"}]}",
        ),
    ] {
        let world = World::new(policy);
        world.write("named.json", file);
        let event = br#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
        let told = || {
            world
                .ahp_fed(&["hook", "--host", "claude-code"], event)
                .stdout
        };
        let broken = "the policy is broken";
        assert!(!told().contains(broken), "{}", told());
        assert!(world.home().join(".cache/ahp/policies").exists());
        fs::remove_file(world.path("named.json")).unwrap();
        assert!(told().contains(broken), "{}", told());
        world.write("named.json", file);
        assert!(!told().contains(broken), "{}", told());
    }
}

#[test]
fn the_second_event_of_a_project_takes_what_the_first_has_checked() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}");
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
    });
    let entries = || {
        let listing = fs::read_dir(world.home().join(".cache/ahp/policies")).unwrap();
        let names = listing.map(|entry| entry.unwrap().file_name());
        names.collect::<Vec<_>>()
    };
    world.ahp_fed(&["hook"], event.to_string().as_bytes());
    let first = entries();
    assert_eq!(first.len(), 1);
    world.ahp_fed(&["hook"], event.to_string().as_bytes());
    assert_eq!(entries(), first);
}
