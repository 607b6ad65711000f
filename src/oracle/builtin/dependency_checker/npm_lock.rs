//! Lock files of npm, Yarn, pnpm and Bun: what a package declared when its lock file was made, and the versions chosen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(super) type Wanted = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Installs what is locked, and writes the lock file anew.
    pub(super) install: &'static str,
    pub(super) renew: &'static str,
    read: fn(&str, &Package<'_>) -> Result<Locked, String>,
}

/// The package that a lock file is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Package<'a> {
    /// Its directory, from where the lock file lies; empty for the same.
    pub(super) own: &'a str,
    pub(super) wanted: &'a Wanted,
    /// The names of those that the project itself has.
    pub(super) members: &'a BTreeSet<String>,
}

/// What a lock file says of a package.
#[derive(Debug)]
pub(super) struct Locked {
    pub(super) declared: Declared,
    /// The version of each package that it wants; not every form can tell.
    pub(super) versions: Wanted,
}

/// What the package declared when the lock file was made.
#[derive(Debug)]
pub(super) enum Declared {
    /// This form does not repeat it.
    Unsaid,
    /// The lock file does not know the package.
    Nothing,
    These(Wanted),
}

const NPM: (&str, &str) = ("npm ci", "npm install");

pub(super) const KINDS: &[Kind] = &[
    kind("package-lock.json", NPM, npm),
    kind("npm-shrinkwrap.json", NPM, npm),
    kind(
        "yarn.lock",
        ("yarn install --frozen-lockfile", "yarn install"),
        yarn,
    ),
    kind(
        "pnpm-lock.yaml",
        ("pnpm install --frozen-lockfile", "pnpm install"),
        pnpm,
    ),
    kind(
        "bun.lock",
        ("bun install --frozen-lockfile", "bun install"),
        bun,
    ),
    // A binary form, which only Bun reads.
    kind(
        "bun.lockb",
        ("bun install --frozen-lockfile", "bun install"),
        |_, _| {
            Ok(Locked {
                declared: Declared::Unsaid,
                versions: Wanted::new(),
            })
        },
    ),
];

const fn kind(
    name: &'static str,
    (install, renew): (&'static str, &'static str),
    read: fn(&str, &Package<'_>) -> Result<Locked, String>,
) -> Kind {
    Kind {
        name,
        install,
        renew,
        read,
    }
}

impl Kind {
    /// Reads what a lock file says of a package.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(self, text: &str, package: &Package<'_>) -> Result<Locked, String> {
        (self.read)(text, package)
    }
}

pub(super) fn declared(package: &Value, keys: &[&str]) -> Wanted {
    let maps = keys.iter().filter_map(|key| package.get(key)?.as_object());
    let texts = maps.flatten().filter_map(|(name, version)| {
        // pnpm has a map of the two: `{specifier: ^1.0.0, version: 1.2.0}`.
        let version = version.get("specifier").unwrap_or(version).as_str()?;
        Some((name.clone(), version.to_owned()))
    });
    texts.collect()
}

/// The keys under which a package declares what it cannot do without.
pub(super) const NEEDED: &[&str] = &["dependencies", "devDependencies"];
const ALL: &[&str] = &["dependencies", "devDependencies", "optionalDependencies"];

fn npm(text: &str, package: &Package<'_>) -> Result<Locked, String> {
    let lock: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let own = package.own;
    // Lock files of version 1 do not repeat what the manifest declares.
    let Some(packages) = lock.get("packages") else {
        let entry = |name: &String| lock.get("dependencies")?.get(name);
        return Ok(Locked {
            declared: Declared::These(package.held(|name| entry(name).is_some())),
            versions: package.versions(|name| text_at(entry(name)?, "version")),
        });
    };
    let root = packages.get(own);
    let entry = |name: &String| {
        let nested = packages.get(format!("{own}/node_modules/{name}"));
        nested.or_else(|| packages.get(format!("node_modules/{name}")))
    };
    Ok(Locked {
        declared: root.map_or(Declared::Nothing, |root| {
            let mut these = declared(root, NEEDED);
            these.retain(|name, _| {
                !package.wanted.contains_key(name)
                    || package.members.contains(name)
                    || entry(name).is_some()
            });
            Declared::These(these)
        }),
        versions: package.versions(|name| text_at(entry(name)?, "version")),
    })
}

fn pnpm(text: &str, package: &Package<'_>) -> Result<Locked, String> {
    let lock = yaml(text)?;
    let own = if package.own.is_empty() {
        "."
    } else {
        package.own
    };
    // A project of one package may have what is locked at the top.
    let Some(importer) = lock
        .get("importers")
        .map_or(Some(&lock), |all| all.get(own))
    else {
        return Ok(Locked {
            declared: Declared::Nothing,
            versions: Wanted::new(),
        });
    };
    let keys = if importer.get("specifiers").is_some() {
        &["specifiers"][..]
    } else {
        ALL
    };
    let mut these = declared(importer, keys);
    // An override stands in the place of what is declared.
    let overrides = lock.get("overrides").and_then(Value::as_object);
    for name in overrides.into_iter().flatten().map(|(name, _)| name) {
        these.extend(
            package
                .wanted
                .get_key_value(name)
                .map(|(name, spec)| (name.clone(), spec.clone())),
        );
    }
    let version = |name: &String| {
        let entry = ALL.iter().find_map(|key| importer.get(key)?.get(name))?;
        let version = entry.get("version").unwrap_or(entry).as_str()?;
        // Behind it stands what its peers are.
        let end = version.find(['(', '_']).unwrap_or(version.len());
        version
            .get(..end)
            .filter(|v| v.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
    };
    Ok(Locked {
        declared: Declared::These(these),
        versions: package.versions(version),
    })
}

/// Reads the lock file of Yarn, of the classic form or of the later one, which is YAML: `left@^1.0.0, left@^1.1.0:`, and the
/// version below it.
fn yarn(text: &str, package: &Package<'_>) -> Result<Locked, String> {
    let mut chosen: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut keys: Vec<&str> = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
    {
        if !line.starts_with(' ') {
            let head = line
                .strip_suffix(':')
                .ok_or_else(|| format!("`{line}` does not name packages"))?;
            keys = head
                .split(',')
                .map(|key| key.trim().trim_matches('"').trim())
                .collect();
            chosen.extend(keys.iter().map(|key| (*key, None)));
        } else if let Some(version) = line.strip_prefix("  version") {
            let version = version.trim_start_matches([':', ' ']).trim_matches('"');
            chosen.extend(keys.iter().map(|key| (*key, Some(version))));
        }
    }
    let find = |name: &String| {
        let spec = package.wanted.get(name)?;
        let spellings = [format!("{name}@{spec}"), format!("{name}@npm:{spec}")];
        let exact = spellings.iter().find_map(|key| chosen.get(key.as_str()));
        exact.copied().or_else(|| {
            let bound = format!("{name}@{spec}::");
            let mut bound = chosen.iter().filter(|(key, _)| key.starts_with(&bound));
            bound.next().map(|(_, version)| *version)
        })
    };
    let mut these = Wanted::new();
    for (name, spec) in package.wanted {
        // What lies in the project has no entry, or one of another spelling.
        if package.is_local(name) || find(name).is_some() {
            these.insert(name.clone(), spec.clone());
        }
    }
    let version = |name: &String| find(name)?.map(str::to_owned);
    Ok(Locked {
        declared: Declared::These(these),
        versions: package.versions(version),
    })
}

fn bun(text: &str, package: &Package<'_>) -> Result<Locked, String> {
    // JSON with commas at the end of lists, which YAML allows.
    let lock = yaml(text)?;
    let root = lock.get("workspaces").and_then(|all| all.get(package.own));
    let version = |name: &String| {
        let id = lock.get("packages")?.get(name)?.get(0)?.as_str()?;
        let version = id.rsplit_once('@')?.1;
        version
            .starts_with(|c: char| c.is_ascii_digit())
            .then(|| version.to_owned())
    };
    Ok(Locked {
        declared: root.map_or(Declared::Nothing, |root| {
            Declared::These(declared(root, NEEDED))
        }),
        versions: package.versions(version),
    })
}

impl Package<'_> {
    /// Returns what is wanted and lies in the project itself, or is held.
    fn held(&self, is_held: impl Fn(&String) -> bool) -> Wanted {
        let wanted = self.wanted.iter();
        let held = wanted.filter(|(name, _)| self.is_local(name) || is_held(name));
        held.map(|(name, spec)| (name.clone(), spec.clone()))
            .collect()
    }

    /// Whether a package lies in the project itself, or is one that the project changes.
    fn is_local(&self, name: &String) -> bool {
        let is_place = |range: &String| LOCAL.iter().any(|prefix| range.starts_with(prefix));
        self.members.contains(name) || self.wanted.get(name).is_some_and(is_place)
    }

    fn versions(&self, version: impl Fn(&String) -> Option<String>) -> Wanted {
        let names = self.wanted.keys().filter(|name| !self.is_local(name));
        names
            .filter_map(|name| Some((name.clone(), version(name)?)))
            .collect()
    }
}

/// How a range begins that names a place in the project.
const LOCAL: &[&str] = &[
    "workspace:",
    "link:",
    "portal:",
    "patch:",
    "file:",
    "./",
    "../",
    "/",
    "~/",
];

pub(super) fn text_at(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_owned())
}

pub(super) fn yaml(text: &str) -> Result<Value, String> {
    let options = serde_yaml::options! {
        budget: serde_yaml::budget! { max_events: 20_000_000, max_nodes: 10_000_000, max_total_scalar_bytes: 256 << 20 },
    };
    serde_yaml::from_str_with_options(text, options).map_err(|error| {
        let said = error.to_string();
        said.lines().next().unwrap_or_default().to_owned()
    })
}
