//! Counting: what an event finds counted before it, and what it adds to it under the lock of its scope.

use std::sync::Arc;

use super::call::is_post_of_call;
use super::{EventPast, Keeper, Read, lock, salt};
use crate::fact::{Facts, MarkCount};
use crate::policy::Mark;
use crate::session::{Count, Doubt, Scope, State};

/// What is to be noted of an event beside what marks count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begins {
    /// The time, where it is the first of the session.
    pub(super) age: bool,
    /// That of the calls that are open no result will come any more.
    pub(super) gives_up: bool,
}

impl EventPast {
    /// Counts a mark in its scope, and says why it is not one number.
    pub(super) fn counted(
        &self,
        name: &str,
        facts: &Facts,
        count: impl FnOnce(&Mark, &State) -> Count,
    ) -> MarkCount {
        let Some(mark) = self.find(name) else {
            return MarkCount::unknown(format!("the mark `{name}` is not counted"));
        };
        let state = match self.state(mark.scope(), facts) {
            Ok(state) => state,
            Err(why) => return MarkCount::unknown(why),
        };
        let count = count(mark, &state);
        let (open, doubt) = state.doubts(mark.definition());
        let awaited = match open {
            0 => None,
            1 => Some("the result of 1 call never came or is still awaited".to_owned()),
            _ => Some(format!(
                "the results of {open} calls never came or are still awaited"
            )),
        };
        let why = if count.least == count.most {
            String::new()
        } else if state.is_broken() && count.most == u64::MAX {
            "what was before is lost".to_owned()
        } else if mark.ring() == Some(count.least) {
            format!("of more only the newest {} are kept", count.least)
        } else {
            let doubt = doubt.map(|doubt| doubt.text().to_owned());
            let mut whys: Vec<String> = doubt.into_iter().chain(awaited).collect();
            if whys.is_empty() {
                whys.push(Doubt::Event.text().to_owned());
            }
            whys.join(", and ")
        };
        MarkCount { count, why }
    }

    /// Reads what is known of a scope and adds what the event adds to it, where nobody else does so meanwhile.
    pub(super) fn change(&self, scope: Scope, id: &str, facts: &Facts, begins: Begins) {
        let trigger = facts.event().trigger;
        let definitions = self.definitions();
        let anywhere = self.anywhere(scope);
        let mut seen = None;
        let changed = self.keeper.change(
            scope,
            id,
            || salt(&*self.clock),
            |state| {
                if state.is_just_broken() && matches!(self.keeper, Keeper::Files(_)) {
                    let fault = format!("what was counted in this {} is lost", scope.name());
                    lock(&self.faults).push((scope, fault));
                }
                if let Ok(Some(anywhere)) = &anywhere {
                    state.take_anywhere(anywhere, &definitions, self.now);
                }
                state.see(self.now, begins.age);
                if begins.gives_up {
                    state.give_up(&definitions);
                }
                let call = self.call(facts, scope, state);
                let is_post = is_post_of_call(trigger);
                let is_known = state.has_seen(call.id, if is_post { "post" } else { "pre" });
                if is_post && !is_known {
                    state.end(call.id, &definitions);
                }
                // The event itself never counts for itself.
                seen = Some(Arc::new(state.clone()));
                if !call.is_something() || is_known {
                    return true;
                }
                for given in call.itself.iter().filter(|given| given.is_open()) {
                    state.doubt(given.mark, facts.doubt());
                }
                if trigger.is_pre() {
                    lock(&self.noted).push((scope, call.id));
                    state.reserve(call, &definitions);
                } else {
                    state.add(&call.itself, call.time, &definitions);
                }
                true
            },
        );
        match (changed, seen, anywhere) {
            (Ok(()), Some(_), Err(why)) => self.fail(scope, why),
            (Ok(()), Some(state), Ok(_)) => self.keep(scope, Read::Known(state)),
            (Ok(()), None, _) => self.fail(scope, "there is no state directory".to_owned()),
            (Err(fault), ..) => self.fail(scope, fault.to_string()),
        }
    }
}

/// What a mark is now.
#[derive(Clone, Debug)]
pub struct MarkNow {
    /// Its name.
    pub name: String,
    /// Whose events are counted together.
    pub scope: Scope,
    /// The fact by which it is counted for each value: then what is told is the highest count.
    pub by: Option<String>,
    /// The number.
    pub count: MarkCount,
}

impl MarkNow {
    pub(in crate::engine) fn of(mark: &Mark, facts: &Facts) -> Self {
        let spec = mark.spec();
        let count = match facts.past() {
            Some(past) if spec.by.is_some() => past.highest(&spec.name, facts),
            _ => facts.mark(&spec.name),
        };
        Self {
            name: spec.name.clone(),
            scope: spec.scope(),
            by: spec.by.clone(),
            count,
        }
    }
}
