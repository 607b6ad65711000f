//! Provenance: where the arguments of a call come from, and whether it goes out (what `tool.arguments_from` and
//! `tool.outward` say).
//!
//! No data flow is followed: a value comes from where its words have stood.

mod act;
mod alike;
mod asked;
mod form;
mod found;
mod kind;
mod listing;
mod lists;
mod named;
mod outward;
mod owner;
mod result;
mod score;
mod told;
mod value;
mod wanted;
mod words;

pub use self::act::{Acts, is_asked};
pub use self::outward::outward;
pub use self::score::injection_score;
pub use self::value::{argument_words, come_from, told_by_others};

use self::kind::Asked;
use crate::config::ProvenanceSettings;
use crate::event::{ToolKind, Trigger};
use crate::fact::Facts;
use crate::session::{CallId, Origin, Origins};
use crate::shell::Invocation;

/// What is kept once anything was given back.
const READ: &str = "\u{1}read";

/// What is kept where the result of such a tool was seen.
const SEEN: &str = "\u{1}seen";

/// What is kept where not all of a result was read.
const CUT: &str = "\u{1}cut";

/// What is kept where a passage speaks to an agent, whoever wrote it.
const SPOKEN: &str = "\u{1}spoken";

/// What is kept where somebody else wrote such a passage.
const TOLD: &str = "\u{1}told";

/// What stands before a file or a folder that holds what somebody else wrote.
const FOREIGN: &str = "\u{1}foreign ";

/// What stands before a remote that the repository had when the session began.
const REMOTE: &str = "\u{1}remote ";

/// What is kept once those remotes are.
const SNAPSHOT: &str = "\u{1}remotes";

/// Whether an event teaches where words come from.
pub fn teaches(facts: &Facts, settings: &ProvenanceSettings) -> bool {
    match facts.event().trigger {
        // What an agent asks its subagent nobody has typed.
        Trigger::PreAgentTurn => facts.event().prompt.is_some() && facts.event().is_by_person(),
        Trigger::PreToolUse => result::is_of_others(facts, settings, None),
        Trigger::PostToolUse | Trigger::PostToolUseFailure => true,
        _ => false,
    }
}

/// Adds what an event teaches: what the person typed, what a call was given, what a tool gave back, and what she was asked about
/// and agreed to.
pub fn learn(facts: &Facts, settings: &ProvenanceSettings, was_asked: bool, origins: &mut Origins) {
    let event = facts.event();
    if !origins.has(Origin::Project, SNAPSHOT) {
        let mut kept = vec![SNAPSHOT.to_owned()];
        kept.extend(
            outward::remotes(facts)
                .iter()
                .map(|own| format!("{REMOTE}{own}")),
        );
        origins.add(Origin::Project, kept.iter().map(String::as_str));
    }
    match event.trigger {
        Trigger::PreAgentTurn => {
            let typed = words::words(event.prompt.as_deref().unwrap_or_default());
            let mut kept = words::kept(&typed);
            for word in &typed {
                let host = words::targets(word).last().unwrap_or(word);
                let label = owner::label(host);
                kept.extend(label.map(str::to_owned));
                let owners = label.into_iter().chain(owner::owner(word));
                kept.extend(owners.map(named::kept));
            }
            let first = typed.iter().take(alike::MOST_WORDS);
            kept.extend(first.flat_map(|word| alike::kept(word)));
            kept.extend(form::accounts(&typed));
            kept.extend(named::typed(event.prompt.as_deref().unwrap_or_default()));
            kept.extend(score::typed(event.prompt.as_deref().unwrap_or_default()));
            kept.extend(asked::asked(event.prompt.as_deref().unwrap_or_default()).kept());
            origins.add(Origin::Prompt, kept.iter().map(String::as_str));
            origins.drop_asked();
        }
        // What a call is given that nobody else has said before is the agent's own, though it comes back with the result.
        Trigger::PreToolUse
            if !was_asked && facts.tool().is_some_and(|tool| tool.kind == ToolKind::Mcp) =>
        {
            let own = argument_words(facts);
            origins.add(Origin::Project, own.iter().map(String::as_str));
        }
        Trigger::PreToolUse => {}
        _ => {
            if was_asked {
                let agreed = argument_words(facts);
                origins.add(Origin::Prompt, agreed.iter().map(String::as_str));
            }
            origins.add(Origin::Project, std::iter::once(READ));
            result::learn(facts, settings, origins);
            score::learn(facts, origins);
        }
    }
}

/// Keeps in mind that somebody else's result is awaited: what a call gives back may say anything until then.
pub fn await_result(origins: &mut Origins, call: CallId, is_asked: bool) {
    if !origins.await_call(call, is_asked) {
        origins.add(Origin::Text, std::iter::once(CUT));
    }
}

/// Returns the programs that a command line would start.
fn invocations(facts: &Facts) -> impl Iterator<Item = &Invocation> {
    let shell = facts.shell().into_iter();
    shell.flat_map(|shell| shell.invocations.iter().map(|invocation| &**invocation))
}
