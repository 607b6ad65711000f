//! The pages below `docs/reference/` that say what the program's own tables say.
//!
//! `INSTA_UPDATE=always cargo test --test main reference` makes `triggers.md` and `cli.md` anew. `events.md` is written by hand; its
//! tables are compared with the fields that the types read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use ahp::event::{Event, McpTool, Stop, Subagent, ToolCall, Trigger};
use ahp::host::{Fallback, HOSTS, HostEvent, Wish};
use ahp::signal::{Aid, Block, Control, Header, Modification, Prompt, Signal, SignalContext};
use ahp::verdict::{BindingReport, Verdict};
use serde::Deserializer;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Visitor};

use crate::world::{World, accepts_new_output};

const HEAD: &str = "<!-- Made from the code; `INSTA_UPDATE=always cargo test --test main reference` makes it anew. -->\n\n";

fn page(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("docs/reference").join(name)
}

/// Compares a page with what it should say, or writes it.
fn compare(name: &str, wanted: &str) {
    if accepts_new_output() {
        fs::write(page(name), wanted).unwrap();
    }
    assert!(
        fs::read_to_string(page(name)).unwrap_or_default() == wanted,
        "docs/reference/{name} is behind the code; `INSTA_UPDATE=always cargo test --test main reference` writes it"
    );
}

/// What each host tells at a trigger, but for questions to its person about a call that was told of before.
fn told_at(trigger: Trigger) -> Vec<(&'static str, Vec<&'static HostEvent>)> {
    let events = HOSTS.iter().map(|host| {
        let events = host.events.iter();
        let fitting = events.filter(|event| event.trigger == Some(trigger) && !event.is_permission);
        (host.name, fitting.collect::<Vec<_>>())
    });
    events.filter(|(_, events)| !events.is_empty()).collect()
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}

/// The hosts that carry a wish in their own form; `all`, `-`, or their names.
fn carriers(trigger: Trigger, wish: Wish) -> String {
    let told = told_at(trigger);
    let carries = |host: &str, events: &[&HostEvent]| {
        let host = HOSTS.iter().find(|of| of.name == host).unwrap();
        let mut events = events.iter();
        events.any(|event| host.fallback(wish, event) == Fallback::AsIs)
    };
    let names = told.iter().filter(|(host, events)| carries(host, events));
    let names: Vec<&str> = names.map(|(host, _)| *host).collect();
    match names.len() {
        0 => "-".to_owned(),
        n if n == told.len() => "all".to_owned(),
        _ => quoted(names),
    }
}

#[test]
fn the_page_of_triggers_is_the_table_of_the_code() {
    let mut page = format!(
        "{HEAD}# Triggers\n\nA trigger is a moment at which a policy can judge. A binding stands below one of them. Every name in the \
         second column is accepted too, and the first name is shown.\n\n| trigger | other names | when it fires |\n|---|---|---|\n"
    );
    for trigger in Trigger::ALL {
        let aliases = quoted(trigger.aliases().iter().copied());
        let (name, summary) = (trigger.name(), trigger.summary());
        writeln!(page, "| `{name}` | {aliases} | {summary} |").unwrap();
    }
    page.push_str(
        "\n## What each trigger supports\n\nAn oracle may give any intensity at any trigger. The effect depends on the trigger and on the host:\n\n| intensity | at `pre-…` | at `post-…` |\n|---|---|---|\n\
         | `block` | the operation does not happen | too late to stop; the agent gets the reason, if the host passes it on |\n\
         | `prompt` | a warning, or a question to a person (`ask`) | a warning |\n\
         | `control` | the input of a tool, or a parameter, is changed | too late to change anything |\n\
         | `aid` | a text for the agent | a text for the agent |\n\n\
         The table lists the hosts that support each answer directly; `all` means every host that has the trigger. If a host does not \
         support an answer, [a fixed order](../hosts.md#what-happens-to-an-answer-that-a-host-cannot-carry) determines the \
         replacement, such as a block with an explanation instead of a question.\n\n\
         | trigger | hosts that have it | block | ask | changed input | text for the agent |\n|---|---|---|---|---|---|\n",
    );
    for trigger in Trigger::ALL {
        let hosts = told_at(*trigger);
        let told = match hosts.len() {
            0 => "-".to_owned(),
            _ => quoted(hosts.iter().map(|(host, _)| *host)),
        };
        let row = [Wish::Block, Wish::Ask, Wish::Rewrite, Wish::Say];
        let row = row.map(|wish| carriers(*trigger, wish)).join(" | ");
        writeln!(page, "| `{}` | {told} | {row} |", trigger.name()).unwrap();
    }
    page.push_str(
        "\nThe triggers of issues also come from `ahp exec` and from the shell of every agent: a command line that runs \
         `monoco issue submit` is judged at `pre-issue-submit` too. See [Monoco](../how-to/monoco.md).\n",
    );
    compare("triggers.md", &page);
}

/// Returns the subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = lines.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

fn describe(world: &World, page: &mut String, words: &[&str]) {
    let name = [&["ahp"], words].concat().join(" ");
    write!(page, "\n## `{name}`\n\n").unwrap();
    let by_another = match words {
        ["fleet"] => Some("[gather logs](../how-to/gather-logs.md)"),
        ["bundle"] => Some("[bring a policy to everybody](../how-to/organisation.md)"),
        _ => None,
    };
    if let Some(page_of_it) = by_another {
        writeln!(
            page,
            "Done by a program of its own, `ahp-fleet`: {page_of_it}."
        )
        .unwrap();
        return;
    }
    let ran = world.ahp(&[words, &["--help"]].concat());
    assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    let help = ran.stdout;
    for line in help.trim_end().lines() {
        writeln!(page, "{}", format!("    {line}").trim_end()).unwrap();
    }
    for command in subcommands(&help) {
        describe(world, page, &[words, &[command]].concat());
    }
}

#[test]
fn the_page_of_the_command_line_is_what_help_prints() {
    let world = World::new("");
    let mut page = format!(
        "{HEAD}# Command line\n\nWhat `--help` prints, for every command.\n\nExit codes: 0, the operation may go on; 2, it is \
         blocked; 1, `ahp` itself could not do what was asked. `ahp hook` gives 0 and 2 only. `ahp exec` ends as the command that it \
         ran.\n"
    );
    describe(&world, &mut page, &[]);
    compare("cli.md", &page);
}

/// Tells the fields that a type reads, by refusing to read it.
struct Fields<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(serde::de::Error::custom("not read"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn fields<T: DeserializeOwned>() -> Vec<String> {
    let mut fields: &[&str] = &[];
    assert!(T::deserialize(Fields(&mut fields)).is_err());
    fields.iter().map(|&field| field.to_owned()).collect()
}

#[test]
fn the_page_of_events_names_every_field_that_is_read() {
    let text = fs::read_to_string(page("events.md")).unwrap();
    let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if line.starts_with("##") {
            line.trim_start_matches('#').trim().clone_into(&mut heading);
        } else if let Some((field, _)) = line.strip_prefix("| `").and_then(|l| l.split_once("` |"))
        {
            let of = shown.entry(heading.clone()).or_default();
            of.push(field.to_owned());
        }
    }
    let wanted: BTreeMap<String, Vec<String>> = [
        ("Event", fields::<Event>()),
        ("Tool", fields::<ToolCall>()),
        ("MCP", fields::<McpTool>()),
        ("Subagent", fields::<Subagent>()),
        ("Stop", fields::<Stop>()),
        ("Verdict", fields::<Verdict>()),
        ("Signal", fields::<Signal>()),
        ("Header", fields::<Header>()),
        ("Context", fields::<SignalContext>()),
        ("Block", fields::<Block>()),
        ("Control", fields::<Control>()),
        ("Modification", fields::<Modification>()),
        ("Prompt", fields::<Prompt>()),
        ("Aid", fields::<Aid>()),
        ("Binding", fields::<BindingReport>()),
    ]
    .map(|(name, fields)| (name.to_owned(), fields))
    .into();
    assert_eq!(shown, wanted);
}
