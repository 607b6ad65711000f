//! Lock files of Python: in step with what `pyproject.toml` declares, or with the `requirements.in` that one is made of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::manifest::{Fault, Manifest, below};
use super::python::{name_of, specifier_of_poetry};
use super::toml;
use crate::oracle::OracleError;
use crate::oracle::wording::listed;

struct Manager {
    /// Its section below `tool` in `pyproject.toml`.
    section: &'static str,
    lock: &'static str,
    /// What makes the lock file.
    command: &'static str,
    /// Whether it locks all groups and extras too, and not only what is always needed.
    locks_groups: bool,
}

const MANAGERS: &[Manager] = &[
    manager("poetry", "poetry.lock", "poetry lock", true),
    manager("uv", "uv.lock", "uv lock", true),
    manager("pdm", "pdm.lock", "pdm lock", false),
];

const fn manager(
    section: &'static str,
    lock: &'static str,
    command: &'static str,
    locks_groups: bool,
) -> Manager {
    Manager {
        section,
        lock,
        command,
        locks_groups,
    }
}

impl Manifest<'_> {
    /// Returns what is wrong with the lock files of a `pyproject.toml`.
    ///
    /// # Errors
    /// Python, which compares the versions, cannot be asked.
    pub(super) fn python_locks(&self, document: &Value) -> Result<Vec<Fault>, OracleError> {
        let mut faults = Vec::new();
        for manager in MANAGERS {
            let is_used = document.pointer(&format!("/tool/{}", manager.section));
            let lock = self
                .text(manager.lock)
                .or_else(|| self.of_workspace(manager));
            match lock {
                None if is_used.is_some() => {
                    faults.push(self.unlocked(&format!(" `{}`", manager.lock), manager.command));
                }
                None => {}
                Some(text) => faults.extend(self.out_of_step_with(manager, &text, document)?),
            }
        }
        Ok(faults)
    }

    /// Returns the lock file of the workspace of uv that this project is in.
    fn of_workspace(&self, manager: &Manager) -> Option<String> {
        let (dir, lock) = self
            .above(manager.lock)
            .filter(|_| manager.section == "uv")?;
        let root = below(&dir, "pyproject.toml");
        let document = toml::read(&self.context.text(&root)?).ok()?;
        document.pointer("/tool/uv/workspace").map(|_| lock)
    }

    /// Returns a fault where a lock file does not parse, does not have what is declared, or is that of another project.
    fn out_of_step_with(
        &self,
        manager: &Manager,
        text: &str,
        document: &Value,
    ) -> Result<Option<Fault>, OracleError> {
        let Manager { lock, command, .. } = manager;
        let locked = match toml::read(text) {
            Ok(document) => Locked::of(&document),
            Err(error) => {
                let first = error.lines().next().unwrap_or_default();
                let what = format!(
                    "the lock file `{lock}` of `{}` does not parse: {first}",
                    self.path
                );
                return Ok(Some(self.fault(what, self.command(command))));
            }
        };
        let own = self.own_projects();
        let mut declared = declared(document, manager.locks_groups);
        declared.retain(|requirement| !own.contains(&name_of(requirement)));
        let mut told: Vec<(String, String)> = Vec::new();
        let mut asked = Vec::new();
        for requirement in &declared {
            let name = name_of(requirement);
            match locked.versions.get(&name) {
                None => told.push((name.clone(), format!("it does not name {name}"))),
                Some(versions) if versions.is_empty() => {}
                Some(versions) => asked.push(format!("{requirement}\t{}", versions.join("\t"))),
            }
        }
        if manager.section == "uv" {
            told.extend(not_repeated(document, &declared, &own, &locked));
        }
        let differing = self.ask_python(&asked)?.into_iter();
        told.extend(differing.map(|said| (name_of(&said), said)));
        let mut seen = BTreeSet::new();
        told.retain(|(name, _)| seen.insert(name.clone()));
        let what = format!("the lock file `{lock}` is out of step with `{}`", self.path);
        Ok(self.of_each(what, told, self.command(command)))
    }

    /// Returns what the `requirements.in` beside a `requirements.txt` names and that does not, which is made of it.
    pub(super) fn not_compiled(&self, names: &[String]) -> Option<Fault> {
        let source = format!("{}.in", self.path.strip_suffix(".txt")?);
        let text = self.context.text(&source)?;
        let lines = text.lines().map(str::trim);
        let is_named = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphanumeric());
        let wanted = lines.filter(is_named).filter(|line| !line.contains("://"));
        let mut absent: Vec<String> = wanted.map(name_of).collect();
        absent.retain(|name| !names.contains(name));
        (!absent.is_empty()).then(|| {
            let what = format!(
                "`{}` is out of step with `{source}`: it does not name {}",
                self.path,
                listed(&absent, 10)
            );
            Fault {
                packages: absent,
                ..self.fault(what, format!("make it anew: `pip-compile {source}`"))
            }
        })
    }
}

/// What a lock file has.
struct Locked {
    /// The versions of each package; none of one that lies in the project.
    versions: BTreeMap<String, Vec<String>>,
    /// What each package of the project declared when the lock file was made, where it repeats that.
    repeated: BTreeMap<String, BTreeSet<String>>,
}

impl Locked {
    fn of(document: &Value) -> Self {
        let (mut versions, mut repeated) = (BTreeMap::new(), BTreeMap::new());
        let packages = document.get("package").and_then(Value::as_array);
        for package in packages.into_iter().flatten() {
            let text = |key| package.get(key).and_then(Value::as_str);
            let Some(name) = text("name").map(name_of) else {
                continue;
            };
            let here: &mut Vec<String> = versions.entry(name.clone()).or_default();
            here.extend(text("version").map(str::to_owned));
            if let Some(metadata) = package.get("metadata") {
                let always = metadata.get("requires-dist").and_then(Value::as_array);
                let groups = metadata.get("requires-dev").and_then(Value::as_object);
                let groups = groups.into_iter().flatten();
                let groups = groups.filter_map(|(_, group)| group.as_array());
                let all = always.into_iter().chain(groups).flatten();
                let names = all.filter_map(|one| one.get("name")?.as_str());
                repeated.insert(name, names.map(name_of).collect());
            }
        }
        Self { versions, repeated }
    }
}

/// Returns what a lock file of uv says that a project declared, and what the project declares now, where these differ, each
/// with words: what another member of the workspace asks for is locked too.
fn not_repeated(
    document: &Value,
    declared: &[String],
    own: &[String],
    locked: &Locked,
) -> Vec<(String, String)> {
    let is_dynamic =
        |key: &&str| toml::texts(document, "/project/dynamic").contains(&(*key).to_owned());
    let name = document.pointer("/project/name").and_then(Value::as_str);
    let Some(name) = name.map(name_of) else {
        return Vec::new();
    };
    if !locked.versions.contains_key(&name) {
        return vec![(name.clone(), format!("it does not know the project {name}"))];
    }
    if ["dependencies", "optional-dependencies"]
        .iter()
        .any(is_dynamic)
        || locked.repeated.is_empty()
    {
        return Vec::new();
    }
    let nothing = BTreeSet::new();
    let then = locked.repeated.get(&name).unwrap_or(&nothing);
    let now: BTreeSet<String> = declared.iter().map(|one| name_of(one)).collect();
    let fresh = now.difference(then);
    let fresh = fresh.map(|one| {
        (
            one.clone(),
            format!("it does not know that {name} needs {one}"),
        )
    });
    let gone = then.difference(&now).filter(|one| !own.contains(one));
    let gone = gone.map(|one| (one.clone(), format!("it still has {one} for {name}")));
    fresh.chain(gone).collect()
}

/// Returns what a project declares: what is always needed, and what its groups and extras are if these are asked for.
fn declared(document: &Value, with_groups: bool) -> Vec<String> {
    let mut declared = toml::texts(document, "/project/dependencies");
    let mut of_poetry = vec![document.pointer("/tool/poetry/dependencies")];
    if with_groups {
        for groups in ["/project/optional-dependencies", "/dependency-groups"] {
            let groups = document.pointer(groups).and_then(Value::as_object);
            let lists = groups
                .into_iter()
                .flatten()
                .filter_map(|(_, list)| list.as_array());
            // A group may include another, which stands there itself.
            let texts = lists.flatten().filter_map(Value::as_str);
            declared.extend(texts.map(str::to_owned));
        }
        declared.extend(toml::texts(document, "/tool/uv/dev-dependencies"));
        of_poetry.push(document.pointer("/tool/poetry/dev-dependencies"));
        let groups = document
            .pointer("/tool/poetry/group")
            .and_then(Value::as_object);
        let groups = groups.into_iter().flatten();
        of_poetry.extend(groups.map(|(_, group)| group.get("dependencies")));
    }
    let of_poetry = of_poetry.into_iter().flatten().filter_map(Value::as_object);
    let of_poetry = of_poetry.flatten().filter(|(name, _)| *name != "python");
    declared.extend(of_poetry.map(|(name, wanted)| {
        let wanted = wanted.get("version").unwrap_or(wanted).as_str();
        format!(
            "{name}{}",
            wanted.map_or(String::new(), specifier_of_poetry)
        )
    }));
    declared
}
