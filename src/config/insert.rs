//! Insert: a layer's text with one more binding; comments and layout stay as they are.

use crate::event::Trigger;

/// Returns a layer's text with one more binding, at the top of its trigger's list, and the line of it.
///
/// `item` holds the binding's `key: value` lines. What the text becomes is by the layout of lines alone: whoever calls this
/// reads it back before it counts.
pub fn with_binding(text: &str, trigger: Trigger, item: &[String]) -> (String, u32) {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let hooks = lines.iter().position(|line| {
        indent(line) == 0 && line.split_once(':').is_some_and(|(key, _)| key == "hooks")
    });
    let hooks = hooks.unwrap_or_else(|| {
        lines.push("hooks:".to_owned());
        lines.len() - 1
    });
    if let Some(line) = lines.get_mut(hooks) {
        // `hooks: {}` begins a block.
        if line.trim_end().ends_with("{}") {
            "hooks:".clone_into(line);
        }
    }
    let is_trigger = |line: &str| {
        let key = line.trim_end().strip_suffix(':');
        indent(line) > 0 && key.is_some_and(|key| Trigger::find(key.trim()) == Some(trigger))
    };
    let found = lines
        .iter()
        .enumerate()
        .skip(hooks + 1)
        .take_while(|(_, line)| line.trim().is_empty() || line.starts_with([' ', '#']))
        .find(|(_, line)| is_trigger(line));
    let (at, depth) = if let Some((n, line)) = found {
        let depth = indent(line);
        // In the map form the bindings stand below `oracles:`.
        let inner = lines
            .iter()
            .enumerate()
            .skip(n + 1)
            .take_while(|(_, line)| line.trim().is_empty() || indent(line) > depth)
            .find(|(_, line)| line.trim_end().ends_with("oracles:"));
        let (n, depth) = inner.map_or((n, depth), |(n, line)| (n, indent(line)));
        let own = first_content(&lines, n + 1)
            .filter(|line| line.trim_start().starts_with("- ") && indent(line) >= depth)
            .map_or(depth + 2, indent);
        (n + 1, own)
    } else {
        let depth = first_content(&lines, hooks + 1)
            .map(indent)
            .filter(|depth| *depth > 0)
            .unwrap_or(2);
        lines.insert(hooks + 1, format!("{}{trigger}:", " ".repeat(depth)));
        (hooks + 2, depth + 2)
    };
    for (n, line) in item.iter().enumerate() {
        let mark = if n == 0 { "- " } else { "  " };
        lines.insert(at + n, format!("{}{mark}{line}", " ".repeat(depth)));
    }
    let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
    (lines.join(end) + end, line)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the first line from a place on that says something.
fn first_content(lines: &[String], from: usize) -> Option<&str> {
    let mut lines = lines.iter().skip(from).map(String::as_str);
    lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}
