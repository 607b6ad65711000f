//! Coverage: which bindings, conditions and script lines no test has reached.

use std::collections::BTreeMap;
use std::fmt;

use crate::engine::State;
use crate::oracle::rhai;
use crate::verdict::{Outcome, Verdict};

/// What tests have reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    bindings: BTreeMap<(String, String, String), Seen>,
    /// Of each mark of each policy: whether an event fed it, and whether one asked for it.
    marks: BTreeMap<(String, String), (bool, bool)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    ran: bool,
    skipped: bool,
    has_condition: bool,
}

/// Something that no test has reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// A binding never ran.
    Binding {
        /// The policy.
        policy: String,
        /// The trigger.
        trigger: String,
        /// The binding.
        id: String,
    },
    /// The condition of a binding was never met, or never not met.
    Condition {
        /// The policy.
        policy: String,
        /// The trigger.
        trigger: String,
        /// The binding.
        id: String,
        /// What it never was.
        never: bool,
    },
    /// A mark was never fed, or nothing asked for it.
    Mark {
        /// The policy.
        policy: String,
        /// The mark.
        name: String,
        /// What never happened to it: `fed` or `asked for`.
        never: &'static str,
    },
    /// Lines of a script were never reached.
    Lines {
        /// The script.
        script: String,
        /// Its lines.
        lines: Vec<u32>,
    },
}

impl Coverage {
    /// Adds what one evaluation has reached.
    pub(super) fn add(&mut self, policy: &str, state: &State, verdict: &Verdict) {
        for mark in state.policy().marks().iter() {
            let name = &mark.spec().name;
            let seen = self.marks.entry((policy.to_owned(), name.clone()));
            let (fed, asked) = seen.or_default();
            if let Some(record) = verdict.marks.get(name) {
                *fed |= record.fed.is_some();
                *asked |= record.asked.is_some();
            }
        }
        for trigger in state.policy().triggers() {
            let Some(bindings) = state.policy().trigger(trigger, state.lookup()) else {
                continue;
            };
            for (binding, _) in bindings.bindings().filter(|(binding, _)| binding.enabled) {
                let key = (
                    policy.to_owned(),
                    trigger.name().to_owned(),
                    binding.id.to_string(),
                );
                let seen = self.bindings.entry(key).or_default();
                seen.has_condition = !binding.conditions.is_empty();
                if trigger != verdict.trigger {
                    continue;
                }
                match verdict
                    .bindings
                    .iter()
                    .find(|report| *report.id == *binding.id)
                {
                    Some(report) if report.outcome == Outcome::Skipped => seen.skipped = true,
                    Some(report) if report.outcome != Outcome::NotRun => seen.ran = true,
                    _ => {}
                }
            }
        }
    }

    /// Returns how many bindings there are, and how many ran.
    pub fn bindings(&self) -> (usize, usize) {
        let ran = self.bindings.values().filter(|seen| seen.ran).count();
        (self.bindings.len(), ran)
    }

    /// Returns everything that was not reached, with the lines of scripts where they were recorded.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for ((policy, trigger, id), seen) in &self.bindings {
            let (policy, trigger, id) = (policy.clone(), trigger.clone(), id.clone());
            if !seen.ran {
                gaps.push(Gap::Binding {
                    policy,
                    trigger,
                    id,
                });
            } else if seen.has_condition && !seen.skipped {
                gaps.push(Gap::Condition {
                    policy,
                    trigger,
                    id,
                    never: false,
                });
            }
        }
        for ((policy, name), (fed, asked)) in &self.marks {
            let never = match (fed, asked) {
                (false, _) => "fed",
                (true, false) => "asked for",
                (true, true) => continue,
            };
            gaps.push(Gap::Mark {
                policy: policy.clone(),
                name: name.clone(),
                never,
            });
        }
        let missed = rhai::coverage::missed().into_iter();
        gaps.extend(missed.map(|(script, lines)| Gap::Lines { script, lines }));
        gaps
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binding {
                policy,
                trigger,
                id,
            } => write!(f, "{policy}: the binding `{id}` at {trigger} never ran"),
            Self::Condition {
                policy,
                trigger,
                id,
                never,
            } => write!(
                f,
                "{policy}: the condition of `{id}` at {trigger} was never {never}"
            ),
            Self::Mark {
                policy,
                name,
                never,
            } => write!(f, "{policy}: the mark `{name}` was never {never}"),
            Self::Lines { script, lines } => {
                write!(f, "{script}: never reached: {}", ranges(lines))
            }
        }
    }
}

/// Writes sorted numbers with runs as ranges: `3-5, 9`.
fn ranges(lines: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &line in lines {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => runs.push((line, line)),
        }
    }
    let told: Vec<_> = runs
        .iter()
        .map(|&(first, last)| {
            if first == last {
                format!("line {first}")
            } else {
                format!("lines {first}-{last}")
            }
        })
        .collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn runs_of_lines_are_one_range() {
        assert_eq!(ranges(&[3, 4, 5, 9]), "lines 3-5, line 9");
    }
}
