//! Results of tests as a JUnit report.

use std::fs;
use std::io;
use std::path::Path;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Results;

/// Writes the report.
pub(super) fn write(path: &Path, all: &[Results]) -> io::Result<()> {
    let mut report = Report::new("ahp test");
    for results in all {
        let mut suite = TestSuite::new(results.shown());
        for fault in &results.file.faults {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(fault.one_line(&results.file.sources));
            suite.add_test_case(TestCase::new("the file itself", status));
        }
        for (case, outcome) in results.ran() {
            let status = if outcome.passes() {
                TestCaseStatus::success()
            } else {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(format!("{}:{}", results.shown(), case.line));
                status.set_description(super::told(outcome));
                status
            };
            let mut test = TestCase::new(case.name.as_str(), status);
            test.set_classname(results.shown());
            test.set_time(outcome.duration);
            suite.add_test_case(test);
        }
        report.add_test_suite(suite);
    }
    let text = report.to_string().map_err(io::Error::other)?;
    fs::write(path, text)
}
