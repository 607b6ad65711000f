//! Manifest: one file that declares what a project depends on.

use std::fmt::Display;

use crate::oracle::wording::{listed, shortened};
use crate::oracle::{HookContext, OracleError, toolchain};
use crate::process::{Finished, Program};
use crate::words::words;

/// The manifests that are looked for.
pub(super) const NAMES: &[&str] = words!("manifests");

/// Something that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The file that it is about.
    pub(super) file: String,
    /// What is not met.
    pub(super) what: String,
    /// What to do about it.
    pub(super) remedy: String,
    /// The packages that it is about, each a finding of its own; none where the words tell it.
    pub(super) packages: Vec<String>,
}

impl Fault {
    /// Returns what its findings are told apart by.
    pub(super) fn objects(&self) -> Vec<String> {
        let Self { file, packages, .. } = self;
        if packages.is_empty() {
            return vec![format!("{file}: {}", self.what)];
        }
        let packages = packages.iter();
        packages.map(|name| format!("{file}: {name}")).collect()
    }
}

/// Whether a file is a manifest that is understood, by its name.
pub(super) fn is_known(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || is_requirements(name)
}

fn is_requirements(name: &str) -> bool {
    name.starts_with("requirements") && name.strip_suffix(".txt").is_some()
}

/// Checks one manifest; also returns those that it makes a part of its project.
pub(super) fn check(
    context: &HookContext,
    path: &str,
) -> (Result<Vec<Fault>, OracleError>, Vec<String>) {
    let manifest = Manifest {
        context,
        path,
        dir: path.rsplit_once('/').map_or("", |(dir, _)| dir),
    };
    let text = match context.workspace().read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            let fault = manifest.fault(
                format!("`{path}` cannot be read: {error}"),
                format!("restore `{path}`, or take it out of `manifest_files`"),
            );
            return (Ok(vec![fault]), Vec::new());
        }
    };
    let found = match path.rsplit('/').next().unwrap_or(path) {
        "Cargo.toml" => manifest.cargo(&text),
        "package.json" => Ok(manifest.npm(&text)),
        "pyproject.toml" => manifest.pyproject(&text),
        "go.mod" => Ok(manifest.go(&text).into_iter().collect()),
        "go.work" => Ok(manifest.go_work(&text).into_iter().collect()),
        "settings.gradle" | "settings.gradle.kts" => Ok(Vec::new()),
        "pom.xml" => manifest.maven(&text),
        "build.gradle" | "build.gradle.kts" => Ok(manifest.gradle(&text)),
        _ => manifest.requirements(&text),
    };
    (found, manifest.members_of(&text))
}

/// Returns the path of a file in a directory, which may be the project's own.
pub(super) fn below(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_owned()
    } else {
        format!("{dir}/{name}")
    }
}

pub(super) struct Manifest<'a> {
    pub(super) context: &'a HookContext,
    pub(super) path: &'a str,
    pub(super) dir: &'a str,
}

impl Manifest<'_> {
    pub(super) fn fault(&self, what: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            file: self.path.to_owned(),
            what: what.into(),
            remedy: remedy.into(),
            packages: Vec::new(),
        }
    }

    /// Returns a fault of several packages, each told in its own words; none where there are none.
    pub(super) fn of_each<N: Into<String>, T: AsRef<str>>(
        &self,
        what: impl Display,
        found: impl IntoIterator<Item = (N, T)>,
        remedy: impl Into<String>,
    ) -> Option<Fault> {
        let (packages, told): (Vec<N>, Vec<T>) = found.into_iter().unzip();
        (!told.is_empty()).then(|| Fault {
            packages: packages.into_iter().map(Into::into).collect(),
            ..self.fault(format!("{what}: {}", listed(&told, 10)), remedy)
        })
    }

    /// Says that there is no lock file, and what makes one.
    pub(super) fn unlocked(&self, lock: &str, command: &str) -> Fault {
        self.fault(
            format!("the lock file{lock} of `{}` is missing", self.path),
            self.command(command),
        )
    }

    /// Says to run a command where the manifest lies.
    pub(super) fn command(&self, command: &str) -> String {
        if self.dir.is_empty() {
            format!("run `{command}`")
        } else {
            format!("run `{command}` in `{}`", self.dir)
        }
    }

    /// Returns the path of a file beside the manifest.
    pub(super) fn beside(&self, name: &str) -> String {
        below(self.dir, name)
    }

    /// Returns a file beside the manifest or in a directory above, within the project: its directory and its text.
    pub(super) fn above(&self, name: &str) -> Option<(String, String)> {
        let mut dirs = std::path::Path::new(self.dir).ancestors();
        dirs.find_map(|dir| {
            let text = self.context.text(dir.join(name).to_str()?)?;
            Some((dir.to_str()?.to_owned(), text))
        })
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.context.text(&self.beside(name))
    }

    /// Runs the package manager, which starts what the project names: `rust-toolchain.toml` and `.cargo/config.toml` do.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Finished, OracleError> {
        self.context.permits_programs()?;
        let name: Vec<&str> = arguments.iter().take(2).copied().collect();
        let program = Program::new(arguments.iter().map(|&a| a.to_owned()).collect())
            .dir(self.context.root().join(self.dir))
            .env("NO_COLOR", "1")
            .env("CARGO_TERM_COLOR", "never")
            .max_output(64 << 20);
        toolchain::run(self.context, program, &format!("`{}`", name.join(" ")))
    }

    pub(super) fn broken(&self, error: &str) -> Fault {
        // The place stands in the first line, the matter in the last, and the text of the file between them.
        let mut lines = error.lines().filter(|line| !line.trim().is_empty());
        let mut said = lines.next().unwrap_or_default().to_owned();
        if let Some(last) = lines.next_back() {
            said = format!("{said}: {last}");
        }
        self.fault(
            format!("`{}` does not parse: {}", self.path, shortened(&said, 160)),
            format!("fix the syntax of `{}`", self.path),
        )
    }
}
