//! Git: its hooks set aside, the policy put away, settings that run programs.

use super::found::{Found, act, on};
use super::index::Index;
use super::judged::Judged;
use super::{changed, code, listing};
use crate::guard::named_below;
use crate::shell::{Invocation, Word};
use crate::words::{holds_any, words};

pub(super) fn find(git: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let places = git.value_of(&["--work-tree", "--git-dir", "--separate-git-dir"]);
    if let Some(hit) = places.and_then(|place| git.covers(&place.text)) {
        return Some(on("take {} for a working tree", hit));
    }
    let command = git.subcommand();
    let without_hooks = without_hooks(git, operands).map(act);
    without_hooks
        .or_else(|| Some(on("change {}", changed::find(git)?)))
        .or_else(|| {
            let opens = command.is_some_and(|word| word.text == "grep") && opens_finds(git);
            opens.then(|| act("run what may change the files that it finds"))
        })
        .or_else(|| by_template(git, operands))
        .or_else(|| {
            let by_letter = || git.before_dashes().any(|w| skips_by_letter(&w.text));
            let skips =
                git.has_long("--no-verify") || (operands.contains(&"commit") && by_letter());
            let is_asked = skips && runs_hooks(operands) && git.guarded.has_wires();
            is_asked.then(|| act("skip the hooks that `ahp` has put into git"))
        })
        .or_else(|| puts_away(git, operands))
        .or_else(|| {
            // What stands before git's command belongs to its options: `-C DIR`, which may be a submodule of this repository.
            let mut before = git.operands();
            let before =
                before.position(|word| command.is_some_and(|command| std::ptr::eq(word, command)));
            let own = before.and_then(|before| operands.get(before..));
            if let Some(own @ ["config", ..]) = own {
                return by_setting(git, own);
            }
            // What these are given is run, now or later.
            let runs = matches!(
                operands.first(),
                Some(&("difftool" | "mergetool" | "submodule"))
            );
            let named = git.texts().filter(|_| runs).find_map(code::changes_named)?;
            Some((format!("run what may change `{named}`"), None))
        })
}

/// Says how git would run without its hooks, by its settings.
fn without_hooks(git: &Judged<'_>, operands: &[&str]) -> Option<&'static str> {
    let of_line = git.environment.iter().chain(&git.analysis.assignments);
    let set = || {
        let settings = of_line.clone();
        settings.filter(|(name, _)| name.starts_with("GIT_CONFIG"))
    };
    let sets = |text: &str| {
        let lower = text.to_lowercase();
        // `-c alias.c='commit --no-verify'`: the hooks are skipped by another name.
        let is_alias = lower.starts_with("alias.");
        lower.starts_with("core.hookspath=")
            || lower.starts_with("--config-env=core.hookspath")
            || is_alias && (lower.contains("--no-veri") || lower.contains("hookspath"))
    };
    let by_variable = |value: &Word| value.text.to_lowercase().contains("core.hookspath");
    if git.texts().any(sets) || set().any(|(_, value)| by_variable(value)) {
        return Some("run git without its hooks");
    }
    let leads = leads_away(git) || set().any(|(name, value)| is_lead(name, value));
    let may_run = leads && runs_hooks(operands) && git.guarded.has_wires();
    may_run.then_some("run git with settings that may set its hooks aside")
}

/// The policy, put away or taken away.
fn puts_away(git: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let root = git.guarded.root();
    let policy = root.join(".ahp");
    let is_tracked = || Index::read(root).is_some_and(|index| index.holds(".ahp/hooks.yaml"));
    let what = match operands {
        ["stash"] | ["stash", "push" | "save", ..] => {
            // What git does not track would go away until the stash is taken back.
            let is_put_away = git.has_word(&["-a", "--all"])
                || git.has_word(&["-u", "--include-untracked"]) && !is_tracked();
            is_put_away.then_some("put the policy aside")
        }
        // What git is told to track, and then goes back to a commit that does not have it, is gone.
        ["reset" | "checkout" | "switch", ..] => {
            let options: &[&str] = if operands.first() == Some(&"reset") {
                &["--hard", "--merge"]
            } else {
                &["-f", "--force", "--discard-changes"]
            };
            let goes_back = git.has_word(options) && is_added(git) && !is_tracked();
            goes_back.then_some("take the policy away")
        }
        ["sparse-checkout", "list" | "disable" | "check-rules", ..] => None,
        ["sparse-checkout", _, ..] => Some("take the policy out of the working tree"),
        _ => None,
    }?;
    policy.exists().then(|| (what.to_owned(), Some(policy)))
}

fn runs_hooks(operands: &[&str]) -> bool {
    let run = ["commit", "push", "merge", "rebase", "am"];
    operands.iter().any(|operand| run.contains(operand))
}

/// Whether a word of `git commit` skips the hooks by a letter. What stands behind a letter that takes a value is that value.
fn skips_by_letter(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let mut letters = letters.unwrap_or_default().chars();
    letters
        .by_ref()
        .take_while(|letter| !"CFSUctmu".contains(*letter))
        .any(|letter| letter == 'n')
}

/// Whether what stands before the command leads git to other settings.
fn leads_away(git: &Invocation) -> bool {
    let (own, _, _) = listing::parts(git);
    own.iter().any(|word| {
        let lower = word.text.to_lowercase();
        let name = lower.strip_prefix("--config-env=").unwrap_or(&lower);
        LEADING.iter().any(|start| name.starts_with(start))
    })
}

/// Whether a variable leads git to other settings.
fn is_lead(name: &str, value: &Word) -> bool {
    let lower = value.text.to_lowercase();
    match name {
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => !matches!(&*lower, "" | "/dev/null"),
        "GIT_CONFIG_PARAMETERS" => value.dynamic || holds_any(&lower, LEADING),
        _ if name.starts_with("GIT_CONFIG_KEY_") => {
            value.dynamic || LEADING.iter().any(|start| lower.starts_with(start))
        }
        _ => false,
    }
}

/// Programs that show files, or let a person look at them.
const PAGERS: &[&str] = words!("pagers");

/// Whether `git grep` gives what it finds to a program that is not known to only show it.
fn opens_finds(git: &Judged<'_>) -> bool {
    let is_shown = |command: &str| {
        let mut words = command.split_whitespace();
        let is_pager = words.next().is_none_or(|pager| PAGERS.contains(&pager));
        is_pager && words.all(|word| word.starts_with('-'))
    };
    // Without a name of its own it is what git shows all with.
    let is_set = || {
        let of_line = git.environment.iter().chain(&git.analysis.assignments);
        let by_variable = of_line
            .filter(|(name, _)| matches!(name.as_str(), "GIT_PAGER" | "PAGER"))
            .any(|(_, value)| !is_shown(&value.text));
        let (own, _, _) = listing::parts(git);
        let mut settings = own.iter().filter_map(|word| word.text.split_once('='));
        let is_pager = |name: &str| name.eq_ignore_ascii_case("core.pager");
        by_variable || settings.any(|(name, value)| is_pager(name) && !is_shown(value))
    };
    let (_, _, rest) = listing::parts(git);
    let mut words = rest.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next().filter(|word| *word != "--") {
        let pager = if word.starts_with("--") {
            let (name, pager) = word.split_once('=').unwrap_or((word, ""));
            let is_it = name.len() > 3 && "--open-files-in-pager".starts_with(name);
            is_it.then_some(pager)
        } else {
            let letters = word.strip_prefix('-').unwrap_or_default();
            // A value stands behind its letter, or is the next word.
            match letters.split_once(|letter| "ABCefmO".contains(letter)) {
                Some((before, pager))
                    if letters
                        .get(before.len()..)
                        .is_some_and(|rest| rest.starts_with('O')) =>
                {
                    Some(pager)
                }
                Some((_, "")) => {
                    words.next();
                    None
                }
                _ => None,
            }
        };
        if pager.is_some_and(|pager| !is_shown(pager) || pager.is_empty() && is_set()) {
            return true;
        }
    }
    false
}

/// Whether this line tells git to track all that is there, or the policy.
fn is_added(git: &Judged<'_>) -> bool {
    let adds = |i: &&Invocation| {
        let mut words = i.operands();
        i.program == "git" && words.any(|word| matches!(word.text.as_str(), "add" | "stage"))
    };
    let mut adding = git.all().filter(adds).map(|i| git.other(i));
    adding.any(|i| {
        i.has_word(&["-A", "--all", ".", ":/", "*"])
            || i.texts().any(|text| i.covers(text).is_some())
    })
}

/// A folder from which git takes hooks for the repository that it makes.
fn by_template(git: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let makes = |o: &&&str| matches!(**o, "init" | "clone" | "init-db");
    let command = operands.iter().find(makes)?;
    let settings = git.arguments.iter().filter_map(|word| {
        let (name, value) = word.text.split_once('=')?;
        let is_it = name.eq_ignore_ascii_case("init.templatedir");
        is_it.then(|| Word {
            text: value.to_owned(),
            ..word.clone()
        })
    });
    let of_line = git.environment.iter().chain(&git.analysis.assignments);
    let variables = of_line.filter(|(name, _)| name == "GIT_TEMPLATE_DIR");
    let mut dirs = (git.value_of(&["--template"]).into_iter())
        .chain(settings)
        .chain(variables.map(|(_, value)| value.clone()))
        .filter(|dir| !dir.text.is_empty());
    let brings = dirs.any(|dir| {
        let path = git.path_of(&dir.text);
        let writes = git.analysis.writes();
        let is_written = writes.iter().any(|e| e.path.starts_with(&path));
        // Examples do nothing.
        let mut names = named_below(&path.join("hooks"), "*").into_iter();
        let has_hooks = names.any(|hook| hook.extension().is_none_or(|e| e != "sample"));
        dir.dynamic || is_written || has_hooks || !path.is_dir()
    });
    let what = || format!("bring hooks by the template of `git {command}`");
    brings.then(|| (what(), None))
}

/// Beginnings of settings that lead git to other settings, hooks or files.
const LEADING: &[&str] = words!("leading-settings");

/// A setting that sets the hooks aside, or what is run in their place.
fn by_setting(git: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let second = operands.get(1).copied().unwrap_or_default();
    if git.has_word(&["-e", "--edit"]) || second == "edit" {
        return Some(act("edit the settings of git"));
    }
    if git.has_word(words!("git-setting-readers")) || matches!(second, "get" | "list") {
        return None;
    }
    let file = git.value_of(&["-f", "--file"]);
    if let Some(hit) = file.and_then(|file| git.covers(&file.text)) {
        return Some(on("write {}", hit));
    }
    // All of a section goes.
    let drops = git.has_word(&["--remove-section", "--rename-section"])
        || matches!(second, "remove-section" | "rename-section");
    let unsets = git.has_word(&["--unset", "--unset-all"]);
    let leads = operands.iter().enumerate().find(|(nth, name)| {
        let lower = name.to_lowercase();
        let is_leading = LEADING.iter().any(|start| {
            let section = start.split_once('.').map(|(section, _)| section);
            lower.starts_with(start) || drops && section == Some(&*lower)
        });
        is_leading && (drops || unsets || operands.len() > nth + 1)
    });
    if let Some((_, name)) = leads {
        return Some((format!("change the setting `{name}` of git"), None));
    }
    // A name alone is read.
    if let ["config", name] = operands
        && name.eq_ignore_ascii_case("core.hookspath")
        && !unsets
    {
        return None;
    }
    // What is set may be run now or later.
    git.texts().find_map(|text| {
        if let Some(named) = code::changes_named(text) {
            return Some((format!("run what may change `{named}`"), None));
        }
        let skips = text.contains("--no-veri") || text.contains("hooksPath");
        skips.then(|| act("run git without its hooks"))
    })
}
