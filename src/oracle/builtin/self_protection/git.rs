//! Git: its hooks set aside, the policy put away, settings that run programs.

use super::code;
use super::found::{Found, act, on};
use super::index::Index;
use super::judged::Judged;
use super::pathspec;
use crate::guard::named_below;
use crate::shell::{Invocation, Word};

/// Judges a git command.
pub(super) fn find(invocation: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    let places = ["--work-tree", "--git-dir", "--separate-git-dir"];
    let moved = invocation
        .value_of(&places)
        .and_then(|place| invocation.covers(&place.text));
    if let Some(hit) = moved {
        return Some(on("take {} for a working tree", hit));
    }
    let sets_hooks = invocation.arguments.iter().any(|w| {
        let lower = w.text.to_lowercase();
        lower.starts_with("core.hookspath=") || lower.starts_with("--config-env=core.hookspath")
    });
    let set = || {
        let of_line = invocation
            .environment
            .iter()
            .chain(&invocation.analysis.assignments);
        of_line.filter(|(name, _)| name.starts_with("GIT_CONFIG"))
    };
    let by_variable = set().any(|(_, value)| value.text.to_lowercase().contains("core.hookspath"));
    // `-c alias.c='commit --no-verify'`: the hooks are skipped by another name.
    let by_alias = invocation.arguments.iter().any(|w| {
        let lower = w.text.to_lowercase();
        lower.starts_with("alias.") && (lower.contains("--no-veri") || lower.contains("hookspath"))
    });
    if sets_hooks || by_variable || by_alias {
        return Some(act("run git without its hooks"));
    }
    let mut set = set();
    if (leads_away(invocation) || set.any(|(name, value)| is_lead(name, value)))
        && runs_hooks(operands)
        && invocation.guarded.has_wires()
    {
        return Some(act("run git with settings that may set its hooks aside"));
    }
    if let Some(hit) = pathspec::changed(invocation) {
        return Some(on("change {}", hit));
    }
    let command = invocation.subcommand();
    if command.is_some_and(|word| word.text == "grep") && opens_finds(invocation) {
        return Some(act("run what may change the files that it finds"));
    }
    if let Some(found) = by_template(invocation, operands) {
        return Some(found);
    }
    let skips = invocation.has_long("--no-verify")
        || (operands.contains(&"commit")
            && invocation.before_dashes().any(|w| skips_by_letter(&w.text)));
    if skips && runs_hooks(operands) && invocation.guarded.has_wires() {
        return Some(act("skip the hooks that `ahp` has put into git"));
    }
    let policy = invocation.guarded.root().join(".ahp");
    let is_tracked = || {
        let index = Index::read(invocation.guarded.root());
        index.is_some_and(|index| index.holds(".ahp/hooks.yaml"))
    };
    if operands.first() == Some(&"stash")
        && operands
            .get(1)
            .is_none_or(|o| matches!(*o, "push" | "save"))
    {
        let everything = has("-a") || has("--all");
        let untracked = has("-u") || has("--include-untracked");
        // What git does not track would go away until the stash is taken back.
        if policy.exists() && (everything || (untracked && !is_tracked())) {
            return Some(("put the policy aside".to_owned(), Some(policy)));
        }
    }
    // What git is told to track, and then goes back to a commit that does not have it, is gone.
    let goes_back = match operands.first() {
        Some(&"reset") => has("--hard") || has("--merge"),
        Some(&("checkout" | "switch")) => has("-f") || has("--force") || has("--discard-changes"),
        _ => false,
    };
    if goes_back && is_added(invocation) && policy.exists() && !is_tracked() {
        return Some(("take the policy away".to_owned(), Some(policy)));
    }
    let thins_out = operands.first() == Some(&"sparse-checkout")
        && operands
            .get(1)
            .is_some_and(|o| !matches!(*o, "list" | "disable" | "check-rules"));
    if thins_out && invocation.guarded.root().join(".ahp").exists() {
        return Some(act("take the policy out of the working tree"));
    }
    // What stands before git's command belongs to its options: `-C DIR`, which may be a submodule of this repository.
    let mut before = invocation.operands();
    let before = before.position(|word| command.is_some_and(|command| std::ptr::eq(word, command)));
    let own = before.and_then(|before| operands.get(before..));
    if let Some(own @ ["config", ..]) = own {
        return by_setting(invocation, own);
    }
    // What these are given is run, now or later.
    if operands
        .first()
        .is_some_and(|o| matches!(*o, "difftool" | "mergetool" | "submodule"))
        && let Some(named) = invocation
            .arguments
            .iter()
            .find_map(|word| code::changes_named(&word.text))
    {
        return Some((format!("run what may change `{named}`"), None));
    }
    None
}

/// Whether a command of git runs the hooks of the repository.
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
    let (own, _, _) = pathspec::parts(git);
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
        "GIT_CONFIG_PARAMETERS" => {
            value.dynamic || LEADING.iter().any(|start| lower.contains(start))
        }
        _ if name.starts_with("GIT_CONFIG_KEY_") => {
            value.dynamic || LEADING.iter().any(|start| lower.starts_with(start))
        }
        _ => false,
    }
}

/// Programs that show files, or let a person look at them.
const PAGERS: &[&str] = &[
    "bat", "cat", "code", "emacs", "less", "more", "most", "nano", "nvim", "vi", "vim",
];

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
        let (own, _, _) = pathspec::parts(git);
        let mut settings = own.iter().filter_map(|word| word.text.split_once('='));
        let is_pager = |name: &str| name.eq_ignore_ascii_case("core.pager");
        by_variable || settings.any(|(name, value)| is_pager(name) && !is_shown(value))
    };
    let (_, _, rest) = pathspec::parts(git);
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
        i.has(&["-A", "--all", ".", ":/", "*"]) || i.texts().any(|text| i.covers(text).is_some())
    })
}

/// A folder from which git takes hooks for the repository that it makes.
fn by_template(invocation: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let command = operands
        .iter()
        .find(|o| matches!(**o, "init" | "clone" | "init-db"))?;
    let of_option = invocation.value_of(&["--template"]);
    let settings = invocation.arguments.iter().filter_map(|word| {
        let (name, _) = word.text.split_once('=')?;
        let is_it = name.eq_ignore_ascii_case("init.templatedir");
        is_it.then(|| Word {
            text: word
                .text
                .get(name.len() + 1..)
                .unwrap_or_default()
                .to_owned(),
            ..word.clone()
        })
    });
    let of_git = invocation
        .environment
        .iter()
        .chain(&invocation.analysis.assignments);
    let variables = of_git.filter(|(name, _)| name == "GIT_TEMPLATE_DIR");
    let mut dirs = of_option
        .into_iter()
        .chain(settings)
        .chain(variables.map(|(_, value)| value.clone()))
        .filter(|dir| !dir.text.is_empty());
    let brings = dirs.any(|dir| {
        let path = invocation.path_of(&dir.text);
        let hooks = path.join("hooks");
        let is_written = invocation
            .analysis
            .writes()
            .iter()
            .any(|effect| effect.path.starts_with(&path));
        // Examples do nothing.
        let mut names = named_below(&hooks, "*").into_iter();
        let has_hooks = names.any(|hook| hook.extension().is_none_or(|e| e != "sample"));
        dir.dynamic || is_written || has_hooks || !path.is_dir()
    });
    brings.then(|| {
        (
            format!("bring hooks by the template of `git {command}`"),
            None,
        )
    })
}

/// Beginnings of settings that lead git to other settings, hooks or files.
const LEADING: &[&str] = &[
    "core.bare",
    "core.hookspath",
    "core.sparsecheckout",
    "core.worktree",
    "extensions.",
    "hook.",
    "include.",
    "includeif.",
    "init.templatedir",
];

/// A setting that sets the hooks aside, or what is run in their place.
fn by_setting(invocation: &Judged<'_>, operands: &[&str]) -> Option<Found> {
    let has = |names: &[&str]| {
        let mut words = invocation.arguments.iter();
        words.any(|word| names.contains(&word.text.as_str()))
    };
    if has(&["-e", "--edit"]) || operands.get(1) == Some(&"edit") {
        return Some(act("edit the settings of git"));
    }
    let reads = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--list",
        "-l",
        "--get-urlmatch",
    ];
    if has(&reads) || matches!(operands.get(1), Some(&("get" | "list"))) {
        return None;
    }
    let file = invocation.value_of(&["-f", "--file"]);
    if let Some(hit) = file.and_then(|file| invocation.covers(&file.text)) {
        return Some(on("write {}", hit));
    }
    // All of a section goes.
    let drops = has(&["--remove-section", "--rename-section"])
        || matches!(
            operands.get(1),
            Some(&("remove-section" | "rename-section"))
        );
    let leads = operands.iter().enumerate().find_map(|(nth, name)| {
        let lower = name.to_lowercase();
        let is_set = drops || operands.len() > nth + 1 || has(&["--unset", "--unset-all"]);
        let is_leading = LEADING.iter().any(|start| {
            let section = start.split_once('.').map(|(section, _)| section);
            lower.starts_with(start) || drops && section == Some(&*lower)
        });
        (is_leading && is_set).then(|| format!("change the setting `{name}` of git"))
    });
    if let Some(what) = leads {
        return Some((what, None));
    }
    // A name alone is read.
    if let ["config", name] = operands
        && name.eq_ignore_ascii_case("core.hookspath")
        && !has(&["--unset", "--unset-all"])
    {
        return None;
    }
    // What is set may be run now or later.
    invocation.arguments.iter().find_map(|word| {
        if let Some(named) = code::changes_named(&word.text) {
            return Some((format!("run what may change `{named}`"), None));
        }
        let skips = word.text.contains("--no-veri") || word.text.contains("hooksPath");
        skips.then(|| act("run git without its hooks"))
    })
}
