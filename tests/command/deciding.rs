//! What only a person decides: nothing of it is done where nobody can be asked, unless somebody has said `--yes`.

use crate::world::World;

#[test]
fn nothing_is_approved_where_nobody_can_be_asked() {
    let world = World::new("extends: [ahp:standard]\n");
    world.write("server.py", "open('started', 'w')");
    world.write(
        ".agents/hooks/guard/HOOK.md",
        "---\nname: guard\ndescription: x\ntrigger: pre-tool-call\n---\n",
    );
    let policy = world.read(".ahp/hooks.yaml");
    for command in [
        &["trust"][..],
        &["allow", "git push --force origin feature"],
        &["mcp", "lock", "--name", "s", "--", "python3", "server.py"],
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
    assert!(!world.path("started").exists());
}
