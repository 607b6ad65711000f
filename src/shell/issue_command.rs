//! IssueCommand: `monoco issue …` in a command line, and the messages of its commits.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Analysis, Effect, Invocation, Stdin, Word, lexical};
use crate::words::words;

/// The verbs that an issue command may have.
const VERBS: &[&str] = words!("issue-verbs");
/// The options that skip hooks.
const BYPASS: &[&str] = &["--no-hooks", "--force"];
/// The options of issue commands that take the next word as their value.
const VALUES: &[&str] = words!("issue-values");

/// An issue command that would run: `monoco issue submit FEAT-0123`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueCommand {
    /// What is done: `submit`.
    pub verb: String,
    /// The issue, where the command names one.
    pub issue_id: Option<String>,
    /// All options, in order.
    pub flags: Vec<String>,
    /// The option that skips hooks, where one is given.
    pub bypass: Option<String>,
    /// How the issue was solved, where the command says it: `--solution implemented`.
    pub solution: Option<String>,
}

pub(super) fn find(invocations: &[Arc<Invocation>]) -> Vec<IssueCommand> {
    let commands = invocations.iter();
    commands.filter_map(|i| issue_command(i)).collect()
}

fn issue_command(invocation: &Invocation) -> Option<IssueCommand> {
    let texts: Vec<&str> = invocation.texts().collect();
    if invocation.program != "monoco" {
        return None;
    }
    let rest = texts.as_slice();
    let at = rest.iter().position(|w| *w == "issue")?;
    if rest
        .get(..at)?
        .iter()
        .any(|w| !w.starts_with('-') && !w.contains('/') && !w.starts_with('.'))
    {
        return None;
    }
    let mut command = IssueCommand::default();
    let mut operands = Vec::new();
    let mut words = rest.iter();
    let mut seen_issue = false;
    while let Some(word) = words.next() {
        if word.starts_with('-') && word.len() > 1 {
            command.flags.push((*word).to_owned());
            let name = word.split('=').next().unwrap_or(word);
            if BYPASS.contains(&name) && !word.ends_with("=false") {
                command.bypass.get_or_insert_with(|| name.to_owned());
            }
            let value = if VALUES.contains(word) {
                words.next().copied()
            } else {
                word.split_once('=').map(|(_, value)| value)
            };
            if matches!(name, "--solution" | "-s") {
                command.solution = value.map(str::to_owned);
            }
        } else if *word == "issue" && !seen_issue {
            seen_issue = true;
        } else if seen_issue {
            operands.push(*word);
        }
    }
    let mut operands = operands.into_iter();
    operands.next()?.clone_into(&mut command.verb);
    if !VERBS.contains(&command.verb.as_str()) {
        return None;
    }
    if command.verb != "create" {
        command.issue_id = operands.next().map(str::to_owned);
    }
    Some(command)
}

/// The message of a commit that would be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitMessage {
    /// What it begins with.
    pub(crate) from: MessageFrom,
    /// What the command puts behind that: paragraphs and trailers.
    pub(crate) more: String,
}

/// What a message begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageFrom {
    /// What the command line gives.
    Line,
    /// The content of a file, resolved against where git would run.
    File(PathBuf),
    /// The message of another commit, which it repeats or will become a part of.
    Commit(String),
    /// What is known only when it runs, and why.
    Unknown(&'static str),
}

/// Options of `git commit` that take the next word and say nothing of the message.
const OTHER_VALUES: &[&str] = &["--author", "--date", "--cleanup", "--pathspec-from-file"];

/// Editors that leave a message as it is.
const NO_EDITORS: &[&str] = &["true", ":", "/bin/true", "/usr/bin/true", "cat"];

pub(super) fn commit_messages(analysis: &Analysis) -> impl Iterator<Item = CommitMessage> {
    let invocations = analysis.invocations.iter().enumerate();
    invocations.filter_map(|(at, invocation)| {
        let mut message = commit_message(invocation)?;
        if let MessageFrom::File(file) = &message.from {
            let written = analysis.message_files.iter().find(|(of, _)| *of == at);
            if let Some((_, text)) = written {
                message.more = joined(text, &message.more);
                message.from = MessageFrom::Line;
            } else if analysis
                .writes()
                .iter()
                .any(|of| of.effect != Effect::Delete && of.path == *file)
            {
                message.from = MessageFrom::Unknown("the same line writes its file");
            }
        }
        Some(message)
    })
}

/// Returns the file that a command of git would read a message from, as it stands there, and where the command would run.
pub(super) fn message_file(invocation: &Invocation) -> Option<PathBuf> {
    match commit_message(invocation)?.from {
        MessageFrom::File(file) => Some(file),
        _ => None,
    }
}

fn commit_message(invocation: &Invocation) -> Option<CommitMessage> {
    let mut words = invocation.arguments.iter();
    let mut dir = invocation.work_dir.clone();
    let mut editor = (invocation.environment.iter())
        .find(|(name, _)| name == "GIT_EDITOR")
        .map(|(_, value)| value.text.as_str());
    if invocation.program != "git" {
        return None;
    }
    // Options of git itself stand before the subcommand.
    loop {
        match words.next()?.text.as_str() {
            "commit" => break,
            "-C" => {
                let there = words.next()?;
                dir = dir.map(|dir| dir.join(&there.text));
            }
            "-c" => {
                let setting = words.next()?.text.split_once('=');
                let is_editor = |name: &str| name.eq_ignore_ascii_case("core.editor");
                editor = editor.or(setting
                    .filter(|(name, _)| is_editor(name))
                    .map(|(_, of)| of));
            }
            "--git-dir" | "--work-tree" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            _ => return None,
        }
    }
    let mut given = Given::default();
    while let Some(word) = words.next() {
        if word.text == "--" {
            break;
        }
        given.read(word, &mut words)?;
    }
    let is_edited = given.is_edited.unwrap_or_else(|| given.message.is_none());
    let is_edited = is_edited && !editor.is_some_and(|editor| NO_EDITORS.contains(&editor));
    let unknown = MessageFrom::Unknown;
    let mut more = given.paragraphs.join("\n\n");
    let from = match given.message {
        _ if is_edited => unknown("an editor writes it"),
        _ if given.is_unknown => unknown("it is known only when the line runs"),
        Some(Message::Line) => MessageFrom::Line,
        Some(Message::Commit(revision)) => MessageFrom::Commit(revision),
        // Without a terminal nothing is known of what `-` reads.
        Some(Message::File(file)) => match (file.as_str(), &invocation.stdin, dir) {
            ("-" | "/dev/stdin" | "/dev/fd/0", Stdin::Text(text), _) => {
                more = joined(text.trim_end(), &more);
                MessageFrom::Line
            }
            ("-" | "/dev/stdin" | "/dev/fd/0", Stdin::File(file), Some(dir)) if !file.dynamic => {
                MessageFrom::File(lexical(&file.text, &dir, None))
            }
            ("-" | "/dev/stdin" | "/dev/fd/0", _, _) | (_, _, None) => {
                unknown("what it is read from is known only when the line runs")
            }
            (file, _, Some(dir)) => MessageFrom::File(lexical(file, &dir, None)),
        },
        None if given.amends => MessageFrom::Commit("HEAD".to_owned()),
        // Git has kept the message of a merge, or makes no commit.
        None => MessageFrom::File(lexical(&given.template?, &dir?, None)),
    };
    for trailer in given.trailers {
        more = with_trailer(&more, &trailer);
    }
    Some(CommitMessage { from, more })
}

/// What the message of a commit begins with, as an option says it.
#[derive(Debug)]
enum Message {
    Line,
    File(String),
    Commit(String),
}

/// What the words of a `git commit` say.
#[derive(Debug, Default)]
struct Given {
    message: Option<Message>,
    paragraphs: Vec<String>,
    template: Option<String>,
    trailers: Vec<String>,
    /// Whether a text is known only when the line runs.
    is_unknown: bool,
    is_edited: Option<bool>,
    amends: bool,
}

impl Given {
    /// Reads one option; none where the command makes no commit.
    fn read<'w>(
        &mut self,
        word: &'w Word,
        words: &mut impl Iterator<Item = &'w Word>,
    ) -> Option<()> {
        let text = word.text.as_str();
        // Git takes a long option by any beginning that no other has: `--mess`, but `--fi` may be `--fixup` too.
        let (option, attached) = text
            .split_once('=')
            .map_or((text, None), |(o, v)| (o, Some(v)));
        let is_long = |name: &str, least| option.len() >= least && name.starts_with(option);
        let mut value = |attached: Option<&str>| match attached {
            Some(text) => word.with_text(text),
            None => words.next().cloned().unwrap_or_default(),
        };
        if !text.starts_with("--") {
            let Some(cluster) = text.strip_prefix('-') else {
                return Some(());
            };
            // `-am message`, `-mmessage`: what stands behind a letter that takes a value is the value.
            for (at, letter) in cluster.char_indices() {
                let rest = cluster
                    .get(at + letter.len_utf8()..)
                    .filter(|rest| !rest.is_empty());
                match letter {
                    'm' => self.add(value(rest)),
                    'F' => self.read_file(value(rest)),
                    'C' => self.repeat(value(rest)),
                    'c' => {
                        self.repeat(value(rest));
                        self.is_edited = Some(true);
                    }
                    't' => self.template = Some(value(rest).text),
                    's' => self.sign(),
                    'e' => self.is_edited = Some(true),
                    'h' => return None,
                    // Their values are attached.
                    'S' | 'u' => return Some(()),
                    _ => {}
                }
                if "mFCct".contains(letter) {
                    break;
                }
            }
        } else if is_long("--message", 3) {
            self.add(value(attached));
        } else if is_long("--file", 5) {
            self.read_file(value(attached));
        } else if is_long("--reuse-message", 5) {
            self.repeat(value(attached));
        } else if is_long("--reedit-message", 5) {
            self.repeat(value(attached));
            self.is_edited = Some(true);
        } else if is_long("--fixup", 4) {
            let mut of = value(attached);
            let rewords = ["amend:", "reword:"]
                .iter()
                .find(|kind| of.text.starts_with(**kind));
            if let Some(kind) = rewords {
                of.text = of.text.split_off(kind.len());
                // Its message takes the place of the other one.
                self.is_edited.get_or_insert(self.paragraphs.is_empty());
            }
            self.repeat(of);
        } else if is_long("--squash", 4) {
            self.repeat(value(attached));
            self.is_edited.get_or_insert(false);
        } else if is_long("--template", 5) {
            self.template = Some(value(attached).text);
        } else if is_long("--trailer", 4) {
            self.trailers.push(value(attached).text);
        } else if is_long("--signoff", 5) {
            self.sign();
        } else if is_long("--edit", 4) {
            self.is_edited = Some(true);
        } else if is_long("--no-edit", 6) {
            self.is_edited = Some(false);
        } else if is_long("--amend", 4) {
            self.amends = true;
        } else if is_long("--dry-run", 4)
            || matches!(text, "--help" | "--short" | "--porcelain" | "--long")
        {
            return None;
        } else if attached.is_none() && OTHER_VALUES.iter().any(|name| is_long(name, 6)) {
            words.next();
        }
        Some(())
    }

    /// Adds a paragraph of the line; of one that begins with what is known only when it runs, nothing can be told.
    fn add(&mut self, word: Word) {
        self.is_unknown |= word.dynamic && word.text.starts_with(['$', '`']);
        self.paragraphs.push(word.text);
        self.message.get_or_insert(Message::Line);
    }

    fn read_file(&mut self, word: Word) {
        self.is_unknown |= word.dynamic;
        self.message = Some(Message::File(word.text));
    }

    fn repeat(&mut self, word: Word) {
        self.is_unknown |= word.dynamic;
        self.message = Some(Message::Commit(word.text));
    }

    fn sign(&mut self) {
        self.trailers
            .push("Signed-off-by: the committer".to_owned());
    }
}

/// Puts a text behind a message as a paragraph of its own.
pub(crate) fn joined(message: &str, more: &str) -> String {
    let parts = [message.trim(), more.trim()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Puts a trailer behind a message, into the paragraph of those that are there.
fn with_trailer(message: &str, trailer: &str) -> String {
    let trailer = trailer.replacen('=', ": ", usize::from(!trailer.contains(':')));
    let last = message.rsplit("\n\n").next();
    let last = last.filter(|last| last.len() < message.len());
    if last.is_some_and(|last| last.lines().all(|line| line.contains(": "))) {
        format!("{message}\n{trailer}")
    } else {
        joined(message, &trailer)
    }
}
