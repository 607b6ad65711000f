//! Finding issues: by name, by front matter, in trees of every shape.

use std::path::Path;
use std::time::{Duration, Instant};

use ahp::workspace::{DiskWorkspace, Workspace as _};

fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn workspace(root: &Path) -> DiskWorkspace {
    DiskWorkspace::new(root.to_owned(), root.join("Issues"))
}

/// Returns the path of the file in which an issue is found.
fn find(root: &Path, id: &str) -> Option<String> {
    let issue = workspace(root).issue(id).unwrap()?;
    Some(issue.path.clone())
}

#[test]
fn an_issue_is_found_in_deep_and_flat_trees() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        "Issues/Features/open/FEAT-0001-login.md",
        "---\nid: FEAT-0001\n---\n",
    );
    write(root, "Issues/FIX-0002.md", "---\nid: FIX-0002\n---\n");
    write(
        root,
        "Issues/a/b/c/d/e/Backend/CHORE-0003_tidy.md",
        "- [ ] x\n",
    );
    write(
        root,
        "Issues/Features/open/FEAT-00010-other.md",
        "---\nid: FEAT-00010\n---\n",
    );
    assert_eq!(
        find(root, "FEAT-0001").unwrap(),
        "Issues/Features/open/FEAT-0001-login.md"
    );
    assert_eq!(find(root, "fix-0002").unwrap(), "Issues/FIX-0002.md");
    assert_eq!(
        find(root, "CHORE-0003").unwrap(),
        "Issues/a/b/c/d/e/Backend/CHORE-0003_tidy.md"
    );
    assert_eq!(find(root, "FEAT-9999"), None);
    assert_eq!(find(root, ""), None);
    assert_eq!(find(root, "../../etc/passwd"), None);
}

#[test]
fn the_id_in_the_front_matter_wins_over_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        "Issues/FEAT-0001-renamed.md",
        "---\nid: FEAT-0002\n---\n",
    );
    write(
        root,
        "Issues/notes.md",
        "---\ntitle: x\nid: 'FEAT-0001' # the real one\n---\n",
    );
    write(root, "Issues/FEAT-0003-plain.md", "no front matter\n");
    write(root, "Issues/other.md", "---\nid: FEAT-0003\n---\n");
    assert_eq!(find(root, "FEAT-0001").unwrap(), "Issues/notes.md");
    assert_eq!(
        find(root, "FEAT-0002").unwrap(),
        "Issues/FEAT-0001-renamed.md"
    );
    assert_eq!(find(root, "FEAT-0003").unwrap(), "Issues/other.md");
}

/// Who would pass with another issue need only add a copy of it.
#[test]
fn an_id_that_several_files_have_cannot_be_told() {
    for (files, is_shared) in [
        (
            [
                ("Features/open/FEAT-1-x.md", "id: FEAT-1"),
                ("Features/closed/FEAT-1-x.md", "id: FEAT-1"),
            ],
            true,
        ),
        (
            [("a/FEAT-1.md", "id: FEAT-1"), ("b/notes.md", "id: feat-1")],
            true,
        ),
        (
            [
                ("a/other.md", "id: FEAT-1"),
                ("b/notes.md", "id: 'FEAT-1' # copy"),
            ],
            true,
        ),
        (
            [("a/FEAT-1.md", "title: x"), ("b/FEAT-1-y.md", "title: y")],
            true,
        ),
        (
            [("a/FEAT-1.md", "title: x"), ("b/y.md", "id: FEAT-1")],
            true,
        ),
        (
            [
                ("a/FEAT-1.md", "id: FEAT-1"),
                ("b/FEAT-1-y.md", "id: FEAT-2"),
            ],
            false,
        ),
        (
            [
                ("a/FEAT-1.md", "id: FEAT-1"),
                ("b/FEAT-10.md", "id: FEAT-10"),
            ],
            false,
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for (path, field) in files {
            write(
                root,
                &format!("Issues/{path}"),
                &format!("---\n{field}\n---\n"),
            );
        }
        let workspace = workspace(root);
        let found = workspace.issue("FEAT-1");
        assert_eq!(
            workspace.shared_ids().len(),
            usize::from(is_shared),
            "{files:?}"
        );
        let Err(error) = found else {
            assert!(!is_shared, "{files:?}");
            continue;
        };
        for (path, _) in files {
            assert!(error.to_string().contains(path), "{error}");
            assert!(error.remedy().contains(path), "{}", error.remedy());
        }
    }
}

#[test]
fn links_that_go_round_or_out_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        "Issues/Features/FEAT-0001-x.md",
        "---\nid: FEAT-0001\n---\n",
    );
    write(root, "shared/FEAT-0002-x.md", "---\nid: FEAT-0002\n---\n");
    write(
        outside.path(),
        "FEAT-0003-x.md",
        "---\nid: FEAT-0003\n---\n",
    );
    let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
    link(&root.join("Issues"), "Issues/Features/round");
    link(Path::new("."), "Issues/self");
    link(Path::new("missing"), "Issues/dangling");
    link(Path::new("loop.md"), "Issues/loop.md");
    link(&root.join("shared"), "Issues/shared");
    link(outside.path(), "Issues/outside");
    assert_eq!(
        find(root, "FEAT-0001").unwrap(),
        "Issues/Features/FEAT-0001-x.md"
    );
    assert_eq!(
        find(root, "FEAT-0002").unwrap(),
        "Issues/shared/FEAT-0002-x.md"
    );
    assert_eq!(find(root, "FEAT-0003"), None);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        "Issues/FEAT-0001-x.md",
        "---\nid: FEAT-0001\ntitle: \"open\n---\n- [x] a\n",
    );
    write(
        root,
        "Issues/other.md",
        "---\nid: FEAT-0002\ntags: {a: [}\n---\n",
    );
    std::fs::create_dir_all(root.join("Issues/FEAT-0003-x.md")).unwrap();
    let error = workspace(root).issue("FEAT-0001").unwrap_err();
    assert_eq!(error.path, "Issues/FEAT-0001-x.md");
    assert!(error.line >= 3, "{error}");
    let error = workspace(root).issue("FEAT-0002").unwrap_err();
    assert_eq!((error.path.as_str(), error.line), ("Issues/other.md", 3));
    assert!(workspace(root).issue("FEAT-0003").unwrap().is_none());
}

#[test]
fn without_an_issues_directory_there_is_no_issue() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(find(dir.path(), "FEAT-0001"), None);
}

#[test]
fn issues_may_lie_outside_the_project() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "tracker/FEAT-0001-x.md",
        "---\nid: FEAT-0001\n---\n- [ ] a\n",
    );
    std::fs::create_dir_all(dir.path().join("project")).unwrap();
    let root = dir.path().join("project");
    let workspace = DiskWorkspace::new(root, dir.path().join("tracker"));
    let issue = workspace.issue("FEAT-0001").unwrap().unwrap();
    assert_eq!(issue.progress(), (1, 0));
}

#[test]
fn ten_thousand_items_and_ten_thousand_issues_are_quick() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let items = "- [x] done\n- [ ] open\n".repeat(5_000);
    write(
        root,
        "Issues/big/FEAT-0001-big.md",
        &format!("---\nid: FEAT-0001\n---\n{items}"),
    );
    for n in 0..10_000 {
        write(
            root,
            &format!("Issues/{}/{n}.md", n % 10),
            &format!("---\nid: FIX-{n:05}\n---\n"),
        );
    }
    let start = Instant::now();
    let workspace = workspace(root);
    let issue = workspace.issue("FEAT-0001").unwrap().unwrap();
    assert_eq!(issue.progress(), (10_000, 5_000));
    let issue = workspace.issue("FIX-09999").unwrap().unwrap();
    assert_eq!(issue.path, "Issues/9/9999.md");
    // Far above what it takes, far below what a slow way would take.
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}",
        start.elapsed()
    );
}
