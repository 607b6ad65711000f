//! Evidence of tests: bound to a digest that is the same for the same content, and another for any other.

use std::fs;
use std::path::Path;

use ahp::workspace::{Evidence, EvidenceStore, TestFigures, Tree, TreeDigest, Workspace as _};

use chrono::DateTime;

use super::repository::Repository;

fn digest(repository: &Repository) -> String {
    let workspace = repository.workspace();
    let tree = Tree::read(workspace.root(), workspace.issues_dir()).unwrap();
    tree.digest(&[]).to_string()
}

#[test]
fn to_stage_and_to_commit_changes_nothing() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    repository
        .write("a.txt", "b\n")
        .write("new \"one\"", "n\n")
        .write("\"quoted\nline", "q");
    std::os::unix::fs::symlink("a.txt", repository.root().join("link")).unwrap();
    let loose = digest(&repository);
    repository.git("add -A");
    assert_eq!(digest(&repository), loose);
    repository.commit("second");
    assert_eq!(digest(&repository), loose);
    repository.write("a.txt", "c\n");
    let other = digest(&repository);
    assert_ne!(other, loose);
    repository.write("a.txt", "b\n");
    assert_eq!(digest(&repository), loose);
}

#[test]
fn any_change_changes_it() {
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .write("b.sh", "b\n")
        .write(".gitignore", "target\n")
        .commit("first");
    let mut seen = vec![digest(&repository)];
    let mut differs = |what: &str| {
        let now = digest(&repository);
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    repository.write("new.txt", "n\n");
    differs("a new file");
    repository.write("new.txt", "m\n");
    differs("its content");
    repository.remove("a.txt");
    differs("a deletion");
    fs::rename(
        repository.root().join("new.txt"),
        repository.root().join("moved.txt"),
    )
    .unwrap();
    differs("a move");
    let script = repository.root().join("b.sh");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    differs("a mode");
    std::os::unix::fs::symlink("b.sh", repository.root().join("link")).unwrap();
    differs("a link");
    fs::create_dir(repository.root().join("nested")).unwrap();
    repository.git_in("nested", "init -q .");
    repository.write("nested/x", "1");
    differs("a repository inside");
    repository.write("nested/x", "2");
    differs("a file in it");
}

#[test]
fn what_git_was_told_not_to_look_at_is_looked_at() {
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .write("b.txt", "b\n")
        .commit("first");
    repository.git("update-index --assume-unchanged a.txt");
    repository.git("update-index --skip-worktree b.txt");
    let clean = digest(&repository);
    repository.write("a.txt", "A\n");
    let one = digest(&repository);
    assert_ne!(one, clean);
    repository.write("b.txt", "B\n");
    assert_ne!(digest(&repository), one);
}

#[test]
fn ignored_files_issues_and_the_own_state_do_not_count() {
    let repository = Repository::new();
    repository
        .write("a.txt", "a\n")
        .write(".gitignore", "target\n")
        .commit("first");
    let before = digest(&repository);
    repository
        .write("target/x", "x")
        .write(".ahp/signals.jsonl", "{}");
    repository.write("Issues/FEAT-0001.md", "- [x] a");
    assert_eq!(digest(&repository), before);
    repository.write("Issues/tool.py", "x");
    assert_ne!(digest(&repository), before);
}

#[test]
fn figures_hold_for_the_very_tree_that_was_tested() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n").commit("first");
    let figures = || repository.workspace().test_figures();
    assert_eq!(figures(), TestFigures::default());
    let workspace = repository.workspace();
    let tree = Tree::read(workspace.root(), workspace.issues_dir()).unwrap();
    let state = repository.root().join(".ahp");
    let evidence = Evidence {
        tree: tree.digest(&[]),
        command: "cargo test".to_owned(),
        at: "2026-02-09T10:00:00Z".parse().unwrap(),
        success: false,
        passed: 7,
        failed: 1,
        skipped: 1,
        coverage: Some(81.5),
        head: None,
        suite: String::new(),
        tests: std::collections::BTreeSet::new(),
        written: std::collections::BTreeSet::new(),
    };
    EvidenceStore::open(&state).record(evidence).unwrap();
    let measured = TestFigures {
        passed: Some(7),
        failed: Some(1),
        total: Some(9),
        coverage: Some(81.5),
    };
    assert_eq!(figures(), measured);
    repository.write("a.txt", "changed\n");
    assert_eq!(figures(), TestFigures::default());
    fs::write(state.join("evidence.json"), "{broken").unwrap();
    assert_eq!(figures(), TestFigures::default());
}

fn tree(root: &Path) -> Tree {
    Tree::read(root, Path::new("Issues")).unwrap()
}

#[test]
fn the_digest_follows_content_names_and_modes_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::write(root.join("a.txt"), "one").unwrap();
    let first = tree(root).digest(&[]);
    fs::create_dir_all(root.join("Issues")).unwrap();
    fs::write(root.join("Issues/FEAT-1.md"), "an issue").unwrap();
    fs::create_dir_all(root.join(".ahp")).unwrap();
    fs::write(root.join(".ahp/signals.jsonl"), "{}").unwrap();
    fs::create_dir_all(root.join("target")).unwrap();
    fs::write(root.join("target/CACHEDIR.TAG"), "Signature").unwrap();
    assert_eq!(tree(root).digest(&[]), first);
    fs::write(root.join("a.txt"), "two").unwrap();
    assert_ne!(tree(root).digest(&[]), first);
    fs::write(root.join("a.txt"), "one").unwrap();
    assert_eq!(tree(root).digest(&[]), first);
    fs::rename(root.join("a.txt"), root.join("b.txt")).unwrap();
    assert_ne!(tree(root).digest(&[]), first);
}

#[test]
fn a_tree_is_kept_where_files_are_only_added() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::write(root.join("a.txt"), "one").unwrap();
    let before = tree(root);
    fs::write(root.join("report.xml"), "<x/>").unwrap();
    assert!(before.is_kept_by(&tree(root), &[]));
    fs::write(root.join("a.txt"), "two").unwrap();
    assert!(!before.is_kept_by(&tree(root), &[]));
    assert!(before.is_kept_by(&tree(root), &["a.txt".to_owned()]));
}

/// A run of some tests on a tree of its own.
fn run(tree: TreeDigest, suite: &str, passed: u64) -> Evidence {
    Evidence {
        tree,
        command: "cargo test".to_owned(),
        at: DateTime::UNIX_EPOCH,
        success: passed > 0,
        passed,
        failed: 0,
        skipped: 0,
        coverage: None,
        head: None,
        suite: suite.to_owned(),
        tests: (0..passed).map(|n| format!("test_{n}")).collect(),
        written: std::collections::BTreeSet::new(),
    }
}

#[test]
fn the_store_keeps_one_run_of_a_command_on_a_tree() {
    let dir = tempfile::tempdir().unwrap();
    let store = EvidenceStore::open(dir.path());
    let tree = tree(dir.path()).digest(&[]);
    for passed in [1, 2] {
        store.record(run(tree.clone(), "", passed)).unwrap();
    }
    assert_eq!(store.load().len(), 1);
    assert_eq!(store.latest(&tree, None).unwrap().passed, 2);
    assert_eq!(store.latest(&tree, Some("pytest")), None);
}

/// What passed last is what a later run must cover, however many runs failed after it.
#[test]
fn the_last_run_that_passed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = EvidenceStore::open(dir.path());
    let tree_of = |text: &str| {
        fs::write(dir.path().join("a.txt"), text).unwrap();
        tree(dir.path()).digest(&[])
    };
    let first = tree_of("first");
    store.record(run(first.clone(), "all", 3)).unwrap();
    store.record(run(first.clone(), "all", 0)).unwrap();
    assert!(!store.latest(&first, None).unwrap().success);
    for n in 0..70 {
        store
            .record(run(tree_of(&n.to_string()), "all", 0))
            .unwrap();
        store
            .record(run(tree_of(&format!("other {n}")), "others", n + 1))
            .unwrap();
    }
    assert!(store.load().len() <= 64);
    assert_eq!(store.last_passed("all").unwrap().tests.len(), 3);
    assert_eq!(store.last_passed("others").unwrap().tests.len(), 70);
    assert_eq!(store.last_passed("none"), None);
    let with_names = |known: &&Evidence| !known.tests.is_empty();
    assert_eq!(store.load().iter().filter(with_names).count(), 2);
}
