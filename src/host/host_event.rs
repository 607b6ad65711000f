//! HostEvent: one event of one host, what it means to AHP, and what the host lets an answer do there.

use std::time::Duration;

use crate::event::Trigger;

/// How a host takes a changed tool input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// Not at all.
    No,
    /// The whole input is replaced.
    Replace,
    /// The given keys are laid over the input; none can be taken away.
    Merge,
}

/// One event of a host: a row of its table.
#[derive(Clone, Copy, Debug)]
pub struct HostEvent {
    /// The host's names of it, the one to subscribe to first.
    pub names: &'static [&'static str],
    /// What it means here; none where the host tells of something that no policy can be about.
    pub trigger: Option<Trigger>,
    /// Whether an answer can stop it; after a tool, whether the agent gets the words as feedback, and at a
    /// stop, whether it goes on working.
    pub block: bool,
    /// Whether an answer can have the person asked.
    pub ask: bool,
    /// Whether an answer can change the tool's input.
    pub rewrite: Rewrite,
    /// Whether who asked gets the verdict itself, and can change more than a tool's input: any parameter of the operation.
    pub gets_verdict: bool,
    /// Whether an answer can put words into the agent's context.
    pub context: bool,
    /// Whether an answer can show words to the person.
    pub notice: bool,
    /// Whether an answer can end the whole run of the agent.
    pub ends_run: bool,
    /// Whether `ahp install` subscribes to it; false where another event of the host tells the same.
    pub wired: bool,
    /// Which tools `ahp install` subscribes to; none for all.
    pub matcher: Option<&'static str>,
    /// Whether the host asks its person, mostly about a call that it has told of before: only a block is an answer there.
    pub is_permission: bool,
    /// The tool that a server is taken to call where it asks the person for something: no call of that was told before.
    pub elicits: Option<&'static str>,
    /// Whether it tells that the host's own settings have changed: what it tells is judged by what is left of the wires.
    pub is_settings: bool,
    /// Whether it tells of a task that an agent keeps in its host: an issue that no file holds.
    pub is_task: bool,
    /// Whether only an exit code blocks there: no answer in words does.
    pub by_exit_code: bool,
    /// The most time that the host gives it, whatever is written.
    pub most: Option<Duration>,
}

/// The rows of a host that tells of all that happens to an issue, before and after, and then its others.
macro_rules! with_issues {
    ($before:ident, $after:ident; $($more:expr),* $(,)?) => {
        &[
            $before(Trigger::PreIssueCreate),
            $after(Trigger::PostIssueCreate),
            $before(Trigger::PreIssueStart),
            $after(Trigger::PostIssueStart),
            $before(Trigger::PreIssueSubmit),
            $after(Trigger::PostIssueSubmit),
            $before(Trigger::PreIssueClose),
            $after(Trigger::PostIssueClose),
            $before(Trigger::PreIssueOpen),
            $after(Trigger::PostIssueOpen),
            $before(Trigger::PreIssueCancel),
            $after(Trigger::PostIssueCancel),
            $before(Trigger::PreIssueDelete),
            $after(Trigger::PostIssueDelete),
            $($more),*
        ]
    };
}
pub(super) use with_issues;

/// What comes after a stop, for hosts that tell of nothing then; no answer can be given any more.
pub(super) static AFTER_STOP: [HostEvent; 2] = [
    HostEvent::new(&["post-agent-turn"], Trigger::PostAgentTurn),
    HostEvent::new(&["post-agent-turn-stop"], Trigger::PostAgentTurnStop),
];

impl HostEvent {
    /// Makes an event at which a host only tells, and listens to nothing.
    pub(super) const fn new(names: &'static [&'static str], trigger: Trigger) -> Self {
        Self {
            names,
            trigger: Some(trigger),
            block: false,
            ask: false,
            rewrite: Rewrite::No,
            gets_verdict: false,
            context: false,
            notice: false,
            ends_run: false,
            wired: true,
            matcher: None,
            is_permission: false,
            elicits: None,
            is_settings: false,
            is_task: false,
            by_exit_code: false,
            most: None,
        }
    }

    /// Makes an event that a host tells by any name of its trigger.
    pub(super) const fn of(trigger: Trigger) -> Self {
        Self::new(trigger.names(), trigger)
    }

    /// Makes an event at which the host asks its person about a tool call: that is judged as the call, and only refused.
    pub(super) const fn permission(names: &'static [&'static str]) -> Self {
        Self {
            block: true,
            is_permission: true,
            ..Self::new(names, Trigger::PreToolUse)
        }
    }

    /// Makes an event at which a server of tools asks the person for something, or is given it.
    pub(super) const fn elicitation(names: &'static [&'static str], tool: &'static str) -> Self {
        Self {
            elicits: Some(tool),
            by_exit_code: true,
            ..Self::permission(names)
        }
    }

    /// Makes an event at which the host's own settings have changed, and a block keeps the session as it was.
    pub(super) const fn settings(names: &'static [&'static str]) -> Self {
        Self {
            is_settings: true,
            ..Self::permission(names)
        }
    }

    /// Makes an event that tells of a task that an agent keeps in its host.
    pub(super) const fn task(names: &'static [&'static str], trigger: Trigger) -> Self {
        Self {
            block: true,
            is_task: true,
            ..Self::new(names, trigger)
        }
    }

    /// Whether a hook that fails here may stop what it was asked about: what has not happened yet, but for a stop, which would
    /// be held up for ever.
    pub fn gates(&self) -> bool {
        self.may_refuse() && self.trigger != Some(Trigger::PreAgentTurnStop)
    }

    /// Whether a policy can refuse what has not happened yet, a stop too.
    pub(crate) fn may_refuse(&self) -> bool {
        self.block && self.trigger.is_some_and(Trigger::is_pre)
    }

    /// Makes an event that is known and means nothing to a policy.
    pub(super) const fn ignored(names: &'static [&'static str]) -> Self {
        Self {
            trigger: None,
            wired: false,
            ..Self::new(names, Trigger::PostSession)
        }
    }

    pub(super) const fn block(mut self) -> Self {
        self.block = true;
        self
    }

    pub(super) const fn by_exit_code(mut self) -> Self {
        self.by_exit_code = true;
        self
    }

    pub(super) const fn ask(mut self) -> Self {
        self.ask = true;
        self
    }

    pub(super) const fn rewrite(mut self, how: Rewrite) -> Self {
        self.rewrite = how;
        self
    }

    pub(super) const fn verdict(mut self) -> Self {
        self.gets_verdict = true;
        self
    }

    pub(super) const fn context(mut self) -> Self {
        self.context = true;
        self
    }

    pub(super) const fn notice(mut self) -> Self {
        self.notice = true;
        self
    }

    pub(super) const fn ends_run(mut self) -> Self {
        self.ends_run = true;
        self
    }

    pub(super) const fn unwired(mut self) -> Self {
        self.wired = false;
        self
    }

    pub(super) const fn matcher(mut self, matcher: &'static str) -> Self {
        self.matcher = Some(matcher);
        self
    }

    pub(super) const fn at_most(mut self, most: Duration) -> Self {
        self.most = Some(most);
        self
    }

    /// Whether a block here makes the agent go on working.
    pub(super) fn is_stop(&self) -> bool {
        self.trigger.is_some_and(Trigger::is_stop)
    }

    /// Returns the name to subscribe to.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}
