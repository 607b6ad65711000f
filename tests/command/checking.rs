//! What is wrong in a configuration is told with its place, ends with exit code 1, and blocks what has not happened.

use std::fs;

use crate::world::World;

/// A configuration that is wrong, with what the fault must say.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "oracle",
        "hooks: {pre-tool-use: [{oracle: PermisionChecker}]}",
        "did you mean `permission-checker`?",
    ),
    (
        "trigger",
        "hooks: {pre-tool-usee: []}",
        "did you mean `pre-tool-use`?",
    ),
    (
        "fact",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.comand: ls}}]}",
        "did you mean `tool.command`?",
    ),
    (
        "key",
        "hooks: {pre-tool-use: [{orcale: PermissionChecker}]}",
        "did you mean `oracle`?",
    ),
    (
        "config key",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {presets: git}}]}",
        "did you mean `preset`?",
    ),
    (
        "operator",
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, when: {files.changed_count: '> many'}}]}",
        "`many` is not",
    ),
    (
        "nothing to meet",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {any: []}}]}",
        "`any` of nothing is never met",
    ),
    (
        "nothing to miss",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {not: {}}}]}",
        "`not` of nothing is never met",
    ),
    (
        "tool that is a number",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool: 5}}]}",
        "never equals",
    ),
    (
        "tools in one text",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool: 'Bash|Write'}}]}",
        "`tool: [Bash, Write]`",
    ),
    (
        "kind",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.kind: shel}}]}",
        "did you mean `shell`?",
    ),
    (
        "trigger in a condition",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {trigger: pre-tol-use}}]}",
        "did you mean `pre-tool-use`?",
    ),
    (
        "glob class",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.paths: 'glob:src/[a'}}]}",
        "its `[` is not closed",
    ),
    (
        "glob choice",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.paths: 'glob:{a,b'}}]}",
        "its `{` is not closed",
    ),
    (
        "pattern in a list",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool: ['~ ^Ba']}}]}",
        "means nothing in a list",
    ),
    (
        "glob in a list",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.paths: ['glob:src/**']}}]}",
        "means nothing in a list",
    ),
    (
        "star of a tool",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool: 'mcp__*'}}]}",
        "\"glob:mcp__*\"",
    ),
    (
        "star of a path",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.paths: 'src/**'}}]}",
        "\"glob:src/**\"",
    ),
    (
        "stage of an issue",
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, when: {issue.stage: revew}}]}",
        "did you mean `review`?",
    ),
    (
        "status of an issue, in a case",
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, intensity: {by: issue.status, opne: block, default: prompt}}]}",
        "did you mean `open`?",
    ),
    (
        "kind of a tool, in a value by cases",
        "hooks: {pre-tool-use: [{oracle: FileChangeLimiter, config: {max_files: {by: tool.kind, shel: 1, default: 2}}}]}",
        "did you mean `shell`?",
    ),
    (
        "severity",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: {by: severty, high: block}}]}",
        "did you mean `severity`?",
    ),
    (
        "glob of a path",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {protected_paths: ['[a']}}]}",
        "its `[` is not closed",
    ),
    (
        "glob of a test",
        "hooks: {pre-issue-submit: [{oracle: CompletionVerifier, config: {test_globs: 'a/{b'}}]}",
        "its `{` is not closed",
    ),
    (
        "glob of what is allowed",
        "hooks: {pre-tool-use: [{oracle: SecurityScanner, config: {allow: {paths: ['a[']}}}]}",
        "its `[` is not closed",
    ),
    (
        "glob of settings",
        "settings: {provenance: {untrusted_paths: ['a[']}}",
        "its `[` is not closed",
    ),
    (
        "file of hooks",
        "hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: nope.json}}]}",
        "there is no hook file `nope.json`",
    ),
    (
        "file of rules",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {rules: [nope.rules]}}]}",
        "there is no file",
    ),
    ("duration", "settings: {timeout: soon}", "bad-duration"),
    (
        "regex",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {tool.command: '~ ('}}]}",
        "bad-regex",
    ),
    (
        "duplicate id",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker}, {oracle: PermissionChecker}]}",
        "duplicate-id",
    ),
    ("yaml", "hooks: [", "syntax"),
    ("duplicate key", "hooks: {}\nhooks: {}\n", "duplicate-key"),
    (
        "expression",
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {expr: 'tool.command =='}}]}",
        "bad-expression",
    ),
    (
        "bomb",
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n",
        "limit",
    ),
];

#[test]
fn every_kind_of_fault_is_located_and_blocks() {
    for (kind, policy, says) in WRONG {
        let world = World::new(policy);
        let checked = world.ahp(&["check"]);
        assert_eq!(checked.code, 1, "{kind}: {}", checked.stdout);
        assert!(
            checked.stdout.contains("--> .ahp/hooks.yaml:"),
            "{kind}: {}",
            checked.stdout
        );
        assert!(checked.stdout.contains(says), "{kind}: {}", checked.stdout);
        // A layer that fails stops what it binds.
        let before = if policy.contains("pre-issue-submit") {
            world.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-1"])
        } else {
            world.ahp(&["run", "pre-tool-use", "--tool", "Bash"])
        };
        assert_eq!(before.code, 2, "{kind}: {}{}", before.stdout, before.stderr);
        let after = world.ahp(&["run", "post-tool-use", "--tool", "Bash"]);
        assert_eq!(after.code, 0, "{kind}: {}{}", after.stdout, after.stderr);
        assert!(
            after.stdout.contains("config-error"),
            "{kind}: {}",
            after.stdout
        );
    }
}

#[test]
fn files_that_are_no_configuration_are_told_and_block() {
    let large = format!("# {}\n", "x".repeat(10 << 20));
    let contents: &[(&str, &[u8])] = &[
        ("not-utf8", b"hooks: \xff\xfe"),
        ("too-large", large.as_bytes()),
    ];
    for (code, content) in contents {
        let world = World::new("");
        world.write(".ahp/hooks.yaml", content);
        let checked = world.ahp(&["check"]);
        assert_eq!(checked.code, 1);
        assert!(checked.stdout.contains(code), "{}", checked.stdout);
        assert_eq!(world.ahp(&["run", "pre-session"]).code, 2);
    }
    let world = World::new("");
    fs::create_dir(world.path(".ahp/hooks.yaml")).unwrap();
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 1, "{}", checked.stdout);
    assert!(checked.stdout.contains("unreadable"), "{}", checked.stdout);
    assert_eq!(world.ahp(&["run", "pre-session"]).code, 2);
}

#[test]
fn a_file_that_is_named_almost_like_a_layer_is_warned_of() {
    let world = World::new("extends: [ahp:standard]\n");
    for (file, meant) in [
        ("hooks.yml", "hooks.yaml"),
        ("hook.yaml", "hooks.yaml"),
        ("hooks.local.yml", "hooks.local.yaml"),
    ] {
        let file = format!(".ahp/{file}");
        assert!(!world.ahp(&["check"]).stdout.contains(&file), "{file}");
        world.write(&file, "hooks: {}\n");
        let said = format!("`{file}` is not read");
        for command in ["check", "doctor"] {
            let told = world.ahp(&[command]).stdout;
            assert!(told.contains(&said), "{command} {file}: {told}");
        }
        let told = world.ahp(&["check"]).stdout;
        assert!(told.contains(&format!("rename it to `{meant}`")), "{told}");
        fs::remove_file(world.path(&file)).unwrap();
    }
}

#[test]
fn a_trigger_that_is_misspelt_hides_no_fault_of_its_bindings() {
    let world = World::new("hooks: {pre-tool-us: [{oracle: PermissionChecker, nosuch: 1}]}\n");
    let told = world.ahp(&["check"]).stdout;
    assert!(
        told.contains("pre-tool-use") && told.contains("nosuch"),
        "{told}"
    );
    let world = World::new("extends: [standard]\n");
    let told = world.ahp(&["check"]).stdout;
    assert!(told.contains("did you mean `ahp:standard`?"), "{told}");
}

#[test]
fn one_settings_file_that_cannot_be_read_ends_no_doctor() {
    let world = World::new("extends: [ahp:standard]\n");
    world.write(".claude/settings.json", "{bad");
    let told = world.ahp(&["doctor"]);
    assert_eq!(told.code, 1, "{}{}", told.stdout, told.stderr);
    for said in [
        "1 problem",
        "claude-code: ",
        "is not JSON",
        "trust    not trusted, and nothing in force needs it",
    ] {
        assert!(told.stdout.contains(said), "{said}: {}", told.stdout);
    }
    assert!(!told.stdout.contains("was not changed"), "{}", told.stdout);
    fs::remove_file(world.path(".claude/settings.json")).unwrap();
    fs::create_dir(world.path(".claude/settings.json")).unwrap();
    let told = world.ahp(&["doctor"]);
    assert!(
        told.stdout.contains("1 problem"),
        "{}{}",
        told.stdout,
        told.stderr
    );
}

#[test]
fn an_editor_is_started_only_where_somebody_can_use_it() {
    let world = World::new("extends: [ahp:standard]\n");
    let told = world.ahp(&["edit", "pre-tool-use", "--add", "test-gate"]);
    assert_eq!(told.code, 1, "{}", told.stdout);
    assert!(told.stderr.contains("no terminal"), "{}", told.stderr);
    assert_eq!(world.read(".ahp/hooks.yaml"), "extends: [ahp:standard]\n");
}

#[test]
fn all_faults_of_all_layers_are_told_in_one_run() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: Nonsense}], pre-nothing: []}");
    world.write(
        ".ahp/hooks.local.yaml",
        "settings: {on_error: perhaps}\nhoks: {}\n",
    );
    let checked = world.ahp(&["check", "--format", "json"]);
    let lines = checked.json();
    let codes: Vec<_> = lines.iter().filter_map(|l| l["code"].as_str()).collect();
    for code in ["unknown-trigger", "bad-value", "unknown-key"] {
        assert!(codes.contains(&code), "{code} is missing in {codes:?}");
    }
    assert!(lines.iter().any(|l| l["file"] == ".ahp/hooks.local.yaml"));
}

#[test]
fn a_broken_policy_may_be_let_pass_by_an_environment_variable() {
    let world = World::new("hooks: [");
    let mut command = world.ahp_command();
    command
        .env("AHP_ON_CONFIG_ERROR", "allow")
        .args(["run", "pre-session"]);
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn no_configuration_accepts_silently_and_leaves_no_trace() {
    let world = World::new("");
    fs::remove_dir(world.path(".ahp")).unwrap();
    let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--format", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.json()[0]["decision"], "none");
    assert!(!world.path(".ahp").exists());
    assert!(!world.home().join(".ahp").exists());
}

#[test]
fn init_writes_a_policy_that_is_sound_and_never_overwrites_one() {
    let world = World::new("");
    let made = world.ahp(&["init", "--pack", "safe-shell", "--pack", "secrets"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let checked = world.ahp(&["check", "--deny-warnings"]);
    assert_eq!(checked.code, 0, "{}", checked.stdout);
    assert!(world.read(".gitignore").contains(".ahp/hooks.local.yaml"));
    let again = world.ahp(&["init"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("already there"), "{}", again.stderr);
    let unknown = world.ahp(&["init", "--pack", "safe-shel"]);
    assert!(
        unknown.stderr.contains("did you mean `safe-shell`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn the_first_policy_is_the_one_that_the_readme_shows_and_it_stops() {
    let world = World::new("");
    fs::remove_dir_all(world.path(".ahp")).unwrap_or_default();
    let without = world.ahp(&[
        "run",
        "pre-tool-use",
        "--tool",
        "Bash",
        "--input",
        "{\"command\": \"ls\"}",
    ]);
    assert!(
        without.stderr.contains("no policy is in force"),
        "{}",
        without.stderr
    );
    let made = world.ahp(&["init"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    for word in ["stops:", "asks:", "warns:", "next:"] {
        assert_eq!(made.stdout.matches(word).count(), 1, "{}", made.stdout);
    }
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let policy = world.read(".ahp/hooks.yaml");
    assert!(
        readme.contains(&format!("```yaml\n{policy}```")),
        "{policy}"
    );
    for (command, code) in [("find / -delete", 2), ("git status", 0)] {
        let input = serde_json::json!({"command": command}).to_string();
        let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--input", &input]);
        assert_eq!(ran.code, code, "{command}: {}", ran.stdout);
        assert!(!ran.stderr.contains("no policy"), "{}", ran.stderr);
    }
}

#[test]
fn init_adds_a_pack_to_the_policy_that_is_there() {
    for before in [
        "extends: [ahp:secrets]  # ours\nhooks: {}\n",
        "extends:\n- ahp:secrets\nhooks: {}\n",
        "extends:\n    - ahp:secrets # ours\n\nhooks: {}\n",
        "# Ours.\nhooks: {}\n",
    ] {
        let world = World::new(before);
        let added = world.ahp(&["init", "--pack", "safe-shell", "--pack", "quality-gate"]);
        assert_eq!(added.code, 0, "{before}{}", added.stderr);
        let after = world.read(".ahp/hooks.yaml");
        for pack in ["ahp:safe-shell", "ahp:quality-gate"] {
            assert_eq!(after.matches(pack).count(), 1, "{after}");
        }
        assert_eq!(world.ahp(&["check"]).code, 0, "{after}");
        world.ahp(&["init", "--pack", "safe-shell"]);
        assert_eq!(world.read(".ahp/hooks.yaml"), after);
    }
    let world = World::new("extends: ahp:secrets\nhooks: {}\n");
    assert_eq!(world.ahp(&["init", "--pack", "safe-shell"]).code, 1);
    let listed = world.ahp(&["init", "--list"]).stdout;
    assert_eq!(listed.lines().count(), ahp::config::PACKS.len(), "{listed}");
}

#[test]
fn a_pack_that_weakens_the_policy_says_so() {
    let world = World::new("extends: [ahp:standard]\n");
    let told = world.ahp(&["init", "--pack", "audit"]).stdout;
    assert!(
        told.contains("weaker than before, or not known to be as strict: ")
            && told.contains("safe-shell"),
        "{told}"
    );
    let world = World::new("extends: [ahp:standard]\n");
    let told = world.ahp(&["init", "--pack", "session"]).stdout;
    assert!(!told.contains("weaker"), "{told}");
}

#[test]
fn doctor_fails_where_the_policy_stops_nothing() {
    for (policy, stops) in [
        ("hooks: {}\n", false),
        (
            "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: prompt}]}\n",
            false,
        ),
        (
            "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: ask}]}\n",
            true,
        ),
        ("extends: [ahp:standard]\n", true),
    ] {
        let told = World::new(policy).ahp(&["doctor"]).stdout;
        assert_eq!(!told.contains("stops nothing"), stops, "{policy}{told}");
    }
}

#[test]
fn nothing_is_begun_in_a_folder_that_is_not_there() {
    let world = World::new("");
    let refused = world.ahp(&["init", "mistyped/x"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("is not a directory"),
        "{}",
        refused.stderr
    );
    assert!(!world.path("mistyped").exists());
}

/// Every host is answered before it cuts the hook off.
#[test]
fn a_timeout_that_no_host_waits_for_is_told() {
    let policy = |timeout: &str| {
        format!("hooks: {{pre-tool-use: [{{oracle: PermissionChecker, timeout: {timeout}}}]}}\n")
    };
    let world = World::new(&policy("10m"));
    world.ahp(&["install", "claude-code"]);
    let told = "`permission-checker` may take 600 s, and Claude Code is answered after 540 s";
    for (timeout, is_told) in [("10m", true), ("9m", false), ("5m", false), ("60s", false)] {
        world.write(".ahp/hooks.yaml", policy(timeout));
        let checked = world.ahp(&["check"]).stdout;
        assert_eq!(checked.contains(told), is_told, "{timeout}: {checked}");
        assert_eq!(
            checked.contains("bad-duration"),
            is_told,
            "{timeout}: {checked}"
        );
    }
}

/// One run tells them all, whatever is found at which step of reading.
#[test]
fn no_fault_hides_another() {
    let world = World::new(
        "settings: {log: {redact: ['(a']}}
hooks:
  pre-issue-submit:
  - {oracle: ChecklistValidator, when: {issue.title: '~ (b'}, priority: high}
  - {oracle: Noppe}
  pre-tool-use:
  - oracle: PermissionChecker
    config: {dangerous: [a], presett: b, require_confirmation: 3}
    escalate: {steps: [blok]}
    intensity: {by: severty, high: block}
",
    );
    let checked = world.ahp(&["check"]).stdout;
    for told in [
        "`(a`: unclosed group",
        "`(b` is not a regular expression",
        "found the text `high`",
        "no oracle is called `Noppe`",
        "unknown key `dangerous`",
        "unknown key `presett`",
        "expected `true` or `false`, found `3`",
        "unknown value `blok`",
        "no event has a fact `severty`",
    ] {
        assert_eq!(checked.matches(told).count(), 1, "{told}: {checked}");
    }
}

/// The scripts of a layer that is faulty are looked for where they lie.
#[test]
fn what_a_faulty_layer_names_is_not_missed() {
    let world = World::new(
        "settings: {oracles: [elsewhere], timeout: soon}\nhooks: {pre-tool-use: [{oracle: mine}]}\n",
    );
    world.write("elsewhere/mine.rhai", "fn evaluate(ctx) { accept() }");
    let checked = world.ahp(&["check"]).stdout;
    assert!(checked.contains("bad-duration"), "{checked}");
    assert!(!checked.contains("unknown-oracle"), "{checked}");
}

#[test]
fn an_id_that_several_issues_have_is_warned_of_and_blocks() {
    let world = World::new("hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n");
    world.write("Issues/a/FEAT-1.md", "---\nid: FEAT-1\n---\n- [x] a\n");
    let submit = ["run", "pre-issue-submit", "--issue", "FEAT-1"];
    assert_eq!(world.ahp(&submit).code, 0);
    assert_eq!(world.ahp(&["check", "--deny-warnings"]).code, 0);
    world.write("Issues/b/FEAT-1.md", "---\nid: FEAT-1\n---\n- [ ] a\n");
    let both =
        |text: &str| text.contains("Issues/a/FEAT-1.md") && text.contains("Issues/b/FEAT-1.md");
    let blocked = world.ahp(&submit);
    assert_eq!(blocked.code, 2, "{}", blocked.stdout);
    assert!(both(&blocked.stdout), "{}", blocked.stdout);
    let checked = world.ahp(&["check", "--deny-warnings"]);
    assert_eq!(checked.code, 1, "{}", checked.stdout);
    assert!(
        checked.stdout.contains("shared-id") && both(&checked.stdout),
        "{}",
        checked.stdout
    );
}

/// An oracle that judges an issue has not judged where nobody says which one.
#[test]
fn an_event_of_no_issue_is_not_passed() {
    let script = "fn evaluate(ctx) { if ctx.issue.stage == \"draft\" { block(\"no\", [\"wait\"]) } else { accept() } }";
    for (trigger, oracle, code) in [
        ("pre-issue-submit", "ChecklistValidator", 2),
        ("pre-issue-submit", "CompletionVerifier", 2),
        ("pre-issue-submit", "DependencyChecker", 2),
        ("pre-issue-close", "stage", 2),
        // What is about to be made is not there yet.
        ("pre-issue-create", "ChecklistValidator", 0),
        ("pre-agent-turn-stop", "ChecklistValidator", 0),
        ("pre-issue-submit", "FileChangeLimiter", 0),
    ] {
        let world = World::new(&format!("hooks: {{{trigger}: [{{oracle: {oracle}}}]}}\n"));
        world.write(".ahp/oracles/stage.rhai", script);
        world.write("a.txt", "a");
        world.git_init();
        world.commit("first");
        world.ahp(&["trust", "-y"]);
        let ran = world.ahp(&["run", trigger]);
        assert_eq!(ran.code, code, "{trigger} {oracle}: {}", ran.stdout);
        if code == 2 {
            assert!(
                ran.stdout.contains("which issue is meant"),
                "{}",
                ran.stdout
            );
        }
    }
}

#[test]
fn only_an_oracle_that_there_is_is_added() {
    let world = World::new("hooks:\n  pre-tool-use:\n    - oracle: PermissionChecker\n");
    let before = world.read(".ahp/hooks.yaml");
    for (name, meant) in [
        ("Nope", "`ahp oracle list`"),
        ("TestGat", "did you mean `test-gate`?"),
    ] {
        let refused = world.ahp(&["edit", "pre-issue-submit", "--add", name, "--print"]);
        assert_eq!(refused.code, 1, "{}", refused.stdout);
        assert!(refused.stderr.contains(meant), "{}", refused.stderr);
        assert_eq!(world.read(".ahp/hooks.yaml"), before);
    }
    let added = world.ahp(&["edit", "pre-issue-submit", "--add", "TestGate", "--print"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    assert!(world.read(".ahp/hooks.yaml").contains("oracle: TestGate"));
}

#[test]
fn init_takes_every_pack_and_names_the_schema_that_editors_read() {
    for pack in ahp::config::PACKS {
        let world = World::new("");
        let made = world.ahp(&["init", "--pack", pack.name]);
        assert_eq!(made.code, 0, "{}: {}", pack.name, made.stderr);
        world.ahp(&["trust", "-y"]);
        let checked = world.ahp(&["check", "--deny-warnings"]);
        assert_eq!(checked.code, 0, "{}: {}", pack.name, checked.stdout);
        let policy = world.read(".ahp/hooks.yaml");
        let first = policy.lines().next().unwrap();
        let named = first
            .strip_prefix("# yaml-language-server: $schema=")
            .unwrap();
        let schema = world.read(&format!(".ahp/{named}"));
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        let validator = jsonschema::draft7::new(&schema).unwrap();
        let value: serde_json::Value = serde_yaml::from_str(&policy).unwrap();
        assert!(validator.is_valid(&value), "{}: {policy}", pack.name);
        assert!(
            world
                .read(".gitignore")
                .contains(&format!(".ahp/{named}\n"))
        );
    }
}

#[test]
fn the_schema_knows_the_scripts_of_the_project() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: mine, config: {words: [a]}}]}\n");
    world.write(
        ".ahp/oracles/mine.rhai",
        "const DEFAULTS = #{words: [\"TODO\"]};\nfn evaluate(ctx) { accept() }\n",
    );
    let schema = &world.ahp(&["schema"]).stdout;
    let validator = jsonschema::draft7::new(&serde_json::from_str(schema).unwrap()).unwrap();
    let mine = |config: serde_json::Value| {
        validator.is_valid(&serde_json::json!({
            "hooks": {"pre-tool-use": [{"oracle": "mine", "config": config}]}
        }))
    };
    assert!(mine(serde_json::json!({"words": ["a"]})));
    assert!(!mine(serde_json::json!({"words": 1})));
    assert!(!mine(serde_json::json!({"wrds": ["a"]})));
}

#[test]
fn a_script_of_the_project_never_stands_in_for_one_that_the_user_means() {
    let user = "hooks: {pre-tool-use: [{oracle: branch-guard, locked: true}]}\n";
    let push = ["run", "pre-tool-use", "--tool", "Bash", "--input"];
    let push = [&push[..], &[r#"{"command": "git push origin main"}"#]].concat();
    let world = World::new("settings: {oracles: [.ahp/oracles]}\n");
    world.git_init();
    world.write("../home/.ahp/hooks.yaml", user);
    world.write(
        ".ahp/oracles/branch-guard.rhai",
        "fn evaluate(ctx) { accept() }\n",
    );
    assert_eq!(world.ahp(&push).code, 2);
    // The project's own bindings mean the project's own script.
    world.write("../home/.ahp/hooks.yaml", "");
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {pre-tool-use: [{oracle: branch-guard}]}\n",
    );
    let ran = world.ahp(&push);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

/// A later layer that would weaken what an organisation insists on: each is an error that names both places.
#[test]
fn nothing_of_the_enterprise_pack_can_be_weakened() {
    let mut attempts = vec![];
    for setting in [
        "on_error: allow",
        "on_block: continue",
        "bypass: allow",
        "max_stop_blocks: 1",
        "self_protection: false",
        "log: {events: none}",
        "log: {required: false}",
        "log: {path: elsewhere.jsonl}",
        "log: {max_size: 4KiB}",
        "log: {keep: 1}",
    ] {
        attempts.push(format!("settings: {{{setting}}}\n"));
    }
    for (trigger, id) in [
        ("pre-tool-use", "enterprise-shell"),
        ("pre-tool-use", "enterprise-secrets"),
        ("post-tool-use", "enterprise-changes"),
        ("pre-issue-submit", "enterprise-checklist"),
        ("pre-issue-submit", "enterprise-scan"),
        ("pre-issue-submit", "enterprise-tests"),
        ("pre-issue-close", "enterprise-completion"),
    ] {
        for change in [
            "enabled: false",
            "intensity: aid",
            "override: true",
            "on_error: allow",
            "async: true",
            "timeout: 1ms",
            "when: {environment: never}",
            "config: {preset: none}",
            "locked: false",
            "priority: 100",
            "oracle: ContextLoader",
        ] {
            attempts.push(format!("hooks: {{{trigger}: [{{id: {id}, {change}}}]}}\n"));
        }
    }
    let world = World::new("");
    world.write("../home/.ahp/hooks.yaml", "extends: [ahp:enterprise]\n");
    assert_eq!(world.ahp(&["check", "--deny-warnings"]).code, 0);
    for attempt in attempts {
        world.write(".ahp/hooks.yaml", &attempt);
        let checked = world.ahp(&["check"]);
        assert_eq!(checked.code, 1, "{attempt}: {}", checked.stdout);
        assert!(
            checked.stdout.contains("error[locked]"),
            "{attempt}: {}",
            checked.stdout
        );
        let both = checked.stdout.contains(".ahp/hooks.yaml:1:");
        assert!(both, "{attempt}: {}", checked.stdout);
    }
}

/// What is told of a policy under hosts that are wired: each place with its code, message and a part of the help.
#[test]
fn what_a_wired_host_cannot_carry_is_told_with_the_way_out() {
    let policy = "\
hooks:
  pre-tool-use:
    - oracle: changer
    - {oracle: changer, id: elsewhere, priority: 1, when: {host: codex}}
    - {oracle: changer, id: weakened, priority: 2, intensity: prompt, when: {host: qwen-code}}
  pre-session:
    - oracle: stopper
  post-issue-submit:
    - oracle: adviser
  pre-context-compact:
    - {oracle: adviser, when: {host: \"!= codex\"}}
  post-agent-turn:
    - oracle: adviser
";
    let world = World::new(policy);
    world.write(
        ".ahp/oracles/changer.rhai",
        "fn evaluate(ctx) { control([modify(\"command\", \"a\", \"b\", \"c\")]) }\n",
    );
    world.write(
        ".ahp/oracles/stopper.rhai",
        "fn evaluate(ctx) { block(\"no\") }\n",
    );
    world.write(
        ".ahp/oracles/adviser.rhai",
        "fn evaluate(ctx) { aid(\"a tip\") }\n",
    );
    let told = |world: &World| -> Vec<(u64, String, String)> {
        let checked = world.ahp(&["check", "--format", "json"]);
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
        let faults = checked.json();
        let faults = faults.iter().filter(|fault| fault.get("code").is_some());
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        faults
            .map(|fault| {
                let line = fault["line"].as_u64().unwrap_or(0);
                (line, text(&fault["message"]), fault["help"].to_string())
            })
            .collect()
    };
    assert_eq!(told(&world), [], "no host is wired");
    let installed = world.ahp(&["install", "qwen-code", "--project"]);
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    let expected = [
        (
            3,
            "`changer` can give a control, which Qwen Code cannot carry at `pre-tool-use`",
            "the call is refused",
        ),
        (
            7,
            "`stopper` can give a block, which Qwen Code cannot carry at `pre-session`",
            "bind it to `pre-agent-turn` or `pre-tool-use`",
        ),
    ];
    let found = told(&world);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (line, message, help) in expected {
        let is_meant = |f: &&(u64, String, String)| f.0 == line && f.1 == message;
        let fault = found.iter().find(is_meant);
        let fault = fault.unwrap_or_else(|| panic!("{message}: {found:#?}"));
        assert!(fault.2.contains(help), "{fault:?}");
    }
    // The end of a turn is told by a stop that nobody holds up; other hosts have no such event at all.
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {post-context-compact: [{oracle: adviser}]}\n",
    );
    world.ahp(&["uninstall", "qwen-code"]);
    let installed = world.ahp(&["install", "cursor", "--project"]);
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    let found = told(&world);
    let message = "`adviser` never fires here: Cursor does not tell of `post-context-compact`";
    let fault = found.iter().find(|fault| fault.1 == message);
    let fault = fault.unwrap_or_else(|| panic!("{message}: {found:#?}"));
    assert!(fault.2.contains("bind it to what is told: "), "{found:#?}");
}

#[test]
fn no_pack_is_warned_of_under_any_host_of_claudes_form() {
    for pack in ahp::config::PACKS {
        let world = World::new(&format!("extends: [ahp:{}]\n", pack.name));
        world.git_init();
        let installed = world.ahp(&["install", "claude-code", "--project"]);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        world.ahp(&["trust", "-y"]);
        let checked = world.ahp(&["check", "--deny-warnings"]);
        assert_eq!(checked.code, 0, "{}: {}", pack.name, checked.stdout);
    }
}

#[test]
fn a_key_that_does_nothing_alone_is_told() {
    for (oracle, idle, works) in [
        (
            "ChecklistValidator",
            "min_completion_rate: 0.5",
            "{min_completion_rate: 0.5, allow_partial: true}",
        ),
        (
            "ChecklistValidator",
            "allow_partial: true",
            "{allow_partial: false, min_completion_rate: 1.0}",
        ),
        (
            "CompletionVerifier",
            "test_globs: [t/**]",
            "{test_globs: [t/**], require_tests: true}",
        ),
        (
            "CompletionVerifier",
            "doc_globs: [d/**]",
            "{doc_globs: [d/**], require_docs: true}",
        ),
        (
            "FileChangeLimiter",
            "{control_action: split_batch, action: block}",
            "{control_action: split_batch}",
        ),
    ] {
        let check = |config: &str| {
            let config = if config.starts_with('{') {
                config.to_owned()
            } else {
                format!("{{{config}}}")
            };
            let policy =
                format!("hooks: {{pre-issue-submit: [{{oracle: {oracle}, config: {config}}}]}}");
            let ran = World::new(&policy).ahp(&["check"]);
            assert_eq!(ran.code, 0, "{ran:?}");
            format!("{}{}", ran.stdout, ran.stderr)
        };
        let key = idle.trim_start_matches('{').split(':').next().unwrap();
        let told = check(idle);
        assert!(
            told.contains(&format!("`{key}` does nothing here")),
            "{idle}: {told}"
        );
        let told = check(works);
        assert!(!told.contains("does nothing"), "{works}: {told}");
    }
}

#[test]
fn a_script_that_names_what_is_not_there_fails_the_check_wherever_it_stands() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: mine}]}");
    for (body, told) in [
        (
            "fn evaluate(ctx) { if false { blokc(\"no\", []) } }",
            ":1:31` cannot run: there is no function `blokc`; did you mean `block`?",
        ),
        (
            "fn evaluate(ctx) { if false { [1].lenght() } }",
            "there is no function `lenght`",
        ),
        (
            "fn evaluate(ctx) { if false { count } accept() }",
            ":1:31` cannot run: there is no variable `count`",
        ),
        (
            "const MOST = 3; fn evaluate(ctx) { if false { MOST } accept() }",
            "functions do not see constants: hand `MOST` on as a parameter",
        ),
    ] {
        world.write(".ahp/oracles/mine.rhai", body);
        let checked = world.ahp(&["check"]);
        assert_eq!(checked.code, 1, "{body}: {checked:?}");
        assert!(
            checked.stdout.contains(told) || checked.stderr.contains(told),
            "{body}: {checked:?}"
        );
    }
    // Functions of one's own, those in variables, parameters and maps, and those of the language.
    let fine = "fn twice(x) { x * 2 }
        fn evaluate(ctx) {
            let add = |x| x + 1;
            let map = #{same: |x| x};
            let n = twice(add.call(1)) + map.same(1) + [1, 2].filter(|x| x > 1).len();
            if n > 3 { aid(`${n}`) } else { accept() }
        }";
    world.write(".ahp/oracles/mine.rhai", fine);
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn of_many_faults_that_say_the_same_the_first_are_shown_and_all_are_counted() {
    let binding = |n| format!("    - {{oracle: Nope, id: n{n}}}\n");
    let bindings: String = (0..100).map(binding).collect();
    let world = World::new(&format!(
        "hooks:\n  pre-tool-use:\n{bindings}    - {{oracle: Other}}\n"
    ));
    let said = world.ahp(&["check"]).stdout;
    assert_eq!(said.matches("{oracle: Nope, id").count(), 10, "{said}");
    for told in [
        "90 more: no oracle is called `Nope`",
        "`Other`",
        "101 errors",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    let all = world.ahp(&["check", "--format", "json"]).json();
    assert_eq!(all.len(), 102);
}
