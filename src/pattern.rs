//! Pattern: a regular expression that costs little to make and is still fast and Unicode-aware where that matters.
//!
//! A hook command lives for a millisecond or two, and `regex` needs about a tenth of one to compile a single pattern.
//! An ASCII pattern therefore is compiled by `regex-lite` (2.5 µs), which gives the same answers on ASCII text, and by
//! `regex` only when it meets a text that is long or not ASCII.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// The longest text, in bytes, that the light engine is used for; past it the full one is faster, its making included.
const LIGHT_HAYSTACK: usize = 4 << 10;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 16 << 10;

/// How large a compiled pattern may be, in bytes, so that `(a{1000}){1000}` does not eat the memory: the block of a private key
/// takes more than 2 MiB.
const MAX_COMPILED: usize = 8 << 20;

/// Up to where a compiled pattern is a usual one, in bytes.
const USUAL: usize = 64 << 10;

/// Up to where the light engine is asked, in bytes: some 20 µs.
const MAX_LIGHT: usize = 32 << 10;

/// What all patterns of a policy may cost together, where a usual one of the full engine costs 1: about a second; large ones half of it.
const MOST_COST: u32 = 4096;

/// What a large pattern costs.
const COST_OF_LARGE: u32 = 512;

thread_local! {
    /// What the patterns of the policy that this thread loads may still cost.
    static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Loads a policy: past what its patterns may cost together, each further one is an error.
pub(crate) fn within_bounds<T>(load: impl FnOnce() -> T) -> T {
    struct Restored(Option<u32>);
    impl Drop for Restored {
        fn drop(&mut self) {
            LEFT.set(self.0);
        }
    }
    let _restored = Restored(LEFT.replace(Some(MOST_COST)));
    load()
}

fn spend(cost: u32) -> Result<(), PatternError> {
    let Some(left) = LEFT.get() else {
        return Ok(());
    };
    let after = left.checked_sub(cost);
    LEFT.set(Some(after.unwrap_or_default()));
    after.map(|_| ()).ok_or_else(|| {
        PatternError(
            "all patterns together are too large; use fewer or smaller repetitions".to_owned(),
        )
    })
}

/// A compiled regular expression in the syntax of the `regex` crate; matching takes time linear in the text.
#[derive(Clone)]
pub struct Pattern {
    text: Box<str>,
    engine: Engine,
}

#[derive(Clone)]
enum Engine {
    Full(regex::Regex),
    Light {
        light: regex_lite::Regex,
        // None inside: the pattern is too large for the full engine, and the light one answers alone.
        full: OnceLock<Option<regex::Regex>>,
    },
}

/// Why a pattern does not compile; one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The syntax is wrong (look-around and back-references are not offered), or the pattern is too large.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_PATTERN {
            return Err(PatternError(format!(
                "the pattern is {} bytes long; at most {MAX_PATTERN} are allowed",
                text.len()
            )));
        }
        let light = text
            .is_ascii()
            .then(|| {
                regex_lite::RegexBuilder::new(text)
                    .size_limit(MAX_LIGHT)
                    .build()
                    .ok()
            })
            .flatten();
        let engine = match light {
            Some(light) => Engine::Light {
                light,
                full: OnceLock::new(),
            },
            None => Engine::Full(compile_full(text)?),
        };
        Ok(Self {
            text: text.into(),
            engine,
        })
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern is found anywhere in the text.
    pub fn is_match(&self, haystack: &str) -> bool {
        match self.for_text(haystack) {
            Ok(full) => full.is_match(haystack),
            Err(light) => light.is_match(haystack),
        }
    }

    /// Returns the bytes of the first place where the pattern is found.
    pub fn find(&self, haystack: &str) -> Option<Range<usize>> {
        match self.for_text(haystack) {
            Ok(full) => full.find(haystack).map(|found| found.range()),
            Err(light) => light.find(haystack).map(|found| found.range()),
        }
    }

    /// Returns the bytes of a group of each match, from the left; of the whole match where the group took no part.
    ///
    /// `is_of_long` says that the text is a part of a long one of which more parts follow.
    pub(crate) fn groups(
        &self,
        haystack: &str,
        group: usize,
        is_of_long: bool,
    ) -> Vec<Range<usize>> {
        let engine = match &self.engine {
            Engine::Light { light, full } if is_of_long => full
                .get_or_init(|| compile_full(&self.text).ok())
                .as_ref()
                .ok_or(light),
            _ => self.for_text(haystack),
        };
        match engine {
            Ok(full) => full
                .captures_iter(haystack)
                .filter_map(|found| Some(found.get(group).or_else(|| found.get(0))?.range()))
                .collect(),
            Err(light) => light
                .captures_iter(haystack)
                .filter_map(|found| Some(found.get(group).or_else(|| found.get(0))?.range()))
                .collect(),
        }
    }

    /// Returns the full engine, or the light one where that is enough.
    fn for_text(&self, haystack: &str) -> Result<&regex::Regex, &regex_lite::Regex> {
        match &self.engine {
            Engine::Full(full) => Ok(full),
            Engine::Light { light, .. }
                if haystack.len() <= LIGHT_HAYSTACK && haystack.is_ascii() =>
            {
                Err(light)
            }
            Engine::Light { light, full } => full
                .get_or_init(|| compile_full(&self.text).ok())
                .as_ref()
                .ok_or(light),
        }
    }
}

fn compile_full(text: &str) -> Result<regex::Regex, PatternError> {
    let compiled = |most| regex::RegexBuilder::new(text).size_limit(most).build();
    spend(1)?;
    let mut built = compiled(USUAL);
    if matches!(built, Err(regex::Error::CompiledTooBig(_))) {
        spend(COST_OF_LARGE)?;
        built = compiled(MAX_COMPILED);
    }
    built.map_err(|error| PatternError(one_line(&error)))
}

/// Returns the message of a `regex` error without the drawing around it.
fn one_line(error: &regex::Error) -> String {
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "the pattern is too large; use fewer or smaller repetitions".to_owned();
    }
    let text = error.to_string();
    let message = text
        .lines()
        .rev()
        .find_map(|line| line.trim().strip_prefix("error: "))
        .unwrap_or("the pattern is not a regular expression");
    message.trim_end_matches('.').to_owned()
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}
