//! DependencyChecker: what a project and an issue need is there.

mod cargo;
mod go;
mod gradle;
mod manifest;
mod maven;
mod members;
mod npm;
mod npm_lock;
mod npm_range;
mod python;
mod python_lock;
mod toml;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use self::manifest::Fault;
use super::values::Texts;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::wording::{counted, listed};
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Signal};
use crate::workspace::{GIVEN_UP, Issue, IssueError};

pub(super) static DEFINITION: Definition = Definition {
    name: "DependencyChecker",
    kebab: "dependency-checker",
    summary: "What the project and the issue depend on is there.",
    triggers: &[Trigger::PreIssueStart, Trigger::PreIssueSubmit],
    intensities: &[Intensity::Block],
    needs: &[FactSource::Issue],
    programs: Programs::Always,
    file_key: None,
    schema: || schemars::schema_for!(DependencyChecker),
    build: |config| DependencyChecker::build(config).map(|c| Arc::new(c) as Arc<dyn Oracle>),
};

/// How many faults are named one by one.
const NAMED: usize = 20;

/// Blocks work as long as its dependencies are missing.
///
/// What it does: it checks each manifest: `Cargo.toml`, `package.json`, `pyproject.toml`, `requirements.txt`, `go.mod`,
/// `go.work`, `pom.xml`, `build.gradle` and `build.gradle.kts`. By default it finds them in the root, together with those
/// of a workspace of npm, Yarn, pnpm, uv or Go, the modules of Maven, and the projects in `settings.gradle`. A manifest
/// must exist and parse, its lock file must exist and match it, and what it declares must be installed or at hand, as far as
/// the next paragraph says. What the dependencies need themselves is asked of cargo alone. Nothing is downloaded.
///
/// Cargo is asked itself (`cargo metadata --locked --offline`); a crate that only other systems need may be missing. The
/// lock file of npm, Yarn, pnpm or Bun (also that of a workspace above) must contain what is declared, in a version that the
/// declared range allows, and `node_modules/` must contain what is locked. A package of the project itself is a member where
/// `workspaces` or `pnpm-workspace.yaml` names it; another `package.json` of its name changes nothing. `uv.lock` (also that of a workspace above), `poetry.lock` and `pdm.lock`
/// must name what is declared, in a version that is allowed; `requirements.txt` must name what a `requirements.in` beside
/// it names. The Python of the project is asked for its installed distributions, and their versions are compared (`-r` is
/// followed). `go.sum` or `go.work.sum` must name every module. The modules of a Maven project must exist, and its
/// dependencies must be in the local repository. `gradle.lockfile` and the cache of Gradle must contain the dependencies
/// that the build script declares literally.
///
/// For an issue, it checks that the issue exists, and that every issue on which it depends exists and is done. A
/// cancelled issue is not done. One block names everything that is missing, each with the command that fixes it.
///
/// ```yaml
/// hooks:
///   pre-issue-start:
///     - oracle: DependencyChecker
///       config:
///         manifest_files: [package.json, requirements.txt]
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DependencyChecker {
    /// The manifests, relative to the project; by default those in its root.
    manifest_files: Texts,
}

#[async_trait]
impl Oracle for DependencyChecker {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let mut faults = of_issue(context);
        let mut manifests: Vec<String> = if self.manifest_files.0.is_empty() {
            manifest::NAMES
                .iter()
                .filter(|name| context.workspace().exists(name))
                .map(|&name| name.to_owned())
                .collect()
        } else {
            self.manifest_files.0.clone()
        };
        let mut failure = context.issue().err();
        let mut at = 0;
        while let Some(path) = manifests.get(at).cloned() {
            let (found, members) = manifest::check(context, &path);
            match found {
                Ok(found) => faults.extend(found),
                Err(error) => failure = Some(error),
            }
            let known = |path: &String| manifests.contains(path);
            let mut new: Vec<String> = members.into_iter().filter(|path| !known(path)).collect();
            manifests.append(&mut new);
            at += 1;
        }
        if faults.is_empty() {
            // What could not be looked at is not known to be met.
            return failure.map_or(Ok(Vec::new()), Err);
        }
        let told: Vec<&str> = faults.iter().map(|f| f.what.as_str()).collect();
        let mut steps: Vec<&str> = faults.iter().map(|f| f.remedy.as_str()).collect();
        steps.dedup();
        let mut files: Vec<&str> = faults.iter().map(|f| f.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let noun = if faults.len() == 1 {
            "dependency is"
        } else {
            "dependencies are"
        };
        let head = format!("{} {noun} not met", faults.len());
        Ok(vec![
            Signal::block(
                "dependencies-unmet",
                format!("{head}: {}", listed(&told, NAMED)),
            )
            .steps(steps)
            .files(files)
            .about_each("dependencies-unmet", faults.iter().flat_map(Fault::objects)),
        ])
    }
}

impl DependencyChecker {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let checker: Self = config.decode()?;
        for path in &checker.manifest_files.0 {
            if !manifest::is_known(path) {
                return Err(config.bad_value("manifest_files", format!(
                        "`{path}` is not a manifest that is understood (known: {}, requirements*.txt)",
                        manifest::NAMES.join(", ")
                    )));
            }
        }
        Ok(checker)
    }
}

/// Returns what is not met of the issue: that it is there, and that every issue it depends on is done.
fn of_issue(context: &HookContext) -> Vec<Fault> {
    let issue = match (context.facts.issue(), context.facts.issue_id()) {
        (Ok(Some(issue)), _) => issue,
        (Err(error), _) => return vec![unreadable(error)],
        // An issue that is about to be made has no file yet.
        (Ok(None), Some(id)) if context.event().trigger != Trigger::PreIssueCreate => {
            return vec![Fault {
                file: context.workspace().issues_dir().display().to_string(),
                what: format!(
                    "no file was found for issue {id}, so that nobody can tell what it depends on"
                ),
                remedy: format!("create the file of {id}, or name the issue that is meant"),
                packages: vec![id.to_owned()],
            }];
        }
        (Ok(None), _) => return Vec::new(),
    };
    let other = |id: &String| match context.workspace().issue(id) {
        Err(error) => Some(unreadable(&error)),
        Ok(None) => Some(Fault {
            file: issue.path.clone(),
            what: format!("{} depends on {id}, which does not exist", issue.id),
            remedy: format!(
                "create {id}, or take it out of `dependencies` in {}",
                issue.path
            ),
            packages: vec![id.clone()],
        }),
        Ok(Some(other)) => unfinished(issue, &other),
    };
    issue.dependencies.iter().filter_map(other).collect()
}

fn unreadable(error: &IssueError) -> Fault {
    Fault {
        file: error.path.clone(),
        what: format!("an issue cannot be understood: {error}"),
        remedy: error.remedy(),
        packages: vec!["the issue".to_owned()],
    }
}

/// Returns what is not met of an issue that another depends on.
fn unfinished(issue: &Issue, other: &Issue) -> Option<Fault> {
    let is = |value: &Option<String>, words: &[&str]| {
        let value = value
            .as_deref()
            .map(|value| value.trim().to_ascii_lowercase());
        value.is_some_and(|value| words.contains(&value.as_str()))
    };
    let id = &other.id;
    let given_up =
        is(&other.solution, GIVEN_UP) || is(&other.status, GIVEN_UP) || is(&other.stage, GIVEN_UP);
    let (how, remedy) = if given_up {
        let remedy = format!(
            "do without {id}, and take it out of `dependencies` in {}",
            issue.path
        );
        ("given up, not done".to_owned(), remedy)
    } else if other.is_finished() {
        return None;
    } else {
        let (total, done) = other.progress();
        let open = match total {
            0 => String::new(),
            _ => format!(", with {} open", counted(total - done, "checklist item")),
        };
        let stage = other.stage.as_deref().or(other.status.as_deref());
        let stage = stage.unwrap_or("not done");
        (
            format!("{stage}{open}"),
            format!("finish {id} ({}) first", other.path),
        )
    };
    Some(Fault {
        file: other.path.clone(),
        what: format!("{} depends on {id}, which is {how}", issue.id),
        remedy,
        packages: vec![id.clone()],
    })
}
