//! What the hosts that are wired here cannot carry of the policy in force.

use std::time::Duration;

use ahp::config::{BindingSpec, Environment, Locations, Node, Value};
use ahp::diagnostic::{Code, Diagnostic};
use ahp::engine::State;
use ahp::event::Trigger;
use ahp::host::{Fallback, Host, HostEvent, Wish};
use ahp::install::{Installer, Patience};
use ahp::place::Scope;
use ahp::policy::Binding;
use ahp::signal::Intensity;

use crate::command::install;

/// Finds the hosts in whose settings `ahp` stands; settings that cannot be read are `ahp doctor`'s to tell.
pub(super) fn wired(environment: &Environment, locations: &Locations) -> Vec<&'static Host> {
    let Ok(places) = install::places(environment, locations) else {
        return Vec::new();
    };
    let is_wired = |installer: &Installer| {
        Scope::ALL.into_iter().any(|scope| {
            let git = install::git_hooks(installer, &places, scope).unwrap_or_default();
            let wires = installer.wires(&places, scope, git.as_deref());
            wires.is_ok_and(|wires| !wires.is_empty()) || installer.has_shim(&places, scope)
        })
    };
    let wired = Installer::all().filter(is_wired);
    wired.map(|installer| installer.host).collect()
}

/// Looks over what each binding can give, at each of the hosts.
pub(super) fn lint(state: &State, hosts: &[&'static Host]) -> Vec<Diagnostic> {
    let policy = state.policy();
    let mut warnings = Vec::new();
    if hosts.is_empty() || !state.faults().is_empty() {
        return warnings;
    }
    for trigger in policy.triggers() {
        for (binding, spec) in policy.enabled(trigger, state.lookup()) {
            let hosts: Vec<_> = hosts.iter().filter(|host| is_for(spec, host)).collect();
            if !hosts.is_empty()
                && hosts
                    .iter()
                    .all(|h| host_events(h, trigger).next().is_none())
            {
                warnings.push(never_told(&hosts, spec, trigger));
            }
            let weak = hosts
                .iter()
                .filter_map(|host| cannot_carry(host, binding, spec, trigger));
            warnings.extend(weak);
            // What ships in a pack is for `ahp ci` and `ahp exec` too, which wait as long as it takes.
            let place = spec.span_of("timeout");
            if policy.sources().name(place.file).starts_with("ahp:") {
                continue;
            }
            let mut cut_off = hosts
                .iter()
                .filter_map(|host| cut_off(host, binding, spec, trigger));
            warnings.extend(cut_off.next());
        }
    }
    warnings
}

/// Warns of a timeout that no host waits for: the answer comes before it is over, and tells that nothing was judged.
fn cut_off(
    host: &'static Host,
    binding: &Binding,
    spec: &BindingSpec,
    trigger: Trigger,
) -> Option<Diagnostic> {
    let patience = Patience::for_bindings(binding.timeout);
    let waits = |host_event: &HostEvent| Duration::from_secs(patience.own(host_event));
    let mut events = host_events(host, trigger);
    let event = events.find(|event| binding.timeout > waits(event))?;
    if binding.is_async || !binding.says_timeout {
        return None;
    }
    let message = format!(
        "`{}` may take {} s, and {} is answered after {} s at `{}` at the latest",
        spec.id,
        binding.timeout.as_secs(),
        host.title,
        waits(event).as_secs(),
        event.name(),
    );
    let help =
        "write a shorter `timeout`, or have less done by then: what is cut off is not judged";
    Some(Diagnostic::warning(Code::BadDuration, message, spec.span_of("timeout")).help(help))
}

/// Whether the conditions of a binding let a host's events through, as far as they name hosts.
fn is_for(spec: &BindingSpec, host: &Host) -> bool {
    let is_it = |name: &str| Host::find(name).is_some_and(|named| named.name == host.name);
    let meets = |node: &Node| match &node.value {
        Value::Str(text) => match text.strip_prefix("!=") {
            Some(other) => !is_it(other.trim()),
            None => text.starts_with(['~', '!']) || text.starts_with("glob:") || is_it(text),
        },
        Value::Seq(names) => names.iter().any(|name| name.as_str().is_some_and(is_it)),
        _ => true,
    };
    let whens = spec.group_when.iter().chain(&spec.when);
    whens.filter_map(|when| when.get("host")).all(meets)
}

/// Returns the events at which a host tells of a trigger; what agents do to issues they do in their shell.
fn host_events(host: &'static Host, trigger: Trigger) -> impl Iterator<Item = &'static HostEvent> {
    let at = match (trigger.is_issue(), trigger.is_pre()) {
        (false, _) => trigger,
        (true, true) => Trigger::PreToolUse,
        (true, false) => Trigger::PostToolUse,
    };
    let own = trigger.is_issue().then(|| host.events_of(trigger));
    let derived = host
        .after_stop()
        .filter(move |m| m.trigger == Some(trigger));
    let told = own
        .into_iter()
        .flatten()
        .chain(host.events_of(at))
        .chain(derived);
    told.filter(|host_event| !host_event.is_permission)
}

/// Returns what an intensity asks of a host; only a tool has an input that could be another.
const fn wish(intensity: Intensity, trigger: Trigger) -> Wish {
    match (intensity, trigger) {
        (Intensity::Block, _) => Wish::Block,
        (Intensity::Control, Trigger::PreToolUse) => Wish::Rewrite,
        _ => Wish::Say,
    }
}

/// Whether it is worth a word that a wish is granted by this fallback: advice may come later, or reach the person alone.
const fn is_loss(wish: Wish, fallback: Fallback) -> bool {
    match wish {
        Wish::Block | Wish::Rewrite | Wish::Ask => !matches!(fallback, Fallback::AsIs),
        Wish::Say => matches!(fallback, Fallback::Log),
    }
}

fn cannot_carry(
    host: &'static Host,
    binding: &Binding,
    spec: &BindingSpec,
    trigger: Trigger,
) -> Option<Diagnostic> {
    let strongest = binding.strongest()?;
    let own = binding.oracle.factory().intensities().iter().copied();
    let mut given: Vec<_> = own.filter(|i| *i < strongest).chain([strongest]).collect();
    given.sort_unstable();
    let (intensity, host_event, fallback) = given.into_iter().rev().find_map(|intensity| {
        let wish = wish(intensity, trigger);
        let lost = |m: &&HostEvent| is_loss(wish, host.fallback(wish, m));
        let host_event = host_events(host, trigger).find(lost)?;
        Some((intensity, host_event, host.fallback(wish, host_event)))
    })?;
    let (id, title) = (&spec.id, host.title);
    let message =
        format!("`{id}` can give a {intensity}, which {title} cannot carry at `{trigger}`");
    let weaker = [Intensity::Prompt, Intensity::Aid]
        .into_iter()
        .filter(|weaker| *weaker < intensity)
        .find(|weaker| {
            let wish = wish(*weaker, trigger);
            !is_loss(wish, host.fallback(wish, host_event))
        });
    let mut ways_out = Vec::new();
    let made_for = binding.oracle.factory().triggers();
    let mut elsewhere: Vec<_> = host
        .events
        .iter()
        .filter(|m| host.fallback(wish(intensity, trigger), m) == Fallback::AsIs)
        .filter_map(|m| m.trigger)
        .filter(|t| t.is_pre() == trigger.is_pre())
        .filter(|t| made_for.is_empty() || made_for.contains(t))
        .map(|trigger| format!("`{trigger}`"))
        .collect();
    elsewhere.dedup();
    if !elsewhere.is_empty() {
        ways_out.push(format!("bind it to {}", elsewhere.join(" or ")));
    }
    if let Some(weaker) = weaker {
        ways_out.push(format!("write `intensity: {weaker}`"));
    }
    ways_out.push(format!(
        "leave this host out by `when: {{host: \"!= {}\"}}`",
        host.name
    ));
    Some(
        Diagnostic::warning(Code::Intensity, message, spec.span).help(format!(
            "at its `{}` {}; {}",
            host_event.name(),
            instead(fallback),
            ways_out.join("; or ")
        )),
    )
}

/// Says what happens in the place of what was wished.
const fn instead(fallback: Fallback) -> &'static str {
    match fallback {
        Fallback::AsIs => "it is done",
        Fallback::Block => "the call is refused, with words that say what it should have been",
        Fallback::Context => "it goes on, and the agent is told",
        Fallback::Queue => "it goes on, and the agent is told at a later event",
        Fallback::Notice => "it goes on, and only the person is told",
        Fallback::Log => "it goes on, and only the log tells of it",
    }
}

fn never_told(hosts: &[&&'static Host], spec: &BindingSpec, trigger: Trigger) -> Diagnostic {
    let titles: Vec<_> = hosts.iter().map(|host| host.title).collect();
    let message = format!(
        "`{}` never fires here: {} {} of `{trigger}`",
        spec.id,
        titles.join(", "),
        if titles.len() == 1 {
            "does not tell"
        } else {
            "do not tell"
        },
    );
    let mut told: Vec<_> = hosts
        .iter()
        .flat_map(|host| host.events)
        .filter_map(|host_event| host_event.trigger)
        .collect();
    told.sort_unstable();
    told.dedup();
    let told: Vec<_> = told.iter().map(|trigger| format!("`{trigger}`")).collect();
    Diagnostic::warning(Code::NeverFires, message, spec.span).help(format!(
        "bind it to what is told: {}; or wire a host that tells of it (`ahp install HOST`)",
        told.join(", ")
    ))
}
