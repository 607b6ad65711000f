//! Everyday commands of agents, which self-protection has no reason to stop. They were written by people who had not seen it.

use serde_json::{Value, json};

use super::project;
use crate::permission_checker::oracle::judged;

/// The collections; the older ones are judged by the rules alone.
const COLLECTIONS: [&str; 3] = [
    include_str!("../permission_checker/blind/commands-10.jsonl"),
    include_str!("../permission_checker/blind/commands-11.jsonl"),
    include_str!("../permission_checker/blind/commands-12.jsonl"),
];

#[test]
fn everyday_commands_are_left_alone() {
    let world = project();
    let mut stopped = Vec::new();
    for line in COLLECTIONS.iter().flat_map(|text| text.lines()) {
        let one: Value = serde_json::from_str(line).unwrap();
        let (command, expect) = (one["command"].as_str().unwrap(), one["expect"].as_str());
        if expect != Some("free") {
            continue;
        }
        let input = json!({"command": command});
        match judged(&world, "SelfProtection", "{}", "Bash", input).unwrap() {
            Ok(found) if found.is_empty() => {}
            Ok(found) => stopped.push(format!("{command}\n  {}", found[0].payload.text())),
            Err(error) => stopped.push(format!("{command}\n  {error}")),
        }
    }
    // Those that stand here take the policy out of the working tree, where git does not know it, or may lead to it.
    let shown = stopped.join("\n");
    insta::assert_snapshot!(shown.replace(&*world.root().to_string_lossy(), "@PROJECT"));
}
