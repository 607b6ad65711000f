//! Tally: how many tests ran, and which of them failed, whatever told it.

/// The tests of one or more runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::oracle::builtin) struct Tally {
    /// How many passed.
    pub(in crate::oracle::builtin) passed: u64,
    /// How many failed; a file of tests that could not be loaded counts as one.
    pub(in crate::oracle::builtin) failed: u64,
    /// How many were left out.
    pub(in crate::oracle::builtin) skipped: u64,
    /// Those that failed, as far as they are named.
    pub(in crate::oracle::builtin) failures: Vec<Failure>,
    /// Covered lines in percent, where the runner printed a figure.
    pub(in crate::oracle::builtin) coverage: Option<f64>,
}

/// One test that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::oracle::builtin) struct Failure {
    /// The test's name, as its runner writes it.
    pub(in crate::oracle::builtin) name: String,
    /// The file, as the runner writes it.
    pub(in crate::oracle::builtin) file: Option<String>,
    /// The line, from 1.
    pub(in crate::oracle::builtin) line: Option<u32>,
    /// The first line of what went wrong.
    pub(in crate::oracle::builtin) message: Option<String>,
}

impl Tally {
    /// Returns how many tests really ran.
    pub(in crate::oracle::builtin) const fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// Adds the tests of another run.
    pub(in crate::oracle::builtin) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        for failure in other.failures {
            self.note(failure);
        }
        self.coverage = self.coverage.or(other.coverage);
    }

    /// Notes a failure; what is told of the same test a second time completes the first.
    pub(super) fn note(&mut self, failure: Failure) {
        let known = self.failures.iter_mut().find(|known| {
            known.name == failure.name
                && (known.file.is_none() || failure.file.is_none() || known.file == failure.file)
        });
        match known {
            Some(known) => {
                if known.file.is_none() || known.line.is_none() {
                    known.file = failure.file.or(known.file.take());
                    known.line = failure.line.or(known.line);
                }
                known.message = known.message.take().or(failure.message);
            }
            None => self.failures.push(failure),
        }
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
        self.message = message
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(|line| shortened(line, 160));
        self
    }

    /// Returns `file:line`, as much of it as is known.
    pub(in crate::oracle::builtin) fn place(&self) -> Option<String> {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => Some(format!("{file}:{line}")),
            (Some(file), None) => Some(file.clone()),
            (None, _) => None,
        }
    }
}

/// Returns a text with at most `limit` characters.
pub(in crate::oracle::builtin) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
