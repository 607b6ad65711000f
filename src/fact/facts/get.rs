//! Get: any fact by its name, as what it is here.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::Facts;
use crate::event::{ToolKind, ToolView, Trigger};
use crate::fact::{Fact, FactValue};
use crate::shell::Analysis;
use crate::workspace::{Changes, GitError, GitState, Issue, TestFigures};

impl Facts {
    /// Returns any fact by its name's enum; [`FactValue::Absent`] where this event or project does not have it.
    pub fn get(&self, fact: Fact) -> FactValue<'_> {
        let event = &*self.0.seed.event;
        let tool =
            |part: fn(&ToolView) -> Option<&str>| FactValue::text(self.tool().and_then(part));
        let issue = |part: fn(&Issue) -> FactValue<'_>| match self.issue() {
            Ok(Some(issue)) => part(issue),
            Ok(None) if self.must_have_issue() => FactValue::Unknown,
            Ok(None) => FactValue::Absent,
            Err(_) => FactValue::Unknown,
        };
        let changes = |part: fn(&Changes) -> FactValue<'_>| match self.changes() {
            Ok(changes) => part(changes),
            Err(error) => without_git(error),
        };
        let git = |part: fn(&GitState) -> FactValue<'_>| match self.git() {
            Ok(state) => part(state),
            Err(error) => without_git(error),
        };
        let tests = |part: fn(TestFigures) -> Option<u64>| {
            let count = part(self.0.seed.workspace.test_figures());
            count.map_or(FactValue::Absent, |n| {
                FactValue::Integer(i64::try_from(n).unwrap_or(i64::MAX))
            })
        };
        let is_post_tool = event.trigger.is_tool() && !event.trigger.is_pre();
        match fact {
            Fact::Trigger | Fact::ToolOutput if self.0.is_awaited => FactValue::Unknown,
            Fact::ToolOk | Fact::ToolExitCode if !is_post_tool || event.tool.is_none() => {
                FactValue::Absent
            }
            Fact::ToolOk | Fact::ToolExitCode if self.0.is_awaited => FactValue::Unknown,
            Fact::ToolOk => self
                .tool_ok()
                .map_or(FactValue::Unknown, FactValue::Boolean),
            Fact::ToolExitCode => {
                let tool = event.tool.as_ref();
                let code = tool.and_then(|tool| tool.exit_code);
                let is_shell = self.tool().is_some_and(|tool| tool.kind == ToolKind::Shell);
                match code {
                    Some(code) => FactValue::Integer(code),
                    None if is_shell => FactValue::Unknown,
                    None => FactValue::Absent,
                }
            }
            Fact::ToolLines => {
                let content = self.tool().and_then(|tool| tool.content.as_deref());
                content.map_or(FactValue::Absent, |text| {
                    FactValue::count(text.lines().count())
                })
            }
            Fact::ToolOutward
            | Fact::ToolArgumentsFrom
            | Fact::ToolAsked
            | Fact::ToolInjectionScore
                if event.trigger != Trigger::PreToolUse || event.tool.is_none() =>
            {
                FactValue::Absent
            }
            Fact::ToolOutward => {
                let ask = || self.0.past.as_ref()?.outward(self);
                let told = *self.0.outward.get_or_init(ask);
                told.map_or(FactValue::Unknown, FactValue::Boolean)
            }
            Fact::ToolAsked => {
                let ask = || self.0.past.as_ref()?.asked(self);
                let told = *self.0.asked.get_or_init(ask);
                told.map_or(FactValue::Unknown, FactValue::Boolean)
            }
            Fact::ToolInjectionScore => {
                let ask = || self.0.past.as_ref()?.injection_score(self);
                let told = *self.0.injection_score.get_or_init(ask);
                told.map_or(FactValue::Unknown, |score| FactValue::count(score.into()))
            }
            Fact::ToolArgumentsFrom => {
                let ask = || self.0.past.as_ref()?.arguments_from(self);
                let told = self.0.arguments_from.get_or_init(ask).as_deref();
                told.map_or(FactValue::Unknown, FactValue::List)
            }
            Fact::SessionAge => {
                let age = self.0.past.as_ref().and_then(|past| past.age(self));
                age.map_or(FactValue::Unknown, FactValue::Number)
            }
            // Only its name tells which mark is meant.
            Fact::Mark => FactValue::Unknown,
            Fact::Trigger => FactValue::Text(Cow::Borrowed(event.trigger.name())),
            Fact::Host => FactValue::text(event.host.as_deref()),
            Fact::Environment => FactValue::text(Some(&self.0.seed.environment)),
            Fact::SessionId => FactValue::text(event.session_id.as_deref()),
            Fact::WorkDir => FactValue::Text(self.work_dir().to_string_lossy()),
            Fact::ProjectRoot => FactValue::Text(self.project_root().to_string_lossy()),
            Fact::Time => FactValue::Time(self.0.seed.time),
            Fact::Prompt => FactValue::text(event.prompt.as_deref()),
            Fact::Tool | Fact::ToolName => {
                FactValue::text(event.tool.as_ref().map(|t| t.name.as_str()))
            }
            Fact::ToolKind => tool(|t| Some(t.kind.name())),
            Fact::ToolCommand => tool(|t| t.command.as_deref()),
            Fact::ToolPaths => self
                .tool()
                .map_or(FactValue::Absent, |t| FactValue::List(&t.paths)),
            Fact::ToolContent => tool(|t| t.content.as_deref()),
            Fact::ToolUrl => match self.tool().map_or(&[][..], |tool| &tool.urls) {
                [] => FactValue::Absent,
                [url] => FactValue::text(Some(url)),
                urls => FactValue::List(urls),
            },
            Fact::ToolOutput => tool(|t| t.output.as_deref()),
            Fact::ToolMcpServer => tool(|t| t.mcp_server.as_deref()),
            Fact::ToolMcpTool => tool(|t| t.mcp_tool.as_deref()),
            Fact::ToolPrograms => self.of_line(&self.0.programs, Analysis::programs),
            Fact::ToolArguments => self.of_line(&self.0.arguments, Analysis::arguments),
            Fact::ToolSubcommands => self.of_line(&self.0.subcommands, Analysis::subcommands),
            Fact::ToolWritten => self.of_line(&self.0.writes, |analysis| self.written(analysis)),
            Fact::ToolInvocations => self.of_line(&self.0.invocations, Analysis::lines),
            Fact::ToolMcpReadOnly | Fact::ToolMcpDestructive => {
                let said = self.tool().and_then(|tool| match fact {
                    Fact::ToolMcpReadOnly => tool.mcp_read_only,
                    _ => tool.mcp_destructive,
                });
                said.map_or(FactValue::Absent, FactValue::Boolean)
            }
            Fact::AgentId => FactValue::text(event.subagent.as_ref().and_then(|s| s.id.as_deref())),
            Fact::AgentKind => {
                FactValue::text(event.subagent.as_ref().and_then(|s| s.kind.as_deref()))
            }
            Fact::SubagentName => {
                FactValue::text(event.subagent.as_ref().and_then(|s| s.name.as_deref()))
            }
            Fact::SubagentType => {
                FactValue::text(event.subagent.as_ref().and_then(|s| s.kind.as_deref()))
            }
            Fact::StopReason => {
                FactValue::text(event.stop.as_ref().and_then(|s| s.reason.as_deref()))
            }
            Fact::StopActive => event
                .stop
                .as_ref()
                .map_or(FactValue::Absent, |s| FactValue::Boolean(s.active)),
            Fact::IssueId => FactValue::text(self.issue_id()),
            Fact::IssueType => issue(|i| FactValue::text(i.kind.as_deref())),
            Fact::IssueStatus => issue(|i| FactValue::text(i.status.as_deref())),
            Fact::IssueStage => issue(|i| FactValue::text(i.stage.as_deref())),
            Fact::IssueTitle => issue(|i| FactValue::text(i.title.as_deref())),
            Fact::IssueTags => issue(|i| FactValue::List(&i.tags)),
            Fact::IssueParent => issue(|i| FactValue::text(i.parent.as_deref())),
            Fact::IssueDependencies => issue(|i| FactValue::List(&i.dependencies)),
            Fact::IssueFiles => issue(|i| FactValue::List(&i.files)),
            Fact::IssueCriticality => issue(|i| FactValue::text(i.criticality.as_deref())),
            Fact::IssuePath => issue(|i| FactValue::text(Some(&i.path))),
            Fact::ChecklistTotal => issue(|i| FactValue::count(i.progress().0)),
            Fact::ChecklistDone => issue(|i| FactValue::count(i.progress().1)),
            Fact::ChecklistIncompleteCount => issue(|i| {
                let (total, done) = i.progress();
                FactValue::count(total - done)
            }),
            Fact::ChecklistCompletionRate => issue(|i| {
                let (total, done) = i.progress();
                #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
                let rate = if total == 0 {
                    1.0
                } else {
                    done as f64 / total as f64
                };
                FactValue::Number(rate)
            }),
            Fact::FilesChanged => changes(|c| FactValue::List(&c.paths)),
            Fact::FilesChangedCount => changes(|c| FactValue::count(c.files.len())),
            Fact::FilesAdded => changes(|c| FactValue::List(&c.added)),
            Fact::FilesDeleted => changes(|c| FactValue::List(&c.deleted)),
            Fact::FilesAddedLines => {
                changes(|c| FactValue::Integer(i64::try_from(c.added_lines).unwrap_or(i64::MAX)))
            }
            Fact::FilesRemovedLines => {
                changes(|c| FactValue::Integer(i64::try_from(c.removed_lines).unwrap_or(i64::MAX)))
            }
            Fact::GitBranch => git(|g| FactValue::text(g.branch())),
            Fact::GitDefaultBranch => git(|g| FactValue::text(g.default_branch())),
            Fact::GitDirty => git(|g| g.dirty().map_or(FactValue::Absent, FactValue::Boolean)),
            Fact::GitAhead => git(|g| {
                let ahead = g.ahead().map(i64::from);
                ahead.map_or(FactValue::Absent, FactValue::Integer)
            }),
            Fact::TestsPassed => tests(|t| t.passed),
            Fact::TestsFailed => tests(|t| t.failed),
            Fact::TestsTotal => tests(|t| t.total),
            Fact::CoverageCurrent => {
                let coverage = self.0.seed.workspace.test_figures().coverage;
                coverage.map_or(FactValue::Absent, FactValue::Number)
            }
            Fact::Attempt => FactValue::Integer(i64::from(self.attempt())),
        }
    }

    /// Returns what the parsed command line has of something, made once an event.
    fn of_line<'a>(
        &self,
        kept: &'a OnceLock<Vec<String>>,
        make: impl Fn(&Analysis) -> Vec<String>,
    ) -> FactValue<'a> {
        self.shell().map_or(FactValue::Absent, |analysis| {
            FactValue::List(kept.get_or_init(|| make(analysis)))
        })
    }

    /// Whether something happens to an issue that is there, though which may be known to the running command alone:
    /// `monoco issue submit $ID`.
    pub(super) fn must_have_issue(&self) -> bool {
        let trigger = self.0.seed.event.trigger;
        let is_made = matches!(trigger, Trigger::PreIssueCreate | Trigger::PostIssueCreate);
        trigger.is_issue() && !is_made
    }
}

/// Returns what a fact is where git tells nothing: a project without a repository has none, any other failure hides it.
fn without_git(error: &GitError) -> FactValue<'static> {
    match error {
        GitError::NoRepository(_) => FactValue::Absent,
        _ => FactValue::Unknown,
    }
}
