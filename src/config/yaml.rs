//! YAML text to Node: every value with its place, every fault reported, and limits on depth, size and aliases.
//!
//! Booleans, numbers and nothing are those of YAML 1.2's core schema, so that `on`, `yes` and `no` are text; a number
//! with leading zeros is text too, because it would lose them.

use std::collections::HashMap;

use granit_parser::ErrorKind;
use granit_parser::Event;
use granit_parser::Marker;
use granit_parser::Parser;
use granit_parser::ScalarStyle;
use granit_parser::Tag;

use super::Key;
use super::Node;
use super::Value;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::FileId;
use crate::diagnostic::Span;

/// How deep maps and lists may nest.
const MAX_DEPTH: usize = 48;

/// How many values a file may have, those of aliases counted each time that they are used.
const MAX_NODES: usize = 100_000;

/// Reads one YAML document; what is wrong with it is added to `diagnostics`.
///
/// An empty document is an empty map. Without a result at least one error has been added; with one there may be errors
/// too, such as a duplicate key, and what they do not touch is still there to be checked further.
pub fn parse_yaml(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut reader = Reader {
        file,
        skipped: if text.starts_with('\u{feff}') { 3 } else { 0 },
        diagnostics,
        anchors: HashMap::new(),
        nodes: 0,
        open: Vec::new(),
        root: None,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser::new_from_str(text);
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, place) = match event {
            Ok(event) => event,
            Err(error) => {
                let point = reader.span(error.marker(), error.marker());
                reader.diagnostics.push(syntax_error(error.kind(), point));
                return None;
            }
        };
        let span = reader.span(&place.start, &place.end);
        if let Event::DocumentStart(..) = event {
            documents += 1;
            if documents > 1 {
                reader.diagnostics.push(
                    Diagnostic::error(Code::Syntax, "a second document starts here", span)
                        .help("keep one document a file: remove the `---`"),
                );
                return None;
            }
        }
        if let Err(diagnostic) = reader.event(event, span) {
            reader.diagnostics.push(*diagnostic);
            return None;
        }
    }
    let start = Span {
        file,
        line: 1,
        column: 1,
        ..Span::default()
    };
    Some(match reader.root {
        Some(Node {
            value: Value::Null, ..
        })
        | None => Node::empty_map(start),
        Some(root) => root,
    })
}

struct Reader<'a> {
    file: FileId,
    /// The bytes of the byte order mark, which the parser does not see.
    skipped: u32,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// The values of anchors that are complete, and how many values each holds.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    open: Vec<Open>,
    root: Option<Node>,
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

impl Reader<'_> {
    fn span(&self, start: &Marker, end: &Marker) -> Span {
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

    fn event(&mut self, event: Event<'_>, span: Span) -> Outcome {
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
                Pending::Key => match key_of(node, places) {
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

fn key_of(node: Node, places: &mut HashMap<String, Span>) -> Result<Key, Box<Diagnostic>> {
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
    if let Some(&first) = places.get(&name) {
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
    places.insert(name.clone(), span);
    Ok(Key { name, span })
}

/// Returns the value of a plain scalar by YAML 1.2's core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Value::Float(f64::INFINITY);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.starts_with(['-', '+'])
            && let Ok(number) = i64::from_str_radix(digits, radix)
        {
            return Value::Int(number);
        }
    }
    let mut bytes = unsigned.bytes();
    let starts_as_number = match (bytes.next(), bytes.next()) {
        (Some(b'0'), Some(b'0'..=b'9')) => false,
        (Some(b'0'..=b'9'), _) | (Some(b'.'), Some(b'0'..=b'9')) => true,
        _ => false,
    };
    if !starts_as_number {
        return Value::Str(text.to_owned());
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::Int(number);
    }
    let numeric = |b: u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    match text.parse::<f64>() {
        Ok(number) if unsigned.bytes().all(numeric) => Value::Float(number),
        _ => Value::Str(text.to_owned()),
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Makes a diagnostic of a fault that the parser found.
fn syntax_error(kind: &ErrorKind, point: Span) -> Diagnostic {
    let (message, help) = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => ("a tab is used for indentation", "indent with spaces"),
        ErrorKind::UnknownAnchor => (
            "an alias (`*name`) without an anchor (`&name`) before it",
            "put the text in quotes if it starts with `*`",
        ),
        ErrorKind::UnclosedQuotedScalar => ("a quote is not closed", "close it"),
        ErrorKind::InvalidQuotedScalarIndent => (
            "the quoted text that started above goes on here, and is not indented",
            "close the quote where it should end, or indent this line",
        ),
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. } => (
            "this bracket is not closed by its like",
            "close every `[` by `]` and every `{` by `}`",
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "a backslash in double quotes starts an escape, and this is none",
            "use single quotes, in which a backslash is itself",
        ),
        ErrorKind::ExpectedBlockMappingKey => (
            "a `key: value` was expected here",
            "check the indentation of this line and of the one above it",
        ),
        ErrorKind::ExpectedBlockSequenceEntry => (
            "a list item, `- …`, was expected here",
            "check the indentation of this line and of the one above it",
        ),
        ErrorKind::MappingValueNotAllowed => (
            "a `:` cannot stand here",
            "put the text in quotes if it holds `: `, or check the indentation",
        ),
        ErrorKind::SimpleKeyExpected => (
            "this line is neither `key: value` nor a list item",
            "add the missing `:`, or check the indentation",
        ),
        ErrorKind::ExpectedFlowMappingSeparator => {
            ("a `,` or `}` was expected here", "close the `{` before it")
        }
        ErrorKind::ExpectedFlowSequenceSeparator => {
            ("a `,` or `]` was expected here", "close the `[` before it")
        }
        ErrorKind::RecursionLimitExceeded => {
            let message = "maps and lists nest too deeply";
            return Diagnostic::error(Code::Limit, message, point).help("flatten this part");
        }
        _ => {
            let message = kind.to_string().replace('\'', "`");
            return Diagnostic::error(Code::Syntax, message.trim_end_matches('.'), point)
                .help("put text in quotes if it starts with or holds a sign that YAML uses");
        }
    };
    Diagnostic::error(Code::Syntax, message, point).help(help)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let node = parse_yaml(text, FileId(0), &mut diagnostics);
        (node, diagnostics)
    }

    fn json(text: &str) -> serde_json::Value {
        let (node, diagnostics) = read(text);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        node.unwrap().to_json()
    }

    fn fault(text: &str) -> (Code, u32, u32) {
        let (_, diagnostics) = read(text);
        let first = diagnostics.first().expect(text);
        let span = first.label.as_ref().unwrap().span;
        (first.code, span.line, span.column)
    }

    #[test]
    fn scalars_are_those_of_the_core_schema() {
        let cases = [
            ("on", serde_json::json!("on")),
            ("No", serde_json::json!("No")),
            ("True", serde_json::json!(true)),
            ("~", serde_json::json!(null)),
            ("12", serde_json::json!(12)),
            ("-0x1", serde_json::json!("-0x1")),
            ("0x1f", serde_json::json!(31)),
            ("0o17", serde_json::json!(15)),
            ("007", serde_json::json!("007")),
            ("0.5", serde_json::json!(0.5)),
            ("-.5e2", serde_json::json!(-50.0)),
            ("1e3", serde_json::json!(1000.0)),
            ("1_000", serde_json::json!("1_000")),
            ("1.2.3", serde_json::json!("1.2.3")),
            ("2026-01-01", serde_json::json!("2026-01-01")),
            ("infinity", serde_json::json!("infinity")),
            ("'12'", serde_json::json!("12")),
            ("!!str 12", serde_json::json!("12")),
            ("!!float 12", serde_json::json!(12)),
        ];
        for (text, expected) in cases {
            assert_eq!(json(&format!("v: {text}"))["v"], expected, "{text}");
        }
    }

    #[test]
    fn an_empty_document_is_an_empty_map() {
        for text in ["", "# nothing\n", "---\n", "\u{feff}", "~\n"] {
            assert_eq!(json(text), serde_json::json!({}), "{text:?}");
        }
    }

    #[test]
    fn places_survive_a_byte_order_mark_crlf_and_wide_characters() {
        let text = "\u{feff}表: 1\r\nkey: [a, 表格]\r\n";
        let node = read(text).0.unwrap();
        let Value::Seq(items) = &node.get("key").unwrap().value else {
            panic!("a list was expected");
        };
        let span = items[1].span;
        assert_eq!((span.line, span.column), (2, 10));
        assert_eq!(
            text.get(span.start as usize..span.end as usize),
            Some("表格")
        );
        let key = node.entries()[0].0.span;
        assert_eq!(text.get(key.start as usize..key.end as usize), Some("表"));
    }

    #[test]
    fn each_fault_has_its_place() {
        assert_eq!(fault("a: 1\nb: 2\na: 3\n"), (Code::DuplicateKey, 3, 1));
        assert_eq!(fault("a:\n\t- x\n").0, Code::Syntax);
        assert_eq!(fault("a: *nobody\n"), (Code::Syntax, 1, 4));
        assert_eq!(fault("a: &x [*x]\n"), (Code::Syntax, 1, 8));
        assert_eq!(fault("a: {<<: {b: 1}}\n"), (Code::Syntax, 1, 5));
        assert_eq!(fault("a: !thing x\n").0, Code::Syntax);
        assert_eq!(fault("a: .inf\n"), (Code::BadValue, 1, 4));
        assert_eq!(fault("a: 1\n---\nb: 2\n"), (Code::Syntax, 2, 1));
        assert_eq!(fault("? [a]\n: 1\n"), (Code::Syntax, 1, 3));
    }

    #[test]
    fn all_duplicate_keys_are_reported() {
        let (node, diagnostics) = read("a: 1\na: 2\nb: {c: 1, c: 2}\n");
        assert_eq!(diagnostics.len(), 2);
        assert!(node.is_some());
    }

    #[test]
    fn bombs_are_stopped() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let uses = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
        }
        assert_eq!(fault(&bomb).0, Code::Limit);
        let leaves = vec!["x"; 3_000].join(",");
        let nested: String =
            (0..40).fold(format!("[{leaves}]"), |inner, n| format!("&n{n} [{inner}]"));
        assert_eq!(fault(&nested).0, Code::Limit);
        assert_eq!(fault(&"[".repeat(10_000)).0, Code::Limit);
        assert_eq!(fault(&"- ".repeat(10_000)).0, Code::Limit);
        let deep: Vec<_> = (0..500).map(|n| format!("{}k:", " ".repeat(n))).collect();
        assert_eq!(fault(&deep.join("\n")).0, Code::Limit);
    }

    #[test]
    fn an_alias_has_the_place_of_its_use() {
        let node = read("a: &x {b: 1}\nc: *x\n").0.unwrap();
        let used = node.get("c").unwrap();
        assert_eq!((used.span.line, used.span.column), (2, 4));
        assert_eq!(used.get("b").unwrap().span.line, 1);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-a-c:,\\[\\]{}&*!|>'\"%@`#?~<. \t\r\n表\u{feff}0-9]{0,60}") {
            let (node, diagnostics) = read(&text);
            prop_assert!(node.is_some() || diagnostics.iter().any(Diagnostic::is_error));
            for label in diagnostics.iter().filter_map(|d| d.label.as_ref()) {
                prop_assert!(label.span.end as usize <= text.len());
                prop_assert!(label.span.line >= 1 && label.span.column >= 1);
            }
        }
    }
}
