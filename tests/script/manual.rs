//! What is printed in the documents and in the heads of scripts is true: it is made from the code, and run.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use ahp::engine::Engine;
use ahp::oracle::rhai::BUNDLED;
use ahp::oracle::rhai::Script;
use ahp::oracle::rhai::manual;
use ahp::policy_test;
use ahp::policy_test::Runner;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// Compares the part of a document that is made from the code; `AHP_UPDATE_DOCS=1` writes it.
fn made_from_the_code(name: &str, mark: &str, text: &str) {
    let path = docs().join(name);
    let document = fs::read_to_string(&path).unwrap();
    let (head, rest) = document.split_once(mark).unwrap();
    let made = format!("\n\n{}\n", text.trim_end());
    if std::env::var_os("AHP_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{head}{mark}{made}")).unwrap();
    } else {
        assert!(
            rest == made,
            "docs/{name} is not as the code says: run this test with AHP_UPDATE_DOCS=1"
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

/// A fenced block of a document: its language, its text, and the line of text before it.
struct Block {
    language: String,
    text: String,
    before: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = String::new();
    for line in document.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.to_owned(),
                    text: String::new(),
                    before: before.clone(),
                });
            }
            (None, None) if !line.is_empty() => line.clone_into(&mut before),
            (None, None) => {}
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    blocks
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
fn every_block_of_the_documents_is_run() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::create_dir_all(root.join(".ahp/oracles")).unwrap();
    let document = fs::read_to_string(docs().join("writing-oracles.md")).unwrap();
    let blocks = blocks(&document);
    for block in blocks.iter().filter(|block| block.language == "rhai") {
        let Some(file) = block
            .before
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix("`:"))
        else {
            continue;
        };
        let name = Path::new(file).file_stem().unwrap().to_string_lossy();
        let script = Script::compile(&name, file, &block.text).unwrap();
        assert_eq!(script.misspelt_facts(), [], "{file}");
        fs::write(root.join(file), &block.text).unwrap();
    }
    for block in blocks.iter().filter(|block| block.language == "yaml") {
        if block.text.starts_with("hooks:") {
            assert_eq!(
                faults_of_policy(&block.text, root),
                [""; 0],
                "{}",
                block.text
            );
        }
    }
    fs::write(root.join("tests.md"), &document).unwrap();
    let file = policy_test::read(&root.join("tests.md"), "docs/writing-oracles.md").unwrap();
    assert!(file.faults.is_empty(), "{:?}", file.faults);
    assert!(file.cases.len() > 6);
    let mut runner = Runner::new(root);
    for case in &file.cases {
        let outcome = runner.run(&file, case);
        let told: Vec<_> = outcome
            .differences
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            told.is_empty(),
            "line {}: {}\n{}",
            case.line,
            case.name,
            told.join("\n")
        );
    }
}

#[test]
fn every_policy_in_the_head_of_a_script_compiles() {
    for bundled in BUNDLED {
        let script = Script::compile(bundled.name, bundled.name, bundled.source).unwrap();
        let policies = blocks(script.page())
            .into_iter()
            .filter(|block| block.language == "yaml");
        let mut count = 0;
        for policy in policies {
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
    let file = policy_test::read(&path, "x.yaml").unwrap();
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
    let file = policy_test::read(&path, "x.yaml").unwrap();
    for case in &file.cases {
        assert!(runner.run(&file, case).passes(), "{updated}");
    }
}
