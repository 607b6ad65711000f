//! Whatever stands before a command that takes the policy away, it is not let pass.

use std::cell::RefCell;

use proptest::prelude::*;
use serde_json::json;

use super::project;
use crate::permission_checker::oracle::judged;
use crate::world::World;

/// What the shell itself takes before a pipeline.
const PIPELINES: &[&str] = &[
    "",
    "! ",
    "time ",
    "time -p ",
    "! time ",
    "time time ",
    "! ! ",
];

/// What the shell itself takes before a command.
const WORDS: &[&str] = &[
    "A=1 ",
    "A= B=\"$C\" ",
    "2>/dev/null ",
    "< a ",
    "  ",
    "\t",
    "\\\n",
];

/// Commands of the shell that run another.
const BUILTINS: &[&str] = &["", "command ", "exec ", "builtin command ", "eval "];

/// Programs that run another.
const PROGRAMS: &[&str] = &[
    "env ",
    "env -i ",
    "env A=1 ",
    "nohup ",
    "nice ",
    "nice -n 5 ",
    "timeout 5 ",
    "timeout -s KILL 5s ",
    "sudo ",
    "sudo -E -u root ",
    "setsid ",
    "stdbuf -o0 ",
    "ionice -c3 ",
    "ahp exec -- ",
    "busybox ",
    "/usr/bin/env ",
    "xargs -0 ",
];

/// What a whole command may stand in.
const CONTEXTS: &[(&str, &str)] = &[
    ("( ", " )"),
    ("{ ", "; }"),
    ("if true; then ", "\nfi"),
    ("if ls; then :; else ", "\nfi"),
    ("if ", "\nthen :; fi"),
    ("while true; do ", "\ndone"),
    ("until ", "\ndo :; done"),
    ("for x in a b; do ", "\ndone"),
    ("case x in x) ", "\n;; esac"),
    ("f() { ", "\n}; f"),
    ("true && ", ""),
    ("false || ", ""),
    ("true; ", ""),
    ("true\n", ""),
    ("true & ", ""),
    ("{ ", " & }"),
    ("ls | ", ""),
    ("ls |& ", ""),
    ("", " | cat"),
    ("echo a > b; ", ""),
    ("cat <<E\ntext\nE\n", ""),
    ("x=1; ", ""),
    ("x=(a b); ", ""),
    ("[[ -d src ]] && ", ""),
    ("(( 1 )) && ", ""),
    ("# a comment\n", ""),
    ("echo 'a' \"b\"; ", ""),
    ("echo $((1+2)) ${x:-y}; ", ""),
    ("echo `ls` $(ls); ", ""),
    ("trap ls EXIT; ", ""),
    ("set -e; ", ""),
    ("", " > /dev/null 2>&1"),
    ("echo $( ", ")"),
    ("echo \"$( ", ")\""),
    ("cat <(", ")"),
    ("x=$( ", ")"),
];

/// The command, in ways that mean the same.
const COMMANDS: &[&str] = &[
    "rm -rf .ahp",
    "rm -rf -- .ahp",
    "\\rm -r -f ./.ahp",
    "/bin/rm -rf \".ahp\"",
    "rm -rf '.a'hp",
];

thread_local!(static WORLD: RefCell<Option<World>> = const { RefCell::new(None) });

fn is_stopped(command: &str) -> bool {
    WORLD.with(|world| {
        let mut world = world.borrow_mut();
        let world = world.get_or_insert_with(project);
        let input = json!({"command": command});
        // What cannot be told does not pass either.
        let judged = judged(world, "SelfProtection", "{}", "Bash", input).unwrap();
        judged.map_or(true, |found| !found.is_empty())
    })
}

#[test]
fn a_command_that_takes_the_policy_away_is_stopped_behind_every_prefix() {
    let mut commands = COMMANDS.iter().cycle();
    let mut lines = Vec::new();
    for (pipeline, word, builtin) in PIPELINES
        .iter()
        .flat_map(|pipeline| WORDS.iter().map(move |word| (pipeline, word)))
        .flat_map(|(pipeline, word)| BUILTINS.iter().map(move |b| (pipeline, word, b)))
    {
        for program in PROGRAMS {
            let command = commands.next().unwrap();
            lines.push(format!("{pipeline}{word}{builtin}{program}{command}"));
        }
    }
    for one in PROGRAMS {
        for other in PROGRAMS {
            lines.push(format!("{one}{other}{}", commands.next().unwrap()));
        }
    }
    for (before, after) in CONTEXTS {
        for (inner_before, inner_after) in CONTEXTS {
            let command = commands.next().unwrap();
            lines.push(format!(
                "{before}{inner_before}{command}{inner_after}{after}"
            ));
        }
    }
    assert!(lines.len() > 2_000, "{}", lines.len());
    let passed: Vec<&String> = lines.iter().filter(|line| !is_stopped(line)).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn so_it_is_on_a_line_of_its_own_behind_any_text(text in "[a-zA-Z0-9 _./=:,;&|\n-]{0,80}") {
        // What moves to another folder, or gives a name another meaning, leaves it a command of another place.
        let moves = ["alias", "cd", "chdir", "popd", "pushd", "PWD", "HOME"];
        prop_assume!(!text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| moves.contains(&word)));
        let line = format!("{text}\nrm -rf .ahp");
        prop_assert!(is_stopped(&line), "{line}");
    }
}
