//! What is answered where an event comes to no verdicts: it cannot be judged, time is up, or `ahp` itself fails.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ahp::config::{Locations, OnError};
use ahp::engine::{Clock as _, Found, SystemClock};
use ahp::event::{Event, Trigger};
use ahp::host;
use ahp::host::{Decoded, Host, HostEvent, Input, Journal, Reply};
use ahp::oracle::{InPlace, NotJudged, Standing};
use ahp::signal::Signal;
use ahp::verdict::{Decision, Verdict};

use super::Call;

/// What is known so far, for an answer that has to be given before the work is done.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) decoded: Option<Arc<Decoded>>,
    /// What the settings say that a failure gives, if they do.
    pub(crate) on_error: Option<OnError>,
    /// What the verdicts came to, once there are all.
    pub(crate) decision: Option<Decision>,
    /// What the evaluation has found that is under way.
    pub(crate) found: Found,
    pub(crate) state_dir: Option<PathBuf>,
    /// The root of the project, once it is known.
    pub(crate) project: Option<PathBuf>,
}

impl Progress {
    /// Notes where it happens.
    pub(crate) fn happens_at(&mut self, here: &Locations) {
        self.state_dir.clone_from(&here.state_dir);
        self.project = Some(here.project_root.clone());
    }

    /// Decodes what a host sent, to know what it is about where nobody judges it.
    pub(crate) fn decode(&mut self, call: &Call, bytes: &[u8], work_dir: &Path) {
        let input = Input {
            bytes,
            host: call.host(),
            event: call.event.as_deref(),
            arguments: &call.arguments,
            work_dir,
        };
        self.decoded = host::decode(&input).ok().map(Arc::new);
    }
}

/// Why an event has no verdicts.
pub(crate) enum Trouble {
    /// It cannot be judged.
    Event(String),
    /// Programs of policies call `ahp` inside of one another.
    Depth(String),
    /// `ahp` did not come to an end with it.
    Own(String),
    /// The judge outside the shield that it happens in does not answer.
    NoJudge(String),
    /// Another process is to judge it: nothing is answered here.
    Elsewhere,
}

/// The ways out where a host sends what is not an event.
const WIRED_WRONG: [&str; 2] = [
    "check the hook's command line in the host's settings: `ahp doctor` does",
    "or take it out with `ahp uninstall`",
];

/// The ways out where a program of the policy calls `ahp`, which runs it again.
const CALLS_ITSELF: [&str; 2] = [
    "take the call of `ahp` out of the program, for what it would be told is being judged already",
    "or give its hook a `matcher` (its binding a `when`) that its own calls do not meet",
];

/// Returns what the work comes to; where it fails or panics, what stands in for it.
pub(crate) fn reply(
    call: &Call,
    work: impl FnOnce(&mut Progress) -> Result<Reply, Trouble>,
) -> Reply {
    let host = call.host();
    let mut progress = Progress::default();
    let work = AssertUnwindSafe(|| work(&mut progress));
    let trouble = match std::panic::catch_unwind(work) {
        Ok(Ok(reply)) => return reply,
        Ok(Err(trouble)) => trouble,
        Err(_) => Trouble::Own("ahp itself failed; please report it with the event".to_owned()),
    };
    or_block(|| match &trouble {
        Trouble::Event(why) => refuse(call, host, &progress, why, WIRED_WRONG),
        Trouble::Depth(why) => refuse(call, host, &progress, why, CALLS_ITSELF),
        Trouble::NoJudge(why) => unheld(call, host, &progress, why),
        Trouble::Elsewhere => Reply::nothing(),
        Trouble::Own(why) => {
            note(&progress, host, call, why);
            fallback(call, host, &progress, why)
        }
    })
}

/// Blocks in place of a stand-in that panics too, as it may for the same reason: the exit code is 0 or 2 even then.
fn or_block(stand_in: impl FnOnce() -> Reply) -> Reply {
    std::panic::catch_unwind(AssertUnwindSafe(stand_in))
        .unwrap_or_else(|_| Reply::block("ahp itself failed; please report it with the event"))
}

/// Answers input that tells no event that can be judged: what cannot be seen through does not pass.
fn refuse(
    call: &Call,
    host: Option<&'static Host>,
    progress: &Progress,
    why: &str,
    steps: [&'static str; 2],
) -> Reply {
    note(progress, host, call, why);
    let decoded = stand_in(call, host, progress);
    let trigger = decoded.host_event.and_then(|m| m.trigger);
    if !trigger.unwrap_or(Trigger::PreToolUse).is_pre() {
        return decoded.host.no_opinion(&decoded.event);
    }
    let signal = Signal::block("bad-event", format!("ahp cannot judge this: {why}"));
    answer_with(&decoded, vec![signal.steps(steps)])
}

/// Answers inside a shield whose judge is gone: nothing that has not happened yet may happen. Nobody counts how often an
/// agent is kept from stopping, so that it is only told there.
fn unheld(call: &Call, host: Option<&'static Host>, progress: &Progress, why: &str) -> Reply {
    let decoded = stand_in(call, host, progress);
    let trigger = decoded.host_event.and_then(|m| m.trigger);
    let trigger = trigger.unwrap_or(Trigger::PreToolUse);
    let signal = if trigger.is_pre() && trigger != Trigger::PreAgentTurnStop {
        super::not_held(why)
    } else {
        Signal::prompt("shield", why)
    };
    answer_with(&decoded, vec![signal])
}

/// Answers in place of an evaluation that has not ended: with what it had found to block, else as `on_error` says, else
/// as for a gate that failed.
fn fallback(call: &Call, host: Option<&'static Host>, progress: &Progress, why: &str) -> Reply {
    let decoded = stand_in(call, host, progress);
    let blocks = progress.found.blocks();
    if !blocks.is_empty() {
        return answer_with(&decoded, blocks);
    }
    let trigger = decoded.host_event.and_then(|m| m.trigger);
    let trigger = trigger.unwrap_or(Trigger::PreToolUse);
    let is_again = |event: &Event| event.stop.as_ref().is_some_and(|stop| stop.active);
    let prompt = || Signal::prompt("oracle-error", why);
    let in_place = NotJudged::TimedOut.gives(Standing {
        trigger,
        gates: trigger.is_pre(),
        locked: false,
        is_hook: false,
    });
    let signal = match (progress.on_error, in_place) {
        (Some(OnError::Allow), _) => return decoded.host.no_opinion(&decoded.event),
        // No agent runs for ever.
        _ if decoded.events.iter().any(is_again) => prompt(),
        (Some(OnError::Block), _) | (None, InPlace::Block | InPlace::BlockOnce) => {
            Signal::block("oracle-error", why)
        }
        (None, InPlace::Ask) => prompt().must_be_answered(),
        _ => prompt(),
    };
    answer_with(
        &decoded,
        vec![signal.steps(["try again", "look at `ahp doctor`"])],
    )
}

/// Returns what was decoded, or else what the command line alone tells: at worst, that it is about a tool.
fn stand_in(call: &Call, host: Option<&'static Host>, progress: &Progress) -> Decoded {
    if let Some(decoded) = &progress.decoded {
        return Decoded::clone(decoded);
    }
    let host = host.unwrap_or_else(Host::unknown);
    let named = call.event.as_deref().and_then(|e| host.event(e));
    let host_event = named.or_else(|| host.events_of(Trigger::PreToolUse).next());
    Decoded {
        host,
        event: host_event
            .map(HostEvent::name)
            .unwrap_or_default()
            .to_owned(),
        host_event,
        session_id: None,
        events: Vec::new(),
        notes: Vec::new(),
    }
}

fn answer_with(decoded: &Decoded, signals: Vec<Signal>) -> Reply {
    let trigger = decoded.host_event.and_then(|m| m.trigger);
    let verdict = Verdict::of(trigger.unwrap_or(Trigger::PreToolUse), signals);
    decoded.host.answer(decoded, vec![verdict], None)
}

/// Writes down what was odd, for `ahp doctor`.
pub(crate) fn note(progress: &Progress, host: Option<&Host>, call: &Call, text: &str) {
    if let Some(dir) = &progress.state_dir {
        let host = progress
            .decoded
            .as_ref()
            .map(|d| d.host.name)
            .or(host.map(|h| h.name));
        let event = progress
            .decoded
            .as_ref()
            .map(|d| d.event.as_str())
            .or(call.event.as_deref());
        let journal = Journal::new(dir);
        let journal = match &progress.project {
            Some(root) => journal.of_project(root),
            None => journal,
        };
        journal.add(SystemClock.now(), host, event, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panicking(on_error: OnError, event: &str) -> Reply {
        let call = Call {
            host: Some("claude-code".to_owned()),
            event: Some(event.to_owned()),
            ..Call::default()
        };
        reply(&call, |progress| {
            progress.on_error = Some(on_error);
            panic!("out of order")
        })
    }

    #[test]
    fn a_panic_is_answered_as_on_error_says() {
        let of = |on_error| panicking(on_error, "PreToolUse");
        assert_eq!(of(OnError::Allow), Reply::nothing());
        let prompt = of(OnError::Prompt);
        assert!(
            !prompt.blocks && prompt.stdout.contains("ahp itself failed"),
            "{prompt:?}"
        );
        let block = of(OnError::Block);
        let host = Host::find("claude-code").unwrap();
        assert!(host.obeys(&block), "{block:?}");
        // After the deed there is nothing to stop.
        assert_eq!(panicking(OnError::Allow, "PostToolUse").exit_code(), 0);
    }

    #[test]
    fn a_stand_in_that_panics_blocks() {
        let reply = or_block(|| panic!("again"));
        assert_eq!(reply.exit_code(), 2);
        assert!(
            !reply.stderr.is_empty(),
            "some hosts ignore a block without words"
        );
    }
}
