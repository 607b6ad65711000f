//! Given: a program that is given what is guarded, in any form, and is not known to only read it.

use std::cell::LazyCell;
use std::path::PathBuf;
use std::sync::Arc;

use super::found::{Found, on};
use super::judged::Judged;
use super::named::{named, of_find, only_list};
use super::{clean, code, mention, walk};
use crate::program::Fact;
use crate::search::is_steered;
use crate::shell::{Analysis, Invocation, Word};

/// A program that is given a guarded file, in any form, and is not known to only read it with the options that it has.
pub(super) fn find(invocation: &Judged<'_>, reads: bool) -> Option<Found> {
    let known = invocation.known();
    let is_console = known.is(Fact::Console);
    let is_language = known.is(Fact::Language);
    if known.is(Fact::Evaluates)
        && let Some(hit) = evaluated(invocation)
    {
        return Some(on("run what may change {}", hit));
    }
    let is_unknown = LazyCell::new(|| {
        let mut values = invocation.unknown_values();
        values.any(|w| invocation.in_word(&w.text, w.is_option()).is_some())
    });
    let reads = reads && !is_steered(invocation.analysis, invocation) && !*is_unknown;
    if reads && !known.is(Fact::Language) {
        return None;
    }
    let mounts = known.is(Fact::Mounts);
    let inner = Inner::of(invocation);
    // What is replaced in a file may look like a path.
    let is_replaced = known.is(Fact::PatternFirst)
        && !known.is(Fact::Unless)
        && !*is_unknown
        && !(['e', 'f'].iter()).any(|letter| invocation.has_short(*letter))
        && !(["--expression", "--file"].iter()).any(|name| invocation.has_long(name));
    let script = is_replaced.then(|| {
        let own = invocation.own_operands(known).next();
        own.map_or("", |word| word.text.as_str())
    });
    let options = invocation.before_dashes().count();
    let run = script_place(invocation);
    let in_text = |text: &str| {
        let is_read = (mention::is_prose(text) && !is_console) || inner.runs(text);
        (!is_read).then(|| invocation.in_text(text)).flatten()
    };
    // What a search asks of its finds names none of them; what it does with them is judged with the search.
    let is_search = walk::started_through(&invocation.program) == Some(walk::OF_FIND);
    let is_test =
        |word: &Word| is_search && !of_find(invocation).any(|own| std::ptr::eq(own, word));
    let mut is_message = false;
    let by_argument = |(nth, word): (usize, &Word)| {
        let text = word.text.as_str();
        let was_message = std::mem::replace(&mut is_message, known.lists(Fact::Texts, text));
        if reads
            || was_message
            || run == Some(nth)
            || (script == Some(text) && (!is_language || replaces(text)))
            || inner.is_given(text)
            || clean::leaves_out(invocation, nth)
        {
            return None;
        }
        if let Some(listers) = listers(invocation.analysis, word) {
            return listers
                .iter()
                .find_map(|lister| named(&invocation.other(lister)));
        }
        if is_made(word) && !is_console {
            return by_makers(invocation, word);
        }
        let may_be_code = is_console || !known.is_known();
        if text.contains(char::is_whitespace) || (may_be_code && text.contains(['(', '"', '\''])) {
            return in_text(text);
        }
        if is_test(word) {
            return None;
        }
        // In quotes it is what finds any text, and not a pattern of names.
        let is_anything = !word.glob && !known.is_known() && text.rsplit('=').next() == Some(".*");
        // So is it in the name of a thing in code: `parser::.*`.
        let is_in_code =
            !word.glob && text.contains("::") && !text.contains('/') && !text.starts_with('.');
        if is_anything || is_in_code || (mounts && text.ends_with(":ro")) {
            return None;
        }
        let is_option = nth <= options && text.starts_with(['-', '+']);
        invocation.in_word(text, is_option)
    };
    let mut arguments = invocation.arguments.iter().enumerate();
    let hit = arguments
        .find_map(by_argument)
        .or_else(|| {
            let mut variables = invocation.environment.iter();
            variables.find_map(|(_, value)| {
                if is_made(value) {
                    return by_makers(invocation, value);
                }
                let is_text = value.text.contains([' ', '(', '\'', '"']);
                if is_text {
                    invocation.in_text(&value.text)
                } else {
                    invocation.in_word(&value.text, false)
                }
            })
        })
        .or_else(|| {
            let takes_data = reads || is_language || known.is(Fact::Data) || known.is(Fact::Shell);
            let stdin = invocation
                .stdin
                .text()
                .filter(|_| !takes_data && inner.is_empty())?;
            in_text(stdin)
        })?;
    Some(on("be given {} and is not known to only read it", hit))
}

/// Whether a part of a word is what programs print, and stands there as they are written.
fn is_made(word: &Word) -> bool {
    !word.made_by.is_empty() && !word.glob && (word.text.contains("$(") || word.text.contains('`'))
}

/// Returns what is guarded and named by the words of the programs whose output is a part of a word, or by what stands around
/// it. In quotes, a text with `*` in it says what these look for in other texts.
fn by_makers(invocation: &Judged<'_>, word: &Word) -> Option<PathBuf> {
    let makers = invocation.makers(&word.made_by).iter();
    let mut patterns = makers.flat_map(|maker| {
        let words = maker.arguments.iter().filter(|word| word.glob);
        words.map(move |word| (maker, word))
    });
    invocation
        .in_text_by_name(&word.text)
        .or_else(|| patterns.find_map(|(maker, word)| invocation.other(maker).covers(&word.text)))
}

/// Returns the programs that list what a word stands for, if it stands for nothing else: what that comes upon is judged by
/// their filters.
fn listers<'a>(analysis: &'a Analysis, word: &Word) -> Option<&'a [Arc<Invocation>]> {
    let text = word.text.as_str();
    let is_whole = text.starts_with("$(") && text.ends_with(')');
    let made_by = analysis.part(word.made_by.clone());
    let is_list =
        is_whole && text.matches("$(").count() == 1 && !text.contains('`') && only_list(made_by);
    is_list.then_some(made_by)
}

/// The commands that an invocation starts, which are judged by themselves.
pub(super) struct Inner<'a>(Vec<&'a Invocation>);

impl<'a> Inner<'a> {
    pub(super) fn of(outer: &Judged<'a>) -> Self {
        let is_inner = |i: &&'a Invocation| i.wrappers.contains(&outer.program);
        Self(outer.all().filter(is_inner).collect())
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn is_given(&self, word: &str) -> bool {
        self.0.iter().any(|inner| {
            let variables = inner.environment.iter();
            inner.path.text == word
                || inner.arguments.iter().any(|argument| argument.text == word)
                || variables
                    .map(|(name, value)| (name.as_str(), value.text.as_str()))
                    .any(|pair| word.split_once('=') == Some(pair))
        })
    }

    /// Whether an inner command on this machine gets a made word as it is, and is judged by what it does to it:
    /// `npx prettier --write $(git diff --name-only)`.
    pub(super) fn takes(&self, word: &Word) -> bool {
        let mut inner = self.0.iter();
        inner.any(|inner| !inner.remote && inner.arguments.contains(word))
    }

    fn runs(&self, text: &str) -> bool {
        self.0.iter().any(|inner| text.contains(&inner.path.text))
    }
}

/// Returns which argument is the script that an interpreter runs, and does not change: what it says is judged by itself.
fn script_place(invocation: &Judged<'_>) -> Option<usize> {
    let known = invocation.known();
    let runs = known.is(Fact::Shell) || known.is(Fact::Language);
    // The code of awk is its first operand.
    if !runs || known.lists(Fact::Language, "awk") || code::takes_code(invocation) {
        return None;
    }
    let nth = invocation.arguments.iter().position(|w| !w.is_option())?;
    let mut before = invocation.arguments.iter().take(nth);
    // The value of a long option is not the script.
    let is_letters = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    before.all(is_letters).then_some(nth)
}

/// Whether code only replaces one text with another: `s/a/b/`.
fn replaces(code: &str) -> bool {
    let starts = ["s/", "s#", "s|", "s,", "tr/", "y/"];
    starts.iter().any(|start| code.starts_with(start))
}

/// Returns what is guarded and named by a command in the index of a variable: `test -v 'a[$(command)]'`.
fn evaluated(invocation: &Judged<'_>) -> Option<PathBuf> {
    let words = invocation.arguments.iter();
    words
        .filter(|word| word.made_by.is_empty() && word.text.contains(['$', '`']))
        .find_map(|word| invocation.in_text(&word.text))
}
