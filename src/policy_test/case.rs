//! Case: one test, and the file that it stands in.

use std::path::PathBuf;

use super::expectation::Expectation;
use super::setup::Setup;
use super::update::Place;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::SourceMap;

/// A file with tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Its tests, in their order.
    pub cases: Vec<Case>,
    /// What is wrong with the file itself.
    pub faults: Vec<Diagnostic>,
    /// The file as diagnostics name it.
    pub sources: SourceMap,
}

/// One test.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The line at which it begins, from 1.
    pub line: u32,
    /// Where it says what it expects.
    pub(super) expect_at: Place,
    pub(super) setup: Setup,
    /// What must come of it.
    pub expect: Expectation,
}

impl Case {
    /// Returns the oracle or pack that is tested, in the words of the test.
    pub fn subject(&self) -> Option<&str> {
        self.setup.oracle.as_deref().or(self.setup.pack.as_deref())
    }
}
