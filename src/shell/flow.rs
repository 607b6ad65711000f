//! Flow: how control runs through lists, pipes, branches and loops.

use std::rc::Rc;

use rable::{ListItem, ListOperator, Node, NodeKind};

use super::scope::Variable;
use super::walk::{Input, Walker};
use super::{Stdin, Word};

/// The longest output that is followed, in bytes.
const MAX_OUTPUT: usize = 256 * 1024;
/// With how many numbers the body of a loop is followed.
const MAX_ROUNDS: usize = 8;

impl Walker<'_> {
    pub(super) fn run_nodes(&mut self, nodes: &[Node], input: &Input) -> Option<String> {
        let mut output = Some(String::new());
        for node in nodes {
            join(&mut output, self.run(node, input));
        }
        output
    }

    pub(super) fn run(&mut self, node: &Node, input: &Input) -> Option<String> {
        match &node.kind {
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } => self.run_command(assignments, words, redirects, input),
            NodeKind::Pipeline { commands, .. } => self.run_pipeline(commands, input),
            NodeKind::List { items } => {
                let mut output = Some(String::new());
                let mut either = false;
                for item in items {
                    self.scope.branches += usize::from(either);
                    let one = self.run(&item.command, input);
                    self.scope.branches -= usize::from(either);
                    either = item.operator == Some(ListOperator::Or);
                    join(&mut output, if either { None } else { one });
                }
                output
            }
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                let input = &self.enclosing(redirects, input);
                self.run(condition, input);
                self.branch(then_body, input);
                if let Some(body) = else_body {
                    self.branch(body, input);
                }
                None
            }
            NodeKind::While {
                condition,
                body,
                redirects,
            }
            | NodeKind::Until {
                condition,
                body,
                redirects,
            } => {
                let input = &self.enclosing(redirects, input);
                if spawns_endlessly(plain_list(condition), plain_list(body)) {
                    self.analysis.recursions.push("while".to_owned());
                }
                self.run(condition, input);
                self.branch(body, input);
                None
            }
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            }
            | NodeKind::Select {
                var,
                words,
                body,
                redirects,
            } => {
                let input = &self.enclosing(redirects, input);
                self.run_loop(var, words.as_deref(), body, input)
            }
            NodeKind::ForArith {
                init,
                cond,
                incr,
                body,
                redirects,
            } => {
                let input = &self.enclosing(redirects, input);
                for part in [init, cond, incr] {
                    self.expand_body(part);
                }
                self.branch(body, input);
                None
            }
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                let input = &self.enclosing(redirects, input);
                self.expand_node(word);
                for pattern in patterns {
                    if let Some(body) = &pattern.body {
                        self.branch(body, input);
                    }
                }
                None
            }
            NodeKind::Function { name, body } => {
                self.scope
                    .functions
                    .insert(name.clone(), Rc::new((**body).clone()));
                Some(String::new())
            }
            NodeKind::Subshell { body, redirects } => {
                let input = &self.enclosing(redirects, input);
                let saved = self.scope.clone();
                let output = self.run(body, input);
                self.scope = saved;
                output
            }
            NodeKind::BraceGroup { body, redirects } => {
                let input = &self.enclosing(redirects, input);
                self.run(body, input)
            }
            NodeKind::Coproc { command, .. } => {
                self.run(command, input);
                None
            }
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => {
                self.run(pipeline, input)
            }
            NodeKind::ArithmeticCommand {
                raw_content,
                redirects,
                ..
            } => {
                self.enclosing(redirects, input);
                self.expand_body(raw_content);
                Some(String::new())
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                self.enclosing(redirects, input);
                self.run_condition(body);
                Some(String::new())
            }
            _ => Some(String::new()),
        }
    }

    fn branch(&mut self, body: &Node, input: &Input) {
        self.scope.branches += 1;
        self.run(body, input);
        self.scope.branches -= 1;
    }

    fn run_pipeline(&mut self, commands: &[Node], input: &Input) -> Option<String> {
        let start = self.analysis.invocations.len();
        let mut input = input.clone();
        let mut output = None;
        for (i, command) in commands.iter().enumerate() {
            let saved = self.scope.clone();
            output = self.run(command, &input);
            // What the last part of a pipe reads into variables is used after it in some shells.
            if i + 1 < commands.len() {
                self.scope = saved;
            }
            input = Input {
                stdin: output.clone().map_or(Stdin::Pipe, Stdin::Text),
                fed_by: start..self.analysis.invocations.len(),
            };
        }
        output
    }

    fn run_loop(
        &mut self,
        variable: &str,
        words: Option<&[Node]>,
        body: &Node,
        input: &Input,
    ) -> Option<String> {
        let values = match words {
            Some(words) => list_words(words)
                .iter()
                .flat_map(|raw| {
                    let mut words = Vec::new();
                    self.expand_onto(raw, &mut words);
                    words
                })
                .map(|word| Word {
                    each: word.each || word.glob,
                    ..word
                })
                .collect(),
            None => self.scope.positional.clone().unwrap_or_default(),
        };
        let mut output = Some(String::new());
        // Numbers are of one kind: some of them stand for all.
        let is_number = |word: &Word| word.text.bytes().all(|b| b.is_ascii_digit());
        let followed = values
            .iter()
            .enumerate()
            .filter(|(nth, value)| *nth < MAX_ROUNDS || !is_number(value))
            .map(|(_, value)| value);
        for value in followed {
            if !self.step() {
                break;
            }
            if let Some(other) = self.scope.references.get_mut(variable) {
                other.clone_from(&value.text);
            }
            self.scope.variables.insert(
                variable.to_owned(),
                Variable {
                    values: vec![vec![value.clone()]],
                },
            );
            join(&mut output, self.run(body, input));
        }
        if values.len() > MAX_ROUNDS {
            output = None;
        }
        output
    }

    fn run_condition(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::UnaryTest { operand, .. } | NodeKind::CondNot { operand } => {
                self.run_condition(operand);
            }
            NodeKind::BinaryTest { op, left, right } => {
                self.run_condition(left);
                self.run_condition(right);
                // What matches is at most all of it, and which part it is is not followed.
                if op == "=~"
                    && let NodeKind::CondTerm { value, .. } | NodeKind::Word { value, .. } =
                        &left.kind
                {
                    let word = self.expand_whole(value);
                    self.scope.assign("BASH_REMATCH", vec![word.clone(), word]);
                }
            }
            NodeKind::CondAnd { left, right } | NodeKind::CondOr { left, right } => {
                self.run_condition(left);
                self.run_condition(right);
            }
            NodeKind::CondParen { inner } => self.run_condition(inner),
            NodeKind::CondTerm { value, .. } | NodeKind::Word { value, .. } => {
                self.expand_body(value);
            }
            _ => {}
        }
    }

    /// Notes the redirections of a group or loop, and returns what its commands read.
    fn enclosing(&mut self, redirects: &[Node], input: &Input) -> Input {
        if redirects.is_empty() {
            return input.clone();
        }
        let (found, stdin) = self.redirects(redirects);
        self.note_redirects("", found);
        stdin.unwrap_or_else(|| input.clone())
    }
}

/// Returns the raw words of a loop's list, in which the parser takes brackets for words of their own: `*(D)`.
fn list_words(words: &[Node]) -> Vec<String> {
    let mut raw: Vec<String> = Vec::with_capacity(words.len());
    let mut open = 0_usize;
    for word in words {
        let NodeKind::Word { value, .. } = &word.kind else {
            continue;
        };
        let joins = open > 0 || value == "(";
        open += usize::from(value == "(");
        open -= usize::from(value == ")" && open > 0);
        match raw.last_mut().filter(|_| joins) {
            Some(last) => last.push_str(value),
            None => raw.push(value.clone()),
        }
    }
    raw
}

/// Adds the output of the next command; unknown stays unknown.
fn join(output: &mut Option<String>, next: Option<String>) {
    match (output.as_mut(), next) {
        (Some(text), Some(next)) if text.len() + next.len() <= MAX_OUTPUT => text.push_str(&next),
        _ => *output = None,
    }
}

/// Whether a loop whose condition always holds starts programs and waits for none.
fn spawns_endlessly(condition: &Node, body: &Node) -> bool {
    let is_always = match &condition.kind {
        NodeKind::Command { words, .. } => match words.as_slice() {
            [only] => {
                matches!(&only.kind, NodeKind::Word { value, .. } if value == "true" || value == ":")
            }
            _ => false,
        },
        NodeKind::ArithmeticCommand { raw_content, .. } => raw_content.trim() == "1",
        _ => false,
    };
    let is_background = match &body.kind {
        NodeKind::List { items } => {
            let in_background = |item: &ListItem| item.operator == Some(ListOperator::Background);
            !items.is_empty() && items.iter().all(in_background)
        }
        _ => false,
    };
    is_always && is_background
}

/// Takes a list of one command, which ends without `&`, for that command.
fn plain_list(node: &Node) -> &Node {
    match &node.kind {
        NodeKind::List { items } => match items.as_slice() {
            [only] if only.operator != Some(ListOperator::Background) => &only.command,
            _ => node,
        },
        _ => node,
    }
}
