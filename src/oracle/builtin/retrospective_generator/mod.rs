//! RetrospectiveGenerator: writes down how an issue went, from the signal log and git.

mod archive;
mod markdown;
mod story;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use self::story::Story;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::random;
use crate::signal::{Intensity, Signal};

pub(super) static DEFINITION: Definition = Definition {
    name: "RetrospectiveGenerator",
    kebab: "retrospective-generator",
    summary: "Writes down how an issue went, from the signal log and git.",
    triggers: &[Trigger::PostIssueClose, Trigger::PostIssueSubmit],
    intensities: &[Intensity::Aid],
    needs: &[FactSource::Issue, FactSource::Git, FactSource::Log],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(RetrospectiveGenerator),
    build: |config| {
        RetrospectiveGenerator::build(config).map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>)
    },
};

/// Writes a report about the course of an issue, in Markdown.
///
/// What it does: from the signal log it writes the timeline of the issue: what was stopped, how long the fix took, and
/// how prompts were answered. It also writes what can be learned: checks that stopped the work again and again, prompts
/// that were only dismissed, and blocks that were overridden. From git it takes the commits and the changed files. These
/// are the commits of the branch of the issue; if the branch no longer exists, the commits that name the id of the issue.
///
/// The aid names the file and what can be learned. With `archive_issue`, the file of a closed issue is then moved to the
/// folder `archived`, beside the folder of its status.
///
/// ```yaml
/// hooks:
///   post-issue-close:
///     - oracle: RetrospectiveGenerator
///       config:
///         generate_metrics: true
///         archive_issue: true
///         path: docs/retrospectives/{id}.md
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RetrospectiveGenerator {
    /// Whether the report contains a table of figures.
    generate_metrics: bool,
    /// Whether the issue's file is moved to the archive when the issue is closed.
    archive_issue: bool,
    /// The file of the report, in the project and relative to it; `{id}` stands for the id of the issue. A path that does not end in
    /// `.md` is a folder.
    path: String,
}

impl Default for RetrospectiveGenerator {
    fn default() -> Self {
        Self {
            generate_metrics: true,
            archive_issue: false,
            path: ".ahp/retrospectives/{id}.md".to_owned(),
        }
    }
}

#[async_trait]
impl Oracle for RetrospectiveGenerator {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let Some(id) = context.facts.issue_id() else {
            return Ok(Vec::new());
        };
        let story = Story::of(id, context);
        if story.is_empty() {
            let dir = context.workspace().issues_dir().display();
            let text = format!(
                "no retrospective of {id} was written: no file below {dir}, no commit and no record names it"
            );
            return Ok(vec![
                Signal::aid("issue-not-found", text).about("issue-not-found", id),
            ]);
        }
        let text = markdown::write(&story, self.generate_metrics);
        let path = self.path_of(id);
        let mut done = if context.workspace().is_on_disk() {
            write(context.root(), &path, &text).map_err(|error| {
                OracleError::failed(format!(
                    "the retrospective cannot be written to `{path}`: {error}"
                ))
            })?;
            format!(
                "the retrospective of {id} is in {path}: {}",
                story.summary()
            )
        } else {
            format!("the retrospective of {id}: {}", story.summary())
        };
        let mut follow_ups = story.lessons();
        if let Some(fault) = &story.issue_fault {
            follow_ups.push(format!("The issue's file was not read: {fault}"));
        }
        let mut files = vec![path];
        if self.archive_issue {
            match archive::archive(&story, context) {
                Ok(to) => {
                    done.push_str(&format!("; its file was moved to {to}"));
                    files.push(to);
                }
                Err(why) => follow_ups.push(format!("The issue's file was not archived: {why}")),
            }
        }
        Ok(vec![
            Signal::aid("retrospective", done)
                .steps(follow_ups)
                .files(files),
        ])
    }
}

impl RetrospectiveGenerator {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let oracle: Self = config.decode()?;
        config.inner_path("path", &oracle.path)?;
        Ok(oracle)
    }

    fn path_of(&self, id: &str) -> String {
        // An id comes from a command line: as a file's name it must not lead elsewhere.
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let name = id.replace(|c| !is_plain(c), "-");
        let path = self.path.replace("{id}", &name);
        if Path::new(&path)
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("md"))
        {
            path
        } else {
            format!("{}/{name}.md", path.trim_end_matches('/'))
        }
    }
}

/// Writes a file inside the project, whole or not at all.
fn write(root: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let root = root.canonicalize()?;
    let file: PathBuf = root.join(path);
    let dir = file.parent().unwrap_or(&root);
    std::fs::create_dir_all(dir)?;
    if !dir.canonicalize()?.starts_with(&root) {
        return Err(std::io::Error::other(
            "it leads out of the project through a link",
        ));
    }
    let new = file.with_extension(format!("{}.new", random::id().simple()));
    std::fs::write(&new, text)?;
    std::fs::rename(&new, &file)
}
