//! The findings, for people.

use serde_json::Value;

use super::in_force::megabytes;
use super::{Canary, Deep, Findings};
use crate::output;
use crate::view::{count, judge_line};

pub(super) fn show(findings: &Findings, of_all: bool) {
    let policy = &findings.policy;
    output::line(format!(
        "ahp      {} ({})",
        findings.version, findings.program
    ));
    output::line(format!("project  {}", findings.project));
    output::line(if policy.layers.is_empty() {
        format!(
            "policy   none: only self-protection{} in force; `ahp init` writes one",
            match policy.hooks {
                0 => " is".to_owned(),
                hooks => format!(" and {} are", count(hooks, "HOOK.md hook")),
            }
        )
    } else {
        format!(
            "policy   {}: {}, {}, {}",
            policy.layers.join(", "),
            count(policy.bindings, "binding"),
            count(policy.faults.len(), "fault"),
            count(policy.warnings.len(), "warning")
        )
    });
    for line in &findings.bundle {
        output::line(format!("bundle   {line}"));
    }
    let log = &findings.log;
    let state = match (&log.fault, log.records) {
        (Some(fault), _) => fault.clone(),
        (None, Some(records)) => format!("{}, sound", count(records, "record")),
        (None, None) => "not there yet".to_owned(),
    };
    let room = match (&log.refusal, log.free_bytes) {
        (Some(refusal), _) => refusal.clone(),
        (None, Some(free)) => format!("can be written, {} free", megabytes(free)),
        (None, None) => "the judge outside the shield writes it".to_owned(),
    };
    output::line(format!("log      {}: {state}; {room}", log.path));
    output::line(format!("trust    {}", findings.trust));
    if !findings.held.is_empty() {
        output::line(format!(
            "held     weaker than what was approved, which stays in force until `ahp trust`: {}",
            findings.held.join(", ")
        ));
    }
    output::line(format!("shield   {}", findings.shield.said));
    for limit in &findings.shield.limits {
        output::line(format!("         {limit}"));
    }
    if let Some(serve) = &findings.serve {
        let number = |name: &str| serve.get(name).and_then(Value::as_u64).unwrap_or(0);
        output::line(format!(
            "serve    {} listens: process {}, since {} s, {} MiB",
            serve
                .get("version")
                .and_then(Value::as_str)
                .unwrap_or("ahp"),
            number("pid"),
            number("uptime_s"),
            number("memory_bytes") >> 20
        ));
        let engines = serve.get("engines").and_then(Value::as_array);
        for engine in engines.into_iter().flatten() {
            output::line(format!("         {}", judge_line(engine)));
        }
    }
    for host in &findings.hosts {
        output::line("");
        let here = if host.installed {
            ""
        } else {
            ", not in the search path"
        };
        output::line(format!("{} ({}{here})", host.title, host.host));
        if host.wired.is_empty() {
            output::line(match (host.no_place, host.unreadable.first()) {
                (_, Some(_)) => "  not known: its settings cannot be read".to_owned(),
                (Some(why), None) => format!("  not wired: {why}"),
                (None, None) => format!("  not wired: `ahp install {}`", host.host),
            });
            continue;
        }
        if let Some(off) = &host.switched_off {
            output::line(format!("  SWITCHED OFF: it {off}"));
        }
        let deep = match &host.deep {
            Some(Deep::Held) => "the client itself asks before a tool, and heeds the answer",
            Some(Deep::Ran) => "PASSED BY: the client itself ran a command without asking",
            Some(Deep::Unknown(why)) => &format!("the client itself could not be tried: {why}"),
            Some(Deep::NotTried) => "the client itself was not tried: its model cannot be played",
            None => "",
        };
        if !deep.is_empty() {
            output::line(format!("  {deep}"));
        }
        for wired in &host.wired {
            output::line(format!("  wired ({}): {}", wired.scope, wired.file));
            if !wired.events.is_empty() {
                output::line(format!("    events   {}", wired.events.join(", ")));
            }
            output::line(format!(
                "    canary   {}",
                match &wired.canary {
                    Canary::Blocked(Some(command)) =>
                        format!("`{command}` is blocked, in this host's own form"),
                    Canary::Blocked(None) => {
                        "the hook answered; the policy blocks none of the test events".to_owned()
                    }
                    Canary::NotBlocked(why) => format!("NOT BLOCKED: {why}"),
                    Canary::Refused(why) => format!("REFUSED: {why}"),
                    Canary::NotSent(why) => why.clone(),
                }
            ));
            if let Some(slow) = &wired.slow {
                output::line(format!("    slow     {slow}"));
            }
            for weak in &wired.weak {
                output::line(format!("    weak     {weak}"));
            }
            if !wired.trusted {
                output::line("    trust    NOT TRUSTED: the host skips these hooks");
            }
        }
        if let Some(last) = host.twice.last() {
            output::line(format!(
                "  wired twice: each call is judged and logged for each of {}; `ahp uninstall {} --{last}` takes one out",
                host.twice.join(", "),
                host.host
            ));
        }
        list("code in it that can skip every hook", &host.mods);
        list("variables that can pass its hooks by", &host.variables);
        list("answers that it does not support", &host.degraded);
        list("blind spots and limits", host.blind_spots);
    }
    if !findings.unbound.is_empty() {
        output::line("\nhooks of one host alone");
        for told in &findings.unbound {
            output::line(format!("  {told}"));
        }
    }
    if !findings.odd_calls.is_empty() {
        output::line("\nodd calls of hosts");
        for note in &findings.odd_calls {
            let host = note.host.as_deref().unwrap_or("?");
            output::line(format!("  {} {host}: {}", note.time, note.note));
        }
    }
    let is_wired = findings.hosts.iter().any(|host| !host.wired.is_empty());
    if of_all && !is_wired {
        output::line(
            "\nno host has hooks yet: `ahp install HOST` adds them, `ahp doctor --all` lists the hosts",
        );
    }
    let warnings = &policy.warnings;
    if !warnings.is_empty() {
        output::line(format!("\n{}", count(warnings.len(), "warning")));
        for warning in warnings {
            output::line(format!("  {warning}"));
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
