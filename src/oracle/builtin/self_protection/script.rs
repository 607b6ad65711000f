//! Script: what lies in files that a command takes its instructions from, read and judged.

use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use super::code;
use super::guarded::Guarded;
use super::judgement::Found;
use super::judgement::by_shell;
use crate::shell::Analysis;
use crate::shell::Invocation;
use crate::shell::Stdin;
use crate::shell::Surroundings;
use crate::shell::Word;
use crate::shell::analyse;
use crate::shell::lexical;

/// How deep scripts that run scripts are followed.
const MAX_SCRIPTS: usize = 3;
/// The longest script or patch that is read, in bytes.
const MAX_FILE: u64 = 512 * 1024;

/// A script or a patch that lies on the disk, read and judged.
pub(super) fn find(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
    depth: usize,
) -> Option<Found> {
    if invocation.remote || depth >= MAX_SCRIPTS {
        return None;
    }
    let files = Files {
        guarded,
        analysis,
        dir: invocation.work_dir.as_deref()?,
    };
    let program = invocation.program.as_str();
    let run = |interpreter: &str, text: &str| run_script(&files, interpreter, text, depth);
    let by_variable = invocation
        .environment
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "BASH_ENV" | "ENV"))
        .filter_map(|(_, value)| files.text(&value.text))
        .find_map(|text| run("sh", &text));
    if by_variable.is_some() {
        return by_variable;
    }
    let is_shell = matches!(
        program,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "source" | "." | "eval"
    );
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
        let Stdin::File(word) = &invocation.stdin else {
            return None;
        };
        return run("sh", &files.text(&word.text)?);
    }
    if is_shell || code::is_interpreter(program) {
        let takes_code = program == "eval"
            || ["-c", "-e"]
                .iter()
                .any(|o| invocation.arguments.iter().any(|w| w.text == *o));
        if takes_code {
            let made = invocation.arguments.iter().map(|word| word.made_by.clone());
            let texts = made.flat_map(|range| files.named_by(range));
            return texts
                .into_iter()
                .find_map(|text| run(program_or_shell(program), &text));
        }
        if let Some(word) = invocation.operands().next() {
            if let Some(text) = files.text(&word.text) {
                return run(program, &text);
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
        let (_, path) = invocation
            .environment
            .iter()
            .find(|(name, _)| name == "PATH")?;
        let mut dirs = path.text.split(':');
        dirs.find_map(|dir| files.text(&format!("{dir}/{program}")))?
    };
    let first = text.lines().next().filter(|l| l.starts_with("#!"))?;
    let interpreter = first
        .split(['/', ' '])
        .rfind(|w| !w.is_empty() && !w.starts_with('-'))?;
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
    patch.lines().filter(is_head).find_map(|line| {
        let line = line.to_lowercase();
        code::NAMED
            .iter()
            .find(|name| line.contains(**name))
            .copied()
    })
}

/// The files that a command may take its instructions from.
struct Files<'a> {
    guarded: &'a Guarded<'a>,
    analysis: &'a Analysis,
    dir: &'a Path,
}

impl Files<'_> {
    /// Returns the text of a file, also of one that this command line is only about to copy there.
    fn text(&self, name: &str) -> Option<String> {
        let home = self.guarded.home();
        let path = lexical(name, self.dir, home);
        read(&path).or_else(|| {
            let mut copies = self.analysis.invocations.iter().filter(|i| {
                matches!(
                    i.program.as_str(),
                    "cp" | "mv" | "ln" | "install" | "ditto" | "rsync"
                )
            });
            copies.find_map(|copy| {
                let operands: Vec<&Word> = copy.operands().collect();
                let (target, sources) = operands.split_last()?;
                let target = lexical(&target.text, self.dir, home);
                let source = sources.iter().find(|source| {
                    let source = Path::new(&source.text);
                    target == path || source.file_name().is_some_and(|n| target.join(n) == path)
                })?;
                read(&lexical(&source.text, self.dir, home))
            })
        })
    }

    /// Returns the texts of the files that some invocations name.
    fn named_by(&self, range: Range<usize>) -> Vec<String> {
        let invocations = self.analysis.invocations.get(range).unwrap_or_default();
        let words = invocations
            .iter()
            .flat_map(|invocation| invocation.operands());
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

fn run_script(files: &Files<'_>, interpreter: &str, text: &str, depth: usize) -> Option<Found> {
    // Most scripts name nothing of ours; those are not worth a walk.
    let lower = text.to_lowercase();
    if !code::NAMED.iter().any(|name| lower.contains(name)) && !lower.contains("ahp") {
        return None;
    }
    let surroundings = Surroundings {
        work_dir: files.dir.to_owned(),
        ..files.analysis.surroundings.clone()
    };
    let inner = if interpreter.ends_with("sh") || matches!(interpreter, "source" | ".") {
        analyse(text, surroundings)
    } else {
        analyse(
            &format!("{interpreter} - <<'AHP_END_OF_SCRIPT'\n{text}\nAHP_END_OF_SCRIPT"),
            surroundings,
        )
    };
    let attempt = by_shell(files.guarded, &inner, depth + 1)?;
    Some((
        format!("run a script that would {}", attempt.what),
        attempt.path,
    ))
}

/// Reads a file that is no larger than a script would be.
pub(super) fn read(path: &Path) -> Option<String> {
    let file = fs::File::open(path).ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
