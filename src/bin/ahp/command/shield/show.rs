//! Shows a plan: to people, or as the options of a container.

use std::path::Path;

use ahp::shield::{Access, Plan};

use crate::output;

/// How a plan is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// The options of `docker run`, and of what takes the same.
    Docker,
}

pub(super) fn show(plan: &Plan, format: Format) {
    if format == Format::Docker {
        for option in plan.for_container() {
            output::line(option);
        }
        // A container would make a folder of root's in its place.
        for (path, nothing) in plan.missing.all() {
            output::error(format!(
                "ahp: make `{}` first, {}: it is not there, and cannot be held",
                path.display(),
                nothing.to_stay(path).described()
            ));
        }
        return;
    }
    for warning in &plan.warnings {
        output::line(format!("warning   {warning}"));
    }
    section("held", plan.held());
    section(
        "writable",
        plan.with(|access| matches!(access, Access::Writable)),
    );
    let own = |access: &Access| matches!(access, Access::Private(_));
    section(
        "private",
        plan.with(own)
            .chain([Path::new("/tmp"), Path::new("/var/tmp")]),
    );
    let hidden = |access: &Access| {
        matches!(
            access,
            Access::Emptied | Access::HiddenFile | Access::HiddenFolder
        )
    };
    section("hidden", plan.with(hidden));
    section("covered", plan.with(|access| *access == Access::Covered));
    let seen = |access: &Access| matches!(access, Access::Seen | Access::Device);
    section("reachable", plan.with(seen));
    output::line(if plan.network {
        "network   every server, also on this machine"
    } else {
        "network   none"
    });
    output::line("else      read-only");
    for limit in limits(plan) {
        output::line(format!("limit     {limit}"));
    }
}

/// Returns what a shield does not hold, and what it keeps from working that a person may wonder about.
pub(super) fn limits(plan: &Plan) -> Vec<String> {
    let pipes = "The shield does not stop writes to named pipes. To hide them, list their folder under `deny_read`.";
    let is_of_submodule = |path: &&Path| path.ends_with("config") && is_below_modules(path);
    let submodule = plan.held().find(is_of_submodule).map(|config| {
        format!(
            "`git submodule update` fails with \"Device or resource busy\": it writes {}, which is held; run it outside",
            config.display()
        )
    });
    [pipes.to_owned()].into_iter().chain(submodule).collect()
}

/// Whether a path lies where git keeps its submodules.
fn is_below_modules(path: &Path) -> bool {
    let names: Vec<_> = path.iter().collect();
    names.windows(2).any(|pair| pair == [".git", "modules"])
}

fn section<'a>(name: &str, paths: impl Iterator<Item = &'a Path>) {
    let mut name = name;
    for path in paths {
        output::line(format!("{name:<9} {}", path.display()));
        name = "";
    }
}
