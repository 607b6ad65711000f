//! Reads the layers and the packs that they extend, and stacks them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use super::Config;
use super::LayerRead;
use super::LayerSource;
use super::Loaded;
use super::Locations;
use super::Node;
use super::file;
use super::file::Inputs;
use super::merge::Stack;
use super::pack::PACKS;
use super::pack::Pack;
use super::parse;
use super::parse::Layer;
use super::parse_yaml;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::SourceMap;
use crate::diagnostic::Span;
use crate::event::Trigger;

/// How deep packs may extend packs.
const MAX_EXTENDS: usize = 16;

/// Reads the layers of the given places, and leaves out those of these names.
pub(super) fn from_locations(locations: &Locations, left_out: &[String]) -> Loaded {
    read_all(Loader::new(locations, left_out))
}

/// Reads the layers of the given places, those of the project as they were approved; their files come behind `sources`.
pub(super) fn from_approved(
    locations: &Locations,
    left_out: &[String],
    texts: &BTreeMap<PathBuf, String>,
    sources: SourceMap,
) -> Loaded {
    let mut loader = Loader::new(locations, left_out);
    loader.approved = Some(texts);
    loader.sources = sources;
    read_all(loader)
}

fn read_all(mut loader: Loader<'_>) -> Loaded {
    let locations = loader.locations;
    for (source, path) in locations.layers() {
        let name = locations.display(&path);
        let read = loader.read(&path, &name);
        let content = match &read {
            Some(Ok((_, text))) => Some(file::digest(text.as_bytes())),
            _ => None,
        };
        loader.inputs.layers.push((path.clone(), content));
        match read {
            None => {}
            Some(Err(diagnostic)) => {
                loader.diagnostics.push(diagnostic);
                let first = loader.sources.files().len().saturating_sub(1);
                loader.note(source, name, None, first, true);
            }
            Some(Ok((place, text))) => {
                let dir = path.parent();
                let origin = Origin::File(path.clone());
                loader.layer(source, name, origin, dir, &text, place);
            }
        }
    }
    loader.finish()
}

/// Reads layers from text: each with its source and the name by which it is shown.
pub(super) fn from_texts(
    layers: &[(LayerSource, &str, &str)],
    locations: &Locations,
    left_out: &[String],
) -> Loaded {
    let mut loader = Loader::new(locations, left_out);
    for (source, name, text) in layers {
        let place = Span {
            file: loader.sources.add(*name, *text),
            line: 1,
            column: 1,
            ..Span::default()
        };
        let dir = Some(locations.project_root.as_path());
        loader.layer(*source, (*name).to_owned(), Origin::Text, dir, text, place);
    }
    loader.finish()
}

/// What a layer or pack was read from, by which a circle is known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Text,
    File(PathBuf),
    Pack(&'static str),
}

struct Loader<'a> {
    locations: &'a Locations,
    left_out: &'a [String],
    /// The files of the project as they were approved, where those are read in the place of what lies there.
    approved: Option<&'a BTreeMap<PathBuf, String>>,
    layers: Vec<LayerRead>,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    stack: Stack,
    inputs: Inputs,
}

/// The packs of one layer: those that are being read, outermost first, and those that have been.
#[derive(Default)]
struct Extending {
    open: Vec<Origin>,
    done: Vec<Origin>,
    /// The triggers that they bind.
    triggers: BTreeSet<Trigger>,
}

impl<'a> Loader<'a> {
    fn new(locations: &'a Locations, left_out: &'a [String]) -> Self {
        Self {
            locations,
            left_out,
            approved: None,
            layers: Vec::new(),
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            stack: Stack::default(),
            inputs: Inputs::default(),
        }
    }

    /// Reads a file: one of the project as it was approved, where that is asked for.
    fn read(&mut self, path: &Path, name: &str) -> Option<Result<(Span, String), Diagnostic>> {
        let Some(texts) = self.approved.filter(|_| self.locations.is_in_project(path)) else {
            return file::read(path, name, &mut self.sources);
        };
        let text = texts.get(path)?;
        let place = Span {
            file: self
                .sources
                .add(format!("{name} (approved)"), text.as_str()),
            line: 1,
            column: 1,
            ..Span::default()
        };
        Some(Ok((place, text.clone())))
    }

    fn finish(mut self) -> Loaded {
        // As a reader goes through the files, not as the checks do.
        self.diagnostics
            .sort_by_key(|d| d.label.as_ref().map(|l| (l.span.file, l.span.start)));
        let (settings, setting_provenance, bindings) = self.stack.finish();
        Loaded {
            config: Config {
                settings,
                setting_provenance,
                bindings,
            },
            layers: self.layers,
            sources: self.sources,
            diagnostics: self.diagnostics,
            is_cached: false,
            held: Vec::new(),
            inputs: self.inputs,
        }
    }

    /// Lays a layer on the stack, after the packs that it extends; one with a fault fails alone, and is left out whole.
    fn layer(
        &mut self,
        source: LayerSource,
        name: String,
        origin: Origin,
        dir: Option<&Path>,
        text: &str,
        place: Span,
    ) {
        let (before, first) = (self.stack.clone(), self.sources.files().len() - 1);
        let known = self.diagnostics.len();
        let mut extending = Extending::default();
        self.text(source, origin, dir, text, place, &mut extending);
        let new = self.diagnostics.iter().skip(known);
        let faults: Vec<&Diagnostic> = new.filter(|d| d.is_error()).collect();
        let is_known = !faults.iter().any(|fault| hides_triggers(fault.code));
        let is_left_out = !faults.is_empty() || self.left_out.contains(&name);
        if is_left_out {
            self.stack = before;
        }
        // Where nothing is known to be bound, the fault is in what concerns all triggers.
        let triggers = Some(extending.triggers).filter(|bound| is_known && !bound.is_empty());
        self.note(source, name, triggers, first, is_left_out);
    }

    fn note(
        &mut self,
        source: LayerSource,
        name: String,
        triggers: Option<BTreeSet<Trigger>>,
        first: usize,
        is_left_out: bool,
    ) {
        self.layers.push(LayerRead {
            source,
            name,
            triggers,
            is_left_out,
            files: first..self.sources.files().len(),
        });
    }

    fn text(
        &mut self,
        source: LayerSource,
        origin: Origin,
        dir: Option<&Path>,
        text: &str,
        place: Span,
        extending: &mut Extending,
    ) {
        let Some(node) = parse_yaml(text, place.file, &mut self.diagnostics) else {
            return;
        };
        let layer = self.parse(&node, source);
        extending.open.push(origin.clone());
        for (name, span) in &layer.extends {
            self.extend(name, *span, source, dir, extending);
        }
        extending.open.pop();
        extending.done.push(origin);
        extending.triggers.extend(layer.bindings.keys());
        self.stack
            .add(layer, source, &self.sources, &mut self.diagnostics);
    }

    fn parse(&mut self, node: &Node, source: LayerSource) -> Layer {
        let home = self.locations.home.as_deref();
        parse::layer(node, source, home, &mut self.diagnostics)
    }

    /// Reads one entry of `extends`.
    fn extend(
        &mut self,
        name: &str,
        span: Span,
        source: LayerSource,
        dir: Option<&Path>,
        extending: &mut Extending,
    ) {
        let origin = if let Some(pack) = name.strip_prefix("ahp:") {
            let Some(pack) = Pack::find(pack) else {
                self.diagnostics.push(unknown_pack(name, pack, span));
                return;
            };
            Origin::Pack(pack.name)
        } else {
            Origin::File(self.resolve(name, dir))
        };
        if extending.open.contains(&origin) {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::Cycle,
                    format!("`{name}` extends itself, directly or through others"),
                    span,
                )
                .help("remove it from one of the files in the circle"),
            );
            return;
        }
        if extending.open.len() >= MAX_EXTENDS {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::Limit,
                    format!("more than {MAX_EXTENDS} packs extend each other"),
                    span,
                )
                .help("name them side by side in one `extends`"),
            );
            return;
        }
        // Two packs may build on a third; it lies below both, once.
        if extending.done.contains(&origin) {
            return;
        }
        match &origin {
            Origin::Pack(pack) => {
                let text = Pack::find(pack).map_or("", |pack| pack.text);
                let content = file::digest(text.as_bytes());
                self.inputs.packs.push(((*pack).to_owned(), content));
                let place = Span {
                    file: self.sources.add(name, text),
                    ..span
                };
                self.text(source, origin, None, text, place, extending);
            }
            Origin::File(path) => {
                let shown = self.locations.display(path);
                match self.read(path, &shown) {
                    Some(Ok((place, text))) => {
                        let content = file::digest(text.as_bytes());
                        self.inputs.extended.push((path.clone(), content));
                        let dir = path.parent();
                        self.text(source, origin.clone(), dir, &text, place, extending);
                    }
                    Some(Err(diagnostic)) => {
                        self.diagnostics.push(diagnostic.related(span, "named here"));
                    }
                    None => self.diagnostics.push(
                        Diagnostic::error(
                            Code::UnknownPack,
                            format!("there is no file `{shown}`"),
                            span,
                        )
                        .help("write `ahp:NAME` for a pack that ships with `ahp`, or a path relative to this file"),
                    ),
                }
            }
            Origin::Text => {}
        }
    }

    fn resolve(&self, name: &str, dir: Option<&Path>) -> PathBuf {
        let path = match (name.strip_prefix("~/"), &self.locations.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => dir.unwrap_or(&self.locations.project_root).join(name),
        };
        // One name for one file, so that a circle through links and `..` is seen.
        path.canonicalize().unwrap_or(path)
    }
}

/// Whether nobody knows what a layer binds that has such a fault.
const fn hides_triggers(code: Code) -> bool {
    matches!(
        code,
        Code::Syntax
            | Code::UnknownTrigger
            | Code::UnknownPack
            | Code::Unreadable
            | Code::TooLarge
            | Code::NotUtf8
            | Code::DuplicateKey
            | Code::UnknownKey
            | Code::WrongType
    )
}

fn unknown_pack(name: &str, pack: &str, span: Span) -> Diagnostic {
    let names = PACKS.iter().map(|pack| pack.name);
    let listed: Vec<_> = names.clone().map(|name| format!("`ahp:{name}`")).collect();
    let message = format!("unknown policy pack `{name}`");
    Diagnostic::error(Code::UnknownPack, message, span)
        .did_you_mean(pack, names)
        .help(format!("the packs are {}", listed.join(", ")))
}
