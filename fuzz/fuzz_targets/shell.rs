//! A command line.

#![no_main]

use ahp::shell::Surroundings;
use ahp::shell::analyse;

libfuzzer_sys::fuzz_target!(|command: &str| {
    let analysis = analyse(
        command,
        Surroundings {
            work_dir: "/project/src".into(),
            home: Some("/home/user".into()),
            project_root: "/project".into(),
        },
    );
    analysis.issue_commands();
    analysis.git_commit_messages();
    analysis.writes();
});
