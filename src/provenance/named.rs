//! Named: what a person has named in what she typed, so that what is told of it is what she asked for.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{asked, owner, words};
use crate::session::{Origin, Origins};

/// What stands before a name that the person typed.
const NAME: &str = "\u{1}name ";

/// What somebody does who is named before it.
const DOING: &[&str] = &[
    "asked", "asks", "has", "needs", "posted", "said", "says", "sent", "wanted", "wants", "wrote",
];

/// What stands before a word that tells what the person wants to have looked at.
const TOPIC: &str = "\u{1}topic ";

/// Words that say so behind one of some others: `as it says`, and not `say hi`.
const SAYING: &[&str] = &["say", "says"];

/// Those others, and how many words may stand between.
const AS: &[&str] = &["as", "how", "what", "whatever"];
const BETWEEN: usize = 4;

/// What is kept where the person typed that something is to be done as a page or a file has it.
const FOLLOWS: &str = "\u{1}follows";

/// What is kept where the person typed where it stands what is wanted, or with whom.
const REFERS: &str = "\u{1}refers";

/// Returns what is kept of the names in what a person typed: words with a capital, a number or a sign, and quoted ones.
pub(super) fn typed(prompt: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut begins = true;
    let mut tokens = prompt.split_whitespace().peekable();
    while let Some(token) = tokens.next() {
        let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '#' && c != '@');
        let has_capital = bare.starts_with(char::is_uppercase);
        let digits = bare.bytes().filter(u8::is_ascii_digit).count();
        let has_letter = bare.contains(char::is_alphabetic);
        let has_sign = has_letter && (digits > 0 || bare.contains(['.', '_', '-', '@', '#', '/']))
            || digits > 4;
        let is_quoted = token.starts_with(['\'', '"', '`', '“', '‘', '„']);
        let is_begun = begins && asked::is_usual(&bare.to_lowercase());
        // `brook has asked me`: whoever does something has a name.
        let does = begins && tokens.peek().is_some_and(|next| DOING.contains(next));
        let is_name = (has_capital || does) && !is_begun;
        if bare.chars().count() > 2 && (is_name || has_sign || is_quoted) {
            let found = words::words(bare);
            let parts = found.iter().flat_map(|word| pieces(word));
            names.extend(parts.map(kept));
        }
        begins = token.ends_with(['.', '!', '?', ':', ';']);
    }
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let says = |near: &[&str]| {
        let last = near.last().is_some_and(|word| SAYING.contains(word));
        last && near.iter().any(|word| AS.contains(word))
    };
    let mut ends =
        (1..=words.len()).filter_map(|end| words.get(end.saturating_sub(BETWEEN + 2)..end));
    if words.iter().any(|word| asked::is_in("guide", word)) || ends.any(says) {
        names.push(FOLLOWS.to_owned());
    }
    let has_source = |word: &&str| {
        asked::is_in("source", word)
            || asked::is_in("source", word.strip_suffix('s').unwrap_or(word))
    };
    if words.iter().any(has_source) || unparted(&lower).any(|two| asked::is_in("source", &two)) {
        names.push(REFERS.to_owned());
    }
    let topics = words.iter().filter(|word| is_topic(word));
    names.extend(topics.map(|word| format!("{TOPIC}{word}")));
    names.extend(unparted(&lower).map(|two| format!("{TOPIC}{two}")));
    names
}

/// Whether a word tells what a request is about.
fn is_topic(word: &str) -> bool {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    (word.len() > 3 || is_number && word.len() > 1) && !asked::is_usual(word)
}

/// Returns neighbouring letters of scripts that put nothing between words.
fn unparted(text: &str) -> impl Iterator<Item = String> {
    let letters = text.chars().zip(text.chars().skip(1));
    let letters = letters.filter(|(one, two)| asked::is_sign(*one) && asked::is_sign(*two));
    letters.map(|(one, two)| [one, two].iter().collect())
}

/// Whether the person has told where it stands what is wanted.
pub(super) fn is_referred(origins: &Origins) -> bool {
    origins.has(Origin::Prompt, REFERS) || is_followed(origins)
}

/// Whether a value stood in what a call gave back that was made for what the person wants to have looked at.
pub(super) fn is_led_to(value: &[String], origins: &Origins) -> bool {
    let [word] = value else {
        return false;
    };
    word.contains(|c: char| c.is_ascii_digit() || "-_/".contains(c))
        && origins.has(Origin::Record, &words::named(word))
}

/// Whether a text has a word that tells what the person wants to have looked at.
pub(super) fn has_topic(text: &str, origins: &Origins) -> bool {
    let has = |word: &str| origins.has(Origin::Prompt, &format!("{TOPIC}{word}"));
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(has) || unparted(&lower).any(|two| has(&two))
}

/// Whether the person has told to do as a page or a file has it.
pub(super) fn is_followed(origins: &Origins) -> bool {
    origins.has(Origin::Prompt, FOLLOWS)
}

/// Returns a word and, where it is a path, its last part.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let last = word.rsplit('/').next().filter(|last| last.len() > 2);
    [Some(word), last.filter(|last| last.len() < word.len())]
        .into_iter()
        .flatten()
}

/// Whether a word is a name that the person typed.
pub(super) fn is_typed(word: &str, origins: &Origins) -> bool {
    origins.has(Origin::Prompt, &kept(word))
}

/// Returns what is kept of a name that the person typed.
pub(super) fn kept(word: &str) -> String {
    format!("{NAME}{word}")
}

/// Returns what is kept where an agent, led by nobody, looks up an address with a word that the person typed: then whoever
/// keeps it is named, though the word has no capital.
pub(super) fn looked_up(address: &str, origins: &Origins) -> Option<String> {
    let [word] = <[String; 1]>::try_from(words::words(address)).ok()?;
    let site = owner::site(&word)?;
    let owner = owner::owner(&word)?;
    let bare = word.split_once("://").map_or(&*word, |(_, rest)| rest);
    let mut parts = bare.split(|c: char| !c.is_alphanumeric());
    let host = words::targets(&word).last().unwrap_or(&word);
    let mut leading = [&*word, &*site]
        .into_iter()
        .chain(owner::domains_above(host));
    (parts.any(|part| part.len() > 2 && origins.has(Origin::Prompt, part))
        && !leading.any(|text| origins.has(Origin::Text, text)))
    .then(|| kept(owner))
}

/// The names that the person typed: each word is looked up once.
pub(super) struct Typed<'o> {
    origins: &'o Origins,
    known: RefCell<HashMap<String, bool>>,
}

impl<'o> Typed<'o> {
    pub(super) fn of(origins: &'o Origins) -> Self {
        Self {
            origins,
            known: RefCell::default(),
        }
    }

    /// Whether one of several words is such a name, or a part of it.
    pub(super) fn is_any(&self, found: &[String]) -> bool {
        found.iter().any(|word| self.is_one(word))
    }

    fn is_one(&self, word: &str) -> bool {
        if let Some(is_one) = self.known.borrow().get(word) {
            return *is_one;
        }
        let is_typed = |word: &str| is_typed(word, self.origins);
        let mut parts = word.split([':', '@', '=']);
        let is_one = pieces(word).any(is_typed)
            || parts.any(|piece| piece.len() < word.len() && is_typed(piece));
        self.known.borrow_mut().insert(word.to_owned(), is_one);
        is_one
    }
}
