//! The command line, as clap types, and one module for each subcommand.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod hook;
pub(crate) mod hook_md;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod oracle;
pub(crate) mod replay;
pub(crate) mod respond;
pub(crate) mod run;
pub(crate) mod run_in_background;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod test;
pub(crate) mod trust;

use std::process::ExitCode;

use clap::Parser;
use clap::Subcommand;

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
    Check(check::Args),
    /// Print a script that completes `ahp` commands in a shell
    Completions(completions::Args),
    /// Play the submission of an issue on a real, throw-away repository
    Demo(demo::Args),
    /// Show what is wired here, and whether it would hold
    Doctor(doctor::Args),
    /// Open the editor at a binding's line, or add a binding
    Edit(edit::Args),
    /// Run an issue or git command between its pre- and post-hooks
    Exec(exec::Args),
    /// Show the policy in force, where each value came from, and why a binding fires
    Explain(explain::Args),
    /// Answer a host: one event on stdin, its own reply on stdout
    Hook(hook::Args),
    /// List, check and make HOOK.md hooks
    HookMd(hook_md::Args),
    /// Write a starter `.ahp/hooks.yaml`
    Init(init::Args),
    /// Wire a host to this policy, in the host's own settings
    Install(install::Args),
    /// Show, check and learn from the signal log
    Log(log::Args),
    /// Make, list, show and run oracles
    Oracle(oracle::Args),
    /// Evaluate logged events against another policy
    Replay(replay::Args),
    /// Answer a signal
    Respond(respond::Args),
    /// Evaluate one event, or many, without a host
    Run(run::Args),
    /// Print the JSON Schema of `hooks.yaml`, for editors
    Schema(schema::Args),
    /// Judge events for a program that keeps a connection
    Serve(serve::Args),
    /// Run tests of policies and oracles
    Test(test::Args),
    /// Run one async binding to its end
    #[command(hide = true)]
    RunInBackground(run_in_background::Args),
    /// Show and allow what a project would run
    Trust(trust::Args),
    /// Take the wires out of a host's settings again
    Uninstall(install::RemoveArgs),
}

impl Command {
    /// Runs the command that was asked for.
    pub(crate) fn run(self) -> ExitCode {
        let exit = match self {
            Self::Check(args) => check::run(&args),
            Self::Completions(args) => completions::run(&args),
            Self::Demo(args) => demo::run(&args),
            Self::Doctor(args) => doctor::run(&args),
            Self::Edit(args) => edit::run(&args),
            Self::Exec(args) => exec::run(&args),
            Self::Explain(args) => explain::run(&args),
            Self::Hook(args) => return hook::run(&args),
            Self::HookMd(args) => hook_md::run(&args),
            Self::Init(args) => init::run(&args),
            Self::Install(args) => install::run(&args),
            Self::Log(args) => log::run(&args),
            Self::Oracle(args) => oracle::run(&args),
            Self::Replay(args) => replay::run(&args),
            Self::Respond(args) => respond::run(args),
            Self::Run(args) => run::run(&args),
            Self::Schema(args) => schema::run(&args),
            Self::Serve(args) => serve::run(&args),
            Self::Test(args) => test::run(&args),
            Self::RunInBackground(args) => run_in_background::run(&args),
            Self::Trust(args) => trust::run(&args),
            Self::Uninstall(args) => install::remove(&args),
        };
        exit.into()
    }
}
