//! What is printed in the documents and in the heads of scripts is true: it is made from the code, and run.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::engine::Engine;
use ahp::oracle::rhai::{BUNDLED, Script, manual};
use ahp::policy_test;
use ahp::policy_test::Runner;

use crate::documents::blocks_of;
use crate::world::accepts_new_output;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// Compares the part of a document that is made from the code; `INSTA_UPDATE=always` writes it.
fn made_from_the_code(name: &str, mark: &str, text: &str) {
    let path = docs().join(name);
    let document = fs::read_to_string(&path).unwrap();
    let (head, rest) = document.split_once(mark).unwrap();
    let made = format!("\n\n{}\n", text.trim_end());
    if accepts_new_output() {
        fs::write(&path, format!("{head}{mark}{made}")).unwrap();
    } else {
        assert!(
            rest == made,
            "docs/{name} is not as the code says: run this test with INSTA_UPDATE=always"
        );
    }
}

#[test]
fn the_reference_is_made_from_the_code() {
    let mark =
        "<!-- made from the code: do not edit below; `ahp oracle reference` prints the same -->";
    made_from_the_code("writing-oracles.md", mark, &manual::reference());
}

#[test]
fn the_library_is_made_from_the_scripts() {
    let mark = "<!-- made from the code: do not edit below -->";
    made_from_the_code("oracle-library.md", mark, &manual::library());
}

fn faults_of_policy(text: &str, root: &Path) -> Vec<String> {
    let engine = Engine::builder()
        .policy_text(text)
        .root(root)
        .without_log()
        .build()
        .unwrap();
    let state = engine.state();
    let told = state
        .faults()
        .iter()
        .map(|fault| fault.one_line(state.sources()));
    told.collect()
}

#[test]
fn every_policy_in_the_head_of_a_script_compiles() {
    for bundled in BUNDLED {
        let script = Script::compile(bundled.name, bundled.name, bundled.source).unwrap();
        let mut count = 0;
        for policy in blocks_of(bundled.name, script.page()) {
            assert_eq!(
                policy.language, "yaml",
                "{}: nothing runs this",
                bundled.name
            );
            count += 1;
            assert_eq!(
                faults_of_policy(&policy.text, Path::new("/nowhere")),
                [""; 0],
                "{}",
                bundled.name
            );
        }
        assert!(count > 0, "{} shows no policy", bundled.name);
    }
}

#[test]
fn an_expectation_is_rewritten_where_it_stands() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("x.yaml");
    let text = "# kept\noracle: change-size\ntrigger: pre-issue-submit\nconfig: {elsewhere: 1}\ntests:\n  - name: a\n    expect: none # wrong\n    project: {issue: \"---\\nid: A-1\\n---\\n\", changed: [a, b]}\n  - name: b\n    expect:\n      decision: block\n";
    fs::write(&path, text).unwrap();
    let mut runner = Runner::new(place.path());
    let file = policy_test::read(&path, "x.yaml");
    let outcomes: Vec<_> = file
        .cases
        .iter()
        .map(|case| runner.run(&file, case))
        .collect();
    assert!(outcomes.iter().all(|outcome| !outcome.passes()));
    let results = file.cases.iter().zip(&outcomes);
    let results = results.map(|(case, outcome)| (case, outcome.verdict.as_ref().unwrap()));
    let (updated, left) = policy_test::updated(&file.text, results);
    assert!(left.is_empty());
    fs::write(&path, &updated).unwrap();
    assert!(updated.starts_with("# kept\n"), "{updated}");
    assert!(updated.contains("    project: {issue:"), "{updated}");
    let file = policy_test::read(&path, "x.yaml");
    for case in &file.cases {
        assert!(runner.run(&file, case).passes(), "{updated}");
    }
}
