//! Classes of ways, multiplied: every way with every place, through other programs and in every form of a tool's input.

use ahp::oracle::OracleError;
use ahp::signal::Signal;
use serde_json::{Value, json};

use super::project;
use crate::permission_checker::oracle::judged;
use crate::world::World;

/// Guarded places, each in a form of its own.
pub(super) const PLACES: &[&str] = &[
    ".ahp/hooks.yaml",
    "./.ahp/signals.jsonl",
    "src/../.ahp/hooks.yaml",
    "@PROJECT/.ahp/hooks.yaml",
    "$PWD/.ahp/hooks.yaml",
    "~/.ahp/hooks.yaml",
    "\"$HOME/.ahp/hooks.yaml\"",
    ".claude/settings.json",
    ".git/hooks/pre-commit",
    "link/hooks.yaml",
    "notes.txt",
    ".?hp/hooks.yaml",
    ".[a]hp/hooks.yaml",
];

/// Places that stand for themselves inside quotes.
const PLAIN_PLACES: &[&str] = &[
    ".ahp/hooks.yaml",
    "./.ahp/signals.jsonl",
    "@PROJECT/.ahp/hooks.yaml",
    ".claude/settings.json",
];

/// What a command may stand behind; `@C` is the command.
const CONTEXTS: &[&str] = &[
    "cd src && cd .. && @C",
    "true; @C",
    "ls | head -1 && @C",
    "if true; then @C; fi",
    "(@C)",
    "f() { @C; }; f",
    "@C &",
];

/// What a command without quotes, pipes and variables may stand behind as well.
const WRAPPERS: &[&str] = &[
    "ahp exec -- @C",
    "ahp exec -- sh -c '@C'",
    "env A=1 @C",
    "timeout 5 nice @C",
    "sudo -E @C",
    "bash -c '@C'",
    "alias a='ahp exec --'; a @C",
];

/// Forms of a shell tool's input.
fn forms(command: &str) -> Vec<(&'static str, Value)> {
    vec![
        (
            "run_shell_command",
            json!({"command": command, "description": "x"}),
        ),
        ("exec_command", json!({"cmd": ["bash", "-lc", command]})),
        (
            "shell",
            json!({"action": {"command": ["bash", "-lc", command]}}),
        ),
        ("Bash", json!({"code": command})),
        ("Bash", json!({"CommandLine": command})),
        ("Bash", json!({"shell_command": command})),
        ("Bash", json!({"command": {"text": command}})),
        ("bash", json!({"argv": ["bash", "-c", command]})),
        ("bash", json!({"args": ["bash", "-c", command]})),
        ("bash", json!({"bash": command})),
        ("execute_bash", json!({"command": command})),
    ]
}

fn lines(kind: &str) -> impl Iterator<Item = String> {
    let start = format!("{kind}: ");
    include_str!("classes.txt").lines().filter_map(move |line| {
        line.strip_prefix(&start)
            .map(|way| way.replace("\\n", "\n"))
    })
}

/// Judges calls of tools, and keeps what was judged wrongly.
pub(super) struct Judge {
    world: World,
    count: usize,
    wrong: Vec<String>,
}

impl Judge {
    pub(super) fn new() -> Self {
        Self::of(project())
    }

    pub(super) const fn of(world: World) -> Self {
        Self {
            world,
            count: 0,
            wrong: Vec::new(),
        }
    }

    fn found(&mut self, tool: &str, input: Value) -> Result<Vec<Signal>, OracleError> {
        self.count += 1;
        judged(&self.world, "SelfProtection", "{}", tool, input).unwrap()
    }

    fn expand(&self, command: &str) -> String {
        command.replace("@PROJECT", &self.world.root().to_string_lossy())
    }

    pub(super) fn stops_tool(&mut self, tool: &str, input: Value) {
        let said = input.to_string();
        match self.found(tool, input) {
            Ok(found) if found.is_empty() => self.wrong.push(format!("let through: {tool} {said}")),
            Ok(_) => {}
            Err(error) => self.wrong.push(format!("not judged: {said}: {error}")),
        }
    }

    pub(super) fn stops_command(&mut self, command: &str) {
        let command = self.expand(command);
        self.stops_tool("Bash", json!({"command": command}));
    }

    /// Stops it, or says that it cannot be told.
    fn does_not_let_pass(&mut self, command: &str) {
        let found = self.found("Bash", json!({"command": command}));
        if found.is_ok_and(|found| found.is_empty()) {
            let begin: String = command.chars().take(80).collect();
            self.wrong.push(format!("let through: {begin}"));
        }
    }

    pub(super) fn lets_pass(&mut self, command: &str) {
        let command = self.expand(command);
        self.lets_tool_pass("Bash", json!({"command": command}));
    }

    pub(super) fn lets_tool_pass(&mut self, tool: &str, input: Value) {
        let said = input.to_string();
        let found = self.found(tool, input);
        match found.as_deref() {
            Ok([]) => {}
            Ok([signal, ..]) => {
                let text = signal.payload.text();
                self.wrong.push(format!("stopped: {tool} {said}: {text}"));
            }
            Err(error) => self.wrong.push(format!("not judged: {said}: {error}")),
        }
    }

    pub(super) fn end(self, least: usize) {
        let Self { count, wrong, .. } = self;
        assert!(
            wrong.is_empty(),
            "{}\n{} of {count}",
            wrong.join("\n"),
            wrong.len()
        );
        assert!(count >= least, "only {count} combinations");
    }
}

#[test]
fn what_may_change_a_guarded_place_is_stopped_in_every_form() {
    let mut judge = Judge::new();
    for way in lines("changes") {
        for place in PLACES {
            judge.stops_command(&way.replace("@P", place));
        }
        let command = way.replace("@P", ".ahp/hooks.yaml");
        for context in CONTEXTS {
            judge.stops_command(&context.replace("@C", &command));
        }
        let is_simple = !command.contains(['\'', '"', '$', '|', '>', '<', ';', '&', '{']);
        for wrapper in WRAPPERS
            .iter()
            .filter(|_| is_simple && !command.starts_with(':'))
        {
            judge.stops_command(&wrapper.replace("@C", &command));
        }
    }
    for way in lines("quoted") {
        for place in PLAIN_PLACES {
            judge.stops_command(&way.replace("@P", place));
        }
    }
    for (tool, input) in lines("changes")
        .take(12)
        .flat_map(|way| forms(&way.replace("@P", ".ahp/hooks.yaml")))
    {
        judge.stops_tool(tool, input);
    }
    judge.end(2_000);
}

#[test]
fn what_finds_a_guarded_place_and_changes_it_is_stopped() {
    let mut judge = Judge::new();
    for way in lines("finds") {
        judge.stops_command(&way);
        for context in CONTEXTS {
            judge.stops_command(&context.replace("@C", &way));
        }
    }
    judge.end(300);
}

#[test]
fn a_guarded_place_at_the_end_of_a_long_list_is_stopped() {
    let mut judge = Judge::new();
    // Past the last length the list is not followed to its end, and names a guarded place.
    for length in [1, 7, 300, 5_000] {
        let names: Vec<String> = (0..length).map(|n| format!("f{n}")).collect();
        for (way, separator) in [
            ("echo @L @P | xargs rm -rf", " "),
            ("printf '%s\\n' @L @P | xargs rm -rf", " "),
            ("xargs rm -rf <<< '@L @P'", " "),
            ("xargs -n1 rm -rf <<E\n@L\n@P\nE", "\n"),
            ("cat <<E | xargs -I{} mv {} /tmp/x\n@L\n@P\nE", "\n"),
            (
                "while read -r f; do rm -rf \"$f\"; done <<E\n@L\n@P\nE",
                "\n",
            ),
            ("mapfile -t all <<E\n@L\n@P\nE\nrm -rf \"${all[@]}\"", "\n"),
            ("rm -rf @L @P", " "),
            ("for f in @L @P; do rm -rf $f; done", " "),
            ("find @L @P -delete", " "),
        ] {
            let list = names.join(separator);
            for (place, is_guarded) in [(".ahp", true), ("build", false)] {
                let command = way.replace("@L", &list).replace("@P", place);
                if is_guarded && length > 1_000 {
                    judge.does_not_let_pass(&command);
                } else if is_guarded {
                    judge.stops_command(&command);
                } else if length < 1_000 {
                    judge.lets_pass(&command);
                }
            }
        }
    }
    judge.end(70);
}

#[test]
fn reading_a_guarded_place_passes_in_every_form() {
    let mut judge = Judge::new();
    for way in lines("reads") {
        for place in PLACES {
            judge.lets_pass(&way.replace("@P", place));
        }
        let command = way.replace("@P", ".ahp/hooks.yaml");
        for context in CONTEXTS {
            judge.lets_pass(&context.replace("@C", &command));
        }
    }
    judge.end(1_000);
}

#[test]
fn what_only_looks_like_a_guarded_place_passes() {
    let mut judge = Judge::new();
    for way in lines("near") {
        judge.lets_pass(&way);
        for context in CONTEXTS.iter().filter(|_| !way.contains("<<")) {
            judge.lets_pass(&context.replace("@C", &way));
        }
    }
    judge.end(500);
}
