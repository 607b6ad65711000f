//! What the command line says of itself: help pages and completions.

use crate::world::{Ran, World};

#[test]
fn help_lists_commands_by_name_and_tells_of_debug_once() {
    let world = World::new("");
    let help = world.ahp(&["--help"]).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.len() > 15, "{help}");
    assert!(commands.is_sorted(), "{commands:?}");
    assert_eq!(help.matches("--debug").count(), 1, "{help}");
    let page = world.ahp(&["check", "--help"]).stdout;
    assert!(!page.contains("--debug"), "{page}");
    assert_eq!(world.ahp(&["check", "--debug"]).code, 0);
}

/// The program that knows more is not everywhere.
#[test]
fn what_another_program_does_is_said_without_it() {
    let world = World::new("");
    let own = world.dir.path().join("ahp");
    world.ahp_copied_to(&own);
    for command in ["fleet", "bundle"] {
        let help = Ran::of(
            &world
                .command(&own)
                .args([command, "--help"])
                .output()
                .unwrap(),
        );
        assert_eq!(help.code, 0, "{}", help.stderr);
        assert!(
            help.stdout.contains(&format!("Usage: ahp {command}")),
            "{}",
            help.stdout
        );
        assert!(
            help.stdout.contains("`ahp-fleet` is not installed"),
            "{}",
            help.stdout
        );
        let done = Ran::of(
            &world
                .command(&own)
                .args([command, "status"])
                .output()
                .unwrap(),
        );
        assert_eq!(done.code, 1, "{}", done.stdout);
        // Whoever installed a package has neither the source nor Rust.
        for told in [&help.stdout, &done.stderr] {
            assert!(told.contains("from the archive"), "{told}");
            assert!(told.contains("from the source of `ahp`"), "{told}");
        }
    }
}

#[test]
fn completions_offer_hosts_and_packs() {
    let world = World::new("");
    for shell in ["bash", "zsh", "fish"] {
        let script = world.ahp(&["completions", shell]).stdout;
        for name in ["claude-code", "windsurf", "issue-lifecycle", "quality-gate"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let offered = |script: &str, command: &str| {
        let (_, own) = script.split_once(command).unwrap();
        let (own, _) = own.split_once(";;\n        ahp__subcmd").unwrap();
        own.contains("windsurf")
    };
    let script = world.ahp(&["completions", "bash"]).stdout;
    for command in ["doctor", "hook", "log__subcmd__show", "log__subcmd__stats"] {
        let command = format!("        ahp__subcmd__{command})\n");
        assert!(offered(&script, &command), "{command}");
    }
    // A name that is not offered still gets the error that names the nearest one.
    let misspelt = world.ahp(&["init", "--pack", "quality-gates"]);
    assert!(
        misspelt.stderr.contains("did you mean `quality-gate`?"),
        "{misspelt:?}"
    );
}
