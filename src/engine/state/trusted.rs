//! What of the project may run, and what is said of what may not.

use std::sync::Arc;

use super::State;
use crate::config::Target;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::failure::TO_TRUST;
use crate::hook_md::{BrokenHook, entry_point};
use crate::oracle::{NotJudged, OracleError};
use crate::policy::Binding;
use crate::signal::{Intensity, Severity, Signal};
use crate::trust::Permit;

impl State {
    /// Whether a binding may run the programs that its project brings.
    ///
    /// # Errors
    /// Why it may not.
    pub(in crate::engine) fn trusts(&self, binding: &Binding) -> Result<Permit, OracleError> {
        self.finder.trusts(binding)
    }

    /// Takes the controls from what a script of the project gave that nobody has approved: it may warn and stop, and may
    /// not choose what runs.
    pub(in crate::engine) fn refuse_controls(&self, binding: &Binding, signals: &mut [Signal]) {
        let is_control = |signal: &Signal| signal.intensity() == Intensity::Control;
        let Some(file) = binding.oracle.factory().own_file() else {
            return;
        };
        if !signals.iter().any(is_control) {
            return;
        }
        let Err(why) = self.trust().verified(&self.root.join(file)) else {
            return;
        };
        for signal in signals.iter_mut().filter(|signal| is_control(signal)) {
            let text = format!(
                "`{}` would change what runs, which it may not do before it is trusted: {why}",
                binding.oracle_name
            );
            *signal = Signal::prompt("not-trusted", text)
                .severity(Severity::High)
                .steps(TO_TRUST)
                .fingerprint(["not-trusted", "control", &binding.id]);
        }
    }

    /// Returns every HOOK.md hook that does not run: those that are not valid, and those that have no program.
    pub fn broken_hooks(&self) -> Vec<BrokenHook> {
        let Some(hooks) = self.hooks() else {
            return Vec::new();
        };
        let without_program = hooks.all().iter().filter_map(|hook| {
            let why = entry_point(&hook.dir).err()?;
            Some(BrokenHook {
                name: hook.name().to_owned(),
                dir: hook.dir.clone(),
                origin: hook.origin,
                trigger: Some(hook.front.trigger),
                is_meant: true,
                faults: Arc::new([why.to_string()]),
            })
        });
        let invalid = hooks.broken().iter().cloned();
        invalid.chain(without_program).collect()
    }

    /// Returns the faults of HOOK.md hooks, which keep those alone from running.
    pub fn hook_faults(&self) -> Vec<Diagnostic> {
        let fault = |hook: &BrokenHook| {
            let told = hook.faults.join("; ");
            let message = format!(
                "the hook `{}` is not valid and does not run: {told}",
                hook.name
            );
            let shown = hook.dir.display();
            Diagnostic::unplaced(Code::BadHook, message).help(format!(
                "`ahp hook-md validate {shown}` shows every fault with its line"
            ))
        };
        self.broken_hooks().iter().map(fault).collect()
    }

    /// Returns what of the policy may not run before the project is trusted: a warning for each binding.
    pub fn untrusted(&self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for trigger in self.policy.triggers() {
            for (binding, spec) in self.policy.enabled(trigger, &self.finder) {
                let refused = if let Target::Found { dir, .. } = &spec.target {
                    // One without a program does not run, whoever trusts it.
                    (spec.layer.is_of_project() && entry_point(dir).is_ok())
                        .then(|| self.trust().verified_of_project(dir).err())
                        .flatten()
                } else if binding.runs_programs {
                    let config = binding.oracle.config();
                    let permit = self.trust().permits_binding(config, binding.is_of_project);
                    permit.err()
                } else {
                    None
                };
                if let Some(why) = refused {
                    let gives = binding.in_place(NotJudged::NotTrusted, trigger).name();
                    let told = format!("`{}` at `{trigger}` may not run yet: {why}", spec.id);
                    let warning = Diagnostic::warning(Code::Untrusted, told, spec.span).help(
                        format!("until then it gives: {gives}; `ahp trust` shows and allows it"),
                    );
                    warnings.push(warning);
                }
            }
        }
        warnings
    }
}
