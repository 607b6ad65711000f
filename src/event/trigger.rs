//! Trigger: the closed list of moments at which a binding can fire, and their aliases.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! triggers {
    ($($variant:ident $name:literal [$($alias:literal)*] $doc:literal;)*) => {
        /// A moment of an agent's life at which bindings are evaluated.
        ///
        /// Closed on purpose: the triggers are the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Trigger {
            $(#[doc = $doc] $variant,)*
        }

        impl Trigger {
            /// Every trigger, in the order of the protocol's table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the canonical name, which is what all output uses.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the other names under which this trigger is accepted.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($alias),*],)* }
            }

            /// Returns every name under which this trigger is accepted, the canonical one first.
            pub(crate) const fn names(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$name $(, $alias)*],)* }
            }

            /// Returns one line on when the trigger fires.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// Finds a trigger by its canonical name or any alias.
            pub fn find(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $alias)* => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

triggers! {
    PreIssueCreate "pre-issue-create" [] "Before an issue is created.";
    PostIssueCreate "post-issue-create" [] "After an issue was created.";
    PreIssueStart "pre-issue-start" [] "Before work on an issue starts.";
    PostIssueStart "post-issue-start" [] "After work on an issue started.";
    PreIssueSubmit "pre-issue-submit" [] "Before an issue is submitted for review.";
    PostIssueSubmit "post-issue-submit" [] "After an issue was submitted for review.";
    PreIssueClose "pre-issue-close" [] "Before an issue is closed.";
    PostIssueClose "post-issue-close" [] "After an issue was closed.";
    PreIssueOpen "pre-issue-open" [] "Before an issue is opened again.";
    PostIssueOpen "post-issue-open" [] "After an issue was opened again.";
    PreIssueCancel "pre-issue-cancel" [] "Before an issue is cancelled.";
    PostIssueCancel "post-issue-cancel" [] "After an issue was cancelled.";
    PreIssueDelete "pre-issue-delete" [] "Before an issue is deleted.";
    PostIssueDelete "post-issue-delete" [] "After an issue was deleted.";
    PreSession "pre-session" ["session_start" "SessionStart"] "When an agent session starts.";
    PostSession "post-session" ["session_end" "SessionEnd"] "When an agent session has ended.";
    PreAgentTurn "pre-agent-turn" ["before_agent" "pre-agent" "UserPromptSubmit" "BeforeAgent"] "Before the agent takes up a prompt.";
    PostAgentTurn "post-agent-turn" ["after_agent" "post-agent"] "After the agent has finished a turn.";
    PreAgentTurnStop "pre-agent-turn-stop" ["before_stop" "Stop" "AfterAgent"] "When the agent wants to stop: the quality gate.";
    PostAgentTurnStop "post-agent-turn-stop" [] "After the agent has stopped.";
    PreToolUse "pre-tool-use" ["pre-tool-call" "before_tool" "PreToolUse" "BeforeTool"] "Before a tool is called.";
    PostToolUse "post-tool-use" ["post-tool-call" "after_tool" "PostToolUse" "AfterTool"] "After a tool call succeeded.";
    PostToolUseFailure "post-tool-use-failure" ["post-tool-call-failure" "after_tool_failure" "PostToolUseFailure"] "After a tool call failed.";
    PreSubagent "pre-subagent" ["subagent_start" "SubagentStart"] "Before a subagent starts.";
    PostSubagent "post-subagent" ["subagent_stop" "SubagentStop"] "When a subagent has stopped.";
    PreContextCompact "pre-context-compact" ["pre_compact" "PreCompact" "PreCompress"] "Before the context is compacted.";
    PostContextCompact "post-context-compact" ["post_compact" "PostCompact"] "After the context was compacted.";
}

/// The verbs of an issue's life that fire a `pre-` and a `post-` trigger.
pub const ISSUE_VERBS: &[&str] = &[
    "create", "start", "submit", "close", "open", "cancel", "delete",
];

impl Trigger {
    /// Whether the operation has not happened yet, so that a block still prevents it.
    pub fn is_pre(self) -> bool {
        self.name().starts_with("pre-")
    }

    /// Whether this is one of the `pre-issue-*` and `post-issue-*` triggers.
    pub fn is_issue(self) -> bool {
        self.name().contains("-issue-")
    }

    /// Whether the event carries a tool call.
    pub const fn is_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse | Self::PostToolUse | Self::PostToolUseFailure
        )
    }

    /// Whether an agent is about to end its work, so that a block makes it go on.
    pub const fn is_stop(self) -> bool {
        matches!(self, Self::PreAgentTurnStop | Self::PostSubagent)
    }

    /// Whether the event tells how a run of an agent ended.
    pub const fn tells_of_stop(self) -> bool {
        matches!(
            self,
            Self::PreAgentTurnStop
                | Self::PostAgentTurnStop
                | Self::PostAgentTurn
                | Self::PostSubagent
                | Self::PostSession
        )
    }

    /// Returns the issue trigger of a verb: `submit` gives `pre-issue-submit`.
    pub fn of_issue_verb(verb: &str, pre: bool) -> Option<Self> {
        let side = if pre { "pre" } else { "post" };
        ISSUE_VERBS
            .contains(&verb)
            .then(|| Self::find(&format!("{side}-issue-{verb}")))
            .flatten()
    }

    /// Finds the accepted name nearest to a misspelt one, for a "did you mean".
    pub fn nearest(name: &str) -> Option<&'static str> {
        let names = Self::ALL.iter().flat_map(|trigger| trigger.names());
        crate::diagnostic::nearest(name, names.copied())
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of a name that is not a trigger.
#[derive(Clone, Debug, thiserror::Error)]
#[error("unknown trigger `{name}`; {}", .nearest.map_or_else(listed, |name| format!("did you mean `{name}`?")))]
pub struct UnknownTriggerError {
    /// The name as it was given.
    pub name: String,
    /// The nearest accepted name, if one is near.
    pub nearest: Option<&'static str>,
}

fn listed() -> String {
    let names: Vec<_> = Trigger::ALL.iter().map(|t| t.name()).collect();
    format!("expected one of {}", names.join(", "))
}

impl FromStr for Trigger {
    type Err = UnknownTriggerError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::find(name).ok_or_else(|| UnknownTriggerError {
            name: name.to_owned(),
            nearest: Self::nearest(name),
        })
    }
}

impl Serialize for Trigger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Trigger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
