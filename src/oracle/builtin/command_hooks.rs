//! CommandHooks: the hook files of Claude Code, VS Code and Copilot, under every host.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diagnostic::Code;
use crate::fact::Facts;
use crate::oracle::external::command::{self, Dialect, HookFile};
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Signal};
use crate::trust::{bound_hook_files, hook_files_of};

/// No hook file is larger.
const MAX_FILE: u64 = 4 << 20;

pub(super) static DEFINITION: Definition = Definition {
    name: "CommandHooks",
    kebab: "command-hooks",
    summary: "Runs the hook file of Claude Code, VS Code or Copilot under every host.",
    triggers: &[],
    intensities: &[
        Intensity::Block,
        Intensity::Control,
        Intensity::Prompt,
        Intensity::Aid,
    ],
    needs: &[],
    programs: Programs::Always,
    file_key: Some(("file", &[])),
    schema: || schemars::schema_for!(CommandHooks),
    build: |config| CommandHooks::build(config).map(|hooks| Arc::new(hooks) as Arc<dyn Oracle>),
};

/// Runs the commands of hook files that were written for Claude Code, VS Code or Copilot CLI, under every host.
///
/// What it does: it reads the file and takes the commands that are written for the event of this trigger and whose
/// matcher matches the tool. It runs each command as its own host would: with the JSON of that host on stdin (tool names
/// and inputs are translated), in `cwd`, with `env`, for this operating system, and for at most `timeout` seconds. The
/// answers are translated back. Exit code 2, `permissionDecision: deny`, `decision: block` and `continue: false` block.
/// `ask` asks. `updatedInput` changes the input, by the names of the format or of the host. If a changed value has no
/// single place in the input of the host, the call is blocked and the message contains the change. `additionalContext` is for the agent and `systemMessage` for the person.
/// `continue: false` also ends the run, if the host can do that. The strictest answer counts. Text that is not JSON
/// decides nothing.
///
/// A rule of Claude Code (`if: Bash(git *)`) limits a hook as it does there. A hook with `async: true` decides nothing:
/// it is not awaited, it is ended at its timeout, and the log contains its output or its failure. If such a file contains
/// hooks that call `ahp` itself, they are not run, because `ahp` already judges the event.
///
/// A command may ask for a longer `timeout` than the settings allow. It gets that time, unless its binding has a
/// `timeout`, and `ahp install` makes the host wait long enough. Bind a file once, under all triggers for which it has
/// commands.
///
/// `file` may be a folder, which means its `.json` files, or have a pattern as its last name. If no file matches, nothing
/// is judged, because files in the home directory may exist for some users only. If the binding is locked, or its
/// `on_error` is `prompt` or `block`, a missing file is a failure. `ahp check` warns about a missing file, and about
/// events, keys and types in such files that no host knows. `ahp doctor` names files that no binding uses.
///
/// If the file cannot be read as its hosts read it, its whole layer is faulty: one hook without a command is enough, or one
/// matcher with look-around (`^(?!mcp__)`), which the regular expressions here do not have. What the file guards is then
/// unknown, so `ahp` blocks the `pre-*` events that the layer binds until the file is repaired. `ahp check` names the place.
///
/// The file itself tells its format. Lower-case events or a `version` mean Copilot CLI (a matcher is a regular expression
/// for the whole name). Groups with `hooks` inside mean Claude Code (a plain word is a name; everything else is a regular
/// expression). All other files are for VS Code (matchers have no effect).
///
/// A file of the project, and the scripts that it names, run only after `ahp trust`, and only as they were trusted.
///
/// ```yaml
/// hooks:
///   pre-tool-use, post-tool-use:
///     - oracle: CommandHooks
///       config: {file: .github/hooks/security.json}
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CommandHooks {
    /// The hook file, relative to the project, or `~/…`; a folder, or a pattern such as `.github/hooks/*.json`. Required.
    file: String,
    /// The host that the file is written for, if the file itself does not tell: `claude`, `copilot` or `vscode`.
    format: Option<Dialect>,
    /// Whether it runs the commands that nobody waits for, and no others.
    #[serde(skip)]
    is_unawaited: bool,
}

impl CommandHooks {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let hooks: Self = config.decode()?;
        if hooks.file.trim().is_empty() {
            return Err(config.error_at("file", Code::MissingKey, "the key `file` is missing"));
        }
        // What lies at home is read when it is needed: it may be there for some users alone.
        if !hooks.file.starts_with("~/") {
            for path in hook_files_of(&config.root.join(&hooks.file)) {
                hooks
                    .read(&path)
                    .map_err(|message| config.error_at("file", Code::Unreadable, message))?;
            }
        }
        Ok(hooks)
    }

    /// Returns the files that it names, as they are now.
    fn files(&self, facts: &Facts) -> Vec<PathBuf> {
        bound_hook_files(&self.file, facts.project_root(), facts.home())
    }

    fn read(&self, path: &Path) -> Result<(Vec<u8>, HookFile), String> {
        let shown = if path.ends_with(&self.file) {
            self.file.clone()
        } else {
            path.display().to_string()
        };
        let bytes = fs::metadata(path)
            .and_then(|meta| {
                if meta.len() > MAX_FILE {
                    return Err(std::io::Error::other("it is larger than 4 MiB"));
                }
                fs::read(path)
            })
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => {
                    format!("there is no hook file `{shown}`: a path is relative to the project")
                }
                _ => format!("the hook file `{shown}` cannot be read: {error}"),
            })?;
        let file = HookFile::parse(&bytes, self.format)
            .map_err(|error| format!("the hook file `{shown}`: {error}"))?;
        Ok((bytes, file))
    }
}

#[async_trait]
impl Oracle for CommandHooks {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let one = |path: PathBuf| {
            let (bytes, file) = self.read(&path).map_err(OracleError::Failed)?;
            let shown = path.strip_prefix(context.root()).unwrap_or(&path);
            command::run(
                &file,
                &shown.to_string_lossy(),
                context,
                !self.is_unawaited,
                || {
                    context
                        .trust
                        .permits_content(&path, &bytes)
                        .map_err(|error| OracleError::Untrusted(error.to_string()))
                },
            )
        };
        let files = self.files(&context.facts);
        if files.is_empty() {
            let message = format!("`{}` means no file with command hooks", self.file);
            return Err(OracleError::Absent(message));
        }
        command::settle(files.into_iter().map(one).collect())
    }

    fn unawaited(&self, facts: &Facts) -> Option<Arc<dyn Oracle>> {
        let mut read = self
            .files(facts)
            .into_iter()
            .flat_map(|path| self.read(&path));
        let has_any = read.any(|(_, file)| command::has_unawaited(&file, facts));
        has_any.then(|| {
            Arc::new(Self {
                is_unawaited: true,
                ..self.clone()
            }) as Arc<dyn Oracle>
        })
    }

    fn timeout(&self, facts: &Facts) -> Option<Duration> {
        let files = self.files(facts).into_iter();
        let read = files.flat_map(|path| self.read(&path));
        read.filter_map(|(_, file)| file.longest()).max()
    }
}
