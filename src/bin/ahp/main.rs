//! Parses arguments, runs one command, sets the exit code.

mod answer;
mod ask;
mod background;
mod command;
mod daemon;
mod debug;
mod exit_code;
mod interrupt;
mod log_file;
mod output;
mod project;
mod report;
mod view;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use crate::exit_code::Exit;

fn main() -> ExitCode {
    // A write past a file-size limit must come back as an error: a hook that a signal ends opens the gate.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).ok();
    let mut code = run();
    // A program must not take half an answer for the whole.
    if output::has_lost() && code == ExitCode::SUCCESS {
        code = Exit::Failure.into();
    }
    ahp::process::end_all();
    code
}

fn run() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let is_hook = words.next().is_some_and(|word| word == "hook");
    // Hosts wait for this one on every tool call.
    if is_hook && let Some(args) = command::hook::Args::read(words) {
        debug::start(false);
        interrupt::watch();
        return command::hook::run(&args);
    }
    let cli = match command::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // It repeats what was typed, which may be a name that others gave.
            let said = error.render().ansi().to_string();
            let said = said.strip_suffix('\n').unwrap_or(&said);
            if error.use_stderr() {
                output::error(said);
            } else {
                output::line(said);
            }
            // To scripts 2 means "blocked"; a host must not take a hook that is called wrongly for one that let pass.
            return match error.exit_code() {
                0 => Exit::Success,
                _ if is_hook => Exit::Blocked,
                _ => Exit::Failure,
            }
            .into();
        }
    };
    debug::start(cli.debug);
    // Without it no policy would be found, and nothing would be told of that.
    if let Err(error) = rustix::process::getcwd(Vec::new()) {
        let reason = "cannot find the working directory, which may have been deleted: change into one that is there";
        return output::failure(format!("{reason} ({error})")).into();
    }
    if !cli.command.ends_by_itself() {
        interrupt::watch();
    }
    cli.command.run()
}
