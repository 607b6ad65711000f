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
