//! Fields of a tool's input that name a guarded place, whatever they are called.

use serde_json::json;

use super::project;
use crate::permission_checker::oracle::judged;

#[test]
fn a_field_of_any_name_is_looked_into_but_of_tools_that_only_look() {
    let world = project();
    let root = world.root();
    let stops = |tool: &str, input: serde_json::Value| {
        let found = judged(&world, "SelfProtection", "{}", tool, input).unwrap();
        found.is_ok_and(|found| !found.is_empty())
    };
    let places = [
        json!(".ahp/hooks.yaml"),
        json!("src/../.ahp"),
        json!(root.join(".claude/settings.json")),
        json!(format!("file://{}", root.join(".ahp/hooks.yaml").display())),
    ];
    let wrapped: [fn(&serde_json::Value) -> serde_json::Value; 5] = [
        |place| json!({"TargetFile": place, "CodeContent": "x"}),
        |place| json!({"where": place}),
        |place| json!({"target": {"uri": place}}),
        |place| json!({"changes": [{"at": place}]}),
        |place| json!([place]),
    ];
    for (place, wrap) in places
        .iter()
        .flat_map(|place| wrapped.iter().map(move |wrap| (place, wrap)))
    {
        let input = wrap(place);
        for tool in [
            "write_to_file",
            "Write",
            "Frobnicate",
            "mcp__files__delete_dir",
            "mcp__x__run",
        ] {
            assert!(stops(tool, input.clone()), "let through: {tool} {input}");
        }
        for tool in [
            "view_file",
            "mcp__files__read_file",
            "AskUserQuestion",
            "TodoWrite",
            "Read",
        ] {
            let input = json!({"questions": [input]});
            assert!(
                tool == "TodoWrite" || !stops(tool, input.clone()),
                "stopped: {tool} {input}"
            );
        }
    }
    for (tool, input) in [
        ("Frobnicate", json!({"message": ".ahp/hooks.yaml"})),
        (
            "Frobnicate",
            json!({"where": "src/main.rs", "why": "a look at the .ahp/ of it"}),
        ),
        (
            "Write",
            json!({"file_path": ".gitignore", "content": ".ahp/"}),
        ),
        (
            "Edit",
            json!({"file_path": "a.md", "old_string": ".ahp", "new_string": ".ahp/hooks.yaml"}),
        ),
    ] {
        assert!(!stops(tool, input.clone()), "stopped: {tool} {input}");
    }
    for input in [
        json!([["rm", "-rf", ".ahp"]]),
        json!({"command": [["rm", "-rf", ".ahp"]]}),
        json!([{"run": "rm -rf .ahp"}]),
    ] {
        assert!(stops("Bash", input.clone()), "let through: {input}");
    }
}

#[test]
fn a_field_in_which_a_known_shell_explains_its_command_names_no_place() {
    let world = project();
    let stops = |tool: &str, field: &str, value: serde_json::Value| {
        let mut input = json!({"command": "ls"});
        input[field] = value;
        let found = judged(&world, "SelfProtection", "{}", tool, input).unwrap();
        found.is_ok_and(|found| !found.is_empty())
    };
    for (tool, field) in [
        ("run_in_terminal", "explanation"),
        ("run_in_terminal", "goal"),
        ("run_terminal_cmd", "explanation"),
        ("exec_command", "justification"),
        ("Bash", "description"),
    ] {
        for place in [".ahp", ".ahp/hooks.yaml"] {
            assert!(!stops(tool, field, json!(place)), "{tool} {field}");
        }
        // It is no text, and so nobody knows what it is.
        let held = json!({"at": ".ahp/hooks.yaml"});
        assert!(stops(tool, field, held), "{tool} {field}");
    }
    for (tool, field) in [
        ("Bash", "explanation"),
        ("run_in_terminal", "place"),
        ("run_in_terminal", "Explanation"),
        ("mcp__x__run_in_terminal", "explanation"),
        ("Frobnicate", "explanation"),
    ] {
        assert!(
            stops(tool, field, json!(".ahp/hooks.yaml")),
            "{tool} {field}"
        );
    }
}

#[test]
fn what_a_tool_that_nobody_knows_may_run_is_judged_as_a_command() {
    let world = project();
    let root = world.root();
    let stops = |tool: &str, input: &serde_json::Value| {
        let found = judged(&world, "SelfProtection", "{}", tool, input.clone()).unwrap();
        found.is_ok_and(|found| !found.is_empty())
    };
    let encoded = format!("file://{}", root.join("%2Eahp/hooks.yaml").display());
    for (tool, input) in [
        ("mcp__x__run", json!({"script": "rm -rf .ahp"})),
        ("mcp__x__run", json!({"input": "cd . && rm -rf .ahp"})),
        (
            "mcp__x__run",
            json!({"steps": [{"cmd": ["rm", "-rf", ".ahp"]}]}),
        ),
        ("Frobnicate", json!({"x": "rm -rf .ahp"})),
        (
            "mcp__x__exec",
            json!({"program": "sh", "arguments": ["-c", "rm -rf .ahp"]}),
        ),
        ("mcp__x__exec", json!({"command": "rm", "args": "-rf .ahp"})),
        (
            "mcp__ide__executeCode",
            json!({"code": "import shutil; shutil.rmtree(\".ahp\")"}),
        ),
        (
            "mcp__x__run_js",
            json!({"code": "require('fs').rmSync('.ahp', {recursive: true})"}),
        ),
        ("mcp__x__run", json!({"code": "ahp trust -y"})),
        (
            "text_editor",
            json!({"command": "create", "path": ".ahp/hooks.yaml"}),
        ),
        (
            "Frobnicate",
            json!({"command": "create", "path": ".ahp/hooks.yaml"}),
        ),
        (
            "mcp__x__apply_patch",
            json!({"patch": "--- a/.ahp/hooks.yaml\n+++ b/.ahp/hooks.yaml\n@@ -1 +1 @@\n-x\n+y\n"}),
        ),
        ("mcp__fs__write", json!({"files": {".ahp/hooks.yaml": "x"}})),
        (
            "mcp__fs__write",
            json!({"payload": "{\"path\": \".ahp/hooks.yaml\"}"}),
        ),
        ("mcp__fs__write", json!({"uri": encoded, "data": "x"})),
    ] {
        assert!(stops(tool, &input), "let through: {tool} {input}");
    }
    for (tool, input) in [
        (
            "mcp__github__create_issue",
            json!({"title": "x", "body": "rm -rf .ahp is stopped"}),
        ),
        (
            "mcp__x__run",
            json!({"description": "rm -rf .ahp would be bad"}),
        ),
        ("mcp__x__run", json!({"script": "cat .ahp/hooks.yaml"})),
        ("mcp__x__run", json!({"script": "cargo test"})),
        (
            "mcp__fs__write_file",
            json!({"path": "a.md", "content": "rm -rf .ahp"}),
        ),
        ("mcp__memory__store", json!({"value": "rm -rf .ahp"})),
    ] {
        assert!(!stops(tool, &input), "stopped: {tool} {input}");
    }
}

#[test]
fn hooks_at_the_head_of_a_subagent_or_a_skill_are_no_words() {
    let world = project();
    let stops = |tool: &str, input: serde_json::Value| {
        let found = judged(&world, "SelfProtection", "{}", tool, input).unwrap();
        found.is_ok_and(|found| !found.is_empty())
    };
    let hooked = "---\nname: x\nhooks:\n  Stop: []\n---\nwords\n";
    let plain = "---\nname: x\ndescription: React hooks: useState\n---\nwords\n";
    for path in [
        ".claude/agents/x.md",
        ".claude/agents/team/x.md",
        ".claude/skills/x/SKILL.md",
        ".claude/commands/x.md",
        ".github/agents/x.agent.md",
    ] {
        let write = |content: &str| json!({"file_path": path, "content": content});
        assert!(stops("Write", write(hooked)), "let through: {path}");
        assert!(!stops("Write", write(plain)), "stopped: {path}");
    }
    let edit =
        |path: &str, new: &str| json!({"file_path": path, "old_string": "a", "new_string": new});
    assert!(stops(
        "Edit",
        edit(".claude/agents/plain.md", "name: x\nhooks:\n  Stop: []")
    ));
    assert!(!stops(
        "Edit",
        edit(".claude/agents/plain.md", "other words")
    ));
    // What carries hooks now is a guard.
    assert!(stops(
        "Edit",
        edit(".claude/agents/guard.md", "other words")
    ));
    assert!(stops(
        "Edit",
        edit(".claude/skills/checked/SKILL.md", "other words")
    ));
    assert!(!stops(
        "Write",
        json!({"file_path": "docs/x.md", "content": hooked})
    ));
}

#[test]
fn a_tool_that_takes_a_folder_away_or_writes_by_sql_is_judged_by_what_lies_there() {
    let world = project();
    let root = world.root();
    let stops = |tool: &str, input: &serde_json::Value| {
        let found = judged(&world, "SelfProtection", "{}", tool, input.clone()).unwrap();
        found.is_ok_and(|found| !found.is_empty())
    };
    for (tool, input) in [
        ("mcp__filesystem__delete_directory", json!({"path": "."})),
        ("mcp__filesystem__delete_directory", json!({"path": root})),
        (
            "mcp__filesystem__delete_directory",
            json!({"path": root.join(".ahp/..")}),
        ),
        ("mcp__filesystem__delete_directory", json!({"path": "~"})),
        (
            "mcp__filesystem__move_file",
            json!({"source": root, "destination": "/tmp/x"}),
        ),
        ("mcp__filesystem__delete_files", json!({"paths": [".*"]})),
        ("mcp__filesystem__delete_files", json!({"pattern": ".a*"})),
        (
            "mcp__filesystem__delete_files",
            json!({"glob": "**/*.yaml"}),
        ),
        (
            "mcp__git__git_commit",
            json!({"message": "x", "args": ["--no-verify"]}),
        ),
        (
            "mcp__duckdb__query",
            json!({"sql": "COPY (select 1) TO '.claude/settings.json'"}),
        ),
        (
            "mcp__sqlite__query",
            json!({"query": "VACUUM INTO '.ahp/hooks.yaml'"}),
        ),
        (
            "mcp__sqlite__query",
            json!({"query": "select writefile('.ahp/hooks.yaml', 'x')"}),
        ),
        (
            "mcp__pg__query",
            json!({"sql": "select lo_export(1, '.ahp/hooks.yaml')"}),
        ),
        (
            "mcp__ci__run",
            json!({"steps": [{"run": "cd .ahp"}, {"run": "rm hooks.yaml"}]}),
        ),
        (
            "EditNotebook",
            json!({"target_notebook": ".ahp/hooks.yaml"}),
        ),
    ] {
        assert!(stops(tool, &input), "let through: {tool} {input}");
    }
    for (tool, input) in [
        ("mcp__filesystem__delete_directory", json!({"path": "src"})),
        (
            "mcp__filesystem__delete_directory",
            json!({"path": "/tmp/x"}),
        ),
        (
            "mcp__filesystem__delete_files",
            json!({"paths": ["src/*.rs"]}),
        ),
        (
            "mcp__filesystem__move_file",
            json!({"source": "src/a.rs", "destination": "src/b.rs"}),
        ),
        ("mcp__filesystem__list_directory", json!({"path": "."})),
        (
            "mcp__memory__delete_entities",
            json!({"names": ["a.b", "x"]}),
        ),
        (
            "mcp__git__git_commit",
            json!({"message": "x", "args": ["--quiet"]}),
        ),
        (
            "mcp__duckdb__query",
            json!({"sql": "select * from 'a.json'"}),
        ),
        ("mcp__duckdb__query", json!({"sql": "COPY t TO 'out.csv'"})),
        (
            "mcp__ci__run",
            json!({"steps": [{"run": "cd src"}, {"run": "rm a.o"}]}),
        ),
    ] {
        assert!(!stops(tool, &input), "stopped: {tool} {input}");
    }
}
