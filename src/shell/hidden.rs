//! Hidden commands: what options, settings and variables of a program make it run.

use super::inline_code::LINE;
use super::reading::is_run_setting;
use super::walk::{Input, Walker};
use super::wrapper::values_of_cluster;
use super::{Invocation, Stdin, Word, sed};
use crate::program::{self, Fact};
use crate::shell_word::quoted_where_needed;

/// Returns the command of an address `ext::sh -c rm% x`, in which `% ` is a space inside a word.
fn external_transport(address: &str) -> String {
    let words: Vec<String> = address
        .replace("% ", "\u{1}")
        .split(' ')
        .map(|word| match word.replace('\u{1}', " ") {
            spaced if spaced.contains(' ') && !spaced.contains('\'') => format!("'{spaced}'"),
            word => word,
        })
        .collect();
    words.join(" ")
}

/// Returns the words that git hands on to an alias: those behind its name, each as one word.
fn words_behind(git: &Invocation, alias: &str) -> String {
    let at = |command: &Word| {
        let mut words = git.arguments.iter();
        words.position(|word| std::ptr::eq(word, command))
    };
    let command = git.subcommand().filter(|command| command.text == alias);
    let behind = command
        .and_then(at)
        .and_then(|at| git.arguments.get(at + 1..));
    let words = behind.unwrap_or_default().iter().map(|word| {
        let is_open = word.dynamic || word.glob;
        let text = || quoted_where_needed(&word.text);
        format!(" {}", if is_open { word.text.clone() } else { text() })
    });
    words.collect::<Vec<_>>().concat()
}

/// Whether a program runs the value of a variable.
fn is_run(variable: &str) -> bool {
    program::find("*").lists(Fact::RunsVariables, variable)
}

impl Walker<'_> {
    /// Runs the options that hold text for a shell, and what hides in settings of git and editors.
    pub(super) fn run_shell_options(&mut self, program: &str, invocation: &Invocation) {
        let mut texts: Vec<String> = Vec::new();
        let known = program::find(program);
        let mut options = known.words(Fact::RunsValues).peekable();
        if options.peek().is_some() {
            let is_meant = match program {
                "git" => invocation.has_word(&[
                    "rebase",
                    "filter-branch",
                    "clone",
                    "fetch",
                    "pull",
                    "push",
                ]),
                "cargo" => invocation.has_word(&["watch"]),
                // Other modules take settings, not commands.
                "ansible" => invocation
                    .value_of(&["-m", "--module-name"])
                    .is_none_or(|m| matches!(m.text.as_str(), "shell" | "command" | "raw")),
                _ => true,
            };
            if is_meant {
                texts.extend(
                    options
                        .flat_map(|option| values_of_cluster(&invocation.arguments, option))
                        .map(|w| w.text),
                );
            }
        }
        let starts = known.words(Fact::RunsBehind);
        let starts: Vec<String> = starts.map(|start| start.replace('_', " ")).collect();
        texts.extend(invocation.texts().filter_map(|text| {
            let behind = |start: &String| text.strip_prefix(start.as_str());
            starts.iter().find_map(behind).map(str::to_owned)
        }));
        let mut before = "";
        for word in &invocation.arguments {
            let text = word.text.as_str();
            let name = std::mem::replace(&mut before, text);
            match program {
                "tar" | "gtar" | "bsdtar" => {
                    texts.extend(text.split_once("=exec=").map(|(_, t)| t.to_owned()));
                }
                "git" => {
                    let value = text
                        .split_once("=!")
                        .filter(|(name, _)| name.contains('.'))
                        .map(|(_, t)| t.to_owned());
                    let hidden = text
                        .split_once('=')
                        .filter(|(name, _)| is_run_setting(name))
                        .or_else(|| is_run_setting(name).then_some((name, text)))
                        .map(|(_, t)| t.trim_start_matches('!').to_owned());
                    // An alias is a command of git, or begins with an exclamation mark.
                    let given = match text.split_once('=') {
                        Some((name, text)) if name.starts_with("alias.") => Some((name, text)),
                        _ => name.starts_with("alias.").then_some((name, text)),
                    };
                    let alias = given.map(|(name, text)| {
                        let behind = words_behind(invocation, name.trim_start_matches("alias."));
                        match text.strip_prefix('!') {
                            Some(command) => format!("{command}{behind}"),
                            None => format!("git {text}{behind}"),
                        }
                    });
                    texts.extend(text.strip_prefix("ext::").map(external_transport));
                    texts.extend(alias.or(value).or(hidden));
                }
                "vim" | "vi" | "nvim" | "ex" | "view" | "gvim" => {
                    let bare = text.trim_start_matches(['+', ':']);
                    // `silent !command` and `%!command`, but neither `wq!` nor `w! file`.
                    let is_modifier = |before: &str| {
                        matches!(
                            before.trim(),
                            "" | "%" | "." | "silent" | "silent!" | "exe" | "r"
                        )
                    };
                    let command = bare
                        .rsplit_once('!')
                        .filter(|(before, _)| is_modifier(before));
                    texts.extend(command.map(|(_, text)| text.to_owned()));
                    // `w !command` gives it what the editor holds.
                    let takes = bare
                        .rsplit_once("w !")
                        .or_else(|| bare.rsplit_once("write !"));
                    if let Some((_, taker)) = takes {
                        let input = Input {
                            stdin: Stdin::Pipe,
                            fed_by: invocation.fed_by.clone(),
                        };
                        self.inside(program, |w| w.run_text(taker, &input));
                    }
                    let given = |call: &str| {
                        let (_, rest) = bare.split_once(call)?;
                        let rest = rest.trim_start_matches("expand(");
                        rest.trim_start_matches(['"', '\''])
                            .split(['"', '\''])
                            .next()
                    };
                    texts.extend(given("system(").map(str::to_owned));
                    texts.extend(given("delete(").map(|path| format!("rm -rf {path}")));
                }
                "gh" if name != "-b" && name != "--body" => {
                    texts.extend(text.strip_prefix('!').map(str::to_owned));
                }
                "npm" => texts.extend(
                    text.strip_prefix("scripts.")
                        .and_then(|setting| setting.split_once('='))
                        .map(|(_, script)| script.to_owned()),
                ),
                "emacs" | "emacsclient" => texts.extend(
                    text.split_once("shell-command \"")
                        .and_then(|(_, t)| t.split('"').next())
                        .map(str::to_owned),
                ),
                _ => break,
            }
        }
        if matches!(program, "sed" | "gsed") {
            let script = sed::scripts(invocation);
            if script.runs_input {
                let made = script.made_of(LINE);
                self.run_made(invocation, vec![made]);
            }
            texts.extend(script.runs);
        }
        if program == "split" {
            texts.extend(invocation.value_of(&["--filter"]).map(|w| w.text));
        }
        if matches!(program, "ed" | "ftp" | "sftp" | "lftp" | "telnet")
            && let Stdin::Text(text) = &invocation.stdin
        {
            texts.extend(
                text.lines()
                    .filter_map(|line| line.trim_start().strip_prefix('!'))
                    .map(str::to_owned),
            );
        }
        self.run_aside(program, texts);
    }

    /// Runs the variables that a program is given and whose value it runs.
    pub(super) fn run_variables(&mut self, program: &str, invocation: &Invocation) {
        let set = invocation.environment.iter();
        let texts = set
            .filter(|(name, _)| is_run(name))
            .map(|(_, value)| value.text.trim_start_matches('|').to_owned());
        self.run_aside(program, texts.collect());
    }

    /// Runs what a lasting assignment makes every later command run.
    pub(super) fn run_lasting_variable(&mut self, name: &str, value: &str) {
        if is_run(name) {
            self.run_aside(name, vec![value.trim_start_matches('|').to_owned()]);
        }
    }

    /// Runs texts that a program gives to a shell of its own.
    pub(super) fn run_aside(&mut self, program: &str, texts: Vec<String>) {
        for text in texts {
            self.inside(program, |w| {
                w.run_apart(&text);
                Some(())
            });
        }
    }
}
