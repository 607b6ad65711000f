//! Scripts: the files that a command line would run.

use std::path::{Path, PathBuf};

use super::{Invocation, Stdin, Surroundings, Word, analyse, lexical};
use crate::program;
use crate::program::Fact;

/// Programs that run what a file of theirs says, each with the names under which it looks for it.
const RECIPES: &[(&str, &[&str])] = &[
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("invoke", &["tasks.py"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("nox", &["noxfile.py"]),
    ("rake", &["Rakefile", "rakefile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("tox", &["tox.ini"]),
];

/// The files that a command line would run; each path may or may not be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// Programs that are named by a path, and what interpreters are given.
    pub(crate) run: Vec<PathBuf>,
    /// What `make` and its kind take their commands from.
    pub(crate) recipes: Vec<PathBuf>,
}

/// Returns the files that a command line would run.
pub(crate) fn scripts(command: &str, surroundings: &Surroundings) -> Scripts {
    let analysis = analyse(command, surroundings.clone());
    let mut found = Scripts::default();
    for invocation in analysis.invocations.iter().filter(|i| !i.remote) {
        let dir = invocation.work_dir.as_deref();
        let dir = dir.unwrap_or(&surroundings.work_dir);
        found.run.extend(run_by(invocation, surroundings));
        found.recipes.extend(recipes(invocation, dir));
    }
    found.run.sort_unstable();
    found.run.dedup();
    found
}

/// Returns the files that one program would run: itself where it is named by a path, and what an interpreter is given.
pub(crate) fn run_by(invocation: &Invocation, surroundings: &Surroundings) -> Vec<PathBuf> {
    let dir = invocation.work_dir.as_deref();
    let dir = dir.unwrap_or(&surroundings.work_dir);
    let paths = |word: &Word| paths_of(word, dir, surroundings);
    let mut found = Vec::new();
    if invocation.path.text.contains('/') {
        found.extend(paths(&invocation.path));
    }
    if let Stdin::File(word) = &invocation.stdin
        && takes_script(invocation)
    {
        found.extend(paths(word));
    }
    found.extend(given(invocation).flat_map(paths));
    found
}

fn takes_script(invocation: &Invocation) -> bool {
    let known = program::find(&invocation.program);
    known.is(Fact::Shell)
        || known.is(Fact::Language)
        || matches!(
            invocation.program.as_str(),
            "." | "source" | "tsx" | "ts-node"
        )
}

/// Returns what an interpreter is given as its script: the first word that is not an option, and the one behind it where the
/// first can be an option's value.
fn given(invocation: &Invocation) -> impl Iterator<Item = &Word> {
    let known = program::find(&invocation.program);
    let is_code = |word: &Word| {
        known.lists(Fact::Code, &word.text) || matches!(word.text.as_str(), "-c" | "-m" | "-")
    };
    let takes = takes_script(invocation) && !invocation.before_dashes().any(is_code);
    let takes_value = invocation.arguments.first().is_some_and(Word::is_option);
    let is_name = |word: &&Word| word.text.contains(['/', '.']);
    let mut words = invocation.operands();
    let first = words.next().filter(|_| takes);
    let second = words.next().filter(|_| takes && takes_value);
    first.into_iter().chain(second.filter(is_name))
}

/// Returns where a word may lead: behind a variable that nobody knows here, from the project's root and the directory.
fn paths_of(word: &Word, dir: &Path, surroundings: &Surroundings) -> Vec<PathBuf> {
    let text = word.text.as_str();
    let lexical = |text: &str, dir: &Path| lexical(text, dir, surroundings.home.as_deref());
    let rest = text.strip_prefix('$').and_then(|unknown| {
        let end = match unknown.chars().next() {
            Some('{') => unknown.find("}/")? + 1,
            Some('(') => unknown.rfind(")/")? + 1,
            _ => unknown.find('/')?,
        };
        unknown.get(end + 1..)
    });
    match rest {
        Some(rest) => vec![
            lexical(rest, &surroundings.project_root),
            lexical(rest, dir),
        ],
        None => vec![lexical(text, dir)],
    }
}

fn recipes(invocation: &Invocation, dir: &Path) -> Vec<PathBuf> {
    let program = invocation.program.as_str();
    let Some((_, names)) = RECIPES.iter().find(|(name, _)| *name == program) else {
        return Vec::new();
    };
    let dir = match invocation.value_of(&["-C", "--directory", "-d", "--working-directory"]) {
        Some(moved) => lexical(&moved.text, dir, None),
        None => dir.to_owned(),
    };
    match invocation.value_of(&[
        "-f",
        "--file",
        "--makefile",
        "--justfile",
        "-t",
        "--taskfile",
    ]) {
        Some(file) => vec![lexical(&file.text, &dir, None)],
        None => names.iter().map(|name| dir.join(name)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str) -> Vec<String> {
        let surroundings = Surroundings {
            work_dir: "/p".into(),
            home: None,
            project_root: "/p".into(),
        };
        let Scripts { run, recipes } = scripts(command, &surroundings);
        let all = run.into_iter().chain(recipes);
        all.map(|path| path.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn scripts_are_found_where_programs_stand() {
        for (command, expected) in [
            ("./scripts/a.sh --fix src/b.ts", "/p/scripts/a.sh"),
            ("bash -x tools/a.sh arg", "/p/tools/a.sh"),
            ("bash -eu ./a.sh", "/p/a.sh"),
            ("env -i timeout 30 sh ./d.sh", "/p/d.sh"),
            (". ./env.sh; cargo test", "/p/env.sh"),
            ("uv run python e.py", "/p/e.py"),
            ("\"./with/f\" x", "/p/with/f"),
            (
                "$CLAUDE_PROJECT_DIR/.claude/hooks/x.sh",
                "/p/.claude/hooks/x.sh",
            ),
            (
                "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/x.sh",
                "/p/.claude/hooks/x.sh",
            ),
            ("\"${CLAUDE_PROJECT_DIR:-.}/h.sh\"", "/p/h.sh"),
            ("python3 \"$CLAUDE_PROJECT_DIR/h.py\"", "/p/h.py"),
            ("$(git rev-parse --show-toplevel)/h.sh", "/p/h.sh"),
            ("cd tools && ./gate.sh", "/p/tools/gate.sh"),
            ("(cd tools; exec ./gate.sh)", "/p/tools/gate.sh"),
            ("if [ -f a.sh ]; then ./a.sh; fi", "/p/a.sh"),
            ("! ./a.sh", "/p/a.sh"),
            ("bash < a.sh", "/p/a.sh"),
            ("bash -c './a.sh x'", "/p/a.sh"),
            ("find . -name x -exec ./a.sh {} \\;", "/p/a.sh"),
            ("node --require ./a.js ./b.js", "/p/b.js"),
            ("make -f x.mk test", "/p/x.mk"),
            ("make -C sub test", "/p/sub/Makefile"),
            ("FOO=1 make test", "/p/Makefile"),
            ("just check", "/p/justfile"),
        ] {
            let found = found(command);
            assert!(found.iter().any(|f| f == expected), "{command}: {found:?}");
        }
    }

    #[test]
    fn programs_of_the_system_and_arguments_are_not() {
        for command in [
            "cargo test",
            "prettier --write src/a.ts",
            "bash -c 'ls a/b'",
            "python3 -m pytest tests/a.py",
            "pytest tests/a.py",
            "",
        ] {
            assert!(found(command).is_empty(), "{command}: {:?}", found(command));
        }
    }
}
