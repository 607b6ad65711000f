//! Host and HOSTS: how each program that runs an agent speaks to a hook, one adapter a file.

mod agent_hooks;
mod capability;
mod claude_agent_sdk;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod decode;
mod dialog;
mod exit_code;
mod factory_droid;
mod gemini_cli;
mod git;
mod host_event;
mod journal;
mod kimi_cli;
mod kimi_code;
mod kiro_cli;
mod monoco;
mod native;
mod opencode;
mod outline;
mod payload;
mod queue;
mod qwen_code;
mod reply;
mod response;
mod settings;
mod trial;
mod vscode;
mod windsurf;

pub use self::capability::{Fallback, Plan, RULES, Wish};
pub use self::decode::{DecodeError, Decoded, Input, MOST_BYTES, decode};
pub use self::dialog::asks_person;
pub use self::host_event::{HostEvent, Rewrite};
pub use self::journal::{Journal, Note};
pub use self::outline::outline;
pub use self::queue::Queue;
pub use self::reply::Reply;
pub use self::response::{HostResponse, Objection};
pub use self::settings::{Form, MachineSettings, Settings, Shape, Switches};
pub(crate) use self::settings::{OUR_PLUGIN, PLUGIN_REMOVALS};
pub use self::trial::{Dialect, Trial};

use std::path::Path;
use std::time::Duration;

use crate::event::{Event, Trigger};
use crate::place::{Place, Scope};
use crate::verdict::{Decision, Verdict};

use self::payload::Payload;

/// The session of the known-bad event that `ahp doctor` sends, which is always blocked and never logged.
pub const CANARY: &str = "ahp-doctor-canary";

/// The variable in which a host that posts its events is given the token of its judge.
pub const TOKEN: &str = "AHP_TOKEN";

/// Whether an event is one of those that `ahp doctor` makes: it is always blocked and never logged.
///
/// A client that it has started asks about a command that makes an empty file of the canary's name, and does nothing else.
pub fn is_canary(event: &Event) -> bool {
    let command = |event: &Event| {
        let input = &event.tool.as_ref()?.input;
        let command = input.get("command")?.as_str()?;
        let file = command.strip_prefix("touch ")?.strip_suffix(CANARY)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
        Some(file.starts_with('/') && file.ends_with('/') && file.chars().all(is_plain))
    };
    event.session_id.as_deref() == Some(CANARY) || command(event) == Some(true)
}

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
    /// Other names that `--host`, `ahp install` and `when: {host: …}` take for it.
    pub aliases: &'static [&'static str],
    /// The name for people.
    pub title: &'static str,
    /// What it tells of, and what it lets an answer do there.
    pub events: &'static [HostEvent],
    /// The time that it gives a hook where nothing else is configured.
    pub timeout: Duration,
    /// The most characters of one text that reach the agent.
    pub text_limit: usize,
    /// The programs by which it is started, to tell whether it is here.
    pub programs: &'static [&'static str],
    /// The variable by which it tells its hooks in which project it works; none where it tells nothing.
    pub project_dir: Option<&'static str>,
    /// Where and how it is given its hooks; none where it has no settings to write.
    pub settings: Option<Settings>,
    /// What else decides over its hooks or brings code into it.
    pub places: &'static [Place],
    /// What makes it run without its hooks.
    pub switches: Switches,
    /// A call of its shell in the host's own form: `$DIR` stands for the project, `$SESSION` for the session and `$COMMAND` for
    /// the command line. None where it calls no tools.
    sample: &'static str,
    /// How its own program is started with a model that `ahp` plays; none where it cannot be led to one.
    pub trial: Option<&'static Trial>,
    /// What an agent can do there without any hook being called.
    pub blind_spots: &'static [&'static str],
    /// Whether a payload is this host's.
    speaks: fn(&Payload) -> Certainty,
    /// Corrects what the common reader of payloads cannot know; false where it is no event after all.
    adjust: Adjust,
    /// Writes what is to be said.
    encode: fn(&HostResponse<'_>) -> Reply,
    /// Whether the host would take a reply before a tool call as a block.
    obeys: fn(&Reply) -> bool,
}

impl Host {
    /// Returns a call of its shell as the host would send it; none where it calls no tools.
    pub fn shell_call(&self, project: &Path, session: &str, command: &str) -> Option<String> {
        let inner = |text: &str| {
            let quoted = serde_json::Value::from(text).to_string();
            quoted
                .get(1..quoted.len() - 1)
                .unwrap_or_default()
                .to_owned()
        };
        let call = self
            .sample
            .replace("$DIR", &inner(&project.to_string_lossy()))
            .replace("$SESSION", session)
            .replace("$COMMAND", &inner(command));
        (!call.is_empty()).then_some(call)
    }
}

/// Takes the event's name, the payload, and the trigger that the event says.
type Adjust = fn(&str, &mut Payload, &mut Trigger) -> bool;

/// Every host, by name.
pub static HOSTS: &[&Host] = &[
    &agent_hooks::HOST,
    &claude_agent_sdk::HOST,
    &claude_code::HOST,
    &cline::HOST,
    &codex::HOST,
    &copilot::HOST,
    &cursor::HOST,
    &factory_droid::HOST,
    &gemini_cli::HOST,
    &git::HOST,
    &kimi_cli::HOST,
    &kimi_code::HOST,
    &kiro_cli::HOST,
    &monoco::HOST,
    &native::HOST,
    &opencode::HOST,
    &qwen_code::HOST,
    &vscode::HOST,
    &windsurf::HOST,
];

impl Host {
    /// Finds a host by its name or one of its aliases.
    pub fn find(name: &str) -> Option<&'static Self> {
        HOSTS
            .iter()
            .copied()
            .find(|host| host.name == name || host.aliases.contains(&name))
    }

    /// Finds the agent that a program starts; what is no agent itself, such as git, is none.
    pub fn agent_of(program: &str) -> Option<&'static Self> {
        HOSTS.iter().copied().find(|host| {
            let is_agent = !matches!(
                host.settings.map(|settings| settings.form),
                Some(Form::Git | Form::Shim)
            );
            is_agent && (host.programs.contains(&program) || host.name == program)
        })
    }

    /// Whether a host starts by itself what a file says.
    pub(crate) fn starts_from(path: &Path) -> bool {
        let mut files = HOSTS.iter().flat_map(|host| host.switches.starts);
        files.any(|end| path.ends_with(end))
    }

    /// Returns the file that `ahp install` writes in a scope, or the directory; none where the host has no such scope.
    pub fn file(&self, scope: Scope) -> Option<&'static Place> {
        self.settings?.file(scope)
    }

    /// Returns every place that decides over its hooks.
    pub fn places(&self) -> impl Iterator<Item = &'static Place> {
        let files = self.settings.into_iter().flat_map(Settings::files);
        let further = self.places.iter().chain(self.switches.code);
        files.map(|(_, place)| place).chain(further)
    }

    /// Returns the host whose form is taken for one that nobody knows: exit code 2 with words on stderr.
    pub fn unknown() -> &'static Self {
        &agent_hooks::HOST
    }

    /// Says that there is no host of a name, with the nearest one and the list.
    pub fn unknown_name(name: &str) -> String {
        let names = HOSTS.iter().map(|host| host.name);
        let aliases = HOSTS.iter().flat_map(|host| host.aliases);
        let near = crate::diagnostic::nearest(name, names.clone().chain(aliases.copied()));
        // The list has the one name of each.
        let near = near.and_then(Self::find);
        let near = near.map_or_else(String::new, |near| {
            format!(" Did you mean `{}`?", near.name)
        });
        let all: Vec<&str> = names.collect();
        format!(
            "unknown host `{name}`: expected one of {}.{near}",
            all.join(", ")
        )
    }

    /// Says that the host has no event of a name, with the nearest one.
    pub(crate) fn no_event(&self, name: &str) -> String {
        let names = self.events.iter().flat_map(|event| event.names);
        let near = crate::diagnostic::nearest(name, names.copied());
        let near = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        format!("{} has no event `{name}`{near}", self.name)
    }

    /// Finds an event by any of its names.
    pub fn event(&self, name: &str) -> Option<&'static HostEvent> {
        self.events.iter().find(|m| m.names.contains(&name))
    }

    /// Returns the events that give a trigger.
    pub fn events_of(&self, trigger: Trigger) -> impl Iterator<Item = &'static HostEvent> {
        self.events
            .iter()
            .filter(move |m| m.trigger == Some(trigger))
    }

    /// Returns the events that a host does not tell of itself: they come after a stop that nobody holds up.
    pub fn after_stop(&self) -> impl Iterator<Item = &'static HostEvent> {
        let tells = |trigger| self.events_of(trigger).next().is_some();
        let stops = tells(Trigger::PreAgentTurnStop);
        let missing: Vec<_> = host_event::AFTER_STOP
            .iter()
            .filter(|host_event| stops && !host_event.trigger.is_some_and(tells))
            .collect();
        missing.into_iter()
    }

    /// Whether a turn has ended: the agent wanted to stop, and no verdict holds it up.
    pub fn ends_turn(&self, decoded: &Decoded, verdicts: &[Verdict]) -> bool {
        let trigger = decoded.host_event.and_then(|host_event| host_event.trigger);
        trigger == Some(Trigger::PreAgentTurnStop) && !verdicts.iter().any(Verdict::stops)
    }

    /// Writes what is to be said in the host's own form; a block always has words.
    pub fn encode(&self, response: &HostResponse<'_>) -> Reply {
        (self.encode)(response)
    }

    /// Whether the host would take a reply before a tool call as a block: its own reading rules, as recorded.
    pub fn obeys(&self, reply: &Reply) -> bool {
        (self.obeys)(reply)
    }

    /// Answers events whose verdicts are known, keeping in `queue` what this event cannot carry.
    pub fn answer(
        &self,
        decoded: &Decoded,
        verdicts: Vec<Verdict>,
        queue: Option<&Queue>,
    ) -> Reply {
        let known = decoded.host_event.and_then(|m| Some((m, m.trigger?)));
        let Some((host_event, trigger)) = known else {
            return self.no_opinion(&decoded.event);
        };
        // Even where there was nothing to judge, what waits may go out.
        let verdict = combine(verdicts).unwrap_or_else(|| Verdict::none(trigger));
        let waiting = queue.map(Queue::waiting).unwrap_or_default();
        let plan = self.plan(
            host_event,
            &decoded.event,
            &decoded.events,
            &verdict,
            &waiting,
        );
        if let Some(queue) = queue {
            if plan.delivers || trigger == Trigger::PostSession {
                queue.clear();
            }
            if let Some(words) = &plan.queue {
                // The signal log has the words too; a full disk must not change the verdict.
                queue.add(words).ok();
            }
        }
        self.encode(&plan.response)
    }

    /// Returns the reply that leaves everything to the host: never "allow", which would skip its own questions.
    pub fn no_opinion(&self, event: &str) -> Reply {
        static ANY: HostEvent = HostEvent::ignored(&[]);
        let host_event = self.event(event).unwrap_or(&ANY);
        let verdict = Verdict::none(host_event.trigger.unwrap_or(Trigger::PostSession));
        self.encode(&HostResponse::nothing(host_event, event, &verdict))
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
