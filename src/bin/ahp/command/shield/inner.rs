//! ahp shield-inner: the first program inside: gives up what mounts cannot take away, and becomes the command.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGQUIT};

use crate::ask;
use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// It is the agent: the judge outside says when everything is mounted as it has to be
    #[arg(long)]
    agent: bool,
    /// The command; without one, the kernel's version of Landlock is printed
    #[arg(last = true)]
    command: Vec<String>,
}

/// Becomes the command; the agent only once the judge lets it begin.
pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let abi = scope().map_err(|why| format!("what is inside cannot be closed in: {why}"))?;
    if args.command.is_empty() {
        output::line(abi);
        return Ok(Exit::Success);
    }
    if args.agent && !ask::begin()? {
        // Whoever has refused it tells why.
        return Ok(Exit::Failure);
    }
    become_command(&args.command)
}

/// Cuts this process, and what comes of it, off from abstract sockets and from signals to what is outside; returns the
/// version of Landlock. An older kernel does neither, and `ahp doctor` says so.
#[cfg(target_os = "linux")]
fn scope() -> Result<u32, String> {
    use landlock::{LandlockStatus, Ruleset, RulesetAttr as _, Scope};
    let status = Ruleset::default()
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    Ok(match status.landlock {
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } => kernel_abi
            .and_then(|abi| u32::try_from(abi).ok())
            .unwrap_or(effective_abi as u32),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    })
}

#[cfg(not(target_os = "linux"))]
fn scope() -> Result<u32, String> {
    Err("this is not Linux".to_owned())
}

/// Becomes a command; returns only where it cannot.
pub(super) fn become_command(argv: &[String]) -> Result<Exit, String> {
    let (program, arguments) = argv
        .split_first()
        .ok_or("which command is to be started?")?;
    // Signals that are caught are heard again by what this becomes; those that its parent has ignored would stay so.
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::default()).map_err(|error| error.to_string())?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the command, which gets all that it has"
    )]
    let error = Command::new(program).args(arguments).exec();
    output::error(format!("ahp: cannot start `{program}`: {error}"));
    // As a shell tells it.
    Ok(Exit::Of(if error.kind() == io::ErrorKind::NotFound {
        127
    } else {
        126
    }))
}
