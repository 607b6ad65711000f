//! Named: what a person has named in what she typed, so that what is told of it is what she asked for.

use std::cell::RefCell;
use std::collections::HashMap;

use super::asked;
use super::kind::{Asked, Kind};
use super::lists::lists;
use super::words::{QUOTES, quoted, unparted};
use super::{owner, words};
use crate::session::{Origin, Origins};

/// What stands before a name that the person typed.
const NAME: &str = "\u{1}name ";

/// What stands before a word that tells what the person wants to have looked at.
const TOPIC: &str = "\u{1}topic ";

/// What is kept where the person typed that something is to be done as a page or a file has it.
const FOLLOWS: &str = "\u{1}follows";

/// What is kept where the person has quoted several words.
const PHRASE: &str = "\u{1}phrase";

/// What is kept where the person typed where it stands what is wanted, or with whom.
const REFERS: &str = "\u{1}refers";

/// Returns what is kept of the names in what a person typed: words with a capital, a number or a sign, and quoted ones.
pub(super) fn typed(prompt: &str) -> Vec<String> {
    let lists = lists();
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
        let is_quoted = token.starts_with(QUOTES);
        let is_begun = begins && lists.is_usual(&bare.to_lowercase());
        // `brook has asked me`: whoever does something has a name.
        let does = begins && tokens.peek().is_some_and(|next| lists.has("doing", next));
        let is_name = (has_capital || does) && !is_begun;
        if bare.chars().count() > 2 && (is_name || has_sign || is_quoted) {
            let found = words::words(bare);
            let parts = found.iter().flat_map(|word| pieces(word));
            names.extend(parts.map(kept));
        }
        begins = token.ends_with(['.', '!', '?', ':', ';']);
    }
    let phrases: Vec<String> = quoted(prompt)
        .flat_map(|text| pairs(&words::words(text)))
        .collect();
    if !phrases.is_empty() {
        names.push(PHRASE.to_owned());
    }
    names.extend(phrases.iter().map(|phrase| kept(phrase)));
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    // Who only asks what somebody says does not ask to do it.
    let follows = asked::does_as_said(&lower) && asked::asked(prompt).has_act();
    if follows || words.iter().any(|word| lists.has("guide", word)) {
        names.push(FOLLOWS.to_owned());
    }
    if lists.has_source(&lower) {
        names.push(REFERS.to_owned());
    }
    let topics = words.iter().filter(|word| is_topic(word));
    names.extend(topics.map(|word| format!("{TOPIC}{word}")));
    names.extend(unparted(&lower).map(|two| format!("{TOPIC}{two}")));
    names
}

/// Returns neighbours as one, each.
fn pairs(words: &[String]) -> Vec<String> {
    words.windows(2).map(words::pair).collect()
}

/// Whether a word tells what a request is about.
fn is_topic(word: &str) -> bool {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    (word.len() > 3 || is_number && word.len() > 1) && !lists().is_usual(word)
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

/// Whether she has asked to do as somebody else says.
pub(super) fn may_follow(origins: &Origins) -> bool {
    let asked = Asked::in_session(origins);
    asked.is_some_and(|asked| asked.has(Kind::Follow)) || is_followed(origins)
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

/// Returns who keeps an address that an agent, led by nobody, looks up, where it has a word that the person typed: then she has
/// named them, though the word has no capital.
pub(super) fn looked_up(address: &str, origins: &Origins) -> Option<LookedUp> {
    let [word] = <[String; 1]>::try_from(words::words(address)).ok()?;
    let site = owner::site(&word)?;
    let owner = owner::owner(&word)?;
    let bare = word.split_once("://").map_or(&*word, |(_, rest)| rest);
    let is_typed = |part: &str| part.len() > 2 && origins.has(Origin::Prompt, part);
    let has_typed = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(is_typed);
    let host = words::targets(&word).last().unwrap_or(&word);
    let mut leading = [&*word, &*site]
        .into_iter()
        .chain(owner::domains_above(host));
    let is_own = has_typed(bare) && !leading.any(|text| origins.has(Origin::Text, text));
    let by_owner = has_typed(owner) && !origins.has(Origin::Prompt, &site);
    let domain = words::domain(&word).filter(|_| by_owner);
    is_own.then(|| LookedUp {
        kept: [Some(kept(owner)), domain.map(str::to_owned)]
            .into_iter()
            .flatten()
            .collect(),
        by_owner,
    })
}

/// Who keeps an address that an agent looks up.
pub(super) struct LookedUp {
    /// What is kept of them: their name, and their domain where that has it.
    pub(super) kept: Vec<String>,
    /// Whether the person typed a part of their name, and not of what lies there.
    pub(super) by_owner: bool,
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

    /// Whether one of several words is such a name or a part of it, or they have a phrase that she quoted.
    pub(super) fn is_any(&self, found: &[String]) -> bool {
        found.iter().any(|word| self.is_one(word))
            || self.origins.has(Origin::Prompt, PHRASE)
                && pairs(found).iter().any(|pair| is_typed(pair, self.origins))
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

/// What of a result the person has named.
pub(super) struct Naming<'o> {
    /// Whether that is all of it.
    pub(super) is_all: bool,
    /// The names that make a passage such a one.
    pub(super) typed: Option<Typed<'o>>,
    /// Whether a text is all of it whose head has one of them: the person wants done what stands there.
    pub(super) by_title: bool,
}

impl Naming<'_> {
    pub(super) const ALL: Self = Self {
        is_all: true,
        typed: None,
        by_title: false,
    };
    pub(super) const NOTHING: Self = Self {
        is_all: false,
        typed: None,
        by_title: false,
    };

    /// Whether she has named what has these words.
    pub(super) fn is_named(&self, found: &[String]) -> bool {
        self.is_all || self.is_by_name(found)
    }

    /// Whether she has done so by a name that is among them.
    pub(super) fn is_by_name(&self, found: &[String]) -> bool {
        self.typed.as_ref().is_some_and(|typed| typed.is_any(found))
    }
}
