//! The context that a script sees: the facts of the event, each made a script's value when it is first asked for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use rhai::Dynamic;
use rhai::Engine;
use rhai::EvalAltResult;
use rhai::ImmutableString;
use rhai::Map;

use super::list::List;
use super::sandbox::failure;
use super::value;
use crate::diagnostic::nearest;
use crate::event::ToolKind;
use crate::fact::Fact;
use crate::fact::FactSource;
use crate::fact::FactType;
use crate::fact::FactValue;
use crate::fact::Facts;
use crate::workspace::Change;
use crate::workspace::GitError;
use crate::workspace::ItemState;

/// Something that scripts can ask for and conditions cannot, because it is neither a text, a number nor a list of texts.
#[derive(Clone, Copy, Debug)]
pub struct Extra {
    /// The dotted name below the context.
    pub name: &'static str,
    /// What must be asked.
    pub source: FactSource,
    /// One line on what it is.
    pub summary: &'static str,
    get: fn(&View) -> Fallible<Dynamic>,
}

type Fallible<T> = Result<T, Box<EvalAltResult>>;

/// Everything that a script can ask its context for, beside the facts.
pub const EXTRAS: &[Extra] = &[
    extra(
        "config",
        FactSource::Event,
        "The binding's `config:`, with the script's defaults.",
        |view| Ok(Dynamic::from_map(view.config.as_ref().clone())),
    ),
    extra(
        "event",
        FactSource::Event,
        "The whole event, as a map.",
        |view| {
            let event = serde_json::to_value(view.facts.event()).unwrap_or_default();
            Ok(value::from_json(&event))
        },
    ),
    extra(
        "files.all",
        FactSource::Git,
        "Every changed file as `#{path, old_path, change, added_lines, removed_lines}`; `change` is added, modified, deleted or renamed.",
        changed_files,
    ),
    extra(
        "issue.body",
        FactSource::Issue,
        "The issue's Markdown below its front matter.",
        |view| issue(view, |issue| issue.body.as_str().into()),
    ),
    extra(
        "issue.items",
        FactSource::Issue,
        "The checklist as `#{id, text, state, section, line, verification}`; `state` is open, doing, done or cancelled.",
        checklist,
    ),
    extra(
        "issue.related",
        FactSource::Issue,
        "The issues that this one is related to.",
        |view| {
            issue(view, |issue| {
                Dynamic::from(issue.related.iter().map(String::as_str).collect::<List>())
            })
        },
    ),
    extra(
        "issue.solution",
        FactSource::Issue,
        "How the issue was solved.",
        |view| issue(view, |issue| optional(issue.solution.as_deref())),
    ),
    extra(
        "stop.final_message",
        FactSource::Event,
        "The agent's last message of the turn.",
        |view| {
            let stop = view.facts.event().stop.as_ref();
            Ok(optional(stop.and_then(|s| s.final_message.as_deref())))
        },
    ),
    extra(
        "subagent.task",
        FactSource::Event,
        "What the subagent was asked to do.",
        |view| {
            let subagent = view.facts.event().subagent.as_ref();
            Ok(optional(subagent.and_then(|s| s.task.as_deref())))
        },
    ),
    extra(
        "tool.commands",
        FactSource::Shell,
        "Every program that the command line would run, as `#{program, arguments, wrappers}`; `wrappers` are those it comes through, such as `sudo`.",
        |view| {
            Ok(view
                .facts
                .shell()
                .map_or_else(|| rhai::Array::new().into(), |analysis| commands(analysis)))
        },
    ),
    extra(
        "tool.commit_messages",
        FactSource::Shell,
        "The messages of the commits that the command line would make.",
        |view| {
            let messages = view
                .facts
                .shell()
                .map(|analysis| analysis.git_commit_messages());
            Ok(Dynamic::from(
                messages.into_iter().flatten().collect::<List>(),
            ))
        },
    ),
    extra(
        "tool.input",
        FactSource::Event,
        "The tool's whole input, as the host gives it.",
        |view| {
            let tool = view.facts.event().tool.as_ref();
            Ok(tool.map_or(Dynamic::UNIT, |t| value::from_json(&t.input)))
        },
    ),
    extra(
        "tool.writes",
        FactSource::Shell,
        "The paths that the command line would write, move or delete, relative to the project where they lie in it.",
        |view| {
            let effects = view.facts.shell().map(|analysis| analysis.writes());
            let root = view.facts.project_root();
            let paths = effects.into_iter().flatten().map(|effect| {
                let path = effect.path.strip_prefix(root).unwrap_or(&effect.path);
                path.to_string_lossy().into_owned()
            });
            Ok(Dynamic::from(paths.collect::<List>()))
        },
    ),
];

const fn extra(
    name: &'static str,
    source: FactSource,
    summary: &'static str,
    get: fn(&View) -> Fallible<Dynamic>,
) -> Extra {
    Extra {
        name,
        source,
        summary,
        get,
    }
}

/// What one run of a script sees.
#[derive(Debug)]
pub(super) struct View {
    facts: Facts,
    config: Arc<Map>,
    lists: Mutex<HashMap<Fact, List>>,
}

/// The context itself: `ctx`.
#[derive(Clone, Debug)]
pub(super) struct Root(Arc<View>);

/// A part of the context: `ctx.issue`.
#[derive(Clone, Debug)]
struct Section {
    view: Arc<View>,
    name: &'static str,
}

impl Root {
    pub(super) fn new(facts: Facts, config: Arc<Map>) -> Self {
        Self(Arc::new(View {
            facts,
            config,
            lists: Mutex::default(),
        }))
    }

    /// Returns what stands directly below the context under a name.
    pub(super) fn get(&self, name: &str) -> Fallible<Dynamic> {
        if let Some(section) = section(name) {
            return Ok(Dynamic::from(Section {
                view: self.0.clone(),
                name: section,
            }));
        }
        self.0.get(name)
    }
}

impl View {
    fn get(&self, name: &str) -> Fallible<Dynamic> {
        if let Some(fact) = Fact::find(name) {
            return self.fact(fact);
        }
        match EXTRAS.iter().find(|extra| extra.name == name) {
            Some(extra) => (extra.get)(self),
            None => Err(failure(unknown(name))),
        }
    }

    fn fact(&self, fact: Fact) -> Fallible<Dynamic> {
        // A fact that cannot be known is a fault of the project, not a fact that is absent.
        match fact.source() {
            FactSource::Issue => {
                self.facts.issue().map_err(|e| failure(e.to_string()))?;
            }
            FactSource::Git => match git_error(&self.facts, fact) {
                None | Some(GitError::NoRepository(_)) => {}
                Some(error) => return Err(failure(error.to_string())),
            },
            FactSource::Event | FactSource::Shell | FactSource::Tests | FactSource::Log => {}
        }
        if fact.value_type() == FactType::List {
            return Ok(Dynamic::from(self.list(fact)));
        }
        Ok(match self.facts.get(fact) {
            FactValue::Absent | FactValue::List(_) => Dynamic::UNIT,
            FactValue::Text(text) => text.as_ref().into(),
            FactValue::Integer(n) => n.into(),
            FactValue::Number(n) => n.into(),
            FactValue::Boolean(b) => b.into(),
            time @ FactValue::Time(_) => optional(time.as_text().as_deref()),
        })
    }

    fn list(&self, fact: Fact) -> List {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists
            .entry(fact)
            .or_insert_with(|| match self.facts.get(fact) {
                FactValue::List(items) => items.iter().map(String::as_str).collect(),
                _ => List::default(),
            })
            .clone()
    }
}

fn git_error(facts: &Facts, fact: Fact) -> Option<GitError> {
    if fact.name().starts_with("files.") {
        facts.changes().err().cloned()
    } else {
        facts.git().err().cloned()
    }
}

fn optional(text: Option<&str>) -> Dynamic {
    text.map_or(Dynamic::UNIT, Into::into)
}

fn issue(view: &View, part: fn(&crate::workspace::Issue) -> Dynamic) -> Fallible<Dynamic> {
    let issue = view.facts.issue().map_err(|e| failure(e.to_string()))?;
    Ok(issue.map_or(Dynamic::UNIT, |issue| part(issue)))
}

fn checklist(view: &View) -> Fallible<Dynamic> {
    let issue = view.facts.issue().map_err(|e| failure(e.to_string()))?;
    let items = issue.map_or(&[][..], |issue| &issue.checklist);
    let item = |item: &crate::workspace::ChecklistItem| {
        let state = match item.state {
            ItemState::Open => "open",
            ItemState::Doing => "doing",
            ItemState::Done => "done",
            ItemState::Cancelled => "cancelled",
        };
        map([
            ("id", item.id.as_str().into()),
            ("text", item.text.as_str().into()),
            ("state", state.into()),
            ("section", optional(item.section())),
            ("line", i64::from(item.line).into()),
            ("verification", optional(item.verification.as_deref())),
        ])
    };
    Ok(Dynamic::from_array(items.iter().map(item).collect()))
}

fn changed_files(view: &View) -> Fallible<Dynamic> {
    let changes = match view.facts.changes() {
        Ok(changes) => changes,
        Err(GitError::NoRepository(_)) => return Ok(rhai::Array::new().into()),
        Err(error) => return Err(failure(error.to_string())),
    };
    let lines = |n: Option<u32>| n.map_or(Dynamic::UNIT, |n| i64::from(n).into());
    let files = changes.files.iter().map(|file| {
        let change = match file.change {
            Change::Added => "added",
            Change::Modified => "modified",
            Change::Deleted => "deleted",
            Change::Renamed => "renamed",
        };
        map([
            ("path", file.path.as_str().into()),
            ("old_path", optional(file.old_path.as_deref())),
            ("change", change.into()),
            ("added_lines", lines(file.added_lines)),
            ("removed_lines", lines(file.removed_lines)),
        ])
    });
    Ok(Dynamic::from_array(files.collect()))
}

/// Makes the list of programs that a command line would run.
pub(super) fn commands(analysis: &crate::shell::Analysis) -> Dynamic {
    let commands = analysis.invocations.iter().map(|invocation| {
        let arguments: List = invocation
            .arguments
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let wrappers: List = invocation.wrappers.iter().map(String::as_str).collect();
        map([
            ("program", invocation.program.as_str().into()),
            ("arguments", Dynamic::from(arguments)),
            ("wrappers", Dynamic::from(wrappers)),
        ])
    });
    Dynamic::from_array(commands.collect())
}

/// Makes a map.
pub(super) fn map<const N: usize>(entries: [(&str, Dynamic); N]) -> Dynamic {
    Dynamic::from_map(
        entries
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    )
}

/// Returns every dotted name that a script may ask its context for.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    Fact::ALL
        .iter()
        .map(|fact| fact.name())
        .chain(EXTRAS.iter().map(|extra| extra.name))
}

/// Returns what must be asked to know a dotted name.
pub(super) fn source(name: &str) -> Option<FactSource> {
    Fact::find(name).map(Fact::source).or_else(|| {
        let extra = EXTRAS.iter().find(|extra| extra.name == name)?;
        Some(extra.source)
    })
}

/// Finds a part of the context that has parts itself.
pub(super) fn section(name: &str) -> Option<&'static str> {
    names().find_map(|known| {
        let (section, _) = known.split_once('.')?;
        (section == name).then_some(section)
    })
}

/// Says that there is no such fact, and which may have been meant.
pub(super) fn unknown(name: &str) -> String {
    match nearest_name(name) {
        Some(near) => format!("there is no fact `{name}`; did you mean `{near}`?"),
        None => format!("there is no fact `{name}`"),
    }
}

/// Returns the known dotted name nearest to a misspelt one: of the same section, if there is one.
pub(super) fn nearest_name(name: &str) -> Option<&'static str> {
    if let Some((part, _)) = name.split_once('.')
        && section(part).is_some()
    {
        let own = |known: &&str| known.split_once('.').is_some_and(|(s, _)| s == part);
        return nearest(name, names().filter(own));
    }
    let parts = names().map(|known| known.split_once('.').map_or(known, |(part, _)| part));
    nearest(name, parts)
}

/// Makes the context known to the interpreter.
pub(super) fn register(engine: &mut Engine) {
    super::list::register(engine);
    engine
        .register_type_with_name::<Root>("Context")
        .register_indexer_get(|root: &mut Root, name: ImmutableString| root.get(&name))
        .register_type_with_name::<Section>("Section")
        .register_indexer_get(|section: &mut Section, name: ImmutableString| {
            section.view.get(&format!("{}.{name}", section.name))
        })
        .register_fn("==", |section: &mut Section, name: &str| section.is(name))
        .register_fn("!=", |section: &mut Section, name: &str| !section.is(name))
        .register_fn("to_string", |section: &mut Section| section.name)
        .register_fn("to_debug", |section: &mut Section| section.name);
}

impl Section {
    /// Whether the event's tool is the one named, by whatever name its host calls it (spec §4.2).
    fn is(&self, name: &str) -> bool {
        let (true, Some(tool)) = (self.name == "tool", &self.view.facts.event().tool) else {
            return false;
        };
        let kind = ToolKind::of(name);
        tool.name == name || (kind != ToolKind::Other && ToolKind::of(&tool.name) == kind)
    }
}
