//! Exit: every exit code and its meaning (spec §9).

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use ahp::verdict::Verdict;

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

impl Exit {
    /// What a verdict comes to.
    pub(crate) fn of(verdict: &Verdict) -> Self {
        if verdict.stops() {
            Self::Blocked
        } else {
            Self::Success
        }
    }

    /// Success, unless something failed.
    pub(crate) const fn unless(failed: bool) -> Self {
        if failed { Self::Failure } else { Self::Success }
    }
}

/// The code of a program; as a shell tells it, its death by a signal is 128 and the signal's number.
impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        let signal = status.signal().map(|signal| 128 + signal);
        let code = status.code().or(signal).unwrap_or(1);
        Self::Of(u8::try_from(code & 0xff).unwrap_or(1))
    }
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
