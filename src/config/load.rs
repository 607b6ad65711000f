//! Reads the layers and the packs that they extend, and stacks them.

use std::path::Path;
use std::path::PathBuf;

use super::Config;
use super::LayerSource;
use super::Loaded;
use super::Locations;
use super::Node;
use super::cache;
use super::cache::Inputs;
use super::file;
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

/// How deep packs may extend packs.
const MAX_EXTENDS: usize = 16;

/// Reads the layers of the given places.
pub(super) fn from_locations(locations: &Locations) -> Loaded {
    let mut loader = Loader::new(locations);
    for (source, path) in locations.layers() {
        let name = locations.display(&path);
        let read = file::read(&path, &name, &mut loader.sources);
        let content = match &read {
            Some(Ok((_, text))) => Some(cache::digest(text.as_bytes())),
            _ => None,
        };
        loader.inputs.layers.push((path.clone(), content));
        match read {
            None => {}
            Some(Err(diagnostic)) => loader.diagnostics.push(diagnostic),
            Some(Ok((place, text))) => {
                let dir = path.parent();
                loader.layer(source, Origin::File(path.clone()), dir, &text, place);
            }
        }
    }
    loader.finish()
}

/// Reads layers from text: each with its source and the name by which it is shown.
pub(super) fn from_texts(layers: &[(LayerSource, &str, &str)], locations: &Locations) -> Loaded {
    let mut loader = Loader::new(locations);
    for (source, name, text) in layers {
        let place = Span {
            file: loader.sources.add(*name, *text),
            line: 1,
            column: 1,
            ..Span::default()
        };
        let dir = Some(locations.project_root.as_path());
        loader.layer(*source, Origin::Text, dir, text, place);
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
}

impl<'a> Loader<'a> {
    fn new(locations: &'a Locations) -> Self {
        Self {
            locations,
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            stack: Stack::default(),
            inputs: Inputs::default(),
        }
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
            sources: self.sources,
            diagnostics: self.diagnostics,
            is_cached: false,
            inputs: self.inputs,
        }
    }

    /// Lays a layer on the stack, after the packs that it extends.
    fn layer(
        &mut self,
        source: LayerSource,
        origin: Origin,
        dir: Option<&Path>,
        text: &str,
        place: Span,
    ) {
        let mut extending = Extending::default();
        self.text(source, origin, dir, text, place, &mut extending);
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
                let content = cache::digest(text.as_bytes());
                self.inputs.packs.push(((*pack).to_owned(), content));
                let place = Span {
                    file: self.sources.add(name, text),
                    ..span
                };
                self.text(source, origin, None, text, place, extending);
            }
            Origin::File(path) => {
                let shown = self.locations.display(path);
                match file::read(path, &shown, &mut self.sources) {
                    Some(Ok((place, text))) => {
                        let content = cache::digest(text.as_bytes());
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

fn unknown_pack(name: &str, pack: &str, span: Span) -> Diagnostic {
    let names = PACKS.iter().map(|pack| pack.name);
    let listed: Vec<_> = names.clone().map(|name| format!("`ahp:{name}`")).collect();
    let message = format!("unknown policy pack `{name}`");
    Diagnostic::error(Code::UnknownPack, message, span)
        .did_you_mean(pack, names)
        .help(format!("the packs are {}", listed.join(", ")))
}
