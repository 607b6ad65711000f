//! Gradle: the lock file in step with the coordinates that a build script writes out, and every one of them in the cache.

use std::collections::BTreeMap;

use super::manifest::{Fault, Manifest};
use super::toml;
use crate::words::words;

/// The configurations that a lock of all of them has.
const CONFIGURATIONS: &[&str] = words!("gradle-configurations");

/// What is asked for: `group:name` and, where it is written out, the version.
type Coordinates<'a> = (String, Option<&'a str>);

impl Manifest<'_> {
    /// Checks a `build.gradle` or `build.gradle.kts`. It is a program: what it computes is not known, what it writes out is.
    pub(super) fn gradle(&self, text: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let catalog = "gradle/libs.versions.toml";
        if let Some((_, catalog_text)) = self.above(catalog)
            && let Err(error) = toml::read(&catalog_text)
        {
            let first = error.lines().next().unwrap_or_default();
            faults.push(self.fault(
                format!("`{catalog}` does not parse: {first}"),
                format!("fix the syntax of `{catalog}`"),
            ));
        }
        let wanted = coordinates(text);
        let is_all_locked = text.contains("lockAllConfigurations()") || self.is_locked_above();
        let renew = "gradle dependencies --write-locks";
        match self.text("gradle.lockfile").or_else(|| self.locks_apart()) {
            None if is_all_locked => faults.push(self.unlocked(" `gradle.lockfile`", renew)),
            None => {}
            Some(lock) => {
                let differing = out_of_step(&wanted, &lock, is_all_locked);
                let what = format!("`gradle.lockfile` is out of step with `{}`", self.path);
                let remedy = format!("{} and keep the new lock file", self.command(renew));
                faults.extend(self.of_each(what, differing, remedy));
            }
        }
        faults.extend(self.not_in_cache(&wanted, text));
        faults
    }

    /// Looks for each module in Gradle's cache, where it is at its usual place: in any version, for others may have raised it.
    fn not_in_cache(&self, wanted: &[Coordinates<'_>], text: &str) -> Option<Fault> {
        let cache = self
            .context
            .facts
            .home()?
            .join(".gradle/caches/modules-2/files-2.1");
        let lies_elsewhere = text.contains("mavenLocal()") || text.contains("flatDir");
        if lies_elsewhere || !self.context.workspace().is_on_disk() || !cache.is_dir() {
            return None;
        }
        let names = wanted.iter().map(|(name, _)| name.as_str());
        let absent = names.filter(|name| !cache.join(name.replace(':', "/")).is_dir());
        let what = format!("not in Gradle's cache, of `{}`", self.path);
        let remedy = self.command("gradle dependencies");
        self.of_each(what, absent.map(|name| (name, name)), remedy)
    }

    /// Whether a script above locks all configurations of the projects below it.
    fn is_locked_above(&self) -> bool {
        let mut dirs = std::path::Path::new(self.dir).ancestors().skip(1);
        dirs.any(|dir| {
            ["build.gradle", "build.gradle.kts"].iter().any(|name| {
                let path = dir.join(name);
                let text = path.to_str().and_then(|path| self.context.text(path));
                let text = text.unwrap_or_default();
                let is_for_all = text.contains("allprojects") || text.contains("subprojects");
                is_for_all && text.contains("lockAllConfigurations()")
            })
        })
    }

    /// Returns the locks of the form that has a file for each configuration; none where there are none.
    fn locks_apart(&self) -> Option<String> {
        let workspace = self.context.workspace();
        let files = workspace.list(&self.beside("gradle/dependency-locks/*.lockfile"));
        let texts = files.iter().filter_map(|path| self.context.text(path));
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

/// Returns what a build script writes out: `implementation("group:name:1.0")`, in the block `dependencies` itself.
fn coordinates(text: &str) -> Vec<Coordinates<'_>> {
    let mut found = Vec::new();
    let mut blocks: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("//") {
            continue;
        }
        for (statement, end) in statements(line) {
            let word = statement.split(|c: char| !c.is_ascii_alphanumeric()).next();
            let word = word.unwrap_or_default();
            if blocks == ["dependencies"] && CONFIGURATIONS.contains(&word) {
                found.extend(written_out(statement));
            }
            match end {
                Some('{') => blocks.push(word),
                Some('}') => {
                    blocks.pop();
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the statements of a line, each with the mark that ends it; a brace in quotes is none.
fn statements(line: &str) -> Vec<(&str, Option<char>)> {
    let (mut statements, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(mark), _) => quote = quote.filter(|_| mark != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '}' | ';') => {
                statements.push((line.get(start..at).unwrap_or_default().trim(), Some(c)));
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    statements.push((line.get(start..).unwrap_or_default().trim(), None));
    statements
}

/// Returns the coordinates that a dependency is given by, where they are written out.
fn written_out(statement: &str) -> Option<Coordinates<'_>> {
    if statement.contains("platform(") || statement.contains('$') {
        return None;
    }
    let quoted = statement.split(['"', '\'']).nth(1)?;
    let parts: Vec<&str> = quoted.split(':').collect();
    let [group, name, rest @ ..] = parts.as_slice() else {
        return None;
    };
    let version = rest.first();
    let version = version.map(|version| version.split('@').next().unwrap_or(version));
    (!group.is_empty() && !name.is_empty()).then(|| (format!("{group}:{name}"), version))
}

/// Returns what a lock file does not name, and what it locks below the version asked for, each with words: Gradle takes the
/// highest.
fn out_of_step<'w>(
    wanted: &'w [Coordinates<'_>],
    lock: &str,
    is_all_locked: bool,
) -> Vec<(&'w str, String)> {
    let lines = lock.lines().filter(|line| !line.starts_with('#'));
    let locked: BTreeMap<&str, &str> = lines
        .filter_map(|line| line.split('=').next()?.trim().rsplit_once(':'))
        .collect();
    let numbers = |version: &str| {
        version
            .split('.')
            .map(|n| n.parse::<u64>().ok())
            .collect::<Option<Vec<_>>>()
    };
    let differs = |(name, version): &Coordinates<'_>| match (locked.get(name.as_str()), version) {
        (None, _) => is_all_locked.then(|| format!("it does not name {name}")),
        (Some(locked), Some(version)) => {
            let (here, asked) = (numbers(locked)?, numbers(version)?);
            (here < asked).then(|| format!("{name} is locked as {locked} and not {version}"))
        }
        (Some(_), None) => None,
    };
    let differing = wanted
        .iter()
        .filter_map(|one| Some((one.0.as_str(), differs(one)?)));
    differing.collect()
}
