//! Made: commands that programs make of the lines that they read, judged as those that `xargs` makes.

use std::sync::Arc;

use super::command::Call;
use super::finds::found_by_find;
use super::inline_code::LINE;
use super::walk::{Input, Walker};
use super::{DoubtKind, Invocation, LINE_OF_FILE, MAX_LENGTH, Word, inline_code, output, sed};
use crate::program::{self, Fact};

/// The variable that holds such a line where a text is run in which it stands.
const LINE_VARIABLE: &str = "AHP_LINE";

/// How many texts are followed that a program makes of one line, and of how many lines.
const MAX_TEXTS: usize = 16;
const MAX_LINES: usize = 64;

impl Walker<'_> {
    /// Runs texts that a program makes of what it reads, once for each line of it that is known.
    pub(super) fn run_made(&mut self, reader: &Invocation, texts: Vec<String>) {
        let mut lines = None;
        for text in texts.into_iter().take(MAX_TEXTS) {
            if !text.contains(LINE) {
                self.run_apart(&text);
                continue;
            }
            if text.trim_start().starts_with(LINE) {
                // Its input says which program runs.
                let call = Call {
                    words: vec![Word::plain("sh")],
                    input: Input {
                        stdin: reader.stdin.clone(),
                        fed_by: reader.fed_by.clone(),
                    },
                    ..Call::default()
                };
                self.inside(&reader.program, |walker| walker.dispatch(call));
            }
            let lines = lines.get_or_insert_with(|| self.lines_of(reader));
            for line in lines.iter().take(MAX_LINES) {
                let text = if line.dynamic || line.glob {
                    let value = vec![vec![line.clone()]];
                    let variable = super::scope::Variable { values: value };
                    let name = LINE_VARIABLE.to_owned();
                    self.scope.variables.insert(name, variable);
                    // Between single quotes nothing would stand for it.
                    let open = text.replace('\'', "\"");
                    open.replace(LINE, &format!("${{{LINE_VARIABLE}}}"))
                } else {
                    text.replace(LINE, &line.text)
                };
                self.run_aside(&reader.program, vec![text]);
            }
        }
    }

    /// Runs a text that changes nothing for what comes behind it.
    pub(super) fn run_apart(&mut self, text: &str) {
        let saved = self.scope.clone();
        self.run_text(text, &Input::default());
        self.scope = saved;
    }

    /// Returns what stands for the lines that a program reads.
    fn lines_of(&self, reader: &Invocation) -> Vec<Word> {
        let known = |text: &str| -> Vec<Word> {
            let lines = text.lines().map(str::trim);
            lines.filter(|l| !l.is_empty()).map(Word::plain).collect()
        };
        if let Some(text) = reader.stdin.text() {
            return known(text);
        }
        let fed_by = reader.fed_by.clone();
        let first = self.analysis.part(fed_by.clone()).first();
        if let Some(text) = first.and_then(|first| output::of(first, self.surroundings)) {
            return known(&text);
        }
        let found = first.filter(|first| matches!(first.program.as_str(), "find" | "gfind"));
        let mut found = found.map_or_else(Vec::new, |find| found_by_find(find));
        for word in &mut found {
            word.made_by = fed_by.clone();
        }
        if found.is_empty() {
            found.push(Word::any_line(fed_by));
        }
        found
    }

    /// Runs what programs print for a shell, as far as their words tell it.
    pub(super) fn run_printed(&mut self, shell: &Invocation) {
        let mut makers = self.analysis.part(shell.fed_by.clone()).iter();
        let Some(first) = makers.next() else {
            return;
        };
        let mut texts = found_text(first);
        for maker in makers.filter(|maker| !maker.emulated) {
            texts = texts.iter().flat_map(|text| mapped(maker, text)).collect();
            texts.truncate(MAX_TEXTS);
            // What each program makes longer soon fits in no memory.
            if let Some(text) = texts.iter().find(|text| text.len() > MAX_LENGTH) {
                let shown = text.get(..text.floor_char_boundary(80));
                let shown = shown.unwrap_or_default().to_owned();
                return self.doubt(DoubtKind::TooComplex, &shown);
            }
        }
        texts.retain(|text| !text.trim_start().starts_with(LINE) && text.contains(LINE));
        self.run_made(shell, texts);
    }
}

/// Returns what the first program of a pipe prints, a line of it.
fn found_text(first: &Arc<Invocation>) -> Vec<String> {
    if let Some(format) = first.value_of(&["-printf"])
        && matches!(first.program.as_str(), "find" | "gfind")
    {
        let filled = ["%p", "%P", "%f", "%h"]
            .iter()
            .fold(format.text, |text, place| text.replace(place, LINE));
        return vec![super::text::unescape(&filled)];
    }
    mapped(first, LINE)
}

/// Puts a text in each place of another; what gets too long ends there.
fn filled(with_places: &str, place: &str, text: &str) -> String {
    let mut parts = with_places.split(place);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if filled.len() > MAX_LENGTH {
            break;
        }
        filled.extend([text, part]);
    }
    filled
}

/// Returns what a program in a pipe makes of a text that it reads.
fn mapped(maker: &Invocation, text: &str) -> Vec<String> {
    let program = maker.program.as_str();
    match program {
        "sed" | "gsed" => return vec![sed::scripts(maker).made_of(text)],
        // What it reads goes through `xargs`, or a loop.
        "echo" | "printf" if maker.arguments.iter().any(|word| word.dynamic) => {
            let words: Vec<&str> = maker
                .texts()
                .filter(|text| !matches!(*text, "-e" | "-n"))
                .collect();
            let line = words.join(" ").replace("%s", "");
            let line = filled(&line, LINE_OF_FILE, text);
            let line = match (line.split_once("$("), line.rsplit_once(')')) {
                (Some((before, _)), Some((_, behind))) => format!("{before}{text}{behind}"),
                _ => line,
            };
            return vec![super::text::unescape(&line)];
        }
        _ => {}
    }
    let Some(language) = inline_code::language(program) else {
        return vec![text.to_owned()];
    };
    let codes = codes(language, maker);
    let is_edited = language == inline_code::Language::Perl
        && maker.has_short('p')
        && goes_through(language, maker);
    let printed: Vec<String> = codes
        .iter()
        .flat_map(|code| {
            if is_edited {
                return vec![sed::read(code).made_of(text)];
            }
            inline_code::prints(language, code)
        })
        .map(|made| filled(&made, LINE, text))
        .collect();
    if printed.is_empty() {
        return vec![text.to_owned()];
    }
    printed
}

/// Returns the code that an interpreter is given among its words.
fn codes(language: inline_code::Language, invocation: &Invocation) -> Vec<String> {
    let known = program::find(&invocation.program);
    if language.takes_code_operand() {
        let code = invocation.own_operands(known).next();
        return code.map(|word| word.text.clone()).into_iter().collect();
    }
    let options = known.words(Fact::Code);
    options
        .flat_map(|option| super::wrapper::values_of_cluster(&invocation.arguments, option))
        .map(|word| word.text)
        .collect()
}

/// Whether an interpreter goes through what it reads by itself, line for line.
pub(super) fn goes_through(language: inline_code::Language, invocation: &Invocation) -> bool {
    use inline_code::Language::{Awk, Perl, Php, Ruby};
    let loops = |letters: &[char]| {
        let mut options = invocation
            .arguments
            .iter()
            .take_while(|word| word.is_option());
        options.any(|word| {
            // Behind these letters stands a value.
            let cluster = word
                .text
                .split(['e', 'E', 'F', 'I', 'M', 'm', 'i', 'r'])
                .next();
            cluster.is_some_and(|cluster| cluster.contains(letters))
        })
    };
    match language {
        Awk => true,
        Perl | Ruby => loops(&['n', 'p']),
        Php => invocation.has_word(&["-R", "-F"]),
        _ => false,
    }
}
