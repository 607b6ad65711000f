//! What an organisation does on this machine: signed policy, and logs that are carried away.

use std::fs;

use ahp::config::Locations;
use ahp::engine::{Clock as _, Engine, SystemClock};
use ahp::signal_log::{known_logs, log_key};
use serde_json::Value;

use super::Findings;

/// Tells of signed policy, of what is wrong with its age, and of what the machine's layers take away.
pub(super) fn add_bundle(engine: &Engine, findings: &mut Findings) {
    let state = engine.state();
    for ignored in state.ignored() {
        let name = ignored.name();
        findings.problems.push(format!(
            "`{name}` is ignored: the machine's policy forbids it"
        ));
    }
    if let Some(bundle) = state.bundle() {
        let checked = bundle.checked_at.map_or_else(
            || "no server was asked yet".to_owned(),
            |at| format!("the server was asked at {at}"),
        );
        let line = format!("{}, until {}; {checked}", bundle.name(), bundle.expires);
        let asked = state.policy().settings().fleet.bundle.as_ref();
        let now = SystemClock.now();
        if let Some(since) = asked.and_then(|asked| bundle.unchecked_since(asked, now)) {
            findings.problems.push(format!(
                "nobody has asked since {since} whether there is a newer policy than {}; `sudo ahp bundle pull` asks",
                bundle.name()
            ));
        }
        if bundle.has_expired(now) {
            let told = format!(
                "the signed policy has expired: {line}; `sudo ahp bundle pull` fetches a newer one"
            );
            findings.problems.push(told);
        }
        findings.bundle.push(line);
    }
    if let Some(glass) = state.break_glass() {
        let line = format!(
            "the glass is broken until {}, by {}: {}",
            glass.until, glass.by, glass.reason
        );
        let told = format!("{line}; `sudo ahp bundle break-glass --end` ends it");
        findings.problems.push(told);
        findings.bundle.push(line);
    }
}

/// Tells of logs that a server refuses, so that nothing more of them is carried.
pub(super) fn add_kept(locations: &Locations, findings: &mut Findings) {
    let Some(state) = &locations.state_dir else {
        return;
    };
    for log in known_logs(state).unwrap_or_default() {
        let cursor = state
            .join("ship")
            .join(format!("{}.json", log_key(&log.path)));
        let cursor = fs::read(cursor).ok();
        let cursor = cursor.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let kept = cursor
            .as_ref()
            .and_then(|cursor| cursor.get("kept")?.as_str());
        findings.problems.extend(kept.map(|why| {
            format!(
                "`{}` is not carried on: {why}; `ahp fleet ship` goes on when that is put right",
                log.path.display()
            )
        }));
    }
}
