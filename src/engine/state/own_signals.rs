//! What the engine itself says at an event: of faulty layers, of what is held, of variables that are ignored, of a past that
//! cannot be told.

use super::{State, reviewed};
use crate::diagnostic::Diagnostic;
use crate::engine::signed;
use crate::event::Trigger;
use crate::fact::{Facts, Past};
use crate::oracle::{InPlace, NotJudged, Standing};
use crate::session::Scope;
use crate::shell_word::quoted_where_needed;
use crate::signal::{Intensity, Severity, Signal};

impl State {
    /// Returns what stands in the place of the layers that are left out, and what is to be told of variables that are
    /// ignored: each with the name under which it is logged.
    pub(in crate::engine) fn own_signals(&self, facts: &Facts) -> Vec<(&'static str, Signal)> {
        let trigger = facts.event().trigger;
        let was_told = |name: &str, signal: &Signal| {
            let subject = facts.event().subject().unwrap_or_default();
            let chain = facts.history().chain(trigger, name, subject);
            let mut identities = signal.identities(None).into_iter();
            identities.all(|identity| chain.find(&identity).is_some())
        };
        let mut signals = Vec::new();
        for layer in self.layers_read.iter().filter(|layer| layer.is_left_out) {
            let gates = trigger.is_pre() && layer.may_bind(trigger);
            let faults: Vec<_> = self
                .faults
                .iter()
                .filter(|fault| layer.holds(fault))
                .collect();
            let is_final = layer.source.is_of_machine() || !self.allow_when_broken;
            signals.extend(self.config_error(
                &faults,
                &layer.to_string(),
                trigger,
                gates && is_final,
                &was_told,
            ));
        }
        let is_of_layer = |fault: &Diagnostic| {
            self.layers_read
                .iter()
                .any(|l| l.is_left_out && l.holds(fault))
        };
        let others: Vec<_> = self
            .faults
            .iter()
            .filter(|fault| !is_of_layer(fault))
            .collect();
        if !others.is_empty() {
            let gates = trigger.is_pre() && !self.allow_when_broken;
            signals.extend(self.config_error(&others, "the policy", trigger, gates, &was_told));
        }
        let mut signals: Vec<_> = signals
            .into_iter()
            .map(|signal| ("config", signal))
            .collect();
        // In a review that is told of the files, each time: nobody has a session there.
        signals.extend(self.policy_changed().map(|signal| (reviewed::KIND, signal)));
        let gone = self.hooks_changed(trigger).into_iter();
        signals.extend(gone.map(|signal| (reviewed::KIND, signal)));
        if trigger.is_pre() && facts.event().lacks_tool() {
            let text = "the call names no tool, so that nobody can tell what it does";
            let signal = Signal::block("not-judged", text).unresolvable();
            let steps = ["Give the event `tool` with the tool's `name` and `input`"];
            signals.push(("engine", signal.steps(steps)));
        }
        let held = self.held();
        if !held.is_empty() && self.reviewed.is_none() {
            let text = format!(
                "the project's policy was weakened, and what was in force stays in force until a person approves the change: {}",
                held.join(", ")
            );
            let signal = Signal::prompt("policy-weakened", text)
                .steps([
                    "Look at the change: `ahp trust --diff`",
                    "Then approve it: `ahp trust`",
                ])
                .about("policy-weakened", held.join(", "))
                .fingerprint(held.iter().map(String::as_str));
            if !was_told("ratchet", &signal) {
                signals.push(("ratchet", signal));
            }
        }
        for variable in &self.ignored {
            let name = variable.name();
            let text = format!("`{name}` is ignored: the machine's policy forbids it");
            let signal = Signal::aid("override-ignored", text)
                .about("override-ignored", name)
                .fingerprint([name]);
            if !was_told("settings.forbid", &signal) {
                signals.push(("settings.forbid", signal));
            }
        }
        let now = facts.time();
        if let Some(bundle) = &self.bundle {
            let asked = self.policy.settings().fleet.bundle.as_ref();
            let signal = signed::age(bundle, asked, trigger, now);
            // What blocks does so each time.
            let is_new = |signal: &Signal| {
                signal.intensity() == Intensity::Block || !was_told("settings.fleet", signal)
            };
            signals.extend(
                signal
                    .filter(is_new)
                    .map(|signal| ("settings.fleet", signal)),
            );
        }
        if let Some(glass) = &self.break_glass {
            let signal = signed::broken_glass(glass);
            if !was_told("break-glass", &signal) {
                signals.push(("break-glass", signal));
            }
        }
        signals
    }

    /// Returns what is said of faults at an event; nothing where it was said in this session, and there is nothing to stop.
    fn config_error(
        &self,
        faults: &[&Diagnostic],
        what: &str,
        trigger: Trigger,
        gates: bool,
        was_told: &dyn Fn(&str, &Signal) -> bool,
    ) -> Option<Signal> {
        let sources = self.policy.sources();
        let first = faults
            .first()
            .map_or_else(String::new, |fault| fault.one_line(sources));
        let others = match faults.len().saturating_sub(1) {
            0 => String::new(),
            1 => " (and 1 more fault)".to_owned(),
            n => format!(" (and {n} more faults)"),
        };
        let text = format!("the policy is broken: {what} cannot be used: {first}{others}");
        let mut steps: Vec<String> = faults
            .iter()
            .take(10)
            .enumerate()
            .filter(|(_, fault)| !self.is_of_approved(fault))
            .map(|(n, fault)| match &fault.label {
                // The reason above has its words.
                Some(label) if n == 0 => format!("Correct {}", sources.position(label.span)),
                _ => format!("Correct {}", fault.one_line(sources)),
            })
            .collect();
        if faults.iter().any(|fault| self.is_of_approved(fault)) {
            // Whatever lies there now, what was approved is in force.
            steps.push("Have a person approve what lies there now: `ahp trust`".to_owned());
        }
        steps.push("Look at every fault with its line: `ahp check`".to_owned());
        let standing = Standing {
            trigger,
            gates,
            locked: false,
            is_hook: false,
        };
        let places: Vec<String> = faults.iter().map(|fault| fault.one_line(sources)).collect();
        let prompt = Signal::prompt("config-error", &text)
            .severity(Severity::High)
            .about("config-error", places.join("\n"));
        let was_told = was_told("config", &prompt);
        let mut signal = match NotJudged::LayerFaulty.gives(standing) {
            InPlace::PromptOnce if was_told => return None,
            InPlace::BlockOnce if was_told => prompt,
            InPlace::Block | InPlace::BlockOnce => {
                Signal::block("config-error", &text).about("config-error", places.join("\n"))
            }
            _ => prompt,
        };
        if let Some(label) = faults.first().and_then(|fault| fault.label.as_ref()) {
            signal.origin.source = sources.line(label.span);
        }
        Some(
            signal
                .steps(steps)
                .fingerprint(std::iter::once("config-error".to_owned()).chain(places)),
        )
    }
}

/// Says why what happened before an event cannot be told, once a session.
pub(in crate::engine) fn lost_past(facts: &Facts, past: &dyn Past) -> Option<Signal> {
    const NAME: &str = "session-state";
    let (scope, why) = past.fault()?;
    let event = facts.event();
    let subject = event.subject().unwrap_or_default();
    let history = facts.history();
    let mut chains = Trigger::ALL
        .iter()
        .map(|t| history.chain(*t, NAME, subject));
    if chains.any(|chain| !chain.standing.is_empty()) {
        return None;
    }
    let text = format!(
        "what happened before cannot be told, so that every binding that asks for it is asked: {why}"
    );
    let session = event.whole_session().unwrap_or_default();
    let what = match (scope, facts.issue_id()) {
        (Scope::Session, _) => quoted_where_needed(session),
        (Scope::Issue, Some(issue)) => format!("--issue {}", quoted_where_needed(issue)),
        (Scope::Issue | Scope::Project, _) => "--project".to_owned(),
    };
    let signal = Signal::prompt(NAME, text).severity(Severity::High).steps([
        "See what is wrong: `ahp doctor`".to_owned(),
        format!("Or have a person forget what was counted: `ahp session forget {what}`"),
    ]);
    Some(signal.fingerprint([NAME, &why]))
}
