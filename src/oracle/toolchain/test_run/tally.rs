//! Tally: how many tests ran, and which of them failed, whatever told it.

use std::collections::BTreeSet;

use crate::oracle::wording::shortened;

/// The tests of one or more runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::oracle) struct Tally {
    /// How many passed.
    pub(in crate::oracle) passed: u64,
    /// How many failed; a file of tests that could not be loaded counts as one.
    pub(in crate::oracle) failed: u64,
    /// How many were left out.
    pub(in crate::oracle) skipped: u64,
    /// Those that failed, as far as they are named.
    pub(in crate::oracle) failures: Vec<Failure>,
    /// The names of those that passed, as far as they are named.
    pub(in crate::oracle) passed_names: BTreeSet<String>,
    /// The names of those that were left out, as far as they are named.
    pub(in crate::oracle) skipped_names: BTreeSet<String>,
    /// How many a report counts and does not list, so that nothing tells what became of them.
    pub(in crate::oracle) unlisted: u64,
    /// The files that tests which passed stand in, as far as a reporter of ours tells them.
    pub(in crate::oracle) places: BTreeSet<String>,
    /// Covered lines in percent, where the runner told a figure.
    pub(in crate::oracle) coverage: Option<f64>,
}

/// What became of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed(Failure),
    Skipped,
}

/// One test that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::oracle) struct Failure {
    /// The test's name, as its runner writes it.
    pub(in crate::oracle) name: String,
    /// The file, as the runner writes it.
    pub(in crate::oracle) file: Option<String>,
    /// The line, from 1.
    pub(in crate::oracle) line: Option<u32>,
    /// The first line of what went wrong.
    pub(in crate::oracle) message: Option<String>,
}

impl Tally {
    /// Returns how many tests really ran.
    pub(in crate::oracle) const fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// Says where a report counts tests that it does not list.
    pub(in crate::oracle) fn unlisted(&self, report: &str) -> Option<String> {
        let unlisted = self.unlisted;
        let all = unlisted + self.ran() + self.skipped;
        (unlisted > 0)
            .then(|| format!("`{report}` counts {all} tests, and does not list {unlisted} of them"))
    }

    /// Counts one test of a name; an empty name is not kept.
    pub(super) fn count(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => {
                self.passed += 1;
                self.passed_names.insert(name.to_owned());
            }
            Outcome::Skipped => {
                self.skipped += 1;
                self.skipped_names.insert(name.to_owned());
            }
            Outcome::Failed(failure) => {
                self.failed += 1;
                self.failures.push(failure);
            }
        }
    }

    /// Adds the tests of another run.
    pub(in crate::oracle) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
        self.passed_names.extend(other.passed_names);
        self.skipped_names.extend(other.skipped_names);
        self.unlisted += other.unlisted;
        self.places.extend(other.places);
        self.coverage = self.coverage.or(other.coverage);
    }
}

impl Failure {
    /// Makes a failure of which only the name is known.
    pub(super) fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds a place, if there is one.
    #[must_use]
    pub(super) fn at(mut self, place: Option<(String, u32)>) -> Self {
        if let Some((file, line)) = place {
            self.file = Some(file);
            self.line = Some(line);
        }
        self
    }

    /// Adds what went wrong: the first line of it that says anything.
    #[must_use]
    pub(super) fn saying(mut self, message: &str) -> Self {
        let mut lines = message.lines().map(str::trim);
        self.message = lines
            .find(|line| !line.is_empty())
            .map(|line| shortened(line, 160));
        self
    }

    /// Returns `file:line`, as much of it as is known.
    pub(in crate::oracle) fn place(&self) -> Option<String> {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => Some(format!("{file}:{line}")),
            (Some(file), None) => Some(file.clone()),
            (None, _) => None,
        }
    }
}
