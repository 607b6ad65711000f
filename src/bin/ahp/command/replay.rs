//! ahp replay: evaluates logged events against another policy, and shows what would have changed.

use std::path::PathBuf;
use std::sync::Arc;

use ahp::analysis::{Edit, Filter, parse_since};
use ahp::engine::{Engine, EngineBuilder, Keeper, Prepared, block_on};
use ahp::event::Event;
use ahp::signal::Strength;
use ahp::signal_log::{Body, EvaluationRecord, Reader, Record, SharedHistory};
use ahp::verdict::{Decision, Outcome, Verdict};
use anstyle::{AnsiColor, Style};
use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::exit_code::Exit;
use crate::log_file::{self, LogFile};
use crate::output::{self, Format};
use crate::project;
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The log; by default the log of the project
    #[arg(value_name = "LOG")]
    path: Option<PathBuf>,
    /// The policy to try, as one hooks.yaml; by default the layers in force
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Compare with what was decided then, or with what the layers in force decide now
    #[arg(long, value_enum, default_value_t)]
    against: Against,
    /// Only records from this time on: 30m, 12h, 2d, 3w, a day like 2026-02-09 (UTC), or a time like 2026-02-09T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Replay `post-*` events too; their oracles may have side effects
    #[arg(long)]
    with_post: bool,
    /// Fail if an event is stopped that was not
    #[arg(long)]
    deny_new_blocks: bool,
    /// Fail if an event passes that was stopped
    #[arg(long)]
    deny_new_allows: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Against {
    /// What the log says was decided
    #[default]
    Log,
    /// What the layers in force decide now, on the project as it is now
    Current,
}

/// What a policy would have changed.
#[derive(Debug, Default, Serialize)]
struct Replayed {
    newly_blocked: u64,
    newly_allowed: u64,
    unchanged: u64,
    /// Evaluations whose event was not logged whole: not at all, cut, or it is not an event any more.
    not_replayed: u64,
    /// Those of them of whose event a secret or a long text was cut out.
    cut: u64,
    /// Lines of the log that are not records.
    bad_lines: u64,
    changes: Vec<Difference>,
}

/// One event that is decided otherwise.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    pub(crate) seq: u64,
    pub(crate) timestamp: DateTime<Utc>,
    hook: String,
    subject: Option<String>,
    tool: Option<String>,
    pub(crate) old: Decision,
    pub(crate) new: Decision,
    /// The bindings that decide otherwise than nothing now, with their places.
    by: Vec<String>,
}

/// What a change of the policy would have done to the logged events.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Effect {
    /// How many events were judged by the policy before and after the change.
    pub(crate) judged: u64,
    /// How many could not be: they were not logged whole, or to judge them a program would run.
    pub(crate) not_judged: u64,
    /// What would have been judged otherwise, oldest first.
    pub(crate) changes: Vec<Difference>,
}

/// Returns an event with the time at which it was recorded, where it tells none.
fn at(mut event: Event, record: &Record) -> Event {
    event.timestamp.get_or_insert(record.timestamp);
    event
}

/// Judges the events that a binding had something against by the layers with two texts of one file of the project's, on the
/// project as it is now.
pub(crate) fn effect(
    reader: &Reader,
    (hook, binding): (&str, &str),
    edit: &Edit,
) -> Result<Effect, String> {
    let history = Arc::new(SharedHistory::default());
    let with = |text: &str| {
        let mut locations = project::locations(None);
        let path = locations.project_root.join(&edit.file);
        locations.drafts.insert(path, text.to_owned());
        made(Engine::builder().locations(locations), &history)
    };
    let (before, after) = (with(&edit.before)?, with(&edit.after)?);
    let mut effect = Effect::default();
    let engines = [&before, &after];
    let counts = engines.map(|engine| !engine.state().policy().marks().is_empty());
    for record in reader.records().filter_map(Result::ok) {
        if let Body::Evaluation(evaluation) = &record.body {
            let is_asked = evaluation.hook == hook
                && evaluation
                    .bindings
                    .iter()
                    .any(|b| b.id == binding && b.outcome == Outcome::Signalled);
            // The other events are of use only to marks.
            if is_asked || counts.contains(&true) {
                let event = event_of(evaluation).filter(|_| !evaluation.is_cut());
                let judged = match event {
                    None => {
                        for engine in engines {
                            engine.lose_past();
                        }
                        None
                    }
                    Some(event) => {
                        let event = at(event, &record);
                        let judged = is_asked.then(|| only_computed(engines, &event)).flatten();
                        if judged.is_none() {
                            for engine in engines {
                                engine.note(event.clone());
                            }
                        }
                        judged
                    }
                };
                match judged {
                    Some([old, new]) => {
                        effect.judged += 1;
                        if said(&old) != said(&new) {
                            let change = Difference::of(&record, evaluation, old.decision, &new);
                            effect.changes.push(change);
                        }
                    }
                    None => effect.not_judged += u64::from(is_asked),
                }
            }
        }
        history.push(record);
    }
    Ok(effect)
}

/// Judges an event by two engines, unless a program would have to run for it, or the project be what it was.
fn only_computed(engines: [&Engine; 2], event: &Event) -> Option<[Verdict; 2]> {
    let prepared = engines.map(|engine| engine.prepare(engine.state(), event.clone()));
    if !prepared.iter().all(Prepared::can_judge_the_past) {
        return None;
    }
    let [before, after] = prepared.map(|prepared| {
        let all = block_on(prepared.evaluate(None));
        all.into_iter().next().map(|evaluated| evaluated.verdict)
    });
    Some([before?, after?])
}

/// Returns what a verdict comes to: which binding said how strongly what.
fn said(verdict: &Verdict) -> Vec<(&str, Strength, String)> {
    let signals = verdict.signals.iter();
    signals
        .map(|s| (s.origin.binding.as_str(), s.strength(), s.finding()))
        .collect()
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let reader = match &args.path {
        Some(path) if !path.exists() => {
            return Err(format!("there is no log at `{}`", path.display()));
        }
        Some(path) => Reader::open(path.canonicalize().unwrap_or_else(|_| path.clone()))
            .map_err(|e| e.to_string())?,
        None => LogFile::default().read()?,
    };
    let since = args.since.as_deref();
    let since = since.map(|text| parse_since(text, log_file::now()));
    let filter = Filter {
        since: since.transpose()?,
        ..Filter::default()
    };
    let history = Arc::new(SharedHistory::default());
    let candidate = engine(args.policy.as_ref(), &history)?;
    let current = match args.against {
        Against::Log => None,
        Against::Current => Some(engine(None, &history)?),
    };
    let engines = || std::iter::once(&candidate).chain(&current);
    let mut outcome = Replayed::default();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            // A file that cannot be read is not a line of it.
            Err(bad) if bad.line == 0 => return Err(bad.to_string()),
            Err(_) => {
                outcome.bad_lines += 1;
                continue;
            }
        };
        if let Body::Evaluation(evaluation) = &record.body {
            let is_meant = filter.since.is_none_or(|since| record.timestamp >= since);
            let event = event_of(evaluation).map(|event| at(event, &record));
            match event {
                None => {
                    outcome.not_replayed += u64::from(is_meant);
                    // From here on marks cannot be told until something sets them back.
                    engines().for_each(Engine::lose_past);
                }
                // What it was stopped for may be what is missing.
                Some(_) if evaluation.is_cut() => {
                    outcome.not_replayed += u64::from(is_meant);
                    outcome.cut += u64::from(is_meant);
                    engines().for_each(Engine::lose_past);
                }
                // What is not judged again has been counted all the same, unless it was stopped.
                Some(event) if !is_meant || !event.trigger.is_pre() && !args.with_post => {
                    if !event.trigger.is_pre() || evaluation.decision != Decision::Block {
                        engines().for_each(|engine| engine.note(event.clone()));
                    }
                }
                Some(event) => {
                    let old = match &current {
                        None => evaluation.decision,
                        Some(current) => block_on(current.evaluate(event.clone())).decision,
                    };
                    let verdict = block_on(candidate.evaluate(event));
                    outcome.add(&record, evaluation, old, &verdict);
                }
            }
        }
        // What was known at the time of the next event.
        history.push(record);
    }
    match args.format {
        Format::Json => output::json(&outcome),
        Format::Human => print(&outcome, args.against),
    }
    if (args.deny_new_blocks || args.deny_new_allows) && outcome.not_replayed > 0 {
        let events = count(outcome.not_replayed, "event");
        output::error(format!(
            "of {events} it cannot be told whether they would change"
        ));
    }
    let is_regression = (args.deny_new_blocks && outcome.newly_blocked > 0)
        || (args.deny_new_allows && outcome.newly_allowed > 0);
    Ok(Exit::unless(is_regression))
}

/// Makes an engine of a policy file, or of the layers in force.
fn engine(policy: Option<&PathBuf>, history: &Arc<SharedHistory>) -> Result<Engine, String> {
    let text = policy.map(|path| {
        std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read `{}`: {error}", path.display()))
    });
    engine_of(text.transpose()?, history)
}

/// Makes an engine that writes no log and sees the past as the log has it.
fn engine_of(policy: Option<String>, history: &Arc<SharedHistory>) -> Result<Engine, String> {
    let locations = project::locations(None);
    let builder = match policy {
        None => Engine::builder().locations(locations),
        Some(text) => Engine::builder()
            .root(locations.project_root)
            .policy_text(text),
    };
    made(builder, history)
}

fn made(builder: EngineBuilder, history: &Arc<SharedHistory>) -> Result<Engine, String> {
    let builder = builder.without_log().keeper(Keeper::in_memory());
    let engine = project::built(builder.by_event_time().history(history.clone()))?;
    if project::print_faults(&engine) {
        return Err("the policy is broken; nothing was replayed".to_owned());
    }
    Ok(engine)
}

fn event_of(evaluation: &EvaluationRecord) -> Option<Event> {
    serde_json::from_value(evaluation.event.clone()?).ok()
}

impl Replayed {
    fn add(
        &mut self,
        record: &Record,
        evaluation: &EvaluationRecord,
        old: Decision,
        verdict: &Verdict,
    ) {
        let stops = |decision: Decision| decision >= Decision::Ask;
        match (stops(old), stops(verdict.decision)) {
            (false, true) => self.newly_blocked += 1,
            (true, false) => self.newly_allowed += 1,
            _ => {
                self.unchanged += 1;
                return;
            }
        }
        self.changes
            .push(Difference::of(record, evaluation, old, verdict));
    }
}

impl Difference {
    fn of(
        record: &Record,
        evaluation: &EvaluationRecord,
        old: Decision,
        verdict: &Verdict,
    ) -> Self {
        let subject = evaluation.issue_id.clone();
        Self {
            seq: record.seq,
            timestamp: record.timestamp,
            hook: evaluation.hook.clone(),
            subject: subject.or_else(|| evaluation.session_id.clone()),
            tool: evaluation.tool.clone(),
            old,
            new: verdict.decision,
            by: verdict
                .signals
                .iter()
                .map(|s| format!("{} ({})", s.origin.binding, s.origin.source))
                .collect(),
        }
    }
}

fn print(outcome: &Replayed, against: Against) {
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    for change in &outcome.changes {
        let style = if change.new > change.old { red } else { green };
        output::line(format!(
            "{} #{} {} {} {} {style}{} -> {}{style:#} {}",
            change.timestamp.format("%Y-%m-%d %H:%M:%S"),
            change.seq,
            change.hook,
            change.subject.as_deref().unwrap_or("-"),
            change.tool.as_deref().unwrap_or("-"),
            change.old,
            change.new,
            change.by.join(", ")
        ));
    }
    output::line(format!(
        "{} newly blocked, {} newly allowed, {} unchanged",
        outcome.newly_blocked, outcome.newly_allowed, outcome.unchanged
    ));
    if outcome.newly_blocked + outcome.newly_allowed + outcome.unchanged + outcome.not_replayed == 0
    {
        output::error("the log has no event to replay here");
    }
    if against == Against::Log && !outcome.changes.is_empty() {
        // An issue that was fixed since is accepted now by the same policy.
        output::error(
            "judged on the project as it is now; `--against current` compares the policies alone",
        );
    }
    if outcome.bad_lines > 0 {
        output::error(format!(
            "left out {} of the log that cannot be read; `ahp log verify` says more",
            count(outcome.bad_lines, "line"),
        ));
    }
    let reasons = [
        (
            outcome.cut,
            "secrets or long texts were cut out of their events",
        ),
        (
            outcome.not_replayed - outcome.cut,
            "their events were not logged",
        ),
    ];
    for (number, reason) in reasons.into_iter().filter(|(number, _)| *number > 0) {
        output::line(format!(
            "{number} could not be replayed: {reason} (`settings.log.events`)"
        ));
    }
}
