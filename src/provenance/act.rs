//! Act: what kinds of acts a call is, as far as names of tools and the rules for commands tell.

use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use super::found::leaves;
use super::kind::{Asked, Kind};
use super::lists::{begins_to_read, lists};
use super::{READ, TOLD, invocations, named, outward, owner, told, words};
use crate::danger::{self, Selection};
use crate::event::{ToolKind, name_words};
use crate::fact::Facts;
use crate::program::{self, Fact};
use crate::session::{Origin, Origins};
use crate::shell::Invocation;

/// Every rule for commands.
static ALL_RULES: LazyLock<Selection> = LazyLock::new(|| Selection {
    presets: vec!["standard".to_owned()],
    ..Selection::default()
});

/// What must have been asked for, of each act of the call of one event one kind: found once, as every rule for commands is asked.
#[derive(Debug, Default)]
pub struct Acts(OnceLock<Vec<Asked>>);

impl Acts {
    fn of(&self, facts: &Facts, origins: &Origins) -> &[Asked] {
        self.0.get_or_init(|| acts(facts, origins))
    }
}

/// Whether the person has asked for acts of a call's kinds; none where that cannot be told. Where nothing was typed, or nothing
/// was read that could have led to it, nothing speaks against the call.
pub fn is_asked(facts: &Facts, origins: Option<&Origins>, acts: &Acts) -> Option<bool> {
    let Some(origins) = origins.filter(|origins| origins.has(Origin::Project, READ)) else {
        return Some(true);
    };
    let Some(asked) = Asked::in_session(origins) else {
        return Some(true);
    };
    let is_spoken_to = origins.has(Origin::Text, TOLD);
    let mut allowed = acts.of(facts, origins).iter().map(|kinds| {
        // Who has something done may hear of it, and others whom it concerns, unless somebody else has told the agent to say it.
        let is_light = !is_spoken_to && *kinds == Asked::named("say follow") && asked.has_act();
        let is_asked = if is_light {
            Some(true)
        } else {
            asked.allows(*kinds)
        };
        is_asked.or((!is_spoken_to).then_some(true))
    });
    allowed.try_fold(true, |all, one| Some(all && one?))
}

/// Whether a call does what was asked for and nothing else, as far as its kind tells: then a passage that speaks to an agent
/// has not led to it.
pub(super) fn is_plainly_asked(facts: &Facts, origins: &Origins, acts: &Acts) -> bool {
    let is_shell = match facts.tool().map(|tool| tool.kind) {
        Some(ToolKind::Shell) => true,
        Some(ToolKind::Mcp) => false,
        _ => return false,
    };
    if is_shell && invocations(facts).any(outward::carries) {
        return false;
    }
    let asked = Asked::in_session(origins).unwrap_or_default();
    if asked.allows(Asked::default()) != Some(true) {
        return false;
    }
    // What is lost, paid or opened is not told from what was meant by its kind alone.
    let light = Asked::named("install push say");
    let acts = acts.of(facts, origins);
    acts.is_empty() == is_shell
        && acts
            .iter()
            .all(|kinds| kinds.has_any(light) && asked.allows(*kinds) == Some(true))
}

/// Whether a call only notes something in a service of the person's own, who asked for more than to be told or to tell: then
/// what it notes directs nothing. Money, rights, what is sent, bought, run or taken away are none of it.
pub(super) fn notes(facts: &Facts, origins: &Origins) -> bool {
    let Some(tool) = facts.tool().filter(|tool| tool.kind == ToolKind::Mcp) else {
        return false;
    };
    let (name, server) = (tool.mcp_tool.as_deref(), tool.mcp_server.as_deref());
    let words = name_words(name.unwrap_or_default());
    let has = |list: &str| lists().has_any(list, &words);
    let is_spoken_to = origins.has(Origin::Text, TOLD);
    let input = facts.event().tool.as_ref().map(|call| &call.input);
    let any = Some(Asked::default());
    let kinds = input.and_then(|input| named(name?, server?, input));
    let is_money = lists().has_any("money-servers", &name_words(server.unwrap_or_default()));
    let asked = Asked::in_session(origins).unwrap_or_default();
    // A passage that speaks to an agent may be of the very page that is filled in.
    (has("tool-notes") || has("tool-fills") && !is_spoken_to)
        && !has("tool-reaches")
        && kinds.or(any) == any
        && !is_money
        && (asked.has_work() || asked.is_vague() && !is_spoken_to)
}

/// Whether the person has asked to have something sent.
pub(super) fn may_send(origins: &Origins) -> bool {
    Asked::in_session(origins).is_some_and(|asked| asked.has(Kind::Say))
}

/// Returns what must have been asked for, of each act of a call one kind.
fn acts(facts: &Facts, origins: &Origins) -> Vec<Asked> {
    let Some(tool) = facts.tool() else {
        return Vec::new();
    };
    match tool.kind {
        // Whoever is to change what agents are told says so.
        ToolKind::Write | ToolKind::Edit if told::instructs(facts) => {
            vec![Asked::named("steer follow")]
        }
        // Who only wants to look has no file changed that a program reads, where somebody else has told the agent anything.
        ToolKind::Write | ToolKind::Edit if origins.has(Origin::Text, TOLD) => {
            let kind = |path: &String| {
                path.rsplit('.')
                    .next()
                    .is_some_and(|kind| lists().has("read-by-people", kind))
            };
            let is_prose = tool.paths.iter().all(kind);
            let asked = Asked::in_session(origins).filter(|asked| asked.has(Kind::Look));
            asked
                .filter(|_| !is_prose)
                .map(|_| Asked::default())
                .into_iter()
                .collect()
        }
        ToolKind::Shell => {
            let found = facts.shell().map(|shell| danger::judge(shell, &ALL_RULES));
            let found = found.unwrap_or_default();
            let rules = found.iter().map(|found| &*found.rule);
            let needs = |rule: &str| lists().needs("rule", |part| rule.contains(part));
            let mut acts: Vec<Asked> = rules.clone().filter_map(needs).collect();
            // Nobody who asks for anything else means that a secret leaves this machine.
            if rules.clone().any(|rule| rule.starts_with("secrets:"))
                && invocations(facts).any(outward::carries)
            {
                acts.push(Asked::of(Kind::Grant));
            }
            // Nor that the project goes where neither she nor its remotes have ever named.
            let is_typed = |address: &str| {
                let site = words::words(address)
                    .iter()
                    .find_map(|word| owner::site(word));
                site.is_none_or(|site| origins.has(Origin::Prompt, &site))
            };
            if rules.clone().any(|rule| rule.starts_with("git:push"))
                && !invocations(facts)
                    .flat_map(outward::addresses)
                    .all(is_typed)
            {
                acts.push(Asked::of(Kind::Grant));
            }
            for invocation in invocations(facts) {
                let words = || {
                    invocation
                        .arguments
                        .iter()
                        .map(|word| name_words(&word.text))
                };
                let operands = invocation.operands();
                let operands: Vec<_> = operands.map(|word| name_words(&word.text)).collect();
                let takes_away = |word: &String| matches!(&**word, "delete" | "remove" | "revoke");
                let sets = outward::sets_at_service(invocation);
                let is_client = sets || lists().has("rights-clients", &invocation.program);
                if sets && grants(&operands) && words().flatten().any(|w| takes_away(&w)) {
                    let has = |one: &str| words().flatten().any(|word| word == one);
                    acts.extend(lists().needs("tool", has));
                } else if is_client && grants(&operands) || extends_agent(invocation) {
                    acts.push(Asked::of(Kind::Grant));
                } else if outward::packages(invocation).any(|name| is_foreign(name, origins)) {
                    acts.extend(needs("supply-chain:"));
                } else if sets {
                    acts.push(Asked::named("grant install remove say push"));
                }
            }
            acts
        }
        ToolKind::Mcp => {
            let input = facts.event().tool.as_ref().map(|call| &call.input);
            let name = tool.mcp_tool.as_deref().unwrap_or_default();
            let server = tool.mcp_server.as_deref().unwrap_or_default();
            let acts = named(name, server, input.unwrap_or(&Value::Null));
            acts.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the name of a package stood in what somebody else wrote, and nowhere else.
fn is_foreign(name: &str, origins: &Origins) -> bool {
    let words = words::words(name);
    // Who only wants to have something looked at has named nothing to be run.
    let may_name = Asked::in_session(origins).is_none_or(Asked::has_act);
    !named::has_topic(name, origins)
        && words.iter().any(|word| {
            let is_ours = [Origin::Prompt, Origin::Project].into_iter();
            let is_named = may_name && origins.has(Origin::Record, &words::named(word));
            origins.has(Origin::Text, word)
                && !is_named
                && !is_ours.into_iter().any(|o| origins.has(o, word))
        })
}

/// Whether what a client of a service is given changes who may do what.
fn grants(operands: &[Vec<String>]) -> bool {
    // `kubectl auth can-i`, `gcloud auth print-access-token`
    let tells = |word: &String| matches!(&**word, "can" | "print");
    let only_tells = |words: &Vec<String>| begins_to_read(words) || words.iter().any(tells);
    let has_rights = |words: &Vec<String>| lists().has_any("rights", words);
    operands.iter().any(has_rights) && !operands.iter().any(only_tells)
}

/// Whether a program gives an agent or an editor something that works in it.
fn extends_agent(invocation: &Invocation) -> bool {
    let verbs = outward::verbs(invocation);
    let is_agent = program::find(&invocation.program).lists(Fact::Sends, "mcp");
    let mut words = invocation.texts();
    is_agent
        && matches!(
            verbs,
            [
                Some("mcp" | "plugin" | "extensions"),
                Some("add" | "install")
            ]
        )
        || words.any(|word| word == "--install-extension")
}

/// Returns what must have been asked for a tool of this name.
fn named(name: &str, server: &str, input: &Value) -> Option<Asked> {
    let lists = lists();
    let words = name_words(name);
    let has = |list: &str| lists.has_any(list, &words);
    let (mut looks, mut changes) = (false, false);
    leaves(input, &mut |leaf| {
        looks |= outward::is_looking_statement(leaf);
        changes |= outward::is_changing_statement(leaf);
    });
    if changes {
        return Some(Asked::default());
    }
    let runs = words
        .iter()
        .any(|word| matches!(&**word, "execute" | "run"));
    if begins_to_read(&words) || !has("tool-acts") || looks && runs {
        return None;
    }
    let is_change = has("tool-changes");
    if is_change && lets_in(input) {
        return Some(Asked::of(Kind::Grant));
    }
    let has_one = |one: &str| match one.split_once('_') {
        Some(pair) => words.windows(2).any(|near| [pair.0, pair.1] == near),
        None => words.iter().any(|word| word == one),
    };
    let kinds = lists.needs("tool", has_one)?;
    let is_made = Asked::named("pay buy refund say");
    if is_change && kinds.has_any(is_made) {
        return Some(Asked::default());
    }
    if kinds.has(Kind::Say) && lists.has_any("money-servers", &name_words(server)) {
        return Some(Asked::named("pay refund follow"));
    }
    Some(kinds)
}

/// Whether an input has a field that lets somebody in.
fn lets_in(input: &Value) -> bool {
    let is_such = |field: &str| lists().has_any("lets-in", &name_words(field));
    match input {
        Value::Object(fields) => fields
            .iter()
            .any(|(field, value)| is_such(field) || lets_in(value)),
        Value::Array(items) => items.iter().any(lets_in),
        _ => false,
    }
}
