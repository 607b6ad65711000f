//! ahp-fleet: carries signal logs of many machines into tables, and signed policy to many machines. `ahp` starts it; no hook ever waits for it.
//!
//! It stands apart from `ahp` so that the program in the hook's path has no network and no table format in it.

#![forbid(unsafe_code)]

mod batch;
mod bundle;
mod compact;
mod disk;
mod error;
mod export;
mod http;
mod identity;
mod lake;
mod ocsf;
mod otlp;
mod rows;
mod ship;
mod table;
mod timer;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ahp::config::{Config, Environment, Locations, Settings};
use ahp::diagnostic::Diagnostic;
use clap::Parser as _;

use crate::error::FleetError;

/// Carries signal logs of many machines into tables, and signed policy to many machines.
#[derive(Debug, clap::Parser)]
#[command(name = "ahp-fleet", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make, verify and put in force signed policy for many machines
    Bundle(bundle::Args),
    /// Write records of a log as tables (Parquet) or events (OTLP, OCSF); the records come on standard input
    Export(export::Args),
    /// Carry what is new in the logs of this user to the place that gathers them
    Ship(ship::Args),
    /// Make few large files of the many small ones of past days
    Compact(compact::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let environment = Environment::of_process();
    let done = match &cli.command {
        Command::Bundle(args) => bundle::run(&environment, args),
        Command::Export(args) => export::run(&environment, args),
        Command::Ship(args) => ship::run(&environment, args),
        Command::Compact(args) => compact::run(args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Says something to whoever started this; standard output is for what was asked.
fn tell(text: &str) {
    // Nobody may be there to read it.
    let _gone = writeln!(std::io::stderr().lock(), "{text}");
}

/// Returns where this user's state lies.
///
/// # Errors
/// No variable names a place.
fn state_dir(environment: &Environment) -> Result<PathBuf, FleetError> {
    let locations = Locations::find(environment, None);
    locations.state_dir.ok_or(FleetError::NoHome)
}

/// Returns the settings in force.
///
/// # Errors
/// What leaves the machine cannot be known while the machine's policy is broken.
fn settings(environment: &Environment) -> Result<Settings, FleetError> {
    let loaded = Config::load(&Locations::find(environment, None));
    // Only the machine's layers say what leaves: a fault of a project or a user changes nothing of that.
    let of_others = |fault: &&Diagnostic| {
        let mut layers = loaded.layers.iter();
        layers.any(|layer| !layer.source.is_of_machine() && layer.holds(fault))
    };
    let mut faults = loaded.diagnostics.iter().filter(|fault| fault.is_error());
    if faults.any(|fault| !of_others(&fault)) {
        return Err(FleetError::Policy(
            "it has faults; `ahp check` shows them".to_owned(),
        ));
    }
    Ok(loaded.config.settings)
}
