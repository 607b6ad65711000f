//! What a call or a macro gives as a string.

use tree_sitter::Node;

use super::call::Call;
use super::value::{HOLE, StringValue, formats_numbers_only, is_constant};
use super::{Walk, line_of, named_children};
use crate::words::words;

/// Whether a text holds a placeholder of a parameter: `'?'`, `"%s"`, `` `$${i}` ``.
fn holds_placeholder(text: &str) -> bool {
    [
        "'?", "\"?", "`?", "'%s'", "\"%s\"", "`$$", "'$'", "\"$\"", "\"$%d", "':", "\":",
    ]
    .iter()
    .any(|mark| text.contains(mark))
}

impl Walk<'_> {
    pub(super) fn called(&self, call: &Call<'_>, depth: u32) -> StringValue {
        if call.is_tagged {
            return StringValue::default();
        }
        let name = call.name.as_str();
        let receiver = || call.receiver.map(|r| self.value(r, depth + 1));
        let arguments = || {
            call.arguments
                .iter()
                .fold(StringValue::default(), |sum, a| {
                    sum.then(&self.value(*a, depth + 1))
                })
        };
        let first = || call.arguments.first().map(|a| self.value(*a, depth + 1));
        let is_number = words!("number-functions").contains(&name);
        let is_escaped =
            name.contains("escape") || name.contains("quote") || name.contains("sanitize");
        if is_number || is_escaped {
            return StringValue::literal("0");
        }
        let repeats = words!("repeating-functions").contains(&name);
        if repeats && holds_placeholder(self.text(call.node)) {
            return StringValue::literal("?");
        }
        match name {
            // The text goes through as it is.
            _ if words!("passing-functions").contains(&name) => {
                let through = match (call.arguments.is_empty(), receiver()) {
                    (true, Some(receiver)) => receiver,
                    (true, None) => StringValue::default(),
                    (false, _) => first().unwrap_or_default(),
                };
                if through.text.is_empty()
                    && through.dynamic.is_none()
                    && !matches!(name, "new" | "stringbuilder" | "stringbuffer")
                    && !call.arguments.is_empty()
                {
                    StringValue::unknown(call.node)
                } else {
                    through
                }
            }
            "append" | "concat" | "push_str" | "writestring" | "add" => {
                receiver().unwrap_or_default().then(&arguments())
            }
            "join" | "implode" => receiver().unwrap_or_default().then(&arguments()),
            // Parts of a text.
            _ if words!("cutting-functions").contains(&name) => {
                let whole = receiver().filter(|r| r.text.len() > 1 || r.dynamic.is_none());
                whole
                    .or_else(first)
                    .unwrap_or_else(|| StringValue::unknown(call.node))
            }
            "map" => call
                .arguments
                .first()
                .filter(|a| a.kind() == "arrow_function")
                .map_or_else(
                    || StringValue::unknown(call.node),
                    |a| self.value(*a, depth + 1),
                ),
            "format" | "formatted" | "sprintf" | "vsprintf" | "printf" | "f" => {
                // `"…".format(x)`, `String.format("…", x)`, `fmt.Sprintf("…", x)`, `sprintf("…", $x)`.
                let on_text = receiver()
                    .filter(|r| r.dynamic.is_none() && r.text.len() > 1 && name != "sprintf");
                let (format, values) = match on_text.filter(|r| {
                    !is_constant(&r.text) && (r.text.contains('{') || r.text.contains('%'))
                }) {
                    Some(format) => (format, call.arguments.as_slice()),
                    None => match call.arguments.split_first() {
                        Some((format, rest)) => (self.value(*format, depth + 1), rest),
                        None => return StringValue::unknown(call.node),
                    },
                };
                let dynamic = values
                    .iter()
                    .find_map(|v| self.value(*v, depth + 1).dynamic);
                let numbers = formats_numbers_only(&format.text);
                StringValue {
                    dynamic: format.dynamic.or(dynamic.filter(|_| !numbers)),
                    ..format
                }
            }
            _ => StringValue::unknown(call.node),
        }
    }

    /// `format!("… {} {name}", x)`: what it names comes in.
    pub(super) fn formatted_by_macro(&self, node: Node<'_>) -> StringValue {
        let name = node.child_by_field_name("macro").map(|m| self.text(m));
        let tokens = named_children(node)
            .into_iter()
            .find(|n| n.kind() == "token_tree");
        let (Some(name), Some(tokens)) = (name, tokens) else {
            return StringValue::unknown(node);
        };
        let tokens = named_children(tokens);
        match name.rsplit("::").next().unwrap_or(name) {
            "format" | "write" | "writeln" | "concat" | "formatdoc" | "indoc" | "format_args" => {}
            "vec" if holds_placeholder(self.text(node)) => return StringValue::literal("?"),
            "include_str" | "stringify" | "env" => return StringValue::literal(""),
            _ => return StringValue::unknown(node),
        }
        let is_string = |n: &&Node<'_>| matches!(n.kind(), "string_literal" | "raw_string_literal");
        let Some(format) = tokens.iter().find(is_string) else {
            return StringValue::unknown(node);
        };
        let text = self.string(*format, 0).text;
        // The target of `write!` stands before the format and does not come in.
        let after = tokens.iter().filter(|t| t.start_byte() > format.end_byte());
        let is_safe = |name: &str| {
            is_constant(name)
                || self
                    .known(name)
                    .is_some_and(|value| value.dynamic.is_none())
        };
        let mut comes_in = after
            .filter(|t| matches!(t.kind(), "identifier" | "self" | "token_tree"))
            .any(|t| !is_safe(self.text(*t)));
        let mut rest = text.replace("{{", "").replace("}}", "");
        while let Some((before, after)) = rest.split_once('{') {
            let Some((hole, tail)) = after.split_once('}') else {
                break;
            };
            let named = hole.split(':').next().unwrap_or_default().trim();
            let is_position = named.is_empty() || named.bytes().all(|b| b.is_ascii_digit());
            comes_in |= !is_position
                && !is_safe(named)
                && !tokens
                    .iter()
                    .any(|t| t.kind() == "identifier" && self.text(*t) == named);
            rest = format!("{before}{HOLE}{tail}");
        }
        StringValue {
            text: rest,
            dynamic: comes_in.then(|| line_of(node)),
        }
    }
}
