//! The command line, as clap types.

use std::process::ExitCode;

use clap::Parser;
use clap::Subcommand;

use crate::command;

/// A policy engine between an AI coding agent and its work
#[derive(Debug, Parser)]
#[command(name = "ahp", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Tell on stderr when each HOOK.md hook starts and ends (also `AHP_DEBUG=1`)
    #[arg(long, global = true)]
    pub(crate) debug: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the configuration, and tell every fault with its line
    Check(command::check::Args),
    /// Print a script that completes `ahp` commands in a shell
    Completions(command::completions::Args),
    /// Play the submission of an issue on a real, throw-away repository
    Demo(command::demo::Args),
    /// Show what is wired here, and whether it would hold
    Doctor(command::doctor::Args),
    /// Open the editor at a binding's line, or add a binding
    Edit(command::edit::Args),
    /// Run an issue or git command between its pre- and post-hooks
    Exec(command::exec::Args),
    /// Show the policy in force, where each value came from, and why a binding fires
    Explain(command::explain::Args),
    /// Answer a host: one event on stdin, its own reply on stdout
    Hook(command::hook::Args),
    /// List, check and make HOOK.md hooks
    HookMd(command::hook_md::Args),
    /// Write a starter `.ahp/hooks.yaml`
    Init(command::init::Args),
    /// Wire a host to this policy, in the host's own settings
    Install(command::install::Args),
    /// Show, check and learn from the signal log
    Log(command::log::Args),
    /// Make, list, show and run oracles
    Oracle(command::oracle::Args),
    /// Evaluate logged events against another policy
    Replay(command::replay::Args),
    /// Answer a signal
    Respond(command::respond::Args),
    /// Evaluate one event, or many, without a host
    Run(command::run::Args),
    /// Print the JSON Schema of `hooks.yaml`, for editors
    Schema(command::schema::Args),
    /// Run tests of policies and oracles
    Test(command::test::Args),
    /// Run one async binding to its end
    #[command(hide = true)]
    RunInBackground(command::run_in_background::Args),
    /// Take the wires out of a host's settings again
    Uninstall(command::install::RemoveArgs),
    /// Show and allow what a project would run
    Trust(command::trust::Args),
}

impl Command {
    /// Runs the command that was asked for.
    pub(crate) fn run(self) -> ExitCode {
        let exit = match self {
            Self::Check(args) => command::check::run(&args),
            Self::Completions(args) => command::completions::run(&args),
            Self::Demo(args) => command::demo::run(&args),
            Self::Doctor(args) => command::doctor::run(&args),
            Self::Edit(args) => command::edit::run(&args),
            Self::Exec(args) => command::exec::run(&args),
            Self::Explain(args) => command::explain::run(&args),
            Self::Hook(args) => return command::hook::run(&args),
            Self::HookMd(args) => command::hook_md::run(&args),
            Self::Init(args) => command::init::run(&args),
            Self::Install(args) => command::install::run(&args),
            Self::Log(args) => command::log::run(&args),
            Self::Oracle(args) => command::oracle::run(&args),
            Self::Replay(args) => command::replay::run(&args),
            Self::Respond(args) => command::respond::run(args),
            Self::Run(args) => command::run::run(&args),
            Self::Schema(args) => command::schema::run(&args),
            Self::Test(args) => command::test::run(&args),
            Self::RunInBackground(args) => command::run_in_background::run(&args),
            Self::Trust(args) => command::trust::run(&args),
            Self::Uninstall(args) => command::install::remove(&args),
        };
        exit.into()
    }
}
