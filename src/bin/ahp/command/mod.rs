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
const AFTER_HELP: &str = "With `--debug` or AHP_DEBUG=1, every command reports on stderr when a HOOK.md hook starts and ends, and its input.";

/// A policy engine between an AI coding agent and its work
#[derive(Debug, Parser)]
#[command(name = "ahp", version, propagate_version = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Report on stderr when a HOOK.md hook starts and ends, and its input
    // Every command takes it; shown once, below the list of commands, and not on each page.
    #[arg(long, global = true, hide = true)]
    pub(crate) debug: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Allow exactly one command that the policy stops
    Allow(allow::Args),
    /// Build, verify and install signed policy for many machines (needs `ahp-fleet`)
    Bundle(fleet::BundleArgs),
    /// Check the policy, and report every error with its line
    Check(check::Args),
    /// Judge a change in CI by the policy of its target branch
    Ci(ci::Args),
    /// Print a script that completes `ahp` commands in a shell
    Completions(completions::Args),
    /// Show an issue that is submitted, blocked, fixed and accepted, in a temporary repository
    Demo(demo::Args),
    /// Show which hosts have hooks, and test that each of them blocks
    Doctor(doctor::Args),
    /// Open the editor at a binding's line, or add a binding
    Edit(edit::Args),
    /// Run a command between its pre- and post-hooks, those of the issues in it too
    Exec(exec::Args),
    /// Show the policy in force, where each value came from, and why a binding fires
    Explain(explain::Args),
    /// Collect the logs of many machines into tables (needs `ahp-fleet`)
    Fleet(fleet::Args),
    /// The hook command of every host: read one event from stdin, write the host's answer to stdout
    Hook(hook::Args),
    /// List, check and create HOOK.md hooks
    HookMd(hook_md::Args),
    /// Write a starter `.ahp/hooks.yaml`
    Init(init::Args),
    /// Add hooks to a host's own settings
    Install(install::Args),
    /// Show, check and learn from the signal log
    Log(log::Args),
    /// Judge the tool calls of an MCP server, and pin the descriptions of its tools
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
    /// Run as a server that judges events: on a socket, over HTTP, or on stdin and stdout
    Serve(serve::Args),
    /// Show what the marks of a session have counted, or reset it
    Session(session::Args),
    /// Start an agent in such a way that the kernel keeps it from changing its policy and hooks
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
    /// Remove the hooks from a host's settings
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

    /// Whether it sees to its own end when a signal tells it to.
    pub(crate) const fn ends_by_itself(&self) -> bool {
        matches!(
            self,
            Self::Serve(_) | Self::Shield(_) | Self::ShieldInner(_)
        )
    }

    pub(crate) fn run(self) -> ExitCode {
        if self.writes_policy() && ask::shield().is_some() {
            let why = "this is the inside of a shield, where nothing that governs the agent can be written; run it outside";
            return output::failure(why).into();
        }
        let done = match self {
            Self::Allow(args) => allow::run(&args),
            Self::Bundle(args) => fleet::run_bundle(&args),
            Self::Check(args) => check::run(&args),
            Self::Ci(args) => ci::run(&args),
            Self::Completions(args) => Ok(completions::run(&args)),
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
            Self::RunInBackground(args) => Ok(run_in_background::run(&args)),
            Self::Trust(args) => trust::run(&args),
            Self::Uninstall(args) => install::remove(&args),
        };
        done.unwrap_or_else(output::failure).into()
    }
}
