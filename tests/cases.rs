//! Every test below `tests/cases` is one test here, run as `ahp test` runs it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says where by panicking"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ahp::config::PACKS;
use ahp::oracle::builtin::BUILTINS;
use ahp::oracle::folded_name;
use ahp::oracle::rhai::BUNDLED;
use ahp::policy_test;
use ahp::policy_test::Runner;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("tests/cases");
    let mut trials = Vec::new();
    let mut subjects = BTreeSet::new();
    let runner = Arc::new(Mutex::new(Runner::new(root)));
    for path in policy_test::find_files(&folder).unwrap() {
        let shown = path.strip_prefix(&folder).unwrap().display().to_string();
        let file = Arc::new(policy_test::read(&path, &shown));
        let faults: Vec<_> = file
            .faults
            .iter()
            .map(|fault| fault.one_line(&file.sources))
            .collect();
        if !faults.is_empty() {
            trials.push(Trial::test(shown, move || {
                Err(Failed::from(faults.join("\n")))
            }));
            continue;
        }
        for case in file.cases.clone() {
            let (file, runner) = (file.clone(), runner.clone());
            subjects.extend(case.subject().map(folded_name));
            let name = format!("{shown}: {}", case.name);
            trials.push(Trial::test(name, move || {
                let outcome = runner.lock().unwrap().run(&file, &case);
                let told: Vec<_> = outcome
                    .differences
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                if told.is_empty() {
                    Ok(())
                } else {
                    Err(Failed::from(told.join("\n")))
                }
            }));
        }
    }
    trials.push(Trial::test("every oracle and pack has a case", move || {
        let oracles = BUILTINS.iter().map(|definition| definition.kebab);
        let scripts = BUNDLED.iter().map(|bundled| bundled.name);
        let packs = PACKS.iter().map(|pack| pack.name);
        let untested: Vec<_> = oracles
            .chain(scripts)
            .chain(packs)
            .filter(|name| !subjects.contains(&folded_name(name)))
            .collect();
        if untested.is_empty() {
            Ok(())
        } else {
            Err(Failed::from(format!(
                "no case below tests/cases for {}",
                untested.join(", ")
            )))
        }
    }));
    libtest_mimic::run(&arguments, trials).exit();
}
