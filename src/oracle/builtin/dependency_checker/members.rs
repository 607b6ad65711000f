//! Members: the manifests of a workspace, which share its lock file.

use serde_json::Value;

use super::go;
use super::manifest::{Manifest, below};
use super::npm_lock::yaml;
use super::toml;

impl Manifest<'_> {
    /// Returns the manifests that this one makes a part of its project; those that cannot be read are told of elsewhere.
    pub(super) fn members_of(&self, text: &str) -> Vec<String> {
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        let mut found = match name {
            "package.json" => self.matching(&self.packages(text), "package.json"),
            "pyproject.toml" => {
                let document = toml::read(text).unwrap_or_default();
                let mut globs = toml::texts(&document, "/tool/uv/workspace/members");
                let excluded = toml::texts(&document, "/tool/uv/workspace/exclude");
                globs.extend(excluded.into_iter().map(|glob| format!("!{glob}")));
                self.matching(&globs, "pyproject.toml")
            }
            "go.work" => {
                let used = go::used(text);
                let used = used.filter_map(|dir| self.joined(dir));
                used.map(|dir| below(&dir, "go.mod")).collect()
            }
            "pom.xml" => self.modules(text),
            "settings.gradle" | "settings.gradle.kts" => {
                let dirs = included(text).into_iter();
                let dirs = dirs.filter_map(|dir| self.joined(&dir));
                let names = ["build.gradle", "build.gradle.kts"];
                dirs.flat_map(|dir| names.map(|name| below(&dir, name)))
                    .collect()
            }
            _ => Vec::new(),
        };
        found.retain(|path| path != self.path && self.context.workspace().exists(path));
        found
    }

    /// Returns where the packages of a workspace lie: as `package.json` says, or `pnpm-workspace.yaml` beside it.
    fn packages(&self, text: &str) -> Vec<String> {
        let package: Value = serde_json::from_str(text).unwrap_or_default();
        let list = |value: Option<&Value>| -> Vec<String> {
            let items = value.and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let workspaces = package.get("workspaces");
        let mut globs = list(workspaces);
        globs.extend(list(workspaces.and_then(|w| w.get("packages"))));
        if let Some(text) = self.text("pnpm-workspace.yaml") {
            let pnpm = yaml(&text).unwrap_or_default();
            globs.extend(list(pnpm.get("packages")));
        }
        globs
    }

    /// Returns the files of a name in the directories that globs mean; one behind `!` takes them out again.
    fn matching(&self, globs: &[String], name: &str) -> Vec<String> {
        let workspace = self.context.workspace();
        let list = |glob: &str| {
            let glob = glob.trim_start_matches("./").trim_end_matches('/');
            workspace.list(&below(&self.beside(glob), name))
        };
        let (taken, given): (Vec<&String>, Vec<&String>) =
            globs.iter().partition(|glob| glob.starts_with('!'));
        let mut found: Vec<String> = given.into_iter().flat_map(|glob| list(glob)).collect();
        let taken: Vec<String> = taken
            .into_iter()
            .flat_map(|glob| list(glob.trim_start_matches('!')))
            .collect();
        found.retain(|path| !taken.contains(path) && !path.contains("node_modules/"));
        found
    }

    /// Returns the poms of the modules; a module may be named by its folder or by its file.
    fn modules(&self, text: &str) -> Vec<String> {
        let Ok(document) = roxmltree::Document::parse(text) else {
            return Vec::new();
        };
        let modules = super::maven::modules(&document);
        let paths = modules.iter().filter_map(|module| self.joined(module));
        paths
            .map(|path| {
                if std::path::Path::new(&path).extension() == Some("xml".as_ref()) {
                    path
                } else {
                    below(&path, "pom.xml")
                }
            })
            .collect()
    }

    /// Returns a directory from where the manifest lies, relative to the project; none where it leads out of it.
    pub(super) fn joined(&self, relative: &str) -> Option<String> {
        let mut parts: Vec<&str> = self
            .dir
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        if relative.starts_with('/') {
            return None;
        }
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
}

/// Returns the directories of the projects that settings of Gradle include: `include(":app", ":libs:core")`.
fn included(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let mut found = Vec::new();
    let mut goes_on = false;
    for line in lines.filter(|line| !line.starts_with("//")) {
        let rest = line.strip_prefix("include");
        let begins = rest.is_some_and(|rest| rest.starts_with(['(', ' ', '\'', '"']));
        if !begins && !goes_on {
            continue;
        }
        let quoted = line.split(['"', '\'']).skip(1).step_by(2);
        found.extend(quoted.map(|name| name.trim_start_matches(':').replace(':', "/")));
        goes_on = line.ends_with([',', '(']);
    }
    found
}
