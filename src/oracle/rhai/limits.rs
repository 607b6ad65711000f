//! Limits: how much a run of a script may take, and the errors of functions that a script calls.

use rhai::{Dynamic, EvalAltResult, Position};

/// How many operations a run may take.
pub const MAX_OPERATIONS: u64 = 500_000;
/// How many operations all runs about one event may take: a clone may bring any number of scripts.
pub(super) const MOST_OPERATIONS: u64 = 8 * MAX_OPERATIONS;
/// How deep functions may call each other.
pub const MAX_CALLS: usize = 32;
/// How long a text may be, and all texts of one list or map together, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// How many values a list or map may hold, in all its depth.
pub const MAX_ITEMS: usize = 10_000;

/// What a function gives that a script may call.
pub(super) type Fallible<T> = Result<T, Box<EvalAltResult>>;

/// Makes the error of a function that a script called.
#[expect(
    clippy::unnecessary_box_returns,
    reason = "the interpreter's errors are boxed everywhere"
)]
pub(super) fn failure(message: impl Into<String>) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorRuntime(
        Dynamic::from(message.into()),
        Position::NONE,
    ))
}

/// Makes the error of a text or list that would be too large.
#[expect(
    clippy::unnecessary_box_returns,
    reason = "the interpreter's errors are boxed everywhere"
)]
pub(super) fn too_large(what: &str) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorDataTooLarge(
        what.to_owned(),
        Position::NONE,
    ))
}
