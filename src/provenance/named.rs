//! Named: what a person has named in what she typed, so that what is told of it is what she asked for.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{owner, words};
use crate::session::{Origin, Origins};

/// What stands before a name that the person typed.
const NAME: &str = "\u{1}name ";

/// Words at the beginning of what people ask for: capitals there make no name.
const BEGINNING: &[&str] = &[
    "a",
    "add",
    "an",
    "and",
    "answer",
    "any",
    "are",
    "as",
    "ask",
    "at",
    "book",
    "build",
    "buy",
    "can",
    "cancel",
    "check",
    "clean",
    "compare",
    "copy",
    "could",
    "count",
    "create",
    "delete",
    "deploy",
    "did",
    "do",
    "does",
    "draft",
    "every",
    "explain",
    "fetch",
    "file",
    "find",
    "fix",
    "for",
    "forward",
    "from",
    "get",
    "give",
    "go",
    "has",
    "have",
    "how",
    "i",
    "i'm",
    "if",
    "in",
    "install",
    "invite",
    "is",
    "it",
    "let",
    "list",
    "look",
    "mail",
    "make",
    "move",
    "my",
    "now",
    "of",
    "ok",
    "on",
    "open",
    "or",
    "order",
    "our",
    "pay",
    "please",
    "post",
    "put",
    "read",
    "remind",
    "reply",
    "rename",
    "renew",
    "report",
    "reserve",
    "run",
    "schedule",
    "search",
    "see",
    "send",
    "set",
    "share",
    "show",
    "start",
    "submit",
    "summarise",
    "summarize",
    "take",
    "tell",
    "that",
    "the",
    "their",
    "then",
    "there",
    "this",
    "to",
    "transfer",
    "translate",
    "try",
    "turn",
    "update",
    "upgrade",
    "upload",
    "use",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "with",
    "work",
    "would",
    "write",
    "you",
    "your",
];

/// What somebody does who is named before it.
const DOING: &[&str] = &[
    "asked", "asks", "has", "needs", "posted", "said", "says", "sent", "wanted", "wants", "wrote",
];

/// Words by which people say that something is to be done as a page or a file has it.
const FOLLOWING: &[&str] = &[
    "according",
    "described",
    "describes",
    "docs",
    "documentation",
    "follow",
    "following",
    "guide",
    "instructions",
    "official",
    "officially",
    "recommended",
    "steps",
];

/// Words that say so behind one of some others: `as it says`, and not `say hi`.
const SAYING: &[&str] = &["say", "says"];

/// Those others, and how many words may stand between.
const AS: &[&str] = &["as", "how", "what", "whatever"];
const BETWEEN: usize = 4;

/// What is kept where the person typed one of them.
const FOLLOWS: &str = "\u{1}follows";

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
        let is_begun = begins && BEGINNING.contains(&&*bare.to_lowercase());
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
    if words.iter().any(|word| FOLLOWING.contains(word)) || ends.any(says) {
        names.push(FOLLOWS.to_owned());
    }
    names
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
