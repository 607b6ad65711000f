//! Programs that gather words and run a command with them: `xargs`, `parallel`, `find`, `fd`.

use super::command::Call;
use super::finds::found_by_find;
use super::unwrap::joined;
use super::walk::{Input, Walker};
use super::wrapper::takes_next;
use super::{DoubtKind, Invocation, Stdin, Word};
use crate::program::{self, Fact};

/// How many items of a list are followed; past it the rest cannot be told.
pub(super) const MAX_ITEMS: usize = 4096;
/// What stands for an item that is known only when it runs, in a text that a shell reads.
const OPEN_ITEM: &str = "\"$PARALLEL_ITEM\"";

impl Walker<'_> {
    pub(super) fn run_xargs(&mut self, invocation: &Invocation) -> Option<String> {
        let arguments = invocation.arguments.as_slice();
        let mut i = 0;
        while let Some(word) = arguments.get(i).filter(|w| w.is_option() || w.text == "--") {
            i += if takes_value(invocation, &word.text) {
                2
            } else {
                1
            };
        }
        let command = arguments.get(i..).filter(|c| !c.is_empty())?;
        let replaced = invocation
            .value_of(&["-I", "-J", "--replace"])
            .map(|w| w.text)
            .or_else(|| invocation.has_short('i').then(|| "{}".to_owned()));
        let whole_lines = replaced.is_some() || invocation.has_short('d');
        let items = self.items(invocation, whole_lines);
        let mut words = Vec::new();
        let mut used = false;
        for word in command {
            match &replaced {
                Some(mark) if !mark.is_empty() && word.text.contains(mark.as_str()) => {
                    used = true;
                    words.extend(
                        items.iter().map(|item| {
                            item.with_text(word.text.replace(mark.as_str(), &item.text))
                        }),
                    );
                }
                _ => words.push(word.clone()),
            }
        }
        if !used {
            words.extend(items);
        }
        self.dispatch(Call {
            words,
            input: Input {
                stdin: Stdin::Inherited,
                fed_by: invocation.fed_by.clone(),
            },
            ..Call::default()
        })
    }

    pub(super) fn run_parallel(&mut self, invocation: &Invocation) -> Option<String> {
        let arguments = invocation.arguments.as_slice();
        let end = arguments
            .iter()
            .position(|w| w.text.starts_with(":::"))
            .unwrap_or(arguments.len());
        let given: Vec<Word> = arguments.get(end + 1..).unwrap_or_default().to_vec();
        let mut i = 0;
        while let Some(word) = arguments.get(i).filter(|w| w.is_option() && i < end) {
            i += if takes_value(invocation, &word.text) {
                2
            } else {
                1
            };
        }
        let command = arguments.get(i..end).unwrap_or_default();
        let is_file = arguments
            .get(end)
            .is_some_and(|mark| mark.text.starts_with("::::"));
        let items = if is_file {
            // What stands in the file is known only when it runs.
            vec![Word {
                dynamic: true,
                ..Word::default()
            }]
        } else if given.is_empty() {
            self.items(invocation, true)
        } else {
            given
        };
        for item in &items {
            let text = joined(command);
            let is_open = item.dynamic && !command.is_empty();
            let item = if is_open { OPEN_ITEM } else { &item.text };
            let text = if command.is_empty() {
                item.to_owned()
            } else if text.contains("{}") {
                text.replace("{}", item)
            } else {
                format!("{text} {item}")
            };
            self.run_text(&text, &Input::default());
        }
        None
    }

    /// Returns what `xargs` and its like take from their input.
    fn items(&mut self, invocation: &Invocation, whole_lines: bool) -> Vec<Word> {
        if let Stdin::Text(text) = &invocation.stdin {
            let items = text
                .split(|c: char| matches!(c, '\n' | '\0') || c.is_whitespace() && !whole_lines)
                .map(str::trim);
            let mut items = items.filter(|t| !t.is_empty());
            let followed = items.by_ref().take(MAX_ITEMS);
            let followed = followed.map(|t| Word::plain(t.trim_matches(['"', '\''])));
            let followed = followed.collect();
            if items.next().is_some() {
                self.doubt(DoubtKind::TooComplex, text);
            }
            return followed;
        }
        let mut feeders = self
            .analysis
            .invocations
            .get(invocation.fed_by.clone())
            .unwrap_or_default()
            .iter()
            .filter(|i| !i.emulated);
        if let Some(find) = feeders.next()
            && find.program == "find"
            && feeders.all(|i| {
                matches!(
                    i.program.as_str(),
                    "head" | "tail" | "sort" | "uniq" | "grep" | "xargs"
                )
            })
        {
            let mut found = found_by_find(find);
            for word in &mut found {
                word.made_by = invocation.fed_by.clone();
            }
            return found;
        }
        if let [list] = self
            .analysis
            .invocations
            .get(invocation.fed_by.clone())
            .unwrap_or_default()
            && list.program == "ls"
            && list.operands().next().is_some_and(|w| w.glob)
        {
            let made_by = invocation.fed_by.clone();
            return list
                .operands()
                .map(|word| Word {
                    made_by: made_by.clone(),
                    ..word.clone()
                })
                .collect();
        }
        vec![Word::any_line(invocation.fed_by.clone())]
    }

    pub(super) fn run_find(&mut self, invocation: &Invocation) -> Option<String> {
        let mut found = found_by_find(invocation);
        let itself = self.analysis.invocations.len();
        for word in &mut found {
            word.made_by = itself.saturating_sub(1)..itself;
        }
        let mut i = 0;
        let arguments = invocation.arguments.as_slice();
        while let Some(word) = arguments.get(i) {
            i += 1;
            if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                continue;
            }
            let mut words = Vec::new();
            while let Some(word) = arguments.get(i) {
                i += 1;
                if word.text == ";"
                    || (word.text == "+"
                        && words.last().is_some_and(|w: &Word| {
                            w.text.contains("{}") || found.iter().any(|f| f.text == w.text)
                        }))
                {
                    break;
                }
                if word.text == "{}" {
                    words.extend(found.iter().cloned());
                } else if word.text.contains("{}") {
                    let first = found.first().map_or("*", |f| f.text.as_str());
                    words.push(Word {
                        glob: true,
                        ..word.with_text(word.text.replace("{}", first))
                    });
                } else {
                    words.push(word.clone());
                }
            }
            self.dispatch_words(words);
        }
        None
    }

    pub(super) fn run_fd(&mut self, invocation: &Invocation) -> Option<String> {
        let at = invocation
            .arguments
            .iter()
            .position(|w| matches!(w.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"))?;
        let mut words = invocation.arguments.get(at + 1..)?.to_vec();
        let itself = self.analysis.invocations.len();
        let mut own = Vec::new();
        let mut options = invocation.arguments.get(..at)?.iter();
        while let Some(word) = options.next() {
            if !word.is_option() {
                own.push(word.text.as_str());
            } else if takes_value(invocation, &word.text) {
                options.next();
            }
        }
        let extension = invocation
            .value_of(&["-e", "--extension"])
            .map(|w| format!("*.{}", w.text));
        let pattern = own.first().filter(|p| !matches!(**p, "" | "."));
        let root = own.get(1).map_or(".", |r| r.trim_end_matches('/'));
        let is_glob = invocation.has_short('g') || invocation.has_long("--glob");
        let pattern = pattern.map(|p| if is_glob { (*p).to_owned() } else { as_glob(p) });
        let name = extension.or(pattern).unwrap_or_else(|| "*".to_owned());
        let item = Word {
            text: format!("{root}/{name}"),
            glob: true,
            each: true,
            made_by: itself.saturating_sub(1)..itself,
            ..Word::default()
        };
        if let Some(slot) = words.iter_mut().find(|w| w.text == "{}") {
            *slot = item;
        } else {
            words.push(item);
        }
        self.dispatch_words(words)
    }
}

/// Returns the pattern of names that a regular expression means which is bound to the end of a name: `\\.orig$`.
fn as_glob(regex: &str) -> String {
    let Some(bound) = regex.strip_suffix('$') else {
        return regex.to_owned();
    };
    let (start, rest) = match bound.strip_prefix('^') {
        Some(rest) => ("", rest),
        None => ("*", bound),
    };
    let plain = rest.replace(".*", "*").replace("\\.", ".");
    let is_plain = !plain.contains(['\\', '(', ')', '[', ']', '+', '?', '|', '{', '^', '$']);
    if is_plain {
        format!("{start}{plain}")
    } else {
        regex.to_owned()
    }
}

/// Whether an option of a program takes the next word as its value.
fn takes_value(invocation: &Invocation, option: &str) -> bool {
    let program = program::find(&invocation.program);
    takes_next(option, |name| program.lists(Fact::Values, name))
}
