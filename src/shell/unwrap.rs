//! Unwrapping: what a program would run in turn, by its arguments or its input.

use super::command::Call;
use super::container::Container;
use super::destination::is_here;
use super::walk::{Input, Walker};
use super::wrapper::{Rest, Wrapper};
use super::{Invocation, Stdin, Word, inline_code, shebang, wrapper};
use crate::program::{self, Fact};

impl Walker<'_> {
    /// Notes what an invocation would run in turn; returns its output where that is known.
    pub(super) fn unwrap(
        &mut self,
        index: usize,
        invocation: &Invocation,
        input: &Input,
    ) -> Option<String> {
        let program = invocation.program.as_str();
        let arguments = invocation.arguments.as_slice();
        if program::find(program).is(Fact::Evaluates) {
            for word in arguments.iter().filter(|word| word.made_by.is_empty()) {
                self.inside(program, |w| {
                    w.run_index(&word.text);
                    Some(())
                });
            }
        }
        if self.built_in(program, arguments, invocation, input) {
            return None;
        }
        self.run_variables(program, invocation);
        if program::find(program).is(Fact::Shell) {
            return self.inside(program, |w| w.run_shell(index, invocation, input));
        }
        if let Some(language) = inline_code::language(program) {
            self.run_interpreter(index, language, invocation, input);
            if let Some(wrapper) = wrapper::find(program, arguments) {
                self.run_wrapped(wrapper, invocation, input);
            }
            return printed_by(language, invocation);
        }
        if self.run_typed(program, arguments) {
            return None;
        }
        match program {
            "eval" => {
                let text = joined(arguments);
                return self.inside("eval", |w| w.run_word_text(&text, arguments, index, input));
            }
            "xargs" | "gxargs" => return self.inside("xargs", |w| w.run_xargs(invocation)),
            "parallel" => return self.inside("parallel", |w| w.run_parallel(invocation)),
            "bfs" | "find" | "gfind" => return self.inside("find", |w| w.run_find(invocation)),
            "fd" | "fdfind" => return self.inside("fd", |w| w.run_fd(invocation)),
            "env" => {
                if let Some(text) = invocation.value_of(&["-S", "--split-string"]) {
                    return self.inside("env", |w| w.run_text(&text.text, input));
                }
            }
            "at" | "batch" => {
                if let Stdin::Text(text) = &input.stdin {
                    return self.inside(program, |w| w.run_text(text, &Input::default()));
                }
            }
            "crontab" => {
                if let Stdin::Text(text) = &input.stdin {
                    let commands = crontab_commands(text);
                    return self.inside(program, |w| w.run_text(&commands, &Input::default()));
                }
            }
            "su" if invocation.value_of(&["-c", "--command"]).is_none() => {
                if let Stdin::Text(text) = &input.stdin {
                    return self.inside("su", |w| w.run_text(text, &Input::default()));
                }
            }
            "java" => {
                if let Some(words) = jar(arguments) {
                    let call = Call {
                        words,
                        input: input.clone(),
                        ..Call::default()
                    };
                    return self.inside("java", |w| w.dispatch(call));
                }
            }
            "tmux" => self.run_tmux(arguments),
            "make" | "gmake" | "just" => self.run_make(invocation, input),
            "bun" | "npm" | "pnpm" | "yarn" => self.run_scripts(program),
            _ => {}
        }
        if !program.is_empty() {
            self.run_shell_options(program, invocation);
        }
        // What was written into a file on this line and is then run.
        if invocation.path.text.contains('/')
            && let Some(text) = self.written_text(&invocation.path)
        {
            self.follow(&invocation.path);
            return self.run_written(invocation, &text, input);
        }
        if matches!(program, "command")
            && arguments
                .first()
                .is_some_and(|w| matches!(w.text.as_str(), "-v" | "-V"))
        {
            return None;
        }
        match wrapper::find(program, arguments) {
            Some(wrapper) => self.run_wrapped(wrapper, invocation, input),
            None if program::find(program).is_known() => None,
            None => self.run_named(invocation, input),
        }
    }

    /// Runs a script that this line has written, as its first line says: the program there is given the rest of that line as one
    /// word, and the script's name.
    fn run_written(&mut self, script: &Invocation, text: &str, input: &Input) -> Option<String> {
        let by = shebang(text).filter(|(by, _)| program::find(by).is_known());
        let Some((_, own)) = by else {
            return self.inside(&script.program, |w| {
                w.run_process(text, &script.arguments, input)
            });
        };
        let own: Vec<Word> = own.map(Word::plain).collect();
        let words = [own, vec![script.path.clone()], script.arguments.clone()].concat();
        self.run_words(&script.program, words, input)
    }

    /// Runs what a program may be given to run of which is not known how it takes it: `launch -n 2 git push --force`.
    fn run_named(&mut self, invocation: &Invocation, input: &Input) -> Option<String> {
        let arguments = invocation.arguments.as_slice();
        let at = arguments.iter().enumerate().position(|(at, word)| {
            let known = program::find(&word.text);
            let may_be = known.is(Fact::MayBe) || known.is(Fact::Shell);
            // A subcommand may have the name of a program, and is then hardly given its options.
            let is_given = arguments.get(at + 1).is_some_and(Word::is_option);
            may_be && (is_given || !matches!(word.text.as_str(), "rm" | "chmod" | "chown"))
        })?;
        let words = arguments.get(at..).unwrap_or_default().to_vec();
        self.run_words(&invocation.program, words, input)
    }

    /// Runs what a program starts with its own input.
    pub(super) fn run_words(
        &mut self,
        by: &str,
        words: Vec<Word>,
        input: &Input,
    ) -> Option<String> {
        let call = Call {
            words,
            input: input.clone(),
            ..Call::default()
        };
        self.inside(by, |w| w.dispatch(call))
    }

    pub(super) fn inside<T>(
        &mut self,
        program: &str,
        run: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.wrappers.push(program.to_owned());
        let output = self.deeper(run).flatten();
        self.wrappers.pop();
        output
    }

    fn run_wrapped(
        &mut self,
        wrapper: Wrapper,
        invocation: &Invocation,
        input: &Input,
    ) -> Option<String> {
        let mut environment = invocation.environment.clone();
        let arguments = invocation.arguments.as_slice();
        // What follows the image is the container's own, an option too.
        let starts_container = program::find(&invocation.program).is(Fact::Mounts);
        let mut i = 0;
        for wanted in wrapper.subcommands() {
            i = arguments.iter().position(|a| a.text == wanted)? + 1;
        }
        if wrapper.rest == Rest::AfterDashes {
            let at = arguments.iter().position(|a| wrapper.ends_at(&a.text));
            i = at.map_or(arguments.len(), |at| at + 1);
        } else {
            let mut own = wrapper.own;
            while let Some(word) = arguments.get(i) {
                if word.text == "--" {
                    i += 1;
                    if own == 0 {
                        break;
                    }
                } else if own == 0 && (starts_container || !wrapper.by.is_empty()) {
                    break;
                } else if word.is_option() {
                    i += wrapper.length(&word.text);
                } else if wrapper.assignments
                    && word
                        .text
                        .split_once('=')
                        .is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
                {
                    if let Some((name, value)) = word.text.split_once('=') {
                        let value = word.with_text(value);
                        environment.push((name.to_owned(), value));
                    }
                    i += 1;
                } else if own > 0 {
                    own -= 1;
                    i += 1;
                } else {
                    break;
                }
            }
        }
        let mut rest = arguments.get(i..).unwrap_or_default().to_vec();
        if starts_container
            && let Some(entry) = invocation.value_of(&["--entrypoint"])
            && !entry.text.is_empty()
        {
            rest.insert(0, entry);
        }
        if !wrapper.by.is_empty() {
            rest.insert(0, invocation.value_of(&[wrapper.by])?);
        }
        if rest.is_empty() && !(wrapper.opens_shell && input.stdin.text().is_some()) {
            return match wrapper.rest {
                Rest::AfterDashes => self.run_named(invocation, input),
                _ => None,
            };
        }
        let image = i.checked_sub(1).and_then(|at| arguments.get(at));
        let client = image.and_then(|image| wrapper.client_of_image(&image.text));
        let own = arguments.get(..i).unwrap_or_default();
        let client = client.or_else(|| wrapper.packaged(own));
        let remote = self.remote;
        self.remote |= wrapper.remote && !leads_back(&invocation.program, own);
        let saved = wrapper.remote.then(|| {
            let container = self.container.take();
            (self.scope.clone(), container)
        });
        if wrapper.remote
            && let Some(container) = Container::of(invocation, own)
        {
            self.scope.work_dir.clone_from(&container.starts_in);
            self.container = Some(container);
        }
        if let Some(client) = client {
            let words = std::iter::once(Word::plain(client)).chain(rest.iter().cloned());
            let words = words.collect();
            self.inside(&invocation.program, |w| w.dispatch_words(words));
        }
        // What starts elsewhere than the shell stands: `env -C folder`.
        let stood = chdir(invocation, own).map(|dir| {
            let stood = self.scope.work_dir.clone();
            self.change_dir(&[dir]);
            stood
        });
        let output = self.inside(&invocation.program, |w| match wrapper.rest {
            _ if rest.is_empty() => w.run_text(input.stdin.text()?, &Input::default()),
            Rest::Command | Rest::AfterDashes => w.dispatch(Call {
                words: rest,
                input: input.clone(),
                redirects: Vec::new(),
                environment,
            }),
            Rest::Text => w.run_text(&joined(&rest), input),
            Rest::Texts => {
                for word in &rest {
                    w.run_text(&word.text, &Input::default());
                }
                None
            }
        });
        if let Some(dir) = stood {
            self.scope.work_dir = dir;
        }
        if let Some((scope, container)) = saved {
            self.scope = scope;
            self.container = container;
        }
        self.remote = remote;
        output
    }

    fn run_tmux(&mut self, arguments: &[Word]) {
        let command = arguments.iter().position(|w| !w.is_option()).unwrap_or(0);
        let rest = arguments.get(command + 1..).unwrap_or_default();
        let mut skip = false;
        for word in rest {
            let is_value = std::mem::replace(
                &mut skip,
                matches!(
                    word.text.as_str(),
                    "-t" | "-s" | "-n" | "-c" | "-x" | "-y" | "-F"
                ),
            );
            if !is_value && !word.is_option() && word.text.contains([' ', '/']) {
                let text = word.text.clone();
                self.inside("tmux", |w| {
                    let saved = w.scope.clone();
                    w.run_text(&text, &Input::default());
                    w.scope = saved;
                    Some(())
                });
            }
        }
    }
}

/// Returns what `java -jar` runs, where its archive is a well-known program: `bfg-1.14.0.jar`.
fn jar(arguments: &[Word]) -> Option<Vec<Word>> {
    let at = arguments.iter().position(|w| w.text == "-jar")?;
    let (archive, rest) = arguments.get(at + 1..)?.split_first()?;
    let name = super::invocation::base_name(&archive.text);
    let program = program::all(Fact::Jar).find(|jar| name.starts_with(jar))?;
    let words = std::iter::once(Word::plain(program)).chain(rest.iter().cloned());
    Some(words.collect())
}

/// Returns what an interpreter prints whose code does nothing else.
fn printed_by(language: inline_code::Language, invocation: &Invocation) -> Option<String> {
    let code = invocation.arguments.last().filter(|w| !w.dynamic)?;
    inline_code::printed(language, &code.text)
}

/// Returns the directory in which `env` starts a program.
fn chdir(wrapper: &Invocation, own: &[Word]) -> Option<Word> {
    if wrapper.program != "env" {
        return None;
    }
    let at = own
        .iter()
        .position(|word| word.text.starts_with("-C") || word.text.starts_with("--chdir"))?;
    let option = own.get(at)?;
    let behind = option
        .text
        .strip_prefix("--chdir=")
        .or(option.text.strip_prefix("-C"));
    match behind.filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(option.with_text(dir)),
        None => own.get(at + 1).cloned(),
    }
}

/// Whether a wrapper that leads to another machine leads to this one, by its own words.
fn leads_back(program: &str, own: &[Word]) -> bool {
    let is_own = |word: &Word| {
        let host = word.text.strip_prefix("ssh://").unwrap_or(&word.text);
        is_here(host) || host == "::1"
    };
    program == "ssh" && own.iter().any(is_own)
}

/// Returns the commands of crontab lines.
fn crontab_commands(text: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .map(|line| {
            let skip = if line.trim_start().starts_with('@') {
                1
            } else {
                5
            };
            line.split_whitespace()
                .skip(skip)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn joined(words: &[Word]) -> String {
    words
        .iter()
        .map(|w| w.text.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}
