//! Command hooks: the files of Claude Code, VS Code and Copilot, under every host.

mod examples;
mod formats;
