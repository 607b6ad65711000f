//! Many processes on one project at once: nothing is lost, nothing is torn.

use std::process::Stdio;

use crate::world::World;

#[test]
fn two_hundred_processes_write_one_log() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}");
    let children: Vec<_> = (0..200)
        .map(|n| {
            world
                .ahp_command()
                .args([
                    "run",
                    "pre-tool-use",
                    "--tool",
                    "Bash",
                    "--session",
                    &format!("s{n}"),
                ])
                .args(["--input", r#"{"command": "ls"}"#])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let log = world.log();
    assert_eq!(log.len(), 200);
    let mut sessions: Vec<_> = log
        .iter()
        .map(|r| r["session_id"].as_str().unwrap().to_owned())
        .collect();
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 200);
    for (n, record) in log.iter().enumerate() {
        assert_eq!(record["seq"], n + 1);
        if n > 0 {
            assert_eq!(record["prev"], log[n - 1]["hash"]);
        }
    }
    let verified = world.ahp(&["log", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}
