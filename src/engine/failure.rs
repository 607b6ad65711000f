//! What an oracle's error, panic or timeout becomes (`on_error`).

use crate::config::OnError;
use crate::oracle::Kind;
use crate::oracle::OracleError;
use crate::policy::Binding;
use crate::signal::Severity;
use crate::signal::Signal;

/// Returns the signal that stands for a failure; none where failures of the binding are allowed.
pub(super) fn signal(binding: &Binding, error: &OracleError) -> Option<Signal> {
    if let OracleError::Untrusted(message) = error {
        return Some(
            Signal::prompt("not-trusted", message.clone())
                .severity(Severity::High)
                .steps([
                    "Look at what the project would run: `ahp trust --show`",
                    "Then allow it: `ahp trust`",
                ])
                .fingerprint(["not-trusted", &binding.id]),
        );
    }
    let text = format!(
        "`{}` could not judge ({}): {error}",
        binding.oracle_name, binding.source
    );
    let steps = [
        format!(
            "Mend what made `{}` fail, and try again",
            binding.oracle_name
        ),
        format!(
            "Or say what its failure means by `on_error: allow|prompt|block` at {}",
            binding.source
        ),
    ];
    match binding.on_error {
        // What never could have judged is a fault to be told, also where failures are let pass.
        OnError::Allow if matches!(error, OracleError::NoProgram(_)) => Some(
            Signal::prompt("oracle-error", text)
                .severity(Severity::High)
                .steps(steps),
        ),
        // Nobody would ever learn that a hook, which fails open, has stopped guarding.
        OnError::Allow if binding.oracle.kind() == Kind::External => {
            Some(Signal::aid("oracle-error", text).steps(steps))
        }
        OnError::Allow => None,
        OnError::Prompt => Some(Signal::prompt("oracle-error", text).steps(steps)),
        OnError::Block => Some(Signal::block("oracle-error", text).steps(steps)),
    }
    .map(|signal| signal.fingerprint(["oracle-error", &binding.id]))
}
