//! The permission rules of Claude Code by which a hook is limited: `Bash(git *)`, `Edit(src/**)`.

use crate::fact::Facts;
use crate::glob::glob;

/// Whether a call is one that a rule is for; where that cannot be told, it is, as its host has it.
pub(super) fn meets(rule: &str, tool: &str, facts: &Facts) -> bool {
    let (name, pattern) = match rule.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')').unwrap_or(rest)),
        None => (rule, "*"),
    };
    if name.trim() != tool {
        return false;
    }
    let Some(view) = facts.tool() else {
        return true;
    };
    if view.command.is_some() {
        // `git:*` is an older way to write `git *`; both mean `git` alone, too.
        let pattern = pattern.replace(":*", " *");
        let alone = pattern.strip_suffix(" *");
        let Some(shell) = facts.shell().filter(|shell| shell.doubts.is_empty()) else {
            return true;
        };
        return shell.invocations.iter().any(|invocation| {
            let words = invocation.texts();
            let words: Vec<&str> = std::iter::once(&*invocation.program).chain(words).collect();
            let line = words.join(" ");
            glob(&pattern, &line) || alone == Some(line.as_str())
        });
    }
    let pattern = pattern.trim_start_matches("./").replace("**", "*");
    view.paths.is_empty() || view.paths.iter().any(|path| glob(&pattern, path))
}
