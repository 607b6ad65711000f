//! Facts: the facts of one event, each computed at most once, when it is first asked for.

mod get;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};

use super::{Fact, FactValue, MarkCount, Past, may_run, started};
use crate::event::{Event, McpTool, ToolKind, ToolView, Trigger};
use crate::session::Doubt;
use crate::shell;
use crate::signal_log::History;
use crate::workspace::{
    ChangeScope, Changes, Commit, CommitsOf, GitError, GitState, Issue, IssueError, Workspace,
    ids_in_branch, issue_of_branch, names_id,
};

/// How far back commits are looked through for the issue's id.
const MOST_COMMITS: usize = 2000;

/// What facts are made of.
#[derive(Clone, Debug)]
pub struct FactsSeed {
    /// The event.
    pub event: Arc<Event>,
    /// The project.
    pub workspace: Arc<dyn Workspace>,
    /// The past.
    pub history: Arc<dyn History>,
    /// The environment, as event, settings and `AHP_ENV` give it.
    pub environment: String,
    /// When the event happened.
    pub time: DateTime<Utc>,
    /// The user's home directory, for `~` in command lines.
    pub home: Option<PathBuf>,
    /// Destinations that the policy trusts: `host`, `host:port` or `host/path/prefix`.
    pub trusted_hosts: Vec<String>,
}

/// The facts of one event; a clone shares them.
#[derive(Clone, Debug)]
pub struct Facts(Arc<Known>);

/// The commits of the event's issue, newest first.
#[derive(Debug)]
struct Work {
    commits: Vec<Commit>,
    /// Whether they are those that name it, as its branch is gone or another one is checked out.
    by_name: bool,
}

#[derive(Debug)]
struct Known {
    seed: FactsSeed,
    /// What happened before; none where nothing asks for it.
    past: Option<Arc<dyn Past>>,
    /// Whether the tool of a later event has not run yet: what comes of it is not known.
    is_awaited: bool,
    work_dir: PathBuf,
    tool: OnceLock<Option<ToolView>>,
    shell: OnceLock<Option<Arc<shell::Analysis>>>,
    may_run: OnceLock<Option<(String, shell::Analysis)>>,
    programs: OnceLock<Vec<String>>,
    arguments: OnceLock<Vec<String>>,
    invocations: OnceLock<Vec<String>>,
    subcommands: OnceLock<Vec<String>>,
    writes: OnceLock<Vec<String>>,
    issue_id: OnceLock<Option<String>>,
    issue: OnceLock<Result<Option<Arc<Issue>>, IssueError>>,
    changes: OnceLock<Result<Arc<Changes>, GitError>>,
    git: OnceLock<Result<Arc<GitState>, GitError>>,
    work: OnceLock<Work>,
    attempt: OnceLock<u32>,
    arguments_from: OnceLock<Option<Vec<String>>>,
    outward: OnceLock<Option<bool>>,
    asked: OnceLock<Option<bool>>,
    injection_score: OnceLock<Option<u8>>,
    operations: AtomicU64,
}

impl Facts {
    /// Makes the facts of an event; nothing is computed yet.
    pub fn new(seed: FactsSeed) -> Self {
        let root = seed.workspace.root();
        let work_dir = match &seed.event.work_dir {
            Some(dir) if dir.is_absolute() => dir.clone(),
            Some(dir) => root.join(dir),
            None => root.to_owned(),
        };
        Self(Arc::new(Known {
            work_dir,
            seed,
            past: None,
            is_awaited: false,
            tool: OnceLock::new(),
            shell: OnceLock::new(),
            may_run: OnceLock::new(),
            programs: OnceLock::new(),
            arguments: OnceLock::new(),
            invocations: OnceLock::new(),
            subcommands: OnceLock::new(),
            writes: OnceLock::new(),
            issue_id: OnceLock::new(),
            issue: OnceLock::new(),
            changes: OnceLock::new(),
            git: OnceLock::new(),
            work: OnceLock::new(),
            attempt: OnceLock::new(),
            arguments_from: OnceLock::new(),
            outward: OnceLock::new(),
            asked: OnceLock::new(),
            injection_score: OnceLock::new(),
            operations: AtomicU64::new(0),
        }))
    }

    /// Adds operations that a script has taken over this event; returns those of all scripts.
    pub(crate) fn add_operations(&self, count: u64) -> u64 {
        self.0.operations.fetch_add(count, Ordering::Relaxed) + count
    }

    /// Sets what happened before, as long as nobody else has these facts.
    #[must_use]
    pub fn with_past(mut self, past: Arc<dyn Past>) -> Self {
        if let Some(known) = Arc::get_mut(&mut self.0) {
            known.past = Some(past);
        }
        self
    }

    /// Returns what happened before; none where nothing asks for it.
    pub fn past(&self) -> Option<&Arc<dyn Past>> {
        self.0.past.as_ref()
    }

    /// Makes the facts of the event that will tell the result of this tool call: all of the result is unknown.
    #[must_use]
    pub fn of_result(&self) -> Self {
        let seed = &self.0.seed;
        let event = Event {
            trigger: Trigger::PostToolUse,
            ..(*seed.event).clone()
        };
        let mut facts = Self::new(FactsSeed {
            event: Arc::new(event),
            ..seed.clone()
        });
        if let Some(known) = Arc::get_mut(&mut facts.0) {
            known.is_awaited = true;
        }
        facts
    }

    /// Returns what a mark is.
    pub fn mark(&self, name: &str) -> MarkCount {
        match &self.0.past {
            Some(past) => past.mark(name, self),
            None => MarkCount::unknown("nothing of it was counted"),
        }
    }

    /// Returns the paths of the project whose content a command line changes, from its root.
    fn written(&self, analysis: &shell::Analysis) -> Vec<String> {
        let root = self.project_root();
        let named = |write: shell::PathEffect| {
            let path = match write.path.strip_prefix(root) {
                Ok(below) if below.as_os_str().is_empty() => Path::new("."),
                Ok(below) => below,
                // Where the directory is not known, what is written as a name in it is.
                Err(_) if write.path.is_relative() => &write.path,
                Err(_) if write.recursive && root.starts_with(&write.path) => Path::new("."),
                Err(_) => return None,
            };
            Some(path.to_string_lossy().into_owned())
        };
        let writes = analysis.writes().into_iter();
        let writes = writes.filter(|write| write.effect != shell::Effect::Rights);
        writes.filter_map(named).collect()
    }

    /// Returns what leaves it open what the event tells, where something does.
    pub fn doubt(&self) -> Doubt {
        let is_run = self.0.seed.event.tool.as_ref().filter(|_| {
            !self.0.seed.event.trigger.is_pre() && self.get(Fact::ToolOk) == FactValue::Unknown
        });
        match is_run {
            None => Doubt::Event,
            Some(tool) if tool.exit_code.is_none() => Doubt::NoExitCode,
            Some(_) => Doubt::HiddenFailure,
        }
    }

    /// Whether the tool did what it was to do; none where that cannot be told, or no tool has run.
    fn tool_ok(&self) -> Option<bool> {
        let event = &*self.0.seed.event;
        let tool = event.tool.as_ref()?;
        let says_error = |value: &serde_json::Value| {
            ["isError", "is_error"]
                .iter()
                .any(|key| value.get(key) == Some(&serde_json::Value::Bool(true)))
        };
        let is_error = tool.error.as_ref().is_some_and(|error| !error.is_null());
        if event.trigger == Trigger::PostToolUseFailure
            || is_error
            || tool.output.as_ref().is_some_and(says_error)
        {
            return Some(false);
        }
        match (tool.exit_code, self.tool()?.kind, &self.tool()?.command) {
            (Some(0), ToolKind::Shell, Some(command)) => {
                let tells = |analysis| shell::tells_of_failures(command, analysis);
                self.shell()
                    .is_some_and(|analysis| tells(analysis))
                    .then_some(true)
            }
            (Some(0), _, _) => Some(true),
            (Some(_), _, _) => Some(false),
            (None, ToolKind::Shell, _) => None,
            (None, _, _) => Some(true),
        }
    }

    /// Returns the event.
    pub fn event(&self) -> &Event {
        &self.0.seed.event
    }

    /// Returns the event, to be kept.
    pub fn shared_event(&self) -> Arc<Event> {
        self.0.seed.event.clone()
    }

    /// Returns the project.
    pub fn workspace(&self) -> &Arc<dyn Workspace> {
        &self.0.seed.workspace
    }

    /// Returns the past.
    pub fn history(&self) -> &Arc<dyn History> {
        &self.0.seed.history
    }

    /// Returns the destinations that the policy trusts.
    pub fn trusted_hosts(&self) -> &[String] {
        &self.0.seed.trusted_hosts
    }

    /// Returns the environment.
    pub fn environment(&self) -> &str {
        &self.0.seed.environment
    }

    /// Returns when the event happened.
    pub fn time(&self) -> DateTime<Utc> {
        self.0.seed.time
    }

    /// Returns the directory in which the operation happens.
    pub fn work_dir(&self) -> &Path {
        &self.0.work_dir
    }

    /// Returns the root of the project.
    pub fn project_root(&self) -> &Path {
        self.0.seed.workspace.root()
    }

    /// Returns the user's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.0.seed.home.as_deref()
    }

    /// Returns the tool call in the common vocabulary; none where the event has no tool.
    pub fn tool(&self) -> Option<&ToolView> {
        self.0
            .tool
            .get_or_init(|| {
                let call = self.0.seed.event.tool.as_ref()?;
                Some(ToolView::of(call, &self.0.work_dir, self.project_root()))
            })
            .as_ref()
    }

    /// Whether the tool has a name in any host's spelling, or is of a kind: that of its name, or what its input makes of
    /// it, as a patch that adds a file writes.
    pub fn is_tool(&self, name: &str, kind: Option<ToolKind>) -> bool {
        let Some(call) = &self.0.seed.event.tool else {
            return false;
        };
        call.name == name
            || kind.is_some_and(|kind| self.tool_kinds().is_some_and(|kinds| kinds.contains(&kind)))
            || McpTool::named(name).is_some_and(|named| self.is_mcp_tool(&named))
    }

    fn is_mcp_tool(&self, named: &McpTool) -> bool {
        self.tool().is_some_and(|tool| {
            tool.mcp_tool.as_ref() == Some(&named.tool)
                && (named.server.is_none() || tool.mcp_server == named.server)
        })
    }

    /// Returns what [`ToolCall::kinds`](crate::event::ToolCall::kinds) does; none where the event has no tool.
    pub fn tool_kinds(&self) -> Option<[ToolKind; 2]> {
        let call = self.0.seed.event.tool.as_ref()?;
        Some([ToolKind::of(&call.name), self.tool()?.kind])
    }

    /// Returns what the command line of a tool would run; none where it is given none.
    pub fn shell(&self) -> Option<&Arc<shell::Analysis>> {
        self.0
            .shell
            .get_or_init(|| {
                let tool = self.0.seed.event.tool.as_ref()?;
                let is_powershell = ["powershell", "pwsh"]
                    .iter()
                    .any(|name| tool.name.eq_ignore_ascii_case(name));
                let analyse = if is_powershell {
                    shell::analyse_powershell
                } else {
                    shell::analyse
                };
                let view = self.tool()?;
                Some(Arc::new(analyse(
                    view.command.as_deref()?,
                    self.surroundings(view),
                )))
            })
            .as_ref()
    }

    /// Returns what a tool may run beside its command line, as a line and what that would run: one whose name and form nobody
    /// knows, and one that writes what a host starts by itself. It is a guess on the safe side: no fact is made of it.
    pub(crate) fn may_run(&self) -> Option<(&str, &shell::Analysis)> {
        let made = self.0.may_run.get_or_init(|| {
            let view = self.tool()?;
            let line = may_run::line(self.0.seed.event.tool.as_ref()?, view);
            let started = started::lines(view, self.shell().map(AsRef::as_ref));
            let lines: Vec<String> = line.into_iter().chain(started).collect();
            let line = Some(lines.join("\n")).filter(|line| !line.is_empty())?;
            let analysis = shell::analyse(&line, self.surroundings(view));
            Some((line, analysis))
        });
        made.as_ref()
            .map(|(line, analysis)| (line.as_str(), analysis))
    }

    /// Returns where a tool would run its command line.
    fn surroundings(&self, view: &ToolView) -> shell::Surroundings {
        let home = self.0.seed.home.as_deref();
        shell::Surroundings {
            work_dir: match &view.work_dir {
                Some(dir) => shell::lexical(dir, &self.0.work_dir, home),
                None => self.0.work_dir.clone(),
            },
            home: self.0.seed.home.clone(),
            project_root: self.project_root().to_owned(),
        }
    }

    /// Returns the id of the issue that the event is about: the one that it names (or that its command line does), else the
    /// one that the branch is named after, else the last one of the session that has a file.
    pub fn issue_id(&self) -> Option<&str> {
        let named = self.0.seed.event.issue_id.as_deref();
        named.or_else(|| {
            let infer = || self.inferred_issue();
            self.0.issue_id.get_or_init(infer).as_deref()
        })
    }

    fn inferred_issue(&self) -> Option<String> {
        let seed = &self.0.seed;
        // What is about to be made is another than what was worked on.
        let trigger = seed.event.trigger;
        if matches!(trigger, Trigger::PreIssueCreate | Trigger::PostIssueCreate) {
            return None;
        }
        let has_file = |id: &String| !matches!(seed.workspace.issue(id), Ok(None));
        let branch = self.git().ok().and_then(|git| git.branch());
        let of_branch = branch.and_then(|branch| issue_of_branch(&*seed.workspace, branch));
        of_branch.or_else(|| {
            let records = seed.history.records(seed.event.session_id.as_deref()?);
            let mut ids = records.iter().rev().filter_map(|record| record.issue());
            ids.next().map(str::to_owned).filter(has_file)
        })
    }

    /// Returns the event's issue; none where it is about none or no file holds it.
    ///
    /// # Errors
    /// The issue's file cannot be understood.
    pub fn issue(&self) -> Result<Option<&Arc<Issue>>, &IssueError> {
        self.0
            .issue
            .get_or_init(|| match self.issue_id() {
                Some(id) => match self.task(id) {
                    Some(task) => Ok(Some(task)),
                    None => self.0.seed.workspace.issue(id),
                },
                None => Ok(None),
            })
            .as_ref()
            .map(Option::as_ref)
    }

    /// Returns why nothing of the event's issue can be told: something is about to happen to an issue that must be there, and
    /// nothing tells which one it is.
    pub fn lacks_issue(&self) -> Option<String> {
        let trigger = self.event().trigger;
        (trigger.is_pre() && self.must_have_issue() && self.issue_id().is_none()).then(|| {
            format!("it is not known which issue is meant. Name it: `ahp run {trigger} --issue ID`")
        })
    }

    /// Whether the event's issue is a task that an agent keeps in its host: no file holds it.
    pub fn is_task(&self) -> bool {
        self.0.seed.event.is_task
    }

    /// Returns the task that a host tells of, as the issue that it is; none where it tells of none.
    fn task(&self, id: &str) -> Option<Arc<Issue>> {
        let context = &self.0.seed.event.context;
        let text = |key: &str| {
            let text = context.get(key).and_then(serde_json::Value::as_str);
            text.unwrap_or_default()
        };
        self.is_task().then(|| {
            let task = Issue::of_task(id, text("task_subject"), text("task_description"));
            Arc::new(task)
        })
    }

    /// Returns what has changed: by the branch at issue triggers, in the working tree elsewhere.
    ///
    /// # Errors
    /// Git cannot tell.
    pub fn changes(&self) -> Result<&Arc<Changes>, &GitError> {
        self.0
            .changes
            .get_or_init(|| self.0.seed.workspace.changes(self.change_scope()))
            .as_ref()
    }

    /// Returns the commits of the event's issue, oldest first: of its branch, or those that name it where the branch is gone.
    pub fn issue_commits(&self) -> Vec<Commit> {
        self.work().commits.iter().rev().cloned().collect()
    }

    /// Returns the commits that name the event's issue, where its branch is gone and nothing else tells of its work.
    pub(crate) fn commits_naming_issue(&self) -> &[Commit] {
        if self.change_scope() == ChangeScope::Branch && self.work().by_name {
            &self.work().commits
        } else {
            &[]
        }
    }

    fn work(&self) -> &Work {
        self.0.work.get_or_init(|| {
            let of_branch = || self.commits_of(&CommitsOf::Branch);
            let own = self.is_on_branch_of_issue().then(of_branch);
            let is_told = own.as_ref().is_some_and(|commits| !commits.is_empty());
            let naming = if is_told {
                Vec::new()
            } else {
                self.all_naming_issue()
            };
            let by_name = !naming.is_empty();
            // On the default branch of a project that names no issues in its commits, what is not pushed yet.
            let commits = if by_name {
                naming
            } else {
                own.unwrap_or_else(of_branch)
            };
            Work { commits, by_name }
        })
    }

    fn commits_of(&self, of: &CommitsOf) -> Vec<Commit> {
        let commits = self.0.seed.workspace.commits(of, MOST_COMMITS);
        commits.unwrap_or_default()
    }

    fn all_naming_issue(&self) -> Vec<Commit> {
        let Some(id) = self.issue_id() else {
            return Vec::new();
        };
        let mut commits = self.commits_of(&CommitsOf::Paths(Vec::new()));
        commits.retain(|commit| names_id(&commit.message, id));
        commits
    }

    /// Whether what the branch has beside the default branch is the work on the event's issue: it is another branch than
    /// that, and not named after another issue.
    fn is_on_branch_of_issue(&self) -> bool {
        let (Ok(git), Some(id)) = (self.git(), self.issue_id()) else {
            return true;
        };
        let Some(branch) = git.branch() else {
            return true;
        };
        let ids = ids_in_branch(branch);
        let is_named = || ids.iter().any(|named| named.eq_ignore_ascii_case(id));
        let is_of_other = || issue_of_branch(&*self.0.seed.workspace, branch).is_some();
        Some(branch) != git.default_branch() && (is_named() || !is_of_other())
    }

    /// Returns what the event's issue changed: by its branch, or, where that is gone, by the commits that name it and what
    /// is not committed yet.
    ///
    /// # Errors
    /// Git cannot tell.
    pub fn issue_changes(&self) -> Result<Arc<Changes>, GitError> {
        let changes = self.changes().map_err(Clone::clone)?;
        let commits = self.commits_naming_issue();
        if commits.is_empty() {
            return Ok(changes.clone());
        }
        let workspace = &self.0.seed.workspace;
        let uncommitted = workspace.changes(ChangeScope::WorkingTree)?;
        let committed = workspace.changed_by(commits)?;
        Ok(Arc::new(uncommitted.with(&committed)))
    }

    /// Returns which change is meant at this event (spec §4.3).
    pub fn change_scope(&self) -> ChangeScope {
        if self.0.seed.event.trigger.is_issue() {
            ChangeScope::Branch
        } else {
            ChangeScope::WorkingTree
        }
    }

    /// Returns the state of the repository.
    ///
    /// # Errors
    /// Git cannot tell.
    pub fn git(&self) -> Result<&Arc<GitState>, &GitError> {
        self.0
            .git
            .get_or_init(|| self.0.seed.workspace.git())
            .as_ref()
    }

    /// Returns which try this is, from 1.
    pub fn attempt(&self) -> u32 {
        *self.0.attempt.get_or_init(|| {
            let event = &self.0.seed.event;
            event.subject().map_or(1, |subject| {
                self.0.seed.history.stopped(event.trigger, subject) + 1
            })
        })
    }
}
