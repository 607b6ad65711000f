//! IssueCommand: `monoco issue …` in a command line, and the messages of its commits.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Analysis, Invocation, Stdin, lexical};

/// The verbs that an issue command may have.
const VERBS: &[&str] = &[
    "create", "start", "submit", "close", "open", "cancel", "delete",
];
/// The options that skip hooks.
const BYPASS: &[&str] = &["--no-hooks", "--force"];
/// The options of issue commands that take the next word as their value.
const VALUES: &[&str] = &[
    "--title",
    "-t",
    "--parent",
    "-p",
    "--type",
    "--stage",
    "--status",
    "--solution",
    "-s",
    "--related",
    "--dependency",
    "-d",
    "--sprint",
    "--tag",
    "--root",
    "--branch",
    "-b",
    "--lang",
    "--from",
    "--subdir",
    "--criticality",
    "--domain",
    "--description",
    "--reason",
];

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
    let texts: Vec<&str> = invocation
        .arguments
        .iter()
        .map(|w| w.text.as_str())
        .collect();
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

/// Where the message of a commit stands.
pub(super) enum CommitMessage {
    Text(String),
    /// In a file, resolved against where git would run.
    File(PathBuf),
}

pub(super) fn commit_messages(analysis: &Analysis) -> impl Iterator<Item = CommitMessage> {
    let invocations = analysis.invocations.iter();
    invocations
        .filter(|i| i.program == "git")
        .filter_map(|invocation| commit_message(invocation))
}

fn commit_message(invocation: &Invocation) -> Option<CommitMessage> {
    let mut words = invocation.arguments.iter().map(|w| w.text.as_str());
    let mut dir = invocation.work_dir.clone();
    // Options of git itself stand before the subcommand.
    loop {
        match words.next()? {
            "commit" => break,
            "-C" => {
                let there = words.next()?;
                dir = dir.map(|dir| dir.join(there));
            }
            "-c" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            _ => return None,
        }
    }
    let mut paragraphs: Vec<String> = Vec::new();
    let mut file = None;
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        // Git takes a long option by any beginning that no other has: `--mess`, but `--fi` may be `--fixup` too.
        let (option, value) = word
            .split_once('=')
            .map_or((word, None), |(o, v)| (o, Some(v)));
        let is_long = |name: &str, least| option.len() >= least && name.starts_with(option);
        if is_long("--message", 3) {
            let value = value.or_else(|| words.next());
            paragraphs.extend(value.map(str::to_owned));
        } else if is_long("--file", 5) {
            file = value.or_else(|| words.next());
        } else if word == "-F" {
            file = words.next();
        } else if let Some(name) = word.strip_prefix("-F") {
            file = Some(name);
        } else if let Some(cluster) = word.strip_prefix('-').filter(|c| !c.starts_with('-')) {
            // `-am message`, `-m message`, `-mmessage`; letters before `m` take no value.
            if let Some((before, after)) = cluster.split_once('m')
                && before.chars().all(|c| "aspqvnez".contains(c))
            {
                if after.is_empty() {
                    paragraphs.extend(words.next().map(str::to_owned));
                } else {
                    paragraphs.push(after.to_owned());
                }
            } else if let Some(before) = cluster.strip_suffix('F')
                && before.chars().all(|c| "aspqvnez".contains(c))
            {
                file = words.next();
            }
        }
    }
    match file {
        Some("-") => {
            if let Stdin::Text(text) = &invocation.stdin {
                paragraphs.push(text.trim_end().to_owned());
            }
        }
        // Git takes either `-m` or `-F`.
        Some(name) => return dir.map(|dir| CommitMessage::File(lexical(name, &dir, None))),
        None => {}
    }
    (!paragraphs.is_empty()).then(|| CommitMessage::Text(paragraphs.join("\n\n")))
}
