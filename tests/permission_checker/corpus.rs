//! Walks the corpus and prints how many of each side are judged as they should be.

use std::path::PathBuf;

use ahp::danger::{Selection, judge};
use ahp::shell::{Surroundings, analyse};

fn surroundings() -> Surroundings {
    Surroundings {
        work_dir: PathBuf::from("/home/u/p"),
        home: Some(PathBuf::from("/home/u")),
        project_root: PathBuf::from("/home/u/p"),
    }
}

fn cases(text: &str) -> Vec<(String, String)> {
    let mut reason = "";
    let mut cases = Vec::new();
    for line in text.lines() {
        if let Some(found) = line.strip_prefix("## ") {
            reason = found;
        } else if !line.is_empty() && !line.starts_with("# Commands") {
            cases.push((reason.to_owned(), line.replace("\\n", "\n")));
        }
    }
    cases
}

fn rules(command: &str) -> Vec<String> {
    let selection = Selection {
        presets: vec!["standard".to_owned()],
        ..Selection::default()
    };
    judge(&analyse(command, surroundings()), &selection)
        .into_iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn destructive_commands_are_stopped() {
    let cases = cases(include_str!("destructive.txt"));
    let missed: Vec<_> = cases
        .iter()
        .filter(|(_, command)| rules(command).is_empty())
        .collect();
    println!(
        "destructive: {} of {} stopped",
        cases.len() - missed.len(),
        cases.len()
    );
    let list: Vec<String> = missed
        .iter()
        .map(|(reason, command)| format!("  {command}   ({reason})"))
        .collect();
    assert!(
        missed.is_empty(),
        "{} let through:\n{}",
        missed.len(),
        list.join("\n")
    );
}

#[test]
fn everyday_commands_are_not_touched() {
    let cases = cases(include_str!("everyday.txt"));
    let touched: Vec<_> = cases
        .iter()
        .map(|(_, command)| (command, rules(command)))
        .filter(|(_, rules)| !rules.is_empty())
        .collect();
    println!("everyday: {} of {} touched", touched.len(), cases.len());
    let list: Vec<String> = touched
        .iter()
        .map(|(command, rules)| format!("  {command}   {rules:?}"))
        .collect();
    assert!(
        touched.is_empty(),
        "{} touched:\n{}",
        touched.len(),
        list.join("\n")
    );
}

#[test]
fn the_corpus_is_large() {
    let destructive = cases(include_str!("destructive.txt")).len();
    let everyday = cases(include_str!("everyday.txt")).len();
    assert!(
        destructive >= 400 && everyday >= 300,
        "{destructive} and {everyday}"
    );
}
