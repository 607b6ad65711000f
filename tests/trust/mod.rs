//! What of a project may run: only what its user has looked at, and only as it was then.

mod living;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ahp::config::parse_yaml;
use ahp::diagnostic::FileId;
use ahp::oracle::OracleError;
use ahp::trust::{ChangeKind, Trust};

use crate::world::{World, event};

/// A project with a hook that blocks with what its script says.
fn world() -> World {
    let mut world = World::new("");
    World::write_hook(
        &world.project_hooks(),
        "h",
        "trigger: Stop",
        ". $(dirname $0)/words; exit 2",
    );
    fs::write(
        world.project_hooks().join("h/scripts/words"),
        "echo first >&2",
    )
    .unwrap();
    world.trust = trust(&world);
    world
}

fn trust(world: &World) -> Trust {
    Trust::of(&world.root(), Some(&world.dir.path().join("state")))
}

fn grant(world: &mut World) {
    let look = world.trust.look().unwrap();
    world
        .trust
        .grant(&look, "2026-01-15T10:30:00Z".parse().unwrap())
        .unwrap();
    // As another process sees it.
    world.trust = trust(world);
}

fn run(world: &World) -> Result<String, OracleError> {
    let hook = world.hooks().find("h").unwrap().clone();
    let signals = world.run_hook(&hook, &event("{trigger: Stop}"))?;
    Ok(signals[0].payload.text().to_owned())
}

fn refused(world: &World, says: &str) {
    match run(world) {
        Err(OracleError::Untrusted(why)) => assert!(why.contains(says), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cloned_hook_runs_only_after_it_was_trusted() {
    let mut world = world();
    refused(&world, "nobody has looked at it yet; `ahp trust`");
    grant(&mut world);
    assert_eq!(run(&world).unwrap(), "first");
    assert!(world.trust.revoke().unwrap());
    world.trust = trust(&world);
    refused(&world, "nobody has looked at it yet");
    assert!(!world.trust.revoke().unwrap());
}

#[test]
fn any_change_asks_again_and_shows_the_difference() {
    let mut world = world();
    grant(&mut world);
    let hook = world.project_hooks().join("h");

    fs::write(hook.join("scripts/words"), "echo second >&2").unwrap();
    refused(
        &world,
        "`.agents/hooks/h/scripts/words` has changed; `ahp trust --diff`",
    );
    let look = world.trust.look().unwrap();
    let changes = look.changes();
    assert_eq!(changes.len(), 1);
    assert!(
        changes[0].diff().contains("-echo first >&2\n"),
        "{}",
        changes[0].diff()
    );
    assert!(changes[0].diff().contains("+echo second >&2\n"));
    grant(&mut world);
    assert_eq!(run(&world).unwrap(), "second");
    assert!(world.trust.look().unwrap().changes().is_empty());

    fs::write(hook.join("more"), "").unwrap();
    refused(&world, "`.agents/hooks/h/more` is new");
    fs::remove_file(hook.join("more")).unwrap();
    assert!(run(&world).is_ok());

    fs::set_permissions(
        hook.join("scripts/words"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    refused(&world, "execute permission");
    grant(&mut world);
    fs::remove_file(hook.join("scripts/words")).unwrap();
    refused(&world, "is gone");
}

#[test]
fn what_runs_is_the_copy_that_was_trusted() {
    let mut world = world();
    let script = "echo $0 $AHP_HOOK_DIR >&2; exit 2";
    World::write_hook(&world.project_hooks(), "h", "trigger: Stop", script);
    grant(&mut world);
    let said = run(&world).unwrap();
    let state = world.dir.path().join("state").display().to_string();
    for path in said.split(' ') {
        assert!(path.starts_with(&state), "{said}");
    }
    let mode = fs::metadata(world.dir.path().join("state/trust"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_link_out_of_the_project_is_trusted_by_what_it_leads_to() {
    let mut world = world();
    let outside = world.dir.path().join("outside");
    fs::write(&outside, "echo outside >&2").unwrap();
    let words = world.project_hooks().join("h/scripts/words");
    fs::remove_file(&words).unwrap();
    std::os::unix::fs::symlink(&outside, &words).unwrap();
    grant(&mut world);
    assert_eq!(run(&world).unwrap(), "outside");
    fs::write(&outside, "echo evil >&2").unwrap();
    refused(&world, "has changed");
}

#[test]
fn a_users_own_hook_needs_no_trust_and_a_neighbours_gets_none() {
    let world = world();
    World::write_hook(
        &world.user_hooks(),
        "mine",
        "trigger: Stop",
        "echo mine >&2; exit 2",
    );
    let hook = world.hooks().find("mine").unwrap().clone();
    assert_eq!(
        world.run_hook(&hook, &event("{trigger: Stop}")).unwrap()[0]
            .payload
            .text(),
        "mine"
    );
    let neighbour = world.dir.path().join("neighbour");
    World::write_hook(&neighbour, "theirs", "trigger: Stop", "exit 2");
    let hooks = ahp::hook_md::discover(&world.hook_places().further(neighbour, true));
    let hook = hooks.find("theirs").unwrap().clone();
    match world.run_hook(&hook, &event("{trigger: Stop}")) {
        Err(OracleError::Untrusted(why)) => assert!(why.contains("lies outside"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bindings_are_trusted_with_their_layers_and_the_scripts_they_name() {
    let mut world = world();
    let project = world.root();
    fs::create_dir_all(project.join(".ahp/packs")).unwrap();
    fs::create_dir_all(project.join("scripts")).unwrap();
    fs::write(project.join("scripts/check.sh"), ". ./scripts/lib.sh").unwrap();
    fs::write(project.join("scripts/lib.sh"), "true").unwrap();
    fs::write(project.join("scripts/unrelated.sh"), "true").unwrap();
    fs::write(project.join(".ahp/packs/own.yaml"), "hooks: {}").unwrap();
    let layer = "extends: [packs/own.yaml]\nhooks:\n  pre-issue-submit:\n    - oracle: TestGate\n      config: {command: 'bash ./scripts/check.sh --all'}\n";
    fs::write(project.join(".ahp/hooks.yaml"), layer).unwrap();
    let config = parse_yaml(
        "{command: 'bash ./scripts/check.sh --all'}",
        FileId::default(),
        &mut Vec::new(),
    )
    .unwrap();

    assert!(world.trust.permits_binding(&config, true).is_err());
    grant(&mut world);
    let files = &world.trust.manifest().unwrap().files;
    for file in [
        ".ahp/hooks.yaml",
        ".ahp/packs/own.yaml",
        "scripts/check.sh",
        "scripts/lib.sh",
    ] {
        assert!(files.contains_key(file), "{file}: {files:?}");
    }
    assert!(!files.contains_key("scripts/unrelated.sh"));
    world.trust.permits_binding(&config, true).unwrap();
    for (file, text) in [
        ("scripts/lib.sh", "false"),
        ("scripts/check.sh", "false"),
        (".ahp/packs/own.yaml", "hooks: {pre-session: []}"),
        (".ahp/hooks.local.yaml", "hooks: {}"),
    ] {
        let before = fs::read(project.join(file)).ok();
        fs::write(project.join(file), text).unwrap();
        let error = world.trust.permits_binding(&config, true).unwrap_err();
        assert!(error.why.contains(file), "{file}: {error}");
        match before {
            Some(before) => fs::write(project.join(file), before).unwrap(),
            None => fs::remove_file(project.join(file)).unwrap(),
        }
        world.trust.permits_binding(&config, true).unwrap();
    }
    // A hook that changes does not touch what a binding runs.
    fs::write(world.project_hooks().join("h/scripts/words"), "x").unwrap();
    world.trust.permits_binding(&config, true).unwrap();
    assert_eq!(
        world.trust.look().unwrap().changes()[0].kind,
        ChangeKind::Modified
    );
}

#[test]
fn command_lines_run_the_trusted_copies_of_scripts() {
    let mut world = world();
    let project = world.root();
    fs::create_dir_all(project.join(".github/hooks")).unwrap();
    fs::create_dir_all(project.join("scripts")).unwrap();
    fs::write(project.join("scripts/a.sh"), "exit 2").unwrap();
    let file = r#"{"hooks": {"PreToolUse": [{"command": "bash ./scripts/a.sh"}]}}"#;
    fs::write(project.join(".github/hooks/a.json"), file).unwrap();
    let command = |world: &World| {
        world
            .trust
            .verified_command("X=1 bash ./scripts/a.sh x | cat", &project)
    };
    assert!(command(&world).is_err());
    grant(&mut world);
    let state = world.dir.path().join("state").display().to_string();
    let line = command(&world).unwrap();
    assert!(
        line.starts_with(&format!("X=1 bash {state}")) && line.ends_with("a.sh x | cat"),
        "{line}"
    );
    let path = project.join(".github/hooks/a.json");
    world.trust.permits_content(&path, file.as_bytes()).unwrap();
    assert!(world.trust.permits_content(&path, b"{}").is_err());
    fs::write(project.join("scripts/a.sh"), "exit 0").unwrap();
    assert!(command(&world).is_err());
}

#[test]
fn what_is_granted_is_what_was_looked_at() {
    let mut world = world();
    let look = world.trust.look().unwrap();
    fs::write(
        world.project_hooks().join("h/scripts/words"),
        "echo evil >&2",
    )
    .unwrap();
    let at = "2026-01-15T10:30:00Z".parse().unwrap();
    world.trust.grant(&look, at).unwrap();
    world.trust = trust(&world);
    refused(&world, "has changed");
}

#[test]
fn copies_that_nobody_runs_any_more_are_removed() {
    let mut world = world();
    for _ in 0..4 {
        grant(&mut world);
    }
    let store = fs::read_dir(world.dir.path().join("state/trust"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let copies = fs::read_dir(store.path())
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with("copies-")
        })
        .count();
    assert_eq!(copies, 2);
}
