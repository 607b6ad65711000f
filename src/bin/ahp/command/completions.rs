//! ahp completions: shell completions.

use ahp::config::PACKS;
use ahp::host::HOSTS;
use ahp::install::Installer;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};

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
    clap_complete::generate(
        args.shell,
        &mut with_names(Cli::command()),
        "ahp",
        &mut script,
    );
    output::line(String::from_utf8_lossy(&script).trim_end());
    Exit::Success
}

/// Offers names of hosts and packs. The command line itself takes any text there: its errors name the nearest one.
fn with_names(command: Command) -> Command {
    let installers = || {
        Installer::all()
            .map(|installer| installer.host.name)
            .collect()
    };
    let hosts: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    let packs = PACKS.iter().map(|pack| pack.name).collect();
    let places = [
        ("install", "host", installers()),
        ("uninstall", "host", installers()),
        ("init", "pack", packs),
    ];
    places.into_iter().fold(
        with_hosts(command, &hosts),
        |command, (subcommand, argument, names): (_, _, Vec<&str>)| {
            command.mut_subcommand(subcommand, |command| {
                command.mut_arg(argument, |arg| {
                    arg.value_parser(PossibleValuesParser::new(names))
                })
            })
        },
    )
}

/// Offers them wherever a command takes one.
fn with_hosts(command: Command, hosts: &[&'static str]) -> Command {
    let takes_one = command.get_arguments().any(|arg| arg.get_id() == "host");
    let offer = |arg: Arg| arg.value_parser(PossibleValuesParser::new(hosts.iter().copied()));
    let command = if takes_one {
        command.mut_arg("host", offer)
    } else {
        command
    };
    command.mut_subcommands(|inner| with_hosts(inner, hosts))
}
