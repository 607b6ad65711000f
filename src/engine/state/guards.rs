//! What no agent may change while this policy is in force.

use std::path::PathBuf;

use crate::config::Config;
use crate::engine::builder::Shared;
use crate::engine::given::{LogTarget, Origin};
use crate::engine::lookup::Finder;
use crate::engine::origins::Origins;
use crate::engine::past::Keeper;
use crate::engine::places::place_of_log;
use crate::guard::{GuardedDir, Guards, Running};
use crate::place::Roots;
use crate::shell::Surroundings;
use crate::trust::{hook_scripts, is_kept};

/// Returns what no agent may change: what is known of our own places and of the hosts', and what this policy adds: the programs
/// that it names, and the files that its layers may extend.
pub(super) fn guards(
    shared: &Shared,
    origins: &Origins,
    finder: &Finder,
    config: &Config,
    (programs, may_extend): (&[PathBuf], bool),
) -> Guards {
    let Origin::Files(locations) = &shared.origin else {
        return Guards::new(Roots::new(shared.root(), shared.home.clone()), Vec::new());
    };
    let log = match &shared.log {
        LogTarget::File(path) => Some(path.clone()),
        LogTarget::AsSettings | LogTarget::Nowhere => {
            let place = place_of_log(locations, config, None);
            place.ok().map(|place| place.path().to_owned())
        }
    };
    let roots = Roots {
        home: shared.home.clone(),
        ..locations.roots()
    };
    let mut further: Vec<GuardedDir> = origins.paths().map(GuardedDir::whole).collect();
    further.push(GuardedDir::whole(&shared.state_dir));
    // What could not be kept is noted there, where anything could not.
    let aside = match &shared.keeper {
        Keeper::Files(store) if !config.marks.is_empty() || config.asks_origins => store.aside(),
        _ => None,
    };
    further.extend(aside.as_deref().map(GuardedDir::whole));
    further.extend(log.as_deref().and_then(GuardedDir::with_siblings));
    further.extend(finder.guarded());
    let surroundings = Surroundings {
        work_dir: shared.root().to_owned(),
        home: shared.home.clone(),
        project_root: shared.root().to_owned(),
    };
    // Those of the project are found by what of it may run.
    let of_hooks = programs
        .iter()
        .filter(|path| !path.starts_with(shared.root()));
    let of_hooks = of_hooks.flat_map(|path| hook_scripts(path, &surroundings));
    let programs = programs.iter().cloned().chain(of_hooks);
    let programs: Vec<PathBuf> = programs.filter(|path| is_kept(path)).collect();
    further.extend(programs.iter().map(|path| GuardedDir::whole(path)));
    let running = Running {
        hooks: finder.hook_dirs(),
        programs: programs
            .into_iter()
            .filter(|path| !path.starts_with(shared.root()))
            .collect(),
    };
    Guards::new(roots, further)
        .with_programs(finder.trust().clone(), may_extend)
        .with_running(running)
}
