//! Rows: what the records of one log become. Each record gives one row of `evaluations`, `signals` or `answers`, and an
//! evaluation one of `bindings` for each binding besides.

use std::collections::HashMap;
use std::rc::Rc;

use ahp::config::Detail;
use ahp::event::ToolKind;
use ahp::signal_log::{Body, EvaluationRecord, Record, ResponseRecord, SignalRecord};

use crate::identity::{Identity, is_name};
use crate::table::{ANSWERS, BINDINGS, Cell, EVALUATIONS, Rows, SIGNALS};

/// Makes rows of records, in the order of the log.
pub(crate) struct Maker<'i> {
    identity: &'i Identity,
    /// The cells of `log_id machine team repo`, which all rows share.
    log_id: Cell,
    machine: Cell,
    team: Cell,
    repo: Cell,
    /// Hashes that were made already: equal values come often.
    veiled: HashMap<String, Rc<str>>,
    pub(crate) evaluations: Rows,
    pub(crate) bindings: Rows,
    pub(crate) signals: Rows,
    pub(crate) answers: Rows,
    /// The evaluation that the signals behind it are of.
    last: Option<Last>,
}

struct Last {
    environment: Cell,
    policy: Cell,
    ahp: Cell,
    acted_on: Cell,
    seq: Cell,
    /// The place of its row.
    row: usize,
}

impl<'i> Maker<'i> {
    pub(crate) fn new(identity: &'i Identity, log_id: &str) -> Self {
        Self {
            identity,
            log_id: Cell::text(log_id),
            machine: Cell::text(identity.machine()),
            team: Cell::from(identity.team()),
            repo: Cell::from(identity.repo()),
            veiled: HashMap::new(),
            evaluations: Rows::of(&EVALUATIONS),
            bindings: Rows::of(&BINDINGS),
            signals: Rows::of(&SIGNALS),
            answers: Rows::of(&ANSWERS),
            last: None,
        }
    }

    /// Returns the four tables.
    pub(crate) fn tables(&self) -> [&Rows; 4] {
        [
            &self.evaluations,
            &self.bindings,
            &self.signals,
            &self.answers,
        ]
    }

    /// Adds the next record.
    pub(crate) fn add(&mut self, record: &Record) {
        match &record.body {
            Body::Evaluation(evaluation) => self.evaluation(record, evaluation),
            Body::Signal(signal) => self.signal(record, signal),
            Body::Response(answer) => self.answer(record, answer),
        }
    }

    fn common(&self, record: &Record, of_evaluation: bool) -> Vec<Cell> {
        let last = self.last.as_ref().filter(|_| of_evaluation);
        let of_last = |cell: fn(&Last) -> &Cell| last.map_or(Cell::Null, |last| cell(last).clone());
        let mut row = Vec::with_capacity(24);
        row.extend([
            self.log_id.clone(),
            self.machine.clone(),
            self.team.clone(),
            of_last(|last| &last.environment),
            self.repo.clone(),
            of_last(|last| &last.policy),
            of_last(|last| &last.ahp),
            Cell::count(record.seq),
            Cell::Int(record.timestamp.timestamp_micros()),
            Cell::Int(record.timestamp.timestamp_millis()),
        ]);
        row
    }

    fn evaluation(&mut self, record: &Record, evaluation: &EvaluationRecord) {
        let environment = evaluation
            .event
            .as_ref()
            .and_then(|event| event.get("environment")?.as_str());
        let acted_on = self.veil(evaluation.object.as_deref());
        self.last = Some(Last {
            environment: self.name(environment),
            policy: Cell::from(evaluation.policy.as_deref()),
            ahp: Cell::from(evaluation.ahp.as_deref()),
            acted_on: acted_on.clone(),
            seq: Cell::count(record.seq),
            row: self.evaluations.rows.len(),
        });
        let common = self.common(record, true);
        let issue = self.veil(evaluation.issue_id.as_deref());
        let session = self.veil(evaluation.session_id.as_deref());
        let subject = match (&issue, &session) {
            (Cell::Null, Cell::Null) => Cell::text(""),
            (Cell::Null, session) => session.clone(),
            (issue, _) => issue.clone(),
        };
        let host = self.name(evaluation.host.as_deref());
        let hook = self.name(Some(&evaluation.hook));
        for (place, report) in evaluation.bindings.iter().enumerate() {
            let mut row = common.clone();
            let error = report.error.as_deref();
            let waived: Vec<String> = report.waived.iter().map(ToString::to_string).collect();
            row.extend([
                Cell::Int(i64::try_from(place).unwrap_or(i64::MAX)),
                hook.clone(),
                self.name(Some(&report.id)),
                self.name(Some(&report.oracle)),
                self.place(&report.source),
                host.clone(),
                subject.clone(),
                issue.clone(),
                Cell::text(report.outcome.name()),
                Cell::from((!waived.is_empty()).then(|| waived.join(" "))),
                Cell::Bool(error.is_some_and(|error| error.starts_with("timed out"))),
                Cell::count(report.duration_us),
                acted_on.clone(),
            ]);
            self.bindings.rows.push(row);
        }
        let mut row = common;
        row.extend([
            hook,
            Cell::text(evaluation.decision.name()),
            host,
            session,
            issue,
            self.tool(evaluation.tool.as_deref()),
            Cell::from(self.identity.user()),
            Cell::count(evaluation.skipped),
            Cell::count(evaluation.duration_us),
            Cell::Int(0),
            Cell::Int(i64::try_from(evaluation.bindings.len()).unwrap_or(i64::MAX)),
        ]);
        self.evaluations.rows.push(row);
    }

    fn signal(&mut self, record: &Record, given: &SignalRecord) {
        let header = &given.signal.header;
        if let Some(last) = &self.last {
            count_signal(&mut self.evaluations, last.row);
        }
        let mut row = self.common(record, true);
        let last = self.last.as_ref();
        let of_last = |cell: fn(&Last) -> &Cell| last.map_or(Cell::Null, |last| cell(last).clone());
        let (acted_on, of_seq) = (of_last(|last| &last.acted_on), of_last(|last| &last.seq));
        let session = self.veil(given.session_id.as_deref());
        let issue = self.veil(given.signal.context.issue_id.as_deref());
        // Without the salt, who guesses a command could see that it was run.
        let fingerprint = self.veil(Some(&given.fingerprint));
        let finding = self.veil(Some(given.identity()));
        let also = given.also.iter();
        let also: Vec<String> = also
            .map(|found| self.identity.veiled(&found.identity))
            .collect();
        let (rule, kind) = (self.rule(given.rule()), self.rule(&header.kind));
        let [hook, binding, oracle] = [
            &given.signal.context.hook,
            &given.origin.binding,
            &header.source,
        ]
        .map(|name| self.name(Some(name)));
        let (source, host) = (
            self.place(&given.origin.source),
            self.name(given.host.as_deref()),
        );
        row.extend([
            Cell::text(header.id.to_string()),
            hook,
            binding,
            oracle,
            source,
            kind,
            Cell::text(header.intensity.name()),
            host,
            session,
            issue,
            fingerprint,
            self.words(Some(given.signal.payload.text())),
            rule,
            finding,
            acted_on,
            of_seq,
            Cell::from((!also.is_empty()).then(|| also.join(" "))),
        ]);
        self.signals.rows.push(row);
    }

    fn answer(&mut self, record: &Record, answer: &ResponseRecord) {
        let mut row = self.common(record, false);
        let response = &answer.response;
        let by = serde_json::to_value(response.by).ok();
        row.extend([
            Cell::text(response.signal_id.to_string()),
            Cell::text(response.action.name()),
            Cell::from(by.as_ref().and_then(|by| by.as_str())),
            self.words(response.details.get("note").and_then(|note| note.as_str())),
            Cell::Bool(response.inferred),
            Cell::Bool(answer.refused.is_some()),
        ]);
        self.answers.rows.push(row);
    }

    /// What was said in words, which may hold anything: only where a person asked for it.
    fn words(&self, text: Option<&str>) -> Cell {
        match self.identity.detail {
            Detail::Full => Cell::from(text),
            Detail::Findings => Cell::Null,
        }
    }

    /// What the policy calls by a name: a binding, an oracle, a trigger, an environment. What is no name may be anything.
    fn name(&mut self, text: Option<&str>) -> Cell {
        match text {
            // What the program says by itself of the settings has their keys.
            Some(text) if text.split('.').all(is_name) => Cell::text(text),
            text => self.veil(text),
        }
    }

    /// A tool that a host brings. What servers and extensions bring is called as they like.
    fn tool(&mut self, name: Option<&str>) -> Cell {
        match name {
            Some(name) if !matches!(ToolKind::of(name), ToolKind::Other | ToolKind::Mcp) => {
                Cell::text(name)
            }
            name => self.veil(name),
        }
    }

    /// Where a binding stands: a file that has this place on each machine or comes with the program or the bundle. Of any
    /// other the line alone is told.
    fn place(&mut self, source: &str) -> Cell {
        let (file, line) = match source.rsplit_once(':') {
            Some((file, line)) if line.chars().all(|c| c.is_ascii_digit()) => (file, line),
            _ => (source, ""),
        };
        let is_shared = PLACES.contains(&file)
            || file.strip_prefix("ahp:").is_some_and(is_name)
            || file
                .strip_suffix(":hooks.yaml")
                .and_then(|bundle| bundle.split_once('@'))
                .is_some_and(|(id, version)| is_name(id) && is_name(version));
        match line {
            _ if is_shared => Cell::text(source),
            "" => self.veil(Some(source)),
            line => Cell::text(format!("{}:{line}", self.identity.veiled(file))),
        }
    }

    /// A rule or a kind by its name. What is no name may be a command or a path of the policy: it stays equal, and is not told.
    fn rule(&mut self, rule: &str) -> Cell {
        match rule.split_once(':') {
            _ if is_name(rule) || self.identity.names() => Cell::text(rule),
            Some((name, pattern)) if is_name(name) => {
                Cell::text(format!("{name}:{}", self.identity.hash(pattern)))
            }
            _ => self.veil(Some(rule)),
        }
    }

    fn veil(&mut self, text: Option<&str>) -> Cell {
        let Some(text) = text else { return Cell::Null };
        if let Some(known) = self.veiled.get(text) {
            return Cell::Text(known.clone());
        }
        let veiled: Rc<str> = self.identity.veiled(text).into();
        self.veiled.insert(text.to_owned(), veiled.clone());
        Cell::Text(veiled)
    }
}

/// What the places of bindings are called that are the same on each machine.
const PLACES: [&str; 7] = [
    "built-in",
    "built-in (self-protection)",
    "configuration",
    "/etc/ahp/hooks.yaml",
    "~/.ahp/hooks.yaml",
    ".ahp/hooks.yaml",
    ".ahp/hooks.local.yaml",
];

fn count_signal(evaluations: &mut Rows, row: usize) {
    let place = evaluations.table.place("signals");
    if let Some(Cell::Int(count)) = evaluations
        .rows
        .get_mut(row)
        .and_then(|row| row.get_mut(place?))
    {
        *count += 1;
    }
}
