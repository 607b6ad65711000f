//! What lies beside the layers of a machine: the scripts, hooks and programs that its bindings run. It is a part of the policy, and
//! no later layer puts its own in its place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ahp::config::Locations;
use ahp::verdict::Decision;

use super::bundle::Machine;

/// Which policy the last evaluation in the log names.
fn policy_of_last(machine: &Machine) -> String {
    machine.judge();
    let log = fs::read_to_string(machine.path("project/.ahp/signals.jsonl")).unwrap();
    let records = log.lines().rev().map(serde_json::from_str);
    let mut records = records.map(Result::<serde_json::Value, _>::unwrap);
    let last = records.find(|record| record["kind"] == "evaluation");
    last.unwrap()["policy"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_policy_runs_is_a_part_of_which_policy_it_is() {
    const HOOK: &str = "---\nname: guard\ndescription: d\ntrigger: pre-tool-use\n---\n";
    let policy = "\
hooks:
  pre-tool-use:
    - {id: house, oracle: say}
  pre-issue-submit:
    - {oracle: TestGate, config: {command: $DIR/tools/check}}
";
    let machine = Machine::new("hooks: {}");
    let tools = policy.replace("$DIR", &machine.dir.path().display().to_string());
    machine.file("bundle/acme-42/hooks.yaml", &tools);
    let system = format!(
        "settings: {{agent_hooks: [{}]}}\nhooks: {{pre-tool-use: [{{oracle: PermissionChecker}}]}}",
        machine.path("system-hooks").display()
    );
    machine.file("system.yaml", &system);
    machine.file("user/oracles/own.rhai", "fn evaluate(ctx) { accept() }");
    machine.file("user/hooks.yaml", "hooks: {pre-tool-use: [{oracle: own}]}");
    let first = policy_of_last(&machine);
    assert!(first.starts_with("acme@42+"), "{first}");
    assert_eq!(policy_of_last(&machine), first);
    let mut known = vec![first];
    for (file, text) in [
        (
            "bundle/acme-42/oracles/say.rhai",
            "fn evaluate(ctx) { accept() }",
        ),
        ("bundle/acme-42/hooks/guard/HOOK.md", HOOK),
        ("bundle/acme-42/hooks/guard/scripts/run", "exit 0"),
        ("bundle/acme-42/hooks/guard/scripts/run", "exit 1"),
        ("system-hooks/guard/HOOK.md", HOOK),
        ("system-hooks/guard/scripts/run", "exit 0"),
        ("system-hooks/guard/scripts/lib.sh", "exit 0"),
        ("tools/check", "#!/bin/sh\nexit 0"),
        ("tools/check", "#!/bin/sh\nexit 1"),
        ("user/oracles/own.rhai", "fn evaluate(ctx) { aid(\"x\") }"),
    ] {
        machine.file(file, text);
        let now = policy_of_last(&machine);
        assert!(!known.contains(&now), "{file}: {text}");
        assert!(now.starts_with("acme@42+"), "{now}");
        known.push(now);
    }
    // What lies there and runs nowhere is no part of it.
    machine.file("user/oracles/other.rhai", "fn evaluate(ctx) { accept() }");
    machine.file("project/.agents/hooks/x/HOOK.md", "---\nname: x\n---\n");
    assert_eq!(Some(&policy_of_last(&machine)), known.last());
}

#[test]
fn nobody_later_replaces_what_a_locked_binding_of_the_machine_runs() {
    let hook = |machine: &Machine, dir: &str, more: &str, script: &str| {
        let front = format!("---\nname: guard\ndescription: d\ntrigger: pre-tool-use\n{more}---\n");
        machine.file(&format!("{dir}/guard/HOOK.md"), &front);
        let run = format!("{dir}/guard/scripts/run");
        machine.file(&run, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(machine.path(&run), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let locked = "metadata: {locked: \"true\"}\n";
    for (layer, text) in [
        ("project/.ahp/hooks.yaml", "{}"),
        ("project/.ahp/hooks.yaml", "settings: {agent_hooks: false}"),
        (
            "project/.ahp/hooks.yaml",
            "settings: {agent_hooks: [.evil]}",
        ),
        (
            "project/.ahp/hooks.local.yaml",
            "settings: {agent_hooks: [.evil]}",
        ),
        (
            "project/.ahp/hooks.yaml",
            "settings: {agent_hooks: [$DIR/evil]}",
        ),
        ("user/hooks.yaml", "settings: {agent_hooks: false}"),
        ("user/hooks.yaml", "settings: {agent_hooks: [$DIR/evil]}"),
    ] {
        for more in ["", locked] {
            let machine = Machine::new("hooks: {}");
            let dir = machine.dir.path().display().to_string();
            let locations = Locations {
                trust_all: true,
                user_hooks: Some(machine.path("user-hooks")),
                ..machine.locations.clone()
            };
            let machine = Machine {
                locations,
                ..machine
            };
            hook(&machine, "system-hooks", "", "echo no >&2; exit 2");
            let others = [
                "project/.evil",
                "project/.agents/hooks",
                "evil",
                "user-hooks",
            ];
            for other in others {
                hook(&machine, other, more, "exit 0");
            }
            let system = format!(
                "settings: {{agent_hooks: [{dir}/system-hooks]}}\nhooks: {{pre-tool-use: [{{hook: guard, locked: true}}]}}"
            );
            machine.file("system.yaml", &system);
            machine.file(layer, &text.replace("$DIR", &dir));
            let verdict = machine.judge();
            let ran = verdict.bindings.iter().find(|ran| ran.id == "guard");
            assert_eq!(
                (verdict.decision, ran.map(|ran| ran.outcome.name())),
                (Decision::Block, Some("signalled")),
                "{layer} {text} {more}: {verdict:?}"
            );
        }
    }
}

#[test]
fn a_user_binds_scripts_of_her_own_under_a_locked_layer_and_puts_none_in_its_place() {
    let blocks = "fn evaluate(ctx) { block(\"no\") }";
    let accepts = "fn evaluate(ctx) { accept() }";
    let machine = Machine::new("hooks: {}");
    machine.file("machine-oracles/say.rhai", blocks);
    let system = format!(
        "settings: {{oracles: [{}], locked: true}}\nhooks: {{pre-tool-use: [{{oracle: say, locked: true}}]}}",
        machine.path("machine-oracles").display()
    );
    machine.file("system.yaml", &system);
    // One of the same name, nearer to the project or of the user, is not what the machine's binding runs.
    for place in ["user/oracles", "project/.ahp/oracles"] {
        machine.file(&format!("{place}/say.rhai"), accepts);
    }
    let decided = |machine: &Machine| {
        let verdict = machine.judge();
        let ran = verdict.bindings.iter();
        let ran = ran.map(|ran| format!("{}: {}", ran.id, ran.outcome.name()));
        (verdict.decision, ran.collect::<Vec<_>>())
    };
    let (decision, ran) = decided(&machine);
    assert_eq!(decision, Decision::Block, "{ran:?}");
    assert!(ran.contains(&"say: signalled".to_owned()), "{ran:?}");
    // Her own binding runs her own script beside it.
    machine.file("user/oracles/own.rhai", blocks);
    machine.file("user/hooks.yaml", "hooks: {pre-tool-use: [{oracle: own}]}");
    let (_, ran) = decided(&machine);
    for expected in ["say: signalled", "own: signalled"] {
        assert!(ran.contains(&expected.to_owned()), "{ran:?}");
    }
    // What she cannot do is to have the machine look where she writes.
    let dir = machine.path("user/oracles").display().to_string();
    machine.file(
        "user/hooks.yaml",
        &format!("settings: {{oracles: [{dir}]}}"),
    );
    let (decision, _) = decided(&machine);
    assert_eq!(decision, Decision::Block);
    fs::remove_file(machine.path("machine-oracles/say.rhai")).unwrap();
    let (decision, ran) = decided(&machine);
    assert_eq!(decision, Decision::Block, "{ran:?}");
    assert!(!ran.contains(&"say: accepted".to_owned()), "{ran:?}");
}
