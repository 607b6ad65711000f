//! What stands in the place of a judgement that was not made.

use crate::event::Trigger;
use crate::oracle::{InPlace, NotJudged, OracleError};
use crate::policy::Binding;
use crate::signal::{Manner, Severity, Signal, digest};

/// How a person approves what the project would run.
pub(super) const TO_TRUST: [&str; 2] = [
    "Look at what the project would run: `ahp trust --show`",
    "Then allow it: `ahp trust`",
];

/// Returns the signal that stands for a failure; none where it is only reported, or was told in this session already.
pub(super) fn signal(
    binding: &Binding,
    error: &OracleError,
    trigger: Trigger,
    told_before: impl Fn(&str) -> bool,
) -> Option<Signal> {
    let reason = error.reason();
    let (name, source) = (&binding.oracle_name, &binding.source);
    let (kind, text, steps) = match reason {
        NotJudged::NotTrusted => (
            "not-trusted",
            format!("`{name}` ({source}) may not run yet: {error}"),
            TO_TRUST.map(ToOwned::to_owned),
        ),
        NotJudged::CannotTell => (
            reason.name(),
            format!("`{name}` could not judge ({source}): {error}"),
            [
                "Supply what the reason says is missing, and try again".to_owned(),
                "Or ask a person to let it pass".to_owned(),
            ],
        ),
        _ => (
            "oracle-error",
            format!("`{name}` could not judge ({source}): {error}"),
            [
                format!("Put right what made `{name}` fail, and try again"),
                if binding.oracle.factory().front_matter().is_some() {
                    format!(
                        "Or say what its failure means in hooks.yaml: `- {{hook: {name}, on_error: allow|prompt|block}}`"
                    )
                } else {
                    format!(
                        "Or say what its failure means by `on_error: allow|prompt|block` at {source}"
                    )
                },
            ],
        ),
    };
    let is_hook = binding.oracle.factory().is_hook();
    let in_place = match binding.in_place(reason, trigger) {
        // What never could have judged is told, also where failures are let pass.
        InPlace::Warn if reason == NotJudged::NotTrusted => InPlace::PromptOnce,
        InPlace::Warn if matches!(error, OracleError::NoProgram(_)) => InPlace::Prompt,
        in_place => in_place,
    };
    let told_before = || told_before(&digest([kind, &*binding.id]));
    let signal = match in_place {
        // Nobody would ever learn that a hook, which lets pass what it fails to judge, has stopped guarding.
        InPlace::Warn if is_hook => Signal::aid(kind, text).manner(Manner::Warns),
        InPlace::Warn => return None,
        InPlace::PromptOnce if told_before() => return None,
        InPlace::BlockOnce if !told_before() => Signal::block(kind, text),
        InPlace::Block => Signal::block(kind, text),
        InPlace::Ask => Signal::prompt(kind, text).must_be_answered(),
        InPlace::Prompt | InPlace::PromptOnce | InPlace::BlockOnce => Signal::prompt(kind, text),
    };
    let is_grave = reason == NotJudged::NotTrusted || matches!(error, OracleError::NoProgram(_));
    let severity = if is_grave {
        Severity::High
    } else {
        Severity::Medium
    };
    Some(
        signal
            .severity(severity)
            .steps(steps)
            .about(kind, &*binding.id)
            .fingerprint([kind, &*binding.id]),
    )
}
