//! Script: what lies in files that a command takes its instructions from, read and judged.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::code;
use super::found::{Found, act};
use super::judged::Judged;
use super::judgement::Judge;
use super::spelling::named;
use crate::glob::shell_glob;
use crate::program;
use crate::program::Fact;
use crate::search::read;
use crate::shell::{Invocation, Stdin, Surroundings, Word, analyse, lexical, may_list, shebang};

/// How deep scripts that run scripts are followed.
const MAX_SCRIPTS: usize = 3;

/// Words of shell scripts that look for files.
const LOOKS: &[&str] = &[" .*", " .?", " .[", "find", "fd", "xargs"];

/// How many files are read that a pattern names.
const MAX_MATCHES: usize = 32;

/// A script or a patch that lies on the disk, read and judged.
pub(super) fn find(invocation: &Judged<'_>, depth: usize, judge: Judge) -> Option<Found> {
    if invocation.remote {
        return None;
    }
    let files = Files {
        invocation,
        dir: invocation.work_dir.as_deref()?,
    };
    let program = invocation.program.as_str();
    let run = |interpreter: &str, text: &str| run_script(&files, interpreter, text, (depth, judge));
    let by_variable = invocation
        .environment
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "BASH_ENV" | "ENV"))
        .filter_map(|(_, value)| files.text(&value.text))
        .find_map(|text| run("sh", &text));
    if by_variable.is_some() {
        return by_variable;
    }
    let is_shell =
        program::find(program).is(Fact::Shell) || matches!(program, "source" | "." | "eval");
    if program == "patch" || is_git_apply(invocation) {
        let named = files
            .read_by(invocation)
            .into_iter()
            .chain(
                invocation
                    .operands()
                    .filter_map(|word| files.text(&word.text)),
            )
            .find_map(|patch| in_patch(&patch))?;
        return Some((format!("apply a patch to `{named}`"), None));
    }
    if matches!(program, "xargs" | "gxargs" | "parallel") {
        // Lines of a file become arguments, or whole commands.
        let stdin = match &invocation.stdin {
            Stdin::File(word) => Some(word.clone()),
            _ => None,
        };
        let mut behind = invocation.arguments.iter();
        let marked = behind.find(|word| word.text == "::::").and(behind.next());
        let named = invocation.value_of(&["-a", "--arg-file"]);
        let mut lists = stdin.into_iter().chain(named).chain(marked.cloned());
        return lists.find_map(|word| run("sh", &files.text(&word.text)?));
    }
    if matches!(program, "at" | "batch") {
        return files
            .read_by(invocation)
            .iter()
            .find_map(|text| run("sh", text));
    }
    if invocation.path.dynamic {
        // A line of a file is the command: `$(tail -1 FILE)`, `while read -r line; do $line; done < FILE`.
        let made = files.named_by(invocation.path.made_by.clone());
        let stdin = match &invocation.stdin {
            Stdin::File(word) => files.text(&word.text),
            _ => None,
        };
        return made.iter().chain(&stdin).find_map(|text| run("sh", text));
    }
    if is_shell || code::is_interpreter(program) {
        let takes_code = program == "eval" || code::takes_code(invocation);
        if takes_code {
            let made = invocation.arguments.iter().map(|word| word.made_by.clone());
            let texts = made.flat_map(|range| files.named_by(range));
            return texts
                .into_iter()
                .find_map(|text| run(program_or_shell(program), &text));
        }
        // What an editor or a console is given is not a script.
        let is_given_scripts = is_shell || program::find(program).is(Fact::Language);
        if let Some(word) = invocation.operands().next().filter(|_| is_given_scripts) {
            let texts = files.texts(word);
            if !texts.is_empty() {
                return texts.iter().find_map(|text| run(program, text));
            }
            let texts = files.named_by(word.made_by.clone());
            return texts.iter().find_map(|text| run(program, text));
        }
        return files
            .read_by(invocation)
            .iter()
            .find_map(|text| run(program, text));
    }
    let text = if invocation.path.text.contains('/') {
        files.text(&invocation.path.text)?
    } else {
        // A search path of its own may lead to a script of the project.
        let own = invocation.environment.iter();
        let (_, path) = own
            .chain(&invocation.analysis.assignments)
            .find(|(name, _)| name == "PATH")?;
        let mut dirs = path.text.split(':').filter(|dir| !dir.starts_with('$'));
        dirs.find_map(|dir| files.text(&format!("{dir}/{program}")))?
    };
    let (interpreter, _) = shebang(&text)?;
    run(interpreter, &text)
}

fn program_or_shell(program: &str) -> &str {
    if program == "eval" { "sh" } else { program }
}

/// Whether git would put a patch on the files, and not merely look at it.
fn is_git_apply(invocation: &Invocation) -> bool {
    let mut operands = invocation.operands();
    let looks = ["--stat", "--numstat", "--summary", "--check"];
    invocation.program == "git"
        && operands
            .next()
            .is_some_and(|w| matches!(w.text.as_str(), "apply" | "am"))
        && !invocation
            .arguments
            .iter()
            .any(|w| looks.contains(&w.text.as_str()))
}

/// Returns what is guarded and is named by the head lines of a patch.
fn in_patch(patch: &str) -> Option<&'static str> {
    let is_head = |line: &&str| {
        ["+++ ", "--- ", "rename ", "diff --git"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    patch.lines().filter(is_head).find_map(named)
}

/// The files that a command may take its instructions from.
struct Files<'a> {
    invocation: &'a Judged<'a>,
    dir: &'a Path,
}

impl Files<'_> {
    /// Returns the text of a file, with what this command line is only about to copy there.
    fn text(&self, name: &str) -> Option<String> {
        let path = self.place(name);
        let copies = self.invocation.all();
        let texts = read(&path)
            .into_iter()
            .chain(copies.flat_map(|copy| self.copied(copy, &path)));
        texts.reduce(|text, more| format!("{text}\n{more}"))
    }

    fn place(&self, name: &str) -> PathBuf {
        lexical(name, self.dir, self.invocation.guarded.home())
    }

    /// Returns what a program copies to a file, or prints into it of other files.
    fn copied(&self, copy: &Invocation, path: &Path) -> Vec<String> {
        let operands: Vec<&Word> = copy.operands().collect();
        let is_copy = matches!(
            copy.program.as_str(),
            "cp" | "mv" | "ln" | "install" | "ditto" | "rsync"
        );
        let mut outputs = copy.redirects.iter().filter(|r| r.takes_output());
        let sources = if outputs.any(|redirect| self.place(&redirect.target.text) == *path) {
            operands
        } else if let Some((target, sources)) = operands.split_last().filter(|_| is_copy) {
            let target = self.place(&target.text);
            let is_source = |source: &&&Word| {
                let source = Path::new(&source.text);
                target == *path || source.file_name().is_some_and(|n| target.join(n) == *path)
            };
            sources.iter().filter(is_source).copied().collect()
        } else {
            Vec::new()
        };
        let texts = sources.into_iter();
        texts
            .filter_map(|source| read(&self.place(&source.text)))
            .collect()
    }

    /// Returns the texts of the files that a word names, as a pattern too.
    fn texts(&self, word: &Word) -> Vec<String> {
        if !word.text.contains(['*', '?', '[']) {
            return self.text(&word.text).into_iter().collect();
        }
        let path = lexical(&word.text, self.dir, self.invocation.guarded.home());
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Vec::new();
        };
        let name = name.to_string_lossy();
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries
            .filter(|entry| shell_glob(name.as_ref(), entry.file_name().to_string_lossy().as_ref()))
            .take(MAX_MATCHES)
            .filter_map(|entry| read(&entry.path()))
            .collect()
    }

    /// Returns the texts of the files that some invocations name or open.
    fn named_by(&self, range: Range<usize>) -> Vec<String> {
        let invocations = self
            .invocation
            .analysis
            .invocations
            .get(range)
            .unwrap_or_default();
        let words = invocations.iter().flat_map(|invocation| {
            let opened = invocation.redirects.iter().filter(|r| r.reads());
            invocation.operands().chain(opened.map(|r| &r.target))
        });
        words.filter_map(|word| self.text(&word.text)).collect()
    }

    /// Returns what a program reads, as far as it comes from files.
    fn read_by(&self, invocation: &Invocation) -> Vec<String> {
        match &invocation.stdin {
            Stdin::File(word) => self.text(&word.text).into_iter().collect(),
            Stdin::Text(text) => vec![text.clone()],
            Stdin::Pipe | Stdin::Inherited => self.named_by(invocation.fed_by.clone()),
        }
    }
}

fn run_script(
    files: &Files<'_>,
    interpreter: &str,
    text: &str,
    (depth, judge): (usize, Judge),
) -> Option<Found> {
    // Most scripts neither name what is ours nor look for files; those are not worth a walk.
    let lower = text.to_lowercase();
    let names = lower.contains("ahp") || named(text).is_some();
    if !names && !may_list(&lower) && !LOOKS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let script = (
        interpreter.to_owned(),
        text.to_owned(),
        files.dir.to_owned(),
    );
    let inner = files
        .invocation
        .guarded
        .analysed(script, |(interpreter, text, dir)| {
            let surroundings = Surroundings {
                work_dir: dir.clone(),
                ..files.invocation.analysis.surroundings.clone()
            };
            if interpreter.ends_with("sh") || matches!(interpreter.as_str(), "source" | ".") {
                return analyse(text, surroundings);
            }
            let line = format!("{interpreter} - <<'AHP_END_OF_SCRIPT'\n{text}\nAHP_END_OF_SCRIPT");
            analyse(&line, surroundings)
        });
    // Scripts that start one another without end are not followed to it.
    if depth >= MAX_SCRIPTS {
        return Some(act("run scripts that start more scripts than are followed"));
    }
    let attempt = judge(files.invocation.guarded, &inner, text, depth + 1)?;
    Some((
        format!("run a script that would {}", attempt.what),
        attempt.path,
    ))
}
