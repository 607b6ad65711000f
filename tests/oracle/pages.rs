//! The pages below `docs/oracles/`: made from the code, each with a worked example that runs as a test.

use std::path::Path;

use ahp::oracle::builtin::BUILTINS;
use ahp::oracle::{Definition, page};
use ahp::policy_test;
use ahp::policy_test::Runner;
use ahp::process::Program;
use ahp::signal::Intensity;

use crate::world::accepts_new_output;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns where the worked example of an oracle lies.
fn example(definition: &Definition) -> String {
    format!("tests/cases/oracle/{}.yaml", definition.kebab)
}

/// Returns the whole page: what the code tells, and the worked example.
fn whole_page(definition: &Definition) -> String {
    let path = example(definition);
    let example = std::fs::read_to_string(root().join(&path)).unwrap_or_else(|_| {
        panic!("{path} is missing: every oracle has a worked example, a policy test with at least one case that accepts and one that signals")
    });
    format!(
        "<!-- Made from the code; `INSTA_UPDATE=always cargo test --test main pages` makes it anew. -->\n\n{}\n## Worked example\n\n\
         This is the file `{path}` of the source repository. There `ahp test {path}` runs it.\n\n```yaml\n{}\n```\n",
        page(definition),
        example.trim_end()
    )
}

#[test]
fn every_page_tells_what_the_code_says() {
    let dir = root().join("docs/oracles");
    let update = accepts_new_output();
    let mut stale = Vec::new();
    for definition in BUILTINS {
        let page = whole_page(definition);
        let path = dir.join(format!("{}.md", definition.kebab));
        if update {
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(&path, &page).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != page {
            stale.push(definition.kebab);
        }
    }
    assert!(
        stale.is_empty(),
        "docs/oracles is behind the code for {stale:?}; `INSTA_UPDATE=always cargo test --test main pages` writes it"
    );
    for entry in std::fs::read_dir(&dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = BUILTINS.iter().any(|d| format!("{}.md", d.kebab) == name);
        assert!(
            known || name == "README.md",
            "docs/oracles/{name} belongs to no oracle"
        );
    }
}

#[test]
fn every_worked_example_accepts_once_and_signals_once() {
    let mut runner = Runner::new(root());
    for definition in BUILTINS {
        let path = example(definition);
        let file = policy_test::read(&root().join(&path), &path);
        let faults: Vec<_> = file
            .faults
            .iter()
            .map(|f| f.one_line(&file.sources))
            .collect();
        assert!(faults.is_empty(), "{faults:?}");
        let mut quiet = 0;
        for case in &file.cases {
            let outcome = runner.run(&file, case);
            let differences: Vec<_> = outcome
                .differences
                .iter()
                .map(ToString::to_string)
                .collect();
            assert!(outcome.passes(), "{path}: {}: {differences:?}", case.name);
            quiet += usize::from(case.expect.decision.as_deref() == Some("none"));
        }
        // Who only ever informs has no other side to show.
        let informs = definition.intensities == [Intensity::Aid];
        // What programs find is not to be had in a made-up project.
        let by_programs = definition.kebab == "lint-checker";
        assert!(
            by_programs || quiet < file.cases.len(),
            "{path} must show what the oracle says"
        );
        assert!(
            quiet > 0 || informs,
            "{path} must show what the oracle accepts"
        );
    }
}

#[test]
fn the_policy_on_each_page_is_valid() {
    for definition in BUILTINS {
        let page = page(definition);
        let (_, after) = page
            .split_once("```yaml\n")
            .unwrap_or_else(|| panic!("{} has no example", definition.name));
        let (policy, _) = after.split_once("```").unwrap();
        assert!(policy.contains(definition.name), "{policy}");
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".ahp")).unwrap();
        std::fs::write(dir.path().join(".ahp/hooks.yaml"), policy).unwrap();
        // The one example that names a file which must be there.
        std::fs::create_dir_all(dir.path().join(".github/hooks")).unwrap();
        let hooks = root().join("tests/cases/oracle/command-hooks.json");
        std::fs::copy(hooks, dir.path().join(".github/hooks/security.json")).unwrap();
        let finished = Program::new(vec![
            env!("CARGO_BIN_EXE_ahp").to_owned(),
            "check".to_owned(),
        ])
        .dir(dir.path())
        .env("HOME", dir.path())
        .env("AHP_HOME", dir.path().join("home"))
        .run()
        .unwrap();
        assert!(
            finished.exit.is_success(),
            "{}: {}{}",
            definition.name,
            finished.stdout_text(),
            finished.stderr_text()
        );
    }
}
