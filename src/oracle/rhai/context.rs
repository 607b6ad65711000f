//! The context that a script sees: the facts of the event, each made a script's value when it is first asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Dynamic, Engine, ImmutableString, Map};

use super::extra::{EXTRAS, issue};
use super::limits::{Fallible, failure};
use super::list::List;
use super::value;
use crate::diagnostic::nearest;
use crate::event::ToolKind;
use crate::fact::{Fact, FactSource, FactType, FactValue, Facts};
use crate::session::Count;
use crate::workspace::GitError;

/// The function that gives a mark from least to most.
pub(super) const MARK: &str = "mark";

/// Before the name of a mark.
pub(super) const MARKS: &str = "marks.";

/// What one run of a script sees.
#[derive(Debug)]
struct View {
    facts: Facts,
    config: Arc<Map>,
    lists: Mutex<HashMap<Fact, List>>,
}

/// The context itself: `ctx`.
#[derive(Clone, Debug)]
pub(super) struct Root(Arc<View>);

/// A part of the context: `ctx.issue`.
#[derive(Clone, Debug)]
struct Section {
    view: Arc<View>,
    name: &'static str,
}

impl Root {
    pub(super) fn new(facts: Facts, config: Arc<Map>) -> Self {
        Self(Arc::new(View {
            facts,
            config,
            lists: Mutex::default(),
        }))
    }

    /// Returns what stands directly below the context under a name.
    pub(super) fn get(&self, name: &str) -> Fallible<Dynamic> {
        if let Some(section) = section(name) {
            return Ok(Dynamic::from(Section {
                view: self.0.clone(),
                name: section,
            }));
        }
        self.0.get(name)
    }
}

impl View {
    fn get(&self, name: &str) -> Fallible<Dynamic> {
        if let Some(mark) = name.strip_prefix(MARKS) {
            let counted = self.facts.mark(mark);
            let number = counted.number().and_then(|n| i64::try_from(n).ok());
            let untold = || failure(format!("`{name}` cannot be told: it is {counted}"));
            return number.map(Dynamic::from_int).ok_or_else(untold);
        }
        if let Some(fact) = Fact::find(name) {
            return self.fact(fact);
        }
        match EXTRAS.iter().find(|extra| extra.name == name) {
            Some(extra) => (extra.get)(&self.facts, &self.config),
            None => Err(failure(unknown(name))),
        }
    }

    fn fact(&self, fact: Fact) -> Fallible<Dynamic> {
        // A fact that cannot be known is a fault of the project, not a fact that is absent.
        match fact.source() {
            FactSource::Issue => {
                issue(&self.facts)?;
            }
            FactSource::Git => match git_error(&self.facts, fact) {
                None | Some(GitError::NoRepository(_)) => {}
                Some(error) => return Err(failure(error.to_string())),
            },
            FactSource::Event
            | FactSource::Shell
            | FactSource::Tests
            | FactSource::Log
            | FactSource::Session => {}
        }
        if fact == Fact::ToolArgumentsFrom && self.facts.get(fact) == FactValue::Unknown {
            return Err(failure(format!("`{fact}` cannot be told")));
        }
        if fact.value_type() == FactType::List {
            return Ok(Dynamic::from(self.list(fact)));
        }
        let value = self.facts.get(fact);
        let is_of_event = matches!(fact.source(), FactSource::Event | FactSource::Session);
        if is_of_event && value == FactValue::Unknown {
            return Err(failure(format!("`{fact}` cannot be told")));
        }
        Ok(match value {
            FactValue::Absent | FactValue::Unknown => Dynamic::UNIT,
            // Several addresses, in lines, so that a script that looks for one in the text finds it.
            FactValue::List(texts) => texts.join("\n").into(),
            FactValue::Text(text) => text.as_ref().into(),
            FactValue::Integer(n) => n.into(),
            FactValue::Number(n) => n.into(),
            FactValue::Boolean(b) => b.into(),
            time @ FactValue::Time(_) => value::optional(time.as_text().as_deref()),
        })
    }

    fn list(&self, fact: Fact) -> List {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists
            .entry(fact)
            .or_insert_with(|| match self.facts.get(fact) {
                FactValue::List(items) => items.iter().map(String::as_str).collect(),
                _ => List::default(),
            })
            .clone()
    }
}

fn git_error(facts: &Facts, fact: Fact) -> Option<GitError> {
    if fact.name().starts_with("files.") {
        facts.changes().err().cloned()
    } else {
        facts.git().err().cloned()
    }
}

/// Returns every dotted name that a script may ask its context for.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Fact::ALL
        .iter()
        .map(|fact| fact.name())
        .chain(EXTRAS.iter().map(|extra| extra.name))
}

/// Returns what must be asked to know a dotted name.
pub(super) fn source(name: &str) -> Option<FactSource> {
    Fact::find(name).map(Fact::source).or_else(|| {
        let extra = EXTRAS.iter().find(|extra| extra.name == name)?;
        Some(extra.source)
    })
}

/// Finds a part of the context that has parts itself.
pub(super) fn section(name: &str) -> Option<&'static str> {
    names().find_map(|known| {
        let (section, _) = known.split_once('.')?;
        (section == name).then_some(section)
    })
}

/// Says that there is no such fact, and which may have been meant.
pub(super) fn unknown(name: &str) -> String {
    match nearest_name(name) {
        Some(near) => format!("there is no fact `{name}`; did you mean `{near}`?"),
        None => format!("there is no fact `{name}`"),
    }
}

/// Returns the known dotted name nearest to a misspelt one: of the same section, if there is one.
pub(super) fn nearest_name(name: &str) -> Option<&'static str> {
    if let Some((part, _)) = name.split_once('.')
        && section(part).is_some()
    {
        let own = |known: &&str| known.split_once('.').is_some_and(|(s, _)| s == part);
        return nearest(name, names().filter(own));
    }
    let parts = names().map(|known| known.split_once('.').map_or(known, |(part, _)| part));
    nearest(name, parts)
}

/// Makes the context known to the interpreter.
pub(super) fn register(engine: &mut Engine) {
    super::list::register(engine);
    engine
        .register_type_with_name::<Root>("Context")
        .register_indexer_get(|root: &mut Root, name: ImmutableString| root.get(&name))
        .register_fn(MARK, |root: &mut Root, name: &str| {
            let Count { least, most } = root.0.facts.mark(name).count;
            let number = |n: u64| Dynamic::from_int(i64::try_from(n).unwrap_or(i64::MAX));
            value::map([("least", number(least)), ("most", number(most))])
        })
        .register_type_with_name::<Section>("Section")
        .register_indexer_get(|section: &mut Section, name: ImmutableString| {
            section.view.get(&format!("{}.{name}", section.name))
        })
        .register_fn("==", |section: &mut Section, name: &str| section.is(name))
        .register_fn("!=", |section: &mut Section, name: &str| !section.is(name))
        .register_fn("to_string", |section: &mut Section| section.name)
        .register_fn("to_debug", |section: &mut Section| section.name);
}

impl Section {
    /// Whether the event's tool is the one named, by whatever name its host calls it (spec §4.2).
    fn is(&self, name: &str) -> bool {
        let (true, Some(tool)) = (self.name == "tool", &self.view.facts.event().tool) else {
            return false;
        };
        let kind = ToolKind::of(name);
        tool.name == name || (kind != ToolKind::Other && ToolKind::of(&tool.name) == kind)
    }
}
