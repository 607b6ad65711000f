//! What only a person decides: nothing of it is done where nobody can be asked, unless somebody has said `--yes`.

use crate::world::{Ran, World};

/// A server of one tool, which has to be started to be looked at.
const SERVER: &str = r#"
while read -r line; do
  case $line in
    *'"initialize"'*) echo '{"id": 1, "result": {}}' ;;
    *'"tools/list"'*) echo '{"id": 2, "result": {"tools": [{"name": "t"}]}}' ;;
  esac
done
"#;

#[test]
fn nothing_is_approved_where_nobody_can_be_asked() {
    let world = World::new("extends: [ahp:standard]\n");
    world.write("server.sh", SERVER);
    world.write(
        ".agents/hooks/guard/HOOK.md",
        "---\nname: guard\ndescription: x\ntrigger: pre-tool-call\n---\n",
    );
    let policy = world.read(".ahp/hooks.yaml");
    for command in [
        &["trust"][..],
        &["allow", "git push --force origin feature"],
        &["mcp", "lock", "--name", "s", "--", "sh", "server.sh"],
        &["log", "advise", "--apply"],
    ] {
        let ran = world.ahp(command);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let is_done = ["is trusted", "pinned", "passes from now on"];
        assert!(!is_done.iter().any(|word| said.contains(word)), "{said}");
        let has_nothing = said.contains("no advice") || said.contains("nothing");
        assert!(
            has_nothing || said.contains("with `--yes`"),
            "{command:?}: {said}"
        );
    }
    assert_eq!(world.read(".ahp/hooks.yaml"), policy);
    assert!(!world.path(".ahp/mcp.lock").exists());
}

fn stops(world: &World, arguments: &[&str]) -> bool {
    world.ahp(&[&["run"], arguments].concat()).code == 2
}

fn stops_command(world: &World, command: &str) -> bool {
    let input = serde_json::json!({"command": command}).to_string();
    stops(
        world,
        &["pre-tool-use", "--tool", "Bash", "--input", &input],
    )
}

/// Runs `ahp` for a person at a terminal, whose editor is the script `editor.sh`.
fn at_terminal(world: &World, arguments: &[&str]) -> Ran {
    // The controlling side of a terminal is one as well.
    let mut terminal = std::fs::File::options();
    let terminal = terminal.read(true).write(true).open("/dev/ptmx").unwrap();
    let mut command = world.ahp_command();
    command.args(arguments).env("EDITOR", "sh editor.sh");
    Ran::of(&command.stdin(terminal).output().unwrap())
}

#[test]
fn an_edit_approves_what_the_person_wrote_and_nothing_that_others_write_meanwhile() {
    const POLICY: &str = "hooks:
  pre-tool-use: [{oracle: PermissionChecker, config: {preset: none, dangerous_commands: [one, two]}}]
  pre-session: [{oracle: gate}]
";
    const LOCAL: (&str, &str) = (
        ".ahp/hooks.local.yaml",
        "hooks: {pre-tool-use: [{id: permission-checker, config: {dangerous_commands: []}}]}\n",
    );
    const SCRIPT: (&str, &str) = (".ahp/oracles/gate.rhai", "fn evaluate(ctx) { }");
    for ((file, weaker), is_there_before) in [(LOCAL, false), (LOCAL, true), (SCRIPT, false)] {
        let world = World::new(POLICY);
        world.write(SCRIPT.0, "fn evaluate(ctx) { block(\"no\", [\"x\"]) }");
        assert_eq!(world.ahp(&["trust", "--yes"]).code, 0);
        if is_there_before {
            world.write(file, weaker);
        }
        world.write("weaker", weaker);
        world.write(
            "editor.sh",
            format!("sed -i 's/one, two/one/' \"$1\"\ncp weaker {file}\n"),
        );
        let edited = at_terminal(&world, &["edit"]);
        let at = format!("{file} {is_there_before}: {edited:?}");
        assert_eq!(edited.code, 0, "{at}");
        for told in [file, "`ahp trust`"] {
            assert!(edited.stderr.contains(told), "{at}");
        }
        let tool = |name| stops_command(&world, name);
        let session = || stops(&world, &["pre-session"]);
        assert_eq!(
            (tool("one"), tool("two"), session()),
            (true, false, true),
            "{at}"
        );
        // All of it is in force once it is approved.
        assert_eq!(world.ahp(&["trust", "--yes"]).code, 0);
        let is_script = file == SCRIPT.0;
        assert_eq!((tool("one"), session()), (is_script, !is_script), "{at}");
    }
}

#[test]
fn a_policy_that_a_person_writes_is_not_weakened_by_what_lay_there_before() {
    const PUSH: &str = "git push --force origin main";
    let world = World::new("");
    let weaker = "hooks: {pre-tool-use: [{id: safe-shell, enabled: false}]}\n";
    world.write(".ahp/hooks.local.yaml", weaker);
    let done = at_terminal(&world, &["init"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains(".ahp/hooks.local.yaml"), "{done:?}");
    assert!(stops_command(&world, PUSH));
    assert_eq!(world.ahp(&["trust", "--yes"]).code, 0);
    assert!(!stops_command(&world, PUSH));
}

#[test]
fn a_policy_below_another_project_is_approved_where_it_lies() {
    let world = World::new("hooks: {}\n");
    let inner = world.path("inner");
    std::fs::create_dir(&inner).unwrap();
    assert_eq!(at_terminal(&world, &["init", "inner"]).code, 0);
    world.write("inner/.ahp/hooks.yaml", "version: 1\n");
    let input = r#"{"command": "git push --force origin main"}"#;
    let mut run = world.ahp_command();
    run.args(["run", "pre-tool-use", "--tool", "Bash", "--input", input]);
    let ran = Ran::of(&run.current_dir(inner).output().unwrap());
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn what_is_approved_stays_where_an_edit_names_what_nobody_has_looked_at() {
    const POLICY: &str = "hooks:
  pre-tool-use: [{oracle: PermissionChecker, config: {preset: none, dangerous_commands: [one]}}]
";
    // A pack of another, and a fault that is left in the file.
    for added in ["extends: [pack.yaml]", "hooks: ["] {
        let world = World::new(POLICY);
        world.write(".ahp/pack.yaml", "hooks: {}\n");
        assert_eq!(world.ahp(&["trust", "--yes"]).code, 0);
        world.write("editor.sh", format!("echo '{added}' >> \"$1\"\n"));
        let done = at_terminal(&world, &["edit"]);
        let told = done.stderr.contains(".ahp/hooks.yaml still waits")
            || done.stderr.contains(".ahp/hooks.yaml, ");
        assert!(told, "{added}: {done:?}");
        world.write(".ahp/hooks.yaml", "hooks: {}\n");
        assert!(stops_command(&world, "one"), "{added}");
    }
}
