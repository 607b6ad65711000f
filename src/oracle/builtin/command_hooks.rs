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
use crate::oracle::external::command;
use crate::oracle::external::command::{Dialect, HookFile};
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
/// What it does: it reads the file, takes the commands that stand under the event of this trigger and have a matcher that
/// meets the tool, and runs each as its own host would: with that host's JSON on stdin (tool names and inputs
/// translated), in `cwd`, with `env`, for this operating system, for at most `timeout` seconds. Their answers are
/// translated back: exit code 2, `permissionDecision: deny`, `decision: block` and `continue: false` block; `ask` asks;
/// `updatedInput` changes the input, by the format's names or the host's own (what has no one place in the host's input stops
/// the call, with the words of the change); `additionalContext` is for the agent and `systemMessage` for its person;
/// `continue: false` ends the run where the host can. The strictest answer counts. Text that is not JSON decides nothing.
///
/// Rules of Claude Code (`if: Bash(git *)`) limit a hook as they do there, and one with `async: true` decides nothing: it is
/// not waited for, is ended at its timeout, and what it says and how it failed stands in the log. Wires of ours in such files
/// are not run: the event is being judged already.
///
/// A command that asks for a longer `timeout` than the settings give gets it, where its binding has none of its own; `ahp
/// install` then has the host wait so long. Bind a file under all triggers that it has commands for at once.
///
/// `file` may be a folder, which means its `.json` files, or have a pattern in its last name. Where it means no file, nothing is
/// judged: what lies at home may be there for some users alone. A binding that is locked, or whose `on_error` is `prompt` or
/// `block`, takes that for a failure. `ahp check` warns of it, and of what in such files no host heeds: events, keys and types that
/// nobody knows; `ahp doctor` tells of files that no binding takes.
///
/// A file that cannot be read as its hosts read it puts its whole layer at fault: one hook without a command, or one matcher
/// with look-around (`^(?!mcp__)`), which the regular expressions here do not have. Nobody can tell then what the file guards,
/// so the `pre-*` events that the layer binds are blocked until it is put right. `ahp check` names the place.
///
/// The format is told by the file: lower-case events or a `version` are Copilot's (matchers are regular expressions over
/// the whole name), groups with `hooks` inside are Claude Code's (plain words are names, all else is a regular
/// expression), everything else is VS Code's (matchers have no effect).
///
/// A file of the project, and the scripts that it names, run only after `ahp trust`, and then as they were trusted.
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
    /// The host that the file is written for, where it does not tell by itself: `claude`, `copilot` or `vscode`.
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
