//! The shell's own commands: those that change what it knows, `cd`, `export`, `read`, `trap`.

use std::sync::Arc;

use super::Invocation;
use super::Stdin;
use super::Word;
use super::interpreter::is_input;
use super::walk::Input;
use super::walk::Walker;

impl Walker<'_> {
    /// Runs what changes the shell itself; true where nothing more is to be done.
    pub(super) fn built_in(
        &mut self,
        program: &str,
        arguments: &[Word],
        invocation: &Invocation,
        input: &Input,
    ) -> bool {
        match program {
            "cd" | "pushd" | "chdir" => self.change_dir(arguments),
            "popd" => self.scope.work_dir = None,
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in arguments.iter().filter(|w| !w.is_option()) {
                    self.assign_expanded(word);
                    if let Some((name, value)) = word.text.split_once('=') {
                        self.run_lasting_variable(name, value);
                        let value = Word {
                            text: value.to_owned(),
                            ..word.clone()
                        };
                        self.analysis.assignments.push((name.to_owned(), value));
                    }
                }
            }
            "set" => {
                let at = arguments.iter().position(|w| !w.is_option());
                if let Some(at) = at {
                    let words = arguments.get(at..).unwrap_or_default();
                    let skip = usize::from(words.first().is_some_and(|w| w.text == "--"));
                    self.scope.positional = words.get(skip..).map(<[Word]>::to_vec);
                }
            }
            "shift" => {
                if let Some(words) = &mut self.scope.positional
                    && !words.is_empty()
                {
                    words.remove(0);
                }
            }
            "unset" => {
                for word in arguments {
                    self.scope.variables.remove(&word.text);
                    self.scope.functions.remove(&word.text);
                }
            }
            "alias" => {
                for word in arguments {
                    if let Some((name, value)) = word.text.split_once('=') {
                        self.scope.aliases.insert(name.to_owned(), value.to_owned());
                    }
                }
            }
            "unalias" => {
                for word in arguments {
                    self.scope.aliases.remove(&word.text);
                }
            }
            "read" | "mapfile" | "readarray" => self.read(arguments, input),
            "printf" if arguments.first().is_some_and(|w| w.text == "-v") => {
                if let [_, name, rest @ ..] = arguments {
                    let print = Invocation {
                        program: "printf".to_owned(),
                        arguments: rest.to_vec(),
                        ..Invocation::default()
                    };
                    if let Some(text) = super::output::of(&print, self.surroundings) {
                        self.scope.assign(&name.text, vec![Word::plain(text)]);
                    }
                }
            }
            "trap" => {
                let action = arguments.iter().find(|w| !w.is_option());
                if let Some(action) = action.filter(|w| !w.text.is_empty() && w.text != "-") {
                    let text = action.text.clone();
                    self.inside("trap", |w| w.run_text(&text, &Input::default()));
                }
            }
            "source" | "." => {
                if let Some(file) = arguments.first() {
                    let text = match &input.stdin {
                        Stdin::Text(text) if is_input(&file.text) => Some(text.clone()),
                        _ => self.written_text(file),
                    };
                    if let Some(text) = text {
                        self.inside(program, |w| w.run_text(&text, &Input::default()));
                    } else if !file.made_by.is_empty() {
                        self.feed(invocation, file);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Notes that the last invocation of a program reads what others make.
    pub(super) fn feed(&mut self, invocation: &Invocation, word: &Word) {
        let mut latest = self.analysis.invocations.iter_mut().rev();
        if let Some(found) = latest.find(|i| i.program == invocation.program) {
            let found = Arc::make_mut(found);
            found.fed_by = word.made_by.clone();
            found.stdin = Stdin::Pipe;
        }
    }

    fn change_dir(&mut self, arguments: &[Word]) {
        let target = arguments.iter().find(|w| !w.is_option());
        self.scope.work_dir = match (target, &self.scope.work_dir) {
            (None, _) => self.surroundings.home.clone(),
            (Some(word), _) if word.dynamic || word.glob || word.text == "-" => None,
            (Some(word), Some(dir)) => Some(super::path::lexical(
                &word.text,
                dir,
                self.surroundings.home.as_deref(),
            )),
            (Some(word), None) if word.text.starts_with(['/', '~']) => Some(super::path::lexical(
                &word.text,
                std::path::Path::new("/"),
                self.surroundings.home.as_deref(),
            )),
            (Some(_), None) => None,
        };
    }

    fn assign_expanded(&mut self, word: &Word) {
        let Some((name, value)) = word.text.split_once('=') else {
            return;
        };
        let value = Word {
            text: value
                .trim_start_matches('(')
                .trim_end_matches(')')
                .to_owned(),
            ..word.clone()
        };
        if value.text.len() + 2 == word.text.len() - name.len() - 1 {
            let words = self.expand_fields_of_text(&value.text);
            self.scope.assign(name, words);
        } else if let Some(name) = name.strip_suffix('+') {
            self.scope.append(name, &[value], false);
        } else {
            self.scope.assign(name, vec![value]);
        }
    }

    fn read(&mut self, arguments: &[Word], input: &Input) {
        let text = input.stdin.text().map(str::to_owned);
        let names: Vec<&Word> = arguments.iter().filter(|w| !w.is_option()).collect();
        for (i, name) in names.iter().enumerate() {
            let value = match &text {
                Some(text) => {
                    let line = text.lines().next().unwrap_or_default();
                    let last = i + 1 == names.len();
                    let part = if last {
                        line.split_whitespace()
                            .skip(i)
                            .collect::<Vec<_>>()
                            .join(" ")
                    } else {
                        line.split_whitespace()
                            .nth(i)
                            .unwrap_or_default()
                            .to_owned()
                    };
                    Word::plain(part)
                }
                None => Word {
                    // Whatever a list names stands for any file, as with `xargs`.
                    text: match &input.stdin {
                        Stdin::File(_) => "{}".to_owned(),
                        _ => format!("${}", name.text),
                    },
                    dynamic: true,
                    glob: false,
                    each: true,
                    made_by: input.fed_by.clone(),
                },
            };
            self.scope.assign(&name.text, vec![value]);
        }
    }
}
