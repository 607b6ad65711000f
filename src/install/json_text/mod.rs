//! JsonText: JSON with comments, edited where it must be and left as it is everywhere else.

mod tree;

pub use self::tree::JsonTextError;

use serde_json::Value;

use self::tree::Kind;
use self::tree::Node;
use self::tree::comma_after;
use self::tree::parse;

/// A settings file as text; every edit changes the least of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText {
    text: String,
}

impl JsonText {
    /// Reads a text; an empty one is an empty object.
    pub fn read(text: &str) -> Result<Self, JsonTextError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        parse(text)?;
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the whole as a value, without its comments.
    pub fn value(&self) -> Value {
        self.root().map_or(Value::Null, |root| root.value())
    }

    /// Whether there is nothing in it but comments: no member at all.
    pub fn is_empty_object(&self) -> bool {
        self.text.split_whitespace().collect::<String>() == "{}"
    }

    fn root(&self) -> Option<Node> {
        // It was parsed when it was read, and edits keep it well-formed.
        parse(&self.text).ok()
    }

    fn find(&self, path: &[&str]) -> Option<Node> {
        let mut node = self.root()?;
        for step in path {
            node = node.step(step)?.clone();
        }
        Some(node)
    }

    /// Adds a member to the object at a path, or an item to the array there; returns whether it could.
    ///
    /// For an array `key` is none. Containers that do not exist are not made.
    pub fn add(&mut self, path: &[&str], key: Option<&str>, value: &Value) -> bool {
        let Some(node) = self.find(path) else {
            return false;
        };
        let fits = match &node.kind {
            Kind::Object(_) => key.is_some(),
            Kind::Array(_) => key.is_none(),
            Kind::Scalar(_) => false,
        };
        if !fits {
            return false;
        }
        let parts = node.parts();
        let unit = self.indent_unit();
        let outer = self.indent_at(node.span.start);
        let inner = match parts.last() {
            Some(last) if self.starts_its_line(last.start) => self.indent_at(last.start),
            _ => format!("{outer}{unit}"),
        };
        let mut written = String::new();
        if let Some(key) = key {
            written.push_str(&Value::from(key).to_string());
            written.push_str(": ");
        }
        write(value, &inner, &unit, self.newline(), &mut written);
        let close = node.span.end - 1;
        let newline = self.newline();
        // Behind the last thing inside, comments included.
        let inside = self
            .text
            .get(node.span.start + 1..close)
            .unwrap_or_default();
        let behind = node.span.start + 1 + inside.trim_end().len();
        let one_line = !inside.contains('\n') && !parts.is_empty();
        let ends_with_comma = parts
            .last()
            .is_some_and(|last| comma_after(&self.text, last.end).is_some_and(|at| at < close));
        if one_line {
            let comma = if ends_with_comma { " " } else { ", " };
            self.text.insert_str(behind, &format!("{comma}{written}"));
            return true;
        }
        let tail = if inside.contains('\n') {
            String::new()
        } else {
            format!("{newline}{outer}")
        };
        let after = if ends_with_comma { "," } else { "" };
        self.text
            .insert_str(behind, &format!("{newline}{inner}{written}{after}{tail}"));
        if let Some(last) = parts.last()
            && !ends_with_comma
        {
            self.text.insert(last.end, ',');
        }
        true
    }

    /// Takes away the member or item at a path, with the one comma that belongs to it; returns whether it was there.
    pub fn remove(&mut self, path: &[&str]) -> bool {
        let Some((last, parents)) = path.split_last() else {
            return false;
        };
        let Some(node) = self.find(parents) else {
            return false;
        };
        let index = match &node.kind {
            Kind::Object(members) => members.iter().rposition(|m| m.key == *last),
            Kind::Array(items) => last.parse().ok().filter(|n| *n < items.len()),
            Kind::Scalar(_) => None,
        };
        let parts = node.parts();
        let Some((index, part)) = index.and_then(|n| Some((n, parts.get(n)?.clone()))) else {
            return false;
        };
        let before = index.checked_sub(1).and_then(|n| parts.get(n));
        let own_comma = comma_after(&self.text, part.end).filter(|at| *at < node.span.end);
        let range = match (own_comma, before) {
            // From behind what stands before it: its own line goes with it.
            (Some(comma), before) => {
                let from = before.map_or(node.span.start + 1, |b| {
                    comma_after(&self.text, b.end).map_or(b.end, |at| at + 1)
                });
                self.line_rest(from)..comma + 1
            }
            // The last one takes the comma before it along, and leaves a comment that follows that comma.
            (None, Some(before)) => {
                let comma = comma_after(&self.text, before.end).unwrap_or(before.end);
                let from = self.line_rest(comma + 1);
                if from > comma + 1 {
                    self.text.replace_range(from..part.end, "");
                    self.text.replace_range(comma..=comma, "");
                    return true;
                }
                comma..part.end
            }
            (None, None) => {
                let inside = node.span.start + 1..node.span.end - 1;
                let rest = self.text.get(inside.clone()).unwrap_or_default();
                let others =
                    rest.len() != part.len() && (rest.contains("//") || rest.contains("/*"));
                if others { part } else { inside }
            }
        };
        self.text.replace_range(range, "");
        true
    }

    /// Replaces the value at a path; returns whether it was there.
    pub fn replace(&mut self, path: &[&str], value: &Value) -> bool {
        let Some(node) = self.find(path) else {
            return false;
        };
        let mut written = String::new();
        let indent = self.indent_at(node.span.start);
        write(
            value,
            &indent,
            &self.indent_unit(),
            self.newline(),
            &mut written,
        );
        self.text.replace_range(node.span, &written);
        true
    }

    /// Returns where a comment ends that follows on the same line, else the place itself.
    fn line_rest(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        let line = line.trim_end_matches('\r');
        let text = line.trim();
        if text.starts_with("//") || (text.starts_with("/*") && text.ends_with("*/")) {
            from + line.len()
        } else {
            from
        }
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Returns the blanks at the start of the line of a place.
    fn indent_at(&self, at: usize) -> String {
        let head = self.text.get(..at).unwrap_or_default();
        let line = head.rsplit('\n').next().unwrap_or_default();
        line.chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect()
    }

    fn starts_its_line(&self, at: usize) -> bool {
        let head = self.text.get(..at).unwrap_or_default();
        let line = head.rsplit('\n').next().unwrap_or_default();
        line.len() < head.len() && line.trim().is_empty()
    }

    /// Returns the file's own step of indentation: that of its first indented line.
    fn indent_unit(&self) -> String {
        self.text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| {
                line.chars()
                    .take_while(|c| matches!(c, ' ' | '\t'))
                    .collect::<String>()
            })
            .find(|indent| !indent.is_empty())
            .unwrap_or_else(|| "  ".to_owned())
    }
}

/// Writes a value over lines, in the file's own indentation.
fn write(value: &Value, indent: &str, unit: &str, newline: &str, out: &mut String) {
    let inner = format!("{indent}{unit}");
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (n, (key, value)) in map.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { "," });
                out.push_str(&format!("{newline}{inner}{}: ", Value::from(key.as_str())));
                write(value, &inner, unit, newline, out);
            }
            out.push_str(&format!("{newline}{indent}}}"));
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { "," });
                out.push_str(&format!("{newline}{inner}"));
                write(item, &inner, unit, newline, out);
            }
            out.push_str(&format!("{newline}{indent}]"));
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str = "{\n    // my settings\n    \"model\": \"x\", // the best\n    \"hooks\": {\n        \"Stop\": [\n            {\"a\": 1}, // one\n            {\"b\": 2}\n        ]\n    }\n}\n";

    #[test]
    fn what_is_added_can_be_taken_away_without_a_trace() {
        let mut text = JsonText::read(FILE).unwrap();
        assert!(text.add(&["hooks", "Stop"], None, &json!({"c": {"d": [1, 2]}})));
        assert!(text.add(&["hooks"], Some("Start"), &json!([])));
        assert!(text.add(&[], Some("last"), &json!(true)));
        assert_eq!(
            text.value(),
            json!({"model": "x", "hooks": {"Stop": [{"a": 1}, {"b": 2}, {"c": {"d": [1, 2]}}], "Start": []}, "last": true})
        );
        assert!(
            text.text()
                .contains("            {\n                \"c\": {\n"),
            "{}",
            text.text()
        );
        assert!(text.remove(&["last"]));
        assert!(text.remove(&["hooks", "Start"]));
        assert!(text.remove(&["hooks", "Stop", "2"]));
        assert_eq!(text.text(), FILE);
    }

    #[test]
    fn every_place_of_a_list_can_be_taken_away() {
        for (index, left) in [
            ("0", "[\n  2, // two\n  3 // three\n]"),
            ("1", "[\n  1, // one\n  3 // three\n]"),
        ] {
            let mut text = JsonText::read("[\n  1, // one\n  2, // two\n  3 // three\n]").unwrap();
            assert!(text.remove(&[index]));
            // A comment behind a comma stays with what stands before it, unless that is what went.
            assert_eq!(
                text.value(),
                JsonText::read(left).unwrap().value(),
                "{}",
                text.text()
            );
        }
        let mut text = JsonText::read("[\n  1, // one\n  2\n]").unwrap();
        assert!(text.remove(&["1"]));
        assert_eq!(text.text(), "[\n  1 // one\n]");
        let mut text = JsonText::read("[1]").unwrap();
        assert!(text.remove(&["0"]));
        assert_eq!(text.text(), "[]");
    }

    #[test]
    fn lists_on_one_line_empty_ones_and_trailing_commas() {
        let added = |before: &str| {
            let mut text = JsonText::read(before).unwrap();
            assert!(text.add(&["a"], None, &json!(3)), "{before}");
            text.text().to_owned()
        };
        assert_eq!(added("{\"a\": [1, 2]}"), "{\"a\": [1, 2, 3]}");
        assert_eq!(added("{\"a\": []}"), "{\"a\": [\n  3\n]}");
        assert_eq!(
            added("{\n\t\"a\": [\n\t\t1,\n\t]\n}"),
            "{\n\t\"a\": [\n\t\t1,\n\t\t3,\n\t]\n}"
        );
        assert_eq!(
            added("{\r\n \"a\": [\r\n  1\r\n ]\r\n}"),
            "{\r\n \"a\": [\r\n  1,\r\n  3\r\n ]\r\n}"
        );
        assert_eq!(
            added("{\n  \"a\": [\n    1 // one\n    // end\n  ]\n}"),
            "{\n  \"a\": [\n    1, // one\n    // end\n    3\n  ]\n}"
        );
    }

    #[test]
    fn a_fault_is_placed() {
        let fault = JsonText::read("{\n  \"a\": ,\n}").unwrap_err();
        assert_eq!(
            (fault.line, fault.column, fault.expected),
            (2, 8, "expected a value")
        );
        assert!(JsonText::read("{\"a\" 1}").is_err());
        assert!(JsonText::read("{\"a\": \"x}").is_err());
        assert!(JsonText::read(&"[".repeat(10_000)).is_err());
        assert!(JsonText::read("").unwrap().is_empty_object());
    }
}
