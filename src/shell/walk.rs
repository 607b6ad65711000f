//! Walker: goes through a parsed command line as the shell would, and notes every program.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rable::{Node, NodeKind};

use super::container::Container;
use super::scope::{Ended, Scope};
use super::{
    Analysis, Doubt, DoubtKind, Invocation, Redirect, Stdin, Surroundings, Word, guard,
    issue_command,
};
use crate::words::words;

/// How deep text may run text (`bash -c "bash -c …"`, `$( )`, functions).
const MAX_DEPTH: usize = 24;
/// How many commands one line may run before the rest is not followed.
const MAX_STEPS: usize = 4000;

/// Functions that a shell calls without being told to.
const HANDLERS: &[&str] = words!("shell-handlers");

/// What a command reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    pub(super) stdin: Stdin,
    pub(super) fed_by: Range<usize>,
}

/// A command that reads what is written to it.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) text: String,
    /// The first invocation that may write to it.
    pub(super) from: usize,
    /// What is known of what was written to it.
    pub(super) said: String,
    /// What held where it was started.
    pub(super) scope: Scope,
}

/// Goes through a command line and collects what would run.
#[derive(Debug)]
pub(super) struct Walker<'a> {
    pub(super) surroundings: &'a Surroundings,
    pub(super) analysis: Analysis,
    pub(super) scope: Scope,
    /// The programs that enclose this point, outermost first.
    pub(super) wrappers: Vec<String>,
    pub(super) remote: bool,
    /// The container that it runs in, where that sees directories of this machine.
    pub(super) container: Option<Container>,
    pub(super) uncertain: bool,
    /// Which of its values each variable has in this round.
    pub(super) alternative: usize,
    /// How many rounds the variables asked for.
    pub(super) alternatives: usize,
    /// What earlier commands of this line wrote into files, where that is known.
    pub(super) files: HashMap<PathBuf, String>,
    /// What process substitutions print, by how they are written.
    pub(super) side_texts: HashMap<String, String>,
    /// What runs in `>( )` and reads what is written to it later.
    pub(super) sinks: Vec<Sink>,
    /// Bodies of quoted here-documents, taken out before parsing.
    pub(super) folded: Rc<[String]>,
    /// The functions that are running, each with the body by which it is known from another of its name.
    calls: Vec<(String, *const Node)>,
    /// The commands that have ended well where what follows runs, each with the first invocation that follows it.
    pub(super) needed: Vec<(usize, usize)>,
    /// How the list ended that has just run.
    pub(super) list_ended: Ended,
    depth: usize,
    steps: usize,
}

impl<'a> Walker<'a> {
    pub(super) fn new(surroundings: &'a Surroundings, folded: Rc<[String]>) -> Self {
        Self {
            surroundings,
            analysis: Analysis {
                // Most lines run one or two; room for four would be a block that the allocator keeps no stock of.
                invocations: Vec::with_capacity(2),
                ..Analysis::default()
            },
            scope: Scope {
                work_dir: Some(surroundings.work_dir.clone()),
                ..Scope::default()
            },
            wrappers: Vec::new(),
            remote: false,
            container: None,
            uncertain: false,
            alternative: 0,
            alternatives: 1,
            files: HashMap::new(),
            side_texts: HashMap::new(),
            sinks: Vec::new(),
            folded,
            calls: Vec::new(),
            needed: Vec::new(),
            list_ended: Ended::default(),
            depth: 0,
            steps: 0,
        }
    }

    pub(super) fn doubt(&mut self, kind: DoubtKind, text: &str) {
        let is_told = |d: &Doubt| d.kind == kind && d.text == text;
        if !self.analysis.doubts.iter().any(is_told) {
            self.analysis.doubts.push(Doubt {
                kind,
                text: text.to_owned(),
            });
        }
    }

    /// Runs the functions that the shell calls by itself.
    pub(super) fn run_handlers(&mut self) {
        for name in HANDLERS {
            if let Some(body) = self.scope.functions.get(*name).cloned() {
                self.call_function(name, &body, Vec::new(), &Input::default());
            }
        }
    }

    /// Counts one command; false where too many were counted.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps == MAX_STEPS {
            self.doubt(DoubtKind::TooComplex, "");
        }
        self.steps < MAX_STEPS
    }

    /// Runs a text as a shell does, and returns its output where that is known.
    pub(super) fn run_text(&mut self, text: &str, input: &Input) -> Option<String> {
        self.run_parsed(text, || guard::parse(text), input)
    }

    /// Runs a text that is parsed in the given way.
    pub(super) fn run_parsed(
        &mut self,
        text: &str,
        parse: impl FnOnce() -> Result<Vec<Node>, DoubtKind>,
        input: &Input,
    ) -> Option<String> {
        if self.depth >= MAX_DEPTH || !self.step() {
            self.doubt(DoubtKind::TooComplex, text);
            return None;
        }
        self.depth += 1;
        let output = match parse() {
            Ok(nodes) => self.apart(|walker| walker.run_nodes(&nodes, input)),
            Err(kind) => {
                self.salvage(text, kind);
                None
            }
        };
        self.depth -= 1;
        output
    }

    /// Judges what cannot be parsed piece by piece, marking all of it as uncertain.
    pub(super) fn salvage(&mut self, text: &str, kind: DoubtKind) {
        self.doubt(kind, text);
        let before = std::mem::replace(&mut self.uncertain, true);
        for piece in guard::pieces(text) {
            if !self.step() {
                break;
            }
            match guard::parse(&piece) {
                Ok(nodes) if self.depth < MAX_DEPTH => {
                    self.depth += 1;
                    self.apart(|walker| walker.run_nodes(&nodes, &Input::default()));
                    self.depth -= 1;
                }
                _ => {
                    let words: Vec<Word> = piece
                        .split_whitespace()
                        .map(|w| Word::plain(w.trim_matches(['"', '\'', '`', '(', ')', '{', '}'])))
                        .filter(|w| !w.text.is_empty())
                        .collect();
                    self.depth += 1;
                    self.dispatch_words(words);
                    self.depth -= 1;
                }
            }
        }
        self.uncertain = before;
    }

    /// Runs a command substitution in a shell of its own.
    pub(super) fn run_substitution(&mut self, text: &str) -> Option<String> {
        let saved = self.scope.clone();
        // `$(< file)` reads a file; with a word behind it is a command.
        let is_alone = |file: &str| !file.trim().contains([' ', '\t', '\n', ';', '|', '&']);
        let output = match text.trim().strip_prefix('<') {
            Some(file) if !file.starts_with(['<', '(', '&']) && is_alone(file) => {
                self.run_text(&format!("cat <{file}"), &Input::default())
            }
            _ => self.run_text(text, &Input::default()),
        };
        self.scope = saved;
        output
    }

    /// Runs a process substitution and returns which invocations it made.
    pub(super) fn side_command(&mut self, text: &str, written: &str) -> Range<usize> {
        let from = self.analysis.invocations.len();
        if let Some(output) = self.run_substitution(text) {
            self.side_texts.insert(written.to_owned(), output);
        }
        from..self.analysis.invocations.len()
    }

    /// Notes a program that would run; in a container, as what it does to this machine.
    pub(super) fn note(&mut self, invocation: Arc<Invocation>) {
        let container = self.container.as_ref();
        let placed = container.and_then(|container| container.placed(&invocation));
        let noted = placed.map_or(invocation, Arc::new);
        if noted.program == "git" && !self.files.is_empty() {
            let file = issue_command::message_file(&noted);
            let text = file.and_then(|file| self.files.get(&file));
            let at = self.analysis.invocations.len();
            self.analysis
                .message_files
                .extend(text.map(|text| (at, text.clone())));
        }
        self.analysis.invocations.push(noted);
    }

    /// Notes redirections that belong to no program: `:` where they stand alone, nothing where
    /// they are those of a group, a loop or a function.
    pub(super) fn note_redirects(&mut self, program: &str, redirects: Vec<Redirect>) {
        if redirects.is_empty() {
            return;
        }
        self.note(Arc::new(Invocation {
            program: program.to_owned(),
            path: Word::plain(program),
            redirects,
            wrappers: self.wrappers.clone(),
            work_dir: self.scope.work_dir.clone(),
            remote: self.remote,
            uncertain: self.uncertain,
            emulated: true,
            ..Invocation::default()
        }));
    }

    /// Runs a function that this line defines.
    pub(super) fn call_function(
        &mut self,
        name: &str,
        body: &Node,
        arguments: Vec<Word>,
        input: &Input,
    ) -> Option<String> {
        let call = (name.to_owned(), std::ptr::from_ref(body));
        if self.calls.contains(&call) {
            if !self.analysis.recursions.iter().any(|r| r == name) {
                self.analysis.recursions.push(name.to_owned());
            }
            return None;
        }
        if self.depth >= MAX_DEPTH || !self.step() {
            self.doubt(DoubtKind::TooComplex, name);
            return None;
        }
        self.calls.push(call);
        self.depth += 1;
        let positional = self.scope.positional.replace(arguments);
        let output = self.apart(|walker| walker.run(body, input));
        self.scope.positional = positional;
        self.depth -= 1;
        self.calls.pop();
        output
    }

    pub(super) fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH || !self.step() {
            self.doubt(DoubtKind::TooComplex, "");
            return None;
        }
        self.depth += 1;
        let value = run(self);
        self.depth -= 1;
        Some(value)
    }

    pub(super) fn expand_node(&mut self, node: &Node) -> Word {
        match &node.kind {
            NodeKind::Word { value, .. } => self.expand_whole(value),
            _ => Word::default(),
        }
    }

    /// Adds the words that a node becomes to others.
    pub(super) fn expand_node_onto(&mut self, node: &Node, words: &mut Vec<Word>) {
        if let NodeKind::Word { value, .. } = &node.kind {
            self.expand_onto(value, words);
        }
    }

    pub(super) fn expand_node_fields(&mut self, node: &Node) -> Vec<Word> {
        let mut words = Vec::new();
        self.expand_node_onto(node, &mut words);
        words
    }
}
