//! Applies the modifications of controls to a tool's input.

use std::collections::HashMap;

use serde_json::Value;

use crate::event::{Field, ToolKind, ToolView, decoded};
use crate::fact::Facts;
use crate::oracle::OracleError;
use crate::signal::{Intensity, Modification, Origin, Payload, Severity, Signal};

/// Names each change of a tool's input by the place where this host has it. What has no place there is refused, with the words
/// of the change: else the call would go on as it is, or with a field beside it that no tool reads.
///
/// # Errors
/// A change is of something that the tool does not have at all.
pub(super) fn fit(signals: &mut [Signal], facts: &Facts) -> Result<(), OracleError> {
    let (Some(tool), Some(view)) = (&facts.event().tool, facts.tool()) else {
        return Ok(());
    };
    for signal in signals {
        let Payload::Control(control) = &mut signal.payload else {
            continue;
        };
        let mut input = decoded(&tool.input).unwrap_or_else(|| tool.input.clone());
        let mut fitted: Vec<Modification> = Vec::new();
        let mut lost = Vec::new();
        for mut m in std::mem::take(&mut control.modifications) {
            let mut is_lost = false;
            if let Some(name) = own_name(&m.target, &input, view) {
                let root = facts.project_root();
                match Field::find(view.kind, &input, name, &m.updated, root) {
                    Some(field) => {
                        // What names the place already is told in its own words.
                        if pointer(&m.target).as_ref() != Some(&field.pointer) {
                            m.target = match field.pointer.as_str() {
                                "" => "tool.input".to_owned(),
                                _ => field.pointer,
                            };
                        }
                        m.updated = field.updated;
                    }
                    None => is_lost = view.tells(name),
                }
            }
            if is_lost {
                lost.push(m);
                continue;
            }
            if m.is_of_input() && !apply(&mut input, std::slice::from_ref(&m)) {
                return Err(OracleError::failed(format!(
                    "a control changes `{}`, and the input of the tool `{}` has no such place",
                    m.target, tool.name
                )));
            }
            // A patch has its path and its text in one place.
            match fitted.iter_mut().find(|earlier| earlier.target == m.target) {
                Some(earlier) => earlier.updated = m.updated,
                None => fitted.push(m),
            }
        }
        control.modifications = fitted;
        if let Some(m) = lost.first() {
            let target = &m.target;
            let reason = format!(
                "the input of the tool `{}` has no one place for `{target}`, which is to be changed: the call may not go on as it is",
                tool.name
            );
            let steps = lost.iter().map(|m| {
                let updated = m.updated_in_words();
                format!("Call the tool again with `{}` as {updated}", m.target)
            });
            let steps: Vec<String> = steps.collect();
            *signal = signal
                .clone()
                .with_intensity(Intensity::Block)
                .reason(reason)
                .steps(steps);
        }
    }
    Ok(())
}

/// Returns what a target means that is to be looked for: `tool.command`, or a key that the input does not have.
fn own_name<'a>(target: &'a str, input: &Value, view: &ToolView) -> Option<&'a str> {
    let key = |target: &'a str| {
        target
            .strip_prefix("tool.input.")
            .or_else(|| target.strip_prefix('/'))
    };
    match target {
        "tool.command" => Some("command"),
        "tool.content" => Some("content"),
        _ => key(target).filter(|key| {
            // A command may be more than the field of that name.
            let is_command = *key == "command" && view.kind == ToolKind::Shell;
            is_command || input.get(key).is_none()
        }),
    }
}

/// A change that stands.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) what: Modification,
    /// The binding that made it, and where that stands.
    by: Origin,
}

impl Change {
    /// Says who has changed what another one would change too.
    fn told_to(&self, other: &Origin) -> String {
        let updated = self.what.updated_in_words();
        if self.by.binding == other.binding {
            return format!("it has set that to {updated} itself");
        }
        let (binding, source) = (&self.by.binding, &self.by.source);
        format!("`{binding}` ({source}) has set that to {updated}")
    }
}

/// Settles what the controls of one stage change: of two that change one target differently, the first in the order
/// of the configuration wins and the other becomes a prompt. Returns the changes that stand.
pub(super) fn settle(signals: &mut [Signal]) -> Vec<Change> {
    let mut taken: HashMap<String, Change> = HashMap::new();
    let mut standing = Vec::new();
    for signal in signals {
        let Payload::Control(control) = &signal.payload else {
            continue;
        };
        let clash = control.modifications.iter().find_map(|m| {
            let first = taken.get(&canonical(&m.target))?;
            (first.what.updated != m.updated).then(|| (m.clone(), first.told_to(&signal.origin)))
        });
        match clash {
            Some((m, first)) => {
                *signal = signal
                    .clone()
                    .with_intensity(Intensity::Prompt)
                    .severity(Severity::Medium)
                    .reason(format!(
                        "`{}` would set `{}` to {}, but {first}, and the first of them stands",
                        signal.origin.binding,
                        m.target,
                        m.updated_in_words()
                    ));
            }
            None => {
                for m in &control.modifications {
                    let key = canonical(&m.target);
                    if let std::collections::hash_map::Entry::Vacant(e) = taken.entry(key) {
                        let change = Change {
                            what: m.clone(),
                            by: signal.origin.clone(),
                        };
                        standing.push(e.insert(change).clone());
                    }
                }
            }
        }
    }
    standing
}

/// Blocks what would change again what a control has changed already: nobody would judge that any more.
pub(super) fn refuse_conflicts(signals: &mut [Signal], applied: &[Change]) {
    for signal in signals {
        let Payload::Control(control) = &signal.payload else {
            continue;
        };
        let conflict = control.modifications.iter().find_map(|m| {
            let target = canonical(&m.target);
            let earlier = applied
                .iter()
                .rev()
                .find(|e| canonical(&e.what.target) == target)?;
            (earlier.what.updated != m.updated).then(|| (m, earlier.told_to(&signal.origin)))
        });
        if let Some((m, earlier)) = conflict {
            let target = &m.target;
            let reason = format!(
                "`{}` would set `{target}` to {}, but {earlier}, and nobody can say which is right",
                signal.origin.binding,
                m.updated_in_words()
            );
            let steps = [
                "Give the tool an input that neither of them changes".to_owned(),
                format!("Or have only one of them change `{target}`"),
            ];
            *signal = signal
                .clone()
                .with_intensity(Intensity::Block)
                .reason(reason)
                .steps(steps);
        }
    }
}

/// Returns a target as a JSON Pointer into the tool's input where it is one; else as it is.
fn canonical(target: &str) -> String {
    pointer(target).unwrap_or_else(|| target.to_owned())
}

/// Returns the JSON Pointer of a target inside the tool's input: `tool.input.command` and `/command` are `/command`.
fn pointer(target: &str) -> Option<String> {
    if target.starts_with('/') {
        return Some(target.to_owned());
    }
    let path = target.strip_prefix("tool.input")?;
    if path.is_empty() {
        return Some(String::new());
    }
    let path = path.strip_prefix('.')?;
    let mut pointer = String::with_capacity(path.len() + 1);
    for part in path.split('.') {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    Some(pointer)
}

/// Applies modifications to a tool's input; returns whether any of them is inside it.
pub(super) fn apply(input: &mut Value, modifications: &[Modification]) -> bool {
    if let Some(mut inner) = decoded(input) {
        let changed = apply(&mut inner, modifications);
        if changed {
            *input = inner.to_string().into();
        }
        return changed;
    }
    let mut changed = false;
    for m in modifications {
        let Some(pointer) = pointer(&m.target) else {
            continue;
        };
        if let Some(place) = input.pointer_mut(&pointer) {
            *place = m.updated.clone();
            changed = true;
        } else if let Some((parent, key)) = pointer.rsplit_once('/')
            && let Some(Value::Object(parent)) = input.pointer_mut(parent)
        {
            parent.insert(key.replace("~1", "/").replace("~0", "~"), m.updated.clone());
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(target: &str, updated: Value) -> Modification {
        Modification {
            target: target.to_owned(),
            original: Value::Null,
            updated,
            reason: String::new(),
        }
    }

    #[test]
    fn dotted_paths_and_pointers_change_the_same_place() {
        let mut input = json!({"command": "ls", "options": {"a/b": 1}});
        assert!(apply(
            &mut input,
            &[change("tool.input.command", json!("pwd"))]
        ));
        assert!(apply(&mut input, &[change("/options/a~1b", json!(2))]));
        assert!(apply(&mut input, &[change("tool.input.timeout", json!(5))]));
        assert!(!apply(&mut input, &[change("batch_size", json!(10))]));
        assert_eq!(
            input,
            json!({"command": "pwd", "options": {"a/b": 2}, "timeout": 5})
        );
    }

    #[test]
    fn the_first_of_two_controls_wins_and_the_other_becomes_a_prompt() {
        let mut signals = [
            Signal::control("a", vec![change("tool.input.command", json!("one"))]),
            Signal::control("b", vec![change("/command", json!("two"))]),
            Signal::control("c", vec![change("/command", json!("one"))]),
        ];
        let standing = settle(&mut signals);
        assert_eq!(standing.len(), 1);
        assert_eq!(signals[1].intensity(), Intensity::Prompt);
        assert_eq!(signals[2].intensity(), Intensity::Control);
    }
}
