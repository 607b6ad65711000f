//! Collections that were written by people who had seen neither rules nor tests, each judged once before anybody read it.
//!
//! What is still judged wrong stands in the snapshot, so that a change of a verdict is seen. Commands are judged by their words
//! alone: none of the files and branches that they name is here to be asked about.

use std::fmt::Write as _;
use std::path::PathBuf;

use ahp::danger::{Selection, judge};
use ahp::shell::{Surroundings, analyse};
use ahp::signal::Severity;
use serde::Deserialize;
use serde_json::Value;

use super::oracle::evaluate;
use crate::world::World;

#[derive(Deserialize)]
struct Command {
    command: String,
    expect: String,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    input: Value,
    expect: String,
}

/// Returns whether the default policy stops a command or asks about it.
fn is_stopped(command: &str) -> bool {
    let surroundings = Surroundings {
        work_dir: PathBuf::from("/home/dev/shop"),
        home: Some(PathBuf::from("/home/dev")),
        project_root: PathBuf::from("/home/dev/shop"),
    };
    let selection = Selection {
        presets: vec!["standard".to_owned()],
        ..Selection::default()
    };
    let found = judge(&analyse(command, surroundings), &selection);
    found
        .iter()
        .any(|finding| finding.severity >= Severity::High)
}

/// Judges every collection of a kind.
macro_rules! every {
    ($kind:literal, $judge:ident) => {
        every!($kind, $judge, "1" "2" "3" "4" "5" "6")
    };
    ($kind:literal, $judge:ident, $($number:literal)*) => {
        [$($judge($number, include_str!(concat!("blind/", $kind, "-", $number, ".jsonl")))),*].concat()
    };
}

fn told(name: &str, lines: &str, mut judge: impl FnMut(&str) -> (bool, bool, String)) -> String {
    let mut wrong = String::new();
    let mut counts = [[0; 2]; 2];
    for line in lines.lines() {
        let (should, does, shown) = judge(line);
        counts[usize::from(should)][usize::from(does)] += 1;
        if should != does {
            let sign = if should { "missed" } else { "touched" };
            writeln!(wrong, "{sign} {}", shown.replace('\n', "\\n")).unwrap();
        }
    }
    let [[_, touched], [missed, stopped]] = counts;
    format!("{name}: {stopped} stopped, {missed} missed, {touched} touched\n{wrong}")
}

fn commands(name: &str, lines: &str) -> String {
    told(name, lines, |line| {
        let one: Command = serde_json::from_str(line).unwrap();
        (one.expect == "stop", is_stopped(&one.command), one.command)
    })
}

#[test]
fn everyday_commands() {
    insta::assert_snapshot!(
        every!("commands", commands, "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11" "12" "13" "14" "15" "16" "17" "18" "19" "20" "21" "22" "23" "24")
    );
}

#[test]
fn losses() {
    insta::assert_snapshot!(
        every!("losses", commands, "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11" "12" "13" "14" "15" "16" "17" "18" "19" "20" "21" "22")
    );
}

#[test]
fn reads() {
    let world = World::new("");
    let calls = |name: &str, lines: &str| {
        told(name, lines, |line| {
            let one: Call = serde_json::from_str(line).unwrap();
            let shown = format!("{} {}", one.tool, one.input);
            let mut found = evaluate(
                &world,
                "PermissionChecker",
                "{preset: secrets}",
                &one.tool,
                one.input.clone(),
            )
            .unwrap();
            found
                .extend(evaluate(&world, "PermissionChecker", "{}", &one.tool, one.input).unwrap());
            (one.expect == "stop", !found.is_empty(), shown)
        })
    };
    insta::assert_snapshot!(every!("reads", calls));
}
