//! BUILTINS: the registry of oracles written in Rust; one file and two lines here for each. No oracle uses another: what
//! several share lies in `values`, or beside this folder (`toolchain`, `added`, `wording`).

mod change_logger;
mod checklist_validator;
mod command_hooks;
mod commit_message_validator;
mod completion_verifier;
mod context_loader;
mod dependency_checker;
mod file_change_limiter;
mod lint_checker;
mod permission_checker;
mod retrospective_generator;
mod review_trigger;
mod security_scanner;
mod self_protection;
mod test_gate;
mod values;

pub use self::permission_checker::{Judged, allows_deed, judged};

use super::Definition;

/// Every built-in oracle, sorted by name.
pub static BUILTINS: &[&Definition] = &[
    &change_logger::DEFINITION,
    &checklist_validator::DEFINITION,
    &command_hooks::DEFINITION,
    &commit_message_validator::DEFINITION,
    &completion_verifier::DEFINITION,
    &context_loader::DEFINITION,
    &dependency_checker::DEFINITION,
    &file_change_limiter::DEFINITION,
    &lint_checker::DEFINITION,
    &permission_checker::DEFINITION,
    &retrospective_generator::DEFINITION,
    &review_trigger::DEFINITION,
    &security_scanner::DEFINITION,
    &self_protection::DEFINITION,
    &test_gate::DEFINITION,
];
