//! One module for each subcommand.

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
pub(crate) mod schema;
pub(crate) mod test;
pub(crate) mod trust;

use std::process::ExitCode;

use crate::args::Cli;
use crate::args::Command;
use crate::background;

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> ExitCode {
    let exit = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Edit(args) => edit::run(&args),
        Command::Exec(args) => exec::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Hook(args) => return hook::run(&args),
        Command::HookMd(args) => hook_md::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Install(args) => install::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Oracle(args) => oracle::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Respond(args) => respond::run(args),
        Command::Run(args) => run::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Test(args) => test::run(&args),
        Command::RunInBackground(args) => background::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Uninstall(args) => install::remove(&args),
    };
    exit.into()
}
