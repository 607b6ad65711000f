//! Patch: a change of one binding as an edit of the file, which keeps comments and layout.

use super::advise::{ALLOW_COMMANDS, Change, Proposal, allowed, up_front_id};
use crate::config::{BindingSpec, Config, LayerSource, Node, Value, parse_yaml, with_binding};
use crate::diagnostic::{Code, Source, SourceMap, Span};
use crate::event::Trigger;

/// An edit of one file of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file as the source map names it.
    pub file: String,
    /// Its text before.
    pub before: String,
    /// Its text after.
    pub after: String,
}

impl Edit {
    /// Returns it as a unified diff.
    pub fn diff(&self) -> String {
        let mut options = diffy::DiffOptions::new();
        options
            .set_original_filename(self.file.clone())
            .set_modified_filename(self.file.clone());
        options.create_patch(&self.before, &self.after).to_string()
    }
}

/// Turns a proposal into an edit: of the binding where a layer of the project has it, else of the project's file, which
/// then overrides it.
///
/// # Errors
/// Why a machine cannot make this change.
pub fn edit(
    proposal: &Proposal,
    config: &Config,
    sources: &SourceMap,
    project_file: &str,
) -> Result<Edit, String> {
    let Some(change) = &proposal.change else {
        return Err("what to change must be found out by a person".to_owned());
    };
    let spec = config
        .bindings
        .get(&proposal.hook)
        .and_then(|specs| specs.iter().find(|s| s.id == proposal.binding))
        .ok_or("the binding is no longer configured")?;
    if proposal.locked {
        return Err(format!("the binding is locked by {}", proposal.place));
    }
    let own = own_source(spec, sources);
    let text_of = |name: &str| text_of(sources, name);
    let (file, before, after) = match (change, own) {
        (Change::Set { key, value }, Some(source)) => {
            let existing = spec
                .provenance
                .iter()
                .rev()
                .find(|p| p.key == *key && p.span.file == spec.span.file);
            let after = match existing {
                Some(place) => replace(&source.text, place.span, value),
                None => insert_key(&source.text, spec.span, key, value),
            }?;
            (source.name.to_string(), source.text.to_string(), after)
        }
        (Change::Set { key, value }, None) => {
            let before = text_of(project_file);
            let after = if let Some(item) = item_of(&before, proposal.hook, &spec.id) {
                match item.get(key) {
                    Some(given) => replace(&before, given.span, value),
                    None => insert_key(&before, item.span, key, value),
                }?
            } else {
                let item = [format!("id: {}", spec.id), format!("{key}: {value}")];
                with_binding(&before, proposal.hook, &item).0
            };
            (project_file.to_owned(), before, after)
        }
        (Change::Allow { command }, _) => {
            let binding = (proposal.hook, spec);
            return allow_command(binding, sources, project_file, command);
        }
        (Change::Teach { trigger }, own) => {
            let (file, before) = match own {
                Some(source) => (source.name.to_string(), source.text.to_string()),
                None => (project_file.to_owned(), text_of(project_file)),
            };
            let mut item = vec![
                format!("oracle: {}", proposal.oracle),
                format!("id: {}", up_front_id(spec)),
                "intensity: aid".to_owned(),
            ];
            if !spec.config.entries().is_empty() {
                let config = serde_json::to_string(&spec.config.to_json())
                    .map_err(|error| error.to_string())?;
                // JSON is YAML's flow style.
                item.push(format!("config: {config}"));
            }
            let (after, _) = with_binding(&before, *trigger, &item);
            (file, before, after)
        }
    };
    checked(file, before, after)
}

/// Lets a binding pass a command: where a layer of the project has the binding, else by an override of it in the project's file.
///
/// # Errors
/// Why a machine cannot make this change.
pub fn allow_command(
    (trigger, spec): (Trigger, &BindingSpec),
    sources: &SourceMap,
    project_file: &str,
    command: &str,
) -> Result<Edit, String> {
    if let Some(source) = own_source(spec, sources) {
        let after = allow(&source.text, spec, command)?;
        return checked(source.name.to_string(), source.text.to_string(), after);
    }
    let before = text_of(sources, project_file);
    // A later layer's list stands in the place of the earlier one.
    let mut commands = allowed(spec);
    commands.push(command.to_owned());
    let whole = format!("{{{ALLOW_COMMANDS}: {}}}", flow(&commands));
    let item = item_of(&before, trigger, &spec.id);
    let config = item.as_ref().and_then(|item| item.get("config"));
    let list = config.and_then(|config| config.get(ALLOW_COMMANDS));
    let after = match (&item, config, list) {
        (_, _, Some(list)) => insert_item(&before, list.span, &quoted(command))?,
        (_, Some(config), None) => {
            insert_key(&before, config.span, ALLOW_COMMANDS, &flow(&commands))?
        }
        (Some(item), None, None) => insert_key(&before, item.span, "config", &whole)?,
        (None, ..) => {
            let item = [format!("id: {}", spec.id), format!("config: {whole}")];
            with_binding(&before, trigger, &item).0
        }
    };
    checked(project_file.to_owned(), before, after)
}

/// Returns the file of the project that a binding stands in; none where it comes from a pack or another layer.
fn own_source<'s>(spec: &BindingSpec, sources: &'s SourceMap) -> Option<&'s Source> {
    sources.get(spec.span.file).filter(|source| {
        let name = &*source.name;
        !name.starts_with("ahp:") && !name.starts_with(['~', '/']) && spec_is_of_project(spec)
    })
}

fn text_of(sources: &SourceMap, name: &str) -> String {
    let source = sources.files().iter().find(|s| &*s.name == name);
    source.map_or_else(String::new, |s| s.text.to_string())
}

/// Makes an edit, as long as it leaves the file in good form.
fn checked(file: String, before: String, after: String) -> Result<Edit, String> {
    let layer = [(LayerSource::Project, file.as_str(), after.as_str())];
    let loaded = Config::from_layers(&layer, std::path::Path::new("."));
    // An override alone names no oracle; only what the edit itself breaks counts.
    let broke = loaded
        .diagnostics
        .iter()
        .find(|d| d.is_error() && matches!(d.code, Code::Syntax | Code::DuplicateKey));
    match broke {
        Some(fault) => Err(format!(
            "the file could not be edited safely: {}",
            fault.message
        )),
        None => Ok(Edit {
            file,
            before,
            after,
        }),
    }
}

/// Adds an entry before the first one of a list.
fn insert_item(text: &str, list: Span, entry: &str) -> Result<String, String> {
    let split = text.split_at_checked(list.start as usize);
    let (before, after) = split.ok_or("the file has changed meanwhile")?;
    if let Some(inside) = after.strip_prefix('[') {
        let rest = inside.trim_start();
        let comma = if rest.starts_with(']') { "" } else { ", " };
        return Ok(format!("{before}[{entry}{comma}{rest}"));
    }
    // The first item of a block: the new line begins as its line does.
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !after.starts_with("- ") || !line.trim().is_empty() {
        return Err(format!(
            "line {} is not a list that can be edited",
            list.line
        ));
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    Ok(format!("{before}- {entry}{end}{line}{after}"))
}

fn spec_is_of_project(spec: &BindingSpec) -> bool {
    spec.provenance
        .last()
        .map_or(spec.layer, |last| last.layer)
        .is_of_project()
}

/// Adds a command to those that a binding lets through, in the form that the list or the configuration has.
fn allow(text: &str, spec: &BindingSpec, command: &str) -> Result<String, String> {
    let is_here = |node: &&Node| node.span.file == spec.span.file;
    let list = spec.config.get(ALLOW_COMMANDS).filter(is_here);
    let Some(list) = list else {
        let one = flow(&[command.to_owned()]);
        let is_written = !spec.config.entries().is_empty();
        if is_written && is_here(&&spec.config) {
            return insert_key(text, spec.config.span, ALLOW_COMMANDS, &one);
        }
        let config = format!("{{{ALLOW_COMMANDS}: {one}}}");
        return insert_key(text, spec.span, "config", &config);
    };
    insert_item(text, list.span, &quoted(command))
}

/// Returns texts as a list in YAML's flow style, which JSON is.
fn flow(texts: &[String]) -> String {
    serde_json::Value::from(texts.to_vec()).to_string()
}

/// Returns a text as an item of a list in YAML's flow style.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Finds what a layer's text says of a binding itself; none where it says nothing.
fn item_of(text: &str, trigger: Trigger, id: &str) -> Option<Node> {
    let document = parse_yaml(text, Span::default().file, &mut Vec::new())?;
    let hooks = document.get("hooks")?;
    let of_trigger = hooks.entries().iter();
    let of_trigger = of_trigger.filter(|(key, _)| Trigger::find(&key.name) == Some(trigger));
    let lists = of_trigger.map(|(_, node)| node.get("oracles").unwrap_or(node));
    let items = lists.filter_map(|node| match &node.value {
        Value::Seq(items) => Some(items),
        _ => None,
    });
    let is_it = |item: &&Node| item.get("id").and_then(Node::as_str) == Some(id);
    items.flatten().find(is_it).cloned()
}

/// Puts a scalar in the place of another.
fn replace(text: &str, span: Span, value: &str) -> Result<String, String> {
    let (start, end) = (span.start as usize, span.end as usize);
    let old = text.get(start..end).unwrap_or_default();
    if old.is_empty() || old.contains(['\n', '{', '[']) {
        return Err(format!("line {} has no plain value to replace", span.line));
    }
    let (before, after) = (text.get(..start), text.get(end..));
    Ok(format!(
        "{}{value}{}",
        before.unwrap_or_default(),
        after.unwrap_or_default()
    ))
}

/// Adds a key before the first one of a map.
fn insert_key(text: &str, map: Span, key: &str, value: &str) -> Result<String, String> {
    let (before, after) = text
        .split_at_checked(map.start as usize)
        .ok_or("the file has changed meanwhile")?;
    if let Some(inside) = after.strip_prefix('{') {
        return Ok(format!("{before}{{{key}: {value}, {}", inside.trim_start()));
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim_start().chars().all(|c| c == '-' || c == ' ') {
        return Err(format!("line {} has no place for `{key}`", map.line));
    }
    let indent = " ".repeat(line.chars().count());
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let first = after.lines().next().unwrap_or_default();
    // Behind the first key where that is one line, so that `- oracle: …` stays what is read first.
    let is_one_line = first.split_once(": ").is_some_and(|(_, value)| {
        !value.trim().is_empty()
            && !value
                .trim_start()
                .starts_with(['|', '>', '#', '{', '[', '&'])
    });
    Ok(if is_one_line {
        let rest = after.get(first.len()..).unwrap_or_default();
        format!("{before}{first}{end}{indent}{key}: {value}{rest}")
    } else {
        format!("{before}{key}: {value}{end}{indent}{after}")
    })
}
