//! Npm, Yarn, pnpm and Bun: the lock file in step with `package.json`, and `node_modules` with the lock file.

use std::collections::BTreeSet;
use std::path::Path;

use semver::Version;
use serde_json::Value;

use super::manifest::{Fault, Manifest, below};
use super::npm_lock::{
    self, Declared, KINDS, Kind, Locked, NEEDED, Package, Wanted, declared, text_at,
};
use super::npm_range::allows;
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
        let members = self.members(&wanted);
        let overridden = self.overridden();
        let mut ranges = wanted.clone();
        ranges.retain(|name, _| !overridden.contains(name) && !members.contains(name));
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
                    faults.extend(self.not_allowed(*kind, &ranges, &locked));
                    versions.extend(locked.versions);
                }
            }
        }
        if install.is_none() {
            faults.push(self.unlocked("", "npm install"));
        }
        // Where no lock file tells a version, the range does.
        ranges.retain(|name, _| !versions.contains_key(name));
        versions.extend(ranges);
        faults.extend(self.not_installed(&wanted, &versions, install.unwrap_or("npm ci")));
        faults
    }

    /// Returns the manifests of the packages that lie in directories above, the nearest first, with their directories.
    fn packages_above(&self) -> Vec<(&str, Value)> {
        let dirs = Path::new(self.dir).ancestors().filter_map(Path::to_str);
        let read = |dir| {
            let text = self.context.text(&below(dir, "package.json"))?;
            Some((dir, serde_json::from_str(&text).ok()?))
        };
        dirs.filter_map(read).collect()
    }

    /// Returns the names of what is wanted and the workspace itself has, in a version that will do.
    fn members(&self, wanted: &Wanted) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (dir, package) in self.packages_above() {
            let path = below(dir, "package.json");
            let context = self.context;
            let root = Manifest {
                context,
                path: &path,
                dir,
            };
            let members = root.members_of(&package.to_string());
            let read = |path: String| serde_json::from_str(&context.text(&path)?).ok();
            let members: Vec<Value> = members.into_iter().filter_map(read).collect();
            let root = (!members.is_empty()).then_some(package);
            found.extend(members.into_iter().chain(root).filter_map(|member| {
                let name = text_at(&member, "name")?;
                let version = text_at(&member, "version").unwrap_or_default();
                let allowed = allows(wanted.get(&name)?, &version);
                (allowed != Some(false)).then_some(name)
            }));
        }
        found
    }

    /// Returns the names of which the project says itself which version they are to have, whatever is declared.
    fn overridden(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let yaml = self.above("pnpm-workspace.yaml");
        let yaml = yaml.and_then(|(_, text)| npm_lock::yaml(&text).ok());
        let packages = self
            .packages_above()
            .into_iter()
            .map(|(_, package)| package);
        for package in packages.chain(yaml) {
            for place in ["/overrides", "/resolutions", "/pnpm/overrides"] {
                let names = package.pointer(place).and_then(Value::as_object);
                // `a`, `a@1`, `b>a`, `b/**/a`, `@s/a`.
                found.extend(names.into_iter().flatten().map(|(key, _)| {
                    let name = key.rsplit_once('>').map_or(key.as_str(), |(_, name)| name);
                    let end = name.get(1..).and_then(|rest| rest.find('@'));
                    let name = end.and_then(|end| name.get(..=end)).unwrap_or(name);
                    let name = name.rsplit_once("**/").map_or(name, |(_, name)| name);
                    name.to_owned()
                }));
            }
        }
        found
    }

    /// Compares the versions that a lock file has chosen with what is declared.
    fn not_allowed(&self, kind: Kind, wanted: &Wanted, locked: &Locked) -> Option<Fault> {
        let known = |name: &String, range: &String| match &locked.declared {
            Declared::These(then) => then.get(name) == Some(range),
            _ => true,
        };
        let found = wanted.iter().filter_map(|(name, range)| {
            let version = locked.versions.get(name)?;
            let is_wrong = known(name, range) && allows(range, version) == Some(false);
            is_wrong.then(|| (name, format!("{name} is {version} and not {range}")))
        });
        self.of_each(
            format!(
                "the lock file `{}` holds other versions than `{}` allows",
                kind.name, self.path
            ),
            found,
            format!("{} and keep the new lock file", self.command(kind.renew)),
        )
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
                && (Version::parse(locked).is_ok() || allows(locked, &here) == Some(false))
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
