//! Reading and listing files: inside the project, and nowhere else.

use std::io::ErrorKind;
use std::path::Path;

use ahp::process::Program;
use ahp::workspace::{DiskWorkspace, MemoryWorkspace, Workspace};

fn project() -> (tempfile::TempDir, DiskWorkspace) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(dir.path().join("secret"), "s").unwrap();
    std::fs::write(root.join("src/a.rs"), "a").unwrap();
    std::fs::write(root.join("b.txt"), "b").unwrap();
    std::fs::write(root.join(".gitignore"), "ignored\n").unwrap();
    std::fs::write(root.join("ignored"), "i").unwrap();
    let workspace = DiskWorkspace::new(root.clone(), root.join("Issues"));
    (dir, workspace)
}

fn denied(workspace: &dyn Workspace, path: &str) {
    let error = workspace.read(path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{path}: {error}");
    assert!(!workspace.exists(path), "{path}");
}

#[test]
fn no_path_leads_out_of_the_project() {
    let (dir, workspace) = project();
    let link = |to: &Path, at: &str| {
        std::os::unix::fs::symlink(to, workspace.root().join(at)).unwrap();
    };
    link(dir.path(), "out");
    link(&dir.path().join("secret"), "out-file");
    link(Path::new("../secret"), "out-relative");
    link(Path::new("b.txt"), "inside");
    for path in [
        "../secret",
        "src/../../secret",
        "/etc/passwd",
        "out/secret",
        "out-file",
        "out-relative",
    ] {
        denied(&workspace, path);
    }
    assert_eq!(&*workspace.read("inside").unwrap(), b"b");
    assert_eq!(&*workspace.read("src/../b.txt").unwrap(), b"b");
    assert_eq!(&*workspace.read("./src/./a.rs").unwrap(), b"a");
    let absolute = workspace.root().join("b.txt").display().to_string();
    assert_eq!(&*workspace.read(&absolute).unwrap(), b"b");

    let memory = MemoryWorkspace::new("/p").with_file("b.txt", "b");
    denied(&memory, "../b.txt");
    denied(&memory, "/etc/passwd");
    assert_eq!(&*memory.read("/p/x/../b.txt").unwrap(), b"b");
}

#[test]
fn a_project_reached_through_a_link_reads_its_own_files() {
    let (dir, _) = project();
    let root = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("project"), &root).unwrap();
    let workspace = DiskWorkspace::new(root.clone(), root.join("Issues"));
    assert_eq!(&*workspace.read("b.txt").unwrap(), b"b");
    let real = dir.path().join("project/b.txt").canonicalize().unwrap();
    assert_eq!(&*workspace.read(&real.display().to_string()).unwrap(), b"b");
    assert!(workspace.exists("src"));
}

#[test]
fn what_is_no_file_is_not_read() {
    let (_dir, workspace) = project();
    let pipe = workspace.root().join("pipe");
    let made = Program::new(vec!["mkfifo".to_owned(), pipe.display().to_string()]).run();
    assert!(made.unwrap().exit.is_success());
    assert!(workspace.read("pipe").is_err());
    assert!(workspace.read("src").is_err());
    assert_eq!(
        workspace.read("missing").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert!(workspace.exists("src") && !workspace.exists("missing"));
}

#[test]
fn a_file_is_read_once_an_event() {
    let (_dir, workspace) = project();
    assert_eq!(&*workspace.read("b.txt").unwrap(), b"b");
    std::fs::write(workspace.root().join("b.txt"), "changed").unwrap();
    assert_eq!(&*workspace.read("b.txt").unwrap(), b"b");
    let next = DiskWorkspace::new(workspace.root().to_owned(), workspace.root().join("Issues"));
    assert_eq!(&*next.read("b.txt").unwrap(), b"changed");
}

#[test]
fn listing_leaves_out_what_git_ignores() {
    let (_dir, workspace) = project();
    std::fs::create_dir_all(workspace.root().join(".git")).unwrap();
    std::fs::write(workspace.root().join(".git/config"), "").unwrap();
    assert_eq!(workspace.list("**"), [".gitignore", "b.txt", "src/a.rs"]);
    assert_eq!(workspace.list("**/*.rs"), ["src/a.rs"]);
    assert_eq!(workspace.list("src/*"), ["src/a.rs"]);
    assert!(workspace.list("*.md").is_empty());
}
