//! Patch: a change of one binding as an edit of the file, which keeps comments and layout.

use super::advise::Change;
use super::advise::Proposal;
use super::advise::up_front_id;
use crate::config::BindingSpec;
use crate::config::Config;
use crate::config::LayerSource;
use crate::config::with_binding;
use crate::diagnostic::SourceMap;
use crate::diagnostic::Span;

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
    let own = sources.get(spec.span.file).filter(|source| {
        let name = &*source.name;
        !name.starts_with("ahp:") && !name.starts_with(['~', '/']) && spec_is_of_project(spec)
    });
    let text_of = |name: &str| {
        let source = sources.files().iter().find(|s| &*s.name == name);
        source.map_or_else(String::new, |s| s.text.to_string())
    };
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
            let item = [format!("id: {}", spec.id), format!("{key}: {value}")];
            let (after, _) = with_binding(&before, proposal.hook, &item);
            (project_file.to_owned(), before, after)
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
    let layer = [(LayerSource::Project, file.as_str(), after.as_str())];
    let loaded = Config::from_layers(&layer, std::path::Path::new("."));
    // An override alone names no oracle; only what the edit itself breaks counts.
    let broke = loaded
        .diagnostics
        .iter()
        .find(|d| d.is_error() && d.code == crate::diagnostic::Code::Syntax);
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

fn spec_is_of_project(spec: &BindingSpec) -> bool {
    spec.provenance
        .last()
        .map_or(spec.layer, |last| last.layer)
        .is_of_project()
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
