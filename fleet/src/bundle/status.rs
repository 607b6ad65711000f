//! Status: which bundle is in force on this machine, and what is known of it.

use std::process::ExitCode;

use ahp::engine::{Clock as _, SystemClock};
use serde_json::json;

use super::break_glass::BreakGlass;
use super::{Machine, say};
use crate::error::FleetError;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: Machine,
}

/// Exits with 1 where there is none, or where the one in force has expired.
pub(super) fn run(args: &Args) -> Result<ExitCode, FleetError> {
    let store = args.machine.store();
    let (state, manifest) = (store.state()?, store.in_force()?);
    let now = SystemClock.now();
    let glass = BreakGlass::read(&store)?.filter(|glass| glass.until > now);
    let has_expired = manifest.as_ref().is_some_and(|m| m.expires <= now);
    if args.json {
        say(&json!({
            "in_force": manifest, "state": state, "expired": has_expired, "break_glass": glass,
        })
        .to_string())?;
    } else {
        let mut lines = Vec::new();
        match &manifest {
            None => lines.push("no bundle is in force".to_owned()),
            Some(m) => {
                lines.push(format!("{}@{} is in force", m.id, m.version));
                let word = if has_expired { "EXPIRED" } else { "expires" };
                lines.push(format!("{word:<9}{}", m.expires));
            }
        }
        match state.checked_at {
            Some(at) => lines.push(format!("checked  {at}")),
            None => lines.push("checked  never: `ahp bundle pull` asks the server".to_owned()),
        }
        if let Some(previous) = state.previous {
            lines.push(format!(
                "before   {previous} (`ahp bundle rollback` puts it in force)"
            ));
        }
        if let Some(version) = state.rolled_back {
            lines.push(format!("rolled back from {version}"));
        }
        if let Some(glass) = &glass {
            lines.push(glass.to_string());
        }
        say(&lines.join("\n"))?;
    }
    Ok(if manifest.is_some() && !has_expired {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
