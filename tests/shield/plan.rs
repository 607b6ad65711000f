//! What is held, writable and refused, by what lies on the disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use ahp::config::{Environment, Locations, ShieldSettings};
use ahp::engine::Engine;
use ahp::host::Host;
use ahp::shield::{Access, Nothing, Plan, Request, ShieldError};

use crate::world::World;

fn plan(world: &World, host: Option<&str>, settings: &ShieldSettings) -> Result<Plan, ShieldError> {
    plan_in(&world.root(), world, host, settings)
}

fn plan_in(
    root: &Path,
    world: &World,
    host: Option<&str>,
    settings: &ShieldSettings,
) -> Result<Plan, ShieldError> {
    let home = world.home();
    let variables = [
        ("HOME", home.to_str().unwrap()),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus,guid=1"),
        ("DOCKER_HOST", "unix:///run/docker.sock"),
        ("TMUX", "/tmp/tmux-1/default,12,0"),
        ("GPG_AGENT_INFO", "/run/gpg:12:1"),
    ];
    let environment = Environment::of(root, variables);
    plan_of(&environment, host, settings)
}

fn plan_of(
    environment: &Environment,
    host: Option<&str>,
    settings: &ShieldSettings,
) -> Result<Plan, ShieldError> {
    let locations = Locations::find(environment, None);
    let engine = Engine::builder()
        .locations(locations.clone())
        .without_log()
        .build()
        .unwrap();
    Plan::make(&Request {
        locations: &locations,
        guards: engine.state().guards(),
        log: &locations
            .project_root
            .join(&engine.state().policy().settings().log.path)
            .into(),
        host: host.and_then(Host::find),
        settings,
        program: Path::new("/usr/bin/ahp"),
        environment,
        is_root: false,
    })
}

fn real(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    path.canonicalize().unwrap()
}

#[test]
fn whole_folders_of_hosts_are_held_and_what_is_missing_becomes_a_folder() {
    let world = World::new("hooks: {}\n");
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let root = real(world.root());
    let held: Vec<_> = plan
        .held()
        .map(|path| path.strip_prefix(&root).unwrap())
        .collect();
    for name in [
        ".ahp",
        ".claude",
        ".cursor",
        ".github/hooks",
        ".clinerules/hooks",
        "opencode.json",
        ".mcp.json",
    ] {
        assert!(held.contains(&Path::new(name)), "{name}: {held:?}");
    }
    // Nothing of a repository where there is none.
    assert!(!held.iter().any(|path| path.starts_with(".git")));
    for (path, nothing) in plan.missing.all() {
        let is_lock = path.ends_with(".ahp/signals.jsonl.lock") && *nothing == Nothing::File;
        assert!(
            path.starts_with(&root) && (*nothing == Nothing::Folder || is_lock),
            "{path:?}"
        );
    }
    let ways: Vec<_> = plan.with(|access| *access == Access::Way).collect();
    assert!(ways.contains(&root.join(".github").as_path()), "{ways:?}");
    assert!(!plan.missing.all().any(|(path, _)| path.ends_with(".ahp")));
}

#[test]
fn what_a_policy_names_is_held_where_it_lies() {
    let world = World::new("settings: {oracles: [checks]}\nextends: [../policies/team.yaml]\n");
    world.write("policies/team.yaml", "hooks: {}\n");
    world.write("checks/mine.rhai", "");
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let root = real(world.root());
    for name in ["policies/team.yaml", "checks/mine.rhai"] {
        let path = root.join(name);
        assert!(plan.held().any(|held| path.starts_with(held)), "{name}");
    }
}

#[test]
fn what_is_named_by_dots_opens_nothing_above() {
    let world = World::new("settings: {oracles: [../../shared]}\n");
    fs::create_dir_all(world.dir.path().join("shared")).unwrap();
    // A home that is told by a way through the project.
    let home = world.root().join("../home");
    let environment = Environment::of(world.root(), [("HOME", home.to_str().unwrap())]);
    let plan = plan_of(&environment, None, &ShieldSettings::default()).unwrap();
    let root = real(world.root());
    for mount in &plan.mounts {
        let is_open = matches!(mount.access, Access::Writable | Access::Way);
        assert!(!is_open || mount.path.starts_with(&root), "{mount:?}");
        assert!(!mount.path.to_str().unwrap().contains(".."), "{mount:?}");
    }
    assert!(plan.missing.all().all(|(path, _)| path.starts_with(&root)));
}

#[test]
fn a_hosts_folder_in_the_home_is_writable_but_for_what_governs() {
    let world = World::new("hooks: {}\n");
    fs::create_dir_all(world.home().join(".claude/projects")).unwrap();
    let of = |host| plan(&world, host, &ShieldSettings::default()).unwrap();
    let claude = real(world.home()).join(".claude");
    let with = of(Some("claude-code"));
    assert!(
        with.with(|access| *access == Access::Writable)
            .any(|path| path == claude)
    );
    for name in ["settings.json", "skills", "CLAUDE.md", "plugins"] {
        assert!(with.held().any(|path| path == claude.join(name)), "{name}");
    }
    assert!(
        with.missing
            .shared
            .contains(&(claude.join("settings.json"), Nothing::Json))
    );
    assert!(
        with.missing
            .shared
            .contains(&(claude.join("skills"), Nothing::Folder))
    );
    let without = of(None);
    assert!(
        without
            .mounts
            .iter()
            .all(|mount| !mount.path.starts_with(&claude))
    );
    let copilot = of(Some("copilot"));
    let config = real(world.home()).join(".copilot/config.json");
    assert!(
        !copilot.held().any(|path| path == config),
        "it ends where it cannot write this"
    );
}

#[test]
fn a_worktree_holds_the_settings_of_its_repository() {
    let world = World::new("hooks: {}\n");
    world.git_init();
    world.git(&["worktree", "add", "-q", "../tree"]);
    let tree = world.dir.path().join("tree");
    let plan = plan_in(&tree, &world, None, &ShieldSettings::default()).unwrap();
    let common = real(world.path(".git"));
    assert!(
        plan.with(|access| *access == Access::Writable)
            .any(|path| path == common)
    );
    for name in [
        "config",
        "config.worktree",
        "commondir",
        "hooks",
        "worktrees/tree/commondir",
        "worktrees/tree/config.worktree",
        "worktrees/tree/gitdir",
    ] {
        assert!(plan.held().any(|path| path == common.join(name)), "{name}");
    }
    assert!(plan.held().any(|path| path == real(&tree).join(".git")));
}

#[test]
fn a_shield_that_could_not_hold_is_refused() {
    let world = World::new("hooks: {}\n");
    let none = ShieldSettings::default();
    symlink("elsewhere", world.path(".github")).unwrap();
    let refused = plan(&world, None, &none).unwrap_err();
    assert!(
        matches!(&refused, ShieldError::Link(path) if path.ends_with(".github")),
        "{refused}"
    );
    fs::remove_file(world.path(".github")).unwrap();
    world.write(".clinerules", "a file");
    let refused = plan(&world, None, &none).unwrap_err();
    assert!(
        matches!(&refused, ShieldError::NotFolder(path) if path.ends_with(".clinerules")),
        "{refused}"
    );
    fs::remove_file(world.path(".clinerules")).unwrap();
    let settings = ShieldSettings {
        write: vec![world.path(".ahp")],
        ..ShieldSettings::default()
    };
    let refused = plan(&world, None, &settings).unwrap_err();
    assert!(matches!(refused, ShieldError::WritesHeld(_)), "{refused}");
    let refused = plan_in(world.dir.path(), &world, None, &none).unwrap_err();
    assert!(matches!(refused, ShieldError::TooWide(_)), "{refused}");
    world.write(".ahp/hooks.yaml", "settings: {log: {path: s.jsonl}}\n");
    let refused = plan(&world, None, &none).unwrap_err();
    assert!(matches!(refused, ShieldError::Log(_)), "{refused}");
}

#[test]
fn what_keeps_a_shield_shut_is_neither_written_nor_hidden() {
    let world = World::new("hooks: {}\n");
    let refused = |settings: &ShieldSettings| {
        let refused = plan(&world, None, settings).unwrap_err();
        assert!(
            matches!(refused, ShieldError::KeepsShut(_)),
            "{settings:?}: {refused}"
        );
    };
    for path in ["/", "/run", "/proc", "/proc/sys", "/dev"] {
        refused(&ShieldSettings {
            write: vec![path.into()],
            ..ShieldSettings::default()
        });
    }
    for path in ["/", "/run"] {
        refused(&ShieldSettings {
            deny_read: vec![path.into()],
            ..ShieldSettings::default()
        });
    }
    for path in ["/", "/dev", "/home", "/dev/../etc"] {
        refused(&ShieldSettings {
            devices: vec![path.into()],
            ..ShieldSettings::default()
        });
    }
    let settings = ShieldSettings {
        deny_read: vec![world.root()],
        ..ShieldSettings::default()
    };
    let refused = plan(&world, None, &settings).unwrap_err();
    assert!(matches!(refused, ShieldError::HidesProject(_)), "{refused}");
}

#[test]
fn what_shields_are_made_of_is_never_written_and_not_seen() {
    let world = World::new("hooks: {}\n");
    let shields = world.home().join(".cache/ahp/shield");
    fs::create_dir_all(&shields).unwrap();
    let settings = ShieldSettings {
        write: vec![world.home().join(".cache")],
        ..ShieldSettings::default()
    };
    let refused = plan(&world, None, &settings).unwrap_err();
    assert!(matches!(refused, ShieldError::Shields(_)), "{refused}");
    // A cache that is not the usual one has no other folder in its place inside.
    let moved = world.home().join("cache");
    fs::create_dir_all(moved.join("ahp/shield")).unwrap();
    let variables = [("HOME", world.home()), ("XDG_CACHE_HOME", moved.clone())];
    let variables = variables
        .iter()
        .map(|(name, path)| (*name, path.to_str().unwrap()));
    let environment = Environment::of(world.root(), variables);
    let plan = plan_of(&environment, None, &ShieldSettings::default()).unwrap();
    let hidden: Vec<_> = plan.with(|a| *a == Access::HiddenFolder).collect();
    let shields = real(moved.join("ahp/shield"));
    assert!(hidden.contains(&shields.as_path()), "{hidden:?}");
}

#[test]
fn what_may_not_be_read_is_hidden_wherever_it_lies() {
    let world = World::new("hooks: {}\n");
    world.write("opencode.json", "{}");
    fs::create_dir_all(world.home().join("keys/open")).unwrap();
    let settings = ShieldSettings {
        write: vec![world.home().join("keys/open"), world.home().join("keys")],
        deny_read: vec![
            world.home().join("keys"),
            world.path("opencode.json"),
            world.path(".ahp"),
        ],
        ..ShieldSettings::default()
    };
    let plan = plan(&world, None, &settings).unwrap();
    let hides = |access: &Access| matches!(access, Access::HiddenFile | Access::HiddenFolder);
    let mut hidden: Vec<_> = plan.with(hides).map(Path::to_path_buf).collect();
    hidden.retain(|path| settings.deny_read.iter().any(|named| real(named) == *path));
    assert_eq!(hidden.len(), 3, "{hidden:?}");
    let keys = real(world.home().join("keys"));
    let below = plan
        .mounts
        .iter()
        .filter(|mount| mount.path.starts_with(&keys));
    assert_eq!(below.count(), 1);
}

#[test]
fn what_a_held_link_leads_to_is_held_or_refused() {
    // What is made; which link in a held place leads where; whether that can be held.
    let cases = [
        (
            "ops/hooks.yaml",
            ".ahp/more.yaml",
            "../ops/hooks.yaml",
            true,
        ),
        (
            "ops/set.json",
            ".claude/settings.json",
            "../ops/set.json",
            true,
        ),
        ("rules/deep/a.md", ".claude/rules", "../rules/deep", true),
        // It is read-only, whatever it is, and what is held already needs nothing.
        ("", ".claude/settings.json", "/etc/hostname", true),
        (".ahp/a", ".claude/settings.json", "../.ahp/a", true),
        // Nothing is there yet, or another thing will be.
        ("", ".claude/settings.json", "../not/yet.json", false),
        ("", ".claude/settings.json", "/tmp/not-there.json", false),
        ("", ".claude/settings.json", "settings.json", false),
        ("", ".claude/all", "..", false),
    ];
    for (made, link, target, is_held) in cases {
        let world = World::new("hooks: {}\n");
        if !made.is_empty() {
            world.write(made, "");
        }
        fs::create_dir_all(world.path(link).parent().unwrap()).unwrap();
        symlink(target, world.path(link)).unwrap();
        let planned = plan(&world, None, &ShieldSettings::default());
        let Ok(plan) = planned else {
            assert!(!is_held, "{link} -> {target}: {planned:?}");
            continue;
        };
        assert!(is_held, "{link} -> {target}: {plan:?}");
        let leads = real(world.path(link));
        let is_open = leads.starts_with(real(world.root()));
        assert!(
            !is_open || plan.held().any(|held| leads.starts_with(held)),
            "{link} -> {target}: {plan:?}"
        );
    }
    // By a second link that can be replaced, and from a layer in the home.
    let world = World::new("hooks: {}\n");
    world.write("real.json", "{}");
    symlink("real.json", world.path("second.json")).unwrap();
    fs::create_dir_all(world.path(".claude")).unwrap();
    symlink("../second.json", world.path(".claude/settings.json")).unwrap();
    let refused = plan(&world, None, &ShieldSettings::default()).unwrap_err();
    assert!(
        matches!(&refused, ShieldError::Link(path) if path.ends_with("second.json")),
        "{refused}"
    );
    fs::remove_file(world.path(".claude/settings.json")).unwrap();
    fs::create_dir_all(world.home().join(".ahp")).unwrap();
    symlink(
        world.path("real.json"),
        world.home().join(".ahp/hooks.yaml"),
    )
    .unwrap();
    fs::hard_link(world.path(".ahp/hooks.yaml"), world.path("other")).unwrap();
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let place = real(world.path("real.json"));
    assert!(plan.held().any(|held| held == place), "{plan:?}");
    let told = plan
        .warnings
        .iter()
        .filter(|said| said.contains("further names"));
    assert_eq!(told.count(), 1, "{:?}", plan.warnings);
}

#[test]
fn a_socket_in_an_opened_folder_is_covered_and_links_are_followed() {
    let world = World::new("hooks: {}\n");
    let open = tempfile::tempdir_in("/tmp").unwrap();
    let path = real(open.path()).join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    fs::create_dir_all(world.home().join("caches/npm")).unwrap();
    symlink("caches/npm", world.home().join(".npm")).unwrap();
    let mut settings = ShieldSettings {
        write: vec![open.path().to_owned()],
        ..ShieldSettings::default()
    };
    let with =
        |plan: &Plan, access: &Access| plan.with(|found| found == access).any(|at| at == path);
    let covering = plan(&world, None, &settings).unwrap();
    assert!(with(&covering, &Access::Covered), "{covering:?}");
    let cache = real(world.home().join("caches/npm"));
    let is_private = |access: &Access| matches!(access, Access::Private(_));
    assert!(
        covering.with(is_private).any(|at| at == cache),
        "{covering:?}"
    );
    symlink(&path, world.home().join("by-link")).unwrap();
    settings.sockets = vec![world.home().join("by-link")];
    let letting_in = plan(&world, None, &settings).unwrap();
    assert!(with(&letting_in, &Access::Seen), "{letting_in:?}");
}

#[test]
fn a_socket_is_covered_by_every_name_that_its_file_has_now() {
    let world = World::new("hooks: {}\n");
    for dir in ["was", "deep/down"] {
        fs::create_dir_all(world.path(dir)).unwrap();
    }
    let bind = |name: &str| UnixListener::bind(world.path(name)).unwrap();
    let _renamed = (
        bind("a"),
        fs::rename(world.path("a"), world.path("deep/down/renamed")),
    );
    let _linked = (
        bind("b"),
        fs::hard_link(world.path("b"), world.path("deep/linked")),
    );
    let _moved = (
        bind("was/c"),
        fs::rename(world.path("was"), world.path("is")),
    );
    let _datagram = UnixDatagram::bind(world.path("d")).unwrap();
    fs::rename(world.path("d"), world.path("deep/datagram")).unwrap();
    // What nobody listens at any more, and what only looks like one.
    drop(bind("left"));
    fs::write(world.path("deep/file"), "").unwrap();
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let root = real(world.root());
    let covered = plan.with(|access| *access == Access::Covered);
    let covered: Vec<_> = covered
        .filter_map(|at| at.strip_prefix(&root).ok())
        .collect();
    let names = [
        "b",
        "deep/datagram",
        "deep/down/renamed",
        "deep/linked",
        "is/c",
    ];
    assert_eq!(covered, names.map(Path::new));
    assert_eq!(plan.uncovered().unwrap(), [] as [PathBuf; 0]);
    // One that gets another name after the plan was made is new.
    fs::rename(world.path("is/c"), world.path("is/d")).unwrap();
    assert_eq!(plan.uncovered().unwrap(), [root.join("is/d")]);
    assert_eq!(plan.gone(), [root.join("is/c")]);
}

#[test]
fn what_listens_for_the_person_is_hidden_whenever_it_begins() {
    let world = World::new("hooks: {}\n");
    // Where nothing is, and where everybody makes files.
    let (home, moved) = (world.home(), PathBuf::from("/nowhere/runtime"));
    let run = home.join(".local/state/ahp/run");
    fs::create_dir_all(&run).unwrap();
    let variables = [("HOME", &home), ("XDG_RUNTIME_DIR", &moved)];
    let variables = variables.map(|(name, dir)| (name, dir.to_str().unwrap()));
    let settings = ShieldSettings::default();
    let plan = plan_of(&Environment::of(world.root(), variables), None, &settings).unwrap();
    let hides = |access: &Access| matches!(access, Access::HiddenFile | Access::HiddenFolder);
    let hidden: Vec<_> = plan.with(hides).collect();
    for dir in [real(run), moved.join("ahp")] {
        assert!(hidden.contains(&dir.as_path()), "{dir:?}: {hidden:?}");
    }
    let comes = moved.join("ahp");
    assert!(plan.kept().any(|kept| kept == comes), "it is told");
}

#[test]
fn what_the_judge_locks_cannot_be_opened_inside() {
    let world = World::new("hooks: {}\n");
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let lock = real(world.root()).join(".ahp/signals.jsonl.lock");
    let emptied: Vec<_> = plan.with(|a| *a == Access::Emptied).collect();
    assert_eq!(emptied, [&lock]);
    assert!(plan.missing.own.contains(&(lock, Nothing::File)));
    let state = real(world.home()).join(".local/state/ahp");
    let hides = |access: &Access| matches!(access, Access::HiddenFile | Access::HiddenFolder);
    for name in ["sessions", "shield"] {
        assert!(
            plan.with(hides).any(|path| path == state.join(name)),
            "{name}"
        );
    }
}

#[test]
fn a_relative_folder_of_a_host_is_held_where_the_host_takes_it() {
    let world = World::new("hooks: {}\n");
    let home = world.home();
    let root = real(world.root());
    fs::create_dir_all(root.join("part")).unwrap();
    let of = |dir: &Path, more: &[(&str, &str)]| {
        let variables = [
            ("HOME", home.to_str().unwrap()),
            ("CLAUDE_CONFIG_DIR", "conf"),
        ];
        let variables = variables.iter().chain(more).copied();
        plan_of(
            &Environment::of(dir, variables),
            Some("claude-code"),
            &ShieldSettings::default(),
        )
    };
    let told = [("CLAUDE_PROJECT_DIR", root.to_str().unwrap())];
    for (dir, more, at) in [
        (root.clone(), &[][..], "conf"),
        (root.join("part"), &[], "part/conf"),
        (root.join("part"), &told, "conf"),
    ] {
        let plan = of(&dir, more).unwrap();
        let settings = root.join(at).join("settings.json");
        assert!(
            plan.held().any(|held| held == settings),
            "{at}: {:?}",
            plan.mounts
        );
    }
}

#[test]
fn a_private_cache_is_not_searched_for_links() {
    let world = World::new("hooks: {}\n");
    let cache = world.home().join(".cache/ahp");
    let own = cache.join("shield/0a/caches/.cache");
    fs::create_dir_all(&own).unwrap();
    symlink(world.root(), own.join("link")).unwrap();
    plan(&world, None, &ShieldSettings::default()).unwrap();
    symlink(world.root(), cache.join("link")).unwrap();
    let refused = plan(&world, None, &ShieldSettings::default()).unwrap_err();
    assert!(matches!(refused, ShieldError::Link(_)), "{refused}");
}

#[test]
fn what_is_open_already_may_be_given_where_nothing_is_lost() {
    let world = World::new("hooks: {}\n");
    world.write("work", "");
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let root = real(world.root());
    let may = |path: &Path, is_to_be_written| plan.may_be_given(path, is_to_be_written).unwrap();
    for (path, read, written) in [
        (root.join("work"), true, true),
        (root.join(".ahp/hooks.yaml"), false, false),
        (root.join(".ahp/signals.jsonl.lock"), false, false),
        (real(world.home()).join(".ahp/hooks.yaml"), false, false),
        (real(world.home()).join("log"), false, true),
        (
            real(world.home()).join(".local/state/ahp/serve.token"),
            false,
            false,
        ),
    ] {
        assert_eq!(
            (may(&path, false), may(&path, true)),
            (read, written),
            "{path:?}"
        );
    }
}

#[test]
fn a_variable_stays_where_the_socket_that_it_names_is_let_in() {
    let world = World::new("hooks: {}\n");
    for (name, socket) in [
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("DBUS_SESSION_BUS_ADDRESS", "/run/bus"),
        ("DOCKER_HOST", "/run/docker.sock"),
        ("TMUX", "/tmp/tmux-1/default"),
        ("GPG_AGENT_INFO", "/run/gpg"),
    ] {
        let settings = ShieldSettings {
            sockets: vec![socket.into()],
            ..ShieldSettings::default()
        };
        let open = plan(&world, None, &settings).unwrap().unset;
        let mut shut = plan(&world, None, &ShieldSettings::default())
            .unwrap()
            .unset;
        shut.retain(|unset| *unset != name);
        assert_eq!(open, shut, "{name}");
    }
}

#[test]
fn sockets_are_let_in_by_name_alone_and_secrets_are_hidden() {
    let world = World::new("hooks: {}\n");
    fs::create_dir_all(world.home().join("keys")).unwrap();
    fs::create_dir_all(world.home().join(".local/state/ahp")).unwrap();
    let token = world.home().join(".local/state/ahp/serve.token");
    fs::write(&token, "t").unwrap();
    let plain = plan(&world, None, &ShieldSettings::default()).unwrap();
    assert!(plain.unset.contains(&"SSH_AUTH_SOCK") && plain.network);
    let hidden = |plan: &Plan, access: &Access| {
        plan.with(|found| found == access)
            .map(Path::to_path_buf)
            .collect::<Vec<_>>()
    };
    assert!(hidden(&plain, &Access::HiddenFile).contains(&real(token)));
    let settings = ShieldSettings {
        sockets: vec!["ssh-agent".into()],
        deny_read: vec![world.home().join("keys"), world.home().join("none")],
        network: false,
        ..ShieldSettings::default()
    };
    let open = plan(&world, None, &settings).unwrap();
    assert!(!open.unset.contains(&"SSH_AUTH_SOCK") && !open.network);
    assert_eq!(
        hidden(&open, &Access::HiddenFolder),
        [real(world.home().join("keys"))]
    );
    assert_eq!(hidden(&open, &Access::Seen), [PathBuf::from("/run/agent")]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_comes_after_the_plan_is_told_and_what_went_needs_no_cover() {
    let world = World::new("hooks: {}\n");
    let plan = plan(&world, None, &ShieldSettings::default()).unwrap();
    let root = real(world.root());
    let late = root.join("late.sock");
    let listener = UnixListener::bind(&late).unwrap();
    let covers = |plan: &Plan| {
        let mut covered = plan.with(|access| *access == Access::Covered);
        covered.any(|path| path == late)
    };
    assert!(plan.uncovered().unwrap().contains(&late) && !covers(&plan));
    let covering = plan.covering().unwrap();
    assert!(covers(&covering));
    assert!(!covering.uncovered().unwrap().contains(&late));
    assert!(!covering.gone().contains(&late));
    drop(listener);
    fs::remove_file(&late).unwrap();
    assert!(covering.gone().contains(&late));
    let again = covering.covering().unwrap();
    assert!(!covers(&again) && !covers(&covering.without_gone()));
}
