//! Near misses: values in conditions that a project may have of its own, and that look like a misspelling of a usual one.

use crate::condition::By;
use crate::config::{BindingSpec, Ceiling, Node, Value};
use crate::diagnostic::{Code, Diagnostic, Span, nearest};
use crate::event::ToolKind;
use crate::fact::Fact;
use crate::host::Host;

/// Warns of each value, in the conditions and `by:` maps of a binding, that is nearly a usual one; `environment` is the one
/// that the settings name.
pub(super) fn find(spec: &BindingSpec, environment: Option<&str>) -> Vec<Diagnostic> {
    let mut asked = Vec::new();
    for node in spec.group_when.iter().chain(&spec.when) {
        of_condition(node, &mut asked);
    }
    of_choices(&spec.config, &mut asked);
    if let Some(Ceiling::By(node)) = &spec.intensity {
        of_choice(node, &mut asked);
    }
    let is_own = |fact, text: &str| fact == Fact::Environment && Some(text) == environment;
    let warning = |asked: &Asked<'_>| {
        let Asked { fact, values } = asked;
        // Who writes both spellings means both.
        let is_named = |usual: &str| values.iter().any(|(text, _)| same(text, usual));
        let misses = values.iter().filter(|(text, _)| !is_own(*fact, text));
        misses
            .filter_map(|(text, span)| {
                if *fact == Fact::Host {
                    return unknown_host(text, *span);
                }
                let meant = meant(*fact, text).filter(|meant| !is_named(meant))?;
                let message = format!("no known value of `{fact}` is `{text}`");
                let warning = Diagnostic::warning(Code::NeverFires, message, *span);
                Some(warning.help(format!(
                    "did you mean `{meant}`? If you need both, list both"
                )))
            })
            .collect::<Vec<_>>()
    };
    asked.iter().flat_map(warning).collect()
}

/// The values that one condition, or one `by:` map, compares a fact with.
struct Asked<'a> {
    fact: Fact,
    values: Vec<(&'a str, Span)>,
}

fn of_condition<'a>(node: &'a Node, asked: &mut Vec<Asked<'a>>) {
    for (key, value) in node.entries() {
        match (Fact::find(&key.name), &value.value) {
            (Some(fact), _) => {
                let values = plain(value);
                asked.push(Asked { fact, values });
            }
            (None, Value::Seq(items)) => {
                for item in items {
                    of_condition(item, asked);
                }
            }
            (None, _) => of_condition(value, asked),
        }
    }
}

/// Returns the texts that a comparison names as they stand, also those that it leaves out.
fn plain(node: &Node) -> Vec<(&str, Span)> {
    let items = match &node.value {
        Value::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let texts = items.iter().filter_map(|item| {
        let text = item.as_str()?;
        let bare = text.trim_start_matches(['!', '=']).trim_start();
        Some((bare, item.span))
    });
    let is_plain = |text: &str| !text.starts_with(['~', '<', '>']) && !text.starts_with("glob:");
    texts.filter(|(text, _)| is_plain(text)).collect()
}

fn of_choices<'a>(node: &'a Node, asked: &mut Vec<Asked<'a>>) {
    of_choice(node, asked);
    match &node.value {
        Value::Map(entries) => {
            for (_, value) in entries {
                of_choices(value, asked);
            }
        }
        Value::Seq(items) => {
            for item in items {
                of_choices(item, asked);
            }
        }
        _ => {}
    }
}

fn of_choice<'a>(node: &'a Node, asked: &mut Vec<Asked<'a>>) {
    if let Ok(Some(by)) = By::read(node) {
        let cases = by.cases().filter(|(key, _)| key.name != "default");
        asked.push(Asked {
            fact: by.fact(),
            values: cases
                .map(|(key, _)| (key.name.as_str(), key.span))
                .collect(),
        });
    }
}

/// Warns of a host that nobody knows: only events that others make name one.
fn unknown_host(name: &str, span: Span) -> Option<Diagnostic> {
    if Host::find(name).is_some() {
        return None;
    }
    let message = format!("no known host is called `{name}`");
    let warning = Diagnostic::warning(Code::NeverFires, message, span);
    Some(warning.help(Host::unknown_name(name)))
}

/// Returns the usual value that a text is nearly, or short for; none where it is one itself.
fn meant(fact: Fact, text: &str) -> Option<&'static str> {
    let usual = fact.usual_values();
    match fact {
        Fact::Tool | Fact::ToolName if ToolKind::of(text) == ToolKind::Other => {
            nearest(text, ["Bash", "Shell", "Write", "Edit", "Read", "WebFetch"])
        }
        _ if usual.iter().any(|usual| same(text, usual)) => None,
        _ => {
            let is_short = |usual: &&str| text.len() > 2 && usual.starts_with(text);
            let short_for = usual.iter().copied().find(is_short);
            short_for.or_else(|| nearest(text, usual.iter().copied()))
        }
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}
