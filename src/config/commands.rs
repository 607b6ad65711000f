//! Commands: what a binding's configuration would have run.

use super::{Node, Value};

/// The keys of an oracle's configuration under which programs and files with commands stand.
const KEYS: &[&str] = &[
    "command", "commands", "custom", "file", "fix", "linters", "scanners", "verify",
];

/// Returns the command lines of a configuration, and the files with commands that it names; a list of words is one command.
pub(crate) fn commands(config: &Node) -> Vec<String> {
    let mut found = Vec::new();
    texts_under(config, false, &mut found);
    found
}

/// Whether a text of YAML can hold a command under one of the keys, or one of these further ones; told without parsing it.
pub(crate) fn may_name_commands(text: &str, further: &[&str]) -> bool {
    // In quotes a key may be written with escapes, or over two lines.
    let is_escaped = ["\\x", "\\u", "\\U", "\\\n", "\\\r"];
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let holds = |key: &&str| {
        text.match_indices(*key).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + key.len()..).unwrap_or_default();
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
    };
    is_escaped.iter().any(|escape| text.contains(escape)) || KEYS.iter().chain(further).any(holds)
}

fn texts_under(node: &Node, wanted: bool, found: &mut Vec<String>) {
    match &node.value {
        Value::Str(text) if wanted => found.push(text.clone()),
        Value::Seq(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Node::as_str).collect();
            if let Some(words) = words.filter(|_| wanted) {
                found.push(words.join(" "));
            }
            for item in items {
                texts_under(item, wanted, found);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                texts_under(value, wanted || KEYS.contains(&key.name.as_str()), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::may_name_commands;

    #[test]
    fn a_key_is_seen_however_it_is_written() {
        for text in [
            "config: {command: x}",
            "? command\n: x",
            "'command' : x",
            "\"com\\x6dand\": x",
            "\"com\\\n  mand\": x",
            "extends: [a.yaml]",
        ] {
            assert!(may_name_commands(text, &["extends"]), "{text}");
        }
        for text in ["dangerous_commands: [a]", "pattern: 'a\\d'", ""] {
            assert!(!may_name_commands(text, &["extends"]), "{text}");
        }
    }
}
