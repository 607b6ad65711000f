//! Parses arguments, runs one command, sets the exit code.

mod args;
mod background;
mod command;
mod debug;
mod exit_code;
mod log_file;
mod output;
mod project;
mod view;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let code = run();
    ahp::process::end_all();
    code
}

fn run() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    // Hosts wait for this one on every tool call.
    if words.next().is_some_and(|word| word == "hook")
        && let Some(args) = command::hook::Args::read(words)
    {
        debug::start(false);
        return command::hook::run(&args);
    }
    let cli = args::Cli::parse();
    debug::start(cli.debug);
    command::run(cli)
}
