//! Maven: a project whose modules are there, and every dependency in the local repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::manifest::{Fault, Manifest};
use crate::oracle::OracleError;

/// How many parents of a project are read, and how often a property may name another.
const MOST_PARENTS: usize = 8;

impl Manifest<'_> {
    /// Checks a `pom.xml`. The version of a dependency is its own, else that of `dependencyManagement` here or in a parent of
    /// this project; where only a foreign parent or a BOM knows it, any version will do.
    pub(super) fn maven(&self, text: &str) -> Result<Vec<Fault>, OracleError> {
        // A document type is refused: what its entities stand for lies elsewhere.
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => return Ok(vec![self.broken(&error.to_string())]),
        };
        let workspace = self.context.workspace();
        let mut faults = Vec::new();
        let mut absent = modules(&document);
        absent.retain(|module| {
            let path = self.beside(module.trim_end_matches('/'));
            workspace.read(&format!("{path}/pom.xml")).is_err() && workspace.read(&path).is_err()
        });
        let what = format!("modules of `{}` are not there", self.path);
        let remedy = format!("restore them, or take them out of `{}`", self.path);
        faults.extend(self.of_each(what, absent.into_iter().map(|name| (name, name)), remedy));
        if !workspace.is_on_disk() {
            return Ok(faults);
        }
        let above = self.parents(&document);
        let above: Vec<Document<'_>> = above
            .iter()
            .filter_map(|text| Document::parse(text).ok())
            .collect();
        let poms: Vec<Node<'_, '_>> = std::iter::once(&document)
            .chain(&above)
            .map(Document::root_element)
            .collect();
        let own = self.artifacts();
        let mut wanted: Vec<(String, Option<String>)> = Vec::new();
        for dependency in children(document.root_element(), &["dependencies", "dependency"]) {
            let (Some(group), Some(artifact)) = (
                text_of(dependency, "groupId"),
                text_of(dependency, "artifactId"),
            ) else {
                continue;
            };
            let (group, artifact) = (resolved(group, &poms), resolved(artifact, &poms));
            if text_of(dependency, "scope") == Some("system") || own.contains(&artifact) {
                continue;
            }
            let version =
                text_of(dependency, "version").or_else(|| managed(&poms, &group, &artifact));
            let version = version.map(|version| resolved(version, &poms));
            // A range, or a property that nobody here sets.
            let version = version
                .filter(|v| !v.contains(['[', '(', '$', ',']) && v != "LATEST" && v != "RELEASE");
            wanted.push((format!("{group}:{artifact}"), version));
        }
        if wanted.is_empty() {
            return Ok(faults);
        }
        let repository = self.local_repository().ok_or_else(|| {
            let path = self.path;
            OracleError::failed(format!("the home directory is not known, so that nobody can tell whether the dependencies of `{path}` are at hand"))
        })?;
        wanted.retain(|(name, version)| !is_at_hand(&repository, name, version.as_deref()));
        let absent = wanted.into_iter().map(|(name, version)| {
            let told = version.map_or(name.clone(), |version| format!("{name}:{version}"));
            (name, told)
        });
        let what = format!("not in the local repository, of `{}`", self.path);
        let remedy = self.command("mvn dependency:go-offline");
        faults.extend(self.of_each(what, absent, remedy));
        Ok(faults)
    }

    /// Returns the parents that the project itself has, the nearest first.
    fn parents(&self, document: &Document<'_>) -> Vec<String> {
        let relative = |root: Node<'_, '_>| {
            let parent = child(root, "parent")?;
            Some(
                text_of(parent, "relativePath")
                    .unwrap_or("../pom.xml")
                    .to_owned(),
            )
        };
        let mut texts = Vec::new();
        let mut dir = PathBuf::from(self.dir);
        let mut next = relative(document.root_element());
        while let Some(path) = next.take().filter(|_| texts.len() < MOST_PARENTS) {
            let mut path = crate::shell::lexical(&path, &Path::new("/").join(&dir), None);
            if path.extension().is_none() {
                path.push("pom.xml");
            }
            let Ok(inside) = path.strip_prefix("/") else {
                break;
            };
            let Some(text) = inside.to_str().and_then(|path| self.context.text(path)) else {
                break;
            };
            let Ok(parsed) = Document::parse(&text) else {
                break;
            };
            next = relative(parsed.root_element());
            dir = inside.parent().unwrap_or(Path::new("")).to_path_buf();
            texts.push(text);
        }
        texts
    }

    /// Returns the artifacts that the project itself makes.
    fn artifacts(&self) -> BTreeSet<String> {
        let artifact = |path: &String| {
            let text = self.context.text(path)?;
            let document = Document::parse(&text).ok()?;
            Some(text_of(document.root_element(), "artifactId")?.to_owned())
        };
        let poms = self.context.workspace().list("**/pom.xml");
        poms.iter().filter_map(artifact).collect()
    }

    /// Returns where Maven keeps what it has downloaded, by `.mvn/maven.config`, else the user's `settings.xml`.
    fn local_repository(&self) -> Option<PathBuf> {
        let root = self.context.root();
        let home = self.context.facts.home();
        let config = self.context.text(".mvn/maven.config").unwrap_or_default();
        let named = config
            .split_whitespace()
            .find_map(|word| word.strip_prefix("-Dmaven.repo.local="));
        if let Some(path) = named {
            return Some(root.join(path));
        }
        let kept = home?.join(".m2");
        let settings = std::fs::read_to_string(kept.join("settings.xml")).unwrap_or_default();
        let settings = Document::parse(&settings).ok();
        let named = settings
            .as_ref()
            .and_then(|s| text_of(s.root_element(), "localRepository"));
        let user = home?.to_str()?;
        Some(named.map_or(kept.join("repository"), |path| {
            path.replace("${user.home}", user).into()
        }))
    }
}

/// Returns the modules that a pom names.
pub(super) fn modules<'a>(document: &'a Document<'_>) -> Vec<&'a str> {
    let modules = children(document.root_element(), &["modules", "module"]);
    modules
        .filter_map(|module| module.text())
        .map(str::trim)
        .collect()
}

/// Whether a version of an artifact, or any where none is asked for, lies in a repository.
fn is_at_hand(repository: &Path, name: &str, version: Option<&str>) -> bool {
    let Some((group, artifact)) = name.split_once(':') else {
        return false;
    };
    let dir = repository.join(group.replace('.', "/")).join(artifact);
    let holds = |dir: &Path| {
        let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths = files.map(|file| file.path());
        // A failed download leaves `….lastUpdated`.
        paths.any(|path| path.extension().is_some_and(|e| e == "pom" || e == "jar"))
    };
    match version {
        Some(version) => holds(&dir.join(version)),
        None => std::fs::read_dir(&dir)
            .into_iter()
            .flatten()
            .flatten()
            .any(|version| holds(&version.path())),
    }
}

/// Returns the version that `dependencyManagement` gives an artifact.
fn managed<'a>(poms: &[Node<'a, '_>], group: &str, artifact: &str) -> Option<&'a str> {
    let path = &["dependencyManagement", "dependencies", "dependency"];
    poms.iter().find_map(|pom| {
        let mut found = children(*pom, path).filter(|entry| {
            let is = |key, value: &str| {
                text_of(*entry, key).is_some_and(|text| resolved(text, poms) == value)
            };
            is("groupId", group) && is("artifactId", artifact)
        });
        found.find_map(|entry| text_of(entry, "version"))
    })
}

/// Puts the values of properties in the place of `${name}`; what nobody here sets stays.
fn resolved(text: &str, poms: &[Node<'_, '_>]) -> String {
    let mut text = text.to_owned();
    for _ in 0..MOST_PARENTS {
        let Some((start, rest)) = text.split_once("${") else {
            break;
        };
        let Some((name, end)) = rest.split_once('}') else {
            break;
        };
        let value = poms.iter().find_map(|pom| {
            let of_project = name
                .strip_prefix("project.")
                .or_else(|| name.strip_prefix("pom."));
            let own = of_project.and_then(|key| text_of(*pom, key));
            let of_parent = of_project
                .and_then(|key| text_of(child(*pom, "parent")?, key.trim_start_matches("parent.")));
            own.or(of_parent)
                .or_else(|| text_of(child(*pom, "properties")?, name))
        });
        let Some(value) = value else { break };
        text = format!("{start}{value}{end}");
    }
    text
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim)
}

/// Returns the elements at the end of a path of names.
fn children<'a, 'i>(
    node: Node<'a, 'i>,
    path: &'static [&'static str],
) -> impl Iterator<Item = Node<'a, 'i>> {
    let (last, dirs) = path.split_last().unwrap_or((&"", &[]));
    let parent = dirs.iter().try_fold(node, |node, name| child(node, name));
    let found = parent.into_iter().flat_map(|parent| parent.children());
    found.filter(move |child| child.tag_name().name() == *last)
}
