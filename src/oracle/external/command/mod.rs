//! Command hooks: the JSON hook files of Claude Code, VS Code and Copilot, run under every host.

mod answer;
mod file;
mod input;
mod matcher;
mod run;

pub(crate) use self::file::Dialect;
pub(crate) use self::file::HookFile;
pub(crate) use self::run::run;
