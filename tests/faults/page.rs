//! `docs/security.md`: the tests that it names, the figures that it shows, and what it says is out of reach.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::accepts_new_output;

/// Where the figures stand in the page.
const FIGURES: &str = "| fault | whole process | peak of memory |\n|---|---|---|\n";

/// Where the ways stand that are out of reach.
const BEYOND: &str = "| an agent could | why that is out of reach |\n|---|---|\n";

/// Where promises stand with the tests that hold them.
const PROMISES: &str = "| promise | the test that holds it | out of reach |\n|---|---|---|\n";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md")
}

/// Returns what stands before the rows of the table below a head, the rows, and what stands after them.
fn around<'a>(page: &'a str, head: &str) -> (&'a str, &'a str, &'a str) {
    let (before, rest) = page.split_once(head).unwrap();
    // An empty table ends where it begins.
    let (rows, after) = match rest.strip_prefix('\n') {
        Some(after) => ("", after),
        None => rest.split_once("\n\n").unwrap(),
    };
    (before, rows, after)
}

/// Returns the rows of the table below a head, after they were written anew where that is asked for.
fn rows(head: &str, new: &str) -> String {
    let text = fs::read_to_string(page()).unwrap();
    let (before, shown, after) = around(&text, head);
    if !accepts_new_output() {
        return shown.to_owned();
    }
    fs::write(page(), format!("{before}{head}{new}\n\n{after}")).unwrap();
    new.to_owned()
}

/// Takes the figures of a run: written where that is asked for; else the page must show the same faults.
pub(super) fn figures(measured: &[String]) {
    let shown = rows(FIGURES, &measured.join("\n"));
    let fault = |row: &str| row.split(" | ").next().unwrap_or_default().to_owned();
    let measured: Vec<String> = measured.iter().map(|row| fault(row)).collect();
    let shown: Vec<String> = shown.lines().map(fault).collect();
    assert_eq!(shown, measured, "INSTA_UPDATE=always writes them");
}

#[test]
fn what_is_out_of_reach_stands_in_the_threat_model() {
    let ways = include_str!("../red_team/ways.txt").lines();
    let beyond: Vec<String> = ways
        .filter_map(|line| line.strip_prefix("beyond: ")?.rsplit_once(" # "))
        .map(|(way, why)| format!("| `{}` | {why} |", way.replace('|', "\\|")))
        .collect();
    let beyond = beyond.join("\n");
    let shown = rows(BEYOND, &beyond);
    assert_eq!(shown, beyond, "INSTA_UPDATE=always writes it");
}

#[test]
fn the_threat_model_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut count = 0;
    for named in page
        .split('`')
        .filter(|text| text.starts_with("tests/") || text.starts_with("src/"))
    {
        let Some((file, test)) = named.split_once("::") else {
            assert!(root.join(named).exists(), "{named}");
            continue;
        };
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        assert!(text.contains(&format!("fn {test}(")), "there is no {named}");
        count += 1;
    }
    assert!(count > 25, "{count}");
}

#[test]
fn each_promise_of_the_threat_model_names_a_test() {
    let page = fs::read_to_string(page()).unwrap();
    let mut count = 0;
    for table in page.split(PROMISES).skip(1) {
        for row in table.lines().take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.split(" | ").collect();
            assert_eq!(cells.len(), 3, "{row}");
            assert!(cells[1].contains("::"), "{row}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
