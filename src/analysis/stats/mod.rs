//! Stats: how often each binding fires, how it is answered, how long a repair takes (spec §8).

mod figures;
mod histogram;
mod keys;
mod slice;

pub use self::figures::Figures;
pub use self::figures::Intensities;
pub use self::figures::REPAIR_CLASSES;

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::VecDeque;

use chrono::DateTime;
use chrono::Utc;
use rayon::iter::IntoParallelRefIterator as _;
use rayon::iter::ParallelIterator as _;
use serde::Serialize;

use self::figures::Counts;
use self::keys::ByKey;
use self::keys::Key;
use self::keys::Keys;
use self::slice::BindingName;
use self::slice::Group;
use self::slice::NONE;
use self::slice::Named;
use self::slice::Ordered;
use self::slice::Slice;
use super::Filter;
use crate::signal::Action;
use crate::signal_log::LogError;
use crate::signal_log::Reader;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// How much one thread counts at a time.
const SHARE: usize = 1 << 20;
/// Of how many answered signals it is remembered that they were: a second answer takes the place of the first.
const REMEMBERED: usize = 1 << 16;

/// What a log says about the policy.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// When the first record was written.
    pub since: Option<DateTime<Utc>>,
    /// When the last one was.
    pub until: Option<DateTime<Utc>>,
    /// How many records were read.
    pub records: u64,
    /// How many lines are no records.
    pub bad_lines: u64,
    /// How many events were evaluated.
    pub evaluations: u64,
    /// How often each trigger came.
    pub hooks: BTreeMap<String, u64>,
    /// How they were decided.
    pub decisions: BTreeMap<&'static str, u64>,
    /// All signals.
    pub signals: Intensities,
    /// All answers.
    pub responses: BTreeMap<&'static str, u64>,
    /// All bindings together.
    pub total: Figures,
    /// Each binding, the most active first.
    pub bindings: Vec<BindingStats>,
    /// Each oracle.
    pub oracles: Vec<NamedFigures>,
    /// Each issue.
    pub issues: Vec<GroupStats>,
    /// Each host.
    pub hosts: Vec<GroupStats>,
    /// Each day that has records, in order (UTC).
    pub days: Vec<GroupStats>,
}

/// What is known of a binding.
#[derive(Clone, Debug, Serialize)]
pub struct BindingStats {
    /// The binding's id.
    pub id: String,
    /// Its trigger.
    pub hook: String,
    /// Its oracle.
    pub oracle: String,
    /// `file:line` of it.
    pub source: String,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What is known of an oracle.
#[derive(Clone, Debug, Serialize)]
pub struct NamedFigures {
    /// The oracle.
    pub name: String,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What is known of an issue, a host or a day.
#[derive(Clone, Debug, Serialize)]
pub struct GroupStats {
    /// The issue, host or day.
    pub name: String,
    /// How many events were evaluated.
    pub evaluations: u64,
    /// How many of them were stopped.
    pub stopped: u64,
    /// The signals.
    pub signals: Intensities,
    /// How many of them were answered.
    pub answered: u64,
    /// How many violations were repaired.
    pub repaired: u64,
    /// How long that took.
    pub mean_time_to_repair_s: Option<f64>,
    /// When its first event was.
    pub first: Option<DateTime<Utc>>,
    /// When its last event was.
    pub last: Option<DateTime<Utc>>,
}

impl Stats {
    /// Counts a log; the memory does not grow with it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn collect(reader: &Reader, filter: &Filter) -> Result<Self, LogError> {
        let keys = Keys::default();
        let mut sums = Sums::default();
        let mut blocks = reader.blocks(None);
        let mut counted = Vec::new();
        let mut spare = Vec::new();
        let mut taken = blocks.take_block(Vec::new())?;
        // While one block is counted, the one before is added up and the next one read.
        while let Some(block) = taken {
            let (slices, next) = rayon::join(
                || count(&block, filter, &keys),
                || {
                    for slice in counted {
                        sums.add(slice, &keys);
                    }
                    blocks.take_block(spare)
                },
            );
            counted = slices;
            taken = next?;
            spare = block;
        }
        for slice in counted {
            sums.add(slice, &keys);
        }
        Ok(sums.finish(filter.oracle.is_some()))
    }
}

fn count(block: &[u8], filter: &Filter, keys: &Keys) -> Vec<Slice> {
    shares(block)
        .par_iter()
        .map(|bytes| Slice::count(bytes, filter, keys))
        .collect()
}

/// Cuts bytes at ends of lines into pieces of about one share.
fn shares(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut shares = Vec::new();
    while bytes.len() > SHARE {
        let rest = bytes.get(SHARE..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |newline| SHARE + newline + 1);
        let (share, rest) = bytes.split_at(end);
        shares.push(share);
        bytes = rest;
    }
    shares.push(bytes);
    shares
}

/// A chain that is not closed: see `signal_log::chain`, whose rules these are.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    violations: u64,
    since_ms: i64,
    counted: bool,
}

/// What has been counted so far.
#[derive(Debug, Default)]
struct Sums {
    records: u64,
    bad_lines: u64,
    evaluations: u64,
    hooks: BTreeMap<String, u64>,
    decisions: [u64; 4],
    bindings: Named<BindingName, Counts>,
    issues: Named<String, Group>,
    hosts: Named<String, Group>,
    days: Named<String, Group>,
    open: HashMap<Key, Open, ByKey>,
    answered: HashMap<Key, (Action, bool), ByKey>,
    answered_in_order: VecDeque<Key>,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
}

impl Sums {
    fn add(&mut self, slice: Slice, keys: &Keys) {
        self.records += slice.records;
        self.bad_lines += slice.bad_lines;
        self.evaluations += slice.evaluations;
        for (hook, count) in slice.hooks.items {
            *self.hooks.entry(hook).or_default() += count;
        }
        for (sum, count) in self.decisions.iter_mut().zip(slice.decisions) {
            *sum += count;
        }
        self.first_ms = self.first_ms.or(slice.first_ms);
        self.last_ms = slice.last_ms.or(self.last_ms);
        let mut bindings = Vec::with_capacity(slice.bindings.items.len());
        for (name, (counts, durations)) in slice.bindings.items {
            let key = keys.of(&name.hook).with(keys.of(&name.id));
            let place = self.bindings.place(key, || name.clone());
            bindings.push(place);
            let known = usize::try_from(place).ok();
            if let Some((known, sum)) = known.and_then(|p| self.bindings.items.get_mut(p)) {
                // The place is the latest; an answer knows no oracle.
                if !name.source.is_empty() {
                    known.source = name.source;
                }
                if !name.oracle.is_empty() {
                    known.oracle = name.oracle;
                }
                sum.merge(&counts);
                for duration in durations {
                    sum.durations.add(duration);
                }
            }
        }
        let issues = merge_groups(&mut self.issues, slice.issues, keys);
        merge_groups(&mut self.hosts, slice.hosts, keys);
        let days = merge_groups(&mut self.days, slice.days, keys);
        for event in slice.ordered {
            self.follow(event, &bindings, &issues, &days);
        }
    }

    /// Takes what depends on the order of the records.
    fn follow(&mut self, event: Ordered, bindings: &[u32], issues: &[u32], days: &[u32]) {
        let global = |places: &[u32], place: u32| {
            usize::try_from(place)
                .ok()
                .and_then(|p| places.get(p))
                .copied()
                .unwrap_or(NONE)
        };
        match event {
            Ordered::Judged {
                chain,
                binding,
                issue,
                outcome,
                waived,
                ms,
            } => match outcome {
                Outcome::Accepted => {
                    let Some(open) = self.open.remove(&chain) else {
                        return;
                    };
                    if waived || open.violations == 0 {
                        return;
                    }
                    let took = u64::try_from(ms - open.since_ms).unwrap_or(0);
                    let tries = open.violations + 1;
                    if let Some(counts) = self.bindings.at(global(bindings, binding)) {
                        counts.add_repair(took, tries);
                    }
                    if let Some(group) = self.issues.at(global(issues, issue)) {
                        group.counts.add_repair(took, tries);
                    }
                }
                Outcome::Signalled => {
                    if let Some(open) = self.open.get_mut(&chain) {
                        open.counted = false;
                    }
                }
                Outcome::Failed => self.open.entry(chain).or_default().counted = true,
                Outcome::Skipped | Outcome::NotRun | Outcome::Disabled | Outcome::Started => {}
            },
            Ordered::Violated { chain, ms } => {
                let open = self.open.entry(chain).or_default();
                if !open.counted {
                    open.counted = true;
                    open.violations += 1;
                    if open.violations == 1 {
                        open.since_ms = ms;
                    }
                }
            }
            Ordered::Answered {
                signal,
                binding,
                issue,
                day,
                action,
                inferred,
            } => {
                let before = self.answered.get(&signal).copied();
                // What was said is not undone by what is concluded later.
                if before.is_some_and(|(_, was_inferred)| inferred && !was_inferred) {
                    return;
                }
                self.answered.insert(signal, (action, inferred));
                if before.is_none() {
                    self.answered_in_order.push_back(signal);
                    if self.answered_in_order.len() > REMEMBERED
                        && let Some(oldest) = self.answered_in_order.pop_front()
                    {
                        self.answered.remove(&oldest);
                    }
                }
                for counts in [
                    self.bindings.at(global(bindings, binding)),
                    self.issues.at(global(issues, issue)).map(|g| &mut g.counts),
                    self.days.at(global(days, day)).map(|g| &mut g.counts),
                ]
                .into_iter()
                .flatten()
                {
                    if let Some((action, was_inferred)) = before {
                        if let Some(count) = counts.responses.get_mut(&action) {
                            *count = count.saturating_sub(1);
                        }
                        counts.inferred -= u64::from(was_inferred && counts.inferred > 0);
                    }
                    *counts.responses.entry(action).or_default() += 1;
                    counts.inferred += u64::from(inferred);
                }
            }
        }
    }

    /// Puts the figures together; of one oracle only where the answers, which know no oracle, are not to be counted by
    /// themselves.
    fn finish(self, of_one_oracle: bool) -> Stats {
        let mut total = Counts::default();
        let mut oracles: BTreeMap<String, Counts> = BTreeMap::new();
        let mut bindings = Vec::with_capacity(self.bindings.items.len());
        for (name, counts) in self.bindings.items {
            if of_one_oracle && name.oracle.is_empty() {
                continue;
            }
            total.merge(&counts);
            oracles
                .entry(name.oracle.clone())
                .or_default()
                .merge(&counts);
            bindings.push(BindingStats {
                id: name.id,
                hook: name.hook,
                oracle: name.oracle,
                source: name.source,
                figures: counts.figures(),
            });
        }
        bindings.sort_by(|a, b| {
            let activity = |s: &BindingStats| (s.figures.signals.total(), s.figures.triggered);
            activity(b)
                .cmp(&activity(a))
                .then_with(|| (&a.hook, &a.id).cmp(&(&b.hook, &b.id)))
        });
        let total = total.figures();
        let names = [
            Decision::None,
            Decision::Allow,
            Decision::Ask,
            Decision::Block,
        ];
        Stats {
            since: self.first_ms.and_then(DateTime::from_timestamp_millis),
            until: self.last_ms.and_then(DateTime::from_timestamp_millis),
            records: self.records,
            bad_lines: self.bad_lines,
            evaluations: self.evaluations,
            hooks: self.hooks,
            decisions: names
                .into_iter()
                .zip(self.decisions)
                .map(|(decision, count)| (decision.name(), count))
                .collect(),
            signals: total.signals,
            responses: total.responses.clone(),
            total,
            bindings,
            oracles: oracles
                .into_iter()
                .map(|(name, counts)| NamedFigures {
                    name,
                    figures: counts.figures(),
                })
                .collect(),
            issues: groups(self.issues),
            hosts: groups(self.hosts),
            days: groups(self.days),
        }
    }
}

/// Adds the groups of a slice; returns the place of each in the sums.
fn merge_groups(
    sums: &mut Named<String, Group>,
    slice: Named<String, Group>,
    keys: &Keys,
) -> Vec<u32> {
    let mut places = Vec::with_capacity(slice.items.len());
    for (name, group) in slice.items {
        let place = sums.place(keys.of(&name), || name);
        places.push(place);
        if let Some(sum) = sums.at(place) {
            sum.evaluations += group.evaluations;
            sum.stopped += group.stopped;
            sum.counts.merge(&group.counts);
            sum.first_ms = sum.first_ms.or(group.first_ms);
            sum.last_ms = group.last_ms.or(sum.last_ms);
        }
    }
    places
}

fn groups(groups: Named<String, Group>) -> Vec<GroupStats> {
    let mut stats: Vec<GroupStats> = groups
        .items
        .into_iter()
        .map(|(name, group)| {
            let figures = group.counts.figures();
            GroupStats {
                name,
                evaluations: group.evaluations,
                stopped: group.stopped,
                signals: figures.signals,
                answered: figures.answered,
                repaired: figures.repaired,
                mean_time_to_repair_s: figures.mean_time_to_repair_s,
                first: group.first_ms.and_then(DateTime::from_timestamp_millis),
                last: group.last_ms.and_then(DateTime::from_timestamp_millis),
            }
        })
        // A session that was answered in stands among the issues until here.
        .filter(|group| group.evaluations > 0 || group.signals.total() > 0)
        .collect();
    stats.sort_by(|a, b| a.name.cmp(&b.name));
    stats
}
