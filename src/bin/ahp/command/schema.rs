//! ahp schema: the JSON Schema of `hooks.yaml`, for editors.

use ahp::oracle::builtin::BUILTINS;
use ahp::policy::schema;
use serde_json::Value;

use super::oracle::Oracles;
use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Exit {
    match Oracles::find() {
        Ok(oracles) => {
            output::line(format!("{:#}", of(&oracles)));
            Exit::Success
        }
        Err(error) => output::failure(error),
    }
}

/// Returns the schema with every oracle that a project's policy can name.
pub(super) fn of(oracles: &Oracles) -> Value {
    schema(BUILTINS, &oracles.scripts())
}
