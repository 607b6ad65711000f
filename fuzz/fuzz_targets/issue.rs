//! An issue's file.

#![no_main]

use ahp::workspace::{MemoryWorkspace, Workspace as _};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let workspace = MemoryWorkspace::new("/project").with_file("Issues/FEAT-0001.md", data);
    if let Ok(Some(issue)) = workspace.issue("FEAT-0001") {
        let (total, done) = issue.progress();
        assert!(done <= total);
        for heading in issue.headings() {
            issue.section(&heading);
        }
    }
});
