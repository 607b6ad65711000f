//! What a tool gave back: who wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::found::{Found, leaves};
use super::listing::By;
use super::named::Naming;
use super::{CUT, FOREIGN, SEEN, SPOKEN, TOLD, form, invocations, named, outward, told, words};
use crate::config::ProvenanceSettings;
use crate::event::{ToolKind, name_words};
use crate::fact::Facts;
use crate::program::{self, Fact};
use crate::session::{Origin, Origins};
use crate::shell::{Effect, Invocation, lexical};

/// Of how many paths in a result it is asked whose files they are.
const MOST_PATHS: usize = 1024;

/// Whether a call gives back what somebody else wrote; without the filters, as far as its own words tell.
pub(super) fn is_of_others(
    facts: &Facts,
    settings: &ProvenanceSettings,
    origins: Option<&Origins>,
) -> bool {
    let Some(tool) = facts.tool() else {
        return false;
    };
    let trusted = facts.trusted_hosts();
    match tool.kind {
        ToolKind::Fetch => {
            tool.urls.is_empty() || !tool.urls.iter().all(|url| outward::is_listed(url, trusted))
        }
        ToolKind::Mcp => {
            let mut believed = settings.trusted_mcp.iter().chain(&settings.project_mcp);
            !believed.any(|server| Some(server) == tool.mcp_server.as_ref())
        }
        ToolKind::Shell => {
            let transforms = invocations(facts).any(|invocation| {
                let program = program::find(&invocation.program);
                program.is(Fact::Language) || program.is(Fact::Decodes)
            });
            invocations(facts).any(|invocation| {
                decodes(invocation, transforms, origins)
                    || fetches(invocation) && !outward::is_believed(invocation, facts)
                    || !program::find(&invocation.program).is(Fact::Lists)
                        && invocation.operands().any(|word| {
                            let dir = invocation.work_dir.as_deref().unwrap_or(facts.work_dir());
                            let path = lexical(&word.text, dir, facts.home());
                            is_foreign(&path, facts, settings, origins)
                        })
            })
        }
        ToolKind::Read | ToolKind::Search => tool
            .paths
            .iter()
            .any(|path| is_foreign(&facts.project_root().join(path), facts, settings, origins)),
        // What a subagent tells may come from all that it has read.
        ToolKind::Agent => origins.is_some_and(|origins| origins.has(Origin::Text, SEEN)),
        ToolKind::Write | ToolKind::Edit | ToolKind::Delete | ToolKind::Other => false,
    }
}

/// Whether a program is given what encodes a text, from where somebody else wrote it.
fn decodes(invocation: &Invocation, transforms: bool, origins: Option<&Origins>) -> bool {
    let has = |word: &String| {
        (words::is_encoded(word) || transforms && word.len() >= 12 && !word.starts_with('/'))
            && origins.is_some_and(|origins| origins.has(Origin::Text, word))
    };
    let arguments = invocation.arguments.iter();
    arguments
        .map(|word| words::words(&word.text))
        .any(|words| words.iter().any(has))
}

/// Whether a program prints what another machine sends, or what a package that it installs says.
fn fetches(invocation: &Invocation) -> bool {
    let mut operands = invocation.operands().map(|word| word.text.as_str());
    match invocation.program.as_str() {
        // What it has made itself, it tells the address of.
        "gh" | "glab" => !matches!(
            outward::verbs(invocation)[1],
            Some("close" | "create" | "delete" | "edit" | "merge" | "upload")
        ),
        "git" => {
            let shows = operands
                .next()
                .is_some_and(|verb| matches!(verb, "show" | "log" | "diff"));
            let is_remote = |word: &str| {
                let remotes = ["origin/", "upstream/", "FETCH_HEAD"];
                remotes.iter().any(|remote| word.starts_with(remote))
            };
            shows && operands.any(is_remote)
        }
        name => {
            let program = program::find(name);
            program.is_with(Fact::Downloads, &outward::verbs(invocation))
                || program.is_with(Fact::Foreign, &outward::verbs(invocation))
                || program.is(Fact::Statements)
                || program.lists(Fact::Sends, "install") && outward::sends(invocation)
        }
    }
}

/// Whether a file holds what somebody else wrote: the policy says so, or this session has had it from elsewhere.
fn is_foreign(
    path: &Path,
    facts: &Facts,
    settings: &ProvenanceSettings,
    origins: Option<&Origins>,
) -> bool {
    let inside = path.strip_prefix(facts.project_root()).unwrap_or(path);
    let inside = inside.to_string_lossy();
    let mut globs = settings.untrusted_paths.iter();
    globs.any(|glob| fast_glob::glob_match(glob, &*inside))
        || origins.is_some_and(|origins| {
            let has = |path: &Path| origins.has(Origin::Text, &foreign(path));
            path.ancestors().any(has)
        })
}

/// Returns what is kept of a file or a folder that holds what somebody else wrote.
fn foreign(path: &Path) -> String {
    format!("{FOREIGN}{}", path.display())
}

/// Returns the files that a line writes.
fn written(facts: &Facts) -> Vec<PathBuf> {
    let written = facts.shell().map(|shell| shell.writes());
    let written = written.into_iter().flatten();
    let written = written.filter(|found| found.effect == Effect::Write && !found.inexact);
    written.map(|found| found.path).collect()
}

/// Returns the folder of a clone, or that of the repository in which what somebody else proposes is checked out.
fn cloned(invocation: &Invocation, facts: &Facts) -> Option<PathBuf> {
    let verbs = outward::verbs(invocation);
    let mut words = invocation.operands();
    let proposes = match invocation.program.as_str() {
        "gh" | "glab" => matches!(verbs, [Some("pr" | "mr"), Some("checkout" | "co")]),
        "git" => {
            let proposal =
                |word: &str| word.starts_with("pull/") || word.contains("merge-requests/");
            verbs[0] == Some("fetch")
                && words
                    .any(|w| proposal(w.text.trim_start_matches('+').trim_start_matches("refs/")))
        }
        _ => false,
    };
    if proposes {
        return Some(facts.project_root().to_owned());
    }
    let clones = matches!(invocation.program.as_str(), "git" | "gh" | "glab" | "hg");
    let mut operands = invocation.operands().map(|word| word.text.as_str());
    operands.find(|word| clones && *word == "clone")?;
    let (address, folder) = (operands.next()?, operands.next());
    if outward::is_listed(address, facts.trusted_hosts()) {
        return None;
    }
    let name = address.trim_end_matches('/').rsplit(['/', ':']).next()?;
    let folder = folder.unwrap_or_else(|| name.trim_end_matches(".git"));
    let dir = invocation.work_dir.as_deref();
    Some(lexical(
        folder,
        dir.unwrap_or(facts.work_dir()),
        facts.home(),
    ))
}

/// Adds the words of a result where they belong.
pub(super) fn learn(facts: &Facts, settings: &ProvenanceSettings, origins: &mut Origins) {
    let (Some(tool), Some(call)) = (facts.tool(), &facts.event().tool) else {
        return;
    };
    let result = call.output.as_ref().or(call.error.as_ref());
    let result = result.unwrap_or(&Value::Null);
    // A line may clone and print at once.
    let cloned: Vec<String> = invocations(facts)
        .filter_map(|invocation| cloned(invocation, facts))
        .map(|path| foreign(&path))
        .collect();
    origins.add(Origin::Text, cloned.iter().map(String::as_str));
    let urls = tool.urls.iter().map(String::as_str);
    let fetching = invocations(facts).filter(|invocation| fetches(invocation));
    let addresses: Vec<&str> = urls.chain(fetching.flat_map(outward::addresses)).collect();
    let looked_up = addresses.iter();
    let looked_up: Vec<named::LookedUp> = looked_up
        .filter_map(|address| named::looked_up(address, origins))
        .collect();
    let kept = looked_up.iter().flat_map(|one| &one.kept);
    origins.add(Origin::Prompt, kept.map(String::as_str));
    let is_of_others = is_of_others(facts, settings, Some(origins));
    if is_of_others {
        let written: Vec<String> = written(facts).iter().map(|path| foreign(path)).collect();
        origins.add(Origin::Text, written.iter().map(String::as_str));
    }
    let mut found = Found::by_tool(tool.mcp_tool.as_deref().unwrap_or_default());
    let by = origins.tool(&call.name);
    if is_of_others {
        let typed = named::Typed::of(origins);
        let server = name_words(tool.mcp_server.as_deref().unwrap_or_default());
        let is_referred = named::is_referred(origins)
            || typed.is_any(&server)
            || server.iter().any(|word| named::has_topic(word, origins));
        let (mut is_call_typed, mut is_call_meant) = (false, false);
        leaves(&call.input, &mut |leaf| {
            if tool.kind != ToolKind::Shell && words::is_value(leaf) {
                let words = words::words(leaf);
                is_call_typed |= typed.is_any(&words);
                is_call_meant |=
                    named::has_topic(leaf, origins) || named::is_led_to(&words, origins);
            }
        });
        for invocation in invocations(facts) {
            for word in &invocation.arguments {
                is_call_typed |= typed.is_any(&words::words(&word.text));
            }
        }
        let is_call_named = is_call_typed || is_call_meant && is_referred;
        // Whoever reads a page or a file need not do as it says, but as those say whom she named; what a service keeps for the
        // person is hers.
        let is_followed = named::is_followed(origins) || looked_up.iter().any(|one| one.by_owner);
        let may_name = tool.kind == ToolKind::Mcp || is_followed;
        let is_typed = |url: &String| {
            let words = words::words(url);
            words.iter().all(|word| named::is_typed(word, origins))
        };
        let is_page = tool.kind == ToolKind::Fetch
            && (is_followed || is_referred || tool.urls.iter().any(is_typed));
        let naming = Naming {
            is_all: is_page || may_name && is_call_named,
            typed: may_name.then_some(typed),
            by_title: is_followed,
        };
        if tool.kind == ToolKind::Mcp {
            leaves(result, &mut |leaf| {
                if leaf.contains('@') {
                    found.hosts.add(&words::words(leaf), origins);
                }
            });
        }
        found.texts.push(SEEN.to_owned());
        match tool.kind {
            ToolKind::Mcp => found.answer(result, &naming),
            // The answer of a search has rows: titles and addresses.
            ToolKind::Fetch if tool.urls.is_empty() => found.fields(result, &naming),
            _ if is_table(facts) => leaves(result, &mut |leaf| found.rows(leaf, &naming)),
            _ => leaves(result, &mut |leaf| found.listing(leaf, By::Page, &naming)),
        }
        // The address that the agent asked for comes back with the answer, and is still its own.
        let asked = addresses.iter().map(|address| words::words(address));
        let asked: BTreeSet<String> = asked.flat_map(|words| words::kept(&words)).collect();
        found.texts.retain(|word| !asked.contains(word));
        origins.add(Origin::Record, found.records.iter().map(String::as_str));
        // What fields tell of whom the person named goes before what a letter tells.
        let is_of_all = |field: &&String| is_call_typed || is_call_named && !field.contains('@');
        let fields = found.records.iter().filter(is_of_all).chain(&found.rows);
        let fields = fields.map(|field| field.trim_start_matches('='));
        let forms: BTreeSet<String> = fields.flat_map(form::kept).collect();
        let is_about = tool.kind == ToolKind::Mcp && (is_call_typed || is_call_meant);
        let with = found.records.iter().filter(|_| is_about);
        let with: Vec<String> = with
            .filter_map(|field| form::counterpart(field.trim_start_matches('=')))
            .collect();
        let of_all = forms.iter().chain(&with).map(String::as_str);
        origins.add(Origin::Record, of_all.chain(found.hosts.kept()));
        // Where nobody follows a page, it tells whom to write to, and not where to go, but to its own house.
        let houses: Vec<String> = tool.urls.iter().flat_map(|url| words::words(url)).collect();
        let houses: Vec<&str> = houses.iter().filter_map(|url| words::domain(url)).collect();
        let is_there = |word: &str| {
            let is_own = || words::domain(word).is_some_and(|domain| houses.contains(&domain));
            word.contains('@') || !words::is_place(word) || is_own()
        };
        let is_told_there =
            |part: &&String| !is_page || is_followed || part.split(' ').all(is_there);
        let named = found.named.iter().filter(is_told_there);
        let named: Vec<String> = named.map(|part| words::named(part)).collect();
        origins.add(Origin::Record, named.iter().map(String::as_str));
        origins.add_by(by, found.texts.iter().map(String::as_str));
        add_told(by, &found, origins, true);
    } else if tool.kind == ToolKind::Other {
        learn_other(&call.name, result, origins);
    } else if matches!(
        tool.kind,
        ToolKind::Read
            | ToolKind::Search
            | ToolKind::Shell
            | ToolKind::Fetch
            | ToolKind::Mcp
            | ToolKind::Agent
    ) {
        let mut others = Found::default();
        let mut seen = BTreeMap::new();
        let mut is_foreign = |line: &str| {
            let path = line.split_once(':').map_or("", |(path, _)| path.trim());
            let is_path = path.contains(['/', '.']) && !path.contains(char::is_whitespace);
            is_path
                && (seen.len() >= MOST_PATHS
                    || *seen.entry(path.to_owned()).or_insert_with(|| {
                        let path = lexical(path, facts.project_root(), facts.home());
                        is_foreign(&path, facts, settings, Some(origins))
                    }))
        };
        leaves(result, &mut |leaf| {
            // What is found in several files may be found in those of somebody else.
            if matches!(tool.kind, ToolKind::Search | ToolKind::Shell)
                && leaf.lines().any(&mut is_foreign)
            {
                for line in leaf.lines() {
                    let to = if is_foreign(line) {
                        &mut others
                    } else {
                        &mut found
                    };
                    to.text(line, &Naming::NOTHING);
                }
            } else {
                found.text(leaf, &Naming::NOTHING);
            }
        });
        if told::instructs(facts) || told::is_followed(facts, origins) {
            let told = std::mem::take(&mut found.told);
            found.texts.extend(told);
        }
        origins.add(Origin::Project, found.texts.iter().map(String::as_str));
        origins.add_by(by, others.texts.iter().map(String::as_str));
        add_told(by, &found, origins, false);
        add_told(by, &others, origins, true);
        found.is_cut |= others.is_cut;
    }
    if found.is_cut {
        origins.add(Origin::Text, std::iter::once(CUT));
    }
}

/// Adds what passages say that speak to an agent.
fn add_told(by: Option<usize>, found: &Found, origins: &mut Origins, is_of_others: bool) {
    if found.told.is_empty() {
        return;
    }
    let told = found.told.iter().map(|part| words::told(part));
    let marks = [SPOKEN].into_iter().chain(is_of_others.then_some(TOLD));
    let marks = marks.filter(|_| found.is_spoken);
    let told: Vec<String> = told.chain(marks.map(str::to_owned)).collect();
    origins.add_by(by, found.told.iter().map(String::as_str));
    origins.add(Origin::Text, told.iter().map(String::as_str));
}

/// Whether a call gives back a table, of which the cells are fields: rows of a database, or of a file of values.
fn is_table(facts: &Facts) -> bool {
    let is_list = |path: &str| [".csv", ".tsv"].iter().any(|end| path.ends_with(end));
    facts
        .tool()
        .is_some_and(|tool| tool.paths.iter().any(|path| is_list(path)))
        || invocations(facts).any(|invocation| {
            program::find(&invocation.program).is(Fact::Statements)
                || invocation.operands().any(|word| is_list(&word.text))
        })
}

/// Adds what a person has answered, and what a shell in the background has printed.
fn learn_other(name: &str, result: &Value, origins: &mut Origins) {
    let name = name.to_lowercase().replace(['_', '-'], "");
    let mut found = Found::default();
    match &*name {
        "askuserquestion" => {
            if let Some(answers) = result.get("answers") {
                leaves(answers, &mut |leaf| found.text(leaf, &Naming::NOTHING));
            }
            origins.add(Origin::Prompt, found.texts.iter().map(String::as_str));
        }
        "bashoutput" | "readbash" => {
            leaves(result, &mut |leaf| found.text(leaf, &Naming::NOTHING));
            let origin = if origins.has(Origin::Text, SEEN) {
                Origin::Text
            } else {
                Origin::Project
            };
            origins.add(origin, found.texts.iter().map(String::as_str));
        }
        _ => {}
    }
}
