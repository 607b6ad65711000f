//! Searches and lists with filters: one counts only where it keeps every guarded place out.

use serde_json::json;

use super::project;
use crate::permission_checker::oracle::evaluate;
use crate::world::World;

/// What takes names that are printed; `@L` is what prints them.
const TAKERS: &[&str] = &[
    "@L | xargs sed -i s/a/b/",
    "@L | xargs rm -f",
    "sed -i s/a/b/ $(@L)",
    "for f in $(@L); do rm -f \"$f\"; done",
    "@L | while read -r f; do sed -i s/a/b/ \"$f\"; done",
];

/// What comes upon a guarded place all the same.
const MEETS: &[&str] = &[
    "find . -not -path './.git/*' -type f -name '*.json'",
    "find . -path ./.git -prune -o -type f -print",
    "find . \\( -name .git -o -name node_modules \\) -prune -o -name '*.yaml' -print",
    "find . -type f -not -path './.ahpx/*'",
    "find . -type f ! -name '*.md' ! -path '*/.git/*'",
    "find . -type f ! \\( -path './.ahp/*' -o -path './.agents/*' \\)",
    "find . -type f -not -path './.*/x'",
    "find . -type f -not -name .ahp",
    "find . -type f -not -path './.*' -o -name '*.yaml'",
    "find . -depth -name '.?*' -prune -o -type f -print",
    "find . -type f -not -newer x",
    "find . -type f -regex '.*rs'",
    "find . -path './.*' -size +0 -prune -o -type f -print",
    "find . -maxdepth 2 -type f -not -path './.git/*'",
    "find . -iname '*.YAML' -not -path './src/*'",
    "find . -type f | grep -v '\\.git/' | grep -v ahp",
    "find . -type f | grep -v '^\\./src'",
    "git ls-files '*.json'",
    "git ls-files -- '*.yaml'",
    "git ls-files .",
    "git ls-files ':!src'",
    "git ls-files .claude",
    "git ls-files -x '*.rs'",
    "git ls-files -o '*.yaml'",
    "git grep -l extends -- '*.yaml'",
    "git grep -l -e extends '*.yaml'",
    "git diff --name-only HEAD~1 -- '*.yaml'",
    "git log --name-only --author src",
    "git ls-files | grep -m 999 .",
    "git ls-files | grep -e '\\.rs$' -e yaml",
    "git ls-files | grep -v '(.ahp)'",
    "git ls-files | grep -F .yaml",
    "git ls-files | grep -f list",
    "git ls-files | grep -w hooks",
    "git ls-files | awk '!/ahp/'",
    "grep -rl 'ahp hook' --exclude-dir=.git .",
    "grep -rl extends --include='*.yaml' .",
    "grep -rl extends --include '*.yaml' .",
    "grep -rl extends --exclude='*.json' .",
    "grep -rl extends --exclude='*' --include='*.yaml' .",
    "grep -rlE 'ext|x' --exclude-dir=.git .",
    "grep -r -l -e nowhere -e extends --exclude-dir=.git",
    "rg -l extends --hidden -g '!node_modules'",
    "rg --files --hidden -g '*.yaml'",
    "rg -l -. -t yaml extends",
    "rg -l -. -t other extends",
    "rg -uu -l extends -g '!*.md'",
    "fd -H -E .ahp -e json -e yaml",
    "fd -H -E '.ahpx' yaml",
];

/// What does not.
const KEEPS_OUT: &[&str] = &[
    "find . -name '*.rs'",
    "find . -type f -not -path './.*'",
    "find . -type f -not -path '*/.*'",
    "find . -type f ! -path './.*/*' ! -name '*.md'",
    "find . -path './.*' -prune -o -type f -print",
    "find . -name '.?*' -prune -o -type f -print",
    "find . -name '.?*' -prune -o \\( -name '*.json' -o -name '*.yaml' \\) -print",
    "find src -type f -not -path '*/x/*'",
    "find . -maxdepth 1 -type f -name '*.json'",
    "find . -type f -name '*.json' -not -path './.*'",
    "find . -type f | grep -v '^\\./\\.'",
    "find . -type f | grep '\\.rs$'",
    "git ls-files '*.rs'",
    "git ls-files '*.toml'",
    "git ls-files src",
    "git ls-files ':!.*'",
    "git grep -l foo -- '*.rs'",
    "git grep -l foo src",
    "git diff --name-only -- src",
    "git ls-files | grep '\\.rs$'",
    "git ls-files | grep -vE '^\\.'",
    "git ls-files | grep -e '\\.rs$' -e '\\.toml$'",
    "git ls-files | grep -i '\\.RS$'",
    "grep -rl foo src",
    "grep -rl foo --include='*.rs' .",
    "grep -rl nowhere --exclude-dir=.git .",
    "grep -rl extends --include='*.yaml' src",
    "grep -rl extends --exclude-dir='.?*' .",
    "rg -l foo",
    "rg -l foo -g '*.yaml'",
    "rg -l --hidden extends -g '*.rs'",
    "rg -l --hidden extends -g '!.*'",
    "rg --files --hidden -t rust",
    "fd -e rs",
    "fd -H -e rs",
    "fd -H -E .ahp -E .claude -E .agents -e yaml",
];

/// The ends of a `find` that acts by itself, and what prints in their place.
const ACTS: &[&str] = &[
    "-exec sed -i s/a/b/ {} +",
    "-exec rm -f {} \\;",
    "-execdir sh -c 'rm -f \"$1\"' _ {} \\;",
];

fn tracked() -> World {
    let world = project();
    world.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    world.write(".claude/settings.json", "{\"hooks\": \"ahp hook\"}");
    let names = b"DIRC\0\0\0\x02 .ahp/hooks.yaml\0 .claude/settings.json\0 src/main.rs\0";
    world.write(".git/index", names);
    world
}

#[test]
fn a_filter_counts_only_where_it_keeps_every_guarded_place_out() {
    let world = tracked();
    let is_stopped = |command: &str| {
        let input = json!({ "command": command });
        let found = evaluate(&world, "SelfProtection", "{}", "Bash", input).unwrap();
        !found.is_empty()
    };
    let mut wrong = Vec::new();
    for (lists, is_wanted) in [(MEETS, true), (KEEPS_OUT, false)] {
        for list in lists {
            for taker in TAKERS {
                let line = taker.replace("@L", list);
                if is_stopped(&line) != is_wanted {
                    wrong.push(format!("stopped {}: {line}", !is_wanted));
                }
            }
            let is_find = list.starts_with("find") && !list.contains('|');
            for act in ACTS.iter().filter(|_| is_find) {
                let line = match list.strip_suffix(" -print") {
                    Some(list) => format!("{list} {act}"),
                    None if list.contains(" -print -o") => list.replace("-print", act),
                    None if list.contains(" -o ") => continue,
                    None => format!("{list} {act}"),
                };
                if is_stopped(&line) != is_wanted {
                    wrong.push(format!("stopped {}: {line}", !is_wanted));
                }
            }
            for reader in ["xargs wc -l", "xargs grep -n x", "sort"] {
                let line = format!("{list} | {reader}");
                if is_stopped(&line) {
                    wrong.push(format!("stopped true: {line}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_git_does_not_track_it_does_not_list() {
    let world = tracked();
    let is_stopped = |command: &str| {
        let input = json!({ "command": command });
        let found = evaluate(&world, "SelfProtection", "{}", "Bash", input).unwrap();
        !found.is_empty()
    };
    let list = "git ls-files '*.json' | xargs sed -i s/a/b/";
    assert!(is_stopped(list));
    world.write(".git/index", b"DIRC\0\0\0\x02 src/main.rs\0");
    assert!(!is_stopped(list));
    // In this form names are not written out.
    world.write(".git/index", b"DIRC\0\0\0\x04 src/main.rs\0");
    assert!(is_stopped(list));
}
