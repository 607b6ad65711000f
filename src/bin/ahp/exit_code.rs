//! Exit: every exit code and its meaning (spec §9).

use std::process::ExitCode;

/// What the process ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the operation may go on, or the command did what was asked.
    Success,
    /// 1: `ahp` itself could not do what was asked: usage, configuration, input and output.
    Failure,
    /// 2: blocked.
    Blocked,
    /// The code of a program that was run in between.
    Of(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Success => Self::SUCCESS,
            Exit::Failure => Self::from(1),
            Exit::Blocked => Self::from(2),
            Exit::Of(code) => Self::from(code),
        }
    }
}
