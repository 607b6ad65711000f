//! Statements: what a change says of tests that are to go, in its commit messages and in its issue.

use crate::oracle::toolchain::test_run::short;
use crate::words::words;

/// How the words begin that say so.
const STEMS: &[&str] = &[
    "remov", "delet", "drop", "skip", "ignor", "disabl", "retir", "renam", "mov", "merg", "replac",
];
/// How they end.
const ENDINGS: &[&str] = &["", "e", "es", "ed", "ing", "s", "ped", "ping"];
/// What turns such a word into its opposite, where it stands before it.
const DENIALS: &[&str] = &[
    "not", "never", "cannot", "don", "doesn", "won", "without", "nor",
];
/// How a sentence calls tests.
const TESTS: &[&str] = &["test", "tests", "case", "cases", "spec", "specs", "suite"];
/// What may stand between such a word and the tests that it is about, beside their names.
const AROUND: &[&str] = words!("words-around-tests");
/// What may follow the word for tests where that is no part of another one, such as `test helper`.
const BEHIND: &[&str] = words!("words-behind-tests");
/// What stands between tests and the word that says what became of them.
const BECAME: &[&str] = words!("words-of-becoming");
/// What may stand around a name.
const QUOTES: &[char] = &['`', '"', '\'', '“', '”', '‘', '’'];

/// Whether a text says of the test of this (short) name that it goes: `Removed: NAME, NAME` on a line, or a sentence that
/// says so of the test, with its name in quotes or a name that is no ordinary word.
pub(super) fn says_so(text: &str, name: &str) -> bool {
    text.lines().any(|line| lists(line, name))
        || sentences(text).any(|sentence| removes(&tokens(&sentence), name))
}

/// Whether a text says that tests go, without a name.
pub(super) fn says_so_of_any(text: &str) -> bool {
    sentences(text).any(|sentence| {
        let tokens = tokens(&sentence);
        (0..tokens.len()).any(|at| is_of_tests(&tokens, at) && is_object(&tokens, at))
    })
}

/// Reads `Removed: NAME, NAME`.
fn lists(line: &str, name: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let Some((head, rest)) = line.split_once(':') else {
        return false;
    };
    let head = words(head);
    let is_head = head.first().is_some_and(|word| is_removal(word))
        && head
            .get(1)
            .is_none_or(|word| TESTS.contains(&word.as_str()))
        && head.len() <= 2;
    is_head && (rest.split(',')).any(|part| is_name(part.trim(), name))
}

/// Returns the sentences of a text: a paragraph, cut where one ends.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(str::trim) {
        match paragraphs.last_mut() {
            Some(last) if !line.is_empty() => {
                last.push_str(line);
                last.push(' ');
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.into_iter().flat_map(|paragraph| {
        let sentences = paragraph.split(". ").flat_map(|part| part.split("; "));
        sentences.map(str::to_owned).collect::<Vec<_>>()
    })
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_removal(word: &str) -> bool {
    let rests = STEMS.iter().filter_map(|stem| word.strip_prefix(stem));
    rests.into_iter().any(|rest| ENDINGS.contains(&rest))
}

/// A word of a sentence, or what stands in quotes.
struct Token<'t> {
    /// As it is written, without what stands around it.
    text: &'t str,
    lower: String,
    is_quoted: bool,
    /// Whether something new begins with it: `(`.
    opens: bool,
    /// Whether something ends with it, and the mark: `:`, `,`.
    ends: Option<char>,
}

impl Token<'_> {
    fn is(&self, list: &[&str]) -> bool {
        !self.is_quoted && list.contains(&self.lower.as_str())
    }

    /// Whether it is written as no ordinary word is, and as no abbreviation.
    fn is_named(&self) -> bool {
        self.is_quoted || !is_ordinary(self.text) && self.text.contains(char::is_lowercase)
    }
}

/// Returns the words of a sentence; a mark in a word, as in `don't`, is no quote.
fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = sentence.trim_start();
    while let Some(first) = rest.chars().next() {
        let inside = rest.trim_start_matches(['(', '[']);
        let mark = inside.chars().next().filter(|mark| QUOTES.contains(mark));
        let quoted = mark.and_then(|mark| {
            let inside = inside.get(mark.len_utf8()..)?;
            let end = inside.find(QUOTES)?;
            inside.split_at_checked(end)
        });
        let (text, after) = match quoted {
            Some((text, after)) => (text, after.trim_start_matches(QUOTES)),
            None => inside.split_at(inside.find(char::is_whitespace).unwrap_or(inside.len())),
        };
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let behind = if quoted.is_some() {
            after.get(..end).unwrap_or_default()
        } else {
            text
        };
        let text = if quoted.is_some() {
            text
        } else {
            text.trim_matches(is_around)
        };
        tokens.push(Token {
            text,
            lower: text.to_lowercase(),
            is_quoted: quoted.is_some(),
            opens: matches!(first, '(' | '['),
            ends: behind.chars().last().filter(|last| is_around(*last)),
        });
        rest = after
            .get(if quoted.is_some() { end } else { 0 }..)
            .unwrap_or_default()
            .trim_start();
    }
    tokens.retain(|token| token.is_quoted || !token.text.is_empty());
    tokens
}

/// Whether a sentence says of the test of a name that it goes: of the test itself, or of tests which it then lists.
fn removes(tokens: &[Token<'_>], name: &str) -> bool {
    let mut is_list = false;
    // What is no name of a test may be that of something else.
    let of_tests = |at| is_of_tests(tokens, at) && is_object(tokens, at);
    if !(0..tokens.len()).any(of_tests) {
        return false;
    }
    (0..tokens.len()).any(|at| {
        let Some(token) = tokens.get(at) else {
            return false;
        };
        let is_it = is_name(token.text, name) && (token.is_quoted || !is_ordinary(name));
        let is_said = is_it && (is_list || is_object(tokens, at));
        if token.is(TESTS) && of_tests(at) {
            // `Remove the tests of the old form: A, B`.
            let next = tokens.get(at + 1);
            is_list |= tokens
                .iter()
                .skip(at)
                .take_while(|token| !token.is_quoted)
                .any(|token| token.ends == Some(':'))
                || next.is_some_and(|next| next.opens);
        }
        is_said
    })
}

/// Whether a word means tests: the word for them, or a name with it.
fn is_of_tests(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return false;
    };
    let is_word = token.is(TESTS)
        && (token.ends.is_some()
            || tokens.get(at + 1).is_none_or(|next| {
                next.opens || next.is_named() || next.is(BEHIND) || next.is(BECAME)
            }));
    is_word
        || token.is_named()
            && words(token.text)
                .iter()
                .any(|word| TESTS.contains(&word.as_str()))
}

/// Whether it is said of a word of the sentence that it goes: `remove the flaky X and Y`, `X and Y are removed`.
fn is_object(tokens: &[Token<'_>], at: usize) -> bool {
    let is_part = |token: &Token<'_>| token.is(TESTS) || token.is_named();
    let mut verb = None;
    for (n, token) in tokens.iter().enumerate().take(at).rev() {
        if !token.is_quoted && is_removal(&token.lower) {
            verb = Some(n);
            break;
        }
        if !token.is(AROUND) && !is_part(token) || token.opens {
            break;
        }
    }
    let is_opened = tokens.get(at).is_some_and(|token| token.opens);
    if let Some(verb) = verb.filter(|_| !is_opened) {
        let before = tokens.get(verb.saturating_sub(3)..verb).unwrap_or_default();
        return !before.iter().any(|token| {
            let word = token.lower.split(['\'', '’']).next().unwrap_or_default();
            !token.is_quoted && DENIALS.contains(&word)
        });
    }
    let mut became = false;
    for (n, token) in tokens.iter().enumerate().skip(at + 1) {
        if !token.is_quoted && token.lower.ends_with("ed") && is_removal(&token.lower) {
            return became || n + 1 == tokens.len();
        }
        became |= token.is(BECAME);
        if !token.is(BECAME) && !token.is(AROUND) && !is_part(token) {
            return false;
        }
    }
    false
}

fn is_ordinary(name: &str) -> bool {
    name.chars().all(|c| c.is_lowercase() || c == ' ')
        || name.contains(' ')
        || name.chars().skip(1).all(char::is_lowercase)
}

fn is_around(c: char) -> bool {
    QUOTES.contains(&c) || ",.;:!?()".contains(c)
}

/// Whether a word is this name, as it stands in the source or as its runner writes it.
fn is_name(word: &str, name: &str) -> bool {
    let word = word.trim_matches(is_around);
    word == name || short(word) == name
}

#[cfg(test)]
#[test]
fn a_text_says_so_or_only_happens_to_hold_the_name() {
    let cases = include_str!("../../../../tests/cases/test_statements.txt");
    for case in cases.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = case.splitn(3, '\t');
        let mut field = || fields.next().unwrap();
        let (expected, name, text) = (field() == "yes", field(), field().replace("\\n", "\n"));
        assert_eq!(says_so(&text, name), expected, "{case}");
    }
}
