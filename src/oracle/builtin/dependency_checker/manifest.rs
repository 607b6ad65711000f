//! Manifests and lock files: whether they are there, in step, and their packages at hand.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::oracle::HookContext;
use crate::oracle::OracleError;
use crate::oracle::builtin::test_gate::runner::in_time;
use crate::oracle::builtin::test_gate::tally::shortened;
use crate::oracle::builtin::wording::listed;
use crate::process::Exit;
use crate::process::Finished;
use crate::process::Program;
use crate::process::installed;

/// The manifests that are looked for.
pub(super) const NAMES: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
];

/// Something that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The file that it is about.
    pub(super) file: String,
    /// What is not met.
    pub(super) what: String,
    /// What mends it.
    pub(super) remedy: String,
}

/// Whether a file is a manifest that is understood, by its name.
pub(super) fn is_known(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || is_requirements(name)
}

fn is_requirements(name: &str) -> bool {
    name.starts_with("requirements") && name.strip_suffix(".txt").is_some()
}

/// Checks one manifest.
///
/// # Errors
/// A program that was asked did not end in time.
pub(super) fn check(context: &HookContext, path: &str) -> Result<Vec<Fault>, OracleError> {
    let manifest = Manifest {
        context,
        path,
        dir: path.rsplit_once('/').map_or("", |(dir, _)| dir),
    };
    let text = match context.workspace().read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            return Ok(vec![manifest.fault(
                format!("`{path}` cannot be read: {error}"),
                format!("restore `{path}`, or take it out of `manifest_files`"),
            )]);
        }
    };
    match path.rsplit('/').next().unwrap_or(path) {
        "Cargo.toml" => manifest.cargo(&text),
        "package.json" => Ok(manifest.npm(&text)),
        "pyproject.toml" => manifest.pyproject(&text),
        "go.mod" => Ok(manifest.go(&text)),
        _ => manifest.requirements(&text),
    }
}

struct Manifest<'a> {
    context: &'a HookContext,
    path: &'a str,
    dir: &'a str,
}

impl Manifest<'_> {
    fn fault(&self, what: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            file: self.path.to_owned(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Returns the path of a file beside the manifest.
    fn beside(&self, name: &str) -> String {
        if self.dir.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.dir)
        }
    }

    fn has(&self, name: &str) -> bool {
        self.context.workspace().exists(&self.beside(name))
    }

    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.context.workspace().read(&self.beside(name)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn run(&self, arguments: &[&str]) -> Result<Finished, OracleError> {
        let finished = Program::new(arguments.iter().map(|&a| a.to_owned()).collect())
            .dir(self.context.root().join(self.dir))
            .env("NO_COLOR", "1")
            .env("CARGO_TERM_COLOR", "never")
            .deadline(in_time(self.context))
            .max_output(64 << 20)
            .run()
            .map_err(|e| OracleError::failed(e.to_string()))?;
        if finished.exit == Exit::TimedOut {
            let name = arguments
                .iter()
                .take(2)
                .copied()
                .collect::<Vec<_>>()
                .join(" ");
            return Err(OracleError::TimedOut(format!(
                "`{name}` did not end in time"
            )));
        }
        Ok(finished)
    }

    fn broken(&self, error: &str) -> Fault {
        self.fault(
            format!(
                "`{}` does not parse: {}",
                self.path,
                shortened(error.lines().next().unwrap_or_default(), 160)
            ),
            format!("mend the syntax of `{}`", self.path),
        )
    }

    fn cargo(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        if let Some(error) = toml_error(text) {
            return Ok(vec![self.broken(&error)]);
        }
        // A member of a workspace has its lock file in a directory above.
        let above = self.context.root().join(self.dir);
        let is_locked = above.ancestors().any(|dir| dir.join("Cargo.lock").exists());
        if !is_locked {
            return Ok(vec![self.fault(
                format!("the lock file of `{}` is missing", self.path),
                "run `cargo generate-lockfile`",
            )]);
        }
        if installed("cargo").is_none() || !self.context.workspace().is_on_disk() {
            return Ok(Vec::new());
        }
        let finished = self.run(&[
            "cargo",
            "metadata",
            "--locked",
            "--offline",
            "--format-version",
            "1",
            "--quiet",
        ])?;
        if finished.exit.is_success() {
            return Ok(Vec::new());
        }
        let said = finished.stderr_text();
        if said.contains("--locked was passed")
            || said.contains("needs to be updated")
            || said.contains("cannot update the lock file")
        {
            return Ok(vec![self.fault(
                format!("the lock file is out of step with `{}`", self.path),
                "run `cargo update --workspace` and keep the new `Cargo.lock`",
            )]);
        }
        let reason: Vec<&str> = said
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with("Caused by"))
            .take(3)
            .collect();
        let reason = shortened(&reason.join(" "), 300);
        let is_absent = said.contains("offline")
            || said.contains("failed to download")
            || said.contains("no matching package");
        let remedy = if is_absent {
            "run `cargo fetch`".to_owned()
        } else {
            format!("mend `{}`", self.path)
        };
        Ok(vec![self.fault(
            format!(
                "the dependencies of `{}` cannot be resolved: {}",
                self.path,
                reason.trim_start_matches("error: ")
            ),
            remedy,
        )])
    }

    fn npm(&self, text: &str) -> Vec<Fault> {
        let package: Value = match serde_json::from_str(text) {
            Ok(package) => package,
            Err(error) => return vec![self.broken(&error.to_string())],
        };
        let declared = |key: &str| -> BTreeMap<String, String> {
            let entries = package.get(key).and_then(Value::as_object);
            let entries = entries.into_iter().flatten();
            entries
                .filter_map(|(name, version)| Some((name.clone(), version.as_str()?.to_owned())))
                .collect()
        };
        let mut wanted = declared("dependencies");
        wanted.extend(declared("devDependencies"));
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut faults = Vec::new();
        let lock = self
            .text("package-lock.json")
            .or_else(|| self.text("npm-shrinkwrap.json"));
        let others = ["yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"];
        let (install, other) = match others.iter().find(|name| self.has(name)) {
            Some(&"yarn.lock") => ("yarn install --frozen-lockfile", true),
            Some(&"pnpm-lock.yaml") => ("pnpm install --frozen-lockfile", true),
            Some(_) => ("bun install --frozen-lockfile", true),
            None => ("npm ci", false),
        };
        let mut locked = BTreeMap::new();
        match &lock {
            None if other => {}
            None => faults.push(self.fault(
                format!("the lock file of `{}` is missing", self.path),
                "run `npm install`",
            )),
            Some(text) => match serde_json::from_str::<Value>(text) {
                Err(error) => faults.push(self.fault(
                    format!("the lock file of `{}` does not parse: {error}", self.path),
                    "run `npm install`",
                )),
                Ok(lock) => {
                    // Lock files of version 1 do not repeat what the manifest declares.
                    if let Some(root) = lock
                        .pointer("/packages")
                        .and_then(|packages| packages.get(""))
                    {
                        for key in ["dependencies", "devDependencies"] {
                            let in_lock: BTreeMap<&str, &str> = root
                                .get(key)
                                .and_then(Value::as_object)
                                .into_iter()
                                .flatten()
                                .filter_map(|(name, version)| {
                                    Some((name.as_str(), version.as_str()?))
                                })
                                .collect();
                            let declared = declared(key);
                            let differing: Vec<&str> = declared
                                .iter()
                                .filter(|(name, version)| {
                                    in_lock.get(name.as_str()) != Some(&version.as_str())
                                })
                                .map(|(name, _)| name.as_str())
                                .chain(
                                    in_lock
                                        .keys()
                                        .copied()
                                        .filter(|name| !declared.contains_key(*name)),
                                )
                                .collect();
                            if !differing.is_empty() {
                                faults.push(self.fault(
                                    format!(
                                        "the lock file is out of step with `{}`: {}",
                                        self.path,
                                        listed(&differing, 5)
                                    ),
                                    "run `npm install` and keep the new lock file",
                                ));
                            }
                        }
                    }
                    for name in wanted.keys() {
                        let version = lock.get("packages").and_then(|p| {
                            p.get(format!("node_modules/{name}"))?
                                .get("version")?
                                .as_str()
                        });
                        if let Some(version) = version {
                            locked.insert(name.clone(), version.to_owned());
                        }
                    }
                }
            },
        }
        let root = self.context.root().join(self.dir);
        let mut absent = Vec::new();
        let mut differing = Vec::new();
        for (name, version) in &wanted {
            // Node looks in every directory above too.
            let found = root.ancestors().find_map(|dir| {
                std::fs::read(dir.join("node_modules").join(name).join("package.json")).ok()
            });
            let Some(found) = found else {
                absent.push(format!("{name} {version}"));
                continue;
            };
            let here = serde_json::from_slice::<Value>(&found)
                .ok()
                .and_then(|p| Some(p.get("version")?.as_str()?.to_owned()));
            if let (Some(here), Some(locked)) = (here, locked.get(name))
                && here != *locked
            {
                differing.push(format!("{name} is {here} and not {locked}"));
            }
        }
        if !absent.is_empty() {
            faults.push(self.fault(
                format!("not installed of `{}`: {}", self.path, listed(&absent, 10)),
                format!("run `{install}`"),
            ));
        }
        if !differing.is_empty() {
            faults.push(self.fault(
                format!(
                    "installed in other versions than `{}` locks: {}",
                    self.path,
                    listed(&differing, 10)
                ),
                format!("run `{install}`"),
            ));
        }
        faults
    }

    fn pyproject(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        if let Some(error) = toml_error(text) {
            return Ok(vec![self.broken(&error)]);
        }
        let mut faults = Vec::new();
        for (section, lock, command) in [
            ("[tool.poetry", "poetry.lock", "poetry lock"),
            ("[tool.uv", "uv.lock", "uv lock"),
            ("[tool.pdm", "pdm.lock", "pdm lock"),
        ] {
            if text.contains(section) && !self.has(lock) {
                faults.push(self.fault(
                    format!("the lock file `{lock}` of `{}` is missing", self.path),
                    format!("run `{command}`"),
                ));
            }
        }
        let requirements = toml_texts(text, &["project", "dependencies"]);
        faults.extend(self.installed(&requirements, "pip install -e .")?);
        Ok(faults)
    }

    fn requirements(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        let mut requirements = Vec::new();
        for (number, line) in (1_u32..).zip(text.lines()) {
            let line = line.split(" #").next().unwrap_or_default().trim();
            // Options, and packages from addresses and paths, have no name that could be looked for.
            if line.is_empty() || line.starts_with(['#', '-', '.', '/']) || line.contains("://") {
                continue;
            }
            if !line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                return Ok(vec![self.broken(&format!("line {number}: `{line}`"))]);
            }
            requirements.push(line.trim_end_matches('\\').trim().to_owned());
        }
        self.installed(&requirements, &format!("pip install -r {}", self.path))
    }

    /// Asks the project's Python which distributions are not there.
    fn installed(&self, requirements: &[String], install: &str) -> Result<Vec<Fault>, OracleError> {
        const ASK: &str = "import sys\nfrom importlib import metadata\nfor line in sys.stdin:\n    name, _, version = line.rstrip('\\n').partition('\\t')\n    try:\n        here = metadata.version(name)\n    except metadata.PackageNotFoundError:\n        print(name)\n    else:\n        if version and here != version:\n            print(f'{name} is {here} and not {version}')\n";
        // A marker says that it may not be wanted here.
        let wanted: Vec<String> = requirements
            .iter()
            .filter(|r| !r.contains(';'))
            .map(|r| pinned(r))
            .collect();
        if wanted.is_empty() || !self.context.workspace().is_on_disk() {
            return Ok(Vec::new());
        }
        let root = self.context.root().join(self.dir);
        let own = [".venv/bin/python", "venv/bin/python"]
            .iter()
            .map(|p| root.join(p))
            .find(|p| p.exists());
        let python = match own {
            Some(python) => python.to_string_lossy().into_owned(),
            None => ["python3", "python"]
                .iter()
                .find(|p| installed(p).is_some())
                .map_or("python3", |p| p)
                .to_owned(),
        };
        let finished = Program::new(vec![python, "-c".to_owned(), ASK.to_owned()])
            .dir(&root)
            .stdin(wanted.join("\n") + "\n")
            .deadline(in_time(self.context))
            .run()
            .map_err(|e| OracleError::failed(e.to_string()))?;
        match finished.exit {
            Exit::TimedOut => {
                return Err(OracleError::TimedOut(
                    "Python did not answer in time".to_owned(),
                ));
            }
            exit if !exit.is_success() => {
                return Err(OracleError::failed(format!(
                    "Python cannot tell what is installed: {}",
                    finished.stderr_text().lines().last().unwrap_or_default()
                )));
            }
            _ => {}
        }
        let told = finished.stdout_text();
        let absent: Vec<&str> = told.lines().collect();
        Ok(if absent.is_empty() {
            Vec::new()
        } else {
            vec![self.fault(
                format!("not installed of `{}`: {}", self.path, listed(&absent, 10)),
                format!("run `{install}`"),
            )]
        })
    }

    fn go(&self, text: &str) -> Vec<Fault> {
        if !text
            .lines()
            .any(|line| line.trim_start().starts_with("module "))
        {
            return vec![self.broken("it has no `module` line")];
        }
        let mut required = Vec::new();
        let mut in_block = false;
        let mut replaced = Vec::new();
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if line.starts_with("require (") {
                in_block = true;
            } else if line == ")" {
                in_block = false;
            } else if let Some(rest) = line.strip_prefix("replace ") {
                replaced.extend(rest.split_whitespace().next());
            } else {
                let entry = if in_block {
                    Some(line)
                } else {
                    line.strip_prefix("require ")
                };
                let mut words = entry.unwrap_or_default().split_whitespace();
                if let (Some(module), Some(version)) = (words.next(), words.next()) {
                    required.push((module, version));
                }
            }
        }
        required.retain(|(module, _)| !replaced.contains(module));
        if required.is_empty() {
            return Vec::new();
        }
        let Some(sums) = self.text("go.sum") else {
            return vec![self.fault(
                format!("the lock file `go.sum` of `{}` is missing", self.path),
                "run `go mod tidy`",
            )];
        };
        let absent: Vec<String> = required
            .iter()
            .filter(|(module, version)| {
                !sums.lines().any(|line| {
                    line.starts_with(&format!("{module} {version}/go.mod "))
                        || line.starts_with(&format!("{module} {version} "))
                })
            })
            .map(|(module, version)| format!("{module} {version}"))
            .collect();
        if absent.is_empty() {
            Vec::new()
        } else {
            vec![self.fault(
                format!(
                    "`go.sum` is out of step with `{}`: {}",
                    self.path,
                    listed(&absent, 10)
                ),
                "run `go mod tidy`",
            )]
        }
    }
}

/// Returns the name of a requirement, and its version after a tab where it is pinned: `a[x]==1.2` gives `a`, `1.2`.
fn pinned(requirement: &str) -> String {
    let end = requirement
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(requirement.len());
    let (name, rest) = requirement.split_at(end);
    let version = rest
        .split_once("==")
        .map(|(_, version)| version.trim_start_matches('='));
    let version = version.and_then(|v| v.split([',', ' ', ';']).find(|part| !part.is_empty()));
    match version {
        Some(version) if !version.contains('*') => format!("{name}\t{version}"),
        _ => name.to_owned(),
    }
}

/// Returns what is wrong with a TOML document.
#[cfg(feature = "cli")]
fn toml_error(text: &str) -> Option<String> {
    let error = text.parse::<toml_edit::DocumentMut>().err()?;
    Some(error.to_string())
}

#[cfg(not(feature = "cli"))]
fn toml_error(_: &str) -> Option<String> {
    None
}

/// Returns a list of texts in a TOML document.
#[cfg(feature = "cli")]
fn toml_texts(text: &str, path: &[&str]) -> Vec<String> {
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else {
        return Vec::new();
    };
    let mut item = document.as_item();
    for key in path {
        match item.get(key) {
            Some(inner) => item = inner,
            None => return Vec::new(),
        }
    }
    let items = item.as_array().into_iter().flatten();
    items
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

#[cfg(not(feature = "cli"))]
fn toml_texts(_: &str, _: &[&str]) -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_requirement_gives_its_version() {
        for (requirement, expected) in [
            ("flask", "flask"),
            ("flask>=2,<3", "flask"),
            ("flask==2.1.0", "flask\t2.1.0"),
            ("uvicorn[standard] == 0.30", "uvicorn\t0.30"),
            ("a~=1.2", "a"),
            ("a==1.*", "a"),
        ] {
            assert_eq!(pinned(requirement), expected);
        }
    }
}
