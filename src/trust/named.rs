//! The scripts that commands name: what stands where a program stands, and what those scripts name beside them.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::hook_files_of;
use crate::config::{Node, commands};
use crate::glob::shell_glob;
use crate::place::Roots;
use crate::shell;
use crate::shell::{Scripts, Surroundings};

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

/// The size up to which a script is looked through for the files that it names.
const MAX_SCRIPT: u64 = 256 << 10;

/// Returns the files of the project that the commands in a configuration name, relative to the root, sorted; files with
/// recipes (`Makefile`, `package.json`) are among them where those are asked for.
pub(super) fn by_config(root: &Path, config: &Node, with_recipes: bool) -> Vec<String> {
    let mut found = Vec::new();
    for command in commands(config) {
        let command = command.trim();
        add_command(root, root, command, with_recipes, &mut found);
        // `file:` names files with command hooks, whatever their place in a command.
        for file in hook_files_of(&root.join(command)) {
            if let (true, Ok(name)) = (is_json(&file), file.strip_prefix(root)) {
                add(root, root, &name.to_string_lossy(), &mut found);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns what the commands of a configuration name and would run: scripts, folders, files with command hooks (also as a pattern) and
/// the scripts that their commands name; whether they are there or not, with their whole paths. What those scripts name
/// themselves is not among them.
pub fn named_by(root: &Path, config: &Node) -> Vec<PathBuf> {
    let surroundings = |dir: &Path| Surroundings {
        work_dir: dir.to_owned(),
        home: None,
        project_root: root.to_owned(),
    };
    let mut found = Vec::new();
    for command in commands(config) {
        let command = command.trim();
        found.extend(shell::scripts(command, &surroundings(root)).run);
        let path = root.join(command);
        for file in hook_files_of(&path).iter().filter(|file| is_json(file)) {
            // The folder or the pattern itself: what of it is gone counts too.
            found.push(path.clone());
            found.push(file.clone());
            let text = fs::read_to_string(file).unwrap_or_default();
            let value = serde_json::from_str(&text).unwrap_or_default();
            for (command, dir) in json_commands(&value, None) {
                let dir = dir.map_or_else(|| root.to_owned(), |dir| root.join(dir));
                found.extend(shell::scripts(&command, &surroundings(&dir)).run);
            }
        }
        // Nothing of a folder or a pattern may be left.
        if path.is_dir() || command.contains(['*', '?']) && is_json(&path) {
            found.push(path);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns a file and the scripts that it names: a script, or a file with command hooks.
pub(super) fn by_file(root: &Path, file: &str) -> Vec<String> {
    let mut found = Vec::new();
    add(root, root, file, &mut found);
    found
}

/// Returns the scripts that the command hooks name which a path means, wherever both lie.
pub(crate) fn hook_scripts(path: &Path, surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in hook_files_of(path).iter().filter(|file| is_json(file)) {
        let read = fs::read(file).ok();
        let Some(value) = read.and_then(|bytes| serde_json::from_slice(&bytes).ok()) else {
            continue;
        };
        for (command, dir) in json_commands(&value, None) {
            let surroundings = Surroundings {
                work_dir: surroundings.project_root.join(dir.unwrap_or_default()),
                ..surroundings.clone()
            };
            found.extend(shell::scripts(&command, &surroundings).run);
        }
    }
    found
}

/// Where the system's own programs lie, which take the rights of root to change.
const OF_SYSTEM: &[&str] = &["/bin", "/lib", "/nix", "/opt", "/sbin", "/usr"];

/// Folders that package managers fill: what lies there is made anew at any time.
const MADE: &[&str] = &[".venv", "node_modules", "target", "venv"];

/// Whether a program of a policy stays as it is, and is not the system's.
pub(crate) fn is_kept(program: &Path) -> bool {
    let is_of_system = OF_SYSTEM.iter().any(|dir| program.starts_with(dir));
    !is_of_system
        && !program
            .iter()
            .any(|part| MADE.iter().any(|made| part == *made))
}

/// How many scripts are followed from one on.
const MOST_SCRIPTS: usize = 64;

/// Returns the scripts that a script names, and those that these name, wherever they lie; none of the system's own.
pub(crate) fn scripts_of(script: &Path, roots: &Roots) -> Vec<PathBuf> {
    let machine = Path::new("/");
    let mut found = Vec::new();
    let mut next = vec![script.to_owned()];
    while let Some(path) = next.pop().filter(|_| found.len() < MOST_SCRIPTS) {
        let first = found.len();
        add(machine, machine, &path.to_string_lossy(), &mut found);
        for name in found.get(first..).unwrap_or_default() {
            let path = machine.join(name);
            let Some(text) = text_of(&path).filter(|text| is_of_shell(&path, text)) else {
                continue;
            };
            let surroundings = Surroundings {
                work_dir: roots.project.clone(),
                home: roots.home.clone(),
                project_root: roots.project.clone(),
            };
            next.extend(shell::scripts(&text, &surroundings).run);
        }
    }
    found.iter().map(|name| machine.join(name)).collect()
}

/// Whether a script is one of a shell.
fn is_of_shell(path: &Path, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("#!") {
        Some(interpreter) => interpreter.contains("sh"),
        None => path.extension().is_some_and(|ending| ending == "sh"),
    }
}

/// Returns what a script says that is not too large.
fn text_of(path: &Path) -> Option<String> {
    let is_small = path
        .metadata()
        .is_ok_and(|about| about.is_file() && about.len() <= MAX_SCRIPT);
    is_small.then(|| fs::read_to_string(path).ok()).flatten()
}

/// Returns the files of the project that a command line names when it is run in a directory.
pub(super) fn by_command(root: &Path, dir: &Path, command: &str) -> Vec<String> {
    let mut found = Vec::new();
    add_command(root, dir, command, true, &mut found);
    found
}

fn add_command(
    root: &Path,
    dir: &Path,
    command: &str,
    with_recipes: bool,
    found: &mut Vec<String>,
) {
    let surroundings = Surroundings {
        work_dir: dir.to_owned(),
        home: None,
        project_root: root.to_owned(),
    };
    let Scripts { run, recipes } = shell::scripts(command, &surroundings);
    for path in run.iter().chain(recipes.iter().filter(|_| with_recipes)) {
        for path in met(path) {
            add(root, root, &path.to_string_lossy(), found);
        }
    }
}

/// Returns the files that a path means, whose last name may be a pattern.
fn met(path: &Path) -> Vec<PathBuf> {
    let pattern = path.file_name().unwrap_or_default().to_string_lossy();
    let (true, Some(dir)) = (pattern.contains(['*', '?', '[']), path.parent()) else {
        return vec![path.to_owned()];
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter(|entry| shell_glob(&pattern, &entry.file_name().to_string_lossy()));
    named.map(|entry| entry.path()).collect()
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// Adds a file that `name`, seen from `dir`, means, and what it names itself.
fn add(root: &Path, dir: &Path, name: &str, found: &mut Vec<String>) {
    let Some(file) = inside(root, dir, name) else {
        return;
    };
    let path = root.join(&file);
    // Where the machine is the root, most programs that a script names are none of the policy.
    let is_beyond = root == Path::new("/") && !is_kept(&path);
    if is_beyond || found.contains(&file) || !path.is_file() {
        return;
    }
    found.push(file);
    let Some(text) = text_of(&path) else {
        return;
    };
    if is_json(&path) {
        if let Ok(value) = serde_json::from_str(&text) {
            for (command, dir) in json_commands(&value, None) {
                let dir = dir.map_or_else(|| root.to_owned(), |dir| root.join(dir));
                add_command(root, &dir, &command, true, found);
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
        if entry.path().is_dir() && imports(&text, &format!("{name}.py")) {
            add_package(root, &entry.path(), found);
        }
    }
    for line in text.lines() {
        add_started(root, &dir, line, found);
    }
}

/// Adds what a line of a script starts that lies elsewhere, by its way from the project or from the script's own folder: what it
/// only works on, or tells of, is data.
fn add_started(root: &Path, dir: &Path, line: &str, found: &mut Vec<String>) {
    if line.trim_start().starts_with(['#', '/', '*']) {
        return;
    }
    let mut before = None;
    for word in words(line) {
        let word = line.get(word).unwrap_or_default();
        let word = word.trim_matches(|c: char| ",[]\\".contains(c));
        // Where the script itself lies says nothing of what is done with what lies there.
        if word.is_empty() || word.starts_with('$') || word == "dirname" {
            continue;
        }
        let named = word.trim_start_matches('/');
        for from in [root, dir].into_iter().filter(|_| named.contains('/')) {
            if from.join(named).is_file() && before.is_none_or(|before| starts(before, named)) {
                add(root, from, named, found);
            }
        }
        before = Some(word);
    }
}

/// Whether a program that is given a file runs it.
fn starts(program: &str, file: &str) -> bool {
    let surroundings = Surroundings {
        work_dir: PathBuf::from("/"),
        home: None,
        project_root: PathBuf::from("/"),
    };
    let scripts = shell::scripts(&format!("{program} {file}"), &surroundings);
    scripts.run.iter().any(|path| path.ends_with(file))
}

/// Adds the modules of a package that a script loads.
fn add_package(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if MODULES.contains(&ending) || ending == "so" {
            add(root, folder, &name, found);
        }
    }
}

/// Files that are loaded by their names without the ending.
const MODULES: &[&str] = &[
    "cjs", "js", "json", "lua", "mjs", "node", "php", "pl", "pm", "py", "pyc", "rb", "so", "ts",
];

/// Whether a script may load its neighbour as a module: `import helper` means `helper.py`.
fn imports(text: &str, neighbour: &str) -> bool {
    let Some((stem, ending)) = neighbour.rsplit_once('.') else {
        return false;
    };
    // `helper.abi3.so`
    let stem = stem.split_once('.').map_or(stem, |(stem, _)| stem);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    MODULES.contains(&ending)
        && !stem.is_empty()
        && text.match_indices(stem).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + stem.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// Returns the command lines of a file with command hooks, each with the directory that it is said to run in.
fn json_commands<'v>(value: &'v Value, dir: Option<&'v str>) -> Vec<(String, Option<&'v str>)> {
    match value {
        Value::Array(items) => items.iter().flat_map(|v| json_commands(v, dir)).collect(),
        Value::Object(map) => {
            let dir = map.get("cwd").and_then(Value::as_str).or(dir);
            let words =
                |value: &'v Value| value.as_array().map(|a| a.iter().filter_map(Value::as_str));
            let arguments = map.get("args").and_then(words).into_iter().flatten();
            let arguments: Vec<&str> = arguments.collect();
            let command = |(key, value): (&String, &'v Value)| match value {
                _ if !JSON_KEYS.contains(&key.as_str()) => json_commands(value, dir),
                Value::String(text) => {
                    let line = std::iter::once(text.as_str()).chain(arguments.iter().copied());
                    vec![(line.collect::<Vec<_>>().join(" "), dir)]
                }
                _ => {
                    let line: Vec<&str> = words(value).into_iter().flatten().collect();
                    vec![(line.join(" "), dir)]
                }
            };
            map.iter().flat_map(command).collect()
        }
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

/// Returns the words of a command line that may be a path as they stand there.
pub(super) fn words(command: &str) -> Vec<Range<usize>> {
    let is_border = |c: char| c.is_whitespace() || "\"'<>;|&()`{}=".contains(c);
    let mut found = Vec::new();
    let mut start = None;
    for (n, c) in command.char_indices().chain([(command.len(), ' ')]) {
        match (is_border(c), start) {
            (true, Some(from)) => {
                found.push(from..n);
                start = None;
            }
            (false, None) => start = Some(n),
            _ => {}
        }
    }
    found
}
