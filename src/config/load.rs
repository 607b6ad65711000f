//! Reads the layers and the packs that they extend, and stacks them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::file::Inputs;
use super::merge::Stack;
use super::pack::{PACKS, Pack};
use super::parse::Layer;
use super::{
    BindingSpec, Bundle, LayerRead, LayerSource, Loaded, Locations, Node, commands, file, parse,
    parse_yaml,
};
use crate::diagnostic::{Code, Diagnostic, SourceMap, Span};
use crate::event::Trigger;
use crate::pattern;
use crate::shell::{Surroundings, lexical, scripts, without_dots};

/// How deep packs may extend packs.
const MAX_EXTENDS: usize = 16;

/// Reads the layers of the given places, and leaves out those of these names.
pub(super) fn from_locations(locations: &Locations, left_out: &[String]) -> Loaded {
    read_all(Loader::new(locations, left_out))
}

/// Reads the layers of the machine alone.
pub(super) fn of_machine(locations: &Locations) -> Loaded {
    let mut loader = Loader::new(locations, &[]);
    loader.is_of_machine = true;
    read_all(loader)
}

/// Reads the layers of the given places, those of the project as they were approved; their files come behind `sources`.
pub(super) fn from_approved(
    locations: &Locations,
    left_out: &[String],
    texts: &BTreeMap<PathBuf, String>,
    sources: SourceMap,
) -> Loaded {
    let mut loader = Loader::new(locations, left_out);
    let first = sources.files().len();
    loader.approved = Some(texts);
    loader.sources = sources;
    let mut loaded = read_all(loader);
    loaded.sources.approve_from(first);
    loaded
}

fn read_all(loader: Loader<'_>) -> Loaded {
    pattern::within_bounds(|| read_layers(loader))
}

fn read_layers(mut loader: Loader<'_>) -> Loaded {
    let locations = loader.locations;
    for (source, path) in locations.layers() {
        if loader.is_of_machine && !source.is_of_machine() {
            continue;
        }
        let (path, name) = if source == LayerSource::Bundle {
            match loader.bundle(path) {
                Some(found) => found,
                None => continue,
            }
        } else {
            let name = locations.display(&path);
            (path, name)
        };
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
    loader.ask_for_bundle();
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
    /// Whether only the machine's layers are read.
    is_of_machine: bool,
    /// The files of the project as they were approved, where those are read in the place of what lies there.
    approved: Option<&'a BTreeMap<PathBuf, String>>,
    layers: Vec<LayerRead>,
    bundle: Option<Bundle>,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    stack: Stack,
    /// What would be in force with each layer that has faults, and whether all of it could be read.
    faulty: Vec<(Stack, bool)>,
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
            is_of_machine: false,
            approved: None,
            layers: Vec::new(),
            bundle: None,
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            stack: Stack::default(),
            faulty: Vec::new(),
            inputs: Inputs::default(),
        }
    }

    /// Reads a file: one of the project as it was approved, where that is asked for.
    fn read(&mut self, path: &Path, name: &str) -> Option<Result<(Span, String), Diagnostic>> {
        let approved = self.approved.filter(|_| self.locations.is_in_project(path));
        let (text, file) = match (approved, self.locations.drafts.get(path)) {
            (Some(texts), _) => {
                let text = texts.get(path)?;
                (text, self.sources.add_approved(name, text.as_str()))
            }
            (None, Some(draft)) => (draft, self.sources.add(name, draft.as_str())),
            (None, None) => return file::read(path, name, &mut self.sources),
        };
        let place = Span {
            file,
            line: 1,
            column: 1,
            ..Span::default()
        };
        Some(Ok((place, text.clone())))
    }

    fn finish(mut self) -> Loaded {
        let mut config = self.stack.finish();
        self.diagnostics.extend(config.settle_marks());
        // As a reader goes through the files, not as the checks do.
        self.diagnostics
            .sort_by_key(|d| d.label.as_ref().map(|l| (l.span.file, l.span.start)));
        config.digest = self.inputs.digest(self.bundle.as_ref());
        let specs = config.bindings.values().flatten();
        let (of_machine, others): (Vec<_>, Vec<_>) =
            specs.partition(|spec| spec.layer.is_of_machine());
        let of_machine = programs(of_machine.into_iter(), self.locations);
        let mut programs = programs(others.into_iter(), self.locations);
        programs.extend_from_slice(&of_machine);
        programs.sort_unstable();
        programs.dedup();
        let is_outside = |path: &PathBuf| !self.locations.is_in_project(path);
        self.inputs.programs = of_machine.into_iter().filter(is_outside).collect();
        let marks = config.marks.clone();
        let mut faulty = Vec::new();
        for (stack, is_read) in self.faulty {
            let mut config = stack.finish();
            let new = config.settle_marks();
            let is_told = |fault: &Diagnostic| {
                let span = |d: &Diagnostic| d.label.as_ref().map(|label| label.span);
                let mut told = self.diagnostics.iter();
                told.any(|d| d.message == fault.message && span(d) == span(fault))
            };
            // What could not be read may declare what seems to be missing.
            let new = new.into_iter().filter(|fault| is_read && !is_told(fault));
            let new: Vec<_> = new.collect();
            self.diagnostics.extend(new);
            faulty.push(config);
        }
        Loaded {
            faulty,
            programs,
            config,
            layers: self.layers,
            sources: self.sources,
            diagnostics: self.diagnostics,
            bundle: self.bundle,
            is_cached: false,
            held: Vec::new(),
            added: BTreeSet::new(),
            inputs: self.inputs,
            marks,
        }
    }

    /// Finds the signed policy in force: its layer, and what that is called.
    fn bundle(&mut self, usual: PathBuf) -> Option<(PathBuf, String)> {
        match Bundle::find(self.locations) {
            Ok(Some(bundle)) => {
                let path = bundle.dir.join("hooks.yaml");
                let name = bundle.display(&path).unwrap_or_default();
                self.bundle = Some(bundle);
                Some((path, name))
            }
            Ok(None) => {
                self.inputs.layers.push((usual, None));
                None
            }
            Err(why) => {
                let message = format!("the signed policy cannot be used: {why}");
                self.no_bundle(
                    message,
                    "`sudo ahp bundle pull` puts it right; else remove what lies there",
                );
                None
            }
        }
    }

    /// Whoever gives keys for signed policy wants one to be in force.
    fn ask_for_bundle(&mut self) {
        let asks = self.stack.asks_for_bundle();
        let is_looked_for = self.locations.bundle_dir.is_some();
        let is_read = self
            .layers
            .iter()
            .any(|layer| layer.source == LayerSource::Bundle);
        if asks && is_looked_for && !is_read {
            let message = "no signed policy is in force, and `settings.fleet.bundle` asks for one";
            self.no_bundle(message.to_owned(), "`sudo ahp bundle pull` fetches it");
        }
    }

    fn no_bundle(&mut self, message: String, help: &str) {
        let dir = self.locations.bundle_dir.clone().unwrap_or_default();
        let name = self.locations.display(&dir);
        let place = Span {
            file: self.sources.add(name.clone(), ""),
            line: 1,
            column: 1,
            ..Span::default()
        };
        let first = self.sources.files().len() - 1;
        let fault = Diagnostic::error(Code::Unreadable, message, place);
        self.diagnostics.push(fault.help(help));
        self.note(LayerSource::Bundle, name, None, first, true);
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
        if source == LayerSource::Bundle {
            self.stack.lock_bundle();
        }
        let new = self.diagnostics.iter().skip(known);
        let faults: Vec<&Diagnostic> = new.filter(|d| d.is_error()).collect();
        let is_known = !faults.iter().any(|fault| hides_triggers(fault.code));
        let is_left_out = !faults.is_empty() || self.left_out.contains(&name);
        if is_left_out {
            let faulty = std::mem::replace(&mut self.stack, before);
            self.faulty
                .extend(Some((faulty, is_known)).filter(|_| !faults.is_empty()));
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
        let is_pack = !extending.open.is_empty();
        let layer = self.parse(&node, source, dir.filter(|_| is_pack));
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

    fn parse(&mut self, node: &Node, source: LayerSource, pack_dir: Option<&Path>) -> Layer {
        let home = self.locations.home.as_deref();
        // What lies in the project is named as seen from it, as what comes with the project.
        let root = &self.locations.project_root;
        let pack_dir = pack_dir.map(|dir| {
            let real_root = root.canonicalize();
            let inner = dir.strip_prefix(root).ok();
            let inner = inner.or_else(|| dir.strip_prefix(real_root.ok()?).ok());
            inner.unwrap_or(dir).to_owned()
        });
        let pack_dir = pack_dir.as_deref();
        parse::layer(node, source, home, pack_dir, &mut self.diagnostics)
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
                self.diagnostics.push(unknown_pack(name, span));
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
                self.inputs.packs.push(content);
                let place = Span {
                    file: self.sources.add(name, text),
                    ..span
                };
                self.text(source, origin, None, text, place, extending);
            }
            Origin::File(path) => {
                let bundle = self.bundle.as_ref();
                let in_bundle = bundle.and_then(|bundle| bundle.display(path));
                if source == LayerSource::Bundle && in_bundle.is_none() {
                    let message = format!("`{name}` lies outside of the bundle");
                    self.diagnostics.push(
                        Diagnostic::error(Code::UnknownPack, message, span)
                            .help("a bundle extends packs that ship with `ahp`, and files that it holds, like `packs/ours.yaml`"),
                    );
                    return;
                }
                let shown = in_bundle.unwrap_or_else(|| self.locations.display(path));
                match self.read(path, &shown) {
                    Some(Ok((place, text))) => {
                        let content = file::digest(text.as_bytes());
                        self.inputs.extended.push((path.clone(), content));
                        let dir = path.parent();
                        self.text(source, origin.clone(), dir, &text, place, extending);
                    }
                    Some(Err(diagnostic)) => {
                        self.diagnostics
                            .push(diagnostic.related(span, "named here"));
                    }
                    None => {
                        let missing = Diagnostic::error(
                            Code::UnknownPack,
                            format!("there is no file `{shown}`"),
                            span,
                        );
                        let is_pack = path.file_name().and_then(|name| Pack::find(name.to_str()?));
                        self.diagnostics.push(match is_pack {
                            Some(pack) => missing.help(format!("did you mean `ahp:{}`?", pack.name)),
                            None => missing.help("write `ahp:NAME` for a pack that ships with `ahp`, or a path relative to this file"),
                        });
                    }
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
        // What was approved lies where it lay then, whatever links have been put in its way.
        let plain = without_dots(&path);
        if self
            .approved
            .is_some_and(|texts| texts.contains_key(&plain))
        {
            return plain;
        }
        // One name for one file, so that a circle through links and `..` is seen.
        path.canonicalize().unwrap_or(path)
    }
}

/// Returns the files that some bindings would run, and files with commands that they name.
fn programs<'a>(
    bindings: impl Iterator<Item = &'a BindingSpec>,
    locations: &Locations,
) -> Vec<PathBuf> {
    let surroundings = Surroundings {
        work_dir: locations.project_root.clone(),
        home: locations.home.clone(),
        project_root: locations.project_root.clone(),
    };
    let mut found = Vec::new();
    for command in bindings.flat_map(|spec| commands(&spec.config)) {
        let command = command.trim();
        if Path::new(command).extension().is_some_and(|e| e == "json") {
            let home = locations.home.as_deref();
            found.push(lexical(command, &locations.project_root, home));
        }
        found.extend(scripts(command, &surroundings).run);
    }
    found.sort_unstable();
    found.dedup();
    found
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

fn unknown_pack(name: &str, span: Span) -> Diagnostic {
    let names: Vec<_> = PACKS
        .iter()
        .map(|pack| format!("ahp:{}", pack.name))
        .collect();
    let listed: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("unknown policy pack `{name}`");
    Diagnostic::error(Code::UnknownPack, message, span)
        .did_you_mean(name, names.iter().map(String::as_str))
        .help(format!("the packs are {}", listed.join(", ")))
}
