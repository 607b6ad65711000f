//! Everything that is printed in the documents is run: policies, tests, scripts and command lines.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use ahp::engine::Engine;
use ahp::oracle::rhai::Script;
use ahp::oracle::rhai::api::GROUPS;
use ahp::policy_test;
use ahp::policy_test::Runner;

use crate::world::World;

/// A fenced block of a document.
pub(crate) struct Block {
    file: String,
    /// Its first line, from 1.
    line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// The line of text before it.
    before: String,
}

/// What is printed and not run here: the file, how the block or the command begins, and why.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", " agent host ──event──►", "a picture"),
    ("docs/architecture.md", " host bytes", "a picture"),
    (
        "README.md",
        "cargo run --release -- demo",
        "a release build; `.ci/run` runs it",
    ),
    ("README.md", "cargo test", "this is it"),
    ("README.md", "cargo install", "a release build"),
    (
        "docs/performance.md",
        "cargo bench",
        "a measurement of minutes",
    ),
    (
        "docs/performance.md",
        "benches/",
        "a measurement of minutes",
    ),
    (
        "docs/performance.md",
        ".ci/instructions",
        "needs a release build; `.ci/run` runs it",
    ),
    (
        "docs/writing-oracles.md",
        "use ahp::oracle::",
        "a doc test of the library",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every document for readers, relative to the root.
fn documents() -> Vec<String> {
    let mut found = vec!["README.md".to_owned()];
    let mut open = vec![PathBuf::from("docs")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(root().join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn blocks(file: &str) -> Vec<Block> {
    blocks_of(file, &fs::read_to_string(root().join(file)).unwrap())
}

/// Returns the fenced blocks of a text.
pub(crate) fn blocks_of(file: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = String::new();
    for (n, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    file: file.to_owned(),
                    line: n + 2,
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
    assert!(open.is_none(), "{file}: a block has no end");
    blocks
}

fn all_blocks() -> Vec<Block> {
    let documents = documents();
    documents.iter().flat_map(|file| blocks(file)).collect()
}

/// Whether something is in the list of what is not run.
fn is_excused(file: &str, text: &str) -> bool {
    NOT_RUN
        .iter()
        .any(|(of, begins, _)| *of == file && text.starts_with(begins))
}

#[test]
fn every_block_is_of_a_kind_that_is_run_or_is_excused() {
    for block in all_blocks() {
        let known = match block.language.as_str() {
            "yaml" => {
                let is_policy = [
                    "hooks:",
                    "extends:",
                    "settings:",
                    "policy:",
                    "oracle:",
                    "pack:",
                    "#",
                ];
                is_policy.iter().any(|key| block.text.starts_with(key))
            }
            "rhai" | "rules" | "console" => true,
            _ => is_excused(&block.file, &block.text),
        };
        assert!(known, "{}:{}: nothing runs this", block.file, block.line);
    }
    for (file, begins, _) in NOT_RUN {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(begins), "{file} has no `{begins}` any more");
    }
}

/// Lays the scripts and files of rules that a document shows where it says that they are.
fn lay_scripts(blocks: &[Block], place: &Path) {
    for block in blocks
        .iter()
        .filter(|block| matches!(block.language.as_str(), "rhai" | "rules"))
    {
        let named = block.before.strip_prefix('`');
        let Some(file) = named.and_then(|rest| rest.strip_suffix("`:")) else {
            continue;
        };
        let path = place.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &block.text).unwrap();
    }
}

#[test]
fn every_policy_is_sound() {
    let mut count = 0;
    for file in documents() {
        let place = tempfile::tempdir().unwrap();
        let blocks = blocks(&file);
        lay_scripts(&blocks, place.path());
        // Files that examples name.
        fs::write(place.path().join("team.yaml"), "hooks: {}\n").unwrap();
        fs::create_dir_all(place.path().join(".github/hooks")).unwrap();
        fs::copy(
            root().join("tests/cases/oracle/command-hooks.json"),
            place.path().join(".github/hooks/security.json"),
        )
        .unwrap();
        for block in blocks.iter().filter(|block| block.language == "yaml") {
            if block.text.lines().any(|line| line == "tests:") {
                continue;
            }
            count += 1;
            let engine = Engine::builder()
                .policy_text(&block.text)
                .root(place.path())
                .without_log()
                .build()
                .unwrap();
            let state = engine.state();
            let faults: Vec<_> = state
                .faults()
                .iter()
                .map(|fault| fault.one_line(state.sources()))
                .collect();
            assert!(faults.is_empty(), "{file}:{}: {faults:#?}", block.line);
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn every_test_of_a_policy_passes() {
    let mut count = 0;
    for file in documents() {
        let place = tempfile::tempdir().unwrap();
        let blocks = blocks(&file);
        lay_scripts(&blocks, place.path());
        // A page of an oracle shows a test of this project, with the files beside it.
        let beside = root().join("tests/cases/oracle/command-hooks.json");
        fs::copy(beside, place.path().join("command-hooks.json")).unwrap();
        let copy = place.path().join("document.md");
        fs::copy(root().join(&file), &copy).unwrap();
        let tests = policy_test::read(&copy, &file).unwrap();
        let faults: Vec<_> = tests
            .faults
            .iter()
            .map(|fault| fault.one_line(&tests.sources))
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
        let scripts = file == "docs/writing-oracles.md";
        let mut runner = Runner::new(if scripts { place.path() } else { root() });
        for case in &tests.cases {
            count += 1;
            let outcome = runner.run(&tests, case);
            let told: Vec<_> = outcome
                .differences
                .iter()
                .map(ToString::to_string)
                .collect();
            let told = told.join("\n");
            assert!(
                told.is_empty(),
                "{file}:{}: {}\n{told}",
                case.line,
                case.name
            );
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn every_script_is_one_that_is_run_elsewhere_or_compiles() {
    let examples: Vec<_> = GROUPS
        .iter()
        .flat_map(|group| group.functions)
        .map(|function| function.example)
        .collect();
    for block in all_blocks().iter().filter(|block| block.language == "rhai") {
        let text = block.text.trim();
        // The examples of functions are run one by one, in `script::functions`.
        if examples.contains(&text) {
            continue;
        }
        // The library shows the constants of scripts.
        let source = if text.contains("fn evaluate(") {
            text.to_owned()
        } else {
            format!("{text}\nfn evaluate(ctx) {{ accept() }}")
        };
        let script = Script::compile("shown", &block.file, &source);
        let script = script.unwrap_or_else(|e| panic!("{}:{}: {e}", block.file, block.line));
        assert_eq!(script.misspelt_facts(), [], "{}:{}", block.file, block.line);
    }
}

/// Splits a block of commands into each command without its comment, and the lines that it prints.
fn commands(block: &Block) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.split("  #").next().unwrap_or(command);
            found.push((command.trim().to_owned(), Vec::new()));
        } else if let Some((_, printed)) = found.last_mut() {
            printed.push(line);
        }
    }
    found
}

/// Whether a printed line is as shown; `…` stands for what differs from run to run.
fn is_as_shown(shown: &str, printed: &str) -> bool {
    let mut rest = printed;
    for (n, part) in shown.split('…').enumerate() {
        match rest.split_once(part) {
            _ if part.is_empty() => {}
            Some((skipped, behind)) if n > 0 || skipped.is_empty() => rest = behind,
            _ => return false,
        }
    }
    rest.is_empty() || shown.ends_with('…')
}

const ISSUE: &str = "---\nid: FEAT-0001\ntype: feature\nstatus: open\nstage: doing\ntitle: Users\n---\n\n## Tasks\n\n- [ ] API docs\n";

#[test]
fn every_command_runs_and_prints_what_is_shown() {
    let world = World::new("");
    // The policy with gates for the work is the README's own.
    let readme = blocks("README.md");
    let policy = readme
        .iter()
        .filter(|block| block.language == "yaml")
        .nth(1)
        .unwrap();
    world.write(".ahp/hooks.yaml", &policy.text);
    world.write(
        ".ahp/hooks.local.yaml",
        "hooks: {pre-agent-turn: [{oracle: asker}]}\n",
    );
    world.write(
        ".ahp/oracles/asker.rhai",
        "fn evaluate(ctx) { prompt(`is it ${history().len()}?`) }\n",
    );
    world.write("Issues/Features/open/FEAT-0001-users.md", ISSUE);
    world.git_init();
    let program = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
    for block in all_blocks()
        .iter()
        .filter(|block| block.language == "console")
    {
        for (command, shown) in commands(block) {
            if is_excused(&block.file, &command) {
                continue;
            }
            let at = format!("{}:{}: `{command}`", block.file, block.line);
            if command.starts_with("ahp respond") {
                // Something that can be answered by every word that is shown.
                world.ahp(&["run", "pre-agent-turn"]);
            }
            let line = format!("PATH=\"{}:$PATH\"; {command}", program.display());
            let ran = world.command("sh").args(["-c", &line]).output().unwrap();
            let printed = String::from_utf8_lossy(&ran.stdout);
            let told = String::from_utf8_lossy(&ran.stderr);
            assert!(
                matches!(ran.status.code(), Some(0 | 2)),
                "{at}: {printed}{told}"
            );
            assert!(!told.contains("Usage:"), "{at}: {told}");
            if shown.is_empty() {
                continue;
            }
            let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
            let same = shown.len() == printed.len()
                && shown.iter().zip(&printed).all(|(s, p)| is_as_shown(s, p));
            assert!(same, "{at} prints\n{}", printed.join("\n"));
        }
    }
}
