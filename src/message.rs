//! Message: what a verdict's signals say to an agent and to a person; the one place where it is put into words.

use uuid::Uuid;

use crate::secret;
use crate::signal::{Action, Intensity, Manner, Payload, Signal, uncut_len};
use crate::verdict::Verdict;
use crate::visible::visible;

/// How much of a person's line is kept, in characters.
const LINE: usize = 300;

/// Returns the end of a signal's id: enough to tell it from its neighbours, short enough to type.
///
/// A UUID of version 7 starts with the time, so that its end is what tells two of one moment apart.
pub fn short_id(id: &Uuid) -> String {
    let mut digits = id.simple().to_string();
    digits.split_off(digits.len().saturating_sub(8))
}

/// Says a verdict to the agent: each reason, the numbered way out of it, and how to respond.
///
/// The result has at most `limit` characters; steps are left out before reasons are.
pub fn for_agent(verdict: &Verdict, limit: usize) -> String {
    said(&told(verdict), limit)
}

/// Says the same at a later event: without what counts at its own alone.
pub fn for_later(verdict: &Verdict, limit: usize) -> String {
    let mut signals = told(verdict);
    signals.retain(|signal| signal.manner != Some(Manner::AtOnce));
    said(&signals, limit)
}

fn said(signals: &[&Signal], limit: usize) -> String {
    for most in [50, 20, 5, 1, 0] {
        let parts: Vec<String> = signals.iter().map(|s| one(s, most)).collect();
        let text = parts.join("\n\n");
        if text.chars().count() <= limit {
            return text;
        }
    }
    let parts: Vec<String> = signals.iter().map(|s| one(s, 0)).collect();
    cut(&parts.join("\n\n"), limit)
}

/// Says a verdict to a person: one line for each signal that holds the operation up or changes it, and for each warning, which
/// a host that shows this alone would swallow.
pub fn for_person(verdict: &Verdict) -> String {
    let signals = told(verdict);
    let strongest = signals.first().map_or(0, |signal| weight(signal));
    let lines: Vec<String> = signals
        .into_iter()
        .filter(|signal| weight(signal) == strongest || signal.warns())
        .map(|signal| {
            cut(
                &format!("ahp: {}: {}", source(signal), first_line(signal)),
                LINE,
            )
        })
        .collect();
    lines.join("\n")
}

/// Returns what hooks have to say to the person, in their own words; each has at most `limit` characters.
pub fn to_person_alone(verdict: &Verdict, limit: usize) -> Vec<String> {
    let signals = verdict.signals.iter();
    signals
        .filter(|signal| matches!(signal.manner, Some(Manner::ForPerson | Manner::AtOnce)))
        .map(|signal| shown(&cut(&reason(signal), limit)))
        .collect()
}

/// Returns why the run of the agent is to end, in at most `limit` characters; none where nothing asks for that.
pub fn end_of_run(verdict: &Verdict, limit: usize) -> Option<String> {
    let mut signals = verdict.signals.iter();
    let signal = signals.find(|signal| signal.manner == Some(Manner::EndsRun))?;
    Some(shown(&cut(&reason(signal), limit)))
}

/// Returns the signals by their force; what two bindings find alike is told once, by the stronger one.
fn told(verdict: &Verdict) -> Vec<&Signal> {
    let heard = verdict.signals.iter().filter(|s| s.is_for_agent());
    let mut signals: Vec<&Signal> = heard.collect();
    signals.sort_by_key(|signal| std::cmp::Reverse(weight(signal)));
    let mut told: Vec<&Signal> = Vec::with_capacity(signals.len());
    for signal in signals {
        let is_told = |known: &&Signal| {
            known.header.source == signal.header.source
                && known.fingerprint.is_some()
                && known.fingerprint == signal.fingerprint
                && known.payload.text() == signal.payload.text()
        };
        if !told.iter().any(is_told) {
            told.push(signal);
        }
    }
    told
}

/// The order of force: a block before a question before the rest.
fn weight(signal: &Signal) -> u8 {
    match signal.intensity() {
        Intensity::Block => 4,
        Intensity::Prompt if signal.asks() => 3,
        Intensity::Control => 2,
        Intensity::Prompt => 1,
        Intensity::Aid => 0,
    }
}

fn source(signal: &Signal) -> &str {
    if signal.header.source.is_empty() {
        &signal.header.kind
    } else {
        &signal.header.source
    }
}

/// Returns what a signal says in one line.
fn first_line(signal: &Signal) -> String {
    let text = match &signal.payload {
        Payload::Control(_) => signal.payload.said().into_owned(),
        _ => reason(signal),
    };
    shown(text.lines().next().unwrap_or_default())
}

/// Returns what a signal says; never empty.
fn reason(signal: &Signal) -> String {
    let text = signal.payload.text().trim();
    if !text.is_empty() {
        return text.to_owned();
    }
    match &signal.payload {
        Payload::Control(_) => "parameters are changed".to_owned(),
        _ => signal.header.kind.clone(),
    }
}

/// Says one signal, with at most `most` of its steps.
fn one(signal: &Signal, most: usize) -> String {
    let head = match signal.intensity() {
        Intensity::Block => "Blocked by",
        Intensity::Control => "Changed by",
        Intensity::Prompt if signal.asks() => "Needs an answer, says",
        Intensity::Prompt => "Warning from",
        Intensity::Aid => "Note from",
    };
    let about = signal
        .context
        .issue_id
        .as_ref()
        .map(|id| format!(" ({} of {id})", signal.context.hook))
        .unwrap_or_default();
    let mut text = format!("{head} {}{about}: {}", source(signal), reason(signal));
    let (steps, numbered): (Vec<String>, bool) = match &signal.payload {
        Payload::Block(block) => (block.resolution_path.clone(), true),
        Payload::Prompt(prompt) => (prompt.suggestions.clone(), !prompt.continue_allowed),
        Payload::Control(control) => {
            let say = |m: &crate::signal::Modification| {
                let why = if m.reason.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", m.reason)
                };
                format!(
                    "`{}`: {} → {}{why}",
                    m.target,
                    m.original_in_words(),
                    m.updated_in_words()
                )
            };
            (control.modifications.iter().map(say).collect(), false)
        }
        Payload::Aid(aid) => {
            let all = aid.best_practices.iter().chain(&aid.follow_ups);
            (all.cloned().collect(), false)
        }
    };
    for (n, step) in steps.iter().take(most).enumerate() {
        if numbered {
            text.push_str(&format!("\n{}. {step}", n + 1));
        } else {
            text.push_str(&format!("\n- {step}"));
        }
    }
    let all = uncut_len(&steps);
    if all > most {
        text.push_str(&format!("\n… and {} more", all - most));
        if all == steps.len() {
            text.push_str("; `ahp log show --json` has all");
        }
    }
    let mut text = shown(&text);
    if let Some(how) = how_to_respond(signal) {
        text.push('\n');
        text.push_str(&how);
    }
    text
}

/// Says how to respond to a signal; nothing for one that has no id yet, which no log knows.
fn how_to_respond(signal: &Signal) -> Option<String> {
    if signal.header.id.is_nil() {
        return None;
    }
    let actions: Vec<&str> = Action::for_intensity(signal.intensity())
        .filter(|action| *action != Action::ProceedWithRisk || signal.origin.overridable)
        .map(Action::name)
        .collect();
    let id = short_id(&signal.header.id);
    Some(format!("Respond: `ahp respond {id} {}`", actions.join("|")))
}

/// Returns a text as it may be shown: secrets are cut, and what steers a terminal or the eye is written out.
pub(crate) fn shown(text: &str) -> String {
    visible(&secret::redact(text)).into_owned()
}

/// Cuts a text to so many characters, and says so.
pub fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    kept.push('…');
    kept
}
