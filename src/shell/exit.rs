//! Exit: whether the exit code of a command line tells of a failure in any part of it.

use rable::{ListOperator, Node, NodeKind};

use super::{Word, file_name, guard, wrapper};

/// Whether exit code 0 of a command line means that each of its commands ended with 0.
///
/// That is so where they are joined by `&&`, or stand one after the other under `set -e`; a pipe tells of its last
/// command alone, but under `pipefail`. What cannot be read does not tell.
pub fn tells_of_failures(command: &str) -> bool {
    let Ok(nodes) = guard::parse(command) else {
        return false;
    };
    let mut options = Options::default();
    let last = nodes.len().saturating_sub(1);
    nodes.iter().enumerate().all(|(n, node)| {
        let tells = options.tell(node);
        tells && (n == last || options.ends_at(node))
    })
}

/// The options of the shell that matter here, as the line has set them so far.
#[derive(Clone, Copy, Default)]
struct Options {
    stops_at_error: bool,
    minds_pipes: bool,
}

impl Options {
    /// Whether a part tells of every failure in it.
    fn tell(&mut self, node: &Node) -> bool {
        match &node.kind {
            NodeKind::Command { words, .. } => {
                self.set(words);
                !matches!(first_word(words), Some("exit" | "return" | "trap" | "eval"))
                    && started_shell_tells(words)
            }
            NodeKind::Pipeline { commands, .. } => {
                let mut of_pipe = *self;
                (commands.len() == 1 || self.minds_pipes)
                    && commands.iter().all(|command| of_pipe.tell(command))
            }
            NodeKind::List { items } => {
                let last = items.len().saturating_sub(1);
                let mut is_joined = false;
                items.iter().enumerate().all(|(n, item)| {
                    let tells = self.tell(&item.command);
                    let before =
                        std::mem::replace(&mut is_joined, item.operator == Some(ListOperator::And));
                    tells
                        && match item.operator {
                            Some(ListOperator::And) | None => true,
                            Some(ListOperator::Or | ListOperator::Background) => false,
                            // Not even `set -e` minds what fails before an `&&`.
                            Some(ListOperator::Semi) => {
                                n == last || (!before && self.ends_at(&item.command))
                            }
                        }
                })
            }
            NodeKind::BraceGroup { body, .. } => self.tell(body),
            NodeKind::Subshell { body, .. } => (*self).tell(body),
            NodeKind::Time { pipeline, .. } => self.tell(pipeline),
            _ => false,
        }
    }

    /// Takes what `set` says.
    fn set(&mut self, words: &[Node]) {
        if first_word(words) != Some("set") {
            return;
        }
        let mut words = words.iter().skip(1).filter_map(word);
        while let Some(option) = words.next() {
            let on = option.starts_with('-');
            let letters = option.trim_start_matches(['-', '+']);
            if letters.contains('e') && !option.starts_with("--") {
                self.stops_at_error = on;
            }
            for _ in 0..named_options(option) {
                match words.next() {
                    Some("pipefail") => self.minds_pipes = on,
                    Some("errexit") => self.stops_at_error = on,
                    _ => {}
                }
            }
        }
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
        return line.is_some_and(tells_of_failures);
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
