//! Python: lock files that are there and in step, and distributions that are installed.

use super::manifest::{Fault, Manifest, below};
use super::toml;
use crate::oracle::wording::last_said;
use crate::oracle::{OracleError, toolchain};
use crate::process::{Program, installed};

/// How many files of requirements may include one another.
const MOST_FILES: usize = 50;

/// Asks a Python which requirements are not met there, and of those that have versions behind them (and tabs between), which
/// these do not meet; versions are compared by `packaging`, which pip carries too.
const ASK: &str = include_str!("ask.py");

impl Manifest<'_> {
    pub(super) fn pyproject(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        let document = match toml::read(text) {
            Ok(document) => document,
            Err(error) => return Ok(vec![self.broken(&error)]),
        };
        let requirements = toml::texts(&document, "/project/dependencies");
        let mut faults = self.python_locks(&document)?;
        faults.extend(self.installed(&requirements, &self.command("pip install -e ."))?);
        Ok(faults)
    }

    pub(super) fn requirements(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        let (mut requirements, mut constraints) = (Vec::new(), Vec::new());
        let mut files = vec![(self.path.to_owned(), text.to_owned(), false)];
        let mut at = 0;
        while let Some((path, text, is_constraint)) = files.get(at).cloned() {
            at += 1;
            // A line may go on in the next.
            let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
            for (number, line) in (1_u32..).zip(text.lines()) {
                let line = line.split(" #").next().unwrap_or_default().trim();
                if let Some((other, constrains)) = included(line) {
                    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
                    let other = below(dir, other);
                    if files.len() < MOST_FILES && files.iter().all(|(known, ..)| *known != other) {
                        let Some(text) = self.context.text(&other) else {
                            let what = format!("`{path}` includes `{other}`, which cannot be read");
                            return Ok(vec![self.fault(what, format!("restore `{other}`"))]);
                        };
                        files.push((other, text, is_constraint || constrains));
                    }
                    continue;
                }
                // Options, and packages from addresses and paths, have no name that could be looked for.
                let named = line.split_once('@').map(|(name, _)| name.trim());
                let is_name = |name: &&str| !name.contains([':', '/', '+']);
                let direct;
                let line = match named.filter(is_name) {
                    // `name @ https://…`: whatever it comes from, it is installed by its name.
                    Some(name) if line.contains("://") => {
                        let marker = line.split_once(" ;").map_or("", |(_, marker)| marker);
                        direct = format!("{name} ;{marker}");
                        direct.trim_end_matches([' ', ';'])
                    }
                    _ => line,
                };
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
                let list = if is_constraint {
                    &mut constraints
                } else {
                    &mut requirements
                };
                list.push(line.trim().to_owned());
            }
        }
        // A constraint asks for nothing; it says which versions of what is asked for will do.
        let names: Vec<String> = requirements.iter().map(|wanted| name_of(wanted)).collect();
        constraints.retain(|constraint| names.contains(&name_of(constraint)));
        requirements.append(&mut constraints);
        let mut faults: Vec<Fault> = self.not_compiled(&names).into_iter().collect();
        let remedy = format!("run `pip install -r {}`", self.path);
        faults.extend(self.installed(&requirements, &remedy)?);
        Ok(faults)
    }

    /// Asks the project's Python which requirements are not met.
    fn installed(&self, wanted: &[String], remedy: &str) -> Result<Option<Fault>, OracleError> {
        // What the project itself makes need not be installed.
        let own = self.own_projects();
        let wanted: Vec<String> = wanted
            .iter()
            .filter(|w| !own.contains(&name_of(w)))
            .cloned()
            .collect();
        let absent = self.ask_python(&wanted)?;
        let absent = absent.iter().map(|told| (name_of(told), told));
        Ok(self.of_each(format!("not installed of `{}`", self.path), absent, remedy))
    }

    /// Returns the names of the Python projects that this one has in it.
    pub(super) fn own_projects(&self) -> Vec<String> {
        let name = |path: &String| {
            let document = toml::read(&self.context.text(path)?).ok()?;
            let of_project = document.pointer("/project/name");
            let name = of_project.or_else(|| document.pointer("/tool/poetry/name"))?;
            Some(name_of(name.as_str()?))
        };
        let found = self.context.workspace().list("**/pyproject.toml");
        found.iter().filter_map(name).collect()
    }

    /// Asks the project's Python what of some requirements is not met.
    pub(super) fn ask_python(&self, wanted: &[String]) -> Result<Vec<String>, OracleError> {
        if wanted.is_empty() || !self.context.workspace().is_on_disk() {
            return Ok(Vec::new());
        }
        let root = self.context.root().join(self.dir);
        let own = [".venv/bin/python", "venv/bin/python"]
            .iter()
            .map(|p| root.join(p))
            .find(|p| p.exists());
        if own.is_some() {
            self.context.permits_programs()?;
        }
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
        Ok(finished.stdout_text().lines().map(str::to_owned).collect())
    }
}

/// Writes a version of Poetry as Python's standard has it: `^1.2` is `>=1.2,<2`, `~1.2` is `>=1.2,<1.3`, a bare version is exact.
pub(super) fn specifier_of_poetry(wanted: &str) -> String {
    let bounded = |version: &str, keeps: &dyn Fn(usize, &[u64]) -> bool| {
        let numbers: Option<Vec<u64>> = version.split('.').map(|n| n.parse().ok()).collect();
        let numbers = numbers?;
        let at = (0..numbers.len()).find(|at| keeps(*at, &numbers))?;
        let mut above: Vec<String> = numbers.iter().take(at).map(u64::to_string).collect();
        above.push((numbers.get(at)? + 1).to_string());
        Some(format!(">={version},<{}", above.join(".")))
    };
    let one = |part: &str| {
        if let Some(version) = part.strip_prefix('^') {
            // The first number that is not zero stays, else the last.
            return bounded(version, &|at, numbers| {
                numbers.get(at) != Some(&0) || at + 1 == numbers.len()
            });
        }
        match part.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
            Some(version) => bounded(version, &|at, numbers| at == 1.min(numbers.len() - 1)),
            None if part == "*" => Some(String::new()),
            None if part.starts_with(|c: char| c.is_ascii_digit()) => Some(format!("=={part}")),
            None => Some(part.to_owned()),
        }
    };
    let mut text = wanted.to_owned();
    for operator in ["=", "<", ">", "^", "~"] {
        text = text.replace(&format!("{operator} "), operator);
    }
    let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
    // What has another form, like alternatives, is not compared.
    let parts: Option<Vec<String>> = parts.map(one).collect();
    let parts = parts.filter(|_| !wanted.contains("||")).unwrap_or_default();
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(",")
}

/// Returns the file that a line of requirements includes, and whether as constraints: `-r other.txt`, `-c other.txt`.
fn included(line: &str) -> Option<(&str, bool)> {
    let options = [
        ("--requirement", false),
        ("--constraint", true),
        ("-r", false),
        ("-c", true),
    ];
    let (rest, constrains) = options
        .iter()
        .find_map(|(option, constrains)| Some((line.strip_prefix(option)?, *constrains)))?;
    let file = rest.trim_start_matches(['=', ' ', '\t']).trim();
    (!file.is_empty() && !file.contains("://")).then_some((file, constrains))
}

/// Returns the name of a requirement, in the form in which names are compared (PEP 503).
pub(super) fn name_of(requirement: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let end = requirement
        .find(|c| !is_of_name(c))
        .unwrap_or(requirement.len());
    let name = requirement.get(..end).unwrap_or_default();
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}
