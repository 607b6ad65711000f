//! Mark: what counts events, compiled; and what one event adds to it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::condition::Condition;
use crate::config::{MarkSpec, Node, covers};
use crate::diagnostic::{Code, Diagnostic};
use crate::event::Trigger;
use crate::fact::{Fact, FactSource, FactType, FactValue, Facts};
use crate::session::{Contribution, Count, Definition, Keys, Scope, State, Truth, Window, digest};

/// Bump it, and every mark begins again: what is stored of them would mean something else.
const MEANING: u64 = 1;

/// A mark that something asks for.
#[derive(Debug)]
pub struct Mark {
    spec: MarkSpec,
    definition: Definition,
    by: Option<Fact>,
    add: Option<Fact>,
    hit: Part,
    ends: Vec<Part>,
}

/// Which events a mark counts, or is set back by.
#[derive(Debug)]
struct Part {
    on: Vec<Trigger>,
    when: Option<Node>,
    compiled: OnceLock<Result<Condition, Vec<Diagnostic>>>,
}

impl Part {
    fn new(on: &[Trigger], when: Option<&Node>) -> Self {
        Self {
            on: on.to_vec(),
            when: when.cloned(),
            compiled: OnceLock::new(),
        }
    }

    fn is_of(&self, trigger: Trigger) -> bool {
        self.on.iter().any(|on| covers(*on, trigger))
    }

    /// Whether an event is meant; what has faults cannot be told.
    fn holds(&self, facts: &Facts) -> Truth {
        match self.condition() {
            None => Truth::Yes,
            Some(Ok(condition)) => Truth::of(condition.told(facts)),
            Some(Err(_)) => Truth::Maybe,
        }
    }

    fn condition(&self) -> Option<&Result<Condition, Vec<Diagnostic>>> {
        let when = self.when.as_ref()?;
        Some(self.compiled.get_or_init(|| {
            let mut faults = Vec::new();
            Condition::compile(when, &mut faults).ok_or(faults)
        }))
    }

    fn faults(&self) -> Vec<Diagnostic> {
        match self.condition() {
            Some(Err(faults)) => faults.clone(),
            _ => Vec::new(),
        }
    }
}

impl Mark {
    /// Makes one of what the layers say; none where nothing asks for it.
    pub fn new(spec: &MarkSpec) -> Option<Self> {
        let asked = usize::try_from(spec.asked?).unwrap_or(usize::MAX);
        let fact = |name: &Option<String>| name.as_deref().and_then(Fact::find);
        let ends = spec.until.iter().flatten();
        Some(Self {
            definition: Definition {
                name: digest([spec.name.as_bytes()]),
                meaning: digest([
                    &MEANING.to_le_bytes()[..],
                    spec.meaning().to_string().as_bytes(),
                ]),
                window: spec.within.map(|within| Window {
                    within: i64::try_from(within.as_millis()).unwrap_or(i64::MAX),
                    // One more than it is compared with: beyond that all counts are alike.
                    ring: asked.saturating_add(1),
                }),
            },
            by: fact(&spec.by),
            add: fact(&spec.add),
            hit: Part::new(&spec.on, spec.when.as_ref()),
            ends: ends
                .map(|end| Part::new(&end.on, end.when.as_ref()))
                .collect(),
            spec: spec.clone(),
        })
    }

    /// Returns what was written of it.
    pub const fn spec(&self) -> &MarkSpec {
        &self.spec
    }

    /// Returns how it counts.
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns how many it counts at most; none where it counts without end.
    pub fn ring(&self) -> Option<u64> {
        Some(self.definition.window?.ring as u64)
    }

    /// Returns whose events are counted together.
    pub fn scope(&self) -> Scope {
        self.spec.scope()
    }

    /// Whether events of a trigger count or set it back.
    pub fn is_fed_at(&self, trigger: Trigger) -> bool {
        self.hit.is_of(trigger) || self.ends.iter().any(|end| end.is_of(trigger))
    }

    /// Whether what it needs to know is at hand: no program is run for it, and no issue opened.
    pub fn only_computes(&self) -> bool {
        let is_at_hand = |fact: Fact| {
            !matches!(
                fact.source(),
                FactSource::Issue | FactSource::Git | FactSource::Tests
            )
        };
        let parts = std::iter::once(&self.hit).chain(&self.ends);
        let conditions = parts.filter_map(|part| part.condition()?.as_ref().ok());
        let own = self.by.into_iter().chain(self.add);
        self.scope() != Scope::Issue
            && conditions
                .flat_map(Condition::facts)
                .chain(own)
                .all(is_at_hand)
    }

    /// Returns every fault of its conditions and facts.
    pub fn faults(&self) -> Vec<Diagnostic> {
        let mut faults = self.hit.faults();
        faults.extend(self.ends.iter().flat_map(Part::faults));
        let span = |key: &str| {
            let mut given = self.spec.provenance.iter().rev();
            given
                .find(|p| p.key == key)
                .map_or(self.spec.span, |p| p.span)
        };
        for (key, name) in [("by", &self.spec.by), ("add", &self.spec.add)] {
            let Some(name) = name else { continue };
            let names = Fact::ALL.iter().filter(|fact| **fact != Fact::Mark);
            match Fact::find(name).filter(|fact| *fact != Fact::Mark) {
                None => faults.push(
                    Diagnostic::error(
                        Code::UnknownFact,
                        format!("no event has a fact `{name}`"),
                        span(key),
                    )
                    .did_you_mean(name, names.map(|fact| fact.name()))
                    .help("`ahp explain --facts` lists every fact"),
                ),
                Some(fact) if key == "add" && !is_number(fact) => faults.push(
                    Diagnostic::error(
                        Code::BadValue,
                        format!("`{fact}` is not a number, and cannot be added up"),
                        span(key),
                    )
                    .help("name a fact that is a number, such as `tool.lines`"),
                ),
                Some(_) => {}
            }
        }
        faults
    }

    /// Returns what an event adds.
    pub fn contribution(&self, facts: &Facts, state: &State) -> Contribution {
        let trigger = facts.event().trigger;
        let holds = |part: &Part| {
            if part.is_of(trigger) {
                part.holds(facts)
            } else {
                Truth::No
            }
        };
        let (mut hit, mut end) = (holds(&self.hit), Truth::No);
        end = self.ends.iter().map(holds).fold(end, Truth::max);
        let keys = self.keys(facts, state);
        let end_keys = match &keys {
            // What lacks the fact sets all back.
            Some(Keys::Of(keys)) if keys.is_empty() => Keys::All,
            Some(keys) => keys.clone(),
            None => {
                end = end.min(Truth::Maybe);
                Keys::All
            }
        };
        let keys = keys.unwrap_or_else(|| {
            hit = hit.min(Truth::Maybe);
            Keys::All
        });
        Contribution {
            mark: self.definition.name,
            meaning: self.definition.meaning,
            hit,
            end,
            keys,
            end_keys,
            weight: self.weight(facts),
        }
    }

    /// Returns what it is for an event that asks: of several values the highest counts.
    pub fn count(&self, facts: &Facts, count: impl Fn(u64) -> Count, state: &State) -> Count {
        match self.keys(facts, state) {
            Some(Keys::Of(keys)) => {
                let counts = keys.into_iter().map(count);
                counts.fold(Count::default(), |highest, one| Count {
                    least: highest.least.max(one.least),
                    most: highest.most.max(one.most),
                })
            }
            Some(Keys::All) | None => Count::UNKNOWN,
        }
    }

    /// Returns the values for which an event counts; none where that cannot be told.
    fn keys(&self, facts: &Facts, state: &State) -> Option<Keys> {
        let Some(by) = self.by else {
            return Some(Keys::Of(vec![0]));
        };
        let values: Vec<u64> = match facts.get(by) {
            FactValue::Unknown => return None,
            FactValue::Absent => Vec::new(),
            FactValue::List(values) => values.iter().map(|value| state.key(value)).collect(),
            one => one
                .as_text()
                .map(|value| state.key(&value))
                .into_iter()
                .collect(),
        };
        // An event counts once for each, however often it has it.
        let values: BTreeSet<u64> = values.into_iter().collect();
        Some(Keys::Of(values.into_iter().collect()))
    }

    fn weight(&self, facts: &Facts) -> Count {
        let Some(add) = self.add else {
            return Count { least: 1, most: 1 };
        };
        let number = match facts.get(add) {
            FactValue::Unknown => return Count::UNKNOWN,
            FactValue::Integer(number) => u64::try_from(number).unwrap_or(0),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "such a cast stays within the type, and what is below 0 or not a number is 0"
            )]
            FactValue::Number(number) if number.is_finite() => number as u64,
            _ => 0,
        };
        Count {
            least: number,
            most: number,
        }
    }
}

fn is_number(fact: Fact) -> bool {
    matches!(
        fact.value_type(),
        FactType::Integer | FactType::Number | FactType::Duration
    )
}
