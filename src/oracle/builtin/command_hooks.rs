//! CommandHooks: the hook files of Claude Code, VS Code and Copilot, under every host.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diagnostic::Code;
use crate::oracle::ConfigError;
use crate::oracle::Definition;
use crate::oracle::HookContext;
use crate::oracle::Oracle;
use crate::oracle::OracleConfig;
use crate::oracle::OracleError;
use crate::oracle::Programs;
use crate::oracle::external::command;
use crate::oracle::external::command::Dialect;
use crate::oracle::external::command::HookFile;
use crate::signal::Intensity;
use crate::signal::Signal;

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

/// Runs the commands of a hook file that was written for Claude Code, VS Code or Copilot CLI, under every host.
///
/// What it does: it reads the file, takes the commands that stand under the event of this trigger and whose matcher
/// meets the tool, and runs each as its own host would: with that host's JSON on stdin (tool names and inputs
/// translated), in `cwd`, with `env`, for this operating system, for at most `timeout` seconds. Their answers are
/// translated back: exit code 2, `permissionDecision: deny`, `decision: block` and `continue: false` block; `ask` asks;
/// `updatedInput` changes the input; `additionalContext` and `systemMessage` are passed on. The strictest answer counts.
///
/// The format is told by the file: lower-case events or a `version` are Copilot's (matchers are regular expressions over
/// the whole name), groups with `hooks` inside are Claude Code's (plain words are names, all else is a regular
/// expression), everything else is VS Code's (matchers have no effect).
///
/// A file of the project, and the scripts that it names, run only after `ahp trust`, and then as they were trusted.
///
/// ```yaml
/// hooks:
///   pre-tool-use:
///     - oracle: CommandHooks
///       config: {file: .github/hooks/security.json}
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CommandHooks {
    /// The hook file, relative to the project, or `~/…`. Required.
    file: String,
    /// Whose format the file has, where it does not tell by itself: `claude`, `copilot` or `vscode`.
    format: Option<Dialect>,
}

impl CommandHooks {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let hooks: Self = config.decode()?;
        if hooks.file.trim().is_empty() {
            return Err(config.error_at("file", Code::MissingKey, "the key `file` is missing"));
        }
        // What lies at home is read when it is needed: it may be there for some users alone.
        if !hooks.file.starts_with("~/") {
            let path = config.root.join(&hooks.file);
            hooks
                .read(&path)
                .map_err(|message| config.error_at("file", Code::Unreadable, message))?;
        }
        Ok(hooks)
    }

    fn path(&self, root: &Path, home: Option<&Path>) -> Option<PathBuf> {
        match self.file.strip_prefix("~/") {
            Some(rest) => Some(home?.join(rest)),
            None => Some(root.join(&self.file)),
        }
    }

    fn read(&self, path: &Path) -> Result<(Vec<u8>, HookFile), String> {
        let bytes = fs::metadata(path)
            .and_then(|meta| {
                if meta.len() > MAX_FILE {
                    return Err(std::io::Error::other("it is larger than 4 MiB"));
                }
                fs::read(path)
            })
            .map_err(|error| format!("the hook file `{}` cannot be read: {error}", self.file))?;
        let file = HookFile::parse(&bytes, self.format)
            .map_err(|error| format!("the hook file `{}`: {error}", self.file))?;
        Ok((bytes, file))
    }
}

#[async_trait]
impl Oracle for CommandHooks {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let Some(path) = self.path(context.root(), context.facts.home()) else {
            return Ok(Vec::new());
        };
        if self.file.starts_with("~/") && !path.exists() {
            return Ok(Vec::new());
        }
        let (bytes, file) = self.read(&path).map_err(OracleError::Failed)?;
        command::run(&file, &self.file, context, || {
            context
                .trust
                .permits_content(&path, &bytes)
                .map_err(|error| OracleError::Untrusted(error.to_string()))
        })
    }
}
