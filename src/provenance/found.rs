//! Found: which words of a result are whole fields, and which stand within a text.

use serde_json::{Map, Value};

use super::alike::Hosts;
use super::listing::By;
use super::lists::lists;
use super::named::Naming;
use super::told::Passage;
use super::{form, listing, told, words};
use crate::config::parse_yaml;
use crate::diagnostic::FileId;
use crate::event::name_words;

/// How much of a result is read.
const MOST_BYTES: usize = 1 << 20;

/// The longest result that is read as YAML.
const MOST_YAML: usize = 256 << 10;

/// How many words a field of a row has that tells something of whom it is about: more may be what somebody says.
const MOST_NAMING: usize = 4;

/// What was found in a result.
#[derive(Default)]
pub(super) struct Found {
    /// Whole fields.
    pub(super) records: Vec<String>,
    /// Words, and pairs of them.
    pub(super) texts: Vec<String>,
    /// Those of passages that speak to an agent.
    pub(super) told: Vec<String>,
    /// Whether one does, and not only somebody who passes for another one.
    pub(super) is_spoken: bool,
    /// Those of passages in which a name stands that the person typed.
    pub(super) named: Vec<String>,
    /// The fields of rows in which one stands.
    pub(super) rows: Vec<String>,
    /// Whose addresses stand in it.
    pub(super) hosts: Hosts,
    /// The words in the name of the tool that gave it back.
    named_after: Vec<String>,
    /// How much was read.
    bytes: usize,
    /// Whether not all was read.
    pub(super) is_cut: bool,
}

impl Found {
    /// Begins with nothing, of what a tool of a name gives back.
    pub(super) fn by_tool(name: &str) -> Self {
        Self {
            named_after: name_words(name),
            ..Self::default()
        }
    }

    /// Reads a text; `naming` says whether a passage is one that the person has named.
    pub(super) fn text(&mut self, text: &str, naming: &Naming<'_>) {
        self.read(text, naming, None, false);
    }

    /// Reads a text in which a tool may have made rows for people: what stands in columns, behind the names of headers, or alone
    /// is a field, but where a passage speaks to an agent.
    pub(super) fn listing(&mut self, text: &str, by: By, naming: &Naming<'_>) {
        self.read(text, naming, Some(by), false);
    }

    fn read(&mut self, text: &str, naming: &Naming<'_>, rows: Option<By>, is_told: bool) {
        let read = self.readable(text);
        self.is_cut |= read.len() < text.len();
        self.bytes += read.len();
        let mut last: Option<(Passage<'_>, bool)> = None;
        let mut passages = told::passages(read, &self.named_after);
        // One word is a name or a kind (`Bot`).
        if let [only] = &mut *passages
            && (only.words.len() < 2 || told::is_title(only))
        {
            only.is_told = false;
        }
        self.is_spoken |= passages.iter().any(|passage| passage.is_told);
        // Who wrote a text stands at its head.
        let head = passages.first();
        if is_told || head.is_some_and(|head| self.hosts.is_false(&head.words)) {
            for one in &mut passages {
                one.is_told = true;
            }
        }
        let is_titled = naming.by_title
            && passages
                .first()
                .is_some_and(|head| !head.is_told && naming.is_by_name(&head.words));
        for passage in passages {
            let is_named = !passage.is_told && (is_titled || naming.is_named(&passage.words));
            self.add(words::kept(&passage.words), passage.is_told, is_named);
            if let Some((last, was_named)) = &last {
                // What an empty line parts may belong together.
                let seam = words::across(&last.words, &passage.words);
                let is_told = passage.is_told || last.is_told;
                self.add(seam, is_told, is_named && *was_named);
            }
            if let Some(by) = rows.filter(|_| !passage.is_told) {
                listing::cells(passage.text, by, &mut |cell| self.record(cell));
                // Mail that she has got came to her house.
                let houses =
                    (by == By::Service && last.is_none()).then(|| listing::receiver(passage.text));
                self.records
                    .extend(houses.flatten().as_deref().map(form::house));
            }
            last = Some((passage, is_named));
        }
    }

    /// Keeps a whole field, and of a mail address whose house it is.
    fn record(&mut self, field: &str) {
        let found = words::words(field);
        if let [mail] = &*found
            && let Some((_, host)) = mail.rsplit_once('@')
        {
            self.records.push(words::whole(&[host.to_owned()]));
        }
        self.records.push(words::whole(&found));
    }

    fn add(&mut self, kept: Vec<String>, is_told: bool, is_named: bool) {
        if is_told {
            self.told.extend(kept);
            return;
        }
        if is_named {
            self.named.extend(kept.iter().cloned());
        }
        self.texts.extend(kept);
    }

    /// Returns as much of a text as is still read.
    fn readable<'t>(&self, text: &'t str) -> &'t str {
        let mut end = text.len().min(MOST_BYTES - self.bytes);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.get(..end).unwrap_or_default()
    }

    /// Reads rows: each cell that is short is a field.
    pub(super) fn rows(&mut self, text: &str, naming: &Naming<'_>) {
        let has = |sign: char| {
            text.lines()
                .take(3)
                .any(|line| unnumbered(line).contains(sign))
        };
        let sign = ['|', '\t', ';', ',']
            .into_iter()
            .find(|sign| has(*sign))
            .unwrap_or(',');
        let read = self.readable(text);
        for cell in read
            .lines()
            .map(unnumbered)
            .flat_map(|line| line.split(sign))
        {
            let cell = cell.trim().trim_matches('"');
            if words::is_value(cell) {
                self.record(cell);
            }
        }
        self.text(text, naming);
    }

    /// Reads what an MCP tool gave back: blocks of content are texts, whatever else is a tree has fields.
    pub(super) fn answer(&mut self, result: &Value, naming: &Naming<'_>) {
        let is_block = |value: &Value| {
            value
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(is_content)
        };
        let blocks = result.get("content").unwrap_or(result);
        match (result, blocks) {
            (Value::String(text), _) => {
                if let Some(tree) = structured(text) {
                    self.answer(&tree, naming);
                } else {
                    listing::table(text, &mut |cell| self.record(cell));
                    self.listing(text, By::Service, naming);
                }
            }
            (_, Value::Array(items)) if items.iter().all(is_block) => {
                for item in items {
                    match item.get("text") {
                        Some(text) => self.answer(text, naming),
                        None => leaves(item, &mut |leaf| self.text(leaf, naming)),
                    }
                }
                if let Some(tree) = result.get("structuredContent") {
                    self.fields(tree, naming);
                }
            }
            // The text of an answer stands alone; a file or a mail has a `content` among its other fields.
            (Value::Object(all), Value::String(_)) if is_envelope(all) => {
                self.answer(blocks, naming);
            }
            (Value::Object(_), Value::String(text)) => {
                // The file may itself be a list or a map.
                if let Some(tree) = structured(text) {
                    self.fields(&tree, naming);
                }
                self.fields(result, naming);
            }
            _ => self.fields(result, naming),
        }
    }

    pub(super) fn fields(&mut self, tree: &Value, naming: &Naming<'_>) {
        self.tree(tree, Row::default(), naming);
    }

    fn tree(&mut self, tree: &Value, row: Row, naming: &Naming<'_>) {
        match tree {
            Value::Array(items) => items.iter().for_each(|item| self.tree(item, row, naming)),
            Value::Object(fields) => {
                let row = self.row(fields, row, naming);
                for (key, value) in fields {
                    // The name that a program gave to a field is no data; the address of each person with whom a file is shared is.
                    if !is_name(key) {
                        if words::is_value(key) {
                            self.record(key);
                        }
                        self.text(key, naming);
                    }
                    // Who is told by a whole name is called by a part of it.
                    if let Some(name) = value.as_str().filter(|name| words::is_value(name))
                        && name_words(key).iter().any(|word| word == "name")
                    {
                        let parts = name.split(' ');
                        let parts = parts.filter(|part| part.chars().all(char::is_alphabetic));
                        parts.for_each(|part| self.record(part));
                    }
                    self.tree(value, row, naming);
                }
            }
            leaf => leaves(leaf, &mut |leaf| self.leaf(leaf, row, naming)),
        }
    }

    /// Tells of a row whom it is about, and who wrote it, by its short fields and those of the things in it.
    fn row(&self, fields: &Map<String, Value>, outer: Row, naming: &Naming<'_>) -> Row {
        let mut row = Row {
            is_named: false,
            ..outer
        };
        for (key, value) in fields {
            let inner = value.as_object().into_iter().flat_map(Map::values);
            let short = std::iter::once(value)
                .chain(inner)
                .filter_map(Value::as_str);
            for field in short.filter(|field| words::is_value(field)) {
                let words = words::words(field);
                row.is_told |= lists().has("writers", key) && self.hosts.is_false(&words);
                row.is_named |= naming.is_by_name(&words);
            }
        }
        row
    }

    fn leaf(&mut self, leaf: &str, row: Row, naming: &Naming<'_>) {
        if row.is_told {
            return self.read(leaf, naming, None, true);
        }
        if leaf.starts_with(['{', '['])
            && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(leaf)
        {
            return self.answer(&inner, naming);
        }
        if words::is_value(leaf) {
            let found = words::words(leaf);
            let whole = words::whole(&found);
            self.rows.extend(row.is_named.then_some(whole));
            self.record(leaf);
            if let [word] = &*found {
                self.records
                    .extend(words::plain(word).map(|plain| words::whole(&[plain])));
            }
            // `Name <mail>` is two values.
            if let Some((name, mail)) = leaf.split_once('<') {
                let parts = [name, mail].map(|part| words::whole(&words::words(part)));
                self.records.extend(parts);
            }
        }
        let is_all = row.is_named && leaf.split_whitespace().count() <= MOST_NAMING;
        self.text(leaf, if is_all { &Naming::ALL } else { naming });
    }
}

/// What is told of a row by its fields.
#[derive(Clone, Copy, Default)]
struct Row {
    /// Whether it was written by somebody who passes for another one.
    is_told: bool,
    /// Whether a name stands in it that the person typed.
    is_named: bool,
}

/// Whether a key is the name of a field, as programs write it.
fn is_name(key: &str) -> bool {
    key.chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && key.contains(|c: char| c.is_ascii_alphabetic())
}

/// Whether a map has nothing beside its content but what is told of the call.
fn is_envelope(fields: &Map<String, Value>) -> bool {
    let told = [
        "content",
        "isError",
        "is_error",
        "structuredContent",
        "_meta",
    ];
    fields.keys().all(|key| told.contains(&key.as_str()))
}

/// Returns a line without the number that tools print before it.
fn unnumbered(line: &str) -> &str {
    let bare = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = bare.len() < line.trim_start().len();
    let bare = bare.strip_prefix(['\t', '→']).filter(|_| is_numbered);
    bare.unwrap_or(line)
}

/// Whether it is a kind of content block (Model Context Protocol, `ContentBlock`). What a service keeps has kinds of its own.
fn is_content(kind: &str) -> bool {
    matches!(
        kind,
        "audio" | "image" | "resource" | "resource_link" | "text"
    )
}

/// Reads a result as JSON or as YAML, where its top is a map or a list.
fn structured(text: &str) -> Option<Value> {
    let is_tree = |value: &Value| value.is_object() || value.is_array();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value).filter(is_tree);
    }
    let first = text.lines().find(|line| !line.trim().is_empty())?.trim();
    let is_key = |line: &str| {
        let (key, rest) = line.split_once(':').unwrap_or((line, "x"));
        !key.contains(' ') && (rest.is_empty() || rest.starts_with(' '))
    };
    // A handle that would be a number with an exponent (`1e51`) is none.
    let is_power = |word: &str| word.contains(['e', 'E']) && word.parse::<f64>().is_ok();
    if text.split_whitespace().any(is_power) {
        return None;
    }
    // Programs also print a map or a list as their own language writes it, in one line: `{'Blue Fox': '2 Quay Road'}`.
    if text.len() > MOST_YAML
        || !(first.starts_with(['{', '[']) || first.starts_with("- ") || is_key(first))
    {
        return None;
    }
    let node = parse_yaml(text, FileId::default(), &mut Vec::new())?;
    Some(node.to_json()).filter(is_tree)
}

/// Calls with every leaf that is a text or a number.
pub(super) fn leaves(value: &Value, give: &mut dyn FnMut(&str)) {
    named_leaves(value, "", &mut |_, leaf| give(leaf));
}

/// Calls with every such leaf and the name of the field that it stands in, which is empty at the top.
pub(super) fn named_leaves(value: &Value, field: &str, give: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => give(field, text),
        Value::Number(number) => give(field, &number.to_string()),
        Value::Array(items) => items
            .iter()
            .for_each(|item| named_leaves(item, field, give)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| named_leaves(value, name, give)),
        Value::Null | Value::Bool(_) => {}
    }
}
