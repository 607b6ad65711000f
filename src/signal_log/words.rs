//! Words: finds a few dozen words in a text, with nothing to be made ready first.
//!
//! An automaton would be faster over megabytes, but making one takes longer than all else that `ahp` does for an event.

/// How many bytes of a word are looked at at once.
const HEAD: usize = 3;

/// Some words: for each of the first bytes, which words have which byte there.
#[derive(Debug)]
pub(super) struct Words<const N: usize> {
    words: [&'static str; N],
    heads: [[u64; 256]; HEAD],
    as_names: bool,
}

/// A word that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Which word.
    pub(super) word: usize,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

impl<const N: usize> Words<N> {
    /// Makes the set of at most 64 words of at least three ASCII characters, in small letters and with `_` where they are names: of
    /// those the case is ignored, and `-` is a `_`.
    #[expect(
        clippy::indexing_slicing,
        reason = "it is made by the compiler, which would tell"
    )]
    pub(super) const fn new(words: [&'static str; N], as_names: bool) -> Self {
        assert!(N <= 64, "a word for each bit");
        let mut heads = [[0; 256]; HEAD];
        let mut word = 0;
        while word < N {
            let mut at = 0;
            while at < HEAD {
                let byte = words[word].as_bytes()[at];
                heads[at][byte as usize] |= 1 << word;
                if as_names {
                    heads[at][byte.to_ascii_uppercase() as usize] |= 1 << word;
                    if byte == b'_' {
                        heads[at][b'-' as usize] |= 1 << word;
                    }
                }
                at += 1;
            }
            word += 1;
        }
        Self {
            words,
            heads,
            as_names,
        }
    }

    /// Finds the words of a text, none within another: the first that begins, and of those the longest.
    pub(super) fn find_iter<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Hit> + 'a {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = text.get(at..)?;
            let hit = rest.windows(HEAD).enumerate().find_map(|(ahead, head)| {
                let possible = self.possible(head);
                (possible != 0)
                    .then(|| self.longest(text, at + ahead, possible))
                    .flatten()
            })?;
            at = hit.end;
            Some(hit)
        })
    }

    /// Returns which words may begin with these bytes.
    fn possible(&self, head: &[u8]) -> u64 {
        let (&[first, second, third], [firsts, seconds, thirds]) = (head, &self.heads) else {
            return 0;
        };
        let words = |table: &[u64; 256], byte: u8| {
            let words = table.get(usize::from(byte));
            words.copied().unwrap_or(0)
        };
        words(firsts, first) & words(seconds, second) & words(thirds, third)
    }

    fn longest(&self, text: &[u8], start: usize, mut possible: u64) -> Option<Hit> {
        let mut longest: Option<Hit> = None;
        while possible != 0 {
            let word = possible.trailing_zeros() as usize;
            possible &= possible - 1;
            let bytes = self.words.get(word)?.as_bytes();
            let end = start + bytes.len();
            let is_there = text.get(start..end).is_some_and(|found| {
                if self.as_names {
                    let mut pairs = found.iter().zip(bytes);
                    pairs.all(|(a, b)| a.eq_ignore_ascii_case(b) || (*a == b'-' && *b == b'_'))
                } else {
                    found == bytes
                }
            });
            if is_there && longest.is_none_or(|hit| end > hit.end) {
                longest = Some(Hit { word, start, end });
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use aho_corasick::AhoCorasick;
    use aho_corasick::MatchKind;
    use proptest::prelude::*;

    use super::*;

    const LIST: [&str; 7] = [
        "sk-",
        "sk-ant-",
        "secret",
        "secret_key",
        "token",
        "AKIA",
        "ken",
    ];
    static EXACT: Words<7> = Words::new(LIST, false);

    proptest! {
        #[test]
        fn what_an_automaton_finds_is_found(text in "(sk-|ant-|secret|_key|tok|en|AKI|A|x|é){0,12}") {
            let automaton = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(LIST)
                .unwrap();
            let expected: Vec<_> = automaton
                .find_iter(&text)
                .map(|hit| (hit.pattern().as_usize(), hit.start(), hit.end()))
                .collect();
            let found: Vec<_> = EXACT
                .find_iter(text.as_bytes())
                .map(|hit| (hit.word, hit.start, hit.end))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn names_are_found_in_any_case_and_with_dashes() {
        static WORDS: Words<1> = Words::new(["api_key"], true);
        let found: Vec<_> = WORDS
            .find_iter(b"Api_Key=api-KEY=api+key")
            .map(|h| h.end)
            .collect();
        assert_eq!(found, [7, 15]);
    }
}
