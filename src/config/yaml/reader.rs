//! Reader: puts the parser's events together to nodes.

use std::collections::HashMap;

use granit_parser::{Event, Marker, ScalarStyle, Tag};

use super::scalar::plain;
use crate::config::{Key, Node, Value};
use crate::diagnostic::{Code, Diagnostic, FileId, Span};

/// How deep maps and lists may nest.
const MAX_DEPTH: usize = 48;

/// How many values a file may have, those of aliases counted each time that they are used.
const MAX_NODES: usize = 100_000;

/// Up to how many keys a map is searched through, and not indexed.
const FEW_KEYS: usize = 16;

pub(super) struct Reader<'a> {
    file: FileId,
    /// The bytes of the byte order mark, which the parser does not see.
    skipped: u32,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
    /// The values of anchors that are complete, and how many values each holds.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    open: Vec<Open>,
    pub(super) root: Option<Node>,
}

/// A map or list whose end is not read yet.
struct Open {
    span: Span,
    anchor: usize,
    /// The count of values before it, by which its own size is known at its end.
    nodes_before: usize,
    content: Content,
}

enum Content {
    Seq(Vec<Node>),
    Map {
        entries: Vec<(Key, Node)>,
        /// The places of the first keys, once there are many.
        places: HashMap<String, Span>,
        pending: Pending,
    },
}

enum Pending {
    /// A key comes next.
    Key,
    /// The value of this key comes next.
    Value(Key),
    /// The value of a key that was refused comes next, and is dropped.
    Dropped,
}

/// Boxed: a fault is rare, and large beside the nothing that is returned else.
type Outcome = Result<(), Box<Diagnostic>>;

impl<'a> Reader<'a> {
    pub(super) fn new(file: FileId, skipped: u32, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            file,
            skipped,
            diagnostics,
            anchors: HashMap::new(),
            nodes: 0,
            open: Vec::new(),
            root: None,
        }
    }

    pub(super) fn span(&self, start: &Marker, end: &Marker) -> Span {
        let offset = |marker: &Marker| {
            marker
                .byte_offset()
                .map_or(0, narrow)
                .saturating_add(self.skipped)
        };
        Span {
            file: self.file,
            start: offset(start),
            end: offset(end).max(offset(start)),
            line: narrow(start.line()),
            column: narrow(start.col()).saturating_add(1),
        }
    }

    pub(super) fn event(&mut self, event: Event<'_>, span: Span) -> Outcome {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, span)?;
                let value = self.scalar(&text, style, tag.as_deref(), span);
                self.finish(Node::new(value, span), anchor, 1)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.begin(Content::Seq(Vec::new()), anchor, tag.as_deref(), span)
            }
            Event::MappingStart(_, anchor, tag) => {
                let content = Content::Map {
                    entries: Vec::new(),
                    places: HashMap::new(),
                    pending: Pending::Key,
                };
                self.begin(content, anchor, tag.as_deref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(Box::new(
                        Diagnostic::error(Code::Syntax, "an alias of a value inside itself", span)
                            .help("write the value out"),
                    ));
                };
                self.count(size, span)?;
                self.finish(Node { span, ..node }, 0, size)
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, more: usize, span: Span) -> Outcome {
        self.nodes += more;
        if self.nodes > MAX_NODES {
            return Err(Box::new(
                Diagnostic::error(
                    Code::Limit,
                    format!("the file has more than {MAX_NODES} values, aliases written out"),
                    span,
                )
                .help("a policy needs a few hundred; use fewer aliases (`*name`)"),
            ));
        }
        Ok(())
    }

    fn begin(&mut self, content: Content, anchor: usize, tag: Option<&Tag>, span: Span) -> Outcome {
        self.count(1, span)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(Box::new(
                Diagnostic::error(
                    Code::Limit,
                    format!("maps and lists nest deeper than {MAX_DEPTH}"),
                    span,
                )
                .help("flatten this part"),
            ));
        }
        let wanted = match content {
            Content::Seq(_) => "seq",
            Content::Map { .. } => "map",
        };
        if let Some(tag) = tag
            && tag.core_suffix() != Some(wanted)
            && tag.original() != "!"
        {
            self.unknown_tag(tag, span);
        }
        self.open.push(Open {
            span,
            anchor,
            nodes_before: self.nodes - 1,
            content,
        });
        Ok(())
    }

    fn end(&mut self, end: Span) -> Outcome {
        let Some(Open {
            span,
            anchor,
            nodes_before,
            content,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let size = self.nodes - nodes_before;
        let node = match content {
            Content::Seq(items) => {
                let head = items.first().map_or(end, |item| item.span);
                Node::new(Value::Seq(items), headed(span, end, head))
            }
            Content::Map { entries, .. } => {
                let head = entries.first().map_or(end, |(key, _)| key.span);
                Node::new(Value::Map(entries), headed(span, end, head))
            }
        };
        self.finish(node, anchor, size)
    }

    /// Puts a complete value where it belongs: a key, a value, an item, or the document itself.
    fn finish(&mut self, node: Node, anchor: usize, size: usize) -> Outcome {
        if anchor != 0 {
            // The copy counts too: anchors inside anchors would multiply the memory else.
            self.count(size, node.span)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(Open { content, .. }) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match content {
            Content::Seq(items) => items.push(node),
            Content::Map {
                entries,
                places,
                pending,
            } => match std::mem::replace(pending, Pending::Key) {
                Pending::Value(key) => entries.push((key, node)),
                Pending::Dropped => {}
                Pending::Key => match key_of(node, |name| place_of(name, entries, places)) {
                    Ok(key) => *pending = Pending::Value(key),
                    Err(diagnostic) => {
                        self.diagnostics.push(*diagnostic);
                        *pending = Pending::Dropped;
                    }
                },
            },
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Value {
        let Some(tag) = tag else {
            if !matches!(style, ScalarStyle::Plain) {
                return Value::Str(text.to_owned());
            }
            let value = plain(text);
            if matches!(value, Value::Float(number) if !number.is_finite()) {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::BadValue,
                        format!("`{text}` is not a finite number"),
                        span,
                    )
                    .help("put it in quotes if it is text"),
                );
                return Value::Null;
            }
            return value;
        };
        let value = plain(text);
        let fits = match tag.core_suffix() {
            Some("str") => return Value::Str(text.to_owned()),
            _ if tag.original() == "!" => return Value::Str(text.to_owned()),
            Some("int") => matches!(value, Value::Int(_)),
            Some("float") => match value {
                Value::Int(_) => true,
                Value::Float(number) => number.is_finite(),
                _ => false,
            },
            Some("bool") => matches!(value, Value::Bool(_)),
            Some("null") => matches!(value, Value::Null),
            _ => {
                self.unknown_tag(tag, span);
                return Value::Null;
            }
        };
        if fits {
            return value;
        }
        self.diagnostics.push(Diagnostic::error(
            Code::WrongType,
            format!("`{text}` is not what the tag `{}` says", tag.original()),
            span,
        ));
        Value::Null
    }

    fn unknown_tag(&mut self, tag: &Tag, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::Syntax,
                format!("the tag `{}` has no meaning here", tag.original()),
                span,
            )
            .help("remove the tag, or put the text in quotes"),
        );
    }
}

/// Returns the place by which a map or list is shown: itself where it stands on one line, else its first key or item.
fn headed(start: Span, end: Span, head: Span) -> Span {
    if start.line == end.line && end.end > start.start {
        return Span {
            end: end.end,
            ..start
        };
    }
    if head.start >= start.start && head.line == start.line {
        return Span {
            end: head.end,
            ..start
        };
    }
    start
}

fn key_of(node: Node, place_of: impl FnOnce(&str) -> Option<Span>) -> Result<Key, Box<Diagnostic>> {
    let span = node.span;
    let name = match node.value {
        Value::Str(text) => text,
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null => {
            return Err(Box::new(
                Diagnostic::error(Code::Syntax, "a key is missing before the `:`", span)
                    .help("write `key: value`"),
            ));
        }
        Value::Seq(_) | Value::Map(_) => {
            return Err(Box::new(
                Diagnostic::error(Code::Syntax, "a map or list cannot be a key", span)
                    .help("put the key in quotes if it is text, `\"{…}\": value`"),
            ));
        }
    };
    if name == "<<" {
        return Err(Box::new(
            Diagnostic::error(Code::Syntax, "merge keys (`<<`) are not supported", span)
                .help("write the keys out, or use a whole value again by `*name`"),
        ));
    }
    if let Some(first) = place_of(&name) {
        return Err(Box::new(
            Diagnostic::error(
                Code::DuplicateKey,
                format!("the key `{name}` stands twice in one map"),
                span,
            )
            .saying("again here")
            .related(first, "first here")
            .help("keep one of them"),
        ));
    }
    Ok(Key { name, span })
}

/// Returns the place of a key that a map has already.
fn place_of(
    name: &str,
    entries: &[(Key, Node)],
    places: &mut HashMap<String, Span>,
) -> Option<Span> {
    if entries.len() <= FEW_KEYS {
        let mut keys = entries.iter().map(|(key, _)| key);
        return keys.find(|key| key.name == name).map(|key| key.span);
    }
    let new = entries.get(places.len()..).unwrap_or_default();
    places.extend(new.iter().map(|(key, _)| (key.name.clone(), key.span)));
    places.get(name).copied()
}

pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
