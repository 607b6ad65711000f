//! A log that cannot be written: the policy judges on, and whoever looks is told, whatever it is that refuses.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use ahp::process::installed;
use ahp::signal_log::verify;
use serde_json::{Value, json};

use crate::world::World;

/// A way in which a system refuses.
struct Refusal {
    /// The program that is needed to bring it about.
    needs: &'static str,
    /// The shell lines that bring it about, with the hook as `"$@"`.
    script: &'static str,
    /// What is said.
    says: &'static str,
}

const READ_ONLY: Refusal = Refusal {
    needs: "setpriv",
    // Root may write whatever the permissions say, unless that right is taken away.
    script: r#"chmod 555 .ahp/log
        if [ "$(id -u)" = 0 ]; then setpriv --bounding-set=-all "$@"; else "$@"; fi"#,
    says: "make it writable, or set `settings.log.path`",
};

const NO_LOCKS: Refusal = Refusal {
    needs: "cc",
    // What a network file system without a lock daemon answers.
    script: r#"echo '#include <errno.h>
        int flock(int fd, int operation) { errno = ENOLCK; return -1; }' > nolock.c
        cc -shared -fPIC -o nolock.so nolock.c
        LD_PRELOAD="$PWD/nolock.so" "$@""#,
    says: "put `settings.log.path` on a file system with locks",
};

const FULL_DISK: Refusal = Refusal {
    needs: "unshare",
    // Four pages, of which three are full: the event needs more than the one that is left.
    script: r#"unshare -Urm bash -c '
        mount -t tmpfs -o size=16k none .ahp/log
        head -c 12288 /dev/zero > .ahp/log/filler
        "$@"
        cp .ahp/log/signals.jsonl left.jsonl' sh "$@""#,
    says: "free some space",
};

const SIZE_LIMIT: Refusal = Refusal {
    needs: "bash",
    script: r#"ulimit -f 1; "$@""#,
    says: "File too large",
};

const NO_LOG: Refusal = Refusal {
    needs: "bash",
    script: r##"echo "# My notes" > .ahp/log/signals.jsonl; "$@""##,
    says: "is not a signal log",
};

/// What came of a hook.
struct Answer {
    world: World,
    code: i32,
    said: String,
}

/// Runs a hook before a shell command under a refusal; none where it cannot be brought about here.
fn hook(refusal: &Refusal, settings: &str, host: &str, command: &str) -> Option<Answer> {
    run(refusal, settings, &["hook", "--host", host], |world| {
        json!({
            "session_id": "s1", "cwd": world.root(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            // Text enough that one page does not hold it.
            "tool_input": {"command": command, "description": "why ".repeat(1500)},
        })
    })
}

/// Runs the program under a refusal; none where it cannot be brought about here.
fn run(
    refusal: &Refusal,
    settings: &str,
    args: &[&str],
    input: impl FnOnce(&World) -> Value,
) -> Option<Answer> {
    if installed(refusal.needs).is_none() {
        eprintln!("SKIPPED: there is no {} here", refusal.needs);
        return None;
    }
    let policy = format!(
        "settings: {{log: {{path: .ahp/log/signals.jsonl{settings}}}}}\nextends: [ahp:safe-shell]\n"
    );
    let world = World::new(&policy);
    fs::create_dir(world.path(".ahp/log")).unwrap();
    let event = input(&world);
    let mut child = world
        .command("bash")
        .args(["-c", refusal.script, "sh", env!("CARGO_BIN_EXE_ahp")])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A shell that fails before it has read everything closes the pipe.
    write!(child.stdin.take().unwrap(), "{event}").ok();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    if errors.contains("unshare: ") || errors.contains("mount: ") {
        eprintln!("SKIPPED: this user may not mount: {errors}");
        return None;
    }
    Some(Answer {
        world,
        code: output.status.code().unwrap_or(-1),
        said: String::from_utf8(output.stdout).unwrap(),
    })
}

fn check(refusal: &Refusal) {
    let json = |answer: &Answer| -> Value {
        assert_eq!(answer.code, 0, "{}", answer.said);
        serde_json::from_str(&answer.said).unwrap()
    };
    // What may be done is done, and the person is told.
    let Some(passed) = hook(refusal, "", "claude-code", "ls") else {
        return;
    };
    let said = json(&passed);
    let message = said["systemMessage"].as_str().unwrap();
    assert!(
        message.contains("the signal log cannot be written"),
        "{message}"
    );
    assert!(message.contains(refusal.says), "{message}");
    assert_eq!(
        said["hookSpecificOutput"]["permissionDecision"],
        Value::Null
    );

    // What is blocked stays blocked, and the agent is told too.
    let blocked = hook(refusal, "", "claude-code", "rm -rf /").unwrap();
    let said = json(&blocked);
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"]
        .as_str()
        .unwrap();
    assert!(reason.contains(refusal.says), "{reason}");

    // Where the log is required, nothing passes without it.
    let required = hook(refusal, ", required: true", "claude-code", "ls").unwrap();
    let said = json(&required);
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"]
        .as_str()
        .unwrap();
    assert!(
        reason.contains("log-unwritable") || reason.contains("signal-log"),
        "{reason}"
    );
    assert!(reason.contains(refusal.says), "{reason}");
}

#[test]
fn a_read_only_directory() {
    check(&READ_ONLY);
}

#[test]
fn a_file_system_without_locks() {
    check(&NO_LOCKS);
}

#[test]
fn a_full_disk() {
    check(&FULL_DISK);
}

#[test]
fn a_limit_to_the_size_of_files() {
    check(&SIZE_LIMIT);
}

#[test]
fn a_file_that_is_something_else() {
    check(&NO_LOG);
    let answer = hook(&NO_LOG, "", "claude-code", "ls").unwrap();
    assert_eq!(answer.world.read(".ahp/log/signals.jsonl"), "# My notes\n");
}

#[test]
fn a_disk_that_fails_to_save_keeps_the_record_and_says_so() {
    let fails = Refusal {
        needs: "cc",
        script: r#"echo '#include <errno.h>
            int fdatasync(int fd) { errno = EIO; return -1; }' > nosync.c
            cc -shared -fPIC -o nosync.so nosync.c
            LD_PRELOAD="$PWD/nosync.so" "$@""#,
        says: "this event was logged, but a power cut may lose it",
    };
    let Some(answer) = hook(&fails, "", "claude-code", "rm -rf /") else {
        return;
    };
    assert!(answer.said.contains("deny"), "{}", answer.said);
    assert!(answer.said.contains(fails.says), "{}", answer.said);
    let found = verify(answer.world.path(".ahp/log/signals.jsonl")).unwrap();
    assert_eq!((found.damage, found.records), (None, 2));
}

#[test]
fn doctor_says_what_refuses_before_an_event_comes() {
    for refusal in [&READ_ONLY, &NO_LOCKS, &FULL_DISK, &SIZE_LIMIT] {
        let Some(answer) = run(refusal, "", &["doctor"], |_| json!(null)) else {
            continue;
        };
        let log = answer.said.lines().find(|line| line.starts_with("log "));
        let log = log.unwrap_or_else(|| panic!("{}", answer.said));
        assert!(log.contains(refusal.says), "{log}");
        assert!(answer.said.contains("\n1 problem"), "{}", answer.said);
        // Nothing of the trial stays.
        let left = fs::read_dir(answer.world.path(".ahp/log")).unwrap();
        assert_eq!(left.count(), 0);
    }
    let fine = Refusal {
        needs: "bash",
        script: "\"$@\"",
        says: "not there yet; can be written, ",
    };
    let answer = run(&fine, "", &["doctor"], |_| json!(null)).unwrap();
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert!(answer.said.contains(fine.says), "{}", answer.said);
}

#[test]
fn a_full_disk_keeps_no_half_record() {
    let Some(answer) = hook(&FULL_DISK, "", "claude-code", "ls") else {
        return;
    };
    let left = answer.world.path("left.jsonl");
    assert_eq!(fs::metadata(&left).unwrap().len(), 0);
    assert_eq!(verify(left).unwrap().damage, None);
}

#[test]
fn a_host_that_cannot_be_told_now_is_told_once_later() {
    let answer = hook(&NO_LOG, "", "qwen-code", "ls").unwrap();
    let told = |name: &str| {
        let event = json!({"session_id": "s1", "cwd": answer.world.root(), "hook_event_name": name,
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "prompt": "go on"});
        let ran = answer.world.ahp_fed(
            &["hook", "--host", "qwen-code"],
            event.to_string().as_bytes(),
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.matches("is not a signal log").count()
    };
    assert_eq!(told("PreToolUse"), 0);
    assert_eq!(told("UserPromptSubmit"), 1);
}
