//! What only a person decides: nothing of it is done where nobody can be asked, unless somebody has said `--yes`.

use crate::world::World;

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
            has_nothing || said.contains("say `--yes`"),
            "{command:?}: {said}"
        );
    }
    assert_eq!(world.read(".ahp/hooks.yaml"), policy);
    assert!(!world.path(".ahp/mcp.lock").exists());
}
