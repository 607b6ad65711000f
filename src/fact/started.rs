//! Started: the command line that stands for what a host starts by itself from a file or text that a tool writes.
//!
//! Hosts start the servers of a list, and editors run the tasks of a folder when it is opened. Whoever writes such a command
//! has it run, so that it is judged as one. The text may be part of a file, JSON with comments, TOML, or code that makes it:
//! only `command`, `args` and what stands behind them is looked for.

use std::path::Path;

use super::may_run::run_by;
use crate::event::ToolView;
use crate::host::Host;
use crate::shell::{Analysis, Effect};
use crate::shell_word::quoted_where_needed as quoted;

/// As many commands of one text are judged one by one, so that nobody waits for long.
const MOST: usize = 64;

/// Returns the command lines of what a call writes into files from which hosts start programs, or tells a host to start.
pub(super) fn lines(view: &ToolView, shell: Option<&Analysis>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |text: &str| {
        // Most texts have none.
        if text.contains("command") {
            lines.extend(commands(text).iter().map(|line| run_by("sh", line)));
        }
    };
    let is_started = |path: &str| Host::starts_from(Path::new(path));
    if let Some(content) = &view.content
        && view.paths.iter().any(|path| is_started(path))
    {
        add(content);
    }
    // Nothing else is looked up for a line that names no command.
    if let Some(shell) = shell
        && shell.texts().any(|text| text.contains("command"))
    {
        let mut writes = shell.writes().into_iter();
        let writes =
            writes.any(|effect| effect.effect == Effect::Write && Host::starts_from(&effect.path));
        let told = shell.invocations.iter().filter(|one| {
            let is_host = Host::agent_of(&one.program).is_some();
            is_host && one.texts().any(|text| text.starts_with('{'))
        });
        if writes {
            shell.texts().for_each(&mut add);
        } else {
            told.flat_map(|one| one.texts()).for_each(&mut add);
        }
    }
    if lines.len() > MOST {
        // What follows is one line: it is judged, or too long to be.
        let rest = lines.split_off(MOST).join("\n");
        lines.push(rest);
    }
    lines
}

/// A part of a text that says something by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Word(String),
    Sign(char),
}

/// Splits a text into words and signs: what stands in quotes is one word, and comments are left out.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => {
                let mut word = String::new();
                while let Some(inner) = chars.next().filter(|inner| *inner != c) {
                    word.push(match inner {
                        '\\' => match chars.next() {
                            Some('n' | 'r' | 't') => ' ',
                            Some('u') => {
                                let code: String = chars.by_ref().take(4).collect();
                                let code = u32::from_str_radix(&code, 16).ok();
                                code.and_then(char::from_u32).unwrap_or(' ')
                            }
                            Some(escaped) => escaped,
                            None => break,
                        },
                        _ => inner,
                    });
                }
                parts.push(Part::Word(word));
            }
            '/' if chars.peek() == Some(&'/') => while chars.next().is_some_and(|c| c != '\n') {},
            '/' if chars.peek() == Some(&'*') => {
                while let Some(c) = chars.next() {
                    if c == '*' && chars.next_if_eq(&'/').is_some() {
                        break;
                    }
                }
            }
            _ if c.is_alphanumeric() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                parts.push(Part::Word(word));
            }
            _ if c.is_whitespace() => {}
            _ => parts.push(Part::Sign(c)),
        }
    }
    parts
}

/// What one object of a text says so far.
#[derive(Debug, Default)]
struct Entry {
    command: Vec<String>,
    /// Whether the command is a list of words.
    is_list: bool,
    arguments: Vec<String>,
}

impl Entry {
    fn line(self) -> Option<String> {
        let (first, rest) = self.command.split_first()?;
        // One text may be a whole command line.
        let first = if self.is_list {
            quoted(first)
        } else {
            first.clone()
        };
        let rest = rest.iter().chain(&self.arguments).map(|word| quoted(word));
        let words: Vec<String> = std::iter::once(first).chain(rest).collect();
        // The folder of an editor is the one in which its programs start.
        Some(words.join(" ").replace("${workspaceFolder}", "."))
    }
}

/// Returns the commands that a text says, each as a line.
fn commands(text: &str) -> Vec<String> {
    let parts = parts(text);
    let mut lines = Vec::new();
    let mut open = vec![Entry::default()];
    let mut rest = parts.as_slice();
    while let Some((part, behind)) = rest.split_first() {
        rest = behind;
        match part {
            Part::Sign('{') => open.push(Entry::default()),
            Part::Sign('}') => lines.extend(open.pop().and_then(Entry::line)),
            Part::Word(key) if key == "command" || key == "args" => {
                let Some((Part::Sign(':' | '='), value)) = behind.split_first() else {
                    continue;
                };
                let (words, is_list) = match value {
                    [Part::Word(word), ..] => (vec![word.clone()], false),
                    [Part::Sign('['), items @ ..] => (listed(items), true),
                    _ => continue,
                };
                if open.is_empty() {
                    open.push(Entry::default());
                }
                let Some(entry) = open.last_mut() else {
                    continue;
                };
                if key == "args" {
                    entry.arguments = words;
                    continue;
                }
                // A table begins where the one before had its command.
                if !entry.command.is_empty() {
                    lines.extend(std::mem::take(entry).line());
                }
                entry.command = words;
                entry.is_list = is_list;
            }
            _ => {}
        }
    }
    lines.extend(open.into_iter().filter_map(Entry::line));
    lines
}

/// Returns the words of a list, up to its end.
fn listed(items: &[Part]) -> Vec<String> {
    let items = items.iter().take_while(|item| **item != Part::Sign(']'));
    let words = items.filter_map(|item| match item {
        Part::Word(word) => Some(word.clone()),
        Part::Sign(_) => None,
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_out_of_whole_and_broken_texts() {
        for (text, lines) in [
            (
                r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "a b"]}, "b": {"args": ["x"], "command": "node"}}}"#,
                &["npx -y 'a b'", "node x"][..],
            ),
            (
                "{\n // \"command\": \"no\"\n \"tasks\": [{\"command\": \"rm -rf x && ls\", /* } */}]\n}",
                &["rm -rf x && ls"],
            ),
            (r#""command": "rm", "args": ["-rf", "x"]"#, &["rm -rf x"]),
            (r#"}, {"command": ["a b", "c"]"#, &["'a b' c"]),
            (
                "[a]\ncommand = 'x'\n[b]\ncommand = \"y\"\nargs = [\"z\"]",
                &["x", "y z"],
            ),
            (
                r#".x = {command: "\u0072m", args: ["${workspaceFolder}/a"]}"#,
                &["rm './a'"],
            ),
            ("the command is: run it; args", &[]),
        ] {
            assert_eq!(commands(text), lines, "{text}");
        }
    }
}
