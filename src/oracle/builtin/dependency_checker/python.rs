//! Python: lock files that are there and in step, and distributions that are installed.

use serde_json::Value;

use super::manifest::Fault;
use super::manifest::Manifest;
use super::toml;
use crate::oracle::OracleError;
use crate::oracle::toolchain;
use crate::oracle::wording::last_said;
use crate::oracle::wording::listed;
use crate::process::Program;
use crate::process::installed;

/// The managers of packages with a lock file: the section of `pyproject.toml`, the lock file, and what makes it.
const MANAGERS: &[(&str, &str, &str)] = &[
    ("poetry", "poetry.lock", "poetry lock"),
    ("uv", "uv.lock", "uv lock"),
    ("pdm", "pdm.lock", "pdm lock"),
];

/// How many files of requirements may include one another.
const MOST_FILES: usize = 50;

/// Asks a Python which requirements are not met there; versions are compared by `packaging`, which pip carries too.
const ASK: &str = r#"
import re, sys
from importlib import metadata
try:
    from packaging.requirements import Requirement
except ImportError:
    try:
        from pip._vendor.packaging.requirements import Requirement
    except ImportError:
        Requirement = None
for line in sys.stdin:
    line = line.strip()
    if Requirement:
        try:
            wanted = Requirement(line)
        except ValueError as error:
            print(f"{line} ({str(error).splitlines()[0]})")
            continue
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        name, specifier = wanted.name, str(wanted.specifier)
        holds = lambda version: wanted.specifier.contains(version, prereleases=True)
    else:
        if ";" in line:
            continue
        name, specifier = re.match(r"([\w.-]+)(?:\s*\[.*?\])?\s*(.*)", line).groups()
        if specifier and not re.fullmatch(r"===?\s*[\w.+!-]+", specifier):
            sys.exit(f"neither `packaging` nor `pip` is there to compare `{line}`")
        holds = lambda version: not specifier or version == specifier.lstrip("= ")
    try:
        here = metadata.version(name)
    except metadata.PackageNotFoundError:
        print(name)
    else:
        if not holds(here):
            print(f"{name} is {here} and not {specifier}")
"#;

impl Manifest<'_> {
    pub(super) fn pyproject(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        let document = match toml::read(text) {
            Ok(document) => document,
            Err(error) => return Ok(vec![self.broken(&error)]),
        };
        let requirements = toml::texts(&document, "/project/dependencies");
        let mut names: Vec<String> = requirements.iter().map(|r| name_of(r)).collect();
        let of_poetry = document.pointer("/tool/poetry/dependencies");
        let of_poetry = of_poetry.and_then(Value::as_object).into_iter().flatten();
        names.extend(
            of_poetry
                .map(|(name, _)| name_of(name))
                .filter(|name| name != "python"),
        );
        let mut faults = Vec::new();
        for (section, lock, command) in MANAGERS {
            let is_used = document.pointer(&format!("/tool/{section}")).is_some();
            match self.text(lock) {
                None if is_used => faults.push(self.fault(
                    format!("the lock file `{lock}` of `{}` is missing", self.path),
                    self.command(command),
                )),
                None => {}
                Some(text) => faults.extend(self.out_of_step_with(lock, &text, &names, command)),
            }
        }
        faults.extend(self.installed(&requirements, &self.command("pip install -e ."))?);
        Ok(faults)
    }

    /// Returns a fault where a lock file does not parse, or does not name what is declared.
    fn out_of_step_with(
        &self,
        lock: &str,
        text: &str,
        names: &[String],
        command: &str,
    ) -> Option<Fault> {
        let document = match toml::read(text) {
            Ok(document) => document,
            Err(error) => {
                let first = error.lines().next().unwrap_or_default();
                let what = format!(
                    "the lock file `{lock}` of `{}` does not parse: {first}",
                    self.path
                );
                return Some(self.fault(what, self.command(command)));
            }
        };
        let packages = document.get("package").and_then(Value::as_array);
        let packages = packages.into_iter().flatten();
        let locked: Vec<String> = packages
            .filter_map(|package| Some(name_of(package.get("name")?.as_str()?)))
            .collect();
        let absent: Vec<&String> = names.iter().filter(|name| !locked.contains(name)).collect();
        (!absent.is_empty()).then(|| {
            let what = format!(
                "the lock file `{lock}` is out of step with `{}`: it does not name {}",
                self.path,
                listed(&absent, 10)
            );
            self.fault(what, self.command(command))
        })
    }

    pub(super) fn requirements(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        let mut requirements = Vec::new();
        let mut files = vec![(self.path.to_owned(), text.to_owned())];
        let mut at = 0;
        while let Some((path, text)) = files.get(at).cloned() {
            at += 1;
            // A line may go on in the next.
            let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
            for (number, line) in (1_u32..).zip(text.lines()) {
                let line = line.split(" #").next().unwrap_or_default().trim();
                if let Some(other) = included(line) {
                    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
                    let other = if dir.is_empty() {
                        other.to_owned()
                    } else {
                        format!("{dir}/{other}")
                    };
                    if files.len() < MOST_FILES && files.iter().all(|(known, _)| *known != other) {
                        let Ok(bytes) = self.context.workspace().read(&other) else {
                            let what = format!("`{path}` includes `{other}`, which cannot be read");
                            return Ok(vec![self.fault(what, format!("restore `{other}`"))]);
                        };
                        files.push((other, String::from_utf8_lossy(&bytes).into_owned()));
                    }
                    continue;
                }
                // Options, and packages from addresses and paths, have no name that could be looked for.
                if line.is_empty() || line.starts_with(['#', '-', '.', '/']) || line.contains("://")
                {
                    continue;
                }
                if !line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                    return Ok(vec![
                        self.broken(&format!("{path}, line {number}: `{line}`")),
                    ]);
                }
                // Digests are pip's to compare.
                let line = line.split(" --").next().unwrap_or(line);
                requirements.push(line.trim().to_owned());
            }
        }
        let remedy = format!("run `pip install -r {}`", self.path);
        self.installed(&requirements, &remedy)
    }

    /// Asks the project's Python which requirements are not met.
    fn installed(&self, wanted: &[String], remedy: &str) -> Result<Vec<Fault>, OracleError> {
        if wanted.is_empty() || !self.context.workspace().is_on_disk() {
            return Ok(Vec::new());
        }
        let root = self.context.root().join(self.dir);
        let own = [".venv/bin/python", "venv/bin/python"]
            .iter()
            .map(|p| root.join(p))
            .find(|p| p.exists());
        let found = || ["python3", "python"].iter().find_map(|p| installed(p));
        let Some(python) = own.or_else(found) else {
            return Err(OracleError::failed(format!(
                "Python is not installed, so that nobody can tell which packages of `{}` are",
                self.path
            )));
        };
        let python = python.to_string_lossy().into_owned();
        let program = Program::new(vec![python, "-c".to_owned(), ASK.to_owned()])
            .dir(&root)
            .stdin(wanted.join("\n") + "\n");
        let finished = toolchain::run(self.context, program, "Python")?;
        if !finished.exit.is_success() {
            return Err(OracleError::failed(format!(
                "Python cannot tell what is installed: {}",
                last_said(&finished.stderr_text())
            )));
        }
        let told = finished.stdout_text();
        let absent: Vec<&str> = told.lines().collect();
        let what = || format!("not installed of `{}`: {}", self.path, listed(&absent, 10));
        Ok((!absent.is_empty())
            .then(|| self.fault(what(), remedy))
            .into_iter()
            .collect())
    }
}

/// Returns the file that a line of requirements includes: `-r other.txt`.
fn included(line: &str) -> Option<&str> {
    let rest = ["--requirement", "-r"]
        .iter()
        .find_map(|option| line.strip_prefix(option))?;
    let file = rest.trim_start_matches(['=', ' ', '\t']).trim();
    (!file.is_empty() && !file.contains("://")).then_some(file)
}

/// Returns the name of a requirement, in the form in which names are compared (PEP 503).
fn name_of(requirement: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let end = requirement
        .find(|c| !is_of_name(c))
        .unwrap_or(requirement.len());
    let name = requirement.get(..end).unwrap_or_default();
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}
