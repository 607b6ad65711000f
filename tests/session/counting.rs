//! What is counted, against the definition: two sums over the whole trace.

use ahp::session::{
    Call, CallId, Contribution, Count, Definition, Going, Keys, State, Truth, Window,
};

use crate::world::sized;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % most
    }

    fn truth(&mut self) -> Truth {
        [Truth::No, Truth::No, Truth::Yes, Truth::Yes, Truth::Maybe]
            [usize::try_from(self.below(5)).unwrap()]
    }
}

/// One event, as the definition sees it.
#[derive(Clone, Debug)]
struct Happened {
    given: Contribution,
    time: i64,
}

fn is_meant(keys: &Keys, key: u64) -> bool {
    match keys {
        Keys::All => true,
        Keys::Of(keys) => keys.contains(&key),
    }
}

/// The two sums of the definition, over every event of the trace.
fn by_definition(trace: &[Happened], mark: &Definition, key: u64, now: i64) -> Count {
    let mut count = Count::default();
    for (i, event) in trace.iter().enumerate() {
        let given = &event.given;
        let is_recent = mark
            .window
            .is_none_or(|window| now - event.time < window.within);
        if given.mark != mark.name
            || given.hit == Truth::No
            || !is_meant(&given.keys, key)
            || !is_recent
        {
            continue;
        }
        let ended_after = |least: Truth| {
            trace[i + 1..].iter().any(|later| {
                let later = &later.given;
                later.mark == mark.name && later.end >= least && is_meant(&later.end_keys, key)
            })
        };
        let weight = |n: u64| if mark.window.is_some() { 1 } else { n };
        if !ended_after(Truth::Yes) {
            count.most = count.most.saturating_add(weight(given.weight.most));
        }
        if given.hit == Truth::Yes && given.keys != Keys::All && !ended_after(Truth::Maybe) {
            count.least = count.least.saturating_add(weight(given.weight.least));
        }
    }
    if let Some(window) = mark.window {
        let ring = window.ring as u64;
        count.least = count.least.min(ring);
        // Of more than are kept nobody knows how many there were.
        if count.most >= ring {
            count.most = u64::MAX;
        }
    }
    count
}

fn marks(dice: &mut Dice) -> Vec<Definition> {
    (0..=dice.below(6))
        .map(|name| Definition {
            name,
            meaning: 7,
            window: (dice.below(2) == 0).then(|| Window {
                within: 1 + i64::try_from(dice.below(40)).unwrap(),
                ring: 1 + usize::try_from(dice.below(4)).unwrap(),
            }),
        })
        .collect()
}

fn contribution(dice: &mut Dice, mark: u64) -> Contribution {
    let key = dice.below(3);
    let keys = if dice.below(8) == 0 {
        Keys::All
    } else {
        Keys::Of(vec![key])
    };
    let least = dice.below(3);
    Contribution {
        mark,
        meaning: 7,
        hit: dice.truth(),
        end: if dice.below(3) == 0 {
            dice.truth()
        } else {
            Truth::No
        },
        end_keys: if dice.below(4) == 0 {
            Keys::All
        } else {
            keys.clone()
        },
        keys,
        weight: Count {
            least,
            most: least + dice.below(2),
        },
    }
}

/// One thing in a trace, where it stands: an event that is over, or a call that may be open.
#[derive(Clone, Debug)]
struct Step {
    call: Call,
    is_open: bool,
}

impl Step {
    /// What it is to the definition as far as is known.
    fn happened(&self) -> Vec<Happened> {
        let itself = self.call.itself.iter().map(|given| match self.call.going {
            Going::Gone => given.clone(),
            _ => given.doubtful(),
        });
        let result = self.call.result.iter().map(Contribution::doubtful);
        let time = self.call.time;
        let given = itself.chain(result);
        given.map(|given| Happened { given, time }).collect()
    }
}

/// Runs one random trace through what counts, with restarts between events, and compares each count with the definition.
fn trace(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let marks = marks(&mut dice);
    let mut state = State::new(seed);
    let mut steps: Vec<Step> = Vec::new();
    let (mut now, mut latest) = (1000, 1000);
    // Most are short, because every event is compared with the whole trace before it.
    let longest = if seed.is_multiple_of(500) { 196 } else { 16 };
    for step in 0..4 + dice.below(longest) {
        // The clock goes on, jumps, and is now and then set back.
        now += i64::try_from(dice.below(20)).unwrap() - 4;
        latest = latest.max(now);
        state.see(now, false);
        let id = CallId {
            digest: step,
            is_named: dice.below(2) == 0,
        };
        let mut given = || -> Vec<Contribution> {
            let given: Vec<_> = marks
                .iter()
                .map(|m| m.name)
                .filter(|_| dice.below(2) == 0)
                .collect();
            given
                .into_iter()
                .map(|mark| contribution(&mut dice, mark))
                .collect()
        };
        let (itself, result) = (given(), given());
        let call = Call {
            id,
            time: latest,
            going: Going::Judged,
            itself,
            result: if dice.below(2) == 0 {
                result
            } else {
                Vec::new()
            },
        };
        match dice.below(6) {
            0 | 1 => {
                state.add(&call.itself, latest, &marks);
                let call = Call {
                    going: Going::Gone,
                    result: Vec::new(),
                    ..call
                };
                let is_open = false;
                steps.push(Step { call, is_open });
            }
            2 => {
                state.reserve(call.clone(), &marks);
                let is_open = true;
                steps.push(Step { call, is_open });
            }
            3 => {
                let judged = |step: &Step| step.is_open && step.call.going == Going::Judged;
                if let Some(at) = steps.iter().position(judged) {
                    let going = [None, Some(Going::Gone), Some(Going::Asked)]
                        [usize::try_from(dice.below(3)).unwrap()];
                    let id = steps[at].call.id;
                    if let Some(going) = going {
                        steps[at].call.going = going;
                        state.settle(id, Some(steps[at].call.clone()), &marks);
                    } else {
                        steps.remove(at);
                        state.settle(id, None, &marks);
                    }
                }
            }
            4 => {
                if let Some(step) = steps.iter_mut().find(|step| step.is_open) {
                    state.end(step.call.id, &marks);
                    step.call.going = Going::Gone;
                    step.call.result.clear();
                    step.is_open = false;
                }
            }
            _ => {
                state.give_up(&marks);
                for step in &mut steps {
                    step.is_open = false;
                }
            }
        }
        // A process ends, and another one reads what it wrote.
        if dice.below(3) == 0 {
            let written = serde_json::to_string(&state).unwrap();
            state = serde_json::from_str(&written).unwrap();
        }
        let whole: Vec<Happened> = steps.iter().flat_map(Step::happened).collect();
        for mark in &marks {
            for key in 0..3 {
                let found = state.count(mark, key, now, None);
                let expected = by_definition(&whole, mark, key, latest);
                assert_eq!(
                    found, expected,
                    "seed {seed}, step {step}, {mark:?}, key {key}: {whole:#?}"
                );
                assert!(found.least <= found.most, "seed {seed}");
            }
        }
    }
}

#[test]
fn traces_are_counted_as_defined() {
    for seed in 0..sized(2_000, 150_000) {
        trace(seed);
    }
}

/// Whatever turns out of what cannot be told, lies between the least and the most.
#[test]
fn every_way_in_which_a_doubt_resolves_lies_between() {
    for seed in 0..5_000 {
        let mut dice = Dice(seed * 2 + 1);
        let mark = Definition {
            name: 0,
            meaning: 7,
            window: None,
        };
        let (mut doubtful, mut certain) = (State::new(0), State::new(0));
        for time in 0..12 {
            let mut given = contribution(&mut dice, 0);
            given.keys = Keys::Of(vec![0]);
            given.end_keys = Keys::Of(vec![0]);
            doubtful.add(std::slice::from_ref(&given), time, &[mark]);
            let mut resolve = |truth: Truth| match truth {
                Truth::Maybe if dice.below(2) == 0 => Truth::Yes,
                Truth::Maybe => Truth::No,
                told => told,
            };
            (given.hit, given.end) = (resolve(given.hit), resolve(given.end));
            let weight =
                given.weight.least + dice.below(given.weight.most - given.weight.least + 1);
            given.weight = Count {
                least: weight,
                most: weight,
            };
            certain.add(&[given], time, &[mark]);
            let (range, one) = (
                doubtful.count(&mark, 0, time, None),
                certain.count(&mark, 0, time, None),
            );
            assert_eq!(one.least, one.most);
            assert!(
                (range.least..=range.most).contains(&one.least),
                "seed {seed}: {one:?} in {range:?}"
            );
        }
    }
}

#[test]
fn a_mark_that_changed_begins_at_nothing_to_what_the_old_one_had() {
    let old = Definition {
        name: 0,
        meaning: 1,
        window: None,
    };
    let mut state = State::new(0);
    let given = Contribution {
        mark: 0,
        meaning: 1,
        hit: Truth::Yes,
        end: Truth::No,
        keys: Keys::Of(vec![0]),
        end_keys: Keys::Of(vec![0]),
        weight: Count { least: 3, most: 3 },
    };
    state.add(std::slice::from_ref(&given), 0, &[old]);
    let new = Definition { meaning: 2, ..old };
    assert_eq!(state.count(&new, 0, 0, None), Count { least: 0, most: 3 });
    let given = Contribution {
        meaning: 2,
        ..given
    };
    state.add(&[given], 1, &[new]);
    assert_eq!(state.count(&new, 0, 1, None), Count { least: 3, most: 6 });
}

#[test]
fn of_too_many_values_the_highest_count_is_kept() {
    let mark = Definition {
        name: 0,
        meaning: 1,
        window: None,
    };
    let mut state = State::new(0);
    for key in 0..400_u64 {
        let given = Contribution {
            mark: 0,
            meaning: 1,
            hit: Truth::Yes,
            end: Truth::No,
            keys: Keys::Of(vec![key]),
            end_keys: Keys::Of(vec![key]),
            weight: Count {
                least: key + 1,
                most: key + 1,
            },
        };
        state.add(&[given], 0, &[mark]);
    }
    // It may be one that had to go before.
    let kept = state.count(&mark, 399, 0, None);
    assert!(kept.least == 400 && kept.most < 600, "{kept:?}");
    let gone = state.count(&mark, 0, 0, None);
    assert_eq!(gone.least, 0);
    assert!(gone.most >= 1, "{gone:?}");
}

#[test]
fn a_sum_stops_at_the_greatest_number() {
    let mark = Definition {
        name: 0,
        meaning: 1,
        window: None,
    };
    let mut state = State::new(0);
    for _ in 0..3 {
        let given = Contribution {
            mark: 0,
            meaning: 1,
            hit: Truth::Yes,
            end: Truth::No,
            keys: Keys::Of(vec![0]),
            end_keys: Keys::Of(vec![0]),
            weight: Count {
                least: u64::MAX / 2,
                most: u64::MAX,
            },
        };
        state.add(&[given], 0, &[mark]);
    }
    let most = Count {
        least: u64::MAX,
        most: u64::MAX,
    };
    assert_eq!(state.count(&mark, 0, 0, None), most);
}
