//! The command line, as clap types, and one module for each subcommand.

pub(crate) mod allow;
pub(crate) mod check;
pub(crate) mod ci;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod hook;
pub(crate) mod hook_md;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod oracle;
pub(crate) mod replay;
pub(crate) mod respond;
pub(crate) mod run;
pub(crate) mod run_in_background;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod shield;
pub(crate) mod test;
pub(crate) mod trust;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::ask;
use crate::output;

/// Stands below the list of commands.
const AFTER_HELP: &str = "With `--debug`, or AHP_DEBUG=1, any command tells on stderr when each HOOK.md hook starts and ends, and what it is given.";

/// A policy engine between an AI coding agent and its work
#[derive(Debug, Parser)]
#[command(name = "ahp", version, propagate_version = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Tell on stderr when each HOOK.md hook starts and ends, and what it is given
    // Every command takes it; shown once, below the list of commands, and not on each page.
    #[arg(long, global = true, hide = true)]
    pub(crate) debug: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Let one command pass that the policy stops, and no other
    Allow(allow::Args),
    /// Make, verify and put in force signed policy for many machines (done by `ahp-fleet`)
    Bundle(fleet::BundleArgs),
    /// Check the configuration, and tell every fault with its line
    Check(check::Args),
    /// Ask the policy about a change in a CI system, as the branch has it that the change goes to
    Ci(ci::Args),
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
    /// Carry the logs of many machines into tables (done by `ahp-fleet`)
    Fleet(fleet::Args),
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
    /// Judge the calls of a server of tools, and pin what its tools are
    Mcp(mcp::Args),
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
    /// Show what marks have counted in a session, or forget it
    Session(session::Args),
    /// Start an agent that the kernel keeps from changing what governs it
    Shield(shield::Args),
    /// Close in what `ahp shield` starts, and become it
    #[command(hide = true)]
    ShieldInner(shield::InnerArgs),
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
    /// Whether it changes what governs an agent, which nothing inside a shield can.
    const fn writes_policy(&self) -> bool {
        matches!(
            self,
            Self::Allow(_)
                | Self::Edit(_)
                | Self::Init(_)
                | Self::Install(_)
                | Self::Trust(_)
                | Self::Uninstall(_)
        )
    }

    /// Runs the command that was asked for.
    pub(crate) fn run(self) -> ExitCode {
        if self.writes_policy() && ask::shield().is_some() {
            let why = "this is the inside of a shield, where nothing that governs the agent can be written; run it outside";
            return output::failure(why).into();
        }
        let exit = match self {
            Self::Allow(args) => allow::run(&args),
            Self::Bundle(args) => fleet::run_bundle(&args),
            Self::Check(args) => check::run(&args),
            Self::Ci(args) => ci::run(&args),
            Self::Completions(args) => completions::run(&args),
            Self::Demo(args) => demo::run(&args),
            Self::Doctor(args) => doctor::run(&args),
            Self::Edit(args) => edit::run(&args),
            Self::Exec(args) => exec::run(&args),
            Self::Explain(args) => explain::run(&args),
            Self::Fleet(args) => fleet::run(&args),
            Self::Hook(args) => return hook::run(&args),
            Self::HookMd(args) => hook_md::run(&args),
            Self::Init(args) => init::run(&args),
            Self::Install(args) => install::run(&args),
            Self::Log(args) => log::run(&args),
            Self::Mcp(args) => mcp::run(&args),
            Self::Oracle(args) => oracle::run(&args),
            Self::Replay(args) => replay::run(&args),
            Self::Respond(args) => respond::run(args),
            Self::Run(args) => run::run(&args),
            Self::Schema(args) => schema::run(&args),
            Self::Serve(args) => serve::run(&args),
            Self::Session(args) => session::run(&args),
            Self::Shield(args) => shield::run(&args),
            Self::ShieldInner(args) => shield::inner(&args),
            Self::Test(args) => test::run(&args),
            Self::RunInBackground(args) => run_in_background::run(&args),
            Self::Trust(args) => trust::run(&args),
            Self::Uninstall(args) => install::remove(&args),
        };
        exit.into()
    }
}
