//! ahp schema: the JSON Schema of `hooks.yaml`, for editors.

use ahp::oracle::builtin::BUILTINS;
use ahp::policy::schema;
use serde_json::Value;

use super::oracle::Oracles;
use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<Exit, String> {
    output::line(format!("{:#}", of(&Oracles::find()?)));
    Ok(Exit::Success)
}

/// Returns the schema with every oracle that a project's policy can name.
pub(super) fn of(oracles: &Oracles) -> Value {
    schema(BUILTINS, &oracles.scripts())
}
