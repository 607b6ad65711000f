//! Host and HOSTS: how each program that runs an agent speaks to a hook, one adapter a file.

mod agent_hooks;
mod capability;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod decode;
mod gemini_cli;
mod git;
mod journal;
mod kimi_cli;
mod kimi_code;
mod moment;
mod monoco;
mod native;
mod opencode;
mod payload;
mod queue;
mod qwen_code;
mod reply;
mod speech;
mod vscode;
mod windsurf;

pub use self::capability::Plan;
pub use self::capability::RULES;
pub use self::capability::Way;
pub use self::capability::Wish;
pub use self::decode::DecodeError;
pub use self::decode::Decoded;
pub use self::decode::Input;
pub use self::decode::MOST_BYTES;
pub use self::decode::decode;
pub use self::journal::Journal;
pub use self::journal::Note;
pub use self::moment::Moment;
pub use self::moment::Rewrite;
pub use self::queue::Queue;
pub use self::reply::Reply;
pub use self::speech::Objection;
pub use self::speech::Speech;

use std::time::Duration;

use crate::event::Trigger;
use crate::verdict::Decision;
use crate::verdict::Verdict;

use self::payload::Payload;

/// The session of the known-bad event that `ahp doctor` sends, which is always blocked and never logged.
pub const CANARY: &str = "ahp-doctor-canary";

/// How surely a payload comes from a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Nothing speaks for it.
    No,
    /// It looks like it, and others look alike.
    Likely,
    /// Nobody else writes this.
    Certain,
}

impl Certainty {
    const fn certain_if(sign: bool) -> Self {
        if sign { Self::Certain } else { Self::No }
    }
}

/// A program that runs agents (or issues, or commits) and calls hooks.
///
/// An adapter decides nothing: it translates. What it cannot say, [`Host::plan`] has taken out before.
#[derive(Debug)]
pub struct Host {
    /// The name that `--host` takes.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What it tells of, and what it lets an answer do there.
    pub moments: &'static [Moment],
    /// The time that it gives a hook where nothing else is configured.
    pub timeout: Duration,
    /// The most characters of one text that reach the agent.
    pub text_limit: usize,
    /// The programs by which it is started, to tell whether it is here.
    pub programs: &'static [&'static str],
    /// A tool call in the host's own form, for the canary: `$DIR` stands for the project and `$SESSION` for the session.
    pub sample: &'static str,
    /// What an agent can do there without any hook being called.
    pub blind_spots: &'static [&'static str],
    /// Whether a payload is this host's.
    speaks: fn(&Payload) -> Certainty,
    /// Corrects what the common reader of payloads cannot know; false where it is no event after all.
    adjust: Adjust,
    /// Writes what is to be said.
    encode: fn(&Speech<'_>) -> Reply,
    /// Whether the host would take a reply before a tool call as a block.
    obeys: fn(&Reply) -> bool,
}

/// Takes the event's name, the payload, and the trigger that the moment says.
type Adjust = fn(&str, &mut Payload, &mut Trigger) -> bool;

/// Every host, by name.
pub static HOSTS: &[&Host] = &[
    &agent_hooks::HOST,
    &claude_code::HOST,
    &cline::HOST,
    &codex::HOST,
    &copilot::HOST,
    &cursor::HOST,
    &gemini_cli::HOST,
    &git::HOST,
    &kimi_cli::HOST,
    &kimi_code::HOST,
    &monoco::HOST,
    &native::HOST,
    &opencode::HOST,
    &qwen_code::HOST,
    &vscode::HOST,
    &windsurf::HOST,
];

impl Host {
    /// Finds a host by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        HOSTS.iter().copied().find(|host| host.name == name)
    }

    /// Returns the host whose form is taken for one that nobody knows: exit code 2 with words on stderr.
    pub fn unknown() -> &'static Self {
        &agent_hooks::HOST
    }

    /// Finds the host whose name is nearest to a misspelt one.
    pub fn nearest(name: &str) -> Option<&'static str> {
        crate::diagnostic::nearest(name, HOSTS.iter().map(|host| host.name))
    }

    /// Finds a moment by any of its names.
    pub fn moment(&self, name: &str) -> Option<&'static Moment> {
        self.moments.iter().find(|m| m.names.contains(&name))
    }

    /// Returns the moments that give a trigger.
    pub fn moments_of(&self, trigger: Trigger) -> impl Iterator<Item = &'static Moment> {
        self.moments
            .iter()
            .filter(move |m| m.trigger == Some(trigger))
    }

    /// Writes what is to be said in the host's own form; a block always has words.
    pub fn encode(&self, speech: &Speech<'_>) -> Reply {
        (self.encode)(speech)
    }

    /// Whether the host would take a reply before a tool call as a block: its own reading rules, as recorded.
    pub fn obeys(&self, reply: &Reply) -> bool {
        (self.obeys)(reply)
    }

    /// Answers events whose verdicts are known, keeping in `queue` what this moment cannot carry.
    pub fn answer(
        &self,
        decoded: &Decoded,
        verdicts: Vec<Verdict>,
        queue: Option<&Queue>,
    ) -> Reply {
        let known = decoded.moment.and_then(|m| Some((m, m.trigger?)));
        let Some((moment, trigger)) = known else {
            return self.no_opinion(&decoded.event);
        };
        // Even where there was nothing to judge, what waits may go out.
        let verdict = combine(verdicts).unwrap_or_else(|| Verdict::none(trigger));
        let waiting = queue.map(Queue::waiting).unwrap_or_default();
        let plan = self.plan(moment, &decoded.event, &decoded.events, &verdict, &waiting);
        if let Some(queue) = queue {
            if plan.delivers || trigger == Trigger::PostSession {
                queue.clear();
            }
            if let Some(words) = &plan.queue {
                // The signal log has the words too; a full disk must not change the verdict.
                queue.add(words).ok();
            }
        }
        self.encode(&plan.speech)
    }

    /// Returns the reply that leaves everything to the host: never "allow", which would skip its own questions.
    pub fn no_opinion(&self, event: &str) -> Reply {
        static ANY: Moment = Moment::ignored(&[]);
        let moment = self.moment(event).unwrap_or(&ANY);
        let verdict = Verdict::none(moment.trigger.unwrap_or(Trigger::PostSession));
        self.encode(&Speech::nothing(moment, event, &verdict))
    }
}

/// Makes one verdict of those of all events of one call: the strongest decision, all signals.
fn combine(verdicts: Vec<Verdict>) -> Option<Verdict> {
    let mut verdicts = verdicts.into_iter();
    let mut all = verdicts.next()?;
    for verdict in verdicts {
        all.decision = all.decision.max(verdict.decision);
        all.modified_input = all.modified_input.or(verdict.modified_input);
        all.signals.extend(verdict.signals);
        all.bindings.extend(verdict.bindings);
        all.warnings.extend(verdict.warnings);
        all.duration_us += verdict.duration_us;
    }
    if all.decision == Decision::Block {
        all.modified_input = None;
    }
    Some(all)
}

/// Says that nothing needs correcting.
fn as_read(_: &str, _: &mut Payload, _: &mut Trigger) -> bool {
    true
}
