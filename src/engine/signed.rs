//! Signed policy: what is told of its age, and of whoever has had locked bindings only advise.

use chrono::{DateTime, Utc};

use crate::config::{BreakGlass, Bundle, BundleSettings, Ceiling, Config, OnError};
use crate::event::Trigger;
use crate::signal::{Severity, Signal, Strength};

/// Lets locked bindings give advice alone. What they find is logged all the same. Self-protection is none of these.
pub(super) fn weaken(config: &mut Config, glass: &BreakGlass) {
    let specs = config.bindings.values_mut().flatten();
    for spec in specs.filter(|spec| spec.locked && glass.covers(&spec.id)) {
        spec.intensity = Some(Ceiling::Fixed(Strength::Aid));
        spec.escalate = None;
        spec.on_error = Some(OnError::Allow);
    }
}

/// Says who has broken the glass, why, and until when.
pub(super) fn broken_glass(glass: &BreakGlass) -> Signal {
    let BreakGlass {
        by,
        reason,
        until,
        bindings,
    } = glass;
    let what = if bindings.is_empty() {
        "every locked binding".to_owned()
    } else {
        format!("`{}`", bindings.join("`, `"))
    };
    let text = format!("until {until} {what} only advises, by {by}: {reason}");
    let places = [by.as_str(), reason, &until.to_rfc3339()].map(str::to_owned);
    Signal::aid("break-glass", text)
        .about("break-glass", places.join("\n"))
        .fingerprint(places.iter().map(String::as_str))
}

/// Returns what is to be told of the age of a bundle.
pub(super) fn age(
    bundle: &Bundle,
    asked: Option<&BundleSettings>,
    trigger: Trigger,
    now: DateTime<Utc>,
) -> Option<Signal> {
    let name = bundle.name();
    let (kind, text) = if bundle.has_expired(now) {
        let text = format!(
            "the signed policy {name} expired at {}, and nothing newer has come",
            bundle.expires
        );
        ("bundle-expired", text)
    } else {
        let since = bundle.unchecked_since(asked?, now)?;
        let text =
            format!("nobody has asked since {since} whether there is a newer policy than {name}");
        ("bundle-unchecked", text)
    };
    let blocks = kind == "bundle-expired" && bundle.blocks_when_expired && trigger.is_pre();
    let signal = if blocks {
        Signal::block(kind, text)
    } else {
        Signal::prompt(kind, text)
    };
    let steps = [
        "See what is in force: `ahp bundle status`",
        "Fetch the newest as root: `ahp bundle pull`",
    ];
    let signal = signal.severity(Severity::Medium).steps(steps);
    Some(
        signal
            .about(kind, name.as_str())
            .fingerprint([name.as_str()]),
    )
}
