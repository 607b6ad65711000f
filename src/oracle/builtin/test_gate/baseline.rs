//! Baseline: what passed in the last run that is known must still run, unless the change says otherwise.

use std::collections::BTreeSet;

use super::judgement::Outcome;
use crate::oracle::wording::{counted, listed};
use crate::oracle::{HookContext, toolchain};
use crate::signal::Signal;
use crate::workspace::{CommitsOf, EvidenceStore, git, names_id};

/// How many tests are looked for in the commits, and named.
const MOST: usize = 100;
/// How many commits of a branch may name a test.
const MOST_COMMITS: usize = 500;

/// Returns a block where tests that passed before, and belong to what the change began with, do not run any more.
pub(super) fn lost(
    store: &EvidenceStore,
    outcome: &Outcome,
    context: &HookContext,
) -> Option<Signal> {
    let known = store.load().into_iter().rfind(|known| {
        known.success && known.command == outcome.command && !known.tests.is_empty()
    })?;
    let now = &outcome.tally;
    if now.passed_names.is_empty() {
        return None;
    }
    let (skipped, mut gone): (Vec<&String>, Vec<&String>) =
        (known.tests.difference(&now.passed_names))
            .partition(|name| now.skipped_names.contains(*name));
    // As many new names as old ones: they were renamed or moved.
    if now.passed_names.difference(&known.tests).count() >= gone.len() {
        gone.clear();
    }
    let mut lost: Vec<&str> = skipped
        .into_iter()
        .chain(gone)
        .map(|name| short(name))
        .collect();
    lost.sort_unstable();
    lost.dedup();
    lost.truncate(MOST);
    if lost.is_empty() {
        return None;
    }
    let begun = begun_with(&lost, known.head.as_deref(), context);
    let said = said_by_the_change(context);
    lost.retain(|name| begun.contains(*name) && !said.iter().any(|text| names_id(text, name)));
    if lost.is_empty() {
        return None;
    }
    let noun = counted(lost.len(), "test");
    let reason = format!(
        "{noun} that passed before {} skipped or gone, and the change does not say so: {}",
        if lost.len() == 1 { "is" } else { "are" },
        listed(&lost, 20)
    );
    let signal = Signal::block("tests-lost", reason)
        .steps([
            format!("let them run again: {}", listed(&lost, 20)),
            "or, if they are to go, name them in a commit message of this branch or in the issue, with the reason".to_owned(),
        ])
        .about_each("tests-lost", lost.iter().copied());
    Some(signal)
}

/// Returns the part of a test's name that stands in its source: `adds` of `com.p.SumTest.adds`, of `sums::adds` and of
/// `a.test.js > sums > adds`; `test_a` of `test_a[1]`, `TestA` of `TestA/sub`.
fn short(name: &str) -> &str {
    let name = name.rsplit(" > ").next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    if name.contains(' ') {
        return name;
    }
    // A test of Go begins with a capital, and no part of its package's path does.
    name.split('/')
        .filter_map(|part| part.rsplit('.').next())
        .find(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
        .or_else(|| name.rsplit('.').next())
        .unwrap_or(name)
}

/// Returns which of these names stand in the commit that the change is measured against, or in the one of the last run.
fn begun_with(names: &[&str], head: Option<&str>, context: &HookContext) -> BTreeSet<String> {
    let changes = context.facts.changes().ok();
    let base = changes.and_then(|changes| changes.base.as_deref());
    let mut found = BTreeSet::new();
    for commit in base.into_iter().chain(head) {
        let mut arguments = vec!["grep", "--no-textconv", "-h", "-o", "-F"];
        for name in names {
            arguments.extend(["-e", name]);
        }
        arguments.extend([commit, "--"]);
        let program = git(context.root(), &arguments).max_output(64 << 20);
        if let Ok(finished) = toolchain::run(context, program, "git grep") {
            found.extend(finished.stdout_text().lines().map(str::to_owned));
        }
    }
    if base.or(head).is_none() {
        found.extend(names.iter().map(|&name| name.to_owned()));
    }
    found
}

/// Returns where a change may say what it means: its commit messages, and the issue.
fn said_by_the_change(context: &HookContext) -> Vec<String> {
    let commits = context
        .workspace()
        .commits(&CommitsOf::Branch, MOST_COMMITS);
    let messages = commits.into_iter().flatten().map(|commit| commit.message);
    let issue = context.facts.issue().ok().flatten();
    messages
        .chain(issue.map(|issue| issue.body.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_name_is_cut_to_what_stands_in_the_source() {
        for (name, expected) in [
            (
                "tests/test_a.py > tests/test_a.py::TestA::test_b[1-2]",
                "test_b",
            ),
            ("a.test.js > sums > adds two numbers", "adds two numbers"),
            ("sums::tests::adds", "adds"),
            ("com.example.SumTest.adds", "adds"),
            ("example.com/p/sub.TestAdds/zero", "TestAdds"),
            ("example.com/p.TestAdds", "TestAdds"),
            ("TestAdds/zero", "TestAdds"),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }
}
