//! Git: its hooks set aside, the policy put away, settings that run programs.

use std::fs;

use super::code;
use super::guarded::Guarded;
use super::judgement::Found;
use super::judgement::act;
use super::script;
use crate::shell::Invocation;

/// Judges a git command.
pub(super) fn find(
    guarded: &Guarded<'_>,
    invocation: &Invocation,
    operands: &[&str],
) -> Option<Found> {
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    let sets_hooks = invocation.arguments.iter().any(|w| {
        let lower = w.text.to_lowercase();
        lower.starts_with("core.hookspath=") || lower.starts_with("--config-env=core.hookspath")
    });
    let by_variable = invocation.environment.iter().any(|(name, value)| {
        name.starts_with("GIT_CONFIG") && value.text.to_lowercase().contains("core.hookspath")
    });
    if sets_hooks || by_variable {
        return Some(act("run git without its hooks"));
    }
    let skips = has("--no-verify")
        || (operands.contains(&"commit")
            && invocation.before_dashes().any(|w| {
                w.text.starts_with('-')
                    && !w.text.starts_with("--")
                    && w.text.len() <= 5
                    && w.text.contains('n')
            }));
    if skips
        && operands
            .iter()
            .any(|o| matches!(*o, "commit" | "push" | "merge" | "rebase" | "am"))
    {
        let ours = ["pre-commit", "pre-push", "commit-msg", "pre-merge-commit"]
            .iter()
            .any(|name| {
                script::read(&guarded.root().join(".git/hooks").join(name))
                    .is_some_and(|t| t.contains("ahp"))
            });
        if ours {
            return Some(act("skip the hooks that `ahp` has put into git"));
        }
    }
    if operands.first() == Some(&"stash")
        && operands
            .get(1)
            .is_none_or(|o| matches!(*o, "push" | "save"))
    {
        let everything = has("-a") || has("--all");
        let untracked = has("-u") || has("--include-untracked");
        let policy = guarded.root().join(".ahp");
        // What git does not track would go away until the stash is taken back.
        let tracked = || {
            fs::read(guarded.root().join(".git/index"))
                .is_ok_and(|index| memchr::memmem::find(&index, b".ahp/hooks.yaml").is_some())
        };
        if policy.exists() && (everything || (untracked && !tracked())) {
            return Some(("put the policy aside".to_owned(), Some(policy)));
        }
    }
    if operands.starts_with(&["sparse-checkout", "set"]) && guarded.root().join(".ahp").exists() {
        return Some(act("take the policy out of the working tree"));
    }
    // What these are given is run, now or later.
    if operands
        .first()
        .is_some_and(|o| matches!(*o, "config" | "difftool" | "mergetool" | "submodule"))
        && let Some(named) = invocation
            .arguments
            .iter()
            .find_map(|word| code::changes_named(&word.text))
    {
        return Some((format!("run what may change `{named}`"), None));
    }
    None
}
