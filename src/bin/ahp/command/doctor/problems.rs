//! Problems: what of the findings has to be put right, each with what does so.

use super::canary::Canary;
use super::deep::Deep;
use super::{Findings, plugin};

/// What is said where clients were to be tried, and there was none.
pub(super) const NOT_DEEP: &str = "`--deep` tried nothing: a client is tried if it is installed here and has hooks of `ahp`; \
     `ahp install HOST` adds them, and `ahp doctor --all` lists the hosts";

/// Returns what has to be put right.
pub(super) fn of(findings: &Findings) -> Vec<String> {
    let mut found: Vec<String> = findings.policy.faults.clone();
    if found.is_empty() && !findings.policy.stops {
        found.push(
            "the policy in force stops nothing: `ahp init` writes one that does, `ahp init --pack standard` adds it to yours".to_owned(),
        );
    }
    if found.is_empty() && !findings.policy.idle.is_empty() {
        found.push(format!(
            "the policy in force stops no command, neither `rm -rf /` nor a forced push: {}; switch it on again, or correct \
             its `when`, `intensity` or `allow_commands`; `ahp explain --command 'rm -rf /'` shows how one is judged",
            findings.policy.idle.join(", ")
        ));
    }
    if let Some(fault) = &findings.log.fault {
        found.push(format!("the log {}: {fault}", findings.log.path));
    }
    let refusal = findings.log.refusal.as_ref();
    if let Some(refusal) = refusal.filter(|why| Some(*why) != findings.log.fault.as_ref()) {
        found.push(format!("the log {}: {refusal}", findings.log.path));
    }
    for host in &findings.hosts {
        let told = host.unreadable.iter();
        found.extend(told.map(|why| format!("{}: {why}", host.host)));
        if let (Some(off), false) = (&host.switched_off, host.wired.is_empty()) {
            found.push(format!("{} {off}", host.host));
        }
        if let (false, Some(first)) = (host.wired.is_empty(), host.mods.first()) {
            found.push(format!(
                "{} loads code that can skip every hook: {first}; look at it, and take it away if it is not yours",
                host.host
            ));
        }
        if !host.wired.is_empty() {
            let told = host.variables.iter();
            found.extend(told.map(|set| {
                format!(
                    "{}: {set}, which can keep its hooks from being asked",
                    host.host
                )
            }));
        }
        match &host.deep {
            Some(Deep::Ran) => found.push(format!(
                "{} ran a command without asking `ahp`: something in the client, or in its settings, passes its hooks by",
                host.host
            )),
            Some(Deep::Unknown(why)) => found.push(format!(
                "{} itself could not be tried: {why}",
                host.host
            )),
            Some(Deep::Held | Deep::NotTried) | None => {}
        }
        for wired in &host.wired {
            let place = format!("{} ({})", host.host, wired.scope);
            if let Canary::NotBlocked(why) = &wired.canary {
                let again = format!("; try `ahp install {}`", host.host);
                // What stands in the search path says itself what helps.
                let again = if wired.way_out.is_empty() { "" } else { &again };
                found.push(format!("{place} would let a bad event pass: {why}{again}"));
            }
            if let Canary::Refused(why) = &wired.canary {
                found.push(format!("{place}: {why}; {}", wired.way_out));
            }
            for weak in &wired.weak {
                found.push(format!(
                    "{place} would let things pass at {weak}; `ahp install {} --{}` fixes it",
                    host.host, wired.scope
                ));
            }
            if !wired.missing.is_empty() && wired.scope == plugin::NAME {
                found.push(format!(
                    "the plugin in {} lacks events that the policy needs: {}; switch it off there, and `ahp install {}` has them",
                    host.host,
                    wired.missing.join(", "),
                    host.host
                ));
            } else if !wired.missing.is_empty() {
                found.push(format!(
                    "{place} lacks events that the policy needs: {}; `ahp install {} --{}` adds them",
                    wired.missing.join(", "),
                    host.host,
                    wired.scope
                ));
            }
            if !wired.trusted {
                found.push(format!(
                    "{place} does not trust its hooks and skips them without a word: `ahp install {} --{}`",
                    host.host, wired.scope
                ));
            }
        }
    }
    found
}
