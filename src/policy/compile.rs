//! BindingSpec to Binding: names resolved, conditions built; every fault is reported, not the first.

use super::{Binding, IntensityCeiling, LazyOracle, Policy};
use crate::condition::{By, Condition, variants};
use crate::config::{BindingSpec, Ceiling, Node, Target, kebab_case};
use crate::diagnostic::{Code, Diagnostic};
use crate::oracle::Lookup;
use crate::signal::{Severity, Strength};

/// Compiles the binding that stands at a place among those of its trigger.
///
/// # Errors
/// Every fault of it; none where it is switched off and names what is not there, so that it is left out.
pub(super) fn binding(
    place: usize,
    spec: &BindingSpec,
    policy: &Policy,
    lookup: &dyn Lookup,
) -> Result<Binding, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let found = match &spec.target {
        Target::Oracle(name) => {
            let given = spec.provenance.iter().rev().find(|p| p.key == "oracle");
            let named_by = given.map_or(spec.layer, |p| p.layer);
            lookup.oracle(name, named_by, spec.span_of("oracle"))
        }
        Target::Hook(_) | Target::Found { .. } => lookup.hook(spec),
    };
    let conditions: Vec<Condition> = spec
        .group_when
        .iter()
        .chain(&spec.when)
        .filter_map(|node| Condition::compile(node, &mut faults))
        .collect();
    let ceiling = match &spec.intensity {
        Some(Ceiling::Fixed(intensity)) => Some(IntensityCeiling::Fixed(*intensity)),
        Some(Ceiling::By(node)) => {
            let by_severity = is_by_severity(node);
            if by_severity {
                check_severities(node, &mut faults);
            } else {
                check_ceiling(node, &mut faults);
            }
            let node = node.clone();
            Some(if by_severity {
                IntensityCeiling::BySeverity(node)
            } else {
                IntensityCeiling::By(node)
            })
        }
        None => None,
    };
    let factory = match found {
        Ok(factory) => factory,
        Err(fault) => {
            // A binding that is switched off may name what is not installed here.
            if spec.enabled || fault.code == Code::Locked {
                faults.push(*fault);
                faults.extend(variants(&spec.config).err().unwrap_or_default());
            }
            return Err(faults);
        }
    };
    if !faults.is_empty() {
        let oracle = LazyOracle::new(factory, spec.config.clone(), policy.root.clone());
        faults.extend(oracle.check());
        return Err(faults);
    }
    let factory_is_hook = factory.is_hook();
    let own = factory.front_matter();
    let own_timeout = own.map(|front| front.timeout);
    let says_async = spec.provenance.iter().any(|p| p.key == "async");
    Ok(Binding {
        place,
        id: spec.id.as_str().into(),
        oracle_name: match &spec.target {
            Target::Oracle(_) => factory.kebab().into(),
            Target::Hook(name) => kebab_case(name).into(),
            Target::Found { name, .. } => name.as_str().into(),
        },
        runs_programs: factory.runs_programs_with(&spec.config),
        is_of_project: spec_is_of_project(spec),
        is_async: match own {
            Some(front) if !says_async => front.is_async,
            _ => spec.is_async,
        },
        matcher: own.map(|front| front.matcher.clone()).unwrap_or_default(),
        oracle: LazyOracle::new(factory, spec.config.clone(), policy.root.clone()),
        conditions,
        priority: spec.priority,
        enabled: spec.enabled,
        says_timeout: spec.timeout.or(own_timeout).is_some(),
        timeout: (spec.timeout.or(own_timeout)).unwrap_or(policy.settings.timeout),
        on_error: spec.on_error,
        on_failure: spec
            .on_failure
            .map_or(policy.settings.on_error, |locked| locked.0)
            .filter(|_| !factory_is_hook),
        ceiling,
        escalate: spec.escalate.clone(),
        overridable: spec.overridable,
        outside: spec.outside,
        locked: spec.locked,
        layer: spec.layer,
        span: spec.span,
        source: policy.sources.line(spec.span).into(),
    })
}

/// Whether any value of the binding came with the project: a program that a clone names needs trust even where the
/// binding itself is the user's.
fn spec_is_of_project(spec: &BindingSpec) -> bool {
    // A hook that no layer names is trusted by its folder alone.
    !matches!(spec.target, Target::Found { .. }) && spec.layer.is_of_project()
        || spec
            .provenance
            .iter()
            .any(|p| p.layer.is_of_project() && p.key.starts_with("config"))
}

/// Whether the strength is chosen by what was found and not by what is asked of the event.
fn is_by_severity(node: &Node) -> bool {
    node.get("by").and_then(Node::as_str) == Some("severity")
}

fn check_severities(node: &Node, faults: &mut Vec<Diagnostic>) {
    let names = || Severity::ALL.iter().map(|severity| severity.name());
    for (key, _) in node.entries() {
        if !matches!(key.name.as_str(), "by" | "default") && !names().any(|name| name == key.name) {
            faults.push(
                Diagnostic::error(Code::BadValue, "not one of the severities", key.span)
                    .did_you_mean(&key.name, names())
                    .help("expected one of `critical`, `high`, `medium`, `low`, `default`"),
            );
        }
    }
}

fn check_ceiling(node: &Node, faults: &mut Vec<Diagnostic>) {
    match By::read(node) {
        Ok(Some(by)) => {
            by.check_cases(faults);
            for (_, value) in by.cases() {
                if value.as_str().and_then(Strength::find).is_none() {
                    faults.push(
                        Diagnostic::error(Code::BadValue, "not one of the intensities", value.span)
                            .did_you_mean(
                                value.as_str().unwrap_or_default(),
                                Strength::ALL.iter().map(|i| i.name()),
                            )
                            .help("expected one of `block`, `ask`, `control`, `prompt`, `aid`"),
                    );
                }
            }
        }
        Ok(None) => faults.push(
            Diagnostic::error(
                Code::WrongType,
                "expected an intensity or a `by:` map",
                node.span,
            )
            .help("write `intensity: {by: environment, production: block, default: prompt}`"),
        ),
        Err(fault) => {
            let given = node.get("by").and_then(Node::as_str).unwrap_or_default();
            faults.push(fault.did_you_mean(given, ["severity"]));
        }
    }
}
