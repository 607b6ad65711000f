//! `ahp hook` and `ahp install` as hosts and people call them: the real program, its output and its exit code.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ahp::host::{CANARY, HOSTS, Host, Reply};
use ahp::install::Installer;

use crate::world::{Ran, World, executable, fed, write};

/// Runs a program as a host or a person does: whatever it starts is trusted and found.
fn run(world: &World, program: &str, args: &[&str], stdin: &[u8]) -> Ran {
    // The shim of `monoco`, if it is there, stands before everything else.
    let path = format!(
        "{}:{}:/usr/local/bin:/usr/bin:/bin:{}",
        world.path(".ahp/bin").display(),
        world.dir.path().join("tools").display(),
        Path::new(env!("CARGO_BIN_EXE_ahp"))
            .parent()
            .unwrap()
            .display()
    );
    let mut command = world.command(program);
    command.args(args).env("AHP_TRUST", "all").env("PATH", path);
    fed(&mut command, stdin)
}

fn ahp(world: &World, args: &[&str]) -> Ran {
    run(world, env!("CARGO_BIN_EXE_ahp"), args, b"")
}

fn hook(world: &World, args: &[&str], stdin: &[u8]) -> Reply {
    let args = [&["hook"], args].concat();
    reply(run(world, env!("CARGO_BIN_EXE_ahp"), &args, stdin))
}

fn sample(world: &World, host: &Host, session: &str) -> String {
    let command = if session == CANARY {
        CANARY
    } else {
        "rm -rf .ahp"
    };
    host.shell_call(&world.root(), session, command).unwrap()
}

fn reply(ran: Ran) -> Reply {
    assert!(matches!(ran.code, 0 | 2), "exit {}", ran.code);
    Reply {
        stdout: ran.stdout,
        stderr: ran.stderr,
        blocks: ran.code == 2,
    }
}

fn json_hosts() -> impl Iterator<Item = &'static Host> {
    HOSTS.iter().copied().filter(|host| host.name != "git")
}

#[test]
fn an_event_that_says_a_thing_twice_is_refused_in_every_host() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}");
    for host in json_hosts() {
        let whole = sample(&world, host, "s");
        let command = whole.find("\"command").or_else(|| whole.find("\"rm -rf"));
        let object = whole.get(..command.unwrap()).unwrap().rfind('{').unwrap();
        for at in [0, object] {
            let (before, after) = whole.split_at(at + 1);
            let twice = format!("{before}\"x\":1,\"x\":{{\"y\":2}},{after}");
            let said = hook(&world, &["--host", host.name], twice.as_bytes());
            let all = format!("{}{}", said.stdout, said.stderr);
            assert!(
                all.contains("stands twice"),
                "{}: {twice}: {said:?}",
                host.name
            );
        }
    }
}

#[test]
fn no_policy_is_no_opinion_in_every_host() {
    let world = World::new("");
    for host in json_hosts().filter(|h| h.name != "native") {
        let given = hook(
            &world,
            &["--host", host.name, "--event", before_tool(host)],
            // What governs the agent is guarded without a policy too.
            sample(&world, host, "s")
                .replace("rm -rf .ahp", "ls")
                .as_bytes(),
        );
        assert!(
            matches!(given.stdout.as_str(), "" | "{}"),
            "{}: {given:?}",
            host.name
        );
        assert!(
            given.stderr.is_empty() && !given.blocks,
            "{}: {given:?}",
            host.name
        );
    }
}

#[test]
fn a_broken_policy_blocks_before_a_tool_and_says_where_in_every_host() {
    let world = World::new("hooks:\n  pre-tool-yuse: []\n");
    for host in json_hosts() {
        let given = hook(
            &world,
            &["--host", host.name, "--event", before_tool(host)],
            sample(&world, host, "s").as_bytes(),
        );
        assert!(host.obeys(&given), "{}: {given:?}", host.name);
        let words = format!("{}{}", given.stdout, given.stderr);
        assert!(words.contains("hooks.yaml:2"), "{}: {words}", host.name);
    }
}

#[test]
fn the_canary_is_blocked_in_every_host_and_not_logged() {
    let world = World::new("");
    for host in json_hosts() {
        let given = hook(
            &world,
            &["--host", host.name, "--event", before_tool(host)],
            sample(&world, host, CANARY).as_bytes(),
        );
        assert!(host.obeys(&given), "{}: {given:?}", host.name);
    }
    let given = hook(
        &world,
        &["--host", "git", "--event", "pre-commit", "--", CANARY],
        b"",
    );
    assert!(given.blocks);
    assert!(!world.path(".ahp/signals.jsonl").exists());
}

fn before_tool(host: &Host) -> &'static str {
    let host_event = host.events_of(ahp::event::Trigger::PreToolUse).next();
    host_event.map(ahp::host::HostEvent::name).unwrap()
}

#[test]
fn what_cannot_be_read_does_not_pass_before_a_tool_and_does_after_it() {
    let world = World::new("");
    for host in json_hosts() {
        let given = hook(
            &world,
            &["--host", host.name, "--event", before_tool(host)],
            b"not json",
        );
        assert!(host.obeys(&given), "{}: {given:?}", host.name);
    }
    let after = hook(
        &world,
        &["--host", "claude-code", "--event", "PostToolUse"],
        b"not json",
    );
    assert_eq!(after, Reply::nothing());
    assert!(hook(&world, &[], b"").blocks);
    assert!(hook(&world, &["--host", "no-such-host"], b"{}").blocks);
    let notes = fs::read_to_string(world.home().join(".local/state/ahp/hook.jsonl")).unwrap();
    assert!(notes.contains("not JSON"), "{notes}");
}

#[test]
fn an_event_without_end_is_refused() {
    let world = World::new("");
    let mut big = br#"{"hook_event_name":"PreToolUse","transcript_path":""#.to_vec();
    big.resize(33 << 20, b'x');
    let given = hook(
        &world,
        &["--host", "claude-code", "--event", "PreToolUse"],
        &big,
    );
    assert!(given.stdout.contains("larger than 32 MiB"), "{given:?}");
}

/// What is too large to be judged before the host gives up does not pass.
#[test]
fn an_input_that_is_too_large_to_be_judged_is_refused() {
    let world = World::new("");
    let give = |tool: &str, input: serde_json::Value| {
        let event = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "t",
            "tool_name": tool, "tool_input": input,
        });
        let args = [
            "--host",
            "claude-code",
            "--event",
            "PreToolUse",
            "--timeout",
            "30",
        ];
        hook(&world, &args, event.to_string().as_bytes())
    };
    let many = serde_json::json!({"command": "true", "env": vec!["a"; 500_000]});
    let long = serde_json::json!({"command": "x".repeat(3 << 20)});
    for (tool, input) in [("mcp__s__r", many), ("Bash", long)] {
        let given = give(tool, input);
        assert!(given.stdout.contains("too large to be judged"), "{given:?}");
    }
    let some = serde_json::json!({"path": "a.csv", "rows": vec!["a"; 2_000]});
    assert_eq!(give("mcp__sheets__append", some), Reply::nothing());
}

#[test]
fn an_unknown_event_passes_with_a_note() {
    let world = World::new("");
    let given = hook(
        &world,
        &["--host", "claude-code"],
        br#"{"hook_event_name":"Frobnicated","session_id":"s","transcript_path":"t"}"#,
    );
    assert_eq!(given, Reply::nothing());
    let notes = fs::read_to_string(world.home().join(".local/state/ahp/hook.jsonl")).unwrap();
    assert!(notes.contains("Frobnicated"), "{notes}");
}

#[test]
fn a_call_under_an_unknown_event_is_judged_and_a_misspelt_wire_refused() {
    let world = World::new("");
    let call = |event: &str, rest: &str| {
        format!(
            r#"{{"hook_event_name":"{event}","session_id":"s","tool_name":"Bash","tool_input":{{"command":"rm -rf .ahp"}}{rest}}}"#
        )
    };
    let args = ["--host", "claude-code"];
    let judged = hook(&world, &args, call("BeforeToolRuns", "").as_bytes());
    assert!(judged.stdout.contains("\"deny\""), "{judged:?}");
    let over = call("AfterToolRan", r#","tool_response":"done""#);
    assert_eq!(hook(&world, &args, over.as_bytes()), Reply::nothing());

    let args = ["--host", "claude-code", "--event", "PreTolUse"];
    let refused = hook(&world, &args, call("PreTolUse", "").as_bytes());
    let words = format!("{}{}", refused.stdout, refused.stderr);
    assert!(words.contains("did you mean `PreToolUse`"), "{words}");
    let host = Host::find("claude-code").unwrap();
    assert!(host.obeys(&refused), "{refused:?}");
}

#[test]
fn an_answer_that_cannot_be_written_is_a_block() {
    let world = World::new("");
    let mut command = world.command(env!("CARGO_BIN_EXE_ahp"));
    command
        .args(["hook", "--host", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(fs::File::create("/dev/full").unwrap())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let event = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf .ahp"}}"#;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(event.as_bytes()).unwrap();
    drop(stdin);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("cannot be written"), "{ran:?}");
}

#[test]
fn an_answer_that_goes_nowhere_is_a_block() {
    let world = World::new("");
    for (line, code) in [("rm -rf .ahp", 2), ("ls", 0)] {
        let event = serde_json::json!({
            "hook_event_name": "PreToolUse",
            "session_id": "s",
            "tool_name": "Bash",
            "tool_input": {"command": line},
        });
        let mut command = world.command("sh");
        command
            .args(["-c", "exec 1>&-; exec \"$0\" hook --host claude-code"])
            .arg(env!("CARGO_BIN_EXE_ahp"))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(event.to_string().as_bytes()).unwrap();
        drop(stdin);
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!(ran.code, code, "{line}: {ran:?}");
    }
}

#[test]
fn what_install_writes_starts_and_blocks_the_canary() {
    for installer in Installer::all().filter(|i| !i.is_shim() && i.host.name != "git") {
        let world = World::new("hooks: {}\n");
        let done = ahp(
            &world,
            &["install", installer.host.name, "--user", "--all-events"],
        );
        assert_eq!(done.code, 0, "{}: {}", installer.host.name, done.stderr);
        let host = installer.host;
        let commands = wired_commands(&world.home());
        let command = commands
            .iter()
            .find(|c| {
                c.contains(&format!("--event {}", before_tool(host)))
                    || installer.host.name == "vscode"
            })
            .unwrap_or(&commands[0]);
        let command = if installer.host.name == "opencode" {
            format!("{command} tool.execute.before")
        } else {
            command.clone()
        };
        let given = reply(run(
            &world,
            "/bin/sh",
            &["-c", &command],
            sample(&world, host, CANARY).as_bytes(),
        ));
        assert!(
            host.obeys(&given),
            "{}: {command}: {given:?}",
            installer.host.name
        );
        let again = ahp(
            &world,
            &["install", installer.host.name, "--user", "--all-events"],
        );
        assert!(
            again.stdout.contains("is wired already"),
            "{}",
            installer.host.name
        );
        let gone = ahp(&world, &["uninstall", installer.host.name, "--user"]);
        assert!(gone.stdout.contains("unwired"), "{}", installer.host.name);
        assert!(
            wired_commands(&world.home()).is_empty(),
            "{}",
            installer.host.name
        );
    }
}

/// Returns every command line of ours in any file below a directory.
fn wired_commands(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(wired_commands(&path));
            continue;
        }
        if path.to_string_lossy().ends_with(".before-ahp") {
            continue;
        }
        // Not every file of a home directory is text: the cache of policies is none.
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter(|l| l.contains(" hook --host ")) {
            let command = [": \"", "= \"", "exec "]
                .iter()
                .find_map(|head| line.split_once(head))
                .map_or(line, |(_, command)| command);
            found.push(command.trim_end_matches([',', '"', ' ']).to_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn git_hooks_run_beside_those_that_were_there() {
    let world = World::new("hooks: {}\n");
    let git = |args: &[&str]| run(&world, "git", args, b"");
    assert_eq!(git(&["init", "-q"]).code, 0);
    git(&["config", "core.hooksPath", "my-hooks"]);
    git(&["config", "user.email", "u@example.org"]);
    git(&["config", "user.name", "U"]);
    let mine = world.path("my-hooks/pre-commit");
    executable(&mine, "#!/bin/sh\necho mine > ran\n");
    let wired = ahp(&world, &["install", "git"]);
    assert_eq!(wired.code, 0);
    assert_eq!(
        wired.stdout.matches("/pre-commit").count(),
        1,
        "{}",
        wired.stdout
    );
    world.write("a", "a");
    git(&["add", "a"]);
    let commit = git(&["commit", "-q", "-m", "feat: a"]);
    assert_eq!(commit.code, 0, "{}", commit.stderr);
    assert_eq!(world.read("ran"), "mine\n");
    // A policy that is broken stops the commit, with words.
    world.write(".ahp/hooks.yaml", "hooks: [\n");
    let commit = git(&["commit", "-q", "--allow-empty", "-m", "feat: b"]);
    assert_ne!(commit.code, 0);
    assert!(commit.stderr.contains("policy is broken"));
}

/// A repository whose hooks are wired, with a commit of `a`, `b` and `c`.
fn wired_repository(policy: &str) -> World {
    let world = World::new(policy);
    for name in ["a", "b", "c"] {
        world.write(name, "1\n");
    }
    world.write(".gitignore", ".ahp/\n");
    world.git_init();
    assert_eq!(ahp(&world, &["install", "git"]).code, 0);
    world
}

#[test]
fn what_a_commit_takes_is_told_as_git_takes_it() {
    let world = wired_repository("hooks: {pre-tool-use: [{oracle: takes}]}\n");
    let takes = "fn evaluate(ctx) { block(`takes ${ctx.tool.committed}.`, [\"x\"]) }";
    world.write(".ahp/oracles/takes.rhai", takes);
    for name in ["a", "b", "c"] {
        world.write(name, "2\n");
    }
    world.git(&["add", "a"]);
    let refused = |arguments: &[&str]| {
        let commit = run(
            &world,
            "git",
            &[&["commit", "-m", "x"], arguments].concat(),
            b"",
        );
        assert_ne!(commit.code, 0, "{arguments:?}: {commit:?}");
        commit.stderr
    };
    for (arguments, taken) in [
        (&[][..], r#"takes ["a"]."#),
        (&["-a"], r#"takes ["a", "b", "c"]."#),
        (&["b"], r#"takes ["b"]."#),
        (&["-i", "c"], r#"takes ["a", "c"]."#),
    ] {
        let said = refused(arguments);
        assert!(said.contains(taken), "{arguments:?}: {said}");
    }
    // Whoever names another index commits that one.
    let other = world.path(".git/other");
    fs::copy(world.path(".git/index"), &other).unwrap();
    let mut add = world.command("git");
    let added = add
        .args(["add", "c"])
        .env("GIT_INDEX_FILE", &other)
        .status();
    assert!(added.unwrap().success());
    let mut commit = world.command("git");
    commit
        .args(["commit", "-m", "x"])
        .env("GIT_INDEX_FILE", &other)
        .env("AHP_TRUST", "all");
    let said = fed(&mut commit, b"").stderr;
    assert!(said.contains(r#"takes ["a", "c"]."#), "{said}");
    // What stands in the environment of another host is not about the commit that its agent makes.
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(), "tool_name": "Bash",
        "tool_input": {"command": "git commit -m x"}, "tool_use_id": "t",
    });
    let mut agent = world.ahp_command();
    agent
        .args(["hook", "--host", "claude-code"])
        .env("GIT_INDEX_FILE", &other);
    let said = fed(&mut agent, event.to_string().as_bytes()).stdout;
    assert!(said.contains(r#"takes [\"a\"]."#), "{said}");
}

#[test]
fn a_push_that_takes_commits_from_a_remote_is_told_as_forced() {
    let world = wired_repository("extends: [ahp:standard]\n");
    let remote = world.dir.path().join("remote.git");
    let bare = remote.to_string_lossy().into_owned();
    let git = |arguments: &[&str]| run(&world, "git", arguments, b"");
    assert_eq!(git(&["init", "-q", "--bare", &bare]).code, 0);
    world.git(&["remote", "add", "origin", &bare]);
    let at = |name: &str| git(&["--git-dir", &bare, "rev-parse", name]).stdout;
    let passes = |arguments: &[&str]| {
        let pushed = git(&[&["push", "-q"], arguments].concat());
        assert_eq!(pushed.code, 0, "{arguments:?}: {}", pushed.stderr);
    };
    let is_stopped = |arguments: &[&str], name: &str| {
        let before = at(name);
        let pushed = git(&[&["push"], arguments].concat());
        assert_ne!(pushed.code, 0, "{arguments:?}: {}", pushed.stderr);
        assert_eq!(at(name), before, "{arguments:?}");
        // What git says itself stands on lines of its own.
        let of_git = |line: &str| line.starts_with("error: failed to push");
        assert!(pushed.stderr.lines().any(of_git), "{}", pushed.stderr);
        pushed.stderr
    };
    world.git(&["tag", "v1"]);
    passes(&["origin", "main", "main:work", "v1"]);
    world.write("a", "2\n");
    world.commit("two");
    // With the option, but without any loss.
    passes(&["--force", "origin", "main"]);
    passes(&["origin", "main:work"]);
    world.git(&["commit", "-q", "--amend", "--no-verify", "-m", "other"]);
    for arguments in [
        &["--force", "origin", "main"][..],
        &["origin", "+main"],
        &["--force-with-lease", "origin", "main"],
        &["origin", "+HEAD:refs/heads/main"],
    ] {
        let said = is_stopped(arguments, "main");
        assert!(
            said.contains("everybody builds on"),
            "{arguments:?}: {said}"
        );
    }
    is_stopped(&["origin", "+main:work"], "work");
    world.git(&["tag", "-f", "v1"]);
    is_stopped(&["--force", "origin", "v1"], "v1");
    is_stopped(&["origin", ":work"], "work");
    passes(&["origin", "main:mine"]);
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest() {
    let world = World::new("");
    let done = ahp(&world, &["install", "claude-cod"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("Did you mean `claude-code`?"));
}

#[test]
fn doctor_sends_a_canary_through_what_is_wired() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
    ahp(&world, &["install", "claude-code"]);
    ahp(&world, &["install", "codex", "--user"]);
    let examined = |world: &World| {
        let done = ahp(world, &["doctor", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        (done.code, found)
    };
    let (code, found) = examined(&world);
    assert_eq!(code, 0, "{found:#}");
    let hosts = found["hosts"].as_array().unwrap();
    for name in ["claude-code", "codex"] {
        let host = hosts.iter().find(|h| h["host"] == name).unwrap();
        let canary = &host["wired"][0]["canary"];
        assert_eq!(canary["result"], "blocked", "{host:#}");
        assert_eq!(canary["detail"], "rm -rf /usr", "{host:#}");
        assert_eq!(host["wired"][0]["trusted"], true);
        assert!(!host["blind_spots"].as_array().unwrap().is_empty());
    }
    // A path that leads nowhere is what most gates that do not gate come of.
    let settings = world.path(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("\"ahp hook ", "\"/gone/ahp hook ")).unwrap();
    // And a hook that was changed is one that Codex no longer trusts.
    let hooks = world.home().join(".codex/hooks.json");
    let text = fs::read_to_string(&hooks).unwrap();
    fs::write(&hooks, text.replace("--timeout ", "--timeout 1")).unwrap();
    world.write(".ahp/hooks.yaml", "hooks: {pre-agent-turn-stop: []}\n");
    let (code, found) = examined(&world);
    assert_eq!(code, 1, "{found:#}");
    let problems = found["problems"].to_string();
    assert!(
        problems.contains(
            "claude-code (project): `/gone/ahp` is not there, so everything is refused; `ahp install claude-code --project`"
        ),
        "{problems}"
    );
    assert!(
        problems.contains("codex (user) does not trust its hooks"),
        "{problems}"
    );
    let human = ahp(&world, &["doctor"]).stdout;
    assert!(human.contains("REFUSED"), "{human}");
}

/// What `doctor` sends is what the policy in force stops, in the form of each host; the policy itself has to stop it.
#[test]
fn the_canary_is_a_call_that_the_policy_stops() {
    let canary = |policy: &str| {
        let world = World::new(policy);
        ahp(&world, &["install", "claude-code"]);
        let done = ahp(&world, &["doctor", "claude-code", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        found["hosts"][0]["wired"][0]["canary"].clone()
    };
    let blocked = |command| serde_json::json!({"result": "blocked", "detail": command});
    for (policy, command) in [
        (
            "{preset: none, dangerous_commands: [deploy now]}",
            "deploy now",
        ),
        ("{preset: git}", "git push --force origin main"),
        ("{preset: secrets}", "cat .env"),
    ] {
        let policy =
            format!("hooks: {{pre-tool-use: [{{oracle: PermissionChecker, config: {policy}}}]}}\n");
        assert_eq!(canary(&policy), blocked(command));
    }
    let audit = "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: prompt}]}\n";
    assert_eq!(
        canary(audit),
        serde_json::json!({"result": "blocked", "detail": null})
    );
    // A call that the policy lets pass is not blocked because it comes from `doctor`.
    let world = World::new(audit);
    let host = Host::find("claude-code").unwrap();
    let call = host
        .shell_call(&world.root(), CANARY, "git push --force origin main")
        .unwrap();
    let given = hook(
        &world,
        &["--host", "claude-code", "--event", "PreToolUse"],
        call.as_bytes(),
    );
    assert!(!host.obeys(&given), "{given:?}");
}

#[test]
fn a_check_that_hangs_is_answered_for_before_the_host_gives_up() {
    for (on_error, blocks) in [("allow", false), ("block", true)] {
        let world = World::new(&format!(
            "hooks: {{pre-tool-use: [{{hook: slow, on_error: {on_error}}}]}}\n"
        ));
        let slow = world.path(".agents/hooks/slow");
        executable(&slow.join("scripts/run.sh"), "#!/bin/sh\nexec sleep 30\n");
        fs::write(
            slow.join("HOOK.md"),
            "---\nname: slow\ndescription: takes its time\ntrigger: pre-tool-call\n---\n",
        )
        .unwrap();
        let host = Host::find("claude-code").unwrap();
        let started = std::time::Instant::now();
        let given = hook(
            &world,
            &["--host", host.name, "--timeout", "1"],
            sample(&world, host, "s")
                .replace("rm -rf .ahp", "ls")
                .as_bytes(),
        );
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
        assert_eq!(host.obeys(&given), blocks, "{given:?}");
    }
}

#[test]
fn the_monoco_shim_gates_the_real_one() {
    let world = World::new("hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n");
    let issue = world.path("Issues/Features/open/FEAT-0001-x.md");
    let text = "---\nid: FEAT-0001\ntype: feature\nstatus: open\nstage: doing\ntitle: X\n---\n\n- [ ] tests\n";
    write(&issue, text);
    executable(
        &world.dir.path().join("tools/monoco"),
        "#!/bin/sh\necho \"$@\" > ran\n",
    );
    let done = ahp(&world, &["install", "monoco"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let submit = || {
        run(
            &world,
            "/bin/sh",
            &["-c", "monoco issue submit FEAT-0001"],
            b"",
        )
    };
    let blocked = submit();
    assert_eq!(blocked.code, 2);
    assert!(blocked.stderr.contains("tests"));
    let ran = world.path("ran");
    assert!(!ran.exists());
    fs::write(&issue, text.replace("[ ]", "[x]")).unwrap();
    let passed = submit();
    assert_eq!(passed.code, 0, "{}", passed.stderr);
    assert_eq!(
        fs::read_to_string(&ran).unwrap(),
        "issue submit FEAT-0001\n"
    );
}

/// A shell command judged by the packs that most people use.
#[cfg(target_os = "linux")]
#[test]
fn a_tool_event_starts_no_thread_and_reads_nothing_of_the_project() {
    let policy = "extends: [ahp:baseline, ahp:safe-shell]\n";
    let read = [0, 300].map(|issues| {
        let world = World::new(policy);
        for n in 0..issues {
            let issue = format!("Issues/Fixes/open/FIX-{n:04}-a.md");
            world.write(&issue, format!("---\nid: FIX-{n:04}\n---\n- [ ] a\n"));
        }
        let event = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"cargo test && git status --short | head -20"}}"#;
        // The first event checks the policy and puts it into the cache.
        assert_eq!(hook(&world, &["--host", "claude-code"], event.as_bytes()), Reply::default());
        let seen = Seen::before_it_logs(&world, &["hook", "--host", "claude-code"], event);
        assert_eq!(seen.threads, 1);
        seen.bytes_read
    });
    // The map of its memory, which every program reads, is not always of one length.
    assert!(read[0].abs_diff(read[1]) < 2000, "{read:?}");
}

/// What the operating system tells of a process.
#[cfg(target_os = "linux")]
struct Seen {
    threads: usize,
    bytes_read: usize,
}

#[cfg(target_os = "linux")]
impl Seen {
    /// Runs `ahp` against a log that somebody else holds, and looks at it when it has come that far.
    fn before_it_logs(world: &World, args: &[&str], stdin: &str) -> Self {
        let lock = world.path(".ahp/signals.jsonl.lock");
        let held = fs::File::open(&lock).unwrap();
        held.lock().unwrap();
        let mut child = world
            .ahp_command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(stdin.as_bytes())
            .unwrap();
        let proc = PathBuf::from(format!("/proc/{}", child.id()));
        let has_come = || {
            let mut files = fs::read_dir(proc.join("fd")).unwrap();
            files.any(|file| fs::read_link(file.unwrap().path()).is_ok_and(|path| path == lock))
        };
        while !has_come() {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended without a record"
            );
            std::thread::yield_now();
        }
        let number = |file: &str, name: &str| -> usize {
            let text = fs::read_to_string(proc.join(file)).unwrap();
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap();
            line.trim().parse().unwrap()
        };
        let seen = Self {
            threads: number("status", "Threads:"),
            bytes_read: number("io", "rchar:"),
        };
        held.unlock().unwrap();
        assert!(child.wait().unwrap().success());
        seen
    }
}

#[test]
fn a_host_that_never_ends_its_event_is_answered_in_time() {
    let world = World::new("settings: {on_error: block}\n");
    let host = Host::find("claude-code").unwrap();
    // The shell holds the pipe open for longer than `ahp` may wait.
    let script = format!(
        "{{ printf '{{'; sleep 60 & echo $! >&3; }} 3>pid | {} hook --host claude-code --timeout 0.2; code=$?; kill $(cat pid); exit $code",
        env!("CARGO_BIN_EXE_ahp")
    );
    let given = reply(run(&world, "/bin/sh", &["-c", &script], b""));
    assert!(!host.obeys(&given), "{given:?}");
    let words = format!("{}{}", given.stdout, given.stderr);
    assert!(words.contains("did not send its event in time"), "{words}");
}

#[test]
fn a_command_in_a_deleted_directory_says_so() {
    let world = World::new("");
    let mut command = world.command("sh");
    let script = format!(
        "mkdir gone && cd gone && rmdir ../gone && exec '{}' check",
        env!("CARGO_BIN_EXE_ahp")
    );
    let ran = fed(command.args(["-c", &script]), b"");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("working directory"), "{ran:?}");
}

#[test]
fn a_work_dir_behind_a_link_is_where_the_link_leads() {
    let world = World::new(
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: [make clean]}}]}",
    );
    fs::create_dir_all(world.path("deep/er")).unwrap();
    let elsewhere = world.dir.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    std::os::unix::fs::symlink(world.path("deep/er"), elsewhere.join("link")).unwrap();
    let dir = elsewhere.join("link/../..");
    let args = [
        "run",
        "pre-tool-use",
        "--tool",
        "Bash",
        "--input",
        r#"{"command":"make clean"}"#,
        "--work-dir",
    ];
    let ran = ahp(&world, &[&args[..], &[dir.to_str().unwrap()]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
}
