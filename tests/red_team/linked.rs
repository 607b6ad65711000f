//! Linked: links among what lies in guarded folders, and what the scripts of a policy run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::world::{World, executable, write};

/// A project of a person who keeps hooks, mods and plugins elsewhere, and links them to where they are looked for.
struct Linked {
    world: World,
    elsewhere: PathBuf,
}

const HOOK: &str =
    "---\nname: NAME\ndescription: d\ntrigger: pre-tool-call\nmatcher: {tool: Nothing}\n---\n";
const CARRYING: &str = "---\nhooks:\n  Stop: []\n---\n";

impl Linked {
    fn new() -> Self {
        let policy = "settings: {agent_hooks: [../more-hooks]}\nhooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n";
        let world = World::new(policy);
        let elsewhere = world.root().parent().unwrap().join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        Self { world, elsewhere }
    }

    fn at_home(&self, name: &str) -> PathBuf {
        self.world.home().join(name)
    }

    fn links(from: impl AsRef<Path>, to: impl AsRef<Path>) {
        fs::create_dir_all(from.as_ref().parent().unwrap()).unwrap();
        symlink(to, from).unwrap();
    }

    fn hook(dir: &Path) {
        let name = dir.file_name().unwrap().to_string_lossy();
        write(&dir.join("HOOK.md"), HOOK.replace("NAME", &name));
        executable(&dir.join("scripts/run.sh"), "#!/bin/sh\nexit 0\n");
    }

    fn is_stopped(&self, tool: &str, input: &serde_json::Value) -> bool {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.world.root(),
            "tool_name": tool, "tool_input": input});
        let fed = event.to_string();
        let ran = (self.world).ahp_fed(&["hook", "--host", "claude-code"], fed.as_bytes());
        ran.stdout.contains("self-protection")
    }

    /// Whether writing a file is stopped, by an edit tool and by a command alike.
    fn guards(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref().to_string_lossy();
        let by_tool = self.is_stopped("Write", &json!({"file_path": path, "content": "x"}));
        let command = format!("sed -i s/a/b/ '{path}'");
        assert_eq!(
            self.is_stopped("Bash", &json!({"command": command})),
            by_tool,
            "{path}"
        );
        by_tool
    }
}

#[test]
fn what_a_hook_is_linked_to_and_what_its_script_runs_is_guarded() {
    let linked = Linked::new();
    let there = |name: &str| linked.elsewhere.join(name);
    let hooks = linked.at_home(".config/agents/hooks");
    for name in ["whole", "of-scripts", "of-file", "named"] {
        Linked::hook(&there(name));
    }
    Linked::links(hooks.join("whole"), there("whole"));
    let deep = there("deep.sh");
    executable(&deep, "#!/bin/sh\n. $HOME/lib/deeper.sh\n");
    write(&linked.at_home("lib/deeper.sh"), "true\n");
    let runs = format!("#!/bin/sh\nexec sh {}\n", deep.display());
    executable(&there("whole/scripts/run.sh"), &runs);
    Linked::hook(&hooks.join("of-scripts"));
    fs::remove_dir_all(hooks.join("of-scripts/scripts")).unwrap();
    Linked::links(
        hooks.join("of-scripts/scripts"),
        there("of-scripts/scripts"),
    );
    Linked::hook(&hooks.join("of-file"));
    fs::remove_file(hooks.join("of-file/scripts/run.sh")).unwrap();
    Linked::links(
        hooks.join("of-file/scripts/run.sh"),
        there("of-file/scripts/run.sh"),
    );
    let more = linked.world.root().parent().unwrap().join("more-hooks");
    Linked::links(more.join("named"), there("named"));
    // In the project lies what a person's own hook is linked to.
    Linked::hook(&linked.world.path("tools/near"));
    Linked::links(hooks.join("near"), linked.world.path("tools/near"));
    for path in [
        "whole/scripts/run.sh",
        "whole/HOOK.md",
        "of-scripts/scripts/run.sh",
        "of-file/scripts/run.sh",
        "named/scripts/run.sh",
        "deep.sh",
    ] {
        assert!(linked.guards(there(path)), "{path}");
    }
    assert!(linked.guards(linked.at_home("lib/deeper.sh")));
    assert!(linked.guards("tools/near/scripts/run.sh"));
    let away = format!("mv {} /nowhere", there("whole").display());
    assert!(linked.is_stopped("Bash", &json!({"command": away})));
    for path in [
        "of-file/HOOK.md",
        "of-scripts/HOOK.md",
        "other.sh",
        "whole.md",
    ] {
        assert!(!linked.guards(there(path)), "{path}");
    }
    assert!(!linked.guards("tools/far/scripts/run.sh"));
    let reads = format!("cat {}", deep.display());
    assert!(!linked.is_stopped("Bash", &json!({"command": reads})));
}

#[test]
fn what_a_skill_is_linked_to_is_guarded_as_the_skill_is() {
    let linked = Linked::new();
    let skill = linked.elsewhere.join("skill");
    write(&skill.join("SKILL.md"), "# words\n");
    Linked::links(linked.at_home(".claude/skills/far"), &skill);
    linked.world.write("mods/near/SKILL.md", "# words\n");
    Linked::links(linked.world.path(".claude/skills/near"), "../../mods/near");
    let near = linked.world.path("mods/near");
    for folder in [&skill, &near] {
        for code in [
            "hooks/register.js",
            "hooks/hooks.json",
            ".claude-plugin/plugin.json",
            "plugin.json",
        ] {
            assert!(
                linked.guards(folder.join(code)),
                "{}/{code}",
                folder.display()
            );
        }
        for words in ["SKILL.md", "scripts/work.js", "reference.md"] {
            assert!(
                !linked.guards(folder.join(words)),
                "{}/{words}",
                folder.display()
            );
        }
        let carries = |name: &str| {
            let path = folder.join(name);
            linked.is_stopped("Write", &json!({"file_path": path, "content": CARRYING}))
        };
        assert!(carries("SKILL.md") && !carries("reference.md"));
        let command = format!(
            "printf -- '---\\nhooks:\\n---\\n' > {}/SKILL.md",
            folder.display()
        );
        assert!(linked.is_stopped("Bash", &json!({"command": command})));
    }
}

#[test]
fn an_entry_of_a_guarded_folder_may_be_a_link() {
    let linked = Linked::new();
    let there = |name: &str| linked.elsewhere.join(name);
    write(&there("plugin/index.js"), "x");
    for (from, to) in [
        (".claude/plugins/mine", "plugin"),
        (".config/opencode/plugin/x.js", "x.js"),
        (".copilot/hooks/x.json", "x.json"),
        (".cline/hooks/PreToolUse", "wire"),
    ] {
        Linked::links(linked.at_home(from), there(to));
    }
    // To a folder that holds itself it leads to nothing of its own.
    Linked::links(linked.at_home(".claude/plugins/home"), "../..");
    linked.world.write("src/plugin.js", "x");
    Linked::links(
        linked.world.path(".opencode/plugin/x.js"),
        "../../src/plugin.js",
    );
    for path in ["plugin/index.js", "plugin/new.js", "x.js", "x.json", "wire"] {
        assert!(linked.guards(there(path)), "{path}");
    }
    assert!(linked.guards("src/plugin.js"));
    assert!(!linked.guards("src/other.js") && !linked.guards(there("other")));
    assert!(!linked.guards(linked.at_home("notes.txt")));
}
