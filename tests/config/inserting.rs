//! A binding is added to a layer's text, whatever its layout.

use ahp::config::{Config, with_binding};
use ahp::event::Trigger;

fn bindings(text: &str) -> usize {
    let loaded = Config::parse_str(text);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    loaded.config.bindings.values().map(Vec::len).sum()
}

#[test]
fn a_binding_is_added_to_every_layout() {
    for text in [
        "",
        "# mine\n",
        "hooks:\n",
        "hooks: {}\n",
        "# ours\nextends: ahp:standard\n\nhooks: { }   # none yet\nsettings: {timeout: 5s}\n",
        "hooks: ~",
        "\"hooks\": # ours\n  \"pre-tool-use\": []  # none yet\n  post-tool-use:\n    - oracle: Y\n",
        "hooks:\n  pre-tool-use:  # ours\n    - oracle: X\n",
        "hooks:\n  pre-tool-use:\n    oracles: []\n",
        "hooks:\n  pre-tool-use:\n    # of shells alone\n    when: {tool: Bash}\n",
        "settings: {timeout: 5s}\n\nhooks:\n  post-tool-use:\n    - oracle: X\n",
        "hooks:\n  pre-tool-use:\n    # why\n    - oracle: X\n      priority: 1\n  post-tool-use:\n  - oracle: Y\n",
        "hooks:\n  PreToolUse:\n  - oracle: X\n",
        "hooks:\n    pre-tool-use:\n        when: {tool: Bash}\n        oracles:\n            - oracle: X\n",
        "hooks:\r\n  pre-tool-use:\r\n    - oracle: X\r\n",
    ] {
        for item in [
            vec!["oracle: TestGate"],
            vec!["oracle: TestGate", "intensity: aid"],
        ] {
            let item: Vec<String> = item.into_iter().map(str::to_owned).collect();
            let (new, line) = with_binding(text, Trigger::PreToolUse, &item);
            let written = new.lines().nth(line as usize - 1).unwrap();
            assert_eq!(written.trim(), "- oracle: TestGate", "{new}");
            assert_eq!(bindings(&new), bindings(text) + 1, "{text}");
            assert!(
                text.matches('#').count() == new.matches('#').count(),
                "{new}"
            );
            // The ends of lines stay what they were.
            let ends = new.matches('\n').count();
            let windows = if text.contains('\r') { ends } else { 0 };
            assert_eq!(new.matches("\r\n").count(), windows, "{new:?}");
        }
    }
}

/// What a file of mixed ends of lines has elsewhere is left as it is.
#[test]
fn other_lines_keep_their_ends() {
    let text = "hooks:\n  pre-tool-use: []\nsettings: {timeout: 5s}\r\n";
    let (new, _) = with_binding(text, Trigger::PreToolUse, &["oracle: X".to_owned()]);
    assert!(
        new.starts_with("hooks:\n") && new.ends_with("5s}\r\n"),
        "{new:?}"
    );
}
