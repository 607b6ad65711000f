//! Interpreters: shells and languages that run text of their arguments, their input or a file.

use std::sync::Arc;

use super::exit::named_options;
use super::inline_code::Action;
use super::made::goes_through;
use super::scope::says_hidden;
use super::unwrap::joined;
use super::walk::{Input, Walker};
use super::wrapper::values_of_cluster;
use super::{DoubtKind, Invocation, LINE_OF_FILE, Stdin, Word, inline_code, program_name};
use crate::program::{self, Fact};

impl Walker<'_> {
    pub(super) fn run_shell(
        &mut self,
        index: usize,
        invocation: &Invocation,
        input: &Input,
    ) -> Option<String> {
        if invocation.only_parses() {
            return None;
        }
        let arguments = &invocation.arguments;
        let mut i = 0;
        let (mut takes_text, mut takes_input) = (false, false);
        while let Some(word) = arguments.get(i) {
            let text = word.text.as_str();
            if text == "--" {
                i += 1;
                break;
            }
            if !(word.is_option() || (text.starts_with('+') && text.len() > 1)) {
                break;
            }
            let is_short = !text.starts_with("--");
            takes_text |= (is_short && text.contains('c')) || text == "--command";
            takes_input |= is_short && text.contains('s');
            let takes_file = matches!(text, "--rcfile" | "--init-file");
            i += 1 + named_options(text) + usize::from(takes_file);
        }
        let operands = arguments.get(i..).unwrap_or_default();
        if takes_text {
            let text = operands.first()?;
            let saved = self.scope.clone();
            self.scope.matches_hidden |= says_hidden(arguments);
            for (name, value) in &invocation.environment {
                self.scope.variables.insert(
                    name.clone(),
                    super::scope::Variable {
                        values: vec![vec![value.clone()]],
                    },
                );
            }
            if let Some(name) = operands.get(1) {
                self.scope.assign("0", vec![name.clone()]);
            }
            self.scope.positional = operands.get(2..).map(<[Word]>::to_vec);
            let one = std::slice::from_ref(text);
            let output = self.run_word_text(&text.text, one, index, input);
            self.scope = saved;
            return output;
        }
        if let Some(script) = operands
            .first()
            .filter(|w| !takes_input && !is_input(&w.text))
        {
            if let Some(text) = self.written_text(script) {
                self.follow(script);
                let arguments = operands.get(1..).unwrap_or_default();
                return self.run_process(&text, arguments, input);
            }
            if !script.made_by.is_empty() {
                self.feed(invocation, script);
            }
            return None;
        }
        if let Stdin::Text(text) = &input.stdin {
            // What stands behind `-s` or `-` is given to the text.
            let skip = operands.first().is_some_and(|w| is_input(&w.text));
            let arguments = operands.get(usize::from(skip)..).unwrap_or_default();
            return self.run_process(text, arguments, &Input::default());
        }
        if input.stdin == Stdin::Pipe {
            self.run_printed(invocation);
        }
        None
    }

    /// Runs a text as a process does: with its own variables, and these arguments.
    pub(super) fn run_process(
        &mut self,
        text: &str,
        arguments: &[Word],
        input: &Input,
    ) -> Option<String> {
        let saved = self.scope.clone();
        self.scope.positional = Some(arguments.to_vec());
        let output = self.run_text(text, input);
        self.scope = saved;
        output
    }

    /// Runs a text that words gave; what other programs make of it is known only when it runs.
    pub(super) fn run_word_text(
        &mut self,
        text: &str,
        words: &[Word],
        index: usize,
        input: &Input,
    ) -> Option<String> {
        let made: Vec<_> = words.iter().filter(|w| !w.made_by.is_empty()).collect();
        if let Some(word) = made.first() {
            self.fed_by_words(index, word);
            if is_whole_substitution(text) {
                self.doubt(DoubtKind::DynamicCode, text);
                return None;
            }
        } else if words.iter().any(|w| w.dynamic)
            && (text.starts_with('$') && !text.contains(' ') || text == LINE_OF_FILE)
        {
            self.doubt(DoubtKind::DynamicCode, text);
            return None;
        }
        self.run_text(text, input)
    }

    /// Notes that a program runs what others print into its arguments.
    fn fed_by_words(&mut self, index: usize, word: &Word) {
        if let Some(found) = self.analysis.invocations.get_mut(index) {
            let found = Arc::make_mut(found);
            found.fed_by = word.made_by.clone();
            found.stdin = Stdin::Pipe;
        }
    }

    pub(super) fn run_interpreter(
        &mut self,
        index: usize,
        language: inline_code::Language,
        invocation: &Invocation,
        input: &Input,
    ) {
        if language == inline_code::Language::Python
            && let Some(at) = invocation.arguments.iter().position(|w| w.text == "-m")
            && invocation.arguments.iter().take(at).all(Word::is_option)
        {
            // A module is a program of its own: `python -m pip` is `pip`.
            let words = invocation.arguments.get(at + 1..).unwrap_or_default();
            self.run_words(&invocation.program, words.to_vec(), input);
            return;
        }
        if only_checks(language, invocation) {
            return;
        }
        if let Some(words) = program_of_package(invocation) {
            self.run_words(&invocation.program, words, input);
        }
        let options: Vec<&str> = program::find(&invocation.program)
            .words(Fact::Code)
            .collect();
        let given: Vec<Word> = if language == inline_code::Language::PowerShell {
            // All that follows is the code.
            let is_option = |word: &Word| options.contains(&word.text.as_str());
            let at = invocation.arguments.iter().position(is_option);
            let code = at.and_then(|at| invocation.arguments.get(at + 1..));
            code.map(|words| Word::plain(joined(words)))
                .into_iter()
                .collect()
        } else {
            options
                .iter()
                .flat_map(|option| values_of_cluster(&invocation.arguments, option))
                .collect()
        };
        if let Some(made) = given
            .iter()
            .find(|word| !word.made_by.is_empty() && is_whole_substitution(&word.text))
        {
            self.fed_by_words(index, made);
        }
        let mut codes: Vec<String> = given.into_iter().map(|word| word.text).collect();
        // `bun run x.ts` and `deno run x.ts` run a file, too.
        let operand = invocation
            .arguments
            .iter()
            .find(|w| !w.is_option() && w.text != "run");
        if let Some(made) = operand.filter(|w| codes.is_empty() && w.text.starts_with("<(")) {
            self.fed_by_words(index, made);
        }
        if language.takes_code_operand() && codes.is_empty() {
            codes.extend(operand.map(|w| w.text.clone()));
        } else if codes.is_empty() {
            match operand {
                Some(file) if !is_input(&file.text) => {
                    codes.extend(self.written_text(file));
                }
                _ => {
                    if let Stdin::Text(text) = &input.stdin {
                        codes.push(text.clone());
                    }
                }
            }
        }
        let program = invocation.program.clone();
        for code in codes {
            let mut walks = inline_code::walks(language, &code);
            if walks.iter().all(|walk| walk.root.is_none()) {
                // It may be told where to look.
                let is_path = |word: &&Word| !word.text.contains(['(', ' ', '\n', ';']);
                let told = invocation.operands().find(is_path);
                let root = told.map_or_else(|| ".".to_owned(), |word| word.text.clone());
                walks.truncate(1);
                for walk in &mut walks {
                    walk.root = Some(root.clone());
                }
            }
            let here = |walk| (walk, invocation.work_dir.clone());
            self.analysis.walks.extend(walks.into_iter().map(here));
            let made = inline_code::made(language, &code, goes_through(language, invocation));
            self.run_made(invocation, made);
            for action in inline_code::actions(language, &code) {
                self.inside(&program, |walker| {
                    walker.perform(index, action);
                    Some(())
                });
            }
        }
    }

    /// Notes what a line of inline code does.
    fn perform(&mut self, index: usize, action: Action) {
        match action {
            Action::Shell(text) => self.run_apart(&text),
            Action::Program(words) => {
                self.dispatch_words(words);
            }
            Action::Does(program, mut words) => {
                // Files that a pattern of the code finds are the code's choice.
                for word in words.iter_mut().filter(|w| w.glob && w.made_by.is_empty()) {
                    word.made_by = index..index + 1;
                }
                self.note(Arc::new(Invocation {
                    program: program.to_owned(),
                    path: Word::plain(program),
                    arguments: words,
                    wrappers: self.wrappers.clone(),
                    work_dir: self.scope.work_dir.clone(),
                    remote: self.remote,
                    emulated: true,
                    uncertain: self.uncertain,
                    ..Invocation::default()
                }));
            }
        }
    }
}

/// How the names of scripts end that a package brings for its program.
const ENDINGS: &[&str] = &[".js", ".mjs", ".cjs", ".py", ".rb", ".php"];

/// Returns the program that an interpreter runs, with its words, where its script is what a package brings for it:
/// `node node_modules/.bin/prisma`, `python .venv/bin/alembic`, `deno run npm:prisma`.
fn program_of_package(invocation: &Invocation) -> Option<Vec<Word>> {
    let known = program::find(&invocation.program);
    let mut is_value = false;
    let mut words = invocation.arguments.iter();
    let script = words.find(|word| {
        let is_given = std::mem::replace(&mut is_value, known.lists(Fact::Loads, &word.text));
        !is_given && !word.is_option() && word.text != "run"
    })?;
    let folder = script.text.rsplit('/').nth(1);
    let is_of_package = folder == Some(".bin")
        || script.text.starts_with("npm:")
        || script.text.contains("venv/bin/");
    let name = program_name(script.text.trim_start_matches("npm:"));
    let mut endings = ENDINGS.iter();
    let name = endings
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name);
    // What lies in another `bin` may be the project's own.
    let is_program = is_of_package || folder == Some("bin") && program::find(name).is_known();
    is_program.then(|| {
        std::iter::once(Word::plain(name))
            .chain(words.cloned())
            .collect()
    })
}

/// Whether a file is what the program reads anyhow.
pub(super) fn is_input(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Whether an interpreter only looks whether code could run.
fn only_checks(language: inline_code::Language, invocation: &Invocation) -> bool {
    let asks = |option: &str| invocation.arguments.iter().any(|w| w.text == option);
    match language {
        inline_code::Language::Php => asks("-l"),
        inline_code::Language::Ruby => asks("-c"),
        inline_code::Language::JavaScript => asks("--check"),
        _ => false,
    }
}

/// Whether nothing but the output of a command is the text.
fn is_whole_substitution(text: &str) -> bool {
    let whole = text.trim();
    whole.starts_with("$(") && whole.ends_with(')')
        || whole.starts_with('`') && whole.ends_with('`')
}
