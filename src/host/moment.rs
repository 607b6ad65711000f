//! Moment: one event of one host, what it means to AHP, and what the host lets an answer do there.

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
pub struct Moment {
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
    /// Whether an answer can put words into the agent's context.
    pub context: bool,
    /// Whether an answer can show words to the person.
    pub notice: bool,
    /// Whether `ahp install` subscribes to it; false where another event of the host tells the same.
    pub wired: bool,
    /// Which tools `ahp install` subscribes to; none for all.
    pub matcher: Option<&'static str>,
}

impl Moment {
    /// Makes a moment at which a host only tells, and listens to nothing.
    pub(super) const fn new(names: &'static [&'static str], trigger: Trigger) -> Self {
        Self {
            names,
            trigger: Some(trigger),
            block: false,
            ask: false,
            rewrite: Rewrite::No,
            context: false,
            notice: false,
            wired: true,
            matcher: None,
        }
    }

    /// Makes a moment that is known and means nothing to a policy.
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

    pub(super) const fn ask(mut self) -> Self {
        self.ask = true;
        self
    }

    pub(super) const fn rewrite(mut self, how: Rewrite) -> Self {
        self.rewrite = how;
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

    pub(super) const fn unwired(mut self) -> Self {
        self.wired = false;
        self
    }

    pub(super) const fn matcher(mut self, matcher: &'static str) -> Self {
        self.matcher = Some(matcher);
        self
    }

    /// Returns the name to subscribe to.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}
