//! Hooks: all hooks of a project and its user, and which of them an event is to meet.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{BrokenHook, Hook, Origin};
use crate::config::LayerSource;
use crate::event::Trigger;
use crate::signal::Signal;
use crate::stamp::Stamp;

/// All hooks of a project and its user.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// In the order in which they were found: user before project, then by name.
    hooks: Vec<Arc<Hook>>,
    by_name: HashMap<String, usize>,
    broken: Vec<BrokenHook>,
    /// What a user should know that is not a fault.
    notices: Vec<String>,
    /// A user's hook whose place one of the project has taken, by that one's name.
    replaced: HashMap<String, Arc<Hook>>,
    /// Further ones that do not run by themselves.
    aside: Vec<Arc<Hook>>,
    /// The files that were read, in the order in which they were found.
    seen: Vec<(PathBuf, Stamp)>,
}

impl Hooks {
    /// Adds a hook; one of the same name gives way, unless it is locked.
    pub(super) fn add(&mut self, hook: Hook) {
        let name = hook.name().to_owned();
        let Some(&place) = self.by_name.get(&name) else {
            self.by_name.insert(name, self.hooks.len());
            self.hooks.push(Arc::new(hook));
            return;
        };
        let Some(earlier) = self.hooks.get_mut(place) else {
            return;
        };
        let is_lesser = earlier.origin.is_of_project() && !hook.origin.is_of_project();
        if earlier.is_locked() && !is_lesser {
            let why = if earlier.origin == Origin::Bundle {
                "comes with the signed policy"
            } else {
                "says `metadata: {locked: \"true\"}`"
            };
            let fault = format!(
                "{}: error[bad-hook]: the hook `{name}` may not be replaced: {} {why}; give it another name",
                hook.file().display(),
                earlier.file().display(),
            );
            self.broken.push(BrokenHook {
                name,
                dir: hook.dir.clone(),
                origin: hook.origin,
                trigger: Some(hook.front.trigger),
                is_meant: true,
                faults: Arc::new([fault]),
            });
            self.set_aside(Arc::new(hook));
            return;
        }
        self.notices.push(format!(
            "the {} hook `{name}` ({}) replaces the {} hook of the same name ({})",
            hook.origin.name(),
            hook.dir.display(),
            earlier.origin.name(),
            earlier.dir.display(),
        ));
        let earlier = std::mem::replace(earlier, Arc::new(hook));
        let earlier = if earlier.origin.is_of_project() {
            Some(earlier)
        } else {
            self.replaced.insert(name, earlier)
        };
        self.aside.extend(earlier);
    }

    /// Keeps a hook for a binding that names it; it does not run by itself.
    pub(super) fn set_aside(&mut self, hook: Arc<Hook>) {
        self.aside.push(hook);
    }

    pub(super) fn seen(&mut self, files: impl Iterator<Item = (PathBuf, Stamp)>) {
        self.seen.extend(files);
    }

    pub(super) fn all_seen(&self) -> &[(PathBuf, Stamp)] {
        &self.seen
    }

    pub(super) fn add_broken(&mut self, broken: BrokenHook) {
        self.broken.push(broken);
    }

    /// Returns all valid hooks in the order in which they were found.
    pub fn all(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// Returns the folders that should be hooks and are none.
    pub fn broken(&self) -> &[BrokenHook] {
        &self.broken
    }

    /// Returns what a user should know that is no fault: which hook replaces which.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.broken.is_empty()
    }

    /// Finds a valid hook by its name.
    pub fn find(&self, name: &str) -> Option<&Arc<Hook>> {
        self.hooks.get(*self.by_name.get(name)?)
    }

    /// Finds a valid hook by its folder, also one whose place another has taken.
    pub fn find_in(&self, dir: &Path) -> Option<&Arc<Hook>> {
        let mut all = self.hooks.iter().chain(self.replaced.values());
        all.find(|hook| hook.dir == dir)
    }

    /// Finds the hook that a binding of a layer means which no later layer may change: what was found last among the hooks
    /// of that layer and of earlier ones.
    pub fn find_of(&self, name: &str, layer: LayerSource) -> Option<&Arc<Hook>> {
        let others = self.aside.iter().chain(self.replaced.values());
        let all = others.chain(self.hooks.iter());
        all.filter(|hook| hook.name() == name && hook.origin.layer() <= layer)
            .last()
    }

    /// Finds the user's hook whose place one of the project has taken.
    pub fn find_replaced(&self, name: &str) -> Option<&Arc<Hook>> {
        self.replaced.get(name)
    }

    /// Finds a broken hook by its name.
    pub fn find_broken(&self, name: &str) -> Option<&BrokenHook> {
        self.broken.iter().find(|broken| broken.name == name)
    }

    /// Returns the hooks of a trigger as they run: those that are waited for first, by descending priority, then in the
    /// order in which they were found.
    ///
    /// A hook of a project that is not trusted does not take the place of the user's hook of its name: both are
    /// returned, the user's to run and the other to say that it is not trusted.
    pub fn at(&self, trigger: Trigger, is_trusted: &dyn Fn(&Hook) -> bool) -> Vec<Arc<Hook>> {
        let is_due = |hook: &Hook| hook.front.trigger == trigger;
        let mut due: Vec<Arc<Hook>> = Vec::new();
        for hook in &self.hooks {
            let replaced = self.replaced.get(hook.name());
            let stays = replaced.filter(|replaced| is_due(replaced) && !is_trusted(hook));
            due.extend(stays.cloned());
            if is_due(hook) {
                due.push(hook.clone());
            }
        }
        due.sort_by_key(|hook| (hook.front.is_async, Reverse(hook.front.priority)));
        due
    }

    /// Returns a prompt for each broken hook of a trigger: it does not run, and somebody should know. One whose trigger nobody
    /// can read is told where it might have stood guard.
    pub fn invalid(&self, trigger: Trigger) -> Vec<Signal> {
        self.broken
            .iter()
            .filter(|broken| match broken.trigger {
                Some(own) => own == trigger,
                None => broken.is_meant && ANY.contains(&trigger),
            })
            .map(BrokenHook::signal)
            .collect()
    }
}

/// Where a hook is told of whose trigger cannot be read.
const ANY: [Trigger; 3] = [
    Trigger::PreSession,
    Trigger::PreAgentTurn,
    Trigger::PreToolUse,
];

impl BrokenHook {
    /// Returns the prompt that says that the hook does not run.
    pub fn signal(&self) -> Signal {
        let message = format!(
            "the hook `{}` is not valid and did not run: {}",
            self.name,
            self.faults.join("; ")
        );
        Signal::prompt("hook-invalid", message)
            .steps([format!(
                "Fix it; `ahp hook-md validate {}` shows every fault",
                self.dir.display()
            )])
            .fingerprint(
                ["hook-invalid", self.name.as_str()]
                    .into_iter()
                    .chain(self.faults.iter().map(String::as_str)),
            )
    }
}
