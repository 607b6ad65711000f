//! Searches and lists with filters: one counts only where it keeps every guarded place out.

use serde_json::json;

use super::{index, project};
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
    "find . -regextype posix-extended -type f -regex '.*rs'",
    "find . -type f -regex '.*[ry]s'",
    "find . -type f -regex '.*\\.\\(yaml\\|json\\)'",
    "find . -type f -not -regex '.*rs'",
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
    "git grep -l extends",
    "git grep -lE 'ext(ends|ra)'",
    "git grep -l 'e.t\\w*ds'",
    "git grep -l nowhere --untracked",
    "git grep -lv extends",
    "git grep -L nowhere",
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
    "fd -H -E 'hooks.yaml/' -e yaml",
    "fd -H -E '/src' -E 'x/.ahp' -e yaml",
    "fd --unrestricted --unrestricted -e yaml",
    "fd -e yaml --search-path .ahp",
    "fd --search-path=.ahp",
    "fd -e yaml --base-directory .ahp",
    "fd -H -e rs -e yaml -x true \\;",
    "fd -H -x true \\; -e yaml",
    "fd -H \"$PATTERN\"",
    "find . -mindepth 2 -name '.?*' -prune -o -type f -print",
    "find -d . -name '.?*' -prune -o -type f -print",
    "find -D tree .ahp -type f",
    "find -O3 .ahp -type f",
    "find -f .ahp -- -type f",
    "find -xf .ahp -type f",
    "find . -type f | grep ''",
    "find . -type f | grep -A1 '\\.rs$'",
    "find . -type f | grep -5 '\\.rs$'",
    "find . -type f | grep -z '\\.rs'",
    "find . -type f | grep -v '[\\.a]ahp'",
    "find . -type f | grep -FE '\\.rs$'",
    "find . -type f | sed 's#^\\./##' | grep -v '^\\./\\.'",
    "find . -type f | grep -n . | grep -v '^\\.'",
    "find . -type f | rg -vS '\\.AHP'",
    "find . -type f | rg --passthru '\\.rs$'",
    "git grep -l extends HEAD",
    "git grep -l extends HEAD -- '*.yaml'",
    "git ls-files ':!.AHP' ':!.CLAUDE'",
    "git ls-files ':(exclude,icase).AHP'",
    "git ls-files ':!hooks.yaml/'",
    "git ls-files :/",
    "git -C src ls-files :/",
    "git -C src ls-files ..",
    "git ls-files --with-tree=HEAD~3 '*.jsonl'",
    "git ls-files -k '*.jsonl'",
    "git diff --name-only HEAD~1 -- '*.jsonl'",
    "git ls-tree -r --name-only HEAD",
    "git --literal-pathspecs ls-files ':!.ahp' ':!.claude'",
    "GIT_INDEX_FILE=x git ls-files '*.jsonl'",
    "export GIT_INDEX_FILE=x; git ls-files '*.jsonl'",
    "grep -l extends -d recurse --exclude-dir=.git .",
    "grep -l extends --dereference-recursive --exclude-dir=.git .",
    "grep -rl extends --exclude-d=.git .",
    "grep -rl --regex extends .",
    "rg --files --hidden -eging",
    "rg --unrestricted --unrestricted --files",
    "rg --files -g '*'",
    "rg --files -g '.ahp' -g '.ahp/*'",
    "rg -l --hidden extends --iglob '*.YAML'",
    "rg -l --hidden extends -g '*.YAML' --glob-case-insensitive",
    "rg -l --hidden --type-add 'rust:*.yaml' -t rust extends",
    "rg -l --hidden -g '*.yaml' -t rust extends",
    "rg -l --hidden --pre unpack nowhere",
    "rg -l --hidden -E utf-16 nowhere",
    "rg -l --hidden --search-zip nowhere",
    "rg -l --hidden --count-matches --include-zero nowhere",
    "rg --files --hidden -g '!hooks.yaml/' -g '!settings.json'",
    "rg --files --hidden -g '!!.ahp'",
];

/// What is given a guarded place by name, whatever it looks for.
const NAMES: &[&str] = &[
    "sort <<< .ahp/hooks.yaml",
    "head -1 <<< .ahp/hooks.yaml",
    "uniq <<< .ahp/hooks.yaml",
    "grep hooks <<< .ahp/hooks.yaml",
    "grep -l --label=.ahp/hooks.yaml a < src/main.rs",
    "grep -l --label .ahp/hooks.yaml a < src/main.rs",
    "grep -L x .ahp/hooks.yaml",
    "grep -rl x src .ahp",
    "rg -l x .ahp",
    "rg --files .ahp",
    "rg -r .ahp/hooks.yaml x src/main.rs",
    "fd -e rs --search-path .ahp",
    "fd -e rs --base-directory=.ahp",
    "find src -maxdepth 0 -printf '.ahp/hooks.yaml\\n'",
    "find src .ahp -name '*.rs'",
    "git -C .ahp ls-files",
    "git ls-files .ahp",
    "git diff --name-only -- .ahp",
    "git ls-files --format=.ahp/hooks.yaml",
];

/// What names a guarded place only to leave it out, or to look for its name in other files.
const LEAVES_OUT: &[&str] = &[
    "find . -path './.*' -prune -o -type f -newer .ahp/hooks.yaml -print",
    "find src -type f -exec grep -l '\\.ahp' {} +",
    "grep -rl .ahp/hooks.yaml src",
    "grep -rl --exclude-dir=.ahp x src",
    "rg -l .ahp/hooks.yaml src",
    "rg -l x -g '!.ahp/hooks.yaml'",
    "fd -H -E .ahp/hooks.yaml -e rs",
    "git ls-files ':!.ahp' src",
    "git ls-files ':(exclude).ahp/hooks.yaml' '*.rs'",
    "git grep -l .ahp/hooks.yaml -- '*.rs'",
    "git ls-files '*.rs' | grep -v .ahp/hooks.yaml",
];

/// What does not.
const KEEPS_OUT: &[&str] = &[
    "find . -type f -regex '.*rs'",
    "find . -type f -iregex '.*\\.\\(rs\\|ORIG\\)'",
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
    "git grep -l nowhere",
    "git grep -lz nowhere",
    "git grep -l 'shop\\.utils\\.money'",
    "git grep -lE 'console\\.log|debugger'",
    "grep -rlE 'no(where|thing)' .",
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
    "fd -H -E '.*/' -e yaml",
    "fd --extension=rs --hidden",
    "find . -type f | grep --regexp='\\.rs$' | sort -u | head -n 5",
    "find . -type f | cut -c3- | grep '\\.rs$'",
    "find . -mindepth 1 -name '.?*' -prune -o -type f -print",
    "git ls-files ':(exclude,top).*'",
    "git ls-files '*.jsonl'",
    "git -C src ls-files",
    "git -C src ls-files '../*.rs'",
    "git grep -l -e foo --and -e bar src",
    "git -c color.ui=never ls-files src",
    "rg -l --hidden extends -g '!.*/'",
    "rg -l foo src -g '!x'",
    "rg -l --hidden nowhere",
    "rg -l --hidden -w nowhere -S",
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
    let names = [".ahp/hooks.yaml", ".claude/settings.json", "src/main.rs"];
    world.write(".git/index", index(2, &names));
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
    // Another file whose name ends in the same way is another file.
    world.write(
        ".git/index",
        index(2, &["src/main.rs", "docs/.claude/settings.json"]),
    );
    for list in [list, "git ls-files | xargs sed -i s/a/b/"] {
        assert!(!is_stopped(list), "{list}");
    }
    for list in [
        "git diff --name-only HEAD~1 -- '*.json' | xargs sed -i s/a/b/",
        "git ls-files -o '*.json' | xargs sed -i s/a/b/",
        "git grep -l hook HEAD~1 | cut -d: -f2 | xargs sed -i s/a/b/",
        "git ls-files --recurse-submodules | xargs sed -i s/a/b/",
    ] {
        assert!(is_stopped(list), "{list}");
    }
    // In this form names are not written out.
    world.write(".git/index", index(4, &["src/main.rs"]));
    assert!(is_stopped(list));
}

#[test]
fn a_stash_of_what_git_does_not_track_puts_the_policy_aside() {
    let world = tracked();
    let is_stopped = |command: &str| {
        let input = json!({ "command": command });
        let found = evaluate(&world, "SelfProtection", "{}", "Bash", input).unwrap();
        !found.is_empty()
    };
    let stash = "git stash -u";
    assert!(!is_stopped(stash));
    world.write(".git/index", index(2, &["docs/.ahp/hooks.yaml"]));
    assert!(is_stopped(stash));
}

#[test]
fn what_a_list_is_given_by_name_counts_whatever_it_looks_for() {
    let world = tracked();
    let is_stopped = |command: &str| {
        let input = json!({ "command": command });
        let found = evaluate(&world, "SelfProtection", "{}", "Bash", input).unwrap();
        !found.is_empty()
    };
    let mut wrong = Vec::new();
    for (lists, is_wanted) in [(NAMES, true), (LEAVES_OUT, false)] {
        for (list, taker) in lists
            .iter()
            .flat_map(|l| TAKERS.iter().map(move |t| (l, t)))
        {
            let line = taker.replace("@L", list);
            if is_stopped(&line) != is_wanted {
                wrong.push(format!("stopped {}: {line}", !is_wanted));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
