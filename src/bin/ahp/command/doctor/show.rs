//! The findings, for people.

use super::Canary;
use super::Findings;
use super::megabytes;
use crate::output;
use crate::view::count;

pub(super) fn show(findings: &Findings) {
    let policy = &findings.policy;
    output::line(format!(
        "ahp      {} ({})",
        findings.version, findings.program
    ));
    output::line(format!("project  {}", findings.project));
    output::line(if policy.layers.is_empty() {
        "policy   none: everything is accepted; `ahp init` writes one".to_owned()
    } else {
        format!(
            "policy   {}: {}, {}, {}",
            policy.layers.join(", "),
            count(policy.bindings, "binding"),
            count(policy.faults.len(), "fault"),
            count(policy.warnings.len(), "warning")
        )
    });
    let log = &findings.log;
    let state = match (&log.fault, log.records) {
        (Some(fault), _) => fault.clone(),
        (None, Some(records)) => format!("{}, sound", count(records, "record")),
        (None, None) => "not there yet".to_owned(),
    };
    let room = match (&log.refusal, log.free_bytes) {
        (Some(refusal), _) => refusal.clone(),
        (None, Some(free)) => format!("can be written, {} free", megabytes(free)),
        (None, None) => String::new(),
    };
    output::line(format!("log      {}: {state}; {room}", log.path));
    output::line(format!("trust    {}", findings.trust));
    for host in &findings.hosts {
        output::line("");
        let here = if host.installed {
            ""
        } else {
            ", not in the search path"
        };
        output::line(format!("{} ({}{here})", host.title, host.host));
        if host.wired.is_empty() {
            output::line(format!("  not wired: `ahp install {}`", host.host));
            continue;
        }
        if let Some(file) = &host.switched_off {
            output::line(format!("  SWITCHED OFF: `disableAllHooks` in {file}"));
        }
        for wired in &host.wired {
            output::line(format!("  wired ({}): {}", wired.scope, wired.file));
            if !wired.events.is_empty() {
                output::line(format!("    events   {}", wired.events.join(", ")));
            }
            output::line(format!(
                "    canary   {}",
                match &wired.canary {
                    Canary::Blocked => "blocked, in this host's own form".to_owned(),
                    Canary::NotBlocked(why) => format!("NOT BLOCKED: {why}"),
                    Canary::NotSent(why) => why.clone(),
                }
            ));
            for weak in &wired.weak {
                output::line(format!("    weak     {weak}"));
            }
            if !wired.trusted {
                output::line("    trust    NOT TRUSTED: the host skips these hooks");
            }
        }
        list("what it cannot carry", &host.degraded);
        list("blind spots and limits", host.blind_spots);
    }
    if !findings.odd_calls.is_empty() {
        output::line("\nodd calls of hosts");
        for note in &findings.odd_calls {
            let host = note.host.as_deref().unwrap_or("?");
            output::line(format!("  {} {host}: {}", note.time, note.note));
        }
    }
    if findings.problems.is_empty() {
        output::line("\nno problem was found");
    } else {
        output::line(format!("\n{}", count(findings.problems.len(), "problem")));
        for problem in &findings.problems {
            output::line(format!("  {problem}"));
        }
    }
}

fn list(title: &str, lines: &[impl AsRef<str>]) {
    if !lines.is_empty() {
        output::line(format!("  {title}"));
        for line in lines {
            output::line(format!("    {}", line.as_ref()));
        }
    }
}
