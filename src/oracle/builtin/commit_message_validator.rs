//! CommitMessageValidator: commit messages say what the project wants them to say.

use std::io::ErrorKind;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::Texts;
use crate::diagnostic::Code;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::toolchain::in_time;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::pattern::Pattern;
use crate::process::Exit;
use crate::regular_file;
use crate::shell::{CommitMessage, MessageFrom, joined};
use crate::signal::{Intensity, Signal};
use crate::workspace::{Commit, CommitsOf, git, names_id};

pub(super) static DEFINITION: Definition = Definition {
    name: "CommitMessageValidator",
    kebab: "commit-message-validator",
    summary: "Commit messages say what the project wants them to say.",
    triggers: &[
        Trigger::PreIssueSubmit,
        Trigger::PreIssueClose,
        Trigger::PreToolUse,
        Trigger::PostToolUse,
        Trigger::PreAgentTurnStop,
    ],
    intensities: &[Intensity::Prompt],
    needs: &[FactSource::Git, FactSource::Shell],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(CommitMessageValidator),
    build: |config| Validator::build(config).map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>),
};

/// How many commits of a branch are looked at.
const MOST_COMMITS: usize = 1000;

/// How long a file may be that a message is read from, in bytes.
const MAX_MESSAGE: u64 = 1 << 20;

/// How many commits have a prompt of their own; the rest are counted.
const MOST_SIGNALS: usize = 20;

/// Warns of commits whose message does not follow the rules of the project.
///
/// What it does: if a shell command makes a commit, it reads the message of that commit before the commit is made: the
/// paragraphs of `-m`, a file or input that the line itself or an earlier one has written, the message of the commit that
/// `-C`, `--amend --no-edit`, `--fixup` or `--squash` name, and the trailers that are added. If an editor or another program
/// will write the message, it says that it cannot tell. At every other trigger it reads the commits of the branch since it
/// left the default branch, without merges. It gives one prompt for each commit that breaks a rule. The prompt lists
/// everything that is wrong and says how to reword the message.
///
/// ```yaml
/// hooks:
///   pre-issue-submit:
///     - oracle: CommitMessageValidator
///       config:
///         pattern: "^(feat|fix|docs|chore)(\\(.+\\))?: "
///         required_fields: [type, issue, signed-off-by]
///         max_subject_length: 72
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CommitMessageValidator {
    /// A regular expression that the subject, which is the first line, must match; by default any subject is accepted.
    pattern: Option<String>,
    /// What a message must have: `type` and `scope` as in `type(scope): subject`, `issue` (the id of the issue of the
    /// event; any issue if the event has none), `body`, or the name of a trailer such as `signed-off-by`.
    required_fields: Texts,
    /// The largest number of characters of the subject.
    #[schemars(range(min = 1))]
    max_subject_length: usize,
}

impl Default for CommitMessageValidator {
    fn default() -> Self {
        Self {
            pattern: None,
            required_fields: Texts::default(),
            max_subject_length: 72,
        }
    }
}

/// The configuration, made ready.
#[derive(Debug)]
struct Validator {
    pattern: Option<Pattern>,
    fields: Vec<Field>,
    max_subject_length: usize,
}

/// What a message must have.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Type,
    Scope,
    Issue,
    Body,
    /// A trailer, by its name in lower case.
    Trailer(String),
}

#[async_trait]
impl Oracle for Validator {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        if let Some(analysis) = context.facts.shell() {
            return self.of_line(context, analysis.commit_messages());
        }
        if context.event().tool.is_some() {
            return Ok(Vec::new());
        }
        self.of_branch(context)
    }
}

impl Validator {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let written: CommitMessageValidator = config.decode()?;
        let pattern =
            match &written.pattern {
                Some(text) => Some(Pattern::new(text).map_err(|error| {
                    config.error_at("pattern", Code::BadRegex, error.to_string())
                })?),
                None => None,
            };
        if written.max_subject_length == 0 {
            return Err(config.bad_value(
                "max_subject_length",
                "`0` would accept no message; expected a whole number of at least 1",
            ));
        }
        let mut fields = Vec::new();
        for name in &written.required_fields.0 {
            let field = Field::find(name).ok_or_else(|| {
                config.bad_value("required_fields", format!("`{name}` is neither `type`, `scope`, `issue`, `body` nor a trailer such as `signed-off-by`"))
            })?;
            fields.push(field);
        }
        Ok(Self {
            pattern,
            fields,
            max_subject_length: written.max_subject_length,
        })
    }

    /// Judges the messages of the commits that a command line would make.
    fn of_line(
        &self,
        context: &HookContext,
        messages: Vec<CommitMessage>,
    ) -> Result<Vec<Signal>, OracleError> {
        let issue = context.facts.issue_id();
        let (mut signals, mut untold) = (Vec::new(), Vec::new());
        for message in messages {
            match whole(context, &message) {
                Ok(text) => {
                    let faults = self.faults(&text, issue);
                    let step = "Write the message anew and run the command again";
                    signals.extend(signal(
                        "the commit that is about to be made",
                        &text,
                        &faults,
                        step,
                    ));
                }
                Err(why) => untold.push(format!("the message of the commit: {why}")),
            }
        }
        if untold.is_empty() {
            return Ok(signals);
        }
        untold.dedup();
        let untold = format!(
            "{}; give it by `-m`, or write its file before the line",
            untold.join("; ")
        );
        if signals.is_empty() {
            return Err(OracleError::CannotTell(untold));
        }
        signals.push(Signal::prompt(
            "commit-message",
            format!("cannot be told: {untold}"),
        ));
        Ok(signals)
    }

    fn of_branch(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let commits = context
            .workspace()
            .commits(&CommitsOf::Branch, MOST_COMMITS)
            .map_err(|error| OracleError::failed(error.to_string()))?;
        let issue = context.facts.issue_id();
        let git = context.facts.git().ok();
        let head = git.and_then(|git| git.head());
        let bad: Vec<(&Commit, Vec<String>)> = commits
            .iter()
            .map(|commit| (commit, self.faults(&commit.message, issue)))
            .filter(|(_, faults)| !faults.is_empty())
            .collect();
        let mut signals: Vec<Signal> = bad
            .iter()
            .take(MOST_SIGNALS)
            .filter_map(|(commit, faults)| {
                let name = format!("commit {}", commit.short_id());
                let step = if head == Some(commit.id.as_str()) {
                    "Reword it: `git commit --amend`".to_owned()
                } else {
                    format!("Reword it: `git rebase -i {}~1`", commit.short_id())
                };
                signal(&name, &commit.message, faults, &step)
            })
            .collect();
        let more = bad.len().saturating_sub(MOST_SIGNALS);
        if let (1.., Some((oldest, _))) = (more, bad.last()) {
            let text = match more {
                1 => {
                    "1 more commit message of this branch is not as it should be either".to_owned()
                }
                _ => format!(
                    "{more} more commit messages of this branch are not as they should be either"
                ),
            };
            // The newest come first: from the oldest on, all of them are reworded at once.
            let id = oldest.short_id();
            signals.push(Signal::prompt("commit-message", text).steps([
                format!("Look through them: `git log --format='%h %s' {id}~1..`"),
                format!("Reword all that need it at once: `git rebase -i {id}~1`, with `reword` for each"),
            ]));
        }
        Ok(signals)
    }

    /// Returns what is wrong with a message.
    fn faults(&self, message: &str, issue: Option<&str>) -> Vec<String> {
        // Written on Windows and kept as it is.
        let message = message.replace("\r\n", "\n");
        let message = Message::read(&message);
        let mut faults = Vec::new();
        if message.subject.is_empty() {
            return vec!["it is empty".to_owned()];
        }
        let length = message.subject.chars().count();
        if length > self.max_subject_length {
            faults.push(format!(
                "the subject has {length} characters, at most {} are accepted",
                self.max_subject_length
            ));
        }
        if let Some(pattern) = self
            .pattern
            .as_ref()
            .filter(|p| !p.is_match(message.subject))
        {
            faults.push(format!("the subject does not match `{}`", pattern.as_str()));
        }
        for field in &self.fields {
            if !message.has(field, issue) {
                faults.push(field.missing(issue));
            }
        }
        faults
    }
}

impl Field {
    fn find(name: &str) -> Option<Self> {
        match name.to_lowercase().as_str() {
            "type" => Some(Self::Type),
            "scope" => Some(Self::Scope),
            "issue" => Some(Self::Issue),
            "body" => Some(Self::Body),
            trailer if is_trailer_name(trailer) => Some(Self::Trailer(trailer.to_owned())),
            _ => None,
        }
    }

    fn missing(&self, issue: Option<&str>) -> String {
        match (self, issue) {
            (Self::Type, _) => {
                "it has no type: begin the subject with one, as in `fix: …`".to_owned()
            }
            (Self::Scope, _) => "it has no scope: name one, as in `fix(parser): …`".to_owned(),
            (Self::Issue, Some(id)) => format!("it does not name the issue `{id}`"),
            (Self::Issue, None) => "it names no issue".to_owned(),
            (Self::Body, _) => "it has no body that says why".to_owned(),
            (Self::Trailer(name), _) => format!("it has no trailer `{name}: …` at its end"),
        }
    }
}

/// Returns the text of a message, or why it cannot be told.
fn whole(context: &HookContext, message: &CommitMessage) -> Result<String, String> {
    let beginning = match &message.from {
        MessageFrom::Line => String::new(),
        MessageFrom::Unknown(why) => return Err((*why).to_owned()),
        MessageFrom::File(file) => {
            let bytes = match file.strip_prefix(context.root()) {
                Ok(inside) => context.workspace().read(&inside.to_string_lossy()),
                Err(_) if context.workspace().is_on_disk() => {
                    regular_file::read(None, file, MAX_MESSAGE).map(Into::into)
                }
                Err(_) => Err(ErrorKind::NotFound.into()),
            };
            let bytes = bytes.map_err(|e| format!("`{}` cannot be read: {e}", file.display()))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        MessageFrom::Commit(revision) => {
            let log = [
                "log",
                "--max-count=1",
                "--no-show-signature",
                "--format=%B",
                "--end-of-options",
                revision,
                "--",
            ];
            let asked = git(context.root(), &log).deadline(in_time(context)).run();
            let told = asked.ok().filter(|told| told.exit == Exit::Code(0));
            let told = told.ok_or_else(|| format!("git does not tell that of `{revision}`"))?;
            told.stdout_text()
        }
    };
    Ok(joined(&beginning, &message.more))
}

/// The parts of a commit message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message<'a> {
    whole: &'a str,
    subject: &'a str,
    kind: Option<&'a str>,
    scope: Option<&'a str>,
    body: &'a str,
    trailers: Vec<&'a str>,
}

impl<'a> Message<'a> {
    fn read(whole: &'a str) -> Self {
        let whole = whole.trim();
        let (subject, rest) = whole.split_once('\n').unwrap_or((whole, ""));
        let rest = rest.trim();
        // Trailers are the last paragraph, if each of its lines is one or goes on with one.
        let (before, last) = match rest.rfind("\n\n") {
            Some(at) => rest.split_at(at),
            None => ("", rest),
        };
        let lines: Vec<&str> = last.trim().lines().collect();
        let names: Vec<&str> = lines.iter().filter_map(|line| trailer_name(line)).collect();
        let all = lines
            .iter()
            .all(|line| trailer_name(line).is_some() || line.starts_with([' ', '\t']));
        let (body, trailers) = if all {
            (before, names)
        } else {
            (rest, Vec::new())
        };
        let head = subject.split_once(": ").map(|(head, _)| head);
        let head = head.map(|head| head.strip_suffix('!').unwrap_or(head));
        let (kind, scope) = match head {
            Some(head) => match head.split_once('(') {
                Some((kind, scope)) => (Some(kind), scope.strip_suffix(')')),
                None => (Some(head), None),
            },
            None => (None, None),
        };
        let is_word = |kind: &&str| {
            !kind.is_empty()
                && kind
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        };
        Self {
            whole,
            subject: subject.trim(),
            kind: kind.filter(is_word),
            scope: scope.filter(|scope| !scope.trim().is_empty()),
            body: body.trim(),
            trailers,
        }
    }

    fn has(&self, field: &Field, issue: Option<&str>) -> bool {
        match (field, issue) {
            (Field::Type, _) => self.kind.is_some(),
            (Field::Scope, _) => self.kind.is_some() && self.scope.is_some(),
            (Field::Issue, Some(id)) => names_id(self.whole, id),
            (Field::Issue, None) => self
                .whole
                .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '#')
                .any(is_issue_id),
            (Field::Body, _) => !self.body.is_empty(),
            (Field::Trailer(name), _) => self.trailers.iter().any(|t| t.eq_ignore_ascii_case(name)),
        }
    }
}

fn trailer_name(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    (is_trailer_name(name) && value.starts_with(' ') && !value.trim().is_empty()).then_some(name)
}

fn is_trailer_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Whether a word is `#12` or `FEAT-0123`.
fn is_issue_id(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(number) = word.strip_prefix('#') {
        return is_number(number);
    }
    word.split_once('-').is_some_and(|(letters, number)| {
        is_number(number)
            && letters.len() > 1
            && letters
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    })
}

fn signal(name: &str, message: &str, faults: &[String], step: &str) -> Option<Signal> {
    if faults.is_empty() {
        return None;
    }
    let subject = message.lines().next().unwrap_or_default();
    let shown: String = subject.chars().take(80).collect();
    let dots = if shown.len() < subject.len() {
        "…"
    } else {
        ""
    };
    Some(
        Signal::prompt(
            "commit-message",
            format!("{name} `{shown}{dots}`: {}", faults.join("; ")),
        )
        .steps([step.to_owned()])
        .about("commit-message", message),
    )
}
