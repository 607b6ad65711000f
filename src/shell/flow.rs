//! Flow: how control runs through lists, pipes, branches and loops.

use std::rc::Rc;

use rable::{ListOperator, Node, NodeKind};

use super::scope::Variable;
use super::success::{join, plain_list};
use super::walk::{Input, Walker};
use super::{Stdin, Word};

/// With how many numbers the body of a loop is followed.
const MAX_ROUNDS: usize = 8;

impl Walker<'_> {
    pub(super) fn run(&mut self, node: &Node, input: &Input) -> Option<String> {
        match &node.kind {
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } => self.run_command(assignments, words, redirects, input),
            NodeKind::Pipeline { commands, .. } => self.run_pipeline(commands, input),
            NodeKind::List { items } => self.run_list(items, input),
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                let input = &self.enclosing(redirects, input);
                self.run_if(condition, then_body, else_body.as_deref(), input);
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
                let is_until = matches!(node.kind, NodeKind::Until { .. });
                if goes_on(plain_list(condition)) == Some(!is_until) && starts_alone(body) {
                    self.analysis.recursions.push("while".to_owned());
                }
                self.apart(|walker| walker.run(condition, input));
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
                if holds(cond) == Some(true) && starts_alone(body) {
                    self.analysis.recursions.push("while".to_owned());
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
                let output = self.apart(|walker| walker.run(body, input));
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

    pub(super) fn branch(&mut self, body: &Node, input: &Input) {
        self.scope.branches += 1;
        self.apart(|walker| walker.run(body, input));
        self.scope.branches -= 1;
    }

    fn run_pipeline(&mut self, commands: &[Node], input: &Input) -> Option<String> {
        let start = self.analysis.invocations.len();
        let mut input = input.clone();
        let mut output = None;
        for (i, command) in commands.iter().enumerate() {
            let saved = self.scope.clone();
            output = self.apart(|walker| walker.run(command, &input));
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
            let one = self.apart(|walker| walker.run(body, input));
            join(&mut output, one);
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
                self.expand_whole(value);
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

/// Whether a condition always holds, or never; none where that cannot be told.
fn goes_on(condition: &Node) -> Option<bool> {
    match &condition.kind {
        NodeKind::Command { words, .. } => {
            let words = words.iter().filter_map(|word| match &word.kind {
                NodeKind::Word { value, .. } => Some(value.as_str()),
                _ => None,
            });
            match words.collect::<Vec<_>>().as_slice() {
                ["true" | ":" | "/bin/true"] => Some(true),
                ["false" | "/bin/false"] => Some(false),
                // A text that is not empty holds, a number such as `0` too.
                ["[", text, "]"] | ["test", text] => is_plain(text).then_some(true),
                _ => None,
            }
        }
        NodeKind::ArithmeticCommand { raw_content, .. } => holds(raw_content),
        NodeKind::ConditionalExpr { body, .. } => goes_on(body),
        NodeKind::UnaryTest { op, operand } if op == "-n" => goes_on(operand),
        NodeKind::CondTerm { value, .. } | NodeKind::Word { value, .. } => {
            is_plain(value).then_some(true)
        }
        NodeKind::Negation { pipeline } => goes_on(pipeline).map(|holds| !holds),
        _ => None,
    }
}

/// Whether a word is a text that is known and not empty.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether an expression of numbers holds; an empty one does.
fn holds(expression: &str) -> Option<bool> {
    match expression.trim() {
        "" => Some(true),
        number => number.parse::<i64>().ok().map(|number| number != 0),
    }
}

/// Whether a body starts programs and waits for none.
fn starts_alone(body: &Node) -> bool {
    match &body.kind {
        NodeKind::List { items } => {
            !items.is_empty()
                && items.iter().all(|item| {
                    item.operator == Some(ListOperator::Background) || starts_alone(&item.command)
                })
        }
        NodeKind::Subshell { body, .. } | NodeKind::BraceGroup { body, .. } => starts_alone(body),
        _ => false,
    }
}
