//! Gathered: the sums of many machines, as rows that `fleet/sums.py` counted, put into the figures that a log gives.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};

use super::figures::{Counts, Fates, Intensities, Kind, Repairs, mean};
use super::whole::{self, BindingName, FindingName};
use super::{BindingStats, Figures, GroupStats, NamedFigures, Stats};
use crate::signal::Action;

/// What only the logs of many machines together tell.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Gathered {
    /// How many machines the records are of.
    pub machines: u64,
    /// How many logs.
    pub logs: u64,
    /// Each team; without a name, what no team is known of.
    pub teams: Vec<PartStats>,
    /// Each repository, as it was shipped.
    pub repos: Vec<PartStats>,
    /// Each policy that judged: `acme@42+…`, or the digest of the layers.
    pub policies: Vec<PartStats>,
    /// The logs of which records are missing or came twice.
    pub gaps: Vec<Gap>,
    /// The machines that sent records before, and none for three days.
    pub silent: Vec<Silent>,
}

/// What is known of a team, a repository or a policy.
#[derive(Clone, Debug, Serialize)]
pub struct PartStats {
    /// Its figures.
    #[serde(flatten)]
    pub group: GroupStats,
    /// Those of each binding, the most active first.
    pub bindings: Vec<BindingStats>,
}

/// A log of which records are missing or came twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The log.
    pub log_id: String,
    /// The number of its first record that came.
    pub first_seq: u64,
    /// That of the last.
    pub last_seq: u64,
    /// How many in between did not come.
    pub missing: u64,
    /// How many came more than once.
    pub doubled: u64,
}

/// A machine that has fallen silent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Silent {
    /// The machine.
    pub machine: String,
    /// When its last record was written.
    pub last: DateTime<Utc>,
}

/// One row, and where it stands.
struct Row {
    line: usize,
    fields: Map<String, Value>,
}

/// Bindings as they are counted, with the percentiles that were counted elsewhere.
#[derive(Default)]
struct Bindings {
    counted: Vec<(BindingName, Counts)>,
    places: HashMap<(String, String), usize>,
    percentiles: HashMap<(String, String), [Option<u64>; 2]>,
}

/// The groups of one kind by name, with the bindings of each.
type Parts = BTreeMap<String, (GroupStats, Bindings)>;

impl Stats {
    /// Reads sums of many machines: the rows of `fleet/sums.py LAKE all`, one JSON object a line.
    ///
    /// Objects, sessions and marks are not gathered; there are none of them.
    ///
    /// # Errors
    /// The line that is not such a row, and what it lacks; or that the rows are not whole.
    pub fn of_sums(text: &str) -> Result<Self, String> {
        let mut whole = None;
        let mut gathered = Gathered::default();
        let (mut bindings, mut rules) = (Bindings::default(), Vec::new());
        let (mut hooks, mut decisions) = (BTreeMap::new(), [0; 4]);
        let mut parts: BTreeMap<String, Parts> = BTreeMap::new();
        for row in rows(text) {
            let row = row?;
            let by = row.text("by")?;
            match (row.text("sums")?.as_str(), by.as_str()) {
                ("bindings", "") => bindings.add(&row)?,
                ("bindings", _) => {
                    let part = parts.entry(by).or_default();
                    part.entry(row.text("grp")?).or_default().1.add(&row)?;
                }
                ("groups", _) => {
                    let part = parts.entry(by).or_default();
                    part.entry(row.text("grp")?).or_default().0 = row.group()?;
                }
                ("rules", "") => {
                    let name = FindingName {
                        binding: bindings.place(&row)?,
                        rule: row.text("rule")?,
                        object: None,
                    };
                    let kind = Kind {
                        signals: row.signals()?,
                        fates: row.fates()?,
                        repairs: Repairs::default(),
                    };
                    rules.push((name, kind));
                }
                ("events", "") => {
                    let count = row.count("evaluations")?;
                    *hooks.entry(row.text("hook")?).or_default() += count;
                    let name = row.text("decision")?;
                    let all = whole::DECISIONS.into_iter().zip(&mut decisions);
                    let mut known = all.filter(|(decision, _)| decision.name() == name);
                    match known.next() {
                        Some((_, sum)) => *sum += count,
                        None => return Err(row.fault(&format!("`{name}` is not a decision"))),
                    }
                }
                ("gaps", "") => gathered.gaps.push(Gap {
                    log_id: row.text("log_id")?,
                    first_seq: row.count("first_seq")?,
                    last_seq: row.count("last_seq")?,
                    missing: row.count("missing")?,
                    doubled: row.count("doubled")?,
                }),
                ("silent", "") => gathered.silent.push(Silent {
                    machine: row.text("machine")?,
                    last: row.time("last_ms")?,
                }),
                ("records", "") if whole.is_some() => {
                    return Err(
                        row.fault("a second row of the `records`: these are the sums of two lakes")
                    );
                }
                ("records", "") => {
                    gathered.machines = row.count("machines")?;
                    gathered.logs = row.count("logs")?;
                    let times = (row.time("first_ms")?, row.time("last_ms")?);
                    whole = Some((row.count("records")?, times));
                }
                (sums, _) => {
                    return Err(row.fault(&format!("`{sums}` is not a known kind of sums")));
                }
            }
        }
        let (records, (since, until)) = whole.ok_or(
            "the rows are not whole: that of the `records` is not there, which `fleet/sums.py LAKE all` writes last",
        )?;
        let mut rules = whole::kinds(rules, &bindings.counted);
        for rule in &mut rules {
            // What the repairs of one rule took is not gathered.
            (rule.mean_time_to_repair_s, rule.mean_tries, rule.mean_turns) = (None, None, None);
        }
        let (total, bindings, oracles) = bindings.finish();
        let mut groups = |by: &str| parts.remove(by).unwrap_or_default();
        let named = |parts: Parts| -> Vec<GroupStats> {
            let parts = parts.into_values().map(|(group, _)| group);
            parts.filter(|group| !group.name.is_empty()).collect()
        };
        let all = |parts: Parts| -> Vec<PartStats> {
            let parts = parts.into_values().map(|(group, bindings)| PartStats {
                group,
                bindings: bindings.finish().1,
            });
            parts.collect()
        };
        let mut stats = Self {
            since: Some(since),
            until: Some(until),
            records,
            bad_lines: 0,
            evaluations: decisions.iter().sum(),
            hooks,
            decisions: whole::decisions(decisions),
            signals: total.signals,
            responses: total.responses.clone(),
            total,
            bindings,
            oracles,
            marks: BTreeMap::new(),
            issues: named(groups("issue")),
            hosts: named(groups("host")),
            agents: Vec::new(),
            days: whole::every_day(named(groups("day"))),
            sessions: Vec::new(),
            rules,
            findings: Vec::new(),
            gathered: None,
        };
        gathered.teams = all(groups("team"));
        gathered.repos = all(groups("repo"));
        gathered.policies = all(groups("policy"));
        stats.gathered = Some(gathered);
        Ok(stats)
    }
}

fn rows(text: &str) -> impl Iterator<Item = Result<Row, String>> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, text)| !text.trim().is_empty());
    lines.map(|(place, text)| match serde_json::from_str(text) {
        Ok(fields) => Ok(Row {
            line: place + 1,
            fields,
        }),
        Err(error) => Err(format!(
            "line {}: no row of `fleet/sums.py LAKE all`: {error}",
            place + 1
        )),
    })
}

impl Bindings {
    /// Returns the place of the binding that a row is of, which is made where it is new.
    fn place(&mut self, row: &Row) -> Result<usize, String> {
        let key = (row.text("hook")?, row.text("binding")?);
        Ok(*self.places.entry(key).or_insert_with_key(|(hook, id)| {
            let name = BindingName {
                hook: hook.clone(),
                id: id.clone(),
                oracle: String::new(),
                source: String::new(),
            };
            self.counted.push((name, Counts::default()));
            self.counted.len() - 1
        }))
    }

    fn add(&mut self, row: &Row) -> Result<(), String> {
        let place = self.place(row)?;
        let Some((name, counts)) = self.counted.get_mut(place) else {
            return Ok(());
        };
        (name.oracle, name.source) = (row.text("oracle")?, row.text("source")?);
        *counts = row.counts()?;
        let told = [row.percentile("p50_us")?, row.percentile("p99_us")?];
        let key = (name.hook.clone(), name.id.clone());
        self.percentiles.insert(key, told);
        Ok(())
    }

    /// Puts the figures together. Percentiles cannot be added up, and turns are not gathered: there are none of oracles and of all.
    fn finish(self) -> (Figures, Vec<BindingStats>, Vec<NamedFigures>) {
        let (mut total, mut bindings, mut oracles) = whole::bindings(self.counted);
        total.mean_turns = None;
        for oracle in &mut oracles {
            oracle.figures.mean_turns = None;
        }
        for binding in &mut bindings {
            let key = (binding.hook.clone(), binding.id.clone());
            let [p50, p99] = self.percentiles.get(&key).copied().unwrap_or_default();
            let figures = &mut binding.figures;
            (figures.p50_us, figures.p99_us, figures.mean_turns) = (p50, p99, None);
        }
        (total, bindings, oracles)
    }
}

impl Row {
    fn fault(&self, what: &str) -> String {
        format!("line {}: {what}", self.line)
    }

    fn text(&self, key: &str) -> Result<String, String> {
        let text = self.fields.get(key).and_then(Value::as_str);
        text.map(str::to_owned)
            .ok_or_else(|| self.fault(&format!("expected a text at `{key}`")))
    }

    fn count(&self, key: &str) -> Result<u64, String> {
        let count = self.fields.get(key).and_then(Value::as_u64);
        count.ok_or_else(|| self.fault(&format!("expected a whole number, 0 or more, at `{key}`")))
    }

    fn percentile(&self, key: &str) -> Result<Option<u64>, String> {
        match self.fields.get(key) {
            Some(Value::Null) => Ok(None),
            _ => self.count(key).map(Some),
        }
    }

    /// A group of which there are signals alone has no time.
    fn time_of_group(&self, key: &str) -> Result<Option<DateTime<Utc>>, String> {
        match self.fields.get(key) {
            Some(Value::Null) => Ok(None),
            _ => self.time(key).map(Some),
        }
    }

    fn time(&self, key: &str) -> Result<DateTime<Utc>, String> {
        let milliseconds = self.fields.get(key).and_then(Value::as_i64);
        milliseconds
            .and_then(DateTime::from_timestamp_millis)
            .ok_or_else(|| self.fault(&format!("expected milliseconds since 1970 at `{key}`")))
    }

    fn signals(&self) -> Result<Intensities, String> {
        Ok(Intensities {
            block: self.count("blocks")?,
            control: self.count("controls")?,
            prompt: self.count("prompts")?,
            aid: self.count("aids")?,
        })
    }

    fn fates(&self) -> Result<Fates, String> {
        Ok(Fates {
            findings: self.count("findings")?,
            occasions: self.count("occasions")?,
            repaired: self.count("repaired")?,
            overridden: self.count("overridden")?,
            overridden_by_agent: self.count("overridden_by_agent")?,
            dismissed: self.count("dismissed")?,
            dismissed_by_agent: self.count("dismissed_by_agent")?,
            heeded: self.count("heeded")?,
            ignored: self.count("ignored")?,
        })
    }

    fn counts(&self) -> Result<Counts, String> {
        let mut responses = BTreeMap::new();
        for action in Action::ALL {
            responses.insert(*action, self.count(action.name())?);
        }
        let fates = self.fates()?;
        let mut counts = Counts {
            triggered: self.count("triggered")?,
            accepted: self.count("accepted")?,
            signalled: self.count("signalled")?,
            errors: self.count("errors")?,
            timeouts: self.count("timeouts")?,
            signals: self.signals()?,
            responses,
            refused: self.count("refused")?,
            inferred: self.count("inferred")?,
            fates,
            repairs: Repairs {
                milliseconds: self.count("repair_ms")?,
                tries: self.count("tries")?,
                turns: 0,
            },
            hard_repairs: self.count("hard_repairs")?,
            slow_runs: self.count("slow_runs")?,
            ..Counts::default()
        };
        // They come cumulated: how many repairs took less than so long.
        let below = ["in_1m", "in_5m", "in_15m", "in_1h", "in_4h", "in_1d"];
        let mut before = 0;
        for (class, key) in counts.repair_times.iter_mut().zip(below) {
            let until = self.count(key)?;
            *class = until.saturating_sub(before);
            before = until;
        }
        if let Some(longer) = counts.repair_times.last_mut() {
            *longer = fates.repaired.saturating_sub(before);
        }
        Ok(counts)
    }

    fn group(&self) -> Result<GroupStats, String> {
        let fates = self.fates()?;
        Ok(GroupStats {
            name: self.text("grp")?,
            evaluations: self.count("evaluations")?,
            stopped: self.count("stopped")?,
            signals: self.signals()?,
            answered: self.count("answered")?,
            fates,
            mean_time_to_repair_s: mean(self.count("repair_ms")?, fates.repaired)
                .map(|ms| ms / 1000.0),
            mean_turns: None,
            first: self.time_of_group("first_ms")?,
            last: self.time_of_group("last_ms")?,
        })
    }
}
