//! ahp check: the configuration, every fault of it with its line.

mod hook_files;
mod hosts;

use std::collections::BTreeSet;
use std::path::PathBuf;

use ahp::config::{Environment, Locations};
use ahp::diagnostic::{Code, Diagnostic, Severity};
use ahp::engine::State;
use ahp::workspace::{DiskWorkspace, IssueError};
use serde_json::json;

use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;
use crate::report::{Annotation, Annotator};
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project; by default the one around the current directory
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    deny_warnings: bool,
    /// Report to a CI system too, with the line of each fault [default there: github]
    #[arg(long, value_name = "FORMAT", value_enum)]
    report: Option<Annotator>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Warns of each id that several issue files have: whatever is asked of such an issue cannot be told.
fn shared_ids(state: &State) -> Vec<Diagnostic> {
    let policy = state.policy();
    let workspace = DiskWorkspace::new(policy.root().clone(), policy.settings().issues.as_path());
    let shared = workspace.shared_ids().into_iter();
    let warning = |error: IssueError| {
        let mut warning = Diagnostic::unplaced(Code::SharedId, error.to_string());
        warning.severity = Severity::Warning;
        warning.help(error.remedy())
    };
    shared.map(warning).collect()
}

/// Returns what is amiss with a policy that is free of errors, and with what it is bound to.
pub(crate) fn looked_over(state: &State, locations: &Locations) -> Vec<Diagnostic> {
    let mut found = state.lint();
    let hosts = hosts::wired(&Environment::of_process(), locations);
    found.extend(hosts::lint(state, &hosts));
    found.extend(hook_files::lint(state, locations));
    found.extend(shared_ids(state));
    found
}

/// What there is where nothing is bound.
const BARE: &str = "only self-protection and HOOK.md hooks are in force";

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let locations = project::named(args.dir.as_deref())?;
    let engine = project::built(project::engine(locations.clone()))?;
    let state = engine.state();
    let sources = state.sources();
    let looked_over = looked_over(&state, &locations);
    let hooks = state.hook_faults();
    // What stands under several triggers is one fault.
    let mut told = BTreeSet::new();
    let faults: Vec<&Diagnostic> = state
        .faults()
        .iter()
        .chain(&hooks)
        .chain(state.warnings())
        .chain(&looked_over)
        .filter(|fault| told.insert(fault.one_line(sources)))
        .collect();
    let errors = faults.iter().filter(|fault| fault.is_error()).count();
    let warnings = faults.len() - errors;
    let bindings = state.policy().specs().values().flatten();
    let bindings = bindings.filter(|spec| spec.is_written()).count();
    match args.format {
        Format::Json => {
            for fault in &faults {
                output::json(&fault.to_json(sources));
            }
            output::json(&json!({
                "errors": errors,
                "warnings": warnings,
                "bindings": bindings,
                "layers": state.layers(),
            }));
        }
        Format::Human => {
            for fault in output::diagnostics(faults.iter().copied(), sources) {
                output::line(fault);
                output::line("");
            }
            let layers = state.layers();
            let errors = count(errors, "error");
            output::line(if layers.is_empty() {
                format!("no configuration: {BARE}, {errors} (`ahp init` writes one)")
            } else {
                let bare = if bindings == 0 {
                    format!(": {BARE}")
                } else {
                    String::new()
                };
                format!(
                    "{errors}, {}; {} from {}{bare}",
                    count(warnings, "warning"),
                    count(bindings, "binding"),
                    layers.join(", ")
                )
            });
        }
    }
    let annotations = faults
        .iter()
        .map(|fault| Annotation::of_fault(fault, sources));
    Annotator::print(args.report, args.format, &annotations.collect::<Vec<_>>());
    let failed = errors > 0 || (args.deny_warnings && warnings > 0);
    Ok(Exit::unless(failed))
}
