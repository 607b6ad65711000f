//! `ahp ci`: no change moves the policy, or what it runs, out of its own way.

use std::fs;

use super::ci_base::{asked, changed};

const LAYER: &str = ".ahp/hooks.yaml";
const GATE: &str = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter, id: size, config: {max_files: 2, action: block}}]}\n";

#[test]
fn nothing_of_a_change_is_a_command_of_the_ci_system() {
    let world = changed(&[(LAYER, GATE)], &[]);
    for name in [
        "a\n::add-mask::secret",
        "b\n  ::stop-commands::x",
        "c\r::error::x",
        "d ##[add-mask]x",
        "e\u{2028}::error::x",
        "section_start:1:x\r\u{1b}[0Kx",
    ] {
        fs::write(world.path(name), "x").unwrap();
    }
    world.commit("names");
    for variables in [&[("GITHUB_ACTIONS", "true")][..], &[("GITLAB_CI", "true")]] {
        for format in ["human", "json"] {
            let ran = asked(&world, &["--format", format], variables);
            assert_eq!(ran.code, 2, "{ran:?}");
            let all = format!("{}\n{}", ran.stdout, ran.stderr);
            assert!(all.contains("add-mask"), "{all}");
            for line in all.split(['\n', '\r', '\u{2028}']) {
                let is_ours = line.starts_with("::error file=");
                assert!(is_ours || !line.trim_start().starts_with("::"), "{line}");
                assert!(!line.contains("##["), "{line}");
            }
            assert!(!all.contains(['\r', '\u{1b}']), "{all}");
        }
    }
}
