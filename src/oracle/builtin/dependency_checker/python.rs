//! Python: lock files that are there, and distributions that are installed.

use super::manifest::Fault;
use super::manifest::Manifest;
use super::toml;
use crate::oracle::OracleError;
use crate::oracle::builtin::test_gate::runner::in_time;
use crate::oracle::builtin::wording::listed;
use crate::process::Exit;
use crate::process::Program;
use crate::process::installed;

impl Manifest<'_> {
    pub(super) fn pyproject(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        if let Some(error) = toml::error(text) {
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
                    self.command(command),
                ));
            }
        }
        let requirements = toml::texts(text, &["project", "dependencies"]);
        faults.extend(self.installed(&requirements, &self.command("pip install -e ."))?);
        Ok(faults)
    }

    pub(super) fn requirements(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
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
        self.installed(
            &requirements,
            &format!("run `pip install -r {}`", self.path),
        )
    }

    /// Asks the project's Python which distributions are not there.
    fn installed(&self, requirements: &[String], remedy: &str) -> Result<Vec<Fault>, OracleError> {
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
        let found = || ["python3", "python"].iter().find_map(|p| installed(p));
        let Some(python) = own.or_else(found) else {
            return Err(OracleError::failed(format!(
                "Python is not installed, so that nobody can tell which packages of `{}` are",
                self.path
            )));
        };
        let python = python.to_string_lossy().into_owned();
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
                remedy,
            )]
        })
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
