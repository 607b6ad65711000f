//! `ahp run-in-background`: one async binding, in a process that its host does not wait for.

use ahp::engine::block_on;
use ahp::event::Event;

use crate::exit_code::Exit;
use crate::project;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of the binding
    binding: String,
}

/// Runs one async binding to its end.
pub(crate) fn run(args: &Args) -> Exit {
    let Ok(event) = serde_json::from_reader::<_, Event>(std::io::stdin().lock()) else {
        return Exit::Failure;
    };
    match project::engine_at(event.work_dir.as_deref()) {
        Ok(engine) => {
            block_on(engine.evaluate_in_background(event, &args.binding));
            Exit::Success
        }
        Err(_) => Exit::Failure,
    }
}
