//! Fact: a named value about the event or the project that conditions and oracles can ask for (spec §4.3).

mod facts;
mod may_run;
mod started;
mod value;

pub use self::facts::{Facts, FactsSeed};
pub use self::value::FactValue;

use std::collections::BTreeMap;
use std::fmt;

use crate::event::{ToolKind, Trigger};
use crate::session::{Count, Going, MarkRecord, Scope};
use crate::words::words;
use crate::workspace::{GIVEN_UP, STAGES, STATUSES};

/// What a fact's value is when it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactType {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    List,
    /// A moment, in RFC 3339.
    Time,
    /// A duration, in seconds.
    Duration,
}

/// What must be asked to know a fact; everything but `Event` costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactSource {
    /// The event itself.
    Event,
    /// The parsed command line of a shell tool.
    Shell,
    /// The issue's file.
    Issue,
    /// Git.
    Git,
    /// Test and coverage reports.
    Tests,
    /// The signal log.
    Log,
    /// What was counted in the session.
    Session,
}

/// How a name may begin as well that begins with `tool.mcp_`.
pub(crate) const OF_MCP: &str = "tool.mcp.";

macro_rules! facts {
    ($($variant:ident $name:literal $type:ident $source:ident $doc:literal;)*) => {
        /// Every fact that a condition or a script may ask for.
        ///
        /// Closed on purpose: a name that is not here is a misspelling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Fact {
            $(#[doc = $doc] $variant,)*
        }

        impl Fact {
            /// Every fact.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the dotted name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the type of the value.
            pub const fn value_type(self) -> FactType {
                match self { $(Self::$variant => FactType::$type,)* }
            }

            /// Returns what must be asked.
            pub const fn source(self) -> FactSource {
                match self { $(Self::$variant => FactSource::$source,)* }
            }

            /// Returns one line on what the fact is.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// Finds a fact by its name; `tool.mcp.server` is `tool.mcp_server`, and so with all of its kind.
            pub fn find(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => {
                        let of_mcp = name.strip_prefix(OF_MCP)?;
                        Self::find(&format!("tool.mcp_{of_mcp}"))
                    }
                }
            }
        }
    };
}

facts! {
    Trigger "trigger" Text Event "The event's trigger, by its canonical name.";
    Host "host" Text Event "The program that runs the agent.";
    Environment "environment" Text Event "The environment: of the event, the settings, `AHP_ENV`, or `development`.";
    SessionId "session.id" Text Event "The host's name of the agent session.";
    WorkDir "work_dir" Text Event "The directory in which the operation happens.";
    ProjectRoot "project_root" Text Event "The root of the project.";
    Time "time" Time Event "When the event happened.";
    Prompt "prompt" Text Event "The user's prompt, at turn triggers.";
    Tool "tool" Text Event "The tool; compared with a name, it holds for every tool of that kind.";
    ToolName "tool.name" Text Event "The tool's exact name, as the host calls it.";
    ToolKind "tool.kind" Text Event "The tool's kind: shell, write, edit, delete, read, search, fetch, mcp, agent, other.";
    ToolCommand "tool.command" Text Event "The command line of a shell tool.";
    ToolPaths "tool.paths" List Event "Every path that the tool call touches, relative to the project where it lies in it.";
    ToolContent "tool.content" Text Event "The text that is being written.";
    ToolUrl "tool.url" Text Event "The address that is fetched; any of several.";
    ToolOutput "tool.output" Text Event "What the tool gave back, after it ran.";
    ToolOk "tool.ok" Boolean Event "Whether the tool did what it was to do, after it ran.";
    ToolExitCode "tool.exit_code" Integer Event "The exit code of what the tool ran, where the host tells it.";
    ToolLines "tool.lines" Integer Event "How many lines are being written.";
    ToolOutward "tool.outward" Boolean Session "Whether the call sends, publishes, installs or opens a connection.";
    ToolArgumentsFrom "tool.arguments_from" List Session "Where the values of the call were found before: prompt, project, untrusted, untrusted-record, untrusted-text, untrusted-instruction, lookalike, unknown.";
    ToolAsked "tool.asked" Boolean Session "Whether the person has asked for acts of the call's kind.";
    ToolInjectionScore "tool.injection_score" Integer Session "How much the call looks as if a text that the agent has read has led to it: 0 to 100, and 50 where nothing tells.";
    ToolMcpServer "tool.mcp_server" Text Event "The MCP server of an MCP tool.";
    ToolMcpTool "tool.mcp_tool" Text Event "The MCP tool's own name.";
    ToolMcpReadOnly "tool.mcp_read_only" Boolean Event "Whether the MCP tool's server says that it changes nothing; known where `ahp mcp run` passes the call.";
    ToolMcpDestructive "tool.mcp_destructive" Boolean Event "Whether the MCP tool's server says that it may destroy something; known where `ahp mcp run` passes the call.";
    ToolPrograms "tool.programs" List Shell "Every program that the command line would run.";
    ToolArguments "tool.arguments" List Shell "Every argument of those programs.";
    ToolInvocations "tool.invocations" List Shell "Every program that the command line would run, with its arguments as one line: `git push origin`.";
    ToolSubcommands "tool.subcommands" List Shell "Every program that the command line would run, with the first word behind its own options: `git push` of `git -C dir push origin`.";
    ToolWritten "tool.written" List Shell "The paths in the project that the command line writes, moves or deletes, as far as it tells; `.` is all of it.";
    AgentId "agent.id" Text Event "The id of the subagent that acts; none for the main agent.";
    AgentKind "agent.kind" Text Event "The kind of the subagent that acts; none for the main agent.";
    SubagentName "subagent.name" Text Event "The subagent's name or id.";
    SubagentType "subagent.type" Text Event "The kind of the subagent.";
    StopReason "stop.reason" Text Event "Why the agent stops.";
    StopActive "stop.active" Boolean Event "Whether the agent goes on because of an earlier block of a stop.";
    IssueId "issue.id" Text Event "The issue's id.";
    IssueType "issue.type" Text Issue "The issue's type: feature, fix, chore, epic; task for a task that an agent keeps in its host.";
    IssueStatus "issue.status" Text Issue "The issue's status: open, closed, backlog, archived.";
    IssueStage "issue.stage" Text Issue "The issue's stage: draft, doing, review, done, freezed.";
    IssueTitle "issue.title" Text Issue "The issue's title.";
    IssueTags "issue.tags" List Issue "The issue's tags.";
    IssueParent "issue.parent" Text Issue "The issue's parent.";
    IssueDependencies "issue.dependencies" List Issue "The issues that this one depends on.";
    IssueFiles "issue.files" List Issue "The files that the issue names.";
    IssueCriticality "issue.criticality" Text Issue "The issue's criticality.";
    IssuePath "issue.path" Text Issue "The issue's file, relative to the project.";
    ChecklistTotal "checklist.total" Integer Issue "How many checklist items count.";
    ChecklistDone "checklist.done" Integer Issue "How many of them are done.";
    ChecklistIncompleteCount "checklist.incomplete_count" Integer Issue "How many of them are not done.";
    ChecklistCompletionRate "checklist.completion_rate" Number Issue "Done by total, 0 to 1; 1 where there is no item.";
    FilesChanged "files.changed" List Git "The files that the change touches.";
    FilesChangedCount "files.changed_count" Integer Git "How many files the change touches.";
    FilesAdded "files.added" List Git "The files that the change adds.";
    FilesDeleted "files.deleted" List Git "The files that the change deletes.";
    FilesAddedLines "files.added_lines" Integer Git "How many lines the change adds.";
    FilesRemovedLines "files.removed_lines" Integer Git "How many lines the change removes.";
    GitBranch "git.branch" Text Git "The branch that is checked out; absent on a detached HEAD.";
    GitDefaultBranch "git.default_branch" Text Git "The default branch.";
    GitDirty "git.dirty" Boolean Git "Whether anything is not committed.";
    GitAhead "git.ahead" Integer Git "How many commits the branch is ahead of the default branch.";
    TestsPassed "tests.passed" Integer Tests "How many tests passed in the last known run.";
    TestsFailed "tests.failed" Integer Tests "How many tests failed in the last known run.";
    TestsTotal "tests.total" Integer Tests "How many tests there were in the last known run.";
    CoverageCurrent "coverage.current" Number Tests "Covered lines in percent, 0 to 100, of the last known report.";
    SessionAge "session.age" Duration Session "How long ago the first event of the session was seen.";
    Mark "marks.NAME" Integer Session "How often what the mark NAME counts has happened before this event.";
    Attempt "attempt" Integer Log "Which try this is: 1 where this issue (or session) was never stopped at this trigger since it last passed.";
}

/// Where the values of a call may come from.
const ORIGINS: &[&str] = words!("origins");

impl Fact {
    /// Returns every text that the fact can be; none where hosts, projects and people have their own.
    pub fn values(self) -> Option<Vec<&'static str>> {
        Some(match self {
            Self::Trigger => Trigger::ALL.iter().map(|trigger| trigger.name()).collect(),
            Self::ToolKind => ToolKind::ALL.iter().map(|kind| kind.name()).collect(),
            Self::ToolArgumentsFrom => ORIGINS.to_vec(),
            Self::IssueStatus => [STATUSES, GIVEN_UP].concat(),
            Self::IssueStage => [STAGES, GIVEN_UP].concat(),
            _ => return None,
        })
    }

    /// Returns the texts that the fact usually is, where a project may have others.
    pub const fn usual_values(self) -> &'static [&'static str] {
        match self {
            Self::Environment => &["development", "staging", "production", "testing", "ci"],
            Self::IssueType => &[
                "feature", "fix", "chore", "epic", "task", "bug", "arch", "docs", "refactor",
            ],
            Self::IssueCriticality => &["low", "medium", "high", "critical"],
            _ => &[],
        }
    }

    /// Finds the fact whose name is nearest to a misspelt one.
    pub fn nearest(name: &str) -> Option<&'static str> {
        crate::diagnostic::nearest(name, Self::ALL.iter().map(|f| f.name()))
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a mark is at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkCount {
    /// From least to most.
    pub count: Count,
    /// Why it is not one number; empty where it is.
    pub why: String,
}

impl MarkCount {
    /// Makes one that cannot be told at all.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self {
            count: Count::UNKNOWN,
            why: why.into(),
        }
    }

    /// Returns the number; none where it cannot be told.
    pub const fn number(&self) -> Option<u64> {
        if self.count.least == self.count.most {
            Some(self.count.least)
        } else {
            None
        }
    }
}

impl fmt::Display for MarkCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { least, most } = self.count;
        match most {
            _ if least == most => return write!(f, "{least}"),
            u64::MAX => write!(f, "{least} or more")?,
            _ if most == least.saturating_add(1) => write!(f, "{least} or {most}")?,
            _ => write!(f, "{least} to {most}")?,
        }
        match self.why.as_str() {
            "" => Ok(()),
            why => write!(f, ": {why}"),
        }
    }
}

/// What happened in the scopes of an event before it.
pub trait Past: fmt::Debug + Send + Sync {
    /// Returns what a mark is at an event.
    fn mark(&self, name: &str, facts: &Facts) -> MarkCount;

    /// Returns the highest that a mark is for any value that it is counted by.
    fn highest(&self, name: &str, facts: &Facts) -> MarkCount;

    /// Notes the event where it adds something, before it is judged.
    fn begin(&self, facts: &Facts);

    /// Notes what came of the event that was noted, with its input as controls have left it; nothing came of one that was
    /// stopped.
    fn settle(&self, facts: &Facts, going: Option<Going>);

    /// Returns why what happened before cannot be told, where it cannot, and in which scope.
    fn fault(&self) -> Option<(Scope, String)>;

    /// Returns what the log is to tell of each mark that the event feeds, ends or asks for.
    fn record(&self, facts: &Facts, going: Option<Going>) -> BTreeMap<String, MarkRecord>;

    /// Returns where the values of a call were found before; none where that cannot be told.
    fn arguments_from(&self, facts: &Facts) -> Option<Vec<String>>;

    /// Tells which arguments of a call stood in what somebody else wrote, and in the results of which tools.
    fn told_by_others(&self, facts: &Facts) -> Vec<String>;

    /// Whether a call goes out; none where that cannot be told.
    fn outward(&self, facts: &Facts) -> Option<bool>;

    /// Whether the person has asked for acts of a call's kind; none where that cannot be told.
    fn asked(&self, facts: &Facts) -> Option<bool>;

    /// Returns how much a call looks as if a text that the agent has read has led to it; none where that cannot be told.
    fn injection_score(&self, facts: &Facts) -> Option<u8>;

    /// Returns for how many seconds the session has been seen; none where that cannot be told.
    fn age(&self, facts: &Facts) -> Option<f64>;
}
