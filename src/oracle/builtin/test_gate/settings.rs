//! Settings: what files of the project say of which program runs or builds the tests, where no runner tells it itself.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::oracle::HookContext;
use crate::signal::hex;
use crate::words::words;

/// What stands before the digest of a file of which any part may say so.
pub(super) const WHOLE: &str = "sha256:";

/// Files that say so at the root of a project, also where git ignores them.
const AT_ROOT: &[&str] = words!("runner-settings");

/// Returns the files of the change, and those at the root, that may say so of these runners.
pub(super) fn files(runners: &BTreeSet<String>, context: &HookContext) -> BTreeSet<String> {
    let changes = context.facts.changes();
    let changed: Vec<String> = match changes {
        Ok(changes) => changes.paths.clone(),
        // What has changed cannot be told: then all of them may have.
        Err(_) => context.workspace().list("**/*"),
    };
    let root = AT_ROOT.iter().map(|&file| file.to_owned());
    let files = changed.into_iter().filter(|file| reader(file).is_some());
    let all = files.chain(root.filter(|file| context.workspace().exists(file)));
    let ran = |tool: &str| runners.iter().any(|runner| runner.starts_with(tool));
    // A script of a package may run any runner.
    let starts_any =
        |file: &str| is_of_packages(file) || starts_vitest(file.rsplit('/').next().unwrap_or(file));
    all.filter(|file| starts_any(file) || ran(if is_wrapper(file) { "jvm" } else { "cargo" }))
        .collect()
}

/// Returns what the content of such a file puts in the place of a runner, a compiler, or a part of one.
pub(super) fn read(file: &str, content: &[u8]) -> BTreeSet<String> {
    let said = match reader(file) {
        Some(Reader::Text(read)) => read(&String::from_utf8_lossy(content)),
        // Programs are no text: two of them may look the same as one.
        Some(Reader::Whole) => vec![format!("{WHOLE}{}", hex(&Sha256::digest(content)))],
        None => Vec::new(),
    };
    said.into_iter().collect()
}

/// What of a file says so.
enum Reader {
    Text(fn(&str) -> Vec<String>),
    Whole,
}

fn reader(file: &str) -> Option<Reader> {
    let (dir, name) = file.rsplit_once('/').unwrap_or(("", file));
    let dir = dir.rsplit('/').next().unwrap_or(dir);
    match (dir, name) {
        (".cargo", "config.toml" | "config") => Some(Reader::Text(cargo_config)),
        (_, "Cargo.toml") => Some(Reader::Text(manifest)),
        (".config", "nextest.toml") => Some(Reader::Text(nextest)),
        (_, "rust-toolchain.toml" | "rust-toolchain") => Some(Reader::Text(toolchain)),
        _ if Path::new(name).extension().is_some_and(|kind| kind == "rs") => {
            Some(Reader::Text(assertions))
        }
        _ if is_of_packages(file) => Some(Reader::Text(packages)),
        _ if starts_vitest(name) => Some(Reader::Text(unheard)),
        (_, "mvnw" | "gradlew") | (".mvn" | "wrapper", _) if is_wrapper(file) => {
            Some(Reader::Whole)
        }
        _ => None,
    }
}

/// Whether a file belongs to a wrapper of Maven or Gradle, which loads and starts the build.
fn is_wrapper(file: &str) -> bool {
    let below = |dir: &str| file.starts_with(dir) || file.contains(&format!("/{dir}"));
    below(".mvn/")
        || below("gradle/wrapper/")
        || ["mvnw", "gradlew"].iter().any(|name| file.ends_with(name))
}

/// Whether a file says how npm, pnpm or yarn run the scripts of a package.
fn is_of_packages(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    [".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml"].contains(&name)
}

/// Whether a file of this name says with which options vitest or Node runs.
fn starts_vitest(name: &str) -> bool {
    let is_config = name.starts_with("vite") && name.contains(".config.");
    is_config || ["package.json", "Makefile", "makefile", "GNUmakefile"].contains(&name)
}

/// Returns the options by which an error that no test has caught is left out.
fn unheard(text: &str) -> Vec<String> {
    let says = |option: &&&str| {
        text.match_indices(**option).any(|(at, _)| {
            let value = text.get(at + option.len()..).unwrap_or_default();
            let value = value.trim_start_matches(['"', '\'', ':', '=', ' ']);
            !["false", "strict", "throw"]
                .iter()
                .any(|good| value.starts_with(good))
        })
    };
    let said = ["dangerouslyIgnoreUnhandledErrors", "--unhandled-rejections"];
    said.iter()
        .filter(says)
        .map(|option| (*option).to_owned())
        .collect()
}

fn packages(text: &str) -> Vec<String> {
    let says = |line: &&str| {
        let (key, value) = line.split_once(['=', ':', ' ']).unwrap_or((line, ""));
        let key = key.trim_matches('"').replace(['-', '_'], "").to_lowercase();
        let value = value.trim_matches(['=', ':', ' ', '"', '\'']);
        match key.as_str() {
            "scriptshell" => !value.starts_with("/bin/") && !is_installed(&Value::from(value)),
            "nodeoptions" => ["-r", "import", "loader"]
                .iter()
                .any(|word| value.contains(word)),
            _ => false,
        }
    };
    text.lines()
        .map(str::trim)
        .filter(says)
        .map(str::to_owned)
        .collect()
}

fn toml(text: &str) -> Value {
    toml_edit::de::from_str(text).unwrap_or_default()
}

/// The members of a table, or of each table of a list.
fn members<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn cargo_config(text: &str) -> Vec<String> {
    let config = toml(text);
    let mut said = without_assertions(&config);
    for (target, of_target) in members(&config, "target") {
        if let Some(runner) = of_target.get("runner") {
            said.push(format!("target.{target}.runner = {runner}"));
        }
        let linker = of_target.get("linker");
        if let Some(linker) = linker.filter(|linker| !is_installed(linker)) {
            said.push(format!("target.{target}.linker = {linker}"));
        }
        said.extend(flags(&format!("target.{target}"), of_target));
    }
    let build = config.get("build").into_iter();
    said.extend(build.flat_map(|build| flags("build", build)));
    // What decides which linker the compiler finds, and what a test is started with.
    let of_env = members(&config, "env")
        .filter(|(key, _)| words!("linker-variables").contains(&key.as_str()));
    said.extend(of_env.map(|(key, value)| format!("env.{key} = {value}")));
    // The one word for tests that an alias may give another meaning.
    let alias = members(&config, "alias")
        .filter(|(key, value)| *key == "t" && value.to_string().contains("--config"));
    said.extend(alias.map(|(key, value)| format!("alias.{key} = {value}")));
    let of_build = members(&config, "build").filter(|(key, value)| {
        let is_program = words!("rust-build-programs");
        // By its name alone it is a program that is installed, such as a cache of compilations.
        is_program.contains(&key.as_str()) && value.as_str().is_none_or(|path| path.contains('/'))
    });
    said.extend(of_build.map(|(key, value)| format!("build.{key} = {value}")));
    said
}

/// Whether a program is given by its name alone, or lies where a system installs programs.
fn is_installed(program: &Value) -> bool {
    let is_apart =
        |path: &str| !path.contains('/') || path.starts_with("/usr/") || path.starts_with("/opt/");
    program.as_str().is_some_and(is_apart)
}

/// Returns the flags of the compiler that name another linker, or another part of the compiler, by a path.
fn flags(of: &str, table: &Value) -> Vec<String> {
    let mut said = Vec::new();
    for key in ["rustflags", "rustdocflags"] {
        let Some(flags) = table.get(key) else {
            continue;
        };
        let text = match flags {
            Value::Array(list) => list
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        let mut words = text
            .split(|c: char| c.is_whitespace() || ",=".contains(c))
            .filter(|word| !word.is_empty())
            .peekable();
        while let Some(word) = words.next() {
            let is_part = words!("rust-part-flags")
                .iter()
                .any(|part| word.ends_with(part));
            let named = match word.strip_prefix("-B") {
                Some(dir) => Some(dir),
                None => words.peek().copied().filter(|_| is_part),
            };
            if let Some(path) = named.filter(|path| !is_installed(&Value::from(*path))) {
                said.push(format!("{of}.{key} with {path}"));
            }
        }
    }
    said
}

fn manifest(text: &str) -> Vec<String> {
    let manifest = toml(text);
    let mut said = without_assertions(&manifest);
    for kind in ["lib", "bin", "test", "example"] {
        let targets = match manifest.get(kind) {
            Some(Value::Array(targets)) => targets.iter().collect(),
            Some(target) => vec![target],
            None => Vec::new(),
        };
        for target in targets {
            if target.get("harness") == Some(&Value::Bool(false)) {
                let name = target.get("name").and_then(Value::as_str).unwrap_or(kind);
                said.push(format!("harness = false of {name}"));
            }
        }
    }
    said
}

/// Returns the profiles of tests in which no assertion that is meant for them stands.
fn without_assertions(config: &Value) -> Vec<String> {
    let is_off = |profile: &&str| {
        let place = format!("/profile/{profile}/debug-assertions");
        config.pointer(&place) == Some(&Value::Bool(false))
    };
    let profiles = ["dev", "test"].into_iter().filter(is_off);
    let said = profiles.map(|profile| format!("profile.{profile}.debug-assertions = false"));
    said.collect()
}

/// What makes a test of Rust fail.
const ASSERTIONS: &[&str] = words!("rust-assertions");

/// Returns the macros of a source that stand in the place of assertions, or of `#[test]`.
fn assertions(text: &str) -> Vec<String> {
    let name = |behind: &str| {
        let mut rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '!');
        while let Some((_, after)) = rest
            .strip_prefix("/*")
            .and_then(|rest| rest.split_once("*/"))
        {
            rest = after.trim_start();
        }
        let rest = rest.strip_prefix("r#").unwrap_or(rest);
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        rest.split(|c| !is_of_name(c)).next().map(str::to_owned)
    };
    // A comment or a text may speak of them.
    let is_code = |at: usize| {
        let line = text.get(..at).and_then(|before| before.rsplit('\n').next());
        let line = line.unwrap_or_default();
        !line.trim_start().starts_with("//") && line.matches('"').count() % 2 == 0
    };
    let mut said = Vec::new();
    for word in ["macro_rules", " as ", "#[proc_macro"] {
        for (at, _) in text.match_indices(word).filter(|(at, _)| is_code(*at)) {
            let (before, behind) = text.split_at(at);
            let behind = behind.get(word.len()..).unwrap_or_default();
            let behind = match word {
                "#[proc_macro" => behind.split_once("fn ").map_or("", |(_, name)| name),
                _ => behind,
            };
            let Some(name) = name(behind) else {
                continue;
            };
            let is_test = word == "#[proc_macro" && name == "test";
            let is_same = word == " as " && before.ends_with(&format!(":{name}"));
            if (ASSERTIONS.contains(&name.as_str()) || is_test) && !is_same {
                said.push(format!("{} {name}", word.trim()));
            }
        }
    }
    said
}

fn nextest(text: &str) -> Vec<String> {
    let config = toml(text);
    let scripts = config.get("scripts").cloned().unwrap_or_default();
    let wrappers = members(&scripts, "wrapper");
    wrappers
        .map(|(name, wrapper)| format!("scripts.wrapper.{name} = {wrapper}"))
        .collect()
}

fn toolchain(text: &str) -> Vec<String> {
    let path = toml(text).pointer("/toolchain/path").cloned();
    path.map(|path| format!("toolchain.path = {path}"))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_stands_in_the_place_of_a_runner_is_told_and_nothing_else() {
        let cases = include_str!("../../../../tests/cases/runner_settings.txt");
        for case in cases.split("\n@ ").skip(1) {
            let (file, rest) = case.split_once('\n').unwrap();
            let (text, expected) = rest.split_once("\n=> ").unwrap();
            let said: Vec<String> = read(file, text.as_bytes()).into_iter().collect();
            assert_eq!(said.join("; "), expected.trim_end(), "{file}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_bytes() {
        let jar = "gradle/wrapper/gradle-wrapper.jar";
        assert_ne!(read(jar, b"PK\xfe"), read(jar, b"PK\xff"));
    }
}
