//! ahp completions: shell completions.

use clap::CommandFactory as _;

use super::Cli;
use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ahp", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
    Exit::Success
}
