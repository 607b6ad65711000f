//! Call: what an event itself adds to what is counted, in which scopes, and by what its call is known again.

use super::EventPast;
use crate::event::{Event, Trigger};
use crate::fact::Facts;
use crate::policy::Mark;
use crate::session::{Call, CallId, Contribution, Going, Scope, State, digest};

impl EventPast {
    /// Returns the marks that an event of a trigger may feed: itself, by its result, or as the result of a call.
    pub(super) fn fed(&self, trigger: Trigger) -> impl Iterator<Item = &Mark> {
        let other = match trigger {
            Trigger::PreToolUse => Some(Trigger::PostToolUse),
            Trigger::PostToolUse | Trigger::PostToolUseFailure => Some(Trigger::PreToolUse),
            _ => {
                let verb = trigger.name().strip_prefix("post-issue-");
                verb.and_then(|verb| Trigger::of_issue_verb(verb, true))
            }
        };
        let triggers = [Some(trigger), other];
        self.marks.iter().filter(move |mark| {
            let mut triggers = triggers.iter().flatten();
            triggers.any(|trigger| mark.is_fed_at(*trigger))
        })
    }

    pub(super) fn awaits(&self, scope: Scope) -> bool {
        let triggers = [Trigger::PreToolUse, Trigger::PostToolUse];
        let of_scope = |mark: &&Mark| mark.scope() == scope;
        let mut marks = self.marks.iter().filter(of_scope);
        marks.any(|mark| triggers.iter().any(|trigger| mark.is_fed_at(*trigger)))
    }

    /// Returns what an event adds in a scope.
    pub(super) fn call(&self, facts: &Facts, scope: Scope, state: &State) -> Call {
        let trigger = facts.event().trigger;
        let of_scope = |mark: &&Mark| mark.scope() == scope;
        let given = |facts: &Facts| -> Vec<Contribution> {
            let marks = self.marks.iter().filter(of_scope);
            let marks = marks.filter(|mark| mark.is_fed_at(facts.event().trigger));
            let given = marks.map(|mark| mark.contribution(facts, state));
            given.filter(Contribution::is_something).collect()
        };
        let result = if trigger == Trigger::PreToolUse
            && self
                .marks
                .iter()
                .filter(of_scope)
                .any(|mark| mark.is_fed_at(Trigger::PostToolUse))
        {
            let given = given(&facts.of_result());
            given.iter().map(Contribution::doubtful).collect()
        } else {
            Vec::new()
        };
        Call {
            id: call_id(facts),
            time: state.time(self.now),
            going: Going::Judged,
            itself: given(facts),
            result,
        }
    }
}

/// Returns what a scope is called at an event; none where the event tells of none.
pub(super) fn scope_id(scope: Scope, facts: &Facts) -> Option<String> {
    match scope {
        Scope::Session => facts.event().whole_session().map(str::to_owned),
        Scope::Issue => facts.issue_id().map(str::to_owned),
        Scope::Project => Some(String::new()),
    }
}

/// Whether an event is one of the moments of a call that has a later or an earlier one.
pub(super) fn is_of_call(trigger: Trigger) -> bool {
    trigger.is_tool() || trigger.is_issue()
}

pub(super) fn is_post_of_call(trigger: Trigger) -> bool {
    is_of_call(trigger) && !trigger.is_pre()
}

/// Returns by what the call of an event is known again: the host's name for it, else the tool and its input.
pub(super) fn call_id(facts: &Facts) -> CallId {
    let event: &Event = facts.event();
    let (is_named, digest) = if let Some(tool) = &event.tool {
        if let Some(id) = &tool.use_id {
            (true, digest([&b"use"[..], id.as_bytes()]))
        } else {
            let input = tool.input.to_string();
            let parts = [&b"call"[..], tool.name.as_bytes(), input.as_bytes()];
            (false, digest(parts))
        }
    } else {
        let verb = event.trigger.name();
        let verb = verb.split_once('-').map_or(verb, |(_, verb)| verb);
        let issue = event.issue_id.as_deref().unwrap_or_default();
        (
            false,
            digest([&b"step"[..], verb.as_bytes(), issue.as_bytes()]),
        )
    };
    CallId { digest, is_named }
}

/// Returns what is kept of a call that a person is asked about.
pub(super) fn asked_word(facts: &Facts) -> String {
    format!("\u{1}asked {}", call_id(facts).digest)
}
