//! Simple commands: words, redirections and assignments become invocations.

use std::sync::Arc;

use rable::{Node, NodeKind};

use super::invocation::{LINE_OF_FILE, program_name};
use super::scope::Scope;
use super::slice::indexed;
use super::walk::{Input, Walker};
use super::{DoubtKind, Invocation, Redirect, Stdin, Word, output, path};
use crate::words::words;

/// With how many combinations of variables' values one command is followed.
const MAX_ALTERNATIVES: usize = 6;

/// A command that is about to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub(super) words: Vec<Word>,
    pub(super) input: Input,
    pub(super) redirects: Vec<Redirect>,
    pub(super) environment: Vec<(String, Word)>,
}

impl Walker<'_> {
    pub(super) fn run_command(
        &mut self,
        assignments: &[Node],
        words: &[Node],
        redirects: &[Node],
        input: &Input,
    ) -> Option<String> {
        if !self.step() {
            return None;
        }
        let saved = (self.alternative, self.alternatives);
        let mut round = 0;
        let mut output;
        let sinks = self.sinks.len();
        loop {
            self.alternative = round;
            self.alternatives = 1;
            let mut expanded = Vec::with_capacity(words.len());
            for word in words {
                self.expand_node_onto(word, &mut expanded);
            }
            let (redirects, stdin) = self.redirects(redirects);
            let environment = self.assignments(assignments, words.is_empty());
            let rounds = self.alternatives.min(MAX_ALTERNATIVES);
            if expanded.is_empty() {
                self.note_redirects(":", redirects);
                output = Some(String::new());
            } else {
                let writes = redirects
                    .iter()
                    .find(|r| r.takes_output() && !r.target.text.starts_with('&'))
                    .map(|r| (r.target.text.clone(), r.operator.starts_with(">>")));
                let input = stdin.unwrap_or_else(|| input.clone());
                // What `exec` opens stays open.
                let lasts = expanded.len() == 1 && expanded.iter().any(|w| w.text == "exec");
                let kept = if lasts { self.sinks.len() } else { sinks };
                let own = self.sinks.split_off(kept.min(self.sinks.len()));
                let fed_by = input.fed_by.clone();
                output = self.dispatch(Call {
                    words: expanded,
                    input,
                    redirects,
                    environment,
                });
                self.fill_sinks(own, output.as_deref(), &fed_by);
                if let Some((file, append)) = writes {
                    let text = output.replace(String::new());
                    self.remember_file(&file, text, append);
                }
            }
            round += 1;
            if round >= rounds {
                break;
            }
            if !self.step() {
                break;
            }
        }
        self.alternative = saved.0;
        self.alternatives = saved.1;
        if round > 1 { None } else { output }
    }

    fn remember_file(&mut self, file: &str, text: Option<String>, append: bool) {
        let Some(dir) = self.scope.work_dir.clone() else {
            return;
        };
        let file = path::lexical(file, &dir, self.surroundings.home.as_deref());
        match text {
            Some(text) if append => self.files.entry(file).or_default().push_str(&text),
            Some(text) => {
                self.files.insert(file, text);
            }
            None => {
                self.files.remove(&file);
            }
        }
    }

    /// Returns what an earlier command of this line wrote into a file.
    pub(super) fn written_text(&self, file: &Word) -> Option<String> {
        if let Some(text) = self.side_texts.get(&file.text) {
            return Some(text.clone());
        }
        let dir = self.scope.work_dir.as_ref()?;
        if file.dynamic || self.files.is_empty() {
            return None;
        }
        let file = path::lexical(&file.text, dir, self.surroundings.home.as_deref());
        self.files.get(&file).cloned()
    }

    /// Notes that the commands in a file that this line wrote are followed.
    pub(super) fn follow(&mut self, file: &Word) {
        if let Some(dir) = &self.scope.work_dir {
            let path = path::lexical(&file.text, dir, self.surroundings.home.as_deref());
            self.analysis.followed.push(path);
        }
    }

    /// Makes assignments, or returns them where they hold for one command alone.
    fn assignments(&mut self, nodes: &[Node], lasting: bool) -> Vec<(String, Word)> {
        let mut environment = Vec::new();
        for node in nodes {
            let NodeKind::Word { value, .. } = &node.kind else {
                continue;
            };
            if lasting {
                self.assign_raw(value);
                if let Some((name, raw)) = value.split_once('=') {
                    let word = self.expand_whole(raw);
                    self.run_lasting_variable(name, &word.text);
                    let name = name.trim_end_matches('+').to_owned();
                    self.analysis.assignments.push((name, word));
                }
            } else if let Some((name, raw)) = value.split_once('=') {
                let word = self.expand_whole(raw);
                environment.push((name.trim_end_matches('+').to_owned(), word));
            }
        }
        environment
    }

    /// Runs the commands in the index of a variable that a text names: `a[$(command)]`.
    pub(super) fn run_index(&mut self, text: &str) {
        if text.contains('[') && (text.contains("$(") || text.contains('`')) {
            self.expand_body(text);
        }
    }

    /// Makes the assignment of a raw word `NAME=value`, `NAME+=value`, `NAME=(a b)`, `NAME[i]=value`.
    pub(super) fn assign_raw(&mut self, raw: &str) {
        let Some((name, value)) = raw.split_once('=') else {
            return;
        };
        let (name, append) = name
            .strip_suffix('+')
            .map_or((name, false), |name| (name, true));
        let (name, index) = name.split_once('[').map_or((name, None), |(name, index)| {
            (name, Some(index.trim_end_matches(']').parse::<usize>()))
        });
        if !Scope::is_name(name) {
            return;
        }
        let is_array = value.starts_with('(') && value.ends_with(')');
        let value = if is_array {
            let inner = value.get(1..value.len() - 1).unwrap_or_default();
            // The elements are words like those of a command.
            match super::guard::parse(&format!(": {inner}")) {
                Ok(nodes) => nodes
                    .iter()
                    .flat_map(|node| match &node.kind {
                        NodeKind::Command { words, .. } => words.get(1..).unwrap_or_default(),
                        _ => &[],
                    })
                    .flat_map(|word| self.expand_node_fields(word))
                    .collect(),
                Err(_) => vec![Word {
                    text: value.to_owned(),
                    dynamic: true,
                    ..Word::default()
                }],
            }
        } else {
            let word = self.expand_whole(value);
            // Whatever takes the variable for a number runs what stands in an index of it.
            self.run_index(&word.text);
            vec![word]
        };
        let value = if is_array { in_places(value) } else { value };
        if append {
            self.scope.append(name, &value, is_array);
        } else if let Some(Err(_)) = index {
            // Where its place is known only when it runs, it is one of them.
            self.scope.append(name, &value, true);
        } else if let Some(Ok(index)) = index {
            let mut array = self
                .scope
                .variables
                .get(name)
                .and_then(|v| v.values.first().cloned())
                .unwrap_or_default();
            if index < MAX_PLACE {
                if array.len() <= index {
                    array.resize(index + 1, Word::default());
                }
                if let (Some(slot), Some(word)) = (array.get_mut(index), value.into_iter().next()) {
                    *slot = word;
                }
            }
            self.scope.assign(name, array);
        } else {
            self.scope.assign(name, value);
        }
    }

    /// Expands redirections; returns them and what they make the command read.
    pub(super) fn redirects(&mut self, nodes: &[Node]) -> (Vec<Redirect>, Option<Input>) {
        let mut found = Vec::new();
        let mut input = None;
        for node in nodes {
            match &node.kind {
                NodeKind::Redirect { op, target, fd, .. } => {
                    let NodeKind::Word { value, .. } = &target.kind else {
                        continue;
                    };
                    let word = self.expand_whole(value);
                    let descriptor = (*fd >= 0).then_some(*fd);
                    let fd_is_stdin = *fd <= 0;
                    match op.as_str() {
                        "<<<" if fd_is_stdin => {
                            input = Some(Input {
                                fed_by: word.made_by.clone(),
                                stdin: if word.made_by.is_empty() {
                                    Stdin::Text(word.text + "\n")
                                } else {
                                    Stdin::Pipe
                                },
                            });
                        }
                        "<" if fd_is_stdin => {
                            input = Some(Input {
                                fed_by: word.made_by.clone(),
                                stdin: match self.written_text(&word) {
                                    Some(text) => Stdin::Text(text),
                                    None if !word.made_by.is_empty() => Stdin::Pipe,
                                    None => Stdin::File(word.clone()),
                                },
                            });
                            found.push(Redirect {
                                operator: op.clone(),
                                descriptor,
                                target: word,
                            });
                        }
                        _ => found.push(Redirect {
                            operator: op.clone(),
                            descriptor,
                            target: word,
                        }),
                    }
                }
                NodeKind::HereDoc {
                    content, quoted, ..
                } => {
                    let content = self.unfolded(content);
                    let from = self.analysis.invocations.len();
                    let text = if *quoted {
                        content
                    } else {
                        self.expand_body(&content).text
                    };
                    input = Some(Input {
                        stdin: Stdin::Text(text),
                        fed_by: from..self.analysis.invocations.len(),
                    });
                }
                _ => {}
            }
        }
        (found, input)
    }

    /// Puts the body of a here-document back that was taken out before parsing.
    fn unfolded(&self, content: &str) -> String {
        super::guard::folded_index(content)
            .and_then(|index| self.folded.get(index).cloned())
            .unwrap_or_else(|| content.to_owned())
    }

    pub(super) fn dispatch_words(&mut self, words: Vec<Word>) -> Option<String> {
        self.dispatch(Call {
            words,
            ..Call::default()
        })
    }

    /// Runs a command whose words are expanded: notes it, and what it would run in turn.
    pub(super) fn dispatch(&mut self, mut call: Call) -> Option<String> {
        let first = call.words.first()?;
        let name = program_name(&first.text);
        if let Some(body) = self.scope.functions.get(&name).cloned() {
            let arguments = call.words.split_off(1);
            self.note_redirects("", std::mem::take(&mut call.redirects));
            return self.call_function(&name, &body, arguments, &call.input);
        }
        if let Some(alias) = self.scope.aliases.get(&name).cloned() {
            let mut words = self.expand_fields_of_text(&alias);
            if words.first().is_some_and(|w| w.text != name) {
                words.extend(call.words.split_off(1));
                call.words = words;
                return self.deeper(|walker| walker.dispatch(call)).flatten();
            }
        }
        // `[` is a program, not a pattern.
        let is_test = matches!(name.as_str(), "[" | "[[");
        let unknown = (first.glob && !is_test)
            || (first.dynamic && (name.contains(['$', '`']) || name == LINE_OF_FILE))
            || first.text.starts_with("<(");
        if unknown {
            let text = first.text.clone();
            self.doubt(DoubtKind::DynamicProgram, &text);
        }
        let path = call.words.remove(0);
        call.words.extend(parents_matched(&name, &call.words));
        let index = self.analysis.invocations.len();
        // A program of git's own with a dash is the command of that name: `git-clean -f`.
        let name = match name.strip_prefix("git-").filter(|_| !unknown) {
            Some(command) => {
                call.words.insert(0, Word::plain(command));
                "git".to_owned()
            }
            None => name,
        };
        let invocation = Arc::new(Invocation {
            program: if unknown { String::new() } else { name },
            path,
            arguments: call.words,
            redirects: call.redirects,
            environment: call.environment,
            wrappers: self.wrappers.clone(),
            work_dir: self.scope.work_dir.clone(),
            stdin: call.input.stdin.clone(),
            fed_by: call.input.fed_by.clone(),
            remote: self.remote,
            emulated: false,
            uncertain: self.uncertain,
        });
        self.note(invocation.clone());
        let inner = self.unwrap(index, &invocation, &call.input);
        inner.or_else(|| output::of(&invocation, self.surroundings))
    }

    /// Splits a text into words as the shell does.
    pub(super) fn expand_fields_of_text(&mut self, text: &str) -> Vec<Word> {
        match super::guard::parse(text) {
            Ok(nodes) => nodes
                .iter()
                .flat_map(|node| match &node.kind {
                    NodeKind::Command { words, .. } => words.as_slice(),
                    _ => &[],
                })
                .flat_map(|word| self.expand_node_fields(word))
                .collect(),
            Err(_) => text.split_whitespace().map(Word::plain).collect(),
        }
    }
}

/// Returns the folders above that patterns such as `.*` match in many shells, for programs that change the rights of whole
/// trees; others leave them out or fail at them.
fn parents_matched(program: &str, words: &[Word]) -> Vec<Word> {
    let goes_down = |word: &Word| {
        let is_cluster = word.is_option() && !word.text.starts_with("--");
        is_cluster && word.text.contains('R') || word.text == "--recursive"
    };
    if !words!("rights-programs").contains(&program) || !words.iter().any(goes_down) {
        return Vec::new();
    }
    let above = |word: &Word| {
        let (dir, name) = word.text.rsplit_once('/').unwrap_or((".", &word.text));
        let is_matched = matches!(name, ".*" | ".?" | ".?*" | ".??" | "..*");
        (word.glob && is_matched).then(|| Word::plain(format!("{dir}/..")))
    };
    words.iter().filter_map(above).collect()
}

/// Returns the elements of an array in the places that they name: `[1]=a`. Those with a name for a place stand behind the others.
pub(super) fn in_places(elements: Vec<Word>) -> Vec<Word> {
    let mut array: Vec<Word> = Vec::with_capacity(elements.len());
    for element in elements {
        let named = element.text.strip_prefix('[').and_then(indexed);
        let Some((place, value)) = named.and_then(|(at, rest)| Some((at, rest.strip_prefix('=')?)))
        else {
            array.push(element);
            continue;
        };
        let value = Word {
            glob: false,
            ..element.with_text(value)
        };
        match place
            .parse::<usize>()
            .ok()
            .filter(|place| *place < MAX_PLACE)
        {
            Some(place) => {
                array.resize(array.len().max(place + 1), Word::default());
                if let Some(slot) = array.get_mut(place) {
                    *slot = value;
                }
            }
            None => array.push(value),
        }
    }
    array
}

/// The places of an array that are kept apart.
const MAX_PLACE: usize = 256;
