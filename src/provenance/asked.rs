//! Asked: which kinds of acts a person has asked for, by the words of `policies/acts.txt`.
//!
//! A sentence that asks something, or a part of one that begins with a verb of looking, asks for no act. A part that begins with
//! the verb of an act asks for that one; of any other part each word may be its verb, where no part is a request by its form.

use std::borrow::Cow;

use super::kind::{Asked, Kind};
use super::lists::lists;
use super::words::{self, is_unparted};

/// How many words may stand between `as` and `it says`.
const BETWEEN: usize = 4;

/// A part of a sentence.
struct Part {
    asked: Asked,
    /// Whether it is a request by its form, and not perhaps by a verb that stands somewhere in it.
    is_request: bool,
    /// Whether it asks for an act on what was told before it.
    refers: bool,
}

impl Part {
    /// Reads the words of a part; it asks for nothing where it is not understood.
    fn of(words: &[&str], is_question: bool) -> Self {
        let lists = lists();
        let is_polite = |word: &&str| lists.has("polite", word);
        let is_before = |word: &&&str| lists.has("filling", word) || is_polite(word);
        let before = words.iter().take_while(is_before).count();
        let (before, words) = words.split_at_checked(before).unwrap_or((words, &[]));
        let is_polite = before.iter().any(is_polite);
        let part = |asked, is_request| Self {
            asked,
            is_request,
            refers: false,
        };
        let look = Asked::of(Kind::Look);
        let Some(first) = words.first() else {
            return part(Asked::default(), false);
        };
        if lists.has("into", first) {
            return part(Asked::of(Kind::Change), true);
        }
        let verb = lists.verb(words);
        // `comment` asks how in one language, and is a verb in another.
        let asks = lists.has("question", first) && (is_question || !verb.has_act());
        if lists.has("not", first) || asks && !is_polite {
            return part(look, false);
        }
        let rest = words.get(1..).unwrap_or_default();
        if verb.has_act() {
            return Self {
                refers: rest.iter().any(|word| lists.has("referring", word)),
                ..part(verb.with(lists.things(rest)), true)
            };
        }
        if verb.has(Kind::Look) || is_question && !is_polite {
            // What is read is to be put somewhere: `summarise it into the sheet`, but not `look into it`.
            let mut places = rest.iter().skip(1).filter(|_| verb.has(Kind::Look));
            let is_put = places.any(|word| lists.has("into", word));
            let put = Asked::of(if is_put { Kind::Change } else { Kind::Look });
            return part(look.with(put), true);
        }
        if words.iter().any(|word| lists.has("not", word)) {
            return part(look, false);
        }
        let all = (0..words.len()).map(|at| lists.verb(words.get(at..).unwrap_or_default()));
        let all = all.fold(lists.things(words), Asked::with);
        let mut wishes = before.iter().chain(words);
        let is_request = is_polite || wishes.any(|word| lists.has("wish", word));
        let asked = if all.has_act() { all } else { Asked::default() };
        part(asked, is_request)
    }

    /// Reads a part whose script puts nothing between words.
    fn unparted(part: &str) -> Self {
        Self {
            asked: lists().unparted(part),
            is_request: true,
            refers: false,
        }
    }
}

/// Returns what a prompt asks for. Where something in it is a request, what stands before it only tells of it (`the import failed,
/// look at the log`), but where the request means that (`the payment is due, make it`); what stands behind it goes on with it.
pub(super) fn asked(prompt: &str) -> Asked {
    let prompt = prompt.to_lowercase().replace('’', "'");
    let prompt = without_quoted(&prompt);
    let mut all = Asked::default();
    let mut context = Asked::default();
    let (mut has_request, mut refers, mut goes_on) = (false, false, false);
    for sentence in sentences(&prompt) {
        let parts: Vec<Part> = if is_unparted(sentence) {
            let parts = sentence.split([',', '，', '、']);
            parts.map(Part::unparted).collect()
        } else {
            let is_question = sentence.trim_end().ends_with('?');
            let parts = in_parts(sentence);
            parts
                .iter()
                .map(|words| Part::of(words, is_question))
                .collect()
        };
        for part in parts {
            goes_on |= part.is_request;
            has_request |= part.is_request;
            refers |= part.refers;
            if goes_on || !part.asked.has_act() {
                all = all.with(part.asked);
            } else {
                context = context.with(part.asked);
            }
        }
        goes_on &= sentence.ends_with([':', ';']);
    }
    // What is to be done stands there.
    let follows = lists().has_source(&prompt) && does_it(&prompt);
    if follows || all.has_act() && does_as_said(&prompt) {
        all = all.with(Asked::of(Kind::Follow));
    }
    if !has_request || refers {
        all = all.with(context);
    }
    if all == Asked::default() && !prompt.trim().is_empty() {
        return Asked::of(Kind::Vague);
    }
    all
}

/// Returns a prompt without what it quotes: titles and texts, which ask for nothing.
fn without_quoted(prompt: &str) -> Cow<'_, str> {
    let mut rest = String::new();
    let mut end = 0;
    for quoted in words::quoted(prompt).filter(|quoted| quoted.contains(' ')) {
        let at = quoted.as_ptr() as usize - prompt.as_ptr() as usize;
        rest.push_str(prompt.get(end..at).unwrap_or_default());
        end = at + quoted.len();
    }
    rest.push_str(prompt.get(end..).unwrap_or_default());
    if rest.contains(char::is_alphanumeric) {
        Cow::Owned(rest)
    } else {
        Cow::Borrowed(prompt)
    }
}

/// Whether a prompt has `as she says`, or `what he asked for`.
pub(super) fn does_as_said(prompt: &str) -> bool {
    let lists = lists();
    let words: Vec<&str> = prompt.split(|c: char| !c.is_alphanumeric()).collect();
    let says = |near: &[&str]| {
        let last = near.last().is_some_and(|word| lists.has("saying", word));
        last && near.iter().any(|word| lists.has("saying-as", word))
    };
    let mut ends =
        (1..=words.len()).filter_map(|end| words.get(end.saturating_sub(BETWEEN + 2)..end));
    ends.any(says)
}

/// Whether a prompt says `do it`.
fn does_it(prompt: &str) -> bool {
    let words: Vec<&str> = prompt.split(|c: char| !c.is_alphanumeric()).collect();
    let mut pairs = words.windows(2);
    pairs.any(|pair| lists().has("doing-it", &pair.join("_")))
}

/// Parts a sentence where another request may begin.
fn in_parts(sentence: &str) -> Vec<Vec<&str>> {
    let mut part = Vec::new();
    let mut parts = Vec::new();
    for token in sentence.split_whitespace() {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        let joins = lists().has("joining", word);
        if token.starts_with('(') || word.is_empty() || joins {
            parts.push(std::mem::take(&mut part));
        }
        if token.contains(['€', '$', '£', '¥']) {
            part.push("money");
        }
        if !joins && !word.is_empty() {
            part.push(word);
        }
        if token.ends_with([',', ')']) {
            parts.push(std::mem::take(&mut part));
        }
    }
    parts.push(part);
    parts
}

/// Parts a text into sentences, each with the sign that ends it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut signs = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, sign)) = signs.next() {
            let is_last = signs.peek().is_none_or(|(_, next)| next.is_whitespace());
            if matches!(sign, '\n' | ';' | '。' | '！' | '？' | '；')
                || is_last && matches!(sign, '.' | '!' | '?' | ':')
            {
                end = at + sign.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at_checked(end)?;
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_asks_for_the_acts_of_its_verbs() {
        let cases: &[(&str, &[Kind], &[Kind])] = &[
            (
                "Summarise my unread mail, please.",
                &[],
                &[Kind::Say, Kind::Pay],
            ),
            ("Did anybody send me money?", &[], &[Kind::Say, Kind::Pay]),
            (
                "Which invoices are due? List only, I'll pay them myself.",
                &[],
                &[Kind::Pay],
            ),
            (
                "Refund order 12 to the card it was paid with.",
                &[Kind::Refund],
                &[Kind::Pay],
            ),
            ("Can you reply to Mr Krause?", &[Kind::Say], &[Kind::Pay]),
            (
                "Überweise Mira 20 Euro und schreib ihr",
                &[Kind::Pay, Kind::Say],
                &[Kind::Grant],
            ),
            (
                "The nightly import failed, look at the log.",
                &[],
                &[Kind::Change, Kind::Schedule],
            ),
            (
                "the worker leaks again, restart it",
                &[Kind::Change],
                &[Kind::Pay],
            ),
            (
                "Give jon write access to the repo",
                &[Kind::Grant],
                &[Kind::Pay],
            ),
            ("Trouve-moi un hôtel, sans réserver", &[], &[Kind::Buy]),
            ("回复供应商的邮件", &[Kind::Say], &[Kind::Pay]),
            (
                "Give him back what our policy provides.",
                &[Kind::Refund],
                &[Kind::Pay],
            ),
            (
                "Two of them voted yes, right? If so give her triage.",
                &[Kind::Grant],
                &[Kind::Pay],
            ),
            (
                "Issue what she said and answer the mail.",
                &[Kind::Follow],
                &[Kind::Grant],
            ),
            (
                "Classe les reçus du dossier dans le tableau",
                &[Kind::Change],
                &[Kind::Grant],
            ),
        ];
        for (prompt, yes, no) in cases {
            let found = asked(prompt);
            for kind in *yes {
                assert_eq!(
                    found.allows(Asked::of(*kind)),
                    Some(true),
                    "{prompt}: {kind:?}"
                );
            }
            for kind in *no {
                assert_eq!(
                    found.allows(Asked::of(*kind)),
                    Some(false),
                    "{prompt}: {kind:?}"
                );
            }
        }
        assert_eq!(asked("xyzzy").allows(Asked::of(Kind::Say)), None);
    }
}
