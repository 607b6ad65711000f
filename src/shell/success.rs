//! Success: which commands must have ended well where another one runs: before its `&&`, under `set -e`, before `|| exit`.

use rable::{ListItem, ListOperator, Node, NodeKind};

use super::exit::first_word;
use super::scope::Ended;
use super::walk::{Input, Walker};

/// The longest output that is followed, in bytes.
const MAX_OUTPUT: usize = 256 * 1024;

impl Walker<'_> {
    /// Says that what follows runs only where commands have ended well.
    fn need(&mut self, commands: &[usize]) {
        let from = self.analysis.invocations.len();
        let commands = commands.iter().map(|command| (from, *command));
        self.needed.extend(commands);
    }

    /// Runs a part that may not run at all, or that runs in a shell of its own: what is said there of what follows ends with it.
    pub(super) fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.needed.len();
        let result = run(self);
        let end = self.analysis.invocations.len();
        let said = self.needed.drain(before.min(self.needed.len())..);
        let held = said.filter(|(from, _)| *from < end);
        let held = held.map(|(from, command)| (from..end, command));
        self.analysis.needs.extend(held);
        result
    }

    /// Runs commands that stand on lines of their own.
    pub(super) fn run_nodes(&mut self, nodes: &[Node], input: &Input) -> Option<String> {
        let mut output = Some(String::new());
        for node in nodes {
            let from = self.analysis.invocations.len();
            join(&mut output, self.run(node, input));
            let ended = self.ended(node, from);
            self.pass(&ended);
        }
        output
    }

    pub(super) fn run_list(&mut self, items: &[ListItem], input: &Input) -> Option<String> {
        let mut output = Some(String::new());
        let mut ended = Ended::default();
        let mut operator = None;
        for item in items {
            let from = self.analysis.invocations.len();
            let either = operator == Some(ListOperator::Or);
            self.scope.branches += usize::from(either);
            let one = match operator {
                Some(ListOperator::And | ListOperator::Or) => self.apart(|walker| {
                    if !either {
                        walker.need(&ended.commands);
                    }
                    walker.run(&item.command, input)
                }),
                Some(ListOperator::Semi) => {
                    self.pass(&ended);
                    self.run(&item.command, input)
                }
                _ => self.run(&item.command, input),
            };
            self.scope.branches -= usize::from(either);
            let own = self.ended(&item.command, from);
            ended.is_joined = match operator {
                Some(ListOperator::And) => {
                    // The last one has run only where those before it have ended well.
                    if !own.commands.is_empty() {
                        ended.commands = own.commands;
                    }
                    true
                }
                Some(ListOperator::Or) => {
                    if leaves(&item.command) {
                        self.need(&ended.commands);
                    } else {
                        ended.commands.clear();
                    }
                    true
                }
                _ => {
                    ended.commands = own.commands;
                    own.is_joined
                }
            };
            operator = item.operator;
            let is_unknown = operator == Some(ListOperator::Or);
            join(&mut output, if is_unknown { None } else { one });
        }
        if operator == Some(ListOperator::Background) {
            ended = Ended::default();
        }
        self.list_ended = ended;
        output
    }

    /// Runs the branches of an `if`, the condition of which stands before them.
    pub(super) fn run_if(
        &mut self,
        condition: &Node,
        then_body: &Node,
        else_body: Option<&Node>,
        input: &Input,
    ) {
        let from = self.analysis.invocations.len();
        self.apart(|walker| walker.run(condition, input));
        let (condition, is_turned) = match &plain_list(condition).kind {
            NodeKind::Negation { pipeline } => (&**pipeline, true),
            _ => (plain_list(condition), false),
        };
        let ended = self.ended(condition, from);
        self.apart(|walker| {
            if !is_turned {
                walker.need(&ended.commands);
            }
            walker.branch(then_body, input);
        });
        match else_body {
            Some(body) => self.branch(body, input),
            None if is_turned && leaves(then_body) => self.need(&ended.commands),
            None => {}
        }
    }

    /// Goes on behind a part: under `set -e` only where it has ended well.
    fn pass(&mut self, ended: &Ended) {
        let last = ended.commands.last();
        let Some(command) = last.and_then(|at| self.analysis.invocations.get(*at)) else {
            return;
        };
        if command.program != "set" {
            if self.scope.stops_at_error && !ended.is_joined {
                self.need(&ended.commands);
            }
            return;
        }
        let mut before = "";
        for word in command.texts() {
            let is_named = word == "errexit";
            let option = if is_named { before } else { word };
            if is_named || word.contains('e') && !word.starts_with("--") {
                match option.get(..1) {
                    Some("-") => self.scope.stops_at_error = true,
                    Some("+") => self.scope.stops_at_error = false,
                    _ => {}
                }
            }
            before = word;
        }
    }

    /// Tells which commands have ended well where a part has, which has just run.
    fn ended(&mut self, node: &Node, from: usize) -> Ended {
        let last = self.analysis.invocations.len().checked_sub(1);
        let last = last.filter(|last| *last >= from);
        match node.kind {
            NodeKind::List { .. } => std::mem::take(&mut self.list_ended),
            NodeKind::Command { .. }
            | NodeKind::Pipeline { .. }
            | NodeKind::Subshell { .. }
            | NodeKind::BraceGroup { .. }
            | NodeKind::Time { .. } => Ended {
                commands: last.into_iter().collect(),
                is_joined: false,
            },
            _ => Ended::default(),
        }
    }
}

/// Whether a part ends the shell or the function, as its last command.
fn leaves(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Command { words, .. } => matches!(first_word(words), Some("exit" | "return")),
        NodeKind::BraceGroup { body, .. } => leaves(body),
        NodeKind::List { items } => {
            let is_last_alone = match items.as_slice() {
                [.., before, _] => {
                    !matches!(before.operator, Some(ListOperator::And | ListOperator::Or))
                }
                _ => true,
            };
            is_last_alone && items.last().is_some_and(|item| leaves(&item.command))
        }
        _ => false,
    }
}

/// Adds the output of the next command; unknown stays unknown.
pub(super) fn join(output: &mut Option<String>, next: Option<String>) {
    match (output.as_mut(), next) {
        (Some(text), Some(next)) if text.len() + next.len() <= MAX_OUTPUT => text.push_str(&next),
        _ => *output = None,
    }
}

/// Takes a list of one command, which ends without `&`, for that command.
pub(super) fn plain_list(node: &Node) -> &Node {
    match &node.kind {
        NodeKind::List { items } => match items.as_slice() {
            [only] if only.operator != Some(ListOperator::Background) => &only.command,
            _ => node,
        },
        _ => node,
    }
}
