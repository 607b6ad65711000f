//! Degraded: the answers that a host does not support at the events that the policy needs, and what stands in their place.

use ahp::event::Trigger;
use ahp::host::{Fallback, Host, Wish};
use ahp::install::Needs;

/// Lists the answers that the host cannot carry at the events that the policy needs.
pub(super) fn of(host: &'static Host, needs: &Needs) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for host_event in needs.host_events(host) {
        let Some(trigger) = host_event.trigger else {
            continue;
        };
        // Only a block is ever an answer there.
        if host_event.is_permission {
            continue;
        }
        for wish in [Wish::Block, Wish::Ask, Wish::Rewrite, Wish::Say] {
            // Only a tool has an input, and what has happened is neither stopped nor asked about.
            let apt = match wish {
                Wish::Rewrite => trigger == Trigger::PreToolUse,
                Wish::Ask | Wish::Block => trigger.is_pre(),
                Wish::Say => true,
            };
            let fallback = host.fallback(wish, host_event);
            if apt && fallback != Fallback::AsIs {
                found.push(format!(
                    "{} at {} becomes {}",
                    answer(wish),
                    host_event.name(),
                    instead(fallback)
                ));
            }
        }
    }
    found
}

const fn answer(wish: Wish) -> &'static str {
    match wish {
        Wish::Block => "a block",
        Wish::Ask => "a question",
        Wish::Rewrite => "a changed input",
        Wish::Say => "a text for the agent",
    }
}

const fn instead(fallback: Fallback) -> &'static str {
    match fallback {
        Fallback::AsIs => "itself",
        Fallback::Block => "a block with an explanation",
        Fallback::Context => "a text for the agent",
        Fallback::Queue => "a text at a later event",
        Fallback::Notice => "a message to the person",
        Fallback::Log => "an entry in the log",
    }
}
