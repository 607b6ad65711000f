//! Case: one test, and the file that it stands in.

use std::path::PathBuf;

use super::expectation::Expectation;
use super::setup::Setup;
use crate::diagnostic::{Diagnostic, SourceMap, Span};

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

/// Where a test says what it expects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In an `expect` of its own: the key and the value.
    Own { key: Span, value: Span },
    /// Above the rows of its table, whose row this is: the row gets one of its own.
    Shared(Span),
}

impl Place {
    /// Returns the line and column at which the file is changed.
    pub(super) const fn start(self) -> (u32, u32) {
        match self {
            Self::Own { key: span, .. } | Self::Shared(span) => (span.line, span.column),
        }
    }
}
