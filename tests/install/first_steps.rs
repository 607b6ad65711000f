//! What somebody meets who has just installed `ahp`: where shared settings lead, what is missing, and what `doctor` says of it.

use std::fs;
use std::path::Path;

use crate::world::{Ran, World, executable};

const POLICY: &str = "hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n";
const CLAUDE: &str = ".claude/settings.json";

/// Runs `ahp` by its path, where the search path leads to some folder and to the programs of the machine.
fn ahp(world: &World, dir: &Path, words: &[&str]) -> Ran {
    let path = format!("{}:/usr/bin:/bin", dir.display());
    let mut ahp = world.ahp_command();
    Ran::of(&ahp.env("PATH", path).args(words).output().unwrap())
}

/// Runs a command line as a host does on a machine without `ahp`.
fn without_ahp(world: &World, command: &str) -> Ran {
    let mut shell = world.command("/bin/sh");
    let shell = shell.env("PATH", "/usr/bin:/bin").args(["-c", command]);
    Ran::of(&shell.output().unwrap())
}

/// Returns the first command in the settings of Claude Code.
fn command(settings: &str) -> String {
    let settings: serde_json::Value = serde_json::from_str(settings).unwrap();
    let command = settings.pointer("/hooks/PreToolUse/0/hooks/0/command");
    command
        .and_then(serde_json::Value::as_str)
        .unwrap()
        .to_owned()
}

#[test]
fn a_policy_that_stops_no_command_is_a_problem_where_it_is_there_to_stop_one() {
    let standard = |binding: &str| {
        format!(
            "extends: [ahp:standard]\nhooks:\n  pre-tool-use:\n    - {{id: safe-shell, {binding}}}\n"
        )
    };
    let own =
        |rest: &str| format!("hooks: {{pre-tool-use: [{{oracle: PermissionChecker, {rest}}}]}}\n");
    let passes = "`safe-shell` lets every command pass";
    for (policy, told) in [
        (standard("when: {tool: Bahs}"), Some(passes)),
        (
            standard("enabled: false"),
            Some("`safe-shell` is switched off (.ahp/hooks.yaml:4"),
        ),
        (own("when: {tool: Bahs}"), Some("lets every command pass")),
        // What asks, what judges other things, and what some state or program decides.
        (standard("intensity: ask"), None),
        ("extends: [ahp:standard]\n".to_owned(), None),
        ("extends: [ahp:secrets]\n".to_owned(), None),
        (own("config: {preset: database}"), None),
        (own("when: {git.branch: release}"), None),
        (
            "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n".to_owned(),
            None,
        ),
    ] {
        let world = World::new(&policy);
        world.git_init();
        let examined = world.ahp(&["doctor"]);
        let says = examined
            .stdout
            .contains("the policy in force stops no command, ");
        assert_eq!(says, told.is_some(), "{policy}{}", examined.stdout);
        assert_eq!(
            examined.code,
            i32::from(told.is_some()),
            "{policy}{}",
            examined.stdout
        );
        assert!(
            examined.stdout.contains(told.unwrap_or_default()),
            "{}",
            examined.stdout
        );
    }
}

/// A policy that stops no command but keeps tools from secrets is tried by such a tool.
#[test]
fn the_canary_is_a_call_that_the_policy_stops() {
    for (packs, shown) in [
        (&["ahp:secrets"][..], "`read .env` is blocked"),
        (&["standard"], "`rm -rf /usr` is blocked"),
    ] {
        let world = World::new("");
        fs::remove_dir_all(world.path(".ahp")).unwrap();
        world.git_init();
        let dir = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
        for pack in packs {
            let ran = ahp(&world, dir, &["init", "--pack", pack]);
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        for host in ["claude-code", "gemini-cli", "codex", "copilot", "opencode"] {
            let ran = ahp(&world, dir, &["install", host]);
            assert_eq!(ran.code, 0, "{ran:?}");
            let ran = ahp(&world, dir, &["doctor", host]);
            assert!(ran.stdout.contains(shown), "{host}: {ran:?}");
        }
    }
}

#[test]
fn shared_settings_call_the_program_by_its_name_wherever_it_was_found() {
    for launcher in [false, true] {
        let world = World::new(POLICY);
        let bin = world.path("bin");
        fs::create_dir_all(&bin).unwrap();
        if launcher {
            let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_ahp"));
            executable(&bin.join("ahp"), &text);
        }
        let installed = ahp(&world, &bin, &["install", "claude-code"]);
        let (told, printed) = if launcher {
            let told = format!("by its name, and that is `{}/ahp` here", bin.display());
            (told, &installed.stdout)
        } else {
            let told = "by its name, which is not in the search path here: export PATH=";
            (told.to_owned(), &installed.stderr)
        };
        let own = "`ahp install claude-code --local` calls this program by its path, for you alone";
        for told in [told.as_str(), own] {
            assert!(printed.contains(told), "{installed:?}");
        }
        assert_eq!(installed.code, i32::from(!launcher), "{installed:?}");
        assert_eq!(world.path(CLAUDE).exists(), launcher);
        if !launcher {
            // What calls it by its path does not hang on the search path.
            let own = ahp(&world, &bin, &["install", "claude-code", "--local"]);
            assert_eq!(own.code, 0, "{own:?}");
            continue;
        }
        let settings = world.read(CLAUDE);
        let dir = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
        assert!(!settings.contains(dir.to_str().unwrap()), "{settings}");
        let ran = without_ahp(&world, &command(&settings));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("pipx install ahp-hooks"), "{ran:?}");
    }
}

#[test]
fn the_launcher_of_the_package_is_no_other_program() {
    let world = World::new(POLICY);
    let modules = world.path("lib/node_modules");
    let native = modules.join("ahp-hooks/node_modules/@ahp-hooks/linux-x64/bin/ahp");
    let launcher = modules.join("ahp-hooks/bin/ahp");
    fs::create_dir_all(native.parent().unwrap()).unwrap();
    world.ahp_copied_to(&native);
    executable(
        &launcher,
        &format!("#!/bin/sh\nexec '{}' \"$@\"\n", native.display()),
    );
    let path = format!("{}:/usr/bin:/bin", launcher.parent().unwrap().display());
    let run = |words: &[&str]| {
        let mut ahp = world.command(&launcher);
        Ran::of(&ahp.env("PATH", &path).args(words).output().unwrap())
    };
    let installed = run(&["install", "claude-code"]);
    assert!(
        !installed.stdout.contains("by its name"),
        "{}",
        installed.stdout
    );
    assert_eq!(run(&["doctor", "claude-code"]).code, 0);
    // A shell starts as fast as the program; an interpreter does not.
    assert!(!run(&["doctor", "claude-code"]).stdout.contains("    slow "));
    for line in [
        "#!/usr/bin/env node",
        "#!/usr/bin/env -S python3 -E",
        "#!/opt/bin/python3.13",
    ] {
        executable(&launcher, &format!("{line}\n"));
        let mut doctor = world.command(&native);
        let doctor = doctor.env("PATH", &path).args(["doctor", "claude-code"]);
        let told = Ran::of(&doctor.output().unwrap()).stdout;
        let slow = "starts many times slower than the program itself; `ahp install claude-code --local` calls";
        assert!(told.contains(slow), "{line}: {told}");
    }
    let mut install = world.command(&native);
    let install = install.env("PATH", &path);
    let install = install.args(["install", "claude-code", "--user"]);
    assert!(install.output().unwrap().status.success());
    let own = fs::read_to_string(world.home().join(CLAUDE)).unwrap();
    assert!(own.contains(native.to_str().unwrap()), "{own}");
}

/// Settings with the refusals that earlier versions wrote: with words, and without.
fn of_earlier_versions(wired: &str) -> [String; 2] {
    let refusal = " && exit 0; eval 'test $? = 2' || echo 'ahp did not answer, so this is refused; \
                   to install it: pipx install ahp-hooks' >&2; exit 2";
    assert!(wired.contains(refusal), "{wired}");
    [
        " && exit 0; echo 'ahp did not let this pass' >&2; exit 2",
        " || exit 2",
    ]
    .map(|earlier| wired.replace(refusal, earlier))
}

#[test]
fn a_program_that_has_gone_refuses_everything_and_doctor_says_so() {
    let world = World::new(POLICY);
    let nothing = world.path("nothing");
    fs::create_dir_all(&nothing).unwrap();
    world.ahp(&["install", "claude-code"]);
    let by_name = world.read(CLAUDE);
    let [aloud, silent] = of_earlier_versions(&by_name);
    let said = "\"command -v ahp >/dev/null || echo 'ahp is not installed: pipx install ahp-hooks' >&2; ahp hook ";
    let told_before = aloud.replace("\"ahp hook ", said);
    assert_ne!(told_before, aloud);
    for settings in [by_name, told_before, aloud, silent] {
        world.write(CLAUDE, settings);
        let examined = ahp(&world, &nothing, &["doctor", "claude-code"]);
        assert_eq!(examined.code, 1, "{}", examined.stdout);
        let told = "claude-code (project): `ahp` is not in the search path, so everything is refused; export PATH=\"";
        assert!(examined.stdout.contains(told), "{}", examined.stdout);
        for wrong in ["NOT BLOCKED", "would let"] {
            assert!(!examined.stdout.contains(wrong), "{}", examined.stdout);
        }
    }
    // By a path that leads nowhere, in a host that cannot be told to close.
    let native = world.path("gone/ahp");
    fs::create_dir_all(native.parent().unwrap()).unwrap();
    world.ahp_copied_to(&native);
    let installed = world
        .command(&native)
        .args(["install", "codex", "--user"])
        .output();
    assert!(installed.unwrap().status.success());
    fs::remove_file(&native).unwrap();
    let examined = world.ahp(&["doctor", "codex"]);
    let told = format!(
        "codex (user): `{}` is not there, so everything is refused",
        native.display()
    );
    assert!(examined.stdout.contains(&told), "{}", examined.stdout);
    let file = world.home().join(".codex/hooks.json");
    let wired = fs::read_to_string(&file).unwrap();
    let [aloud, silent] = of_earlier_versions(&wired);
    fs::write(&file, &aloud).unwrap();
    let told = world.ahp(&["doctor", "codex"]).stdout;
    assert!(!told.contains("would let a bad event pass"), "{told}");
    // Codex passes over a refusal without words.
    let open = silent.replace(" || exit 2", "");
    for (text, passes) in [(&silent, false), (&open, true)] {
        fs::write(&file, text).unwrap();
        let told = world.ahp(&["doctor", "codex"]).stdout;
        assert_eq!(
            told.contains("would let a bad event pass"),
            passes,
            "{told}"
        );
        let weak = "it does not refuse where `ahp` is missing or dies";
        assert!(told.contains(weak), "{told}");
    }
}

#[test]
fn a_weakened_policy_is_told_with_the_question_that_comes_first() {
    let world = World::new("extends: [ahp:standard]\n");
    world.git_init();
    assert_eq!(world.ahp(&["trust", "--yes"]).code, 0);
    world.write(
        ".ahp/hooks.yaml",
        "extends: [ahp:standard]\nhooks:\n  pre-tool-use:\n    - id: safe-shell\n      \
         config: {allow_commands: [\"git push --force-with-lease origin my-*\"]}\n",
    );
    let hook = |session: &str, command: &str| {
        let call = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": session, "transcript_path": "/tmp/t.jsonl",
            "cwd": world.root(), "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command,
        });
        let words = ["hook", "--host", "claude-code", "--event", "PreToolUse"];
        world.ahp_fed(&words, call.to_string().as_bytes()).stdout
    };
    let told = "the project's policy was weakened";
    for (session, first) in [
        ("s1", "npm publish"),
        ("s2", "git push --force origin main"),
        ("s3", "ls"),
    ] {
        let answer = hook(session, first);
        assert!(answer.contains(told), "{first}: {answer}");
        assert!(!hook(session, "pwd").contains(told), "{first}");
    }
    let examined = world.ahp(&["doctor"]);
    let held = "held     weaker than what was approved, which stays in force until `ahp trust`: `safe-shell`";
    assert!(examined.stdout.contains(held), "{}", examined.stdout);
}

#[test]
fn git_is_no_host_outside_of_a_repository() {
    let world = World::new(POLICY);
    let examined = world.ahp(&["doctor", "git"]);
    assert!(
        examined
            .stdout
            .contains("not wired: this project is in no git repository"),
        "{}",
        examined.stdout
    );
    assert!(
        !examined.stdout.contains("`ahp install git`"),
        "{}",
        examined.stdout
    );
    let bin = world.path("bin");
    executable(&bin.join("claude"), "#!/bin/sh\n");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ahp"), bin.join("ahp")).unwrap();
    let installed = ahp(&world, &bin, &["install", "--all"]);
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    assert!(
        installed.stdout.contains("wired claude-code"),
        "{}",
        installed.stdout
    );
    assert_eq!(ahp(&world, &bin, &["install", "git"]).code, 1);
}

#[test]
fn a_host_that_is_wired_twice_is_told() {
    let world = World::new(POLICY);
    for (scope, is_twice) in [("--project", false), ("--user", true)] {
        world.ahp(&["install", "claude-code", scope]);
        let examined = world.ahp(&["doctor", "claude-code"]);
        let told = "wired twice: each call is judged and logged for each of user, project; `ahp uninstall claude-code --project`";
        assert_eq!(
            examined.stdout.contains(told),
            is_twice,
            "{}",
            examined.stdout
        );
        assert_eq!(examined.code, 0, "{}", examined.stdout);
    }
}

#[test]
fn who_has_no_client_or_no_policy_yet_is_told_what_comes_first() {
    let world = World::new("extends: [ahp:standard]\n");
    let nothing = world.path("nothing");
    fs::create_dir_all(&nothing).unwrap();
    let examined = ahp(&world, &nothing, &["doctor"]);
    let told = "no host has hooks yet: `ahp install HOST` adds them";
    assert!(examined.stdout.contains(told), "{}", examined.stdout);
    assert_eq!(examined.code, 0, "{}", examined.stdout);
    let one = ahp(&world, &nothing, &["doctor", "monoco"]);
    assert!(!one.stdout.contains("no host has hooks"), "{}", one.stdout);
    // A trial of nothing is no proof.
    let tried = ahp(&world, &nothing, &["doctor", "--deep"]);
    let told =
        "`--deep` tried nothing: a client is tried if it is installed here and has hooks of `ahp`";
    assert!(tried.stdout.contains(told), "{}", tried.stdout);
    assert_eq!(tried.code, 1, "{}", tried.stdout);
    let says = "no policy is in force but self-protection: `ahp init` writes one";
    let install = ["install", "claude-code", "--user"];
    assert!(!world.ahp(&install).stdout.contains(says));
    fs::remove_dir_all(world.path(".ahp")).unwrap();
    let installed = world.ahp(&install);
    assert!(installed.stdout.contains(says), "{}", installed.stdout);
    assert_eq!(installed.code, 0, "{}", installed.stderr);
}
