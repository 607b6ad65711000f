//! Scripts: the files that a command line would run.

use std::path::{Path, PathBuf};

use super::{Analysis, Invocation, Stdin, Surroundings, Word, analyse, lexical};
use crate::program::{self, Fact};
use crate::words::words;

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
        found
            .run
            .extend(code_of(&analysis, invocation, surroundings));
        found.recipes.extend(recipes(invocation, dir));
    }
    found.run.sort_unstable();
    found.run.dedup();
    found
}

/// Returns the files from which code comes that a program runs, where no word of its own says so: what others read for it, what
/// variables name, and the first of its name on a search path that the line sets.
fn code_of(
    analysis: &Analysis,
    invocation: &Invocation,
    surroundings: &Surroundings,
) -> Vec<PathBuf> {
    let dir = invocation.work_dir.as_deref();
    let dir = dir.unwrap_or(&surroundings.work_dir);
    let mut found = Vec::new();
    let known = program::find(&invocation.program);
    let code = known
        .words(Fact::Code)
        .chain(known.is(Fact::Shell).then_some("-c"));
    let code: Vec<Word> = code
        .filter_map(|option| invocation.value_of(&[option]))
        .collect();
    // What is text for a script and not the script is none of it.
    let made: Vec<&Word> = match invocation.program.as_str() {
        "eval" => invocation.arguments.iter().collect(),
        _ if !takes_script(invocation) => Vec::new(),
        _ if code.is_empty() => invocation.operands().take(1).collect(),
        _ => code.iter().collect(),
    };
    let is_fed = takes_script(invocation) && made.is_empty();
    let fed = is_fed.then_some(&invocation.fed_by);
    for range in made.iter().map(|word| &word.made_by).chain(fed) {
        let makers = analysis.invocations.get(range.clone());
        let words = makers.into_iter().flatten().flat_map(|i| i.operands());
        found.extend(
            words
                .filter(|word| names_file(word))
                .flat_map(|word| paths_of(word, dir, surroundings)),
        );
    }
    let variables = invocation.environment.iter().chain(&analysis.assignments);
    for (name, value) in variables {
        match name.as_str() {
            "BASH_ENV" | "ENV" | "PYTHONSTARTUP" => {
                found.extend(paths_of(value, dir, surroundings));
            }
            "NODE_OPTIONS" | "PERL5OPT" | "RUBYOPT" => {
                let words = value.text.split([' ', '=']).map(Word::plain);
                found.extend(
                    words
                        .filter(names_file)
                        .flat_map(|word| paths_of(&word, dir, surroundings)),
                );
            }
            "PATH" if !invocation.path.text.contains('/') => {
                let dirs = value
                    .text
                    .split(':')
                    .filter(|dir| !dir.is_empty() && !dir.starts_with(['/', '~']));
                let named = dirs.map(|dir| Word::plain(format!("{dir}/{}", invocation.path.text)));
                found.extend(named.flat_map(|word| paths_of(&word, dir, surroundings)));
            }
            _ => {}
        }
    }
    found
}

fn names_file(word: &Word) -> bool {
    word.text.contains(['/', '.']) && !word.text.contains(char::is_whitespace)
}

/// Returns the files with code that the options of a program name, and those that a runner is given.
fn by_option(invocation: &Invocation, dir: &Path) -> Vec<PathBuf> {
    let known = program::find(&invocation.program);
    let loaded = known.words(Fact::Loads);
    let mut named: Vec<Word> = loaded
        .filter_map(|option| invocation.value_of(&[option]))
        .collect();
    if let Some(subcommands) = known.lines(Fact::RunsFile).next() {
        let mut operands = invocation.operands().peekable();
        let is_one = |word: &&Word| known.lists(Fact::RunsFile, &word.text);
        let is_run = subcommands.is_empty() || operands.next_if(is_one).is_some();
        named.extend(operands.next().filter(|_| is_run).cloned());
    }
    let files = named.iter().filter(|word| names_file(word));
    files.map(|word| lexical(&word.text, dir, None)).collect()
}

/// Returns the modules of the project that a program of code loads by name: `python3 -m tools.gate`, `perl -Itools -MGate`,
/// `python3 -c 'import gate'`, and the files that its code names in quotes.
fn modules(invocation: &Invocation, dir: &Path) -> Vec<PathBuf> {
    let known = program::find(&invocation.program);
    let mut found = Vec::new();
    if known.lists(Fact::Language, "python")
        && let Some(module) = invocation.value_of(&["-m"])
    {
        found.extend(module_files(&module.text));
    }
    if known.lists(Fact::Language, "perl") {
        let behind = |letter: &str| {
            let words = invocation.arguments.iter();
            let texts = words
                .filter_map(|word| word.text.strip_prefix(letter))
                .map(str::to_owned);
            texts.collect::<Vec<_>>()
        };
        let dirs = [vec![".".to_owned()], behind("-I")].concat();
        for name in behind("-M") {
            let name = name
                .split('=')
                .next()
                .unwrap_or_default()
                .replace("::", "/");
            found.extend(
                dirs.iter()
                    .map(|dir| Path::new(dir).join(format!("{name}.pm"))),
            );
        }
    }
    let code = known.words(Fact::Code).filter(|_| known.is(Fact::Language));
    for code in code.filter_map(|option| invocation.value_of(&[option])) {
        let quoted = code
            .text
            .split(['\'', '"', '`'])
            .skip(1)
            .step_by(2)
            .map(Word::plain);
        let is_code = |word: &Word| {
            let ending = word.text.rsplit_once('.').map_or("", |(_, ending)| ending);
            names_file(word) && CODE_ENDINGS.contains(&ending)
        };
        found.extend(quoted.filter(is_code).map(|word| PathBuf::from(word.text)));
        let mut words = code
            .text
            .split(|c: char| c.is_whitespace() || ";,()".contains(c));
        while let Some(word) = words.next() {
            if matches!(word, "import" | "from")
                && let Some(module) = words.next()
            {
                found.extend(module_files(module));
            }
        }
    }
    found
        .into_iter()
        .map(|path| lexical(&path.to_string_lossy(), dir, None))
        .collect()
}

/// Ends of the names of files with code, told from the data that code reads.
const CODE_ENDINGS: &[&str] = &[
    "bash", "cjs", "js", "lua", "mjs", "php", "pl", "pm", "py", "rb", "sh", "ts",
];

/// Returns the files that are loaded as a module of Python and as the packages around it.
fn module_files(module: &str) -> Vec<PathBuf> {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let names: Vec<&str> = module.split('.').collect();
    if !names.iter().all(|name| is_name(name)) {
        return Vec::new();
    }
    let packages = (1..=names.len()).filter_map(|count| names.get(..count));
    let packages = packages.map(|names| format!("{}/__init__.py", names.join("/")));
    let whole = names.join("/");
    packages
        .chain([format!("{whole}.py"), format!("{whole}/__main__.py")])
        .map(PathBuf::from)
        .collect()
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
    found.extend(by_option(invocation, dir));
    found.extend(modules(invocation, dir));
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
    let names = program::find(&invocation.program).words(Fact::Recipes);
    let mut names = names.peekable();
    if names.peek().is_none() {
        return Vec::new();
    }
    let dir = match invocation.value_of(&["-C", "--directory", "-d", "--working-directory"]) {
        Some(moved) => lexical(&moved.text, dir, None),
        None => dir.to_owned(),
    };
    match invocation.value_of(words!("recipe-options")) {
        Some(file) => vec![lexical(&file.text, &dir, None)],
        None => names.map(|name| dir.join(name)).collect(),
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
            ("python3 -m tools.gate", "/p/tools/gate.py"),
            ("python3 -m tools.gate", "/p/tools/__init__.py"),
            ("python3 -m pytest", "/p/pytest.py"),
            ("python3 -c 'import gate'", "/p/gate.py"),
            ("cat scripts/a.sh | sh", "/p/scripts/a.sh"),
            ("env -C scripts ./a.sh", "/p/scripts/a.sh"),
            ("bash scripts/*.sh", "/p/scripts/*.sh"),
            ("for f in scripts/*.sh; do sh $f; done", "/p/scripts/*.sh"),
            ("PATH=bin:$PATH gate", "/p/bin/gate"),
            ("BASH_ENV=scripts/a.sh bash -c true", "/p/scripts/a.sh"),
            ("eval \"$(cat scripts/a.sh)\"", "/p/scripts/a.sh"),
            ("sh -c \"$(cat scripts/a.sh)\"", "/p/scripts/a.sh"),
            ("node -r ./tools/g.js -e 1", "/p/tools/g.js"),
            ("node --import=./tools/g.mjs x.mjs", "/p/tools/g.mjs"),
            ("perl -Itools -MG -e 1", "/p/tools/G.pm"),
            ("perl -e 'do \"./tools/g.pl\"'", "/p/tools/g.pl"),
            ("go run tools/g.go", "/p/tools/g.go"),
            ("bun run tools/g.ts", "/p/tools/g.ts"),
            ("deno run tools/g.ts", "/p/tools/g.ts"),
            ("java tools/G.java", "/p/tools/G.java"),
            ("bats tests/g.bats", "/p/tests/g.bats"),
            ("jq -f tools/g.jq x.json", "/p/tools/g.jq"),
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
            "pytest tests/a.py",
            "bash -c 'echo $(cat a.txt)'",
            "",
        ] {
            assert!(found(command).is_empty(), "{command}: {:?}", found(command));
        }
    }
}
