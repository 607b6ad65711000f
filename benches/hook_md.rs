//! Finding the HOOK.md folders of a project, by their number: with what the user's cache knows, and without.
//!
//! `cargo bench --bench hook_md`

#![expect(clippy::unwrap_used, reason = "a measurement may panic")]

use std::fs;
use std::path::Path;

use ahp::hook_md::{Places, discover};
use divan::Bencher;

const FOLDERS: [usize; 3] = [10, 100, 1000];

fn main() {
    divan::main();
}

fn project(folders: usize) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    for n in 0..folders {
        let folder = project.path().join(format!(".agents/hooks/hook-{n}"));
        fs::create_dir_all(folder.join("scripts")).unwrap();
        fs::write(folder.join("scripts/run.sh"), "#!/bin/sh\n").unwrap();
        let text = format!(
            "---\nname: hook-{n}\ndescription: one of many\ntrigger: pre-tool-call\nmatcher:\n  tool: Bash\n---\n\nWhat it does.\n"
        );
        fs::write(folder.join("HOOK.md"), text).unwrap();
    }
    project
}

fn places(root: &Path) -> Places {
    Places::new(None, root).cached_in(Some(root.join("cache")))
}

/// Every file is read.
#[divan::bench(args = FOLDERS)]
fn first_time(bencher: Bencher<'_, '_>, folders: usize) {
    let project = project(folders);
    let places = places(project.path());
    bencher
        .with_inputs(|| fs::remove_dir_all(project.path().join("cache")).ok())
        .bench_values(|_| discover(&places));
}

/// Every file is looked at, and none is read.
#[divan::bench(args = FOLDERS)]
fn unchanged(bencher: Bencher<'_, '_>, folders: usize) {
    let project = project(folders);
    let places = places(project.path());
    // Files that are younger than the cache by less than the kernel's clock tells are read again.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(discover(&places).all().len(), folders);
    bencher.bench(|| discover(&places));
}
