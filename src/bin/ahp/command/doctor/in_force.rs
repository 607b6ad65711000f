//! In force: what the policy, its log, its trust and the hooks beside it are here.

use std::sync::Arc;

use ahp::config::{Config, LayerSource, Locations};
use ahp::engine::{Engine, log_place};
use ahp::hook_md::{Hook, entry_point};
use ahp::oracle::external::command::survey;
use ahp::policy::IntensityCeiling;
use ahp::signal::{Intensity, Strength};
use ahp::signal_log;
use ahp::trust::{usual_hook_files, usual_hook_files_at_home};

use super::{Log, Policy, canary};
use crate::ask;
use crate::command::check;
use crate::log_file;
use crate::project;
use crate::view::count;

/// Tells of files with command hooks that no binding takes: under any other host they do not run.
pub(super) fn unbound(engine: &Engine, locations: &Locations) -> Vec<String> {
    let bound = project::bound_hook_files(&engine.state(), locations);
    let home = locations.home.as_deref().map(usual_hook_files_at_home);
    let mut free = usual_hook_files(&locations.project_root);
    free.extend(home.unwrap_or_default());
    free.retain(|file| !bound.contains(file));
    let told = free.into_iter().filter_map(|file| {
        let found = survey(&file).filter(|found| found.commands > 0)?;
        let triggers: Vec<&str> = found.triggers.iter().map(|trigger| trigger.name()).collect();
        let triggers = triggers.join(", ");
        let shown = locations.display(&file);
        let commands = count(found.commands, "command");
        let fault = found.fault.map_or_else(String::new, |fault| {
            format!(" once this is put right: {fault}")
        });
        Some(format!(
            "{shown}: {commands} that only its own host runs; `- {{oracle: CommandHooks, config: {{file: {shown}}}}}` \
             below `{triggers}:` runs them under every host{fault}"
        ))
    });
    told.collect()
}

pub(super) fn of_policy(engine: &Engine, locations: &Locations) -> Policy {
    let state = engine.state();
    let line = |d: &ahp::diagnostic::Diagnostic| d.one_line(state.sources());
    Policy {
        layers: locations
            .layers()
            .into_iter()
            .filter(|(_, path)| path.exists())
            .map(|(_, path)| locations.display(&path))
            .collect(),
        bindings: state
            .policy()
            .specs()
            .values()
            .flatten()
            .filter(|b| b.enabled && b.is_written())
            .count(),
        hooks: state.hooks().map_or(0, |hooks| {
            let runs = |hook: &&Arc<Hook>| entry_point(&hook.dir).is_ok();
            hooks.all().iter().filter(runs).count()
        }),
        stops: state
            .policy()
            .triggers()
            .filter(|trigger| trigger.is_pre())
            .flat_map(|trigger| state.policy().enabled(trigger, state.lookup()))
            .any(|(binding, spec)| {
                let asks = matches!(
                    &binding.ceiling,
                    Some(IntensityCeiling::Fixed(Strength::Ask))
                );
                spec.layer != LayerSource::BuiltIn
                    && (asks
                        || binding
                            .strongest()
                            .is_none_or(|most| most == Intensity::Block))
            }),
        idle: canary::idle(engine, &locations.project_root),
        faults: state
            .faults()
            .iter()
            .chain(&state.hook_faults())
            .map(line)
            .collect(),
        warnings: state
            .warnings()
            .iter()
            .chain(&check::looked_over(&state, locations))
            .map(line)
            .collect(),
    }
}

pub(super) fn of_log(engine: &Engine, locations: &Locations) -> Log {
    let state = engine.state();
    let settings = &state.policy().settings().log;
    let place = log_place(locations, &Config::load(locations).config);
    let place = place.unwrap_or_else(|_| locations.project_root.join(&settings.path).into());
    let path = place.path();
    let (records, fault) = if path.exists() {
        match log_file::verified(place.clone()) {
            Ok(found) => (Some(found.records), found.damage.map(|d| d.to_string())),
            Err(why) => (None, Some(why)),
        }
    } else {
        (None, None)
    };
    let writes_elsewhere = ask::shield().is_some();
    let (refusal, free_bytes) = match signal_log::probe(place.clone()) {
        // Nothing inside can, and nothing has to.
        _ if writes_elsewhere => (None, None),
        Ok(free) if free < settings.max_size => (
            Some(format!(
                "only {} are free, and it may grow by {} before it is packed",
                megabytes(free),
                megabytes(settings.max_size)
            )),
            Some(free),
        ),
        Ok(free) => (None, Some(free)),
        Err(error) => (Some(error.to_string()), None),
    };
    Log {
        path: locations.display(path),
        records,
        fault,
        refusal,
        free_bytes,
    }
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

pub(super) fn of_trust(engine: &Engine, locations: &Locations) -> String {
    if locations.trust_all {
        return "everything is trusted (AHP_TRUST=all)".to_owned();
    }
    // The engine's own: it covers what the user's settings name, as `ahp trust` does.
    let state = engine.state();
    let trust = state.trust();
    match trust.look().map(|look| look.changes().len()) {
        Err(error) => format!("cannot be told: {error}"),
        Ok(_) if trust.manifest().is_none() => match state.untrusted().len() {
            0 => "not trusted, and nothing in force needs it".to_owned(),
            waiting => format!(
                "not trusted: {} may not run the project's programs before `ahp trust`",
                count(waiting, "binding")
            ),
        },
        Ok(0) => "trusted".to_owned(),
        Ok(changes) => format!(
            "{} changed since it was trusted: `ahp trust --diff` shows the difference",
            count(changes, "file")
        ),
    }
}
