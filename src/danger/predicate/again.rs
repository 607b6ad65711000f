//! What the line itself makes again, or has made: copies of build products, lists of them, folders and databases of its own.

use super::file::is_precious;
use super::known::{is_in_made_folder, path};
use crate::danger::digest::Digest;
use crate::danger::place::{Place, place};
use crate::search::keeps_names;
use crate::shell::{Invocation, Stdin, Word, file_name, found_by_find};
use crate::words::{holds_any, words};

/// Whether something holds of all words that name what is lost for good, and there are such.
fn are_all_precious(digest: &Digest<'_>, words: &[&Word], holds: impl Fn(&Word) -> bool) -> bool {
    let precious = words.iter().filter(|word| is_precious(digest.place(word)));
    let mut precious = precious.peekable();
    precious.peek().is_some() && precious.all(|word| holds(word))
}

/// Whether a later command of the line fills what this one deletes with a copy of what a build made:
/// `rm -rf public && cp -r web/dist public`.
pub(super) fn is_copied_again(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let later = digest.later();
    let is_product = |word: &Word, copy: &Invocation| {
        place(word, copy, &digest.analysis.surroundings) == Place::Artifact
    };
    // What lies below is gone with it.
    let lies_below = |source: &Word, word: &Word| {
        let bare = |word: &Word| {
            word.text
                .trim_start_matches("./")
                .trim_end_matches('/')
                .to_owned()
        };
        bare(source).starts_with(&format!("{}/", bare(word)))
    };
    let is_copied = |word: &Word| {
        later.iter().any(|copy| {
            let operands: Vec<&Word> = copy.operands().collect();
            let copies = matches!(copy.program.as_str(), "cp" | "mv" | "rsync" | "ditto");
            let Some((target, sources)) = operands.split_last().filter(|_| copies) else {
                return false;
            };
            let target = path(digest, target);
            target.is_some()
                && target == path(digest, word)
                && copy.work_dir == digest.invocation.work_dir
                && !sources.is_empty()
                && sources
                    .iter()
                    .all(|source| is_product(source, copy) && !lies_below(source, word))
        })
    };
    are_all_precious(digest, words, is_copied)
}

/// Whether a copy goes where all is made again: over temporary files or build products, or of these into a folder of the project.
pub(super) fn is_into_remade(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let Some((target, sources)) = words.split_last() else {
        return false;
    };
    let at = digest.place(target);
    let is_product =
        |word: &&Word| digest.place(word) == Place::Artifact && !word.text.contains(':');
    let of_products = || !sources.is_empty() && sources.iter().all(is_product);
    // Where the source is taken for the value of an option, nothing is known of it.
    digest.is_reread
        || !target.text.contains(':') && (!is_precious(at) || at == Place::Inside && of_products())
}

/// Whether a later command of the line builds what this one deletes: `rm -rf lib && npm run build`. What git keeps there, or
/// does not know, is no such thing.
pub(super) fn is_built_again(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let later = digest.later();
    let names_build = |word: &Word| {
        let task = word.text.split([':', '-']).next().unwrap_or_default();
        matches!(task, "build" | "compile" | "prepack" | "prepare")
    };
    let builds = later.iter().any(|i| {
        let builder = words!("library-builders").contains(&i.program.as_str());
        builder
            || words!("task-runners").contains(&i.program.as_str()) && i.operands().any(names_build)
    });
    let is_output = |word: &Word| {
        let name = file_name(word.text.trim_end_matches('/'));
        let mut names = name.trim_matches(['{', '}']).split(',');
        let is_clean = path(digest, word)
            .and_then(|path| digest.knowledge.uncommitted(&path, false))
            .is_none_or(|lost| lost == 0);
        names.all(|name| words!("library-output").contains(&name)) && is_clean
    };
    builds && are_all_precious(digest, words, is_output)
}

/// Whether words are what `ls` prints of build products, the newest left out or not: `ls -dt dist/* | tail -n +6 | xargs rm -rf`.
pub(super) fn are_listed_products(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let goes_down = digest.goes_down();
    let is_listed = |word: &&Word| {
        let Some((list, filters)) = digest.makers_of(word).split_first() else {
            return false;
        };
        // Of a folder that it is given itself it prints bare names, which mean something else here.
        let is_whole = word.text.starts_with("$(") && word.text.ends_with(')');
        let is_kept = || filters.iter().all(|filter| keeps_names(filter));
        match list.program.as_str() {
            "git" => return is_whole && is_kept() && lists_generated(digest, list),
            "find" | "gfind" => return is_whole && is_kept() && finds_products(digest, list),
            _ => {}
        }
        let is_named =
            list.program == "ls" && (list.has_short('d') || !goes_down) && !list.has_short('R');
        let mut operands = list.operands().peekable();
        let is_product = |word: &Word| {
            let at = place(word, list, &digest.analysis.surroundings);
            word.glob && word.text.contains('/') && at == Place::Artifact
        };
        is_named
            && list.work_dir == digest.invocation.work_dir
            && operands.peek().is_some()
            && operands.all(is_product)
            && filters.iter().all(|filter| keeps_names(filter))
            && (word.text == "{}" || word.text.starts_with('$') && !word.text.contains(")/"))
    };
    !words.is_empty() && words.iter().all(is_listed)
}

/// Whether a search finds nothing but what is made again, by its names.
fn finds_products(digest: &Digest<'_>, find: &Invocation) -> bool {
    let found = found_by_find(find);
    let mut places = found
        .iter()
        .map(|word| place(word, find, &digest.analysis.surroundings));
    find.work_dir == digest.invocation.work_dir && places.all(|at| !is_precious(at))
}

/// Whether git lists no files but such that are made again, by their names: `git ls-files -m '*.pb.go'`.
fn lists_generated(digest: &Digest<'_>, git: &Invocation) -> bool {
    let mut operands = git.operands().peekable();
    let lists = operands
        .next()
        .is_some_and(|word| match word.text.as_str() {
            "ls-files" => true,
            "diff" => git.has_long("--name-only"),
            _ => false,
        });
    let is_product = |word: &Word| {
        // A commit has such a name at most.
        word.text.contains('.')
            && place(word, git, &digest.analysis.surroundings) == Place::Artifact
    };
    lists
        && git.work_dir == digest.invocation.work_dir
        && operands.peek().is_some()
        && operands.all(is_product)
}

/// Whether the line gives git a path with this command: `git submodule deinit -f lib`.
fn names_to_git(digest: &Digest<'_>, command: &[&str], path: &str) -> bool {
    let mut all = digest
        .analysis
        .invocations
        .iter()
        .filter(|i| i.program == "git");
    all.any(|i| {
        let operands: Vec<&str> = i.operands().map(|w| w.text.trim_end_matches('/')).collect();
        operands
            .strip_prefix(command)
            .is_some_and(|rest| rest.contains(&path))
    })
}

/// Whether all that is deleted for good is what git keeps of a submodule that this line removes: `.git/modules/lib` beside
/// `git rm lib`, as git's own manual says.
pub(super) fn is_of_removed_submodule(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_removed = |name: &str| {
        names_to_git(digest, &["submodule", "deinit"], name) || names_to_git(digest, &["rm"], name)
    };
    let is_kept_of_it = |word: &Word| {
        let text = word.text.trim_start_matches("./").trim_end_matches('/');
        let name = text.strip_prefix(".git/modules/");
        !word.dynamic
            && !word.glob
            && name.is_some_and(|name| !name.contains("..") && is_removed(name))
    };
    are_all_precious(digest, words, is_kept_of_it)
}

/// Whether git takes a submodule away that this line removes from the working tree and from the index, and git does not know of
/// changes in it: `git submodule deinit -f lib && git rm -f lib`.
pub(super) fn removes_submodule(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_removed = |word: &&Word| {
        let name = word.text.trim_end_matches('/');
        let is_changed = path(digest, word)
            .and_then(|path| digest.knowledge.changed(&path))
            .is_some_and(|changed| changed > 0);
        !word.glob
            && !is_changed
            && names_to_git(digest, &["submodule", "deinit"], name)
            && names_to_git(digest, &["rm"], name)
    };
    !words.is_empty() && words.iter().all(is_removed)
}

/// Whether words are the two folders that .NET builds into, side by side, or a list of such: `src/App/bin src/App/obj`. Where
/// the line runs .NET itself, one of them is enough.
pub(super) fn are_dotnet_output(digest: &Digest<'_>) -> bool {
    let both = |names: &[&str]| names.contains(&"bin") && names.contains(&"obj");
    let split = |word: &Word| {
        let parts = word
            .text
            .split(',')
            .map(|part| part.trim_matches(['\\', '/', ' ']));
        parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let is_output = |word: &Word| {
        let name = word.text.rsplit(['\\', '/']).next().unwrap_or_default();
        matches!(name, "bin" | "obj")
            && matches!(
                digest.place(word),
                Place::Inside | Place::Artifact | Place::Unknown
            )
    };
    if digest
        .analysis
        .invocations
        .iter()
        .any(|i| i.program == "dotnet")
    {
        let found = found_by_find(digest.invocation);
        let mut meant = match digest.invocation.program.as_str() {
            "find" | "gfind" => found.iter().collect(),
            _ => digest.operands.clone(),
        }
        .into_iter()
        .peekable();
        if meant.peek().is_some() && meant.all(is_output) {
            return true;
        }
    }
    let named: Vec<String> = digest.invocation.operands().flat_map(split).collect();
    let lists_both = |list: &Invocation| {
        let given: Vec<String> = list.arguments.iter().flat_map(split).collect();
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let has = |option: &str| given.iter().any(|word| word.eq_ignore_ascii_case(option));
        let is_list = matches!(
            list.program.as_str(),
            "get-childitem" | "gci" | "dir" | "ls"
        );
        is_list && both(&given) && has("-directory") && has("-include")
    };
    if named.is_empty() {
        return digest.feeders().any(lists_both);
    }
    let mut places = digest.invocation.operands().map(|word| digest.place(word));
    if !places.all(|at| matches!(at, Place::Inside | Place::Artifact | Place::Unknown)) {
        return false;
    }
    let parent = |path: &str| {
        path.rsplit_once(['\\', '/'])
            .map_or(String::new(), |(dir, _)| dir.to_owned())
    };
    let name = |path: &str| {
        path.rsplit(['\\', '/'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    named.iter().all(|path| {
        let beside: Vec<String> = named
            .iter()
            .filter(|other| parent(other) == parent(path))
            .map(|path| name(path))
            .collect();
        let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
        both(&beside)
            && matches!(name(path).as_str(), "bin" | "obj")
            && !path.contains(['*', '$', '~'])
    })
}

/// Resources that exist nowhere but in the state of the tool itself, by how their types begin.
const OF_NOWHERE: &[&str] = &["terraform_data", "null_", "random_", "time_"];

/// Whether all that a tool for infrastructure knows of is what this line has written into a folder that it has made, and none
/// of that is anywhere else.
pub(super) fn is_own_infrastructure(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    let is_tool = |i: &Invocation| matches!(i.program.as_str(), "terraform" | "tofu");
    let is_told = |i: &Invocation| {
        let is_steered = i
            .environment
            .iter()
            .any(|(name, _)| name.starts_with("TF_"));
        let leads = |word: &Word| {
            let name = word.text.trim_start_matches('-');
            ["chdir", "from-module", "state", "backend", "var-file"]
                .iter()
                .any(|option| name.starts_with(option))
        };
        !is_steered && !i.arguments.iter().any(leads)
    };
    let is_known = |word: &Word| !word.dynamic && word.made_by.is_empty();
    let is_plain = |i: &Invocation| match i.program.as_str() {
        _ if matches!(i.stdin, Stdin::File(_)) => false,
        "mktemp" | "cd" | "mkdir" | "ls" | "test" | "[" | "tee" => true,
        "printf" | "echo" => i.arguments.iter().all(is_known),
        "cat" => i.operands().next().is_none() || i.redirects.iter().all(|r| !r.writes()),
        _ => is_tool(i) && is_told(i),
    };
    let is_of_nowhere = |text: &str| {
        let others = words!("outer-blocks", lines);
        let mut resources = text.split("resource \"").skip(1);
        !holds_any(text, others)
            && resources.all(|of| OF_NOWHERE.iter().any(|start| of.starts_with(start)))
    };
    is_in_made_folder(digest, &Word::plain("."))
        && is_told(invocation)
        && !digest
            .analysis
            .assignments
            .iter()
            .any(|(name, _)| name.starts_with("TF_"))
        && digest.earlier().all(is_plain)
        && digest.earlier().all(|i| {
            let texts = i.texts();
            texts.chain(i.stdin.text()).all(is_of_nowhere)
        })
}

/// Options of databases that are one file with a value behind them.
const TAKES_VALUE: &[&str] = &["-c", "-s", "-cmd", "-newline", "-nullvalue", "-separator"];

/// Whether a client opens no file, so that its database is gone when it ends: `duckdb -c …`, `sqlite3 :memory:`.
pub(super) fn is_in_memory(digest: &Digest<'_>) -> bool {
    let mut words = digest.invocation.arguments.iter();
    let mut file = None;
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-init" | "-f" | "-file" => return false,
            text if TAKES_VALUE.contains(&text) => drop(words.next()),
            text if text.len() > 1 && text.starts_with('-') => {}
            _ => {
                file = Some(word);
                break;
            }
        }
    }
    let opens = |text: &str| {
        let lower = text.to_ascii_lowercase();
        holds_any(&lower, &["attach", ".open", ".restore", ".read"])
    };
    file.is_none_or(|file| !file.dynamic && matches!(file.text.as_str(), "" | ":memory:"))
        && !digest.texts().any(opens)
}
