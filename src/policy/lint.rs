//! What is no error and yet not meant: bindings that never fire, repeat or contradict each other, or are too strong.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use serde_json::Value as Json;

use super::{Binding, IntensityCeiling, Policy, idle, near_miss};
use crate::config::{BindingSpec, Node, Target, Value, default_id, marks_asked, may_ask};
use crate::diagnostic::{Code, Diagnostic, SourceMap};
use crate::event::Trigger;
use crate::fact::{Fact, FactSource};
use crate::oracle::Lookup;
use crate::regular_file;
use crate::session::Scope;
use crate::signal::{Intensity, Strength};

/// Looks over a policy that has no errors; `scripts` are the names and files of the script oracles that do not come with `ahp`.
pub fn lint(
    policy: &Policy,
    lookup: &dyn Lookup,
    scripts: &[(String, PathBuf)],
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for trigger in policy.triggers() {
        let pairs: Vec<Pair<'_>> = policy
            .enabled(trigger, lookup)
            // Of what stands beside it as it was approved, nobody can mend anything.
            .filter(|(_, spec)| spec.is_written() && !sources.is_approved(spec.span.file))
            .map(|(binding, spec)| Pair { binding, spec })
            .collect();
        let mut by_subject: HashMap<(String, Json), Alike<'_>> = HashMap::new();
        let mut by_stage: HashMap<i64, &Pair<'_>> = HashMap::new();
        for pair in &pairs {
            warnings.extend(never_fires(pair, trigger));
            warnings.extend(too_strong(pair, trigger));
            warnings.extend(out_of_place(pair, trigger));
            warnings.extend(
                pair.binding
                    .oracle
                    .factory()
                    .remarks(pair.spec.span_of("oracle")),
            );
            let oracle = pair.binding.oracle.factory().kebab();
            warnings.extend(idle::remarks(oracle, &pair.spec.config));
            let environment = policy.settings().environment.as_deref();
            warnings.extend(near_miss::find(pair.spec, environment));
            let alike = by_subject.entry(pair.subject()).or_default();
            warnings.extend(alike.meet(pair, trigger));
            if pair.controls() {
                let first = *by_stage.entry(pair.binding.priority).or_insert(pair);
                if !std::ptr::eq(first, pair) {
                    warnings.push(clash(pair, first, trigger));
                }
            }
        }
    }
    warnings.extend(marks(policy, scripts));
    warnings.extend(unused(policy, scripts));
    warnings
}

/// The longest script that is looked into, in bytes.
const MAX_SCRIPT: u64 = 16 << 20;

/// Returns a warning for each mark that nothing asks for, and for each that is asked for where events tell no session.
fn marks(policy: &Policy, scripts: &[(String, PathBuf)]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let texts: Vec<String> = scripts
        .iter()
        .filter_map(|(_, path)| regular_file::text(path, MAX_SCRIPT).ok())
        .collect();
    let mut asked = BTreeSet::new();
    for (trigger, specs) in policy.specs() {
        for ask in specs.iter().flat_map(marks_asked) {
            let mark = policy.mark_specs().get(&ask.name);
            let is_of_session = mark.is_some_and(|mark| mark.scope() == Scope::Session);
            if is_of_session && trigger.is_issue() {
                let message = format!(
                    "`marks.{}` is counted by session, and `{trigger}` outside of an agent tells none",
                    ask.name
                );
                warnings.push(
                    Diagnostic::warning(Code::MissingFact, message, ask.span)
                        .help("it then cannot be told, and the binding is asked; or count it `per: issue`"),
                );
            }
            asked.insert(ask.name);
        }
    }
    for mark in policy.mark_specs().values() {
        let is_named = |text: &String| may_ask(text, &mark.name);
        if !asked.contains(&mark.name) && !texts.iter().any(is_named) {
            let message = format!("nothing asks for the mark `{}`", mark.name);
            warnings.push(
                Diagnostic::warning(Code::UnusedMark, message, mark.span).help(format!(
                    "ask `marks.{}` in a `when`, or remove it",
                    mark.name
                )),
            );
        }
    }
    warnings
}

/// A binding, compiled and as written.
struct Pair<'a> {
    binding: &'a Binding,
    spec: &'a BindingSpec,
}

impl Pair<'_> {
    /// Returns every `when` map of the binding.
    fn whens(&self) -> impl Iterator<Item = &Node> {
        self.spec.group_when.iter().chain(&self.spec.when)
    }

    /// Returns what it asks and when, the same for all spellings.
    fn subject(&self) -> (String, Json) {
        let target = match &self.spec.target {
            oracle @ Target::Oracle(_) => default_id(oracle),
            hook => format!("hook {}", hook.name()),
        };
        (target, self.whens().map(Node::to_json).collect())
    }

    /// Whether it may change the operation.
    fn controls(&self) -> bool {
        let gives = self
            .binding
            .oracle
            .factory()
            .intensities()
            .contains(&Intensity::Control);
        let weakened = matches!(
            self.binding.ceiling,
            Some(IntensityCeiling::Fixed(ceiling)) if ceiling < Strength::Control
        );
        // A finding that the configuration makes a prompt or a block changes nothing.
        let action = self.spec.config.get("action").and_then(Node::as_str);
        gives && !weakened && action.is_none_or(|action| action == "control")
    }
}

/// Whether an event of a trigger can ever have a fact.
fn can_have(trigger: Trigger, fact: Fact) -> bool {
    let group = fact.name().split('.').next().unwrap_or_default();
    match (fact, group) {
        (Fact::ToolOutput | Fact::ToolOk | Fact::ToolExitCode, _) => {
            trigger.is_tool() && !trigger.is_pre()
        }
        (Fact::ToolOutward | Fact::ToolArgumentsFrom | Fact::ToolAsked, _) => {
            trigger == Trigger::PreToolUse
        }
        (_, "tool") => trigger.is_tool(),
        (_, "stop") => trigger.tells_of_stop(),
        _ => true,
    }
}

/// Returns what a trigger is meant for, strongest first (spec §2); advice may come with everything.
const fn carried_by(trigger: Trigger) -> &'static [Intensity] {
    use Intensity::{Aid, Block, Control, Prompt};
    match trigger {
        Trigger::PreSession | Trigger::PreAgentTurn => &[Block, Control, Prompt, Aid],
        Trigger::PreIssueCreate
        | Trigger::PreIssueSubmit
        | Trigger::PreIssueOpen
        | Trigger::PreIssueCancel
        | Trigger::PreIssueDelete
        | Trigger::PreToolUse => &[Block, Control, Prompt],
        Trigger::PreIssueStart => &[Block, Control],
        Trigger::PreIssueClose => &[Block],
        Trigger::PreAgentTurnStop | Trigger::PreSubagent => &[Block, Prompt],
        Trigger::PostToolUse | Trigger::PostToolUseFailure => &[Block, Prompt, Aid],
        Trigger::PostSubagent => &[Block, Aid],
        Trigger::PreContextCompact => &[Prompt],
        Trigger::PostIssueCreate
        | Trigger::PostIssueStart
        | Trigger::PostIssueSubmit
        | Trigger::PostIssueClose
        | Trigger::PostIssueOpen
        | Trigger::PostIssueCancel
        | Trigger::PostIssueDelete
        | Trigger::PostSession
        | Trigger::PostAgentTurn
        | Trigger::PostAgentTurnStop
        | Trigger::PostContextCompact => &[Aid],
    }
}

/// Returns the texts that a comparison lets through, where it is a plain one.
fn texts(node: &Node) -> Option<BTreeSet<&str>> {
    let plain = |text: &&str| !text.starts_with(['>', '<', '!', '~']) && !text.starts_with("glob:");
    match &node.value {
        Value::Str(text) => Some(text.as_str())
            .filter(plain)
            .map(|text| BTreeSet::from([text])),
        Value::Seq(items) => items
            .iter()
            .map(|item| item.as_str().filter(plain))
            .collect(),
        _ => None,
    }
}

fn never_fires(pair: &Pair<'_>, trigger: Trigger) -> Vec<Diagnostic> {
    let id = &pair.spec.id;
    let mut warnings = Vec::new();
    for (key, node) in pair.whens().flat_map(Node::entries) {
        let Some(fact) = Fact::find(&key.name) else {
            continue;
        };
        if !can_have(trigger, fact) {
            let message = format!("`{id}` never fires: an event of `{trigger}` has no `{fact}`");
            warnings.push(
                Diagnostic::warning(Code::NeverFires, message, key.span).help(
                    "remove this condition, or bind it to a trigger with events that have the fact",
                ),
            );
        }
        let starred = texts(node)
            .into_iter()
            .flatten()
            .find(|text| text.contains('*'));
        if let Some(text) = starred {
            let message = format!(
                "a star stands for itself in `{text}`, so that `{id}` fires for hardly anything"
            );
            warnings.push(
                Diagnostic::warning(Code::NeverFires, message, node.span)
                    .help(format!("write `glob:{text}` for a pattern")),
            );
        }
        if fact == Fact::Trigger
            && let Some(names) = texts(node)
            && !names.contains(trigger.name())
        {
            let message = format!("`{id}` never fires: its trigger is always `{trigger}`");
            warnings.push(
                Diagnostic::warning(Code::NeverFires, message, node.span)
                    .help("remove this condition"),
            );
        }
    }
    // One fact in both maps must be two things at once; `tool` also meets other names of its kind.
    if let (Some(group), Some(own)) = (&pair.spec.group_when, &pair.spec.when) {
        for (key, node) in own.entries() {
            let Some(outer) = group.get(&key.name).filter(|_| key.name != "tool") else {
                continue;
            };
            if let (Some(own), Some(all)) = (texts(node), texts(outer))
                && own.is_disjoint(&all)
            {
                let message = format!(
                    "`{id}` never fires: `{}` would have to be two things",
                    key.name
                );
                warnings.push(
                    Diagnostic::warning(Code::NeverFires, message, node.span)
                        .saying("this")
                        .related(outer.span, "and this for all bindings of the list")
                        .help("remove one of the two"),
                );
            }
        }
    }
    warnings
}

fn too_strong(pair: &Pair<'_>, trigger: Trigger) -> Option<Diagnostic> {
    let strongest = pair.binding.strongest()?;
    let id = &pair.spec.id;
    if pair.spec.is_async && strongest > Intensity::Aid {
        let message = format!("`{id}` is not waited for, so that its {strongest} comes too late");
        return Some(
            Diagnostic::warning(Code::Intensity, message, pair.spec.span_of("async"))
                .help("remove `async`, or write `intensity: aid` if it is to advise alone"),
        );
    }
    let carried = carried_by(trigger);
    if strongest == Intensity::Aid || carried.contains(&strongest) {
        return None;
    }
    let meant: Vec<_> = carried.iter().map(|intensity| intensity.name()).collect();
    let message = format!("`{id}` can give a {strongest}, which `{trigger}` is not meant for");
    Some(
        Diagnostic::warning(Code::Intensity, message, pair.spec.span).help(format!(
            "`{trigger}` carries {}; add `intensity: {}`, or bind it elsewhere",
            meant.join(", "),
            carried
                .iter()
                .filter(|i| **i < strongest)
                .max()
                .unwrap_or(&Intensity::Aid),
        )),
    )
}

fn out_of_place(pair: &Pair<'_>, trigger: Trigger) -> Option<Diagnostic> {
    let factory = pair.binding.oracle.factory();
    let triggers = factory.triggers();
    let name = &pair.binding.oracle_name;
    if pair.spec.outside && !pair.spec.target.is_hook() && **name != *"CommandHooks" {
        let message = format!("what `{name}` starts runs in the shield whatever it says");
        return Some(
            Diagnostic::warning(Code::MissingFact, message, pair.spec.span_of("outside"))
                .help("`outside` is for HOOK.md hooks and `CommandHooks`"),
        );
    }
    // What later steps of an issue will ask for is told when the work on it starts, as an aid.
    let is_up_front = trigger == Trigger::PostIssueStart
        && triggers.iter().any(|trigger| trigger.is_issue())
        && pair.binding.strongest() == Some(Intensity::Aid);
    if !triggers.is_empty() && !triggers.contains(&trigger) && !is_up_front {
        let listed: Vec<_> = triggers
            .iter()
            .map(|trigger| format!("`{trigger}`"))
            .collect();
        let message = format!("`{name}` finds nothing to judge at `{trigger}`");
        return Some(
            Diagnostic::warning(Code::MissingFact, message, pair.spec.span_of("oracle"))
                .help(format!("it is made for {}", listed.join(", "))),
        );
    }
    if factory.needs().contains(&FactSource::Shell)
        && !factory.needs().contains(&FactSource::Git)
        && !trigger.is_tool()
    {
        let message = format!("`{name}` judges command lines, and `{trigger}` has none");
        return Some(
            Diagnostic::warning(Code::MissingFact, message, pair.spec.span_of("oracle"))
                .help("bind it to `pre-tool-use`"),
        );
    }
    None
}

/// The bindings so far that ask one thing under one condition. A later one is compared with the first that it repeats or
/// contradicts, not with each.
#[derive(Default)]
struct Alike<'a> {
    by_config: HashMap<Json, &'a Pair<'a>>,
    /// The first value of each key, and the first other one: one of the two differs from any third.
    by_key: HashMap<&'a str, Vec<(Json, &'a Pair<'a>)>>,
}

impl<'a> Alike<'a> {
    /// Adds a binding; returns a warning where an earlier one says the same, or another thing about the same.
    fn meet(&mut self, pair: &'a Pair<'a>, trigger: Trigger) -> Option<Diagnostic> {
        let config = pair.spec.config.to_json();
        let id = &pair.spec.id;
        let mut warning = None;
        if let Some(earlier) = self.by_config.get(&config) {
            let message = format!("`{id}` repeats `{}` at `{trigger}`", earlier.spec.id);
            warning = Some(overlap(pair, earlier, message, "remove one of them"));
        }
        for (key, value) in pair.spec.config.entries() {
            let is_file = pair.binding.oracle.factory().is_file_key(&key.name);
            let is_scalar = !matches!(value.value, Value::Seq(_) | Value::Map(_)) && !is_file;
            let value = value.to_json();
            let known = self.by_key.entry(&key.name).or_default();
            let other = known.iter().find(|(other, _)| *other != value);
            if let (true, None, Some((_, earlier))) = (is_scalar, &warning, other) {
                let message = format!(
                    "`{id}` and `{}` judge one event by two values of `{}`",
                    earlier.spec.id, key.name
                );
                let help = "the stricter of them wins; give both one `id` to override the earlier one, or tell them apart by `when`";
                warning = Some(overlap(pair, earlier, message, help));
            }
            if known.len() < 2 && known.iter().all(|(known, _)| *known != value) {
                known.push((value, pair));
            }
        }
        self.by_config.entry(config).or_insert(pair);
        warning
    }
}

fn overlap(pair: &Pair<'_>, earlier: &Pair<'_>, message: String, help: &str) -> Diagnostic {
    Diagnostic::warning(Code::Shadowed, message, pair.spec.span)
        .saying("this one")
        .related(earlier.spec.span, "and this one")
        .help(help)
}

fn clash(pair: &Pair<'_>, earlier: &Pair<'_>, trigger: Trigger) -> Diagnostic {
    let message = format!(
        "`{}` and `{}` may both change the operation in one stage of `{trigger}`",
        earlier.spec.id, pair.spec.id
    );
    Diagnostic::warning(Code::ControlClash, message, pair.spec.span)
        .saying("this one")
        .related(earlier.spec.span, "and this one")
        .help("give them different priorities, so that the second sees what the first changed")
}

/// Returns a warning for each script of the project that no binding names.
fn unused(policy: &Policy, scripts: &[(String, PathBuf)]) -> Vec<Diagnostic> {
    let named: BTreeSet<String> = policy
        .specs()
        .values()
        .flatten()
        .filter(|spec| matches!(spec.target, Target::Oracle(_)))
        .map(|spec| default_id(&spec.target))
        .collect();
    // What the person keeps for all projects is for others too.
    let of_project = |path: &PathBuf| path.starts_with(policy.root());
    scripts
        .iter()
        .filter(|(_, path)| of_project(path))
        .filter(|(name, _)| !named.contains(&default_id(&Target::Oracle(name.clone()))))
        .map(|(name, path)| {
            let shown = path.strip_prefix(policy.root()).unwrap_or(path).display();
            let mut warning = Diagnostic::unplaced(
                Code::UnusedOracle,
                format!("no binding uses the script oracle `{shown}`"),
            )
            .help(format!("bind it by `oracle: {name}`, or remove the file"));
            warning.severity = crate::diagnostic::Severity::Warning;
            warning
        })
        .collect()
}
