//! The scripts that commands name: what stands where a program stands, and what those scripts name beside them.

use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::config::Node;
use crate::config::Value;

/// The keys of an oracle's configuration under which programs and files with commands stand.
const KEYS: &[&str] = &[
    "command", "commands", "custom", "file", "fix", "linters", "scanners", "verify",
];

/// The keys of a file with command hooks under which commands stand.
const JSON_KEYS: &[&str] = &[
    "command",
    "bash",
    "powershell",
    "windows",
    "linux",
    "osx",
    "exec",
];

/// Programs whose first argument that is no option is a script.
const INTERPRETERS: &[&str] = &[
    ".", "bash", "bun", "dash", "deno", "ksh", "node", "perl", "php", "pwsh", "python", "python3",
    "ruby", "sh", "source", "tsx", "zsh",
];

/// Programs whose arguments are a command again.
const WRAPPERS: &[&str] = &[
    "command", "env", "exec", "nice", "nohup", "run", "stdbuf", "sudo", "time", "timeout", "uv",
];

/// The size up to which a script is looked through for the files that it names.
const MAX_SCRIPT: u64 = 256 << 10;

/// Returns the files of the project that the commands in a configuration name, relative to the root, sorted.
pub(super) fn by_config(root: &Path, config: &Node) -> Vec<String> {
    let mut commands = Vec::new();
    texts_under(config, false, &mut commands);
    let mut found = Vec::new();
    for command in commands {
        for word in scripts(&command) {
            if let Some(name) = command.get(word) {
                add(root, root, name, &mut found);
            }
        }
        // `file:` names a file with command hooks, whatever its place in a command.
        let name = Path::new(command.trim());
        if name
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            add(root, root, command.trim(), &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns a file with command hooks and the scripts that its commands name.
pub(super) fn by_hook_file(root: &Path, file: &str) -> Vec<String> {
    let mut found = Vec::new();
    add(root, root, file, &mut found);
    found
}

fn texts_under(node: &Node, wanted: bool, found: &mut Vec<String>) {
    match &node.value {
        Value::Str(text) if wanted => found.push(text.clone()),
        Value::Seq(items) => {
            // A list of words is one command.
            let words: Option<Vec<&str>> = items.iter().map(Node::as_str).collect();
            if let Some(words) = words.filter(|_| wanted) {
                found.push(words.join(" "));
            }
            for item in items {
                texts_under(item, wanted, found);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                texts_under(value, wanted || KEYS.contains(&key.name.as_str()), found);
            }
        }
        _ => {}
    }
}

/// Adds a file that `name`, seen from `dir`, means, and what it names itself.
fn add(root: &Path, dir: &Path, name: &str, found: &mut Vec<String>) {
    let Some(file) = inside(root, dir, name) else {
        return;
    };
    let path = root.join(&file);
    if found.contains(&file) || !path.is_file() {
        return;
    }
    found.push(file);
    let small = path.metadata().is_ok_and(|meta| meta.len() <= MAX_SCRIPT);
    let Some(text) = small.then(|| fs::read_to_string(&path).ok()).flatten() else {
        return;
    };
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        if let Ok(value) = serde_json::from_str(&text) {
            for command in json_commands(&value) {
                for word in scripts(command) {
                    if let Some(name) = command.get(word) {
                        add(root, root, name, found);
                    }
                }
            }
        }
        return;
    }
    // A script finds its neighbours by their names, however it spells the way to them.
    let dir = path.parent().unwrap_or(root).to_owned();
    for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if (name.len() > 3 && text.contains(&*name)) || imports(&text, &name) {
            add(root, &dir, &name, found);
        }
    }
}

/// Files that are loaded by their names without the ending.
const MODULES: &[&str] = &[
    "cjs", "js", "lua", "mjs", "php", "pl", "pm", "py", "rb", "ts",
];

/// Whether a script may load its neighbour as a module: `import helper` means `helper.py`.
fn imports(text: &str, neighbour: &str) -> bool {
    let Some((stem, ending)) = neighbour.rsplit_once('.') else {
        return false;
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    MODULES.contains(&ending)
        && !stem.is_empty()
        && text.match_indices(stem).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + stem.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

fn json_commands(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::Array(items) => items.iter().flat_map(json_commands).collect(),
        serde_json::Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value.as_str() {
                Some(text) if JSON_KEYS.contains(&key.as_str()) => vec![text],
                _ => json_commands(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns a path relative to the root; none where it is not there or leads out of the project.
pub(super) fn inside(root: &Path, dir: &Path, name: &str) -> Option<String> {
    let path = dir.join(name);
    let root = root.canonicalize().ok()?;
    // The folder is made canonical and not the file: a link in the project is a file of the project.
    let parent = path.parent()?.canonicalize().ok()?;
    let full = match path.file_name() {
        Some(file) => parent.join(file),
        None => path.canonicalize().ok()?,
    };
    let relative = full.strip_prefix(&root).ok()?;
    if relative.as_os_str().is_empty() || !full.exists() {
        return None;
    }
    Some(relative.to_string_lossy().into_owned())
}

/// Returns the words of a command line that name a script: what stands where a program stands and holds a slash, and the
/// first argument of an interpreter.
pub(super) fn scripts(command: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for segment in ranges(command, 0, |c| ";|&\n()`{}".contains(c)) {
        let text = command.get(segment.clone()).unwrap_or_default();
        let mut words = ranges(text, segment.start, |c| {
            c.is_whitespace() || "\"'<>".contains(c)
        })
        .into_iter();
        let mut after_interpreter = false;
        for range in words.by_ref() {
            let word = command.get(range.clone()).unwrap_or_default();
            if word.starts_with('-') {
                // The code of `-c` and `-e` is no file.
                if after_interpreter && matches!(word, "-c" | "-e" | "-m") {
                    break;
                }
                continue;
            }
            if after_interpreter {
                found.push(range);
                break;
            }
            let program = word.rsplit('/').next().unwrap_or(word);
            let is_assignment = word.contains('=') && !word.starts_with(['.', '/']);
            if is_assignment
                || WRAPPERS.contains(&program)
                || word
                    .chars()
                    .all(|c| c.is_ascii_digit() || "smh.".contains(c))
                    && word != "."
            {
                continue;
            }
            if INTERPRETERS.contains(&program) {
                after_interpreter = true;
                continue;
            }
            if word.contains('/') {
                found.push(range);
            }
            break;
        }
    }
    found
}

/// Returns the stretches between separators.
fn ranges(text: &str, offset: usize, is_separator: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (n, c) in text.char_indices() {
        match (is_separator(c), start) {
            (true, Some(from)) => {
                found.push(offset + from..offset + n);
                start = None;
            }
            (false, None) => start = Some(n),
            _ => {}
        }
    }
    if let Some(from) = start {
        found.push(offset + from..offset + text.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::scripts;

    fn named(command: &str) -> Vec<&str> {
        scripts(command)
            .into_iter()
            .map(|r| command.get(r).unwrap())
            .collect()
    }

    #[test]
    fn scripts_are_found_where_programs_stand() {
        assert_eq!(named("./scripts/a.sh --fix src/b.ts"), ["./scripts/a.sh"]);
        assert_eq!(named("bash -x tools/a.sh arg"), ["tools/a.sh"]);
        assert_eq!(named("cd x && FOO=1 python3 'b.py' | ./c"), ["b.py", "./c"]);
        assert_eq!(named("env -i timeout 30 sh ./d.sh"), ["./d.sh"]);
        assert_eq!(named(". ./env.sh; cargo test"), ["./env.sh"]);
        assert_eq!(named("uv run python e.py"), ["e.py"]);
        assert_eq!(named("\"./with/f\" x"), ["./with/f"]);
    }

    #[test]
    fn programs_of_the_system_and_arguments_are_not() {
        for command in [
            "cargo test",
            "prettier --write src/a.ts",
            "bash -c 'ls a/b'",
            "",
        ] {
            assert!(named(command).is_empty(), "{command}");
        }
    }
}
