//! Changes and the state of the repository, asked of real repositories of every shape.

use std::time::{Duration, Instant};

use ahp::workspace::ChangeScope::{Branch, WorkingTree};
use ahp::workspace::{CommitsOf, DiskWorkspace, GitError, Workspace as _};

use super::repository::{Repository, show};

#[test]
fn without_a_repository_git_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = DiskWorkspace::new(dir.path().to_owned(), dir.path().join("Issues"));
    assert!(matches!(workspace.git(), Err(GitError::NoRepository(_))));
    assert!(matches!(
        workspace.changes(Branch),
        Err(GitError::NoRepository(_))
    ));
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let repository = Repository::new();
    repository.write("staged.txt", "a\nb\n").git("add -A");
    repository.write("loose.txt", "c");
    let expected = ["A loose.txt +1 -0", "A staged.txt +2 -0"];
    assert_eq!(repository.changes(WorkingTree), expected);
    assert_eq!(repository.changes(Branch), expected);
    let git = repository.workspace().git().unwrap();
    assert_eq!(git.branch(), Some("main"));
    assert_eq!(git.default_branch(), Some("main"));
    assert_eq!(git.head(), None);
    assert_eq!((git.dirty().unwrap(), git.ahead().unwrap()), (true, 0));
}

#[test]
fn a_branch_is_measured_from_where_it_left() {
    let repository = Repository::new();
    repository
        .write("kept.txt", "1\n2\n3\n")
        .write("gone.txt", "x\n");
    repository
        .write("old name.txt", "a\nb\nc\nd\ne\nf\n")
        .commit("first");
    repository.git("checkout -q -b FEAT-0001-登录");
    repository
        .write("kept.txt", "1\n2\n3\n4\n")
        .remove("gone.txt");
    repository.git("add -A");
    std::fs::rename(
        repository.root().join("old name.txt"),
        repository.root().join("new.txt"),
    )
    .unwrap();
    repository
        .write("image.bin", [0, 159, 146, 150])
        .commit("work");
    // `main` goes on: not a part of the branch's change.
    repository.git("checkout -q main");
    repository.write("other.txt", "y\n").commit("elsewhere");
    repository.git("checkout -q FEAT-0001-登录");
    // Not committed: staged, changed and new.
    repository.write("staged.txt", "s\n").git("add -A");
    repository.write("kept.txt", "1\n2\n3\n4\n5\n");
    repository.write("new file.txt", "n");
    assert_eq!(
        repository.changes(Branch),
        [
            "D gone.txt +0 -1",
            "A image.bin",
            "M kept.txt +2 -0",
            "A new file.txt +1 -0",
            "R old name.txt -> new.txt +0 -0",
            "A staged.txt +1 -0",
        ]
    );
    assert_eq!(
        repository.changes(WorkingTree),
        [
            "M kept.txt +1 -0",
            "A new file.txt +1 -0",
            "A staged.txt +1 -0"
        ]
    );
    let git = repository.workspace().git().unwrap();
    assert_eq!(git.branch(), Some("FEAT-0001-登录"));
    assert_eq!((git.dirty().unwrap(), git.ahead().unwrap()), (true, 1));
    let changes = repository.workspace().changes(Branch).unwrap();
    assert_eq!(
        changes.base.as_deref(),
        Some(&*repository.git("rev-parse main~1"))
    );
    assert_eq!((changes.added_lines, changes.removed_lines), (4, 1));
}

#[test]
fn issues_and_the_own_files_are_not_part_of_the_work() {
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .commit("first")
        .git("checkout -q -b work");
    repository
        .write(".ahp/hooks.yaml", "x")
        .write("Issues/Features/FEAT-1.md", "x");
    repository
        .write("Issues/tool.py", "x\n")
        .write(".ahp-notes.txt", "x\n");
    assert_eq!(
        repository.changes(Branch),
        ["A .ahp-notes.txt +1 -0", "A Issues/tool.py +1 -0"]
    );
    assert_eq!(
        repository.changes(WorkingTree),
        [
            "A .ahp-notes.txt +1 -0",
            "A Issues/Features/FEAT-1.md +1 -0",
            "A Issues/tool.py +1 -0"
        ]
    );
    let flat = DiskWorkspace::new(repository.root().to_owned(), repository.root().to_owned());
    assert_eq!(show(&flat, Branch).len(), 3);
}

#[test]
fn only_the_own_files_of_ahp_do_not_make_it_dirty() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    assert!(!repository.workspace().git().unwrap().dirty().unwrap());
    repository.write(".ahp/signals.jsonl", "{}\n");
    assert!(!repository.workspace().git().unwrap().dirty().unwrap());
    repository.write("b.txt", "b\n");
    assert!(repository.workspace().git().unwrap().dirty().unwrap());
}

#[test]
fn a_detached_head_has_no_branch() {
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .commit("first")
        .write("b.txt", "b\n")
        .commit("second");
    repository.git("checkout -q --detach HEAD~1");
    repository.write("c.txt", "c\n").commit("aside");
    let git = repository.workspace().git().unwrap();
    assert_eq!(git.branch(), None);
    assert_eq!(git.default_branch(), Some("main"));
    assert_eq!(git.head(), Some(&*repository.git("rev-parse HEAD")));
    assert_eq!(git.ahead().unwrap(), 1);
    assert_eq!(repository.changes(Branch), ["A c.txt +1 -0"]);
}

#[test]
fn the_default_branch_is_what_origin_says_else_the_configured_else_the_usual() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    repository.git("branch master");
    repository.git("branch develop");
    let default = || {
        let git = repository.workspace().git().unwrap();
        git.default_branch().map(str::to_owned)
    };
    assert_eq!(default().as_deref(), Some("main"));
    repository.git("config init.defaultBranch develop");
    assert_eq!(default().as_deref(), Some("develop"));
    repository.git("update-ref refs/remotes/origin/trunk HEAD");
    repository.git("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/trunk");
    assert_eq!(default().as_deref(), Some("trunk"));
    repository.git("pack-refs --all");
    assert_eq!(default().as_deref(), Some("trunk"));
}

#[test]
fn without_a_default_branch_the_branch_is_measured_against_head() {
    let repository = Repository::new();
    repository.git("checkout -q -b something");
    repository
        .write("a.txt", "a\n")
        .commit("first")
        .write("b.txt", "b\n");
    let git = repository.workspace().git().unwrap();
    assert_eq!(git.default_branch(), None);
    assert_eq!(repository.changes(Branch), ["A b.txt +1 -0"]);
}

#[test]
fn a_stale_local_main_does_not_make_the_change_larger() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    let first = repository.git("rev-parse HEAD");
    repository.write("b.txt", "b\n").commit("of somebody else");
    repository.git("update-ref refs/remotes/origin/main HEAD");
    repository.git("checkout -q -b work");
    repository.write("c.txt", "c\n").commit("mine");
    repository.git(&format!("branch -f main {first}"));
    assert_eq!(repository.changes(Branch), ["A c.txt +1 -0"]);
    // On `main` itself, what its remote does not have is the change.
    repository.git("checkout -q -B main work");
    assert_eq!(repository.changes(Branch), ["A c.txt +1 -0"]);
}

#[test]
fn unrelated_histories_are_an_error_that_says_so() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    repository.git("checkout -q --orphan island");
    repository.write("b.txt", "b\n").commit("second");
    let error = repository.workspace().changes(Branch).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no commit in common with the default branch `main`"),
        "{error}"
    );
}

#[test]
fn the_default_branch_may_have_any_name() {
    for name in ["develop", "trunk", "production"] {
        let repository = Repository::new();
        repository.git(&format!("symbolic-ref HEAD refs/heads/{name}"));
        repository.write("a.txt", "a\n").commit("first");
        repository.git("checkout -q -b work");
        repository.write("b.txt", "b\n").commit("second");
        assert_eq!(repository.changes(Branch), ["A b.txt +1 -0"], "{name}");
        let git = repository.workspace().git().unwrap();
        assert_eq!(git.default_branch(), Some(name));
    }
}

#[test]
fn a_linked_working_tree_has_its_own_branch() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    repository.git("worktree add -q -b side tree");
    repository.write("tree/b.txt", "b\n");
    let root = repository.root().join("tree");
    let workspace = DiskWorkspace::new(root.clone(), root.join("Issues"));
    let git = workspace.git().unwrap();
    assert_eq!(git.branch(), Some("side"));
    assert_eq!(git.default_branch(), Some("main"));
    assert_eq!(git.head(), Some(&*repository.git("rev-parse HEAD")));
    assert_eq!(show(&workspace, Branch), ["A b.txt +1 -0"]);
}

#[test]
fn a_submodule_is_one_file_and_a_project_of_its_own() {
    let library = Repository::new();
    library.write("lib.txt", "l\n").commit("library");
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .commit("first")
        .git("checkout -q -b work");
    let url = library.root().display().to_string();
    repository.git(&format!("submodule add -q {url} lib"));
    repository.commit("with library");
    repository.write("lib/new.txt", "n\n");
    assert_eq!(
        repository.changes(Branch),
        ["A .gitmodules +3 -0", "A lib +1 -0"]
    );
    let root = repository.root().join("lib");
    let workspace = DiskWorkspace::new(root.clone(), root.join("Issues"));
    assert_eq!(show(&workspace, WorkingTree), ["A new.txt +1 -0"]);
}

#[test]
fn a_project_in_a_folder_of_a_repository_sees_its_own_files_only() {
    let repository = Repository::new();
    repository
        .write("app/a.txt", "a\n")
        .write("other/b.txt", "b\n")
        .commit("first");
    repository
        .write("app/a.txt", "a\nA\n")
        .write("other/b.txt", "B\n")
        .write("app/n.txt", "n\n");
    let root = repository.root().join("app");
    let workspace = DiskWorkspace::new(root.clone(), root.join("Issues"));
    assert_eq!(
        show(&workspace, WorkingTree),
        ["M a.txt +1 -0", "A n.txt +1 -0"]
    );
    repository.git("checkout -q app");
    repository.remove("app/n.txt");
    let workspace = DiskWorkspace::new(root.clone(), root.join("Issues"));
    assert!(!workspace.git().unwrap().dirty().unwrap());
}

#[test]
fn refs_in_a_table_are_read_by_git() {
    let repository = Repository::new();
    // An older git does not know this format, and has no such repositories either.
    if repository.git("version").as_str() >= "git version 2.45" {
        std::fs::remove_dir_all(repository.root().join(".git")).unwrap();
        repository.git("init -q --ref-format=reftable -b main .");
        repository
            .write("a.txt", "a\n")
            .commit("first")
            .git("checkout -q -b work");
        repository.write("b.txt", "b\n").commit("second");
        let git = repository.workspace().git().unwrap();
        assert_eq!(git.branch(), Some("work"));
        assert_eq!(git.default_branch(), Some("main"));
        assert_eq!(git.ahead().unwrap(), 1);
        assert_eq!(repository.changes(Branch), ["A b.txt +1 -0"]);
    }
}

#[test]
fn settings_of_the_repository_do_not_run_programs() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    let trap = repository.root().join("sprung");
    let command = format!("touch {}", trap.display());
    let work = repository.root().join("tree");
    repository.git_words("", &["worktree", "add", "-q", "tree"]);
    for key in [
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.y.process",
        "gpg.program",
    ] {
        repository.git_words("", &["config", key, &command]);
    }
    for required in [
        "filter.x.required",
        "filter.y.required",
        "log.showSignature",
    ] {
        repository.git_words("", &["config", required, "true"]);
    }
    for root in [repository.root(), &work] {
        // The times differ, so that git has to read the files.
        for name in ["a.txt", "b.bin"] {
            std::fs::write(root.join(name), "b\n").unwrap();
        }
        std::fs::write(
            root.join(".gitattributes"),
            "*.txt diff=x filter=x\n*.bin filter=y\n",
        )
        .unwrap();
        let workspace = DiskWorkspace::new(root.to_owned(), root.join("Issues"));
        let changes = workspace.changes(WorkingTree).unwrap();
        assert!(changes.paths.contains(&"a.txt".into()), "{changes:?}");
        assert!(workspace.git().unwrap().dirty().unwrap());
        workspace.commits(&CommitsOf::Branch, 9).unwrap();
        workspace.test_figures();
        assert!(!trap.exists(), "{}", root.display());
    }
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    let trap = repository.root().join("sprung");
    let command = format!("ext::touch {}", trap.display());
    for (key, value) in [
        ("protocol.ext.allow", "always"),
        ("remote.origin.url", &command),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("extensions.partialClone", "origin"),
    ] {
        repository.git_words("", &["config", key, value]);
    }
    let object = repository.git_words("", &["rev-parse", "HEAD:a.txt"]);
    let (folder, name) = object.trim().split_at(2);
    std::fs::remove_file(
        repository
            .root()
            .join(".git/objects")
            .join(folder)
            .join(name),
    )
    .unwrap();
    repository.write("a.txt", "b\n");
    // What the clone lacks cannot be told; nobody is asked for it.
    let changes = repository.workspace().changes(WorkingTree);
    assert!(!trap.exists(), "{changes:?}");
    changes.unwrap_err();
}

#[test]
fn odd_names_come_through() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    for name in [
        "with blank",
        "quo\"te",
        "tab\there",
        "line\nend",
        "重要.txt",
        "-dash",
        ":colon",
    ] {
        repository.write(name, "x\n");
    }
    repository.git("add -N -A");
    let changes = repository.workspace().changes(WorkingTree).unwrap();
    assert_eq!(
        changes.paths,
        [
            "-dash",
            ":colon",
            "line\nend",
            "quo\"te",
            "tab\there",
            "with blank",
            "重要.txt"
        ]
    );
    assert_eq!(changes.added_lines, 7);
}

#[test]
fn a_file_taken_out_of_the_index_is_not_deleted() {
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .commit("first")
        .git("rm -q --cached a.txt");
    assert_eq!(repository.changes(WorkingTree), ["M a.txt +1 -0"]);
}

#[test]
fn ten_thousand_changed_files_are_quick() {
    let repository = Repository::new();
    for n in 0..5_000 {
        repository.write(&format!("src/{}/{n}.txt", n % 50), format!("{n}\n"));
    }
    repository.commit("first");
    for n in 0..10_000 {
        repository.write(&format!("src/{}/{n}.txt", n % 50), format!("{n}\nmore\n"));
    }
    let start = Instant::now();
    let changes = repository.workspace().changes(WorkingTree).unwrap();
    let took = start.elapsed();
    assert_eq!((changes.files.len(), changes.added.len()), (10_000, 5_000));
    assert_eq!(changes.added_lines, 15_000);
    assert!(took < Duration::from_secs(5), "{took:?}");
}
