//! Client: code that an agent runs, and that does with a client of ours what only a host or a person does.

use super::code::is_interpreter;
use super::found::{Found, act};
use super::judged::Judged;
use crate::event::Trigger;
use crate::shell::code_of;
use crate::words::{holds_any, words};

/// The names by which code brings a client in.
const CLIENTS: &[&str] = words!("own-clients");

/// Names by which more is done than a gate asked.
const TELLING: &[&str] = words!("own-clients-telling");

/// Joints of texts that code puts together: `'ahp_' + 'hooks'`.
const JOINTS: &[&str] = &["'+'", "\"+\"", "' + '", "\" + \"", "' '", "\" \""];

/// Finds code that brings a client in, and tells it of events, answers by it, or starts the server behind it. Whoever asks a
/// gate with it does what `ahp run` does.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.remote || !is_interpreter(invocation) {
        return None;
    }
    let is_code = |text: &&str| text.contains(['(', ';', '\n', '=']);
    let given = invocation.texts().filter(is_code);
    let mut codes = given.chain(invocation.stdin.text());
    codes.find_map(|code| {
        let code = code_of(&invocation.program, code);
        let joined = |code: String, joint: &&str| code.replace(*joint, "");
        let code = JOINTS.iter().fold(code.into_owned(), joined);
        let tells = holds_any(&code, CLIENTS) && does_more(&code);
        tells.then(|| act("do with a client of `ahp` what only a host or a person does"))
    })
}

/// Whether code that brings a client in does more than ask a gate by its name.
fn does_more(code: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = code.split(|c| !is_part(c));
    let mut texts = code.split(['\'', '"', '`']);
    let is_refused = |text: &str| {
        matches!(text, "human" | "serve")
            || Trigger::find(text).is_some_and(|trigger| !trigger.is_pre())
    };
    // The trigger is the first that is given.
    let mut calls = code.split("evaluate(").skip(1);
    let names_gate = |call: &str| {
        let call = call.trim_start();
        let call = call.strip_prefix("trigger=").unwrap_or(call);
        let trigger = call.strip_prefix(['\'', '"', '`']);
        let trigger = trigger.and_then(|text| text.split(['\'', '"', '`']).next());
        trigger.and_then(Trigger::find).is_some_and(Trigger::is_pre)
    };
    names.any(|name| TELLING.contains(&name))
        || texts.any(is_refused)
        || calls.any(|call| !names_gate(call))
}
