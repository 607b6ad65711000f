//! HookOracle: a HOOK.md hook, run as an oracle.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

use super::{answer, input};
use crate::diagnostic::{Code, Diagnostic};
use crate::event::Trigger;
use crate::hook_md::{FrontMatter, Hook, entry_point};
use crate::oracle::{ConfigError, Factory, HookContext, Kind, Oracle, OracleConfig, OracleError};
use crate::process::Program;
use crate::secret;
use crate::signal::Signal;

/// A HOOK.md hook, run as an oracle.
#[derive(Clone, Debug)]
pub struct HookOracle {
    hook: Arc<Hook>,
}

impl HookOracle {
    /// Makes an oracle of a hook.
    pub const fn new(hook: Arc<Hook>) -> Self {
        Self { hook }
    }

    fn run(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let hook = &*self.hook;
        let dir = if hook.origin.is_of_project() {
            let verified = context.trust.verified_of_project(&hook.dir);
            let dir = verified.map_err(|reason| {
                OracleError::Untrusted(format!("the hook `{}`: {reason}", hook.name()))
            })?;
            hook.front_as_trusted(&dir)
                .map_err(OracleError::Untrusted)?;
            dir
        } else {
            hook.dir.clone()
        };
        let entry = entry_point(&dir).map_err(|error| {
            // Where it was looked for may be a copy of ours, which a person has never seen.
            let (looked_in, own) = (dir.to_string_lossy(), hook.dir.to_string_lossy());
            let told = error.to_string().replace(&*looked_in, &own);
            OracleError::NoProgram(format!("the hook `{}`: {told}", hook.name()))
        })?;
        let facts = &*context.facts;
        let event = facts.event();
        let told = input::of(facts, &hook.front.event_type);
        tracing::debug!(target: "ahp::hook", "[HOOK DEBUG] Input: {}", secret::redact(&told));
        // A directory that is told and is not here (a remote host, a recorded event) must not disarm a guard.
        let work_dir = [facts.work_dir(), context.root(), &dir]
            .into_iter()
            .find(|dir| dir.is_dir())
            .unwrap_or(&dir);
        let finished = (context.held(Program::new(entry.argv())))
            .dir(work_dir)
            // A hook of the project may have the name of the one that was meant.
            .outside(context.outside && !hook.origin.is_of_project())
            .env("AHP_PROJECT_DIR", context.root())
            .env("AHP_TRIGGER", event.trigger.name())
            .env("AHP_HOOK_DIR", &dir)
            .stdin(told)
            .deadline(context.deadline)
            .run()
            .map_err(|error| OracleError::failed(format!("the hook `{}`: {error}", hook.name())))?;
        let tool = event.tool.as_ref();
        // A change is told by the fields that the hook was given.
        let input = tool.map(|tool| input::told_input(facts, tool));
        answer::read(hook, event.trigger, input.as_ref(), &finished)
    }
}

#[async_trait]
impl Oracle for HookOracle {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let front = &self.hook.front;
        let mode = if front.is_async { "ASYNC" } else { "SYNC" };
        tracing::debug!(
            target: "ahp::hook",
            "[HOOK DEBUG] [{mode}] Starting hook '{}' for event '{}'",
            front.name,
            front.event_type
        );
        let started = Instant::now();
        let result = self.run(context);
        let reason = match &result {
            Ok(signals) => signals
                .iter()
                .find(|signal| signal.intensity() == crate::signal::Intensity::Block)
                .map(|signal| signal.payload.text().to_owned()),
            Err(error) => Some(error.to_string()),
        };
        let blocked = if result.is_ok() && reason.is_some() {
            "True"
        } else {
            "False"
        };
        tracing::debug!(
            target: "ahp::hook",
            "[HOOK DEBUG] [{mode}] Completed hook '{}' for event '{}' in {}ms: blocked={blocked}",
            front.name,
            front.event_type,
            started.elapsed().as_millis()
        );
        if let Some(reason) = reason {
            tracing::debug!(target: "ahp::hook", "[HOOK DEBUG] Reason: {reason}");
        }
        result
    }
}

/// Makes oracles of one HOOK.md hook.
#[derive(Clone, Debug)]
pub struct HookFactory {
    hook: Arc<Hook>,
    triggers: [Trigger; 1],
}

impl HookFactory {
    /// Makes the factory of a hook.
    pub fn new(hook: Arc<Hook>) -> Self {
        let triggers = [hook.front.trigger];
        Self { hook, triggers }
    }

    /// Returns the hook.
    pub const fn hook(&self) -> &Arc<Hook> {
        &self.hook
    }
}

impl Factory for HookFactory {
    fn kebab(&self) -> &str {
        self.hook.name()
    }

    fn summary(&self) -> &str {
        &self.hook.front.description
    }

    fn kind(&self) -> Kind {
        Kind::External
    }

    fn triggers(&self) -> &[Trigger] {
        &self.triggers
    }

    fn front_matter(&self) -> Option<&FrontMatter> {
        Some(&self.hook.front)
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.hook.dir)
    }

    fn runs_programs(&self) -> bool {
        // The oracle itself asks for trust, and runs the trusted copy.
        false
    }

    fn build(&self, config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError> {
        match config.node.entries().first() {
            None => Ok(Arc::new(HookOracle::new(self.hook.clone()))),
            Some((key, _)) => Err(ConfigError(vec![
                Diagnostic::error(
                    Code::UnknownKey,
                    format!(
                        "unknown key `{}`: a HOOK.md hook takes no configuration",
                        key.name
                    ),
                    key.span,
                )
                .help(format!(
                    "what it does stands in {}",
                    self.hook.file().display()
                )),
            ])),
        }
    }
}
