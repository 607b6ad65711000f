//! Score: how much a call looks as if a text that the agent has read has led to it.
//!
//! Two linear models, learnt from whole sessions by `tests/session/train.py`, which computes the same. The first tells of a passage
//! how much it reads like one that has something done; the second, of a call, what it has in common with such passages, what the
//! person typed, and what was done before. Of the passages themselves nothing is kept but in which of a few classes a word has stood.

mod call;
mod passage;
mod weights;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::found::named_leaves;
use super::words::is_unseen;
use super::{Asked, READ};
use crate::fact::Facts;
use crate::session::{Origin, Origins};

/// The score of a call for which, or against which, nothing speaks.
const NEUTRAL: u8 = 50;

/// How many hundredths of the model's log-odds one point is.
const POINT: i64 = 10;

/// What stands before a unit of what the person typed.
const TYPED: &str = "\u{1}q ";

/// How much of one result is read: what is longer was not read whole, and `tool.arguments_from` tells so.
const MOST_BYTES: usize = 1 << 20;

/// Returns what is kept of a prompt.
pub(super) fn typed(prompt: &str) -> Vec<String> {
    let words = tokens(&plain(prompt));
    let units = units(&words);
    units.map(|unit| format!("{TYPED}{unit}")).collect()
}

/// Keeps of a result in which class of passages its words stand, and that the tool was used.
pub(super) fn learn(facts: &Facts, origins: &mut Origins) {
    let call = facts.event().tool.as_ref();
    let result = call.and_then(|call| call.output.as_ref().or(call.error.as_ref()));
    let result = result.unwrap_or(&Value::Null);
    let mut kept = Vec::new();
    let mut rest = MOST_BYTES;
    for_each_field(result, "", &mut |_, text| {
        let text = text
            .get(..text.floor_char_boundary(rest))
            .unwrap_or_default();
        rest -= text.len();
        passage::keep(&plain(text), &mut kept);
    });
    origins.add(Origin::Text, kept.iter().map(String::as_str));
    call::used(facts, origins);
}

/// Returns the score of a call, 0 to 100. It is 50 where nothing was typed or nothing was read: then nothing has led to it.
pub fn injection_score(facts: &Facts, origins: Option<&Origins>) -> u8 {
    let typed = |origins: &&Origins| Asked::in_session(origins).is_some();
    let origins = origins.filter(|origins| origins.has(Origin::Project, READ));
    let Some(origins) = origins.filter(typed) else {
        return NEUTRAL;
    };
    let known = call::known(facts, origins);
    let sum: i64 = known.iter().map(|one| weights::weight("call", one)).sum();
    let points = i64::from(NEUTRAL) + (sum + weights::weight("call", "")).div_euclid(POINT);
    u8::try_from(points.clamp(0, 100)).unwrap_or(NEUTRAL)
}

/// Returns a text as it is compared: compatibility forms folded, what is not seen left out.
fn plain(text: &str) -> String {
    text.nfkc().filter(|c| !is_unseen(*c)).collect()
}

/// Returns the runs of letters and digits of a text, in small letters.
fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns words and neighbours.
fn units(words: &[String]) -> impl Iterator<Item = String> {
    let pairs = words.windows(2).map(|pair| pair.join(" "));
    words.iter().cloned().chain(pairs)
}

/// Returns how rare a unit is, 0 to 8.
fn rarity(unit: &str) -> usize {
    let words = unit.split(' ');
    let (count, sum) = words.fold((0, 0), |(count, sum), word| {
        let rarity = weights::find("rare", word).unwrap_or(8);
        (count + 1, sum + usize::try_from(rarity).unwrap_or(0))
    });
    sum / count.max(1)
}

/// Calls with every leaf and the name of its field; a text that is a tree itself is read as one.
fn for_each_field(value: &Value, field: &str, give: &mut dyn FnMut(&str, &str)) {
    named_leaves(value, field, &mut |field, leaf| {
        let tree = leaf.starts_with(['{', '[']);
        let tree = tree.then(|| serde_json::from_str(leaf).ok()).flatten();
        match tree {
            Some(inner @ (Value::Array(_) | Value::Object(_))) => {
                for_each_field(&inner, field, give);
            }
            _ => give(field, leaf),
        }
    });
}
