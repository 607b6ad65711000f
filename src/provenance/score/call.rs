//! Call: what is known of a call: its tool, its fields, what was typed, what was used before, and what it has in common with passages.

use std::collections::BTreeSet;

use super::passage::{self, amounts};
use super::{TYPED, for_each_field, plain, rarity, tokens, units};
use crate::event::{ToolKind, name_words};
use crate::fact::{Fact, FactValue, Facts};
use crate::session::{Origin, Origins};

/// What stands before a tool, a server or a verb that was used, once and more than once.
const USED: &str = "\u{1}used ";
const USED_AGAIN: &str = "\u{1}again ";

/// What is kept once any tool was used.
const USED_ANY: &str = "\u{1}used";

/// How many units of an input are looked up.
const MOST_UNITS: usize = 400;

/// From how much in common on the highest class of passages counts.
const LEAST: [usize; 4] = [3, 8, 16, 30];

/// What is known of a call together with those classes.
const CROSSED: &[&str] = &[
    "asked:false",
    "asked:true",
    "from:prompt",
    "from:untrusted-record",
    "from:untrusted-text",
    "outward:true",
    "used:server=0",
    "used:tool=0",
    "used:verb=0",
];

/// Returns a call's tool, its server, and its verb: the first word of the tool's name, or the first two of a command line.
fn names(facts: &Facts) -> Option<[(&'static str, String); 3]> {
    let (call, tool) = (facts.event().tool.as_ref()?, facts.tool()?);
    let own = tool.mcp_tool.as_deref().unwrap_or(&call.name);
    let server = tool.mcp_server.clone().unwrap_or_else(|| call.name.clone());
    let verb = match tool.command.as_deref().filter(|line| !line.is_empty()) {
        Some(line) => line
            .split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" "),
        None => words_of(own).into_iter().next().unwrap_or_default(),
    };
    Some([
        ("tool", call.name.clone()),
        ("server", server),
        ("verb", verb),
    ])
}

fn words_of(name: &str) -> Vec<String> {
    let words = name_words(name);
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Keeps that a tool was used.
pub(super) fn used(facts: &Facts, origins: &mut Origins) {
    let Some(names) = names(facts) else {
        return;
    };
    let mut kept = vec![USED_ANY.to_owned()];
    for (kind, name) in names {
        let once = format!("{USED}{kind} {name}");
        if origins.has(Origin::Project, &once) {
            kept.push(format!("{USED_AGAIN}{kind} {name}"));
        }
        kept.push(once);
    }
    origins.add(Origin::Project, kept.iter().map(String::as_str));
}

/// Returns what is known of a call, by the names of its weights.
pub(super) fn known(facts: &Facts, origins: &Origins) -> BTreeSet<String> {
    let mut known = of_facts(facts);
    let (Some(call), Some(tool)) = (&facts.event().tool, facts.tool()) else {
        return known;
    };
    let named = words_of(tool.mcp_tool.as_deref().unwrap_or(&call.name));
    let named: BTreeSet<String> = named.into_iter().collect();
    let is_typed = |unit: &String| origins.has(Origin::Prompt, &format!("{TYPED}{unit}"));
    let (mut words, mut wanted) = (BTreeSet::new(), named.clone());
    for_each_field(&call.input, "", &mut |field, text| {
        if !field.starts_with("old") {
            known.insert(format!("key {}", field.to_lowercase()));
            let found = tokens(&plain(text));
            wanted.extend(units(&found));
            words.extend(found);
        }
    });
    known.extend(named.iter().map(|word| format!("name {word}")));
    if tool.kind != ToolKind::Mcp {
        known.insert(format!("tool {}", call.name));
    }
    let parts = tool.command.as_deref().into_iter();
    for part in parts.flat_map(|line| line.split(['|', ';', '&', '\n'])) {
        // Where something lies tells nothing.
        let first = part.split_whitespace().take(3);
        let first = first.filter(|word| !word.contains('/'));
        known.extend(first.map(|word| format!("shell {}", beginning(word, 12))));
    }
    if let Some(path) = call.input.get("file_path").and_then(|path| path.as_str()) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let end = name.rsplit('.').next().unwrap_or_default();
        known.insert(format!("file {}", beginning(end, 8)));
    }
    for (kind, name) in names(facts).into_iter().flatten() {
        let has = |before: &str| origins.has(Origin::Project, &format!("{before}{kind} {name}"));
        let times = usize::from(has(USED)) + usize::from(has(USED_AGAIN));
        known.insert(format!("used:{kind}={times}"));
    }
    if !origins.has(Origin::Project, USED_ANY) {
        known.insert("used:nothing".to_owned());
    }
    let count = |words: &BTreeSet<String>| words.iter().filter(|word| is_typed(word)).count();
    known.insert(format!("typed {}", quarter(count(&words), words.len())));
    known.insert(format!(
        "length {}",
        usize::BITS - words.len().leading_zeros()
    ));
    known.insert(format!("named {}", quarter(count(&named), named.len())));
    let wanted = wanted.into_iter().filter(|unit| !is_typed(unit));
    let wanted: Vec<String> = wanted.take(MOST_UNITS).collect();
    in_passages(&mut known, &wanted, origins);
    let is_read =
        |word: &String| (0..passage::CLASSES).any(|class| passage::has(class, word, origins));
    let theirs = words.iter().filter(|word| is_read(word) && !is_typed(word));
    let theirs: Vec<&String> = theirs.collect();
    let rare = theirs.iter().map(|word| rarity(word)).sum();
    known.insert(format!("theirs {}", quarter(theirs.len(), words.len())));
    known.insert(format!("rare {}", steps(rare, &[0, 5, 10, 20, 40])));
    known
}

/// Adds what units have in common with the passages that were read.
fn in_passages(known: &mut BTreeSet<String>, wanted: &[String], origins: &Origins) {
    let (amounts, whole) = amounts(wanted, origins);
    for (class, amount) in amounts.into_iter().enumerate() {
        known.insert(format!(
            "in {class} {}",
            steps(amount, &[0, 3, 6, 12, 20, 40])
        ));
        known.insert(format!("share {class} {}", quarter(amount, 1 + whole)));
    }
    let shown = |class: Option<usize>| class.map_or("-1".to_owned(), |class| class.to_string());
    let crossed = CROSSED.iter().filter(|fact| known.contains(**fact));
    let crossed: Vec<_> = crossed.collect();
    for least in LEAST {
        let top = shown(amounts.iter().rposition(|amount| *amount > least));
        known.insert(format!("top {least} {top}"));
        let crossed = crossed.iter();
        known.extend(crossed.map(|fact| format!("top {least} {top} & {fact}")));
    }
    known.insert(format!("highest {}", shown(passage::highest(origins))));
}

/// Returns what is known of it otherwise: where its values come from, whether it goes out, and whether it was asked for.
fn of_facts(facts: &Facts) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    if let FactValue::List(values) = facts.get(Fact::ToolArgumentsFrom) {
        let values = values.iter().filter(|value| *value != "untrusted");
        known.extend(values.map(|value| format!("from:{value}")));
    }
    for (name, fact) in [("asked", Fact::ToolAsked), ("outward", Fact::ToolOutward)] {
        if let FactValue::Boolean(is) = facts.get(fact) {
            known.insert(format!("{name}:{is}"));
        }
    }
    let pairs: Vec<String> = known
        .iter()
        .flat_map(|one| {
            let others = known.iter().filter(move |other| one < *other);
            others.map(move |other| format!("{one} & {other}"))
        })
        .collect();
    known.extend(pairs);
    known
}

fn beginning(word: &str, letters: usize) -> String {
    word.chars().take(letters).collect()
}

/// Returns how many quarters of the whole a part is.
fn quarter(part: usize, whole: usize) -> usize {
    4 * part / whole.max(1)
}

/// Returns how many edges an amount is above.
fn steps(amount: usize, edges: &[usize]) -> usize {
    edges.iter().filter(|edge| amount > **edge).count()
}
