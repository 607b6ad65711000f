//! Script: what lies in files that a command takes its instructions from, read and judged.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::code;
use super::found::{Attempt, Found, act};
use super::judged::{Judged, Line};
use super::spelling::named;
use crate::guard::entries_named;
use crate::program::Fact;
use crate::search::read;
use crate::shell::{Invocation, Stdin, Surroundings, Word, analyse, lexical, may_list, shebang};
use crate::words::{holds_any, words};

/// What judges a command line, or a script, which lies so deep in others.
pub(super) type Judge = fn(&Line<'_>, usize) -> Option<Attempt>;

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
    let variables = invocation.environment.iter();
    let variables = variables.filter(|(name, _)| matches!(name.as_str(), "BASH_ENV" | "ENV"));
    let run = |interpreter: &str, text: &str| run_script(&files, interpreter, text, (depth, judge));
    let mut by_variable = variables.filter_map(|(_, value)| files.text(&value.text));
    by_variable.find_map(|text| run("sh", &text)).or_else(|| {
        let is_patch = invocation.program == "patch" && !invocation.only_reads();
        if is_patch || is_git_apply(invocation) {
            let named = invocation.operands();
            let named = named.filter_map(|word| files.text(&word.text));
            let mut patches = files.read().into_iter().chain(named);
            let named = patches.find_map(|patch| in_patch(&patch))?;
            return Some((format!("apply a patch to `{named}`"), None));
        }
        let (interpreter, texts) = files.scripts();
        texts.iter().find_map(|text| match interpreter {
            Some(interpreter) => run(interpreter, text),
            None => run(shebang(text)?.0, text),
        })
    })
}

/// Whether git would put a patch on the files, and not merely look at it.
fn is_git_apply(invocation: &Judged<'_>) -> bool {
    invocation.program == "git"
        && matches!(invocation.first(), "apply" | "am")
        && !invocation.has_word(&["--stat", "--numstat", "--summary", "--check"])
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
    /// Returns the texts of files that the program runs, and what takes them; where nothing is told of that, their first line
    /// does.
    fn scripts(&self) -> (Option<&str>, Vec<String>) {
        let invocation = self.invocation;
        let program = invocation.program.as_str();
        let stdin = match &invocation.stdin {
            Stdin::File(word) => Some(word),
            _ => None,
        };
        let is_shell = invocation.own().is(Fact::Shell) || matches!(program, "source" | ".");
        match program {
            // Lines of a file become arguments, or whole commands.
            "xargs" | "gxargs" | "parallel" => {
                let mut behind = invocation.arguments.iter();
                let marked = behind.find(|word| word.text == "::::").and(behind.next());
                let named = invocation.value_of(&["-a", "--arg-file"]);
                let lists = stdin.into_iter().chain(&named).chain(marked);
                let texts = lists.filter_map(|word| self.text(&word.text));
                (Some("sh"), texts.collect())
            }
            "at" | "batch" => (Some("sh"), self.read()),
            // A line of a file is the command: `$(tail -1 FILE)`, `while read -r line; do $line; done < FILE`.
            _ if invocation.path.dynamic => {
                let mut texts = self.named_by(&invocation.path.made_by);
                texts.extend(stdin.and_then(|word| self.text(&word.text)));
                (Some("sh"), texts)
            }
            "eval" => (Some("sh"), self.made()),
            // The line may write such a file first.
            _ if words!("file-list-programs").contains(&program) && !invocation.has_short('d') => {
                let files = invocation.operands().flat_map(|word| self.texts(word));
                let of_line = invocation.analysis.texts().map(str::to_owned);
                (Some(program), files.chain(of_line).collect())
            }
            _ if is_shell || code::is_interpreter(invocation) => {
                // What an editor or a console is given is not a script.
                let is_given = is_shell || invocation.own().is(Fact::Language);
                let texts = match invocation.operands().next() {
                    _ if code::takes_code(invocation) => self.made(),
                    Some(word) if is_given => match self.texts(word) {
                        texts if texts.is_empty() => self.named_by(&word.made_by),
                        texts => texts,
                    },
                    _ => self.read(),
                };
                (Some(program), texts)
            }
            _ if invocation.path.text.contains('/') => {
                let text = self.text(&invocation.path.text);
                (None, text.into_iter().collect())
            }
            // A search path of its own may lead to a script of the project.
            _ => {
                let own = invocation.environment.iter();
                let mut set = own.chain(&invocation.analysis.assignments);
                let path = set.find(|(name, _)| name == "PATH");
                let dirs = path.iter().flat_map(|(_, path)| path.text.split(':'));
                let mut dirs = dirs.filter(|dir| !dir.starts_with('$'));
                let text = dirs.find_map(|dir| self.text(&format!("{dir}/{program}")));
                (None, text.into_iter().collect())
            }
        }
    }

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
        let path = self.place(&word.text);
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Vec::new();
        };
        entries_named(dir, &name.to_string_lossy())
            .take(MAX_MATCHES)
            .filter_map(|entry| read(&entry.path()))
            .collect()
    }

    /// Returns the texts of the files that some invocations name or open.
    fn named_by(&self, range: &Range<usize>) -> Vec<String> {
        let words = self.invocation.makers(range).iter().flat_map(|invocation| {
            let opened = invocation.redirects.iter().filter(|r| r.reads());
            invocation.operands().chain(opened.map(|r| &r.target))
        });
        words.filter_map(|word| self.text(&word.text)).collect()
    }

    /// Returns the texts of the files of which its words are made.
    fn made(&self) -> Vec<String> {
        let words = self.invocation.arguments.iter();
        words
            .flat_map(|word| self.named_by(&word.made_by))
            .collect()
    }

    /// Returns what the program reads, as far as it comes from files.
    fn read(&self) -> Vec<String> {
        match &self.invocation.stdin {
            Stdin::File(word) => self.text(&word.text).into_iter().collect(),
            Stdin::Text(text) => vec![text.clone()],
            Stdin::Pipe | Stdin::Inherited => self.named_by(&self.invocation.fed_by),
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
    if !names && !may_list(&lower) && !holds_any(&lower, LOOKS) {
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
    let attempt = judge(&Line::of(files.invocation.guarded, &inner, text), depth + 1)?;
    Some((
        format!("run a script that would {}", attempt.what),
        attempt.path,
    ))
}
