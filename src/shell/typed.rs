//! Typed text: what one program types into another that is already running, a shell or the console of a database.

use std::sync::Arc;

use super::walk::{Input, Walker};
use super::{Invocation, Word, text};
use crate::program::{self, Fact};

impl Walker<'_> {
    /// Runs what a program types; true where it types anything.
    pub(super) fn run_typed(&mut self, program: &str, arguments: &[Word]) -> bool {
        let typist = program::find(program);
        if !typist.is(Fact::Types) {
            return false;
        }
        let verb = |w: &Word| typist.lists(Fact::Types, &w.text);
        let Some(at) = arguments.iter().position(verb) else {
            return false;
        };
        let typed = keys(arguments.get(at + 1..).unwrap_or_default());
        self.inside(program, |w| {
            let saved = w.scope.clone();
            w.run_text(&typed, &Input::default());
            w.scope = saved;
            // Whatever reads it may as well be the console of a database.
            w.analysis.invocations.push(Arc::new(Invocation {
                program: "sql".to_owned(),
                path: Word::plain("sql"),
                arguments: vec![Word::plain(typed)],
                wrappers: w.wrappers.clone(),
                emulated: true,
                ..Invocation::default()
            }));
            Some(())
        });
        true
    }
}

/// Returns the text that words type, names of keys among them.
fn keys(words: &[Word]) -> String {
    let mut typed = String::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-t" | "--match" | "-m" | "--pane-id" | "--window" | "--delay" | "-N" => {
                words.next();
            }
            "Enter" | "C-m" | "C-j" | "KPEnter" => typed.push('\n'),
            "Space" => typed.push(' '),
            option if option.starts_with('-') && typed.is_empty() => {}
            text => typed.push_str(&text::unescape(text).replace("^M", "\n")),
        }
    }
    typed
}
