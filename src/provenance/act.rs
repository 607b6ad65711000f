//! Act: what kinds of acts a call is, as far as names of tools and the rules for commands tell.

use std::sync::LazyLock;

use serde_json::Value;

use super::asked::{Asked, Kind};
use super::found::leaves;
use super::{READ, invocations, named, outward, result, words};
use crate::danger::{self, Selection};
use crate::event::{ToolKind, name_words};
use crate::fact::Facts;
use crate::program;
use crate::program::Fact;
use crate::session::{Origin, Origins};
use crate::shell::Invocation;

/// Kinds of which one must have been asked for; any act will do where none is named. Whoever says to follow a text has not asked
/// to open a machine or an account, or to take files out.
type OneOf = &'static [Kind];

/// Words in the names of tools that act.
const ACTING: &str = "\
    add append apply archive assign attach authorise authorize book cancel change charge checkout clear click close \
    comment complete confirm copy create delete deploy disable drop edit enable execute fill forward grant import insert \
    install invite label mark merge modify move notify order patch pay place post press publish purchase push put refund \
    register remove rename reply request reschedule reserve reset respond restart revoke run schedule send set share \
    sign start stop submit subscribe sync terminate transfer transition trigger type unsubscribe update upload upsert \
    withdraw write";

/// Words of who may do what.
const RIGHTS: &str = "\
    access admin authorise authorised authorize authorized collaborator collaborators filter forwarding grant guest \
    guests hook invite key keys limit member members mfa owner ownership participant participants password permission \
    permissions policy public replies role roles rule secret share sharing token webhook webhooks iam rolebinding \
    clusterrolebinding";

/// Clients of services that keep such rights.
const CLIENTS: &str = "aws az doctl flyctl gcloud heroku kubectl oc okta vault wrangler";

/// Words in the names of tools, and what must have been asked for where a tool that acts has one of them; the first counts.
const NAMED: &[(&str, OneOf)] = &[
    ("draft label labels mark move", &[]),
    (RIGHTS, &[Kind::Grant]),
    (
        "cancel delete destroy drop purge remove revoke terminate unsubscribe withdraw",
        &[Kind::Remove, Kind::Follow],
    ),
    ("merge", &[Kind::Merge, Kind::Follow]),
    (
        "refund refunds coupon voucher",
        &[Kind::Refund, Kind::Follow],
    ),
    (
        "donate money pay payment payments payout transfer",
        &[Kind::Pay, Kind::Refund, Kind::Follow],
    ),
    (
        "book booking checkout gift order purchase rent rental reserve reservation subscribe subscription",
        &[Kind::Buy, Kind::Follow],
    ),
    (
        "answer comment dm email forward letter mail message notify post publish reply respond send sms",
        &[Kind::Say, Kind::Follow],
    ),
];

/// Words of changing what is there: then what a tool is named after is changed, and not made.
const CHANGING: &str = "edit modify patch reschedule set update";

/// Fields by which a change of a thing lets somebody in.
const LETTING_IN: &str = "attendee guest participant permission public role";

/// Words in the names of servers that keep money.
const MONEY: &str = "bank banking bankline paypal wallet";

/// What must have been asked for where a program of somebody else's is brought here.
const INSTALLING: OneOf = &[Kind::Install, Kind::Follow, Kind::Vague];

/// What must have been asked for where a command breaks a rule: by parts of the rule's id, the first that fits. Who reads a secret
/// keeps it here, and nobody who asks to send something means a secret.
const RULES: &[(&str, Option<OneOf>)] = &[
    ("secrets: odd-host", None),
    (
        "\
        -grants -key -owner -rights -secret aws-share dns-leak firewall gh-hook privacy protection rights: ssh-open \
        store-admin tunnel visibility",
        Some(&[Kind::Grant]),
    ),
    ("-merge", Some(&[Kind::Merge, Kind::Follow])),
    ("-pays -rent chain-live money", Some(&[Kind::Pay])),
    (
        "-publish image-push store-upload git:push-elsewhere git:push-force",
        Some(&[Kind::Push, Kind::Follow]),
    ),
    ("supply-chain:", Some(INSTALLING)),
    (
        "add-service crontab login-item run-later write-startup",
        Some(&[Kind::Schedule, Kind::Grant]),
    ),
    ("exfiltration:change-remote filesystem:ch", Some(&[])),
    ("exfiltration:", Some(&[Kind::Say, Kind::Push])),
    (
        "rsync-delete",
        Some(&[Kind::Push, Kind::Remove, Kind::Follow]),
    ),
    ("filesystem: git:", Some(&[Kind::Remove, Kind::Follow])),
    ("", Some(&[])),
];

/// Returns the words of a list.
fn names(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

/// Whether one of several words is in a list.
fn has(words: &[String], list: &'static str) -> bool {
    names(list).any(|name| words.iter().any(|word| word == name))
}

/// Every rule for commands.
static ALL_RULES: LazyLock<Selection> = LazyLock::new(|| Selection {
    presets: vec!["standard".to_owned()],
    ..Selection::default()
});

/// Whether the person has asked for acts of a call's kinds; none where that cannot be told. Where nothing was typed, or nothing
/// was read that could have led to it, nothing speaks against the call.
pub fn is_asked(facts: &Facts, origins: Option<&Origins>) -> Option<bool> {
    let Some(origins) = origins.filter(|origins| origins.has(Origin::Project, READ)) else {
        return Some(true);
    };
    let Some(asked) = Asked::in_session(origins) else {
        return Some(true);
    };
    let acts = acts(facts, origins);
    let mut allowed = acts.iter().map(|kinds| asked.allows(kinds));
    allowed.try_fold(true, |all, one| Some(all && one?))
}

/// Whether a call does what was asked for and nothing else, as far as its kind tells: then a passage that speaks to an agent
/// has not led to it.
pub(super) fn is_plainly_asked(facts: &Facts, origins: &Origins) -> bool {
    let is_plain = match facts.tool().map(|tool| tool.kind) {
        Some(ToolKind::Shell) => !invocations(facts).any(outward::carries),
        Some(ToolKind::Mcp) => true,
        _ => false,
    };
    let is_shell = facts
        .tool()
        .is_some_and(|tool| tool.kind == ToolKind::Shell);
    let acts = acts(facts, origins);
    let asked = Asked::in_session(origins).unwrap_or_default();
    // What is lost, paid or opened is not told from what was meant by its kind alone.
    let is_light = |kind: &Kind| matches!(kind, Kind::Install | Kind::Push | Kind::Say);
    is_plain
        && acts.is_empty() == is_shell
        && asked.allows(&[]) == Some(true)
        && acts
            .iter()
            .all(|kinds| kinds.iter().any(is_light) && asked.allows(kinds) == Some(true))
}

/// Whether the person has asked to have something sent.
pub(super) fn may_send(origins: &Origins) -> bool {
    let asked = Asked::in_session(origins);
    asked.is_some_and(|asked| asked.allows(&[Kind::Say]) == Some(true))
}

/// Returns what must have been asked for, of each act of a call one kind.
fn acts(facts: &Facts, origins: &Origins) -> Vec<OneOf> {
    let Some(tool) = facts.tool() else {
        return Vec::new();
    };
    match tool.kind {
        // Whoever is to change what agents are told says so.
        ToolKind::Write | ToolKind::Edit if result::instructs(facts) => {
            vec![&[Kind::Steer, Kind::Follow]]
        }
        ToolKind::Shell => {
            let found = facts.shell().map(|shell| danger::judge(shell, &ALL_RULES));
            let of_rule = |rule: &str| {
                let mut rules = RULES.iter().filter(|(parts, _)| {
                    parts.is_empty() || names(parts).any(|part| rule.contains(part))
                });
                rules.next().and_then(|(_, kinds)| *kinds)
            };
            let found = found.into_iter().flatten();
            let mut acts: Vec<OneOf> = found.filter_map(|found| of_rule(&found.rule)).collect();
            for invocation in invocations(facts) {
                let words = invocation
                    .operands()
                    .flat_map(|word| name_words(&word.text));
                let words: Vec<String> = words.collect();
                if grants(&invocation.program, &words) || extends_agent(invocation) {
                    acts.push(&[Kind::Grant]);
                } else if outward::packages(invocation).any(|name| is_foreign(name, origins)) {
                    acts.push(INSTALLING);
                } else if outward::sets_at_service(invocation) {
                    acts.push(&[
                        Kind::Grant,
                        Kind::Install,
                        Kind::Remove,
                        Kind::Say,
                        Kind::Push,
                    ]);
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
    !named::has_topic(name, origins)
        && words.iter().any(|word| {
            let is_ours = [Origin::Prompt, Origin::Project].into_iter();
            let is_named = origins.has(Origin::Record, &words::named(word));
            origins.has(Origin::Text, word)
                && !is_named
                && !is_ours.into_iter().any(|o| origins.has(o, word))
        })
}

/// Whether a client of a service is told to change who may do what.
fn grants(program: &str, words: &[String]) -> bool {
    let reads = |word: &String| outward::READING.contains(&word.as_str());
    names(CLIENTS).any(|client| client == program)
        && has(words, RIGHTS)
        && !has(words, "can print")
        && !words.iter().any(reads)
}

/// Whether a program gives an agent or an editor something that works in it.
fn extends_agent(invocation: &Invocation) -> bool {
    let verbs = outward::verbs(invocation);
    let is_agent = program::find(&invocation.program).lists(Fact::Sends, "mcp");
    let mut words = invocation.arguments.iter().map(|word| word.text.as_str());
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
fn named(name: &str, server: &str, input: &Value) -> Option<OneOf> {
    let words = name_words(name);
    let has = |list: &'static str| has(&words, list);
    let (mut looks, mut changes) = (false, false);
    leaves(input, &mut |leaf| {
        looks |= outward::is_looking_statement(leaf);
        changes |= outward::is_changing_statement(leaf);
    });
    if changes {
        return Some(&[]);
    }
    let reads = words
        .first()
        .is_some_and(|word| outward::READING.contains(&word.as_str()));
    if reads || !has(ACTING) || looks && has("execute run") {
        return None;
    }
    if has(CHANGING) && lets_in(input) {
        return Some(&[Kind::Grant]);
    }
    let mut lists = NAMED.iter().filter(|(list, _)| has(list));
    let kinds = lists.next().map_or(&[] as OneOf, |(_, kinds)| kinds);
    match kinds {
        [Kind::Pay | Kind::Buy | Kind::Refund | Kind::Say, ..] if has(CHANGING) => Some(&[]),
        [Kind::Say, ..] if self::has(&name_words(server), MONEY) => {
            Some(&[Kind::Pay, Kind::Refund, Kind::Follow])
        }
        kinds => Some(kinds),
    }
}

/// Whether an input has a field that lets somebody in.
fn lets_in(input: &Value) -> bool {
    let is_such = |field: &str| {
        let field = field.to_lowercase();
        names(LETTING_IN).any(|part| field.contains(part))
    };
    match input {
        Value::Object(fields) => fields
            .iter()
            .any(|(field, value)| is_such(field) || lets_in(value)),
        Value::Array(items) => items.iter().any(lets_in),
        _ => false,
    }
}
