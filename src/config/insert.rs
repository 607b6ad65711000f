//! Insert: a layer's text with one more binding; comments and layout stay as they are.

use crate::event::Trigger;

/// Returns a layer's text with one more binding, at the top of its trigger's list, and the line of it.
///
/// `item` holds the binding's `key: value` lines. What the text becomes is by the layout of lines alone: whoever calls this
/// reads it back before it counts.
pub fn with_binding(text: &str, trigger: Trigger, item: &[String]) -> (String, u32) {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    // Each line keeps its own end.
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
        last.push_str(end);
    }
    let hooks = lines.iter().position(|line| {
        indent(line) == 0 && Entry::of(line).is_some_and(|entry| entry.key == "hooks")
    });
    let hooks = hooks.unwrap_or_else(|| {
        lines.push(format!("hooks:{end}"));
        lines.len() - 1
    });
    open(&mut lines, hooks);
    let is_trigger = |line: &str| {
        let entry = Entry::of(line).filter(|_| indent(line) > 0);
        entry.is_some_and(|entry| Trigger::find(entry.key) == Some(trigger))
    };
    let found = lines
        .iter()
        .enumerate()
        .skip(hooks + 1)
        .take_while(|(_, line)| line.trim().is_empty() || line.starts_with([' ', '#']))
        .find(|(_, line)| is_trigger(line))
        .map(|(n, line)| (n, indent(line)));
    let (at, depth) = if let Some((n, depth)) = found {
        open(&mut lines, n);
        // In the map form the bindings stand below `oracles:`.
        let inner = lines
            .iter()
            .enumerate()
            .skip(n + 1)
            .take_while(|(_, line)| line.trim().is_empty() || indent(line) > depth)
            .find(|(_, line)| Entry::of(line).is_some_and(|entry| entry.key == "oracles"))
            .map(|(n, line)| (n, indent(line)));
        let key = first_content(&lines, n + 1)
            .filter(|line| indent(line) > depth && !line.trim_start().starts_with('-'))
            .map(indent);
        let (n, depth) = match (inner, key) {
            (Some(inner), _) => {
                open(&mut lines, inner.0);
                inner
            }
            // A map without bindings of its own, say a `when:` alone.
            (None, Some(depth)) => {
                lines.insert(n + 1, format!("{}oracles:{end}", " ".repeat(depth)));
                (n + 1, depth)
            }
            (None, None) => (n, depth),
        };
        let own = first_content(&lines, n + 1)
            .filter(|line| line.trim_start().starts_with("- ") && indent(line) >= depth)
            .map_or(depth + 2, indent);
        (n + 1, own)
    } else {
        let depth = first_content(&lines, hooks + 1)
            .map(indent)
            .filter(|depth| *depth > 0)
            .unwrap_or(2);
        lines.insert(hooks + 1, format!("{}{trigger}:{end}", " ".repeat(depth)));
        (hooks + 2, depth + 2)
    };
    for (n, line) in item.iter().enumerate() {
        let mark = if n == 0 { "- " } else { "  " };
        lines.insert(at + n, format!("{}{mark}{line}{end}", " ".repeat(depth)));
    }
    let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
    (lines.concat(), line)
}

/// A line `key: value  # comment`.
struct Entry<'t> {
    key: &'t str,
    /// The value, and the comment behind it.
    rest: &'t str,
}

impl<'t> Entry<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let (key, rest) = line.trim().split_once(':')?;
        let is_apart = rest.is_empty() || rest.starts_with([' ', '\t']);
        is_apart.then(|| Self {
            key: key.trim().trim_matches(['"', '\'']),
            rest: rest.trim(),
        })
    }

    /// Returns the comment, where nothing but one, or an empty value, stands behind the key.
    fn comment_of_nothing(&self) -> Option<&'t str> {
        let comment = self.rest.find('#').unwrap_or(self.rest.len());
        let (value, comment) = self.rest.split_at_checked(comment)?;
        let value: String = value.split_whitespace().collect();
        matches!(value.as_str(), "" | "{}" | "[]" | "~" | "null").then_some(comment)
    }
}

/// Lets a line with an empty value, such as `hooks: {}`, begin a block; its comment stays.
fn open(lines: &mut [String], at: usize) {
    let Some(line) = lines.get_mut(at) else {
        return;
    };
    let Some(comment) = Entry::of(line).and_then(|entry| entry.comment_of_nothing()) else {
        return;
    };
    let key = line.split(':').next().unwrap_or_default();
    let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
    let space = if comment.is_empty() { "" } else { "  " };
    *line = format!("{key}:{space}{comment}{end}");
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the first line from a place on that says something.
fn first_content(lines: &[String], from: usize) -> Option<&str> {
    let mut lines = lines.iter().skip(from).map(String::as_str);
    lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}
