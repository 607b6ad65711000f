//! NotJudged: why an oracle or the engine did not judge, and what that gives; what is not judged has not passed.

use serde::Serialize;

use crate::event::Trigger;

/// Why an event, or a part of the policy, was not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotJudged {
    /// A program may not run yet: nobody has approved it.
    NotTrusted,
    /// The time was over.
    TimedOut,
    /// Something that is needed is not there or did not work.
    Failed,
    /// The oracle panicked.
    Panicked,
    /// What was asked cannot be told: no base in git, an input of no known form, a limit of the analysis.
    CannotTell,
    /// A layer of the configuration has a fault.
    LayerFaulty,
}

/// What stands in the place of a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InPlace {
    /// The operation goes on, and the failure is only told.
    Warn,
    /// A prompt, the first time in a session.
    PromptOnce,
    /// A prompt.
    Prompt,
    /// A prompt that must be answered before the operation goes on.
    Ask,
    /// A block the first time in a session, and a prompt after that: only a person can put it right.
    BlockOnce,
    /// A block.
    Block,
}

/// What of a binding, at its trigger, decides what takes the place of its judgement.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Where it is bound.
    pub trigger: Trigger,
    /// Whether it can stop what has not happened yet.
    pub gates: bool,
    /// Whether no later layer may touch it.
    pub locked: bool,
    /// Whether it is a HOOK.md hook or a file of command hooks, which by their standard let pass what they fail to judge.
    pub is_hook: bool,
}

impl NotJudged {
    /// All reasons.
    pub const ALL: &[Self] = &[
        Self::NotTrusted,
        Self::TimedOut,
        Self::Failed,
        Self::Panicked,
        Self::CannotTell,
        Self::LayerFaulty,
    ];

    /// Returns the name as it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotTrusted => "not-trusted",
            Self::TimedOut => "timed-out",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
            Self::CannotTell => "cannot-tell",
            Self::LayerFaulty => "layer-faulty",
        }
    }

    /// Whether an oracle began to judge and did not come to an end with it.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::TimedOut | Self::Failed | Self::Panicked)
    }

    /// Returns what takes the place of the judgement: the table of `docs/configuration.md`.
    pub fn gives(self, standing: Standing) -> InPlace {
        let Standing { trigger, gates, .. } = standing;
        let is_stop = trigger == Trigger::PreAgentTurnStop;
        let is_before_tool = trigger == Trigger::PreToolUse;
        match self {
            Self::NotTrusted | Self::LayerFaulty if gates && is_stop => InPlace::BlockOnce,
            Self::NotTrusted | Self::LayerFaulty if gates => InPlace::Block,
            Self::NotTrusted if standing.is_hook && is_before_tool => InPlace::Ask,
            Self::NotTrusted | Self::LayerFaulty => InPlace::PromptOnce,
            Self::CannotTell if gates && trigger.is_issue() => InPlace::Block,
            Self::CannotTell if gates && is_stop => InPlace::BlockOnce,
            _ if standing.is_hook && !gates => InPlace::Warn,
            Self::TimedOut | Self::Failed | Self::Panicked
                if gates && (standing.locked || trigger.is_issue() || is_stop) =>
            {
                InPlace::Block
            }
            _ if gates && is_before_tool => InPlace::Ask,
            _ => InPlace::Prompt,
        }
    }
}

impl InPlace {
    /// Returns the name as it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn (aid)",
            Self::PromptOnce => "prompt once a session",
            Self::Prompt => "prompt",
            Self::Ask => "ask",
            Self::BlockOnce => "block once a session",
            Self::Block => "block",
        }
    }
}
