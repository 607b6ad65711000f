//! Command hooks: the files of Claude Code, VS Code and Copilot, under every host.

mod everywhere;
mod examples;
mod formats;
mod home;
mod survey;
