//! A life of a policy, told in a few words: who judged what when, and what came of it.

use std::collections::BTreeMap;

use ahp::config::{Fsync, LogSettings};
use ahp::session::MarkRecord;
use ahp::signal::{Action, Actor, Intensity, Origin, Response, Signal};
use ahp::signal_log::{Body, EvaluationRecord, LogPlace, ResponseRecord, SignalLog, SignalRecord};
use ahp::verdict::{BindingReport, Decision, Outcome};
use chrono::{DateTime, Utc};
use serde_json::Map;
use uuid::Uuid;

/// Writes made-up records; time is given in seconds since the beginning.
pub(crate) struct Life {
    log: SignalLog,
    next_id: u128,
    /// The issue, session and host of what comes next.
    pub(crate) issue: Option<&'static str>,
    pub(crate) host: &'static str,
    pub(crate) hook: &'static str,
    pub(crate) source: &'static str,
    pub(crate) session: String,
    /// The oracle of the bindings; by their ids where it is none.
    pub(crate) oracle: Option<&'static str>,
    /// What the next call acts on, and which rule it breaks there.
    pub(crate) object: Option<String>,
    pub(crate) rule: &'static str,
    pub(crate) marks: BTreeMap<String, MarkRecord>,
    /// Who answers.
    pub(crate) by: Actor,
}

pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    let beginning: DateTime<Utc> = "2026-02-09T10:00:00Z".parse().unwrap();
    beginning + chrono::TimeDelta::seconds(seconds)
}

impl Life {
    pub(crate) fn new(place: impl Into<LogPlace>) -> Self {
        let settings = LogSettings {
            fsync: Fsync::Never,
            ..LogSettings::default()
        };
        Self {
            log: SignalLog::open(place, &settings).unwrap(),
            next_id: 1,
            issue: Some("FEAT-0123"),
            host: "claude-code",
            hook: "pre-issue-submit",
            source: ".ahp/hooks.yaml:4",
            session: "s1".to_owned(),
            oracle: None,
            object: None,
            rule: "finding",
            marks: BTreeMap::new(),
            by: Actor::Human,
        }
    }

    fn oracle_of(&self, binding: &str) -> String {
        self.oracle
            .map_or_else(|| format!("{binding}-oracle"), str::to_owned)
    }

    fn report(&self, binding: &str, outcome: Outcome, duration_us: u64) -> BindingReport {
        BindingReport {
            id: binding.to_owned(),
            oracle: self.oracle_of(binding),
            outcome,
            source: self.source.to_owned(),
            duration_us,
            error: None,
            waived: Vec::new(),
        }
    }

    fn evaluation(&self, decision: Decision, report: BindingReport) -> Body {
        Body::Evaluation(Box::new(EvaluationRecord {
            ahp: None,
            policy: None,
            hook: self.hook.to_owned(),
            decision,
            host: Some(self.host.to_owned()),
            agent: None,
            agent_id: None,
            session_id: Some(self.session.clone()),
            issue_id: self.issue.map(str::to_owned),
            tool: None,
            digest: String::new(),
            object: self.object.clone(),
            event: None,
            bindings: vec![report],
            skipped: 0,
            duration_us: 500,
            marks: self.marks.clone(),
            note: None,
        }))
    }

    /// Something happens that no binding judges.
    pub(crate) fn pass(&mut self, seconds: i64, hook: &'static str) {
        let hook = std::mem::replace(&mut self.hook, hook);
        let mut body = self.evaluation(Decision::None, self.report("none", Outcome::Accepted, 1));
        if let Body::Evaluation(evaluation) = &mut body {
            evaluation.bindings.clear();
        }
        self.log.append(vec![body], at(seconds)).unwrap();
        self.hook = hook;
    }

    /// A binding accepts.
    pub(crate) fn accept(&mut self, seconds: i64, binding: &str, duration_us: u64) {
        let report = self.report(binding, Outcome::Accepted, duration_us);
        let body = self.evaluation(Decision::None, report);
        self.log.append(vec![body], at(seconds)).unwrap();
    }

    /// A binding accepts because an answer holds back what it found.
    pub(crate) fn accept_waived(&mut self, seconds: i64, binding: &str, by: Uuid) {
        let mut report = self.report(binding, Outcome::Accepted, 100);
        report.waived.push(by);
        let body = self.evaluation(Decision::None, report);
        self.log.append(vec![body], at(seconds)).unwrap();
    }

    /// A binding fails.
    pub(crate) fn fail(&mut self, seconds: i64, binding: &str, error: &str) {
        let mut report = self.report(binding, Outcome::Failed, 30_000_000);
        report.error = Some(error.to_owned());
        let body = self.evaluation(Decision::Allow, report);
        let told = self.signal(seconds, binding, Signal::prompt("oracle-error", error));
        self.log.append(vec![body, told.1], at(seconds)).unwrap();
    }

    /// A binding gives one signal; returns its id.
    pub(crate) fn give(
        &mut self,
        seconds: i64,
        binding: &str,
        intensity: Intensity,
        duration_us: u64,
    ) -> Uuid {
        let decision = if intensity == Intensity::Block {
            Decision::Block
        } else {
            Decision::Allow
        };
        let report = self.report(binding, Outcome::Signalled, duration_us);
        let body = self.evaluation(decision, report);
        let signal = match intensity {
            Intensity::Control => Signal::control("finding", Vec::new()),
            other => Signal::with(other, "finding", "something was found"),
        };
        let (id, signal) = self.signal(seconds, binding, signal);
        self.log.append(vec![body, signal], at(seconds)).unwrap();
        id
    }

    fn signal(&mut self, seconds: i64, binding: &str, mut signal: Signal) -> (Uuid, Body) {
        let id = Uuid::from_u128(self.next_id);
        self.next_id += 1;
        signal.header.id = id;
        signal.header.source = self.oracle_of(binding);
        signal.header.timestamp = at(seconds);
        self.hook.clone_into(&mut signal.context.hook);
        signal.context.issue_id = self.issue.map(str::to_owned);
        let record = SignalRecord {
            signal,
            origin: Origin {
                binding: binding.to_owned(),
                source: self.source.to_owned(),
                overridable: true,
            },
            fingerprint: "f".to_owned(),
            identity: format!(
                "{} {}",
                self.rule,
                self.object.as_deref().unwrap_or_default()
            ),
            rule: self.rule.to_owned(),
            object: self.object.clone(),
            also: Vec::new(),
            severity: None,
            session_id: Some(self.session.clone()),
            host: Some(self.host.to_owned()),
            agent: None,
            asked: None,
        };
        (id, Body::Signal(Box::new(record)))
    }

    /// A signal of a binding is answered.
    pub(crate) fn answer(&mut self, seconds: i64, binding: &str, id: Uuid, action: Action) {
        self.answer_as(seconds, binding, id, action, false);
    }

    pub(crate) fn answer_as(
        &mut self,
        seconds: i64,
        binding: &str,
        id: Uuid,
        action: Action,
        inferred: bool,
    ) {
        let record = ResponseRecord {
            response: Response {
                signal_id: id,
                consumed_at: at(seconds),
                action,
                details: Map::new(),
                by: self.by,
                inferred,
            },
            hook: Some(self.hook.to_owned()),
            session_id: Some(self.session.clone()),
            binding: Some(binding.to_owned()),
            subject: Some(self.issue.unwrap_or(&self.session).to_owned()),
            fingerprint: Some("f".to_owned()),
            refused: None,
            mac: None,
        };
        let body = Body::Response(Box::new(record));
        self.log.append(vec![body], at(seconds)).unwrap();
    }
}
