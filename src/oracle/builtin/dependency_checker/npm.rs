//! Npm, Yarn, pnpm and Bun: the lock file in step with `package.json`, and `node_modules` with the lock file.

use std::collections::BTreeSet;

use serde_json::Value;

use super::manifest::{Fault, Manifest};
use super::npm_lock::{Declared, KINDS, Kind, Locked, NEEDED, Package, Wanted, declared};
use crate::oracle::wording::listed;

impl Manifest<'_> {
    pub(super) fn npm(&self, text: &str) -> Vec<Fault> {
        let package: Value = match serde_json::from_str(text) {
            Ok(package) => package,
            Err(error) => return vec![self.broken(&error.to_string())],
        };
        let mut wanted = declared(&package, NEEDED);
        let optional = declared(&package, &["optionalDependencies"]);
        wanted.retain(|name, _| !optional.contains_key(name));
        if wanted.is_empty() {
            return Vec::new();
        }
        let members = self.members();
        let mut faults = Vec::new();
        let mut versions = Wanted::new();
        let mut install = None;
        for kind in KINDS {
            // A member of a workspace has its lock file in a directory above.
            let Some((dir, lock)) = self.above(kind.name) else {
                continue;
            };
            let own = self.dir.strip_prefix(&dir).unwrap_or(self.dir);
            let asked = Package {
                own: own.trim_start_matches('/'),
                wanted: &wanted,
                members: &members,
            };
            install = Some(kind.install);
            match kind.read(&lock, &asked) {
                Err(error) => faults.push(self.fault(
                    format!("the lock file of `{}` does not parse: {error}", self.path),
                    self.command(kind.renew),
                )),
                Ok(locked) => {
                    faults.extend(self.out_of_step(*kind, &package, &wanted, &locked));
                    versions.extend(locked.versions);
                }
            }
        }
        if install.is_none() {
            faults.push(self.unlocked("", "npm install"));
        }
        faults.extend(self.not_installed(&wanted, &versions, install.unwrap_or("npm ci")));
        faults
    }

    /// Returns the names of the packages that the project itself has.
    fn members(&self) -> BTreeSet<String> {
        let workspace = self.context.workspace();
        let name = |path: &String| {
            let package: Value = serde_json::from_slice(&workspace.read(path).ok()?).ok()?;
            Some(package.get("name")?.as_str()?.to_owned())
        };
        let found = workspace.list("**/package.json");
        found.iter().filter_map(name).collect()
    }

    /// Compares what is declared with what the lock file says was declared when it was made.
    fn out_of_step(
        &self,
        kind: Kind,
        package: &Value,
        wanted: &Wanted,
        locked: &Locked,
    ) -> Option<Fault> {
        let remedy = format!("{} and keep the new lock file", self.command(kind.renew));
        let then = match &locked.declared {
            Declared::Unsaid => return None,
            Declared::Nothing => {
                let what = format!(
                    "the lock file `{}` does not know `{}`",
                    kind.name, self.path
                );
                return Some(self.fault(what, remedy));
            }
            Declared::These(then) => then,
        };
        let now = declared(
            package,
            &["dependencies", "devDependencies", "optionalDependencies"],
        );
        let changed = wanted
            .iter()
            .filter(|(name, spec)| then.get(*name) != Some(spec));
        let gone = then.iter().filter(|(name, _)| !now.contains_key(*name));
        let differing: Vec<&String> = changed.chain(gone).map(|(name, _)| name).collect();
        (!differing.is_empty()).then(|| {
            let what = format!(
                "the lock file `{}` is out of step with `{}`: {}",
                kind.name,
                self.path,
                listed(&differing, 5)
            );
            Fault {
                packages: differing.into_iter().cloned().collect(),
                ..self.fault(what, remedy)
            }
        })
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
                absent.push((name, format!("{name} {version}")));
                continue;
            };
            let here = serde_json::from_slice::<Value>(&found)
                .ok()
                .and_then(|p| Some(p.get("version")?.as_str()?.to_owned()));
            if let (Some(here), Some(locked)) = (here, locked.get(name))
                && here != *locked
            {
                differing.push((name, format!("{name} is {here} and not {locked}")));
            }
        }
        let path = self.path;
        [
            (format!("not installed of `{path}`"), absent),
            (
                format!("installed in other versions than `{path}` locks"),
                differing,
            ),
        ]
        .into_iter()
        .filter_map(|(what, found)| self.of_each(what, found, self.command(install)))
        .collect()
    }
}
