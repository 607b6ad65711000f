//! A pack of one's own travels as one folder: what it names lies beside it.

use crate::world::World;

const SCRIPT: &str = "//! Stops deploys.\nfn evaluate(ctx) { block(`not now`) }\n";

#[test]
fn a_pack_brings_its_scripts_along() {
    let pack = "settings: {oracles: [oracles]}\nhooks: {pre-tool-use: [{oracle: teamo}]}\n";
    for (file, extends, script) in [
        (
            ".ahp/packs/team/pack.yaml",
            "packs/team/pack.yaml",
            ".ahp/packs/team/oracles/teamo.rhai",
        ),
        (
            "shared/pack.yaml",
            "../shared/pack.yaml",
            "shared/oracles/teamo.rhai",
        ),
        // As before, in the project too.
        (
            ".ahp/packs/team/pack.yaml",
            "packs/team/pack.yaml",
            "oracles/teamo.rhai",
        ),
    ] {
        let world = World::new(&format!("extends: [{extends}]\n"));
        world.write(file, pack);
        world.write(script, SCRIPT);
        let ran = world.ahp(&["check"]);
        assert_eq!(ran.code, 0, "{script}: {}{}", ran.stdout, ran.stderr);
        let ran = world.ahp(&[
            "run",
            "pre-tool-use",
            "--tool",
            "Bash",
            "--input",
            "{\"command\": \"ls\"}",
        ]);
        assert!(
            ran.code == 2 && ran.stdout.contains("not now"),
            "{script}: {}",
            ran.stdout
        );
    }
}

#[test]
fn what_a_policy_itself_names_lies_in_the_project() {
    let world =
        World::new("settings: {oracles: [oracles]}\nhooks: {pre-tool-use: [{oracle: teamo}]}\n");
    world.write(".ahp/oracles/teamo.rhai", SCRIPT);
    assert_eq!(world.ahp(&["check"]).code, 1);
    world.write("oracles/teamo.rhai", SCRIPT);
    assert_eq!(world.ahp(&["check"]).code, 0);
}
