//! Issue events inside tool calls: a shell tool that runs `monoco issue submit` (spec §2, last paragraph).

use std::sync::Arc;

use crate::config::Bypass;
use crate::event::{Event, Trigger};
use crate::fact::Facts;
use crate::signal::Signal;

/// An issue event that a tool call brings with it.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    pub(super) event: Event,
    /// The flag by which the command skips hooks.
    pub(super) bypass: Option<String>,
}

/// Finds the issue commands in the command line of a shell tool.
pub(super) fn issue_events(facts: &Arc<Facts>) -> Vec<Derived> {
    let event = facts.event();
    let pre = match event.trigger {
        Trigger::PreToolUse => true,
        Trigger::PostToolUse => false,
        _ => return Vec::new(),
    };
    // The word must be there for a command to be one, or what may put it together; parsing every command line for it
    // would be waste.
    let mentioned = facts
        .tool()
        .and_then(|tool| tool.command.as_deref())
        .is_some_and(|command| {
            command.contains("issue")
                || command.contains(['$', '\\', '\'', '"', '{', '[', '*', '?', '`'])
        });
    if !mentioned {
        return Vec::new();
    }
    let Some(analysis) = facts.shell() else {
        return Vec::new();
    };
    analysis
        .issue_commands()
        .into_iter()
        .filter_map(|command| {
            let trigger = Trigger::of_issue_verb(&command.verb, pre)?;
            let mut context = event.context.clone();
            if let Some(solution) = command.solution {
                context.insert("solution".to_owned(), solution.into());
            }
            Some(Derived {
                event: Event {
                    trigger,
                    issue_id: command.issue_id,
                    tool: None,
                    context,
                    ..event.clone()
                },
                bypass: command.bypass,
            })
        })
        .collect()
}

/// Returns the signal of a command that skips hooks; an aid where that is allowed, so that it is not forgotten.
pub(super) fn bypass_signal(flag: &str, setting: Bypass, event: &Event) -> Signal {
    let text = format!(
        "`{flag}` skips the hooks of `{}`; the checks are evaluated all the same",
        event.trigger
    );
    match setting {
        Bypass::Block => Signal::block("hooks-bypassed", text),
        Bypass::Prompt => Signal::prompt("hooks-bypassed", text),
        Bypass::Allow => Signal::aid("hooks-bypassed", text),
    }
    .steps([format!("Run the command again without `{flag}`")])
    .about("hooks-bypassed", flag)
}
