//! JUnit: a suite for each verdict, a test case for each binding.

use std::time::Duration;

use ahp::signal::Signal;
use ahp::verdict::{BindingReport, Outcome, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{by_level, words};

/// Returns the report.
///
/// # Errors
/// It cannot be written as XML.
pub(super) fn text(verdicts: &[&Verdict]) -> Result<String, String> {
    let mut report = Report::new("ahp run");
    for verdict in verdicts {
        let mut suite = TestSuite::new(verdict.trigger.to_string());
        for binding in &verdict.bindings {
            let mut case = TestCase::new(binding.id.as_str(), status(verdict, binding));
            case.set_classname(binding.oracle.as_str());
            case.set_time(Duration::from_micros(binding.duration_us));
            suite.add_test_case(case);
        }
        // What no binding says, such as that the policy is another, stands in no report of a binding.
        let is_of_none = |signal: &&Signal| {
            let mut bindings = verdict.bindings.iter();
            !bindings.any(|binding| binding.id == signal.origin.binding)
        };
        for signal in verdict.signals.iter().filter(is_of_none) {
            let mut status = by_level(signal, Some(NonSuccessKind::Failure), None, None)
                .map_or_else(TestCaseStatus::success, TestCaseStatus::non_success);
            if !matches!(status, TestCaseStatus::Success { .. }) {
                status.set_description(words(signal));
            }
            let mut case = TestCase::new(signal.origin.binding.as_str(), status);
            case.set_classname("ahp");
            if by_level(signal, false, true, true) {
                case.set_system_out(words(signal));
            }
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| error.to_string())
}

fn status(verdict: &Verdict, binding: &BindingReport) -> TestCaseStatus {
    let own = || {
        let of = |signal: &&Signal| signal.origin.binding == binding.id;
        verdict.signals.iter().filter(of)
    };
    let mut status = match binding.outcome {
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Error),
        Outcome::Skipped | Outcome::NotRun | Outcome::Disabled => TestCaseStatus::skipped(),
        _ if own().any(|signal| by_level(signal, true, false, false)) => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        _ => TestCaseStatus::success(),
    };
    let told: Vec<String> = own().map(words).chain(binding.error.clone()).collect();
    if !told.is_empty() && !matches!(status, TestCaseStatus::Success { .. }) {
        status.set_message(binding.source.as_str());
        status.set_description(told.join("\n\n"));
    }
    status
}
