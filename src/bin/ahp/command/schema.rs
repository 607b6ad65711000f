//! ahp schema: the JSON Schema of `hooks.yaml`, for editors.

use ahp::oracle::builtin::BUILTINS;
use ahp::policy::schema;

use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Exit {
    output::line(format!("{:#}", schema(BUILTINS)));
    Exit::Success
}
