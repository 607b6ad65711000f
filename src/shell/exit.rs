//! Exit: whether the exit code of a command line tells of a failure in any part of it.

use rable::{ListOperator, Node, NodeKind};

use super::{Analysis, Invocation, Word, file_name, guard, wrapper};
use crate::program::{self, Fact};
use crate::words::holds_any;

/// How what a shell runs within a word begins.
const SUBSTITUTIONS: &[&str] = &["$(", "`", "<(", ">("];

/// Whether exit code 0 of a command line means that each of its commands ended with 0.
///
/// That is so where they are joined by `&&`, or stand one after the other under `set -e`; a pipe tells of its last
/// command alone, but under `pipefail`. What runs in a substitution, or by a program that is not known to hand on its exit
/// code, does not tell, and neither does what cannot be read.
pub fn tells_of_failures(command: &str, analysis: &Analysis) -> bool {
    let all = analysis.invocations.iter().enumerate();
    let mut own = all.filter(|(_, i)| !i.emulated);
    let by_shell = own.clone().filter(|(_, i)| i.wrappers.is_empty()).count();
    let is_handed_on = own.all(|(at, i)| {
        let earlier = analysis.part(..at);
        let outer = |wrapper: &String| earlier.iter().rfind(|outer| outer.program == *wrapper);
        let nearest = i.wrappers.last().and_then(outer);
        !i.uncertain
            && options_hand_on(i)
            && !nearest.is_some_and(|nearest| is_of_line(i, nearest))
            && !ends_shell(i, analysis.part(at + 1..))
            && i.wrappers
                .iter()
                .all(|wrapper| outer(wrapper).is_some_and(|outer| hands_on(outer)))
    });
    // What the line's structure does not show runs in a substitution, where nobody minds how it ends.
    is_handed_on && told_of(command) == Some(by_shell)
}

/// Returns how many commands a line has, where its exit code tells of a failure of each.
fn told_of(line: &str) -> Option<usize> {
    let nodes = guard::parse(line).ok()?;
    let mut options = Options::default();
    let last = nodes.len().saturating_sub(1);
    let mut nodes = nodes.iter().enumerate();
    nodes.try_fold(0, |before, (n, node)| {
        let told = options.tell(node)?;
        (n == last || options.ends_at(node)).then_some(before + told)
    })
}

/// Whether a program ends with the exit code of what it runs.
fn hands_on(outer: &Invocation) -> bool {
    let known = program::find(&outer.program);
    let is_option = |word: &&Word| word.text.len() == 2 || word.text.starts_with("--");
    let has = |option: &str| {
        let mut options = outer.arguments.iter().take_while(is_option);
        options.any(|word| word.text == option)
    };
    let only = known.words(Fact::HandsExit);
    let only = only.filter_map(|word| word.strip_prefix("only="));
    let mut only = only.peekable();
    known.is(Fact::Shell) || known.is(Fact::HandsExit) && (only.peek().is_none() || only.any(has))
}

/// Whether a program stands in a line that another, which is no shell, gives a shell: how that line ends is not looked at.
fn is_of_line(invocation: &Invocation, outer: &Invocation) -> bool {
    let is_line =
        |text: &str| text.contains([';', '|', '&', '\n']) || holds_any(text, SUBSTITUTIONS);
    let mut lines = outer.arguments.iter().filter(|word| is_line(&word.text));
    !program::find(&outer.program).is(Fact::Shell)
        && lines.any(|line| invocation.texts().all(|text| text != line.text))
}

/// Whether none of a program's options has it end with 0 whatever has failed.
fn options_hand_on(invocation: &Invocation) -> bool {
    let listed = program::find(&invocation.program).words(Fact::HandsExit);
    !invocation.has_any_option(listed.filter(|word| !word.starts_with("only=")))
}

/// Whether a built-in command ends the shell, or changes how it ends, other than a plain `set` does.
fn ends_shell(invocation: &Invocation, later: &[std::sync::Arc<Invocation>]) -> bool {
    match invocation.program.as_str() {
        "eval" | "exit" | "logout" | "return" | "shopt" | "trap" => true,
        // As a command of its own it is read with the line.
        "set" => !invocation.wrappers.is_empty() || invocation.path.text != "set",
        // What stands behind it never runs.
        "exec" => {
            let is_run = |i: &std::sync::Arc<Invocation>| i.wrappers.iter().any(|w| w == "exec");
            invocation.operands().next().is_some() && !later.iter().all(is_run)
        }
        _ => false,
    }
}

/// The options of the shell that matter here, as the line has set them so far.
#[derive(Clone, Copy, Default)]
struct Options {
    stops_at_error: bool,
    minds_pipes: bool,
}

impl Options {
    /// Returns how many commands a part has, where it tells of every failure in it.
    fn tell(&mut self, node: &Node) -> Option<usize> {
        match &node.kind {
            // What runs in an assignment is noted by the reading, and is no command of the line.
            NodeKind::Command { words, .. } if words.is_empty() => Some(0),
            NodeKind::Command { words, .. } => {
                self.set(words)?;
                started_shell_tells(words).then_some(1)
            }
            NodeKind::Pipeline { commands, .. } => {
                if commands.len() > 1 && !self.minds_pipes {
                    return None;
                }
                let mut of_pipe = *self;
                let mut commands = commands.iter();
                commands.try_fold(0, |told, command| Some(told + of_pipe.tell(command)?))
            }
            NodeKind::List { items } => {
                let last = items.len().saturating_sub(1);
                let mut is_joined = false;
                items.iter().enumerate().try_fold(0, |told, (n, item)| {
                    let tells = self.tell(&item.command)?;
                    let before =
                        std::mem::replace(&mut is_joined, item.operator == Some(ListOperator::And));
                    let goes_on = match item.operator {
                        Some(ListOperator::And) | None => true,
                        Some(ListOperator::Or | ListOperator::Background) => false,
                        // Not even `set -e` minds what fails before an `&&`.
                        Some(ListOperator::Semi) => {
                            n == last || (!before && self.ends_at(&item.command))
                        }
                    };
                    goes_on.then_some(told + tells)
                })
            }
            NodeKind::BraceGroup { body, .. } => self.tell(body),
            NodeKind::Subshell { body, .. } => {
                let mut of_subshell = *self;
                of_subshell.tell(body)
            }
            NodeKind::Time { pipeline, .. } => self.tell(pipeline),
            _ => None,
        }
    }

    /// Takes what `set` says; none where that is known only when it runs.
    fn set(&mut self, words: &[Node]) -> Option<()> {
        let first = first_word(words)?;
        if first.replace(['"', '\'', '\\'], "") != "set" {
            return Some(());
        }
        if first != "set" {
            return None;
        }
        let mut words = words.iter().skip(1);
        while let Some(option) = words.next() {
            let option = word(option)?;
            let letters = option.trim_start_matches(['-', '+']);
            if !option.starts_with(['-', '+']) || letters.is_empty() {
                // What follows are no options.
                return Some(());
            }
            if !letters.bytes().all(|b| b.is_ascii_alphabetic()) {
                return None;
            }
            let on = option.starts_with('-');
            if letters.contains('e') {
                self.stops_at_error = on;
            }
            // `set -n`: nothing runs, and nothing fails.
            if letters.contains('n') && named_options(option) == 0 {
                return None;
            }
            for _ in 0..named_options(option) {
                match word(words.next()?)? {
                    "noexec" => return None,
                    "pipefail" => self.minds_pipes = on,
                    "errexit" => self.stops_at_error = on,
                    name if name.bytes().all(|b| b.is_ascii_alphabetic()) => {}
                    _ => return None,
                }
            }
        }
        Some(())
    }

    /// Whether the line ends where a part of it fails: it is ended there, or the part sets options, which does not fail.
    fn ends_at(self, node: &Node) -> bool {
        match &node.kind {
            NodeKind::Command { words, .. } => {
                self.stops_at_error || first_word(words) == Some("set")
            }
            NodeKind::List { items } => {
                let is_joined = items
                    .iter()
                    .any(|item| item.operator == Some(ListOperator::And));
                self.stops_at_error && !is_joined
            }
            _ => self.stops_at_error,
        }
    }
}

/// Returns how many words behind a word of `set`, or of a shell that is started, are names of options: one behind `-euo` of
/// `set -euo pipefail`, and behind `-oc` of `bash -oc pipefail 'make'`.
pub(super) fn named_options(word: &str) -> usize {
    if word.starts_with(['-', '+']) && !word.starts_with("--") {
        word.matches(['o', 'O']).count()
    } else {
        0
    }
}

/// Whether a shell that is started tells of failures: by the line that it is given as a word, `bash -c 'make test'`. Of what it
/// is fed its last command alone tells. A script tells what its author has it tell, as any other program does.
fn started_shell_tells(words: &[Node]) -> bool {
    let words: Vec<&str> = words.iter().filter_map(word).collect();
    let is_shell = |word: &&str| {
        let name = file_name(word);
        matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh")
    };
    let Some(shell) = words.iter().position(is_shell) else {
        return true;
    };
    let mut options = words.iter().skip(shell + 1);
    if options.any(|word| word.starts_with('-') && word.ends_with('c')) {
        let line = options.next().map(|line| line.trim_matches(['"', '\'']));
        return line.is_some_and(|line| !holds_any(line, SUBSTITUTIONS) && told_of(line).is_some());
    }
    let mut operands = words.iter().skip(shell + 1);
    // A name without a path could be the value of an option.
    if operands.any(|word| !word.starts_with('-') && word.contains(['.', '/'])) {
        return true;
    }
    let Some((first, rest)) = words.split_first() else {
        return true;
    };
    let rest: Vec<Word> = rest.iter().map(|word| Word::plain(*word)).collect();
    shell != 0 && wrapper::find(first, &rest).is_none()
}

pub(super) fn first_word(words: &[Node]) -> Option<&str> {
    words.first().and_then(word)
}

fn word(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Word { value, .. } => Some(value),
        _ => None,
    }
}
