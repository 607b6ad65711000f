//! Readers: each program that is known to only read, with each option, variable and piece of code by which it writes or
//! runs something. The cases are made of the table of programs and of `readers.txt`.

use std::collections::BTreeMap;

use super::classes::{Judge, PLACES};

const TABLE: &str = include_str!("../../policies/programs.table");

/// The facts of each program, by their names.
fn programs() -> BTreeMap<&'static str, BTreeMap<&'static str, Vec<&'static str>>> {
    let mut programs: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
    for section in TABLE.split("\n\n") {
        let mut lines = section.lines().skip_while(|line| line.starts_with('#'));
        let Some(names) = lines.next().and_then(|line| line.strip_prefix('[')) else {
            continue;
        };
        for line in lines {
            let mut words = line.split(' ');
            let fact = words.next().unwrap();
            for name in names.trim_end_matches(']').split(' ') {
                let facts = programs.entry(name).or_default();
                facts.entry(fact).or_default().extend(words.clone());
            }
        }
    }
    programs
}

/// Returns the readers as a command begins with them, each with its facts.
fn readers() -> Vec<(String, BTreeMap<&'static str, Vec<&'static str>>)> {
    programs()
        .into_iter()
        .filter(|(name, facts)| facts.contains_key("reads") && *name != "json.tool")
        .map(|(name, facts)| (name.replace(':', " "), facts))
        .collect()
}

/// Returns the ways to give an option a value.
fn given(program: &str, option: &str) -> Vec<String> {
    if let Some(start) = option.strip_suffix('*') {
        return vec![format!("{program} '{start}rm' @P")];
    }
    if !option.starts_with('-') {
        return vec![format!("{program} {option} @P")];
    }
    let mut ways = vec![format!("{program} {option} @P")];
    if option.starts_with("--") {
        ways.push(format!("{program} {option}=@P"));
    } else if option.len() == 2 {
        ways.push(format!("{program} {option}@P"));
    }
    ways
}

#[test]
fn an_option_by_which_a_reader_writes_or_runs_is_stopped() {
    let mut judge = Judge::new();
    let all = programs();
    for (program, facts) in readers() {
        // What an option gives to a shell is judged as a command of its own.
        let base = program.split(' ').next().unwrap();
        let mut other = facts.get("only").cloned().unwrap_or_default();
        for name in [base, program.as_str()] {
            let of_base = all.get(name).and_then(|facts| facts.get("runs-values"));
            other.extend(of_base.cloned().unwrap_or_default());
        }
        let ending = ["unless", "output"].iter();
        let ending = ending.flat_map(|fact| facts.get(fact).cloned().unwrap_or_default());
        for (nth, option) in ending.filter(|option| !other.contains(option)).enumerate() {
            for way in given(&program, option) {
                let places = if nth == 0 { PLACES } else { &PLACES[..1] };
                for place in places {
                    judge.stops_command(&way.replace("@P", place));
                }
            }
        }
    }
    judge.end(700);
}

#[test]
fn an_option_that_nobody_knows_is_not_known_to_read_its_value() {
    let mut judge = Judge::new();
    for (program, _) in readers() {
        // `-%` is an option of nothing.
        for way in ["--no-such-option=@P", "--no-such-option @P", "-% @P"] {
            // A word behind an option of `sed` is its script, which names no file that is opened.
            if program.ends_with("sed") && way.contains(' ') {
                continue;
            }
            let way = way.replace("@P", ".ahp/hooks.yaml");
            judge.stops_command(&format!("{program} {way}"));
        }
    }
    judge.end(400);
}

#[test]
fn an_option_that_is_known_to_read_takes_nothing_from_a_reader() {
    let mut judge = Judge::new();
    for (program, facts) in readers() {
        // What `zip` is given first is the archive that it writes.
        let mut needs_more = ["with", "only", "sweeps"].iter();
        if needs_more.any(|fact| facts.contains_key(fact)) || program == "zip" {
            continue;
        }
        let letters = facts
            .get("letters")
            .and_then(|words| words.first())
            .copied();
        let letters = letters
            .filter(|letters| *letters != "*")
            .unwrap_or_default();
        let flags = facts.get("flags").cloned().unwrap_or_default();
        let options = letters.chars().map(|letter| format!("-{letter}"));
        for option in options.chain(flags.into_iter().map(str::to_owned)) {
            judge.lets_pass(&format!("{program} {option} .ahp/hooks.yaml"));
        }
        judge.lets_pass(&format!("{program} .ahp/hooks.yaml"));
    }
    judge.end(1_500);
}

#[test]
fn a_variable_that_makes_a_reader_run_something_makes_its_reading_unknown() {
    let mut judge = Judge::new();
    let all = &programs()["*"];
    for variable in all["runs-variables"].iter().chain(&all["steers"]) {
        for reader in ["git log", "less", "rg x"] {
            let command = format!("{variable}=./made {reader} .ahp/hooks.yaml");
            judge.stops_command(&command);
            judge.stops_command(&format!("export {}", command.replacen(' ', "; ", 1)));
        }
    }
    for variable in &all["runs-variables"] {
        judge.lets_pass(&format!("{variable}=cat git log .ahp/hooks.yaml"));
        judge.lets_pass(&format!(
            "export {variable}='less -R'; git log -p .ahp/hooks.yaml"
        ));
    }
    for variable in &all["harmless-variables"] {
        judge.lets_pass(&format!("{variable}=1 git log .ahp/hooks.yaml"));
    }
    judge.end(300);
}

#[test]
fn ways_of_readers_to_write_are_stopped_and_ordinary_reading_passes() {
    let mut judge = Judge::new();
    for line in include_str!("readers.txt").lines() {
        let Some((verdict, command)) = line.split_once(": ") else {
            continue;
        };
        let command = command
            .replace("\\n", "\n")
            .replace("@P", ".ahp/hooks.yaml");
        match verdict {
            "writes" => judge.stops_command(&command),
            "reads" => judge.lets_pass(&command),
            _ => {}
        }
    }
    judge.end(350);
}
