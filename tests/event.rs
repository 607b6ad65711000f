//! Events: the triggers, and tool calls of every host in the one vocabulary.

use std::path::Path;

use ahp::event::{ISSUE_VERBS, ToolCall, ToolKind, ToolView, Trigger};
use serde_json::{Value, json};

fn view(name: &str, input: Value) -> ToolView {
    let call = ToolCall::new(name, input);
    ToolView::of(&call, Path::new("/p"), Path::new("/p"))
}

#[test]
fn one_act_looks_the_same_in_every_host() {
    for (name, input) in [
        ("Write", json!({"file_path": "/p/a.txt", "content": "x\n"})),
        ("WriteFile", json!({"path": "/p/a.txt", "content": "x\n"})),
        ("create", json!({"path": "/p/a.txt", "file_text": "x\n"})),
        ("editor", json!({"path": "a.txt", "new_text": "x\n"})),
        ("write", json!({"filePath": "a.txt", "content": "x\n"})),
        (
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: /p/a.txt\n+x\n*** End Patch\n"}),
        ),
        (
            "apply_patch",
            json!("*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n"),
        ),
        (
            "str_replace_editor",
            json!({"command": "create", "path": "a.txt", "file_text": "x\n"}),
        ),
    ] {
        let view = view(name, input);
        assert_eq!(view.kind, ToolKind::Write, "{name}");
        assert_eq!(view.paths, ["a.txt"], "{name}");
        assert_eq!(view.content.as_deref(), Some("x\n"), "{name}");
    }
}

#[test]
fn whatever_is_given_a_command_line_runs_it() {
    let line = || json!({"command": "rm -r x"});
    for (name, input, kind) in [
        ("execute_bash", line(), ToolKind::Shell),
        ("Monitor", line(), ToolKind::Shell),
        (
            "container.exec",
            json!({"cmd": ["rm", "-r", "x"]}),
            ToolKind::Shell,
        ),
        (
            "send_to_terminal",
            json!({"input": "rm -r x"}),
            ToolKind::Shell,
        ),
        ("mcp__shell__run", line(), ToolKind::Mcp),
    ] {
        let view = view(name, input);
        assert_eq!(view.kind, kind, "{name}");
        assert_eq!(view.command.as_deref(), Some("rm -r x"), "{name}");
    }
    for (name, input) in [
        ("frobnicate", json!({"input": "rm -r x"})),
        ("mcp__notes__add", json!({"text": "rm -r x"})),
        ("TodoWrite", line()),
    ] {
        assert_eq!(view(name, input).command, None, "{name}");
    }
}

#[test]
fn an_mcp_tool_has_a_server() {
    let view = view(
        "use_mcp_tool",
        json!({"server_name": "gh", "tool_name": "get", "arguments": "{}"}),
    );
    assert_eq!(view.kind, ToolKind::Mcp);
    assert_eq!(view.mcp_server.as_deref(), Some("gh"));
    assert_eq!(view.mcp_tool.as_deref(), Some("get"));
}

#[test]
fn a_shell_tool_touches_no_path_of_its_own() {
    let view = view(
        "run_shell_command",
        json!({"command": "rm x", "dir_path": "sub"}),
    );
    assert_eq!(view.command.as_deref(), Some("rm x"));
    assert!(view.paths.is_empty());
}

fn patch(text: &str) -> ToolView {
    view("apply_patch", json!(text))
}

/// Returns how a path that a tool is given in a directory stands in its view.
fn path_in(path: &str, dir: &str, root: &str) -> String {
    let call = ToolCall::new("Write", json!({"path": path}));
    ToolView::of(&call, Path::new(dir), Path::new(root))
        .paths
        .remove(0)
}

#[test]
fn a_command_is_found_in_every_form() {
    let of = |input: Value| view("Bash", input).command.unwrap();
    assert_eq!(of(json!({"command": "ls -l"})), "ls -l");
    assert_eq!(of(json!({"cmd": "ls"})), "ls");
    assert_eq!(
        of(json!(["bash", "-lc", "echo 'a b'"])),
        r"bash -lc 'echo '\''a b'\'''"
    );
    assert_eq!(
        of(json!({"command": ["rm", "-rf", "a b", ""]})),
        "rm -rf 'a b' ''"
    );
    assert_eq!(of(json!({"commands": ["ls", "pwd"]})), "ls\npwd");
    assert_eq!(of(json!({"commands": r#"["ls","pwd"]"#})), "ls\npwd");
    assert_eq!(
        of(json!({"commands": [{"command": "git", "args": ["log", "-1"]}]})),
        "git log -1"
    );
    assert_eq!(of(json!({"command_line": "make"})), "make");
    // Under no known name, each text of it may be the command.
    assert_eq!(of(json!({"path": "x"})), "x");
    assert_eq!(view("Bash", json!({"timeout": 5})).command, None);
}

#[test]
fn every_field_that_says_that_it_holds_a_command_is_judged() {
    for (input, line) in [
        (
            json!({"command": "ls", "program": "git", "args": ["push"]}),
            "ls push\ngit push",
        ),
        (json!({"command": "ls", "cmd": "git push"}), "ls\ngit push"),
        (json!({"command": "ls", "cmd": "ls"}), "ls"),
        (
            json!({"command": "git", "args": [], "arguments": ["push"]}),
            "git push",
        ),
        (
            json!({"command": "git", "args": ["log"], "argv": "push -f"}),
            "git log\ngit push -f",
        ),
        (json!({"program": "git", "args": ["push"]}), "git push"),
        (
            json!({"exe": "git", "program": "gh", "args": ["x"]}),
            "gh x\ngit x",
        ),
        (json!({"shell_command": "git push"}), "git push"),
        (json!({"command": "ls", "input": "what it reads"}), "ls"),
    ] {
        for name in ["Bash", "frobnicate", "mcp__shell__run"] {
            let found = view(name, input.clone()).command;
            assert_eq!(found.as_deref(), Some(line), "{name} {input}");
        }
    }
}

#[test]
fn paths_and_content_are_found_in_lists_of_edits() {
    let input = json!({"edits": [
        {"filePath": "a.rs", "oldString": "x", "newString": "y"},
        {"filePath": "b.rs", "newString": "z"},
    ]});
    assert_eq!(view("MultiEdit", input.clone()).paths, ["a.rs", "b.rs"]);
    assert_eq!(view("MultiEdit", input).content.unwrap(), "y\nz");
    let kimi = json!({"path": "c.py", "edit": {"old": "1", "new": "2"}});
    assert_eq!(view("StrReplaceFile", kimi.clone()).paths, ["c.py"]);
    assert_eq!(view("StrReplaceFile", kimi).content.unwrap(), "2");
    let moved = json!({"from": "a", "to": "b", "source": "no path"});
    assert_eq!(view("Edit", moved).paths, ["a", "b"]);
}

#[test]
fn an_address_is_found_in_a_prompt_too() {
    assert_eq!(
        view("WebFetch", json!({"url": "https://a.b/c"})).urls,
        ["https://a.b/c"]
    );
    assert_eq!(
        view("WebFetch", json!({"urls": ["https://a.b/c", "d"]})).urls,
        ["https://a.b/c", "d"]
    );
    assert_eq!(
        view(
            "WebFetch",
            json!({"prompt": "read (https://a.b/c) and https://d.e please"})
        )
        .urls,
        ["https://a.b/c", "https://d.e"]
    );
}

#[test]
fn output_is_the_words_of_it() {
    let output = |output: Value| {
        let call = {
            let mut call = ToolCall::new("Bash", Value::Null);
            call.output = Some(output);
            call
        };
        ToolView::of(&call, Path::new("/p"), Path::new("/p")).output
    };
    assert_eq!(
        output(json!({"stdout": "a", "stderr": "", "interrupted": false})).unwrap(),
        "a"
    );
    assert_eq!(output(json!([{"query": "q", "result": "r"}])).unwrap(), "r");
    assert_eq!(
        output(json!({"resultType": "success", "textResultForLlm": "t"})).unwrap(),
        "t"
    );
}

#[test]
fn paths_are_relative_to_the_project_where_they_lie_in_it() {
    let written = |path| path_in(path, "/p/sub", "/p");
    assert_eq!(written("a.rs"), "sub/a.rs");
    assert_eq!(written("../a.rs"), "a.rs");
    assert_eq!(written("/p/./x/../a.rs"), "a.rs");
    assert_eq!(written("/p"), ".");
    assert_eq!(written("/etc/passwd"), "/etc/passwd");
    assert_eq!(written("../../etc/passwd"), "/etc/passwd");
    assert_eq!(written("file:///p/a.rs"), "a.rs");
    assert_eq!(written("~/.ssh/id"), "~/.ssh/id");
    assert_eq!(written("C:\\x\\a.rs"), "C:/x/a.rs");
}

#[test]
fn windows_paths_are_relative_too() {
    assert_eq!(path_in("C:\\p\\src\\a.rs", "C:\\p", "C:\\p"), "src/a.rs");
}

#[test]
fn every_spelling_is_read() {
    let read = |name| {
        let view = view(name, json!({}));
        view.mcp_tool.map(|tool| (view.mcp_server, tool))
    };
    let some =
        |server: Option<&str>, tool: &str| Some((server.map(str::to_owned), tool.to_owned()));
    assert_eq!(
        read("mcp__github__get_issue"),
        some(Some("github"), "get_issue")
    );
    assert_eq!(
        read("mcp__plugin_a_b__run"),
        some(Some("plugin_a_b"), "run")
    );
    assert_eq!(
        read("mcp_github_get_issue"),
        some(Some("github"), "get_issue")
    );
    assert_eq!(read("MCP:get_issue"), some(None, "get_issue"));
    assert_eq!(read("mcp__github"), None);
    assert_eq!(read("Bash"), None);
}

#[test]
fn a_patch_names_every_file_and_what_it_adds() {
    let patch = patch(
        "*** Begin Patch\n*** Add File: /p/new.txt\n+line one\n+line two\n*** Update File: old.rs\n\
         *** Move to: moved.rs\n@@\n-gone\n+come\n*** Delete File: dead.rs\n*** End Patch\n",
    );
    assert_eq!(patch.paths, ["new.txt", "old.rs", "moved.rs", "dead.rs"]);
    assert_eq!(patch.content.unwrap(), "line one\nline two\ncome\n");
    assert_eq!(patch.kind, ToolKind::Edit);
}

#[test]
fn what_stands_beside_a_patch_is_written_too() {
    let patch = |path: &str| {
        format!("*** Begin Patch\n*** Update File: {path}\n+patched {path}\n*** End Patch")
    };
    let (one, two) = (patch("a.txt"), patch("b.txt"));
    let both = ["a.txt", "b.txt"];
    for (input, paths, written) in [
        (
            json!({"patch": one, "file_path": "b.txt", "content": "plain"}),
            &both[..],
            &["patched a.txt", "plain"][..],
        ),
        (
            json!({"patch": one, "path": "/p/a.txt", "new_string": "plain"}),
            &both[..1],
            &["patched a.txt", "plain"],
        ),
        (
            json!({"patch": one, "diff": two}),
            &both,
            &["patched a.txt", "patched b.txt"],
        ),
        (
            json!({"command": "apply", "patch": one}),
            &both[..1],
            &["patched a.txt"],
        ),
    ] {
        for name in ["apply_patch", "mcp__files__apply_patch"] {
            let view = view(name, input.clone());
            assert_eq!(view.paths, paths, "{name} {input}");
            let content = view.content.unwrap();
            let lines: Vec<&str> = content.lines().filter(|line| !line.is_empty()).collect();
            assert_eq!(lines, written, "{name} {input}");
        }
    }
}

#[test]
fn a_patch_of_one_sort_is_of_that_kind() {
    let kind = |text| patch(text).kind;
    assert_eq!(kind("*** Add File: a\n+x\n"), ToolKind::Write);
    assert_eq!(kind("*** Delete File: a\n"), ToolKind::Delete);
    assert_eq!(kind("--- a/x.rs\n+++ b/x.rs\n@@\n+y\n"), ToolKind::Edit);
    assert!(patch("no patch at all").paths.is_empty());
}

#[test]
fn every_name_and_alias_finds_its_own_trigger() {
    for &trigger in Trigger::ALL {
        assert_eq!(Trigger::find(trigger.name()), Some(trigger));
        for alias in trigger.aliases() {
            assert_eq!(Trigger::find(alias), Some(trigger), "{alias}");
        }
    }
}

#[test]
fn a_misspelt_trigger_is_answered_with_the_nearest() {
    let error = "pre-tool-usee".parse::<Trigger>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown trigger `pre-tool-usee`; did you mean `pre-tool-use`?"
    );
}

#[test]
fn an_issue_verb_names_both_sides() {
    for verb in ISSUE_VERBS {
        assert!(Trigger::of_issue_verb(verb, true).is_some_and(Trigger::is_pre));
        assert!(Trigger::of_issue_verb(verb, false).is_some_and(|t| !t.is_pre()));
    }
    assert_eq!(Trigger::of_issue_verb("list", true), None);
}
