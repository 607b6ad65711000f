//! Npm: the lock file in step with `package.json`, and `node_modules` with the lock file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::manifest::Fault;
use super::manifest::Manifest;
use crate::oracle::wording::listed;

/// The lock files of other managers of packages than npm, and how each installs what is locked.
const OTHERS: &[(&str, &str)] = &[
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
];

/// What a package wants, by name.
type Wanted = BTreeMap<String, String>;

impl Manifest<'_> {
    pub(super) fn npm(&self, text: &str) -> Vec<Fault> {
        let package: Value = match serde_json::from_str(text) {
            Ok(package) => package,
            Err(error) => return vec![self.broken(&error.to_string())],
        };
        let mut wanted = declared(&package, "dependencies");
        wanted.extend(declared(&package, "devDependencies"));
        let optional = declared(&package, "optionalDependencies");
        wanted.retain(|name, _| !optional.contains_key(name));
        if wanted.is_empty() {
            return Vec::new();
        }
        // A member of a workspace has its lock file in a directory above.
        let above = |name: &str| self.above(name);
        let other = OTHERS.iter().find(|(lock, _)| above(lock).is_some());
        let found = above("package-lock.json").or_else(|| above("npm-shrinkwrap.json"));
        let (dir, lock) = found.unzip();
        let dir = dir.unwrap_or_default();
        let own = self
            .dir
            .strip_prefix(&dir)
            .unwrap_or(self.dir)
            .trim_start_matches('/');
        let mut faults = Vec::new();
        let mut locked = BTreeMap::new();
        match lock.as_deref().map(serde_json::from_str::<Value>) {
            None if other.is_some() => {}
            None => faults.push(self.fault(
                format!("the lock file of `{}` is missing", self.path),
                self.command("npm install"),
            )),
            Some(Err(error)) => faults.push(self.fault(
                format!("the lock file of `{}` does not parse: {error}", self.path),
                self.command("npm install"),
            )),
            Some(Ok(lock)) => {
                faults.extend(self.out_of_step(&package, &lock, own));
                locked = locked_versions(&wanted, &lock, own);
            }
        }
        let install = other.map_or("npm ci", |(_, install)| install);
        faults.extend(self.not_installed(&wanted, &locked, install));
        faults
    }

    /// Compares what is declared with what the lock file says was declared when it was made.
    fn out_of_step(&self, package: &Value, lock: &Value, own: &str) -> Vec<Fault> {
        // Lock files of version 1 do not repeat what the manifest declares.
        let Some(packages) = lock.get("packages") else {
            return Vec::new();
        };
        let Some(root) = packages.get(own) else {
            return vec![self.fault(
                format!("the lock file does not know `{}`", self.path),
                format!("{} and keep the new lock file", self.command("npm install")),
            )];
        };
        let differing = |key| {
            let (declared, in_lock) = (declared(package, key), declared(root, key));
            let changed = declared
                .iter()
                .filter(|(name, version)| in_lock.get(*name) != Some(version));
            let gone = in_lock
                .iter()
                .filter(|(name, _)| !declared.contains_key(*name));
            changed
                .chain(gone)
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        ["dependencies", "devDependencies"]
            .into_iter()
            .map(differing)
            .filter(|names| !names.is_empty())
            .map(|names| {
                self.fault(
                    format!(
                        "the lock file is out of step with `{}`: {}",
                        self.path,
                        listed(&names, 5)
                    ),
                    format!("{} and keep the new lock file", self.command("npm install")),
                )
            })
            .collect()
    }

    /// Compares what is wanted and locked with what lies in `node_modules`.
    fn not_installed(&self, wanted: &Wanted, locked: &Wanted, install: &str) -> Vec<Fault> {
        let root = self.context.root().join(self.dir);
        let mut absent = Vec::new();
        let mut differing = Vec::new();
        for (name, version) in wanted {
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
        let mut faults = Vec::new();
        if !absent.is_empty() {
            faults.push(self.fault(
                format!("not installed of `{}`: {}", self.path, listed(&absent, 10)),
                self.command(install),
            ));
        }
        if !differing.is_empty() {
            faults.push(self.fault(
                format!(
                    "installed in other versions than `{}` locks: {}",
                    self.path,
                    listed(&differing, 10)
                ),
                self.command(install),
            ));
        }
        faults
    }
}

/// Returns what a package declares under a key.
fn declared(package: &Value, key: &str) -> Wanted {
    let entries = package.get(key).and_then(Value::as_object);
    let entries = entries.into_iter().flatten();
    entries
        .filter_map(|(name, version)| Some((name.clone(), version.as_str()?.to_owned())))
        .collect()
}

/// Returns the version that a lock file gives each package, for the package in the directory `own`.
fn locked_versions(wanted: &Wanted, lock: &Value, own: &str) -> Wanted {
    let packages = lock.get("packages");
    let version = |name: &String| {
        let nested = packages?.get(format!("{own}/node_modules/{name}"));
        let entry = nested.or_else(|| packages?.get(format!("node_modules/{name}")))?;
        Some((name.clone(), entry.get("version")?.as_str()?.to_owned()))
    };
    wanted.keys().filter_map(version).collect()
}
