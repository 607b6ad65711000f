//! Keywords: all places in a text where one of many words stands, in any case.

use std::ops::Range;

use aho_corasick::Anchored;
use aho_corasick::PatternID;
use aho_corasick::automaton::Automaton as _;
use aho_corasick::automaton::StateID;
use aho_corasick::dfa::DFA;

/// In how many parts a text is searched side by side: each step waits for the memory that the one before has named.
const LANES: usize = 4;

/// Words, ready to be searched for at once.
#[derive(Debug)]
pub(super) struct Keywords {
    automaton: DFA,
    start: StateID,
}

/// A word that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The number of the word.
    pub(super) word: usize,
    /// Where it stands.
    pub(super) range: Range<usize>,
}

/// A part of a text, and after how many bytes of it which words had ended.
struct Lane<'t> {
    text: &'t [u8],
    ends: Vec<(usize, StateID)>,
}

impl Keywords {
    /// Makes words ready to be searched for.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn new<W: AsRef<[u8]>>(words: &[W]) -> Result<Self, String> {
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(words)
            .map_err(|e| format!("too many keywords: {e}"))?;
        let start = automaton
            .start_state(Anchored::No)
            .map_err(|e| format!("keywords cannot be searched for: {e}"))?;
        Ok(Self { automaton, start })
    }

    /// Finds all words, also those that lie in others; of two words of which none holds the other, the first comes first.
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let text = text.as_bytes();
        let length = text.len().div_ceil(LANES).max(1);
        // A word that begins in one part may end in the next.
        let reach = length + self.automaton.max_pattern_len();
        let mut lanes: [Lane<'_>; LANES] = std::array::from_fn(|n| {
            let start = (n * length).min(text.len());
            let end = (start + reach).min(text.len());
            Lane {
                text: text.get(start..end).unwrap_or_default(),
                ends: Vec::new(),
            }
        });
        self.run(&mut lanes);
        let mut found = Vec::new();
        for (n, lane) in lanes.iter().enumerate() {
            for (end, state) in &lane.ends {
                for nth in 0..self.automaton.match_len(*state) {
                    let word: PatternID = self.automaton.match_pattern(*state, nth);
                    let start = end - self.automaton.pattern_len(word);
                    if start < length {
                        let before = n * length;
                        found.push(Found {
                            word: word.as_usize(),
                            range: before + start..before + end,
                        });
                    }
                }
            }
        }
        found
    }

    fn run(&self, lanes: &mut [Lane<'_>; LANES]) {
        let texts = lanes.each_ref().map(|lane| lane.text);
        let [a, b, c, d] = texts;
        let mut states = [self.start; LANES];
        let mut at = 0;
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            let [of_a, of_b, of_c, of_d] = states;
            states = [
                self.step(of_a, *a),
                self.step(of_b, *b),
                self.step(of_c, *c),
                self.step(of_d, *d),
            ];
            at += 1;
            if states.iter().any(|state| self.automaton.is_special(*state)) {
                for (lane, state) in lanes.iter_mut().zip(states) {
                    self.note(lane, at, state);
                }
            }
        }
        // The parts are of one length but for the last.
        for (lane, mut state) in lanes.iter_mut().zip(states) {
            for (n, byte) in lane.text.iter().enumerate().skip(at) {
                state = self.step(state, *byte);
                self.note(lane, n + 1, state);
            }
        }
    }

    fn step(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    fn note(&self, lane: &mut Lane<'_>, end: usize, state: StateID) {
        if self.automaton.is_match(state) {
            lane.ends.push((end, state));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Found;
    use super::Keywords;

    #[test]
    fn each_place_of_each_word_is_found_wherever_a_part_ends() {
        let words = ["select", "lect", "e", "where", "her"];
        let keywords = Keywords::new(&words).unwrap();
        let text = "sSELECTE ä where HER selecther wheree";
        for length in (0..=text.len()).filter(|n| text.is_char_boundary(*n)) {
            let text = text.get(..length).unwrap();
            let lower = text.to_ascii_lowercase();
            let mut expected: Vec<Found> = (0..)
                .zip(words)
                .flat_map(|(word, name)| {
                    let starts = (0..length)
                        .filter(|at| lower.get(*at..).is_some_and(|t| t.starts_with(name)));
                    starts
                        .map(move |at| Found {
                            word,
                            range: at..at + name.len(),
                        })
                        .collect::<Vec<_>>()
                })
                .collect();
            let mut found = keywords.find(text);
            assert!(
                found
                    .windows(2)
                    .all(|pair| pair[0].range.end <= pair[1].range.end
                        || pair[0].range.start <= pair[1].range.start)
            );
            let place = |found: &Found| (found.range.start, found.range.end);
            expected.sort_by_key(place);
            found.sort_by_key(place);
            assert_eq!(found, expected, "{text}");
        }
    }
}
