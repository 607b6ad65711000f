//! The front matter of an issue's file: cut off the text, and decoded from YAML.

use std::fmt;

use serde::de;
use serde::{Deserialize, Deserializer};
use serde_yaml::{Error, Spanned};

use super::checklist::give_ids;
use super::{ChecklistItem, Issue, ItemState, task_items};

/// What is wrong in a text, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) message: String,
}

/// A Markdown text and the YAML before it.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    yaml: Option<&'a str>,
    /// The line of the YAML's first line.
    yaml_line: u32,
    body: &'a str,
    body_line: u32,
}

/// Reads an issue; its path, and its id where the front matter has none, are the caller's to set.
pub(super) fn parse(bytes: &[u8]) -> Result<Issue, Fault> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            return Err(Fault {
                line: line_number(memchr::memchr_iter(b'\n', before).count() + 1),
                message: "the file is not UTF-8 text; save it as UTF-8".to_owned(),
            });
        }
    };
    let parts = split(text)?;
    let fields = match parts.yaml {
        Some(yaml) => decode(yaml, parts.yaml_line)?,
        None => Fields::default(),
    };
    let listed = fields.checklist.0;
    let checklist = if listed.is_empty() {
        task_items::find(parts.body, parts.body_line)
    } else {
        let offset = parts.yaml_line - 1;
        let item =
            |item: Spanned<ListedItem>| item.value.into_item(line_of(item.referenced) + offset);
        let mut items: Vec<ChecklistItem> = listed.into_iter().map(item).collect();
        give_ids(&mut items);
        items
    };
    Ok(Issue {
        id: fields.id.0.unwrap_or_default(),
        uid: fields.uid.0,
        kind: fields.kind.lower(),
        status: fields.status.lower(),
        stage: fields.stage.lower(),
        title: fields.title.0,
        parent: fields.parent.0,
        tags: fields.tags.0,
        dependencies: fields.dependencies.0,
        related: fields.related.0,
        files: fields.files.0,
        criticality: fields.criticality.lower(),
        solution: fields.solution.lower(),
        opened_at: fields.opened_at.0,
        closed_at: fields.closed_at.0,
        path: String::new(),
        checklist,
        body: parts.body.to_owned(),
        body_line: parts.body_line,
    })
}

/// Returns the text of the first `id:` line of a front matter, without decoding it; quick over thousands of files.
pub(super) fn quick_id(text: &str) -> Option<&str> {
    let mut lines = without_bom(text)
        .lines()
        .skip_while(|line| line.trim().is_empty());
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    for line in lines {
        if is_end(line) {
            return None;
        }
        if let Some(value) = line
            .strip_prefix("id:")
            .or_else(|| line.strip_prefix("ID:"))
        {
            let value = value.split(" #").next().unwrap_or_default().trim();
            return Some(value.trim_matches(['"', '\'']));
        }
    }
    None
}

fn split(text: &str) -> Result<Parts<'_>, Fault> {
    let text = without_bom(text);
    let mut offset = 0;
    let mut opened = None;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let start = offset;
        offset += line.len();
        let content = line.trim_end();
        match opened {
            None if content.is_empty() => {}
            None if content == "---" => opened = Some((offset, number + 1)),
            None => break,
            Some((from, yaml_line)) if is_end(content) => {
                return Ok(Parts {
                    yaml: text.get(from..start),
                    yaml_line,
                    body: text.get(offset..).unwrap_or_default(),
                    body_line: number + 1,
                });
            }
            Some(_) => {}
        }
    }
    match opened {
        None => Ok(Parts {
            yaml: None,
            yaml_line: 1,
            body: text,
            body_line: 1,
        }),
        Some((_, yaml_line)) => Err(Fault {
            line: yaml_line - 1,
            message: "the front matter that begins here has no end; close it with a line `---`"
                .to_owned(),
        }),
    }
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn is_end(line: &str) -> bool {
    matches!(line.trim_end(), "---" | "...")
}

fn decode(yaml: &str, first_line: u32) -> Result<Fields, Fault> {
    if yaml.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    }) {
        return Ok(Fields::default());
    }
    let options = serde_yaml::options! {
        strict_booleans: true,
        with_snippet: false,
        budget: serde_yaml::budget! { max_events: 200_000 },
    };
    serde_yaml::from_str_with_options(yaml, options).map_err(|error| {
        let line = error.location().map_or(1, line_of).max(1);
        Fault {
            line: line + first_line - 1,
            message: format!("the front matter does not parse: {}", plain(&error)),
        }
    })
}

/// Says a YAML error as its reader would, without its place: the line in the file stands before it.
fn plain(error: &Error) -> String {
    match error.without_snippet() {
        Error::Budget { .. } | Error::AliasExpansionLimitExceeded { .. } => {
            "it is too large, or its aliases multiply".to_owned()
        }
        Error::InvalidBooleanStrict { .. } => "expected `true` or `false`".to_owned(),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key `{key}` stands twice")
        }
        other => {
            let text = other.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            let text = text.lines().next().unwrap_or_default();
            match text {
                "expected mapping start" => "expected `key: value`".to_owned(),
                "expected string scalar" => "expected text".to_owned(),
                "expected sequence start" => "expected a list".to_owned(),
                text => text.to_owned(),
            }
        }
    }
}

fn line_of(location: serde_yaml::Location) -> u32 {
    u32::try_from(location.line()).unwrap_or(u32::MAX)
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// The fields that `monoco` writes, in either spelling that it reads; others are its own affair.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(alias = "ID")]
    id: Text,
    uid: Text,
    #[serde(rename = "type", alias = "Type")]
    kind: Text,
    #[serde(alias = "Status")]
    status: Text,
    #[serde(alias = "Stage")]
    stage: Text,
    #[serde(alias = "Title")]
    title: Text,
    #[serde(alias = "Parent")]
    parent: Text,
    tags: Texts,
    dependencies: Texts,
    related: Texts,
    files: Texts,
    criticality: Text,
    #[serde(alias = "Solution")]
    solution: Text,
    opened_at: Text,
    closed_at: Text,
    checklist: Items,
}

/// Any scalar, as it is written; nothing where it is empty.
#[derive(Debug, Default)]
struct Text(Option<String>);

impl Text {
    fn lower(self) -> Option<String> {
        self.0.map(|text| text.to_lowercase())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(Self(text.filter(|text| !text.is_empty())))
    }
}

/// A list of scalars, or one scalar.
#[derive(Debug, Default)]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of texts")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Texts, E> {
                Ok(Texts::default())
            }

            fn visit_none<E: de::Error>(self) -> Result<Texts, E> {
                Ok(Texts::default())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(Text(text)) = items.next_element()? {
                    texts.extend(text);
                }
                Ok(Texts(texts))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// The items of `checklist:`.
#[derive(Debug, Default)]
struct Items(Vec<Spanned<ListedItem>>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Option::<Vec<Spanned<ListedItem>>>::deserialize(deserializer)?;
        Ok(Self(items.unwrap_or_default()))
    }
}

/// One item of `checklist:`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a map with `item` and `checked`")]
struct ListedItem {
    id: Text,
    #[serde(alias = "text", alias = "title")]
    item: Text,
    checked: bool,
    verification: Verification,
    depends_on: Texts,
}

impl ListedItem {
    fn into_item(self, line: u32) -> ChecklistItem {
        let state = if self.checked {
            ItemState::Done
        } else {
            ItemState::Open
        };
        ChecklistItem {
            id: self.id.0.unwrap_or_default(),
            text: self.item.0.unwrap_or_default(),
            state,
            headings: [].into(),
            line,
            verification: self.verification.0,
            depends_on: self.depends_on.0,
            is_id_written: false,
        }
    }
}

/// `verification:` as one text, or as a map of one entry, which is written `key: value`.
#[derive(Debug, Default)]
struct Verification(Option<String>);

impl<'de> Deserialize<'de> for Verification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Verification;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text such as `file_exists: docs/api.md`")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Verification, E> {
                Ok(Verification::default())
            }

            fn visit_none<E: de::Error>(self) -> Result<Verification, E> {
                Ok(Verification::default())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Verification, E> {
                Ok(Verification(Some(text.to_owned())))
            }

            fn visit_map<A: de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Verification, A::Error> {
                let entry = map.next_entry::<String, String>()?;
                if map.next_key::<String>()?.is_some() {
                    return Err(de::Error::custom(
                        "`verification` has more than one entry; expected one, as in `file_exists: docs/api.md`, and an item for each",
                    ));
                }
                let text = entry.map(|(key, value)| format!("{key}: {value}"));
                Ok(Verification(text))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}
