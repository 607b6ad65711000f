//! What is said of a change that touches the policy which reviews it: of its files, and of what it would have run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::State;
use crate::config::{Approved, Locations, Node, PolicyChanged, Reviewed, Value};
use crate::diagnostic::FileId;
use crate::event::Trigger;
use crate::hook_md;
use crate::policy::{Binding, Policy};
use crate::signal::{Severity, Signal};
use crate::trust::named_by;

/// The kind of the signals, and the name under which the engine's own is logged.
pub(super) const KIND: &str = "policy-changed";

/// Returns the files of a policy that are another than what it is held to has, as they are shown: layers, scripts, hooks, and what its
/// bindings name and would run.
pub(super) fn changed(
    locations: &Locations,
    reviewed: &Reviewed,
    policy: &Policy,
    added: &BTreeSet<(Trigger, String)>,
) -> Vec<String> {
    let mut changed = reviewed.changed(&Approved::of(locations, true).into_reviewed());
    for (trigger, spec) in policy
        .specs()
        .iter()
        .flat_map(|(trigger, specs)| specs.iter().map(|spec| (*trigger, spec)))
    {
        if spec.enabled && !added.contains(&(trigger, spec.id.clone())) {
            let named = named_by(&locations.project_root, &spec.config);
            changed.extend(named.iter().filter_map(|path| reviewed.touch(path)));
        }
    }
    let shown: BTreeSet<String> = changed.iter().map(|path| locations.display(path)).collect();
    shown.into_iter().collect()
}

impl State {
    /// Returns what is said of a policy that is not that of what the change goes to: as strongly as the settings in force say.
    pub(super) fn policy_changed(&self) -> Option<Signal> {
        let reviewed = self.reviewed.as_deref()?;
        let moved = reviewed.is_moved_to();
        if self.changed.is_empty() && moved.is_none() {
            return None;
        }
        let mut text = "the policy is not that of what the change goes to".to_owned();
        if let Some(folder) = moved {
            text.push_str(&format!(
                "; it would make `{}` the project, and is judged by that around it",
                self.shown(folder)
            ));
        }
        if !self.changed.is_empty() {
            text.push_str(&format!(": {}", self.changed.join(", ")));
        }
        let mut steps = vec!["Have the change of the policy looked at by itself".to_owned()];
        let held = self.held().into_iter();
        steps.extend(held.map(|held| format!("{held}; what was there stays in force")));
        let signal = match self.policy.settings().policy_changed {
            PolicyChanged::Prompt => Signal::prompt(KIND, text),
            PolicyChanged::Ask => Signal::prompt(KIND, text).must_be_answered(),
            PolicyChanged::Block => Signal::block(KIND, text),
        };
        Some(
            signal
                .severity(Severity::High)
                .steps(steps)
                .files(self.changed.iter().map(String::as_str))
                .about(KIND, self.changed.join(", "))
                .fingerprint(self.changed.iter().map(String::as_str)),
        )
    }

    /// Returns a block for each hook of what the change goes to that is due at a trigger and is not there as it was: whatever its
    /// `HOOK.md` says now, it judges nothing in the place of that one.
    pub(super) fn hooks_changed(&self, trigger: Trigger) -> Vec<Signal> {
        let Some(reviewed) = self.reviewed.as_deref() else {
            return Vec::new();
        };
        let mut signals = Vec::new();
        for (dir, text) in reviewed.hooks() {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            let front = hook_md::parse(text, &name, FileId::default()).front;
            // One that was no valid hook judged nothing.
            if front.is_none_or(|front| front.trigger != trigger || front.is_async) {
                continue;
            }
            let is_there = self
                .hooks()
                .is_some_and(|hooks| hooks.find_in(dir).is_some());
            if let Some(file) = reviewed
                .touch(dir)
                .or_else(|| (!is_there).then(|| dir.to_owned()))
            {
                signals.push(self.not_run(&format!("the hook `{name}`"), &file));
            }
        }
        signals
    }

    /// Returns the block that stands for a binding whose program, or whose file of orders, the change has touched; none where it may run.
    pub(in crate::engine) fn program_changed(
        &self,
        binding: &Binding,
        trigger: Trigger,
    ) -> Option<Signal> {
        let reviewed = self.reviewed.as_deref()?;
        let factory = binding.oracle.factory();
        let what = format!("`{}` ({})", binding.oracle_name, binding.source);
        if let Some(dir) = factory.folder() {
            let is_known = reviewed.hooks().any(|(known, _)| known == dir);
            let file = is_known.then(|| reviewed.touch(dir)).flatten()?;
            return Some(self.not_run(&what, &file));
        }
        if self.added.contains(&(trigger, binding.id.to_string())) {
            return None;
        }
        let own: Option<PathBuf> = factory.own_file().map(|file| self.root.join(file));
        let own = own.filter(|file| !reviewed.holds_script(file));
        let named = named_by(&self.root, binding.oracle.config());
        let entries = binding.oracle.config().entries().iter();
        let orders = entries.filter(|(key, _)| factory.is_file_key(&key.name));
        let orders = orders.flat_map(|(_, value)| texts(value));
        let orders: Vec<PathBuf> = orders.map(|file| self.root.join(file)).collect();
        let mut all = own.iter().chain(&named).chain(&orders);
        let file = all.find_map(|path| reviewed.touch(path))?;
        Some(self.not_run(&what, &file))
    }

    /// Says that something did not judge, for the change has touched a file that it needs.
    fn not_run(&self, what: &str, file: &Path) -> Signal {
        let file = self.shown(file);
        let text = format!(
            "{what} was not run: `{file}` is not what it is where the change goes to, and no change runs what it has made of that"
        );
        let steps = [
            "Take the change of that file back, or bring the branch up to date where it is older".to_owned(),
            "Or have a person merge that change by itself: `ahp ci --policy head` judges it by its own policy".to_owned(),
        ];
        Signal::block(KIND, text)
            .severity(Severity::High)
            .steps(steps)
            .files([file.as_str()])
            .about(KIND, file.as_str())
            .fingerprint([KIND, what, &file])
    }

    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path).display();
        match shown.to_string() {
            own if own.is_empty() => ".".to_owned(),
            other => other,
        }
    }
}

/// Returns the texts of a list, or a single text.
fn texts(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::Str(text) => vec![text],
        Value::Seq(items) => items.iter().filter_map(Node::as_str).collect(),
        _ => Vec::new(),
    }
}
