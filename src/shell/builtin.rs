//! The shell's own commands: those that change what it knows, `cd`, `export`, `read`, `trap`.

use std::sync::Arc;

use super::command::in_places;
use super::exit::named_options;
use super::gather::MAX_ITEMS;
use super::interpreter::is_input;
use super::scope::{Scope, Variable, says_hidden};
use super::walk::{Input, Walker};
use super::{DoubtKind, Invocation, LINE_OF_FILE, Stdin, Word};

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
            "declare" | "typeset" | "local" | "nameref" if refers(program, arguments) => {
                for word in arguments.iter().filter(|w| !w.is_option()) {
                    let (name, other) = word.text.split_once('=').unwrap_or((&word.text, ""));
                    let other = other.to_owned();
                    self.scope.references.insert(name.to_owned(), other);
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in arguments.iter().filter(|w| !w.is_option()) {
                    self.assign_expanded(word);
                    if let Some((name, value)) = word.text.split_once('=') {
                        self.run_lasting_variable(name, value);
                        let value = word.with_text(value);
                        self.analysis.assignments.push((name.to_owned(), value));
                    }
                }
            }
            "shopt" | "setopt" => self.scope.matches_hidden |= says_hidden(arguments),
            "set" => {
                self.scope.matches_hidden |= says_hidden(arguments);
                if let Some(words) = set_operands(arguments) {
                    self.scope.positional = Some(words.to_vec());
                }
                self.set_elsewhere(arguments);
            }
            "shift" => {
                let count = arguments
                    .first()
                    .map_or(Some(1), |word| word.text.parse().ok());
                if let (Some(words), Some(count)) = (&mut self.scope.positional, count) {
                    // What shifts by more than there is does nothing.
                    if count <= words.len() {
                        words.drain(..count);
                    }
                }
            }
            "unset" => {
                for word in arguments {
                    self.scope.variables.remove(&word.text);
                    self.scope.references.remove(&word.text);
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
            // From now on the name stands for that file.
            "hash" if arguments.first().is_some_and(|w| w.text == "-p") => {
                if let [_, file, names @ ..] = arguments {
                    for name in names {
                        let (name, file) = (name.text.clone(), file.text.clone());
                        self.scope.aliases.insert(name, file);
                    }
                }
            }
            "unalias" => {
                for word in arguments {
                    self.scope.aliases.remove(&word.text);
                }
            }
            "read" | "mapfile" | "readarray" => {
                self.run_shell_options(program, invocation);
                self.read(invocation, input);
            }
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

    /// Gives variables the values that `set` gives them in other shells: `set x=a`, `set -g x a`. In which one it runs is not
    /// told here, so that they are more values and replace none.
    fn set_elsewhere(&mut self, arguments: &[Word]) {
        let mut words = arguments.iter().skip_while(|word| word.is_option());
        let Some(first) = words.next() else {
            return;
        };
        let (name, value) = match first.text.split_once('=') {
            Some((name, value)) => {
                let value = first.with_text(value);
                (name, vec![value])
            }
            None => (first.text.as_str(), words.cloned().collect()),
        };
        if Scope::is_name(name) && !value.is_empty() {
            self.scope.branches += 1;
            self.scope.assign(name, value);
            self.scope.branches -= 1;
        }
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

    pub(super) fn change_dir(&mut self, arguments: &[Word]) {
        let back = || {
            Some(
                self.scope
                    .variables
                    .get("OLDPWD")?
                    .values
                    .first()?
                    .first()?
                    .clone(),
            )
        };
        let given = arguments.iter().find(|w| !w.is_option());
        let before = given.filter(|w| w.text == "-").and_then(|_| back());
        let listed = given.and_then(|word| self.in_cdpath(word));
        let met = given.and_then(|word| self.listed_dir(word));
        let target = before
            .as_ref()
            .or(listed.as_ref())
            .or(met.as_ref())
            .or(given);
        if let Some(dir) = &self.scope.work_dir {
            let before = Word::plain(dir.to_string_lossy());
            self.scope.assign("OLDPWD", vec![before]);
        }
        self.scope.work_dir = match (target, &self.scope.work_dir) {
            (None, _) => self.surroundings.home.clone(),
            (Some(word), _) if word.dynamic || word.text == "-" => None,
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

    /// Returns the pattern of which a program lists what fits: `cd "$(ls -d .a*)"`. A search that leaves nothing out comes to
    /// every folder below those that it is given.
    fn listed_dir(&self, target: &Word) -> Option<Word> {
        let made_by = self.analysis.invocations.get(target.made_by.clone())?;
        let [maker] = made_by else {
            return None;
        };
        match maker.program.as_str() {
            "ls" | "dir" | "readlink" | "realpath" => {
                let mut words = maker.operands().filter(|word| word.glob);
                words.next().filter(|_| target.dynamic).cloned()
            }
            "find" if target.each => {
                let (root, tests) = maker.arguments.split_first()?;
                let is_all = |word: &Word| {
                    matches!(
                        word.text.as_str(),
                        "-type" | "d" | "-print" | "-print0" | "-mindepth" | "-maxdepth"
                    ) || word.text.parse::<usize>().is_ok()
                };
                let all = || Word {
                    glob: true,
                    ..Word::plain(format!("{}/**", root.text))
                };
                tests.iter().all(is_all).then(all)
            }
            _ => None,
        }
    }

    /// Returns where `cd` goes by the `CDPATH` that this line sets: to the first place that it lists.
    fn in_cdpath(&self, target: &Word) -> Option<Word> {
        let value = self
            .scope
            .variables
            .get("CDPATH")?
            .values
            .first()?
            .first()?;
        let first = value.text.split(':').find(|dir| !dir.is_empty())?;
        (!target.dynamic && !target.text.starts_with(['/', '~', '.', '-']))
            .then(|| Word::plain(format!("{first}/{}", target.text)))
    }

    fn assign_expanded(&mut self, word: &Word) {
        let Some((name, value)) = word.text.split_once('=') else {
            return;
        };
        let value = word.with_text(value.trim_start_matches('(').trim_end_matches(')'));
        if value.text.len() + 2 == word.text.len() - name.len() - 1 {
            let words = self.expand_fields_of_text(&value.text);
            self.scope.assign(name, in_places(words));
        } else if let Some(name) = name.strip_suffix('+') {
            self.scope.append(name, &[value], false);
        } else {
            self.scope.assign(name, vec![value]);
        }
    }

    /// Reads the lines of a text one after the other, as a loop does: a name then has a value for each.
    fn read(&mut self, invocation: &Invocation, input: &Input) {
        let text = input.stdin.text().map(str::to_owned);
        let given = invocation
            .environment
            .iter()
            .find(|(name, _)| name == "IFS");
        let given = given.map(|(_, set)| set.text.clone());
        let separators = given.or_else(|| self.separators());
        let separators = separators.unwrap_or_else(|| " \t".to_owned());
        let takes = |word: &Word| {
            word.is_option() && !word.text.starts_with("--") && word.text.contains('a')
        };
        let takes_lines = invocation.program != "read";
        let is_array = invocation.arguments.iter().any(takes);
        let names: Vec<&Word> = (invocation.arguments.iter())
            .filter(|w| !w.is_option())
            .collect();
        for (i, name) in names.iter().enumerate() {
            let value = match &text {
                Some(text) => {
                    let mut lines = text.lines();
                    let values = lines.by_ref().take(MAX_ITEMS).map(|line| {
                        if takes_lines {
                            return vec![Word::plain(line)];
                        }
                        let mut parts = line
                            .split(|c| separators.contains(c))
                            .filter(|part| !part.is_empty())
                            .skip(i);
                        let is_last = i + 1 == names.len();
                        if is_array {
                            parts.map(Word::plain).collect()
                        } else if is_last {
                            vec![Word::plain(parts.collect::<Vec<_>>().join(" "))]
                        } else {
                            vec![Word::plain(parts.next().unwrap_or_default())]
                        }
                    });
                    let mut values: Vec<Vec<Word>> = values.collect();
                    if lines.next().is_some() {
                        self.doubt(DoubtKind::TooComplex, text);
                    }
                    if values.is_empty() {
                        values.push(vec![Word::plain("")]);
                    }
                    // The lines behind the first are one value of several words, for few values of a name are followed.
                    let first = usize::from(invocation.program == "read");
                    let rest = values.split_off(first.min(values.len())).concat();
                    if !rest.is_empty() {
                        values.push(rest);
                    }
                    let read = Variable { values };
                    self.scope.variables.insert(name.text.clone(), read);
                    continue;
                }
                None => Word {
                    // Whatever a list names stands for any file, as with `xargs`.
                    text: match &input.stdin {
                        Stdin::File(_) => LINE_OF_FILE.to_owned(),
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

/// Whether a declaration makes names stand for other variables.
fn refers(program: &str, arguments: &[Word]) -> bool {
    let is_reference = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        !letters.starts_with('-') && letters.contains('n')
    };
    program == "nameref" || arguments.iter().any(is_reference)
}

/// What `set` makes the positional parameters; none where it only sets options.
fn set_operands(arguments: &[Word]) -> Option<&[Word]> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        if word.text == "--" {
            return arguments.get(at + 1..);
        }
        if !word.text.starts_with(['-', '+']) {
            return arguments.get(at..);
        }
        at += 1 + named_options(&word.text);
    }
    None
}
