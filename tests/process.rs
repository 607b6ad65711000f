//! Programs that behave, and programs that do not: each is ended within its deadline plus 100 ms.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use ahp::process::{Exit, Finished, ProcessError, Program, find_program};

const DEADLINE: Duration = Duration::from_millis(300);
/// What the verdict may take beyond the deadline.
const SLACK: Duration = Duration::from_millis(100);

/// Runs a shell command with a deadline and checks that it was kept.
fn sh(command: &str) -> Finished {
    sh_with(command, b"")
}

fn sh_with(command: &str, stdin: &[u8]) -> Finished {
    let start = Instant::now();
    let finished = Program::shell(command)
        .stdin(stdin)
        .deadline(Some(start + DEADLINE))
        .run()
        .unwrap();
    assert!(
        start.elapsed() < DEADLINE + SLACK,
        "took {:?}",
        start.elapsed()
    );
    finished
}

/// Waits until a process is gone; one that ignores TERM has two seconds.
fn assert_goes_away(pid: &str) {
    let patience = Instant::now() + Duration::from_secs(4);
    let is_alive =
        || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while is_alive() {
        assert!(Instant::now() < patience, "process {pid} is left over");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn script(dir: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn outputs_exit_code_and_input_are_passed() {
    let finished = sh_with("cat; echo oops >&2; exit 3", "grüße".as_bytes());
    assert_eq!(finished.stdout_text(), "grüße");
    assert_eq!(finished.stderr_text(), "oops\n");
    assert_eq!(finished.exit, Exit::Code(3));
}

#[test]
fn large_input_and_output_do_not_wait_for_each_other() {
    let input = vec![b'x'; 4 << 20];
    let finished = Program::shell("cat")
        .stdin(input)
        .max_output(8 << 20)
        .run()
        .unwrap();
    assert_eq!(finished.stdout.len(), 4 << 20);
}

#[test]
fn output_past_the_bound_is_counted() {
    let finished = Program::shell("head -c 50000000 /dev/zero; head -c 2000000 /dev/zero >&2")
        .run()
        .unwrap();
    assert_eq!(finished.exit, Exit::Code(0));
    assert_eq!(finished.stdout.len(), 1 << 20);
    assert_eq!(finished.stdout_dropped, 50_000_000 - (1 << 20));
    assert_eq!(finished.stderr_dropped, 2_000_000 - (1 << 20));
}

#[test]
fn endless_output_ends_at_the_deadline() {
    let finished = sh("yes");
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_eq!(finished.stdout.len(), 1 << 20);
}

#[test]
fn input_that_is_not_read_is_no_error() {
    let input = vec![b'x'; 1 << 20];
    assert_eq!(sh_with("exit 0", &input).exit, Exit::Code(0));
    assert_eq!(
        sh_with("exec 0<&-; sleep 0.05; exit 4", &input).exit,
        Exit::Code(4)
    );
    assert_eq!(sh_with("sleep 10", &input).exit, Exit::TimedOut);
}

#[test]
fn a_program_that_ignores_term_is_killed_without_being_waited_for() {
    let finished = sh("trap '' TERM; echo $$; while :; do sleep 0.05; done");
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_goes_away(finished.stdout_text().trim());
}

#[test]
fn a_program_has_two_seconds_to_clean_up_after_term() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("clean");
    let finished = sh(&format!(
        "trap 'sleep 0.5; echo done > {}; exit' TERM; echo $$; sleep 10 & wait",
        mark.display()
    ));
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_goes_away(finished.stdout_text().trim());
    assert_eq!(fs::read_to_string(mark).unwrap(), "done\n");
}

#[test]
fn a_child_that_holds_the_pipes_is_neither_waited_for_nor_left() {
    let start = Instant::now();
    let finished = Program::shell("sleep 30 & echo $!").run().unwrap();
    assert!(
        start.elapsed() < Duration::from_millis(400),
        "took {:?}",
        start.elapsed()
    );
    assert_eq!(finished.exit, Exit::Code(0));
    assert_goes_away(finished.stdout_text().trim());
}

#[test]
fn a_silent_child_that_ignores_term_is_not_left() {
    let finished =
        sh("(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 & echo $!; exit 2");
    assert_eq!(finished.exit, Exit::Code(2));
    assert_goes_away(finished.stdout_text().trim());
}

#[test]
fn a_daemon_in_a_session_of_its_own_does_not_hold_the_pipes() {
    if find_program("setsid", std::env::var_os("PATH").as_deref()).is_none() {
        eprintln!("skipped: there is no `setsid` here");
        return;
    }
    let finished = sh("setsid sh -c 'echo $$; exec sleep 1' & sleep 0.1; exit 0");
    assert_eq!(finished.exit, Exit::Code(0));
}

#[test]
fn a_signal_is_told_from_a_code() {
    assert_eq!(sh("kill -KILL $$").exit, Exit::Signal(9));
    assert_eq!(sh("kill -SEGV $$").exit, Exit::Signal(11));
}

#[test]
fn no_zombie_stays() {
    for _ in 0..5 {
        sh("exit 0");
    }
    let me = std::process::id();
    let zombies = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| stat.contains("(sh) Z ") && stat.contains(&format!(") Z {me} ")))
        .count();
    // Other tests of this process have children that end at this very moment.
    assert!(zombies < 3, "{zombies} zombies");
}

#[test]
fn what_cannot_be_started_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let message = |program: String| {
        let error = Program::new(vec![program]).run().unwrap_err();
        (error.to_string(), error)
    };

    let (text, error) = message("no-such-program-7".to_owned());
    assert!(matches!(error, ProcessError::NotFound { .. }), "{error:?}");
    assert_eq!(text, "the program `no-such-program-7` was not found");

    let (_, error) = message(dir.join("nothing").to_str().unwrap().to_owned());
    assert!(matches!(error, ProcessError::NotFound { .. }), "{error:?}");

    let (text, error) = message(dir.to_str().unwrap().to_owned());
    assert!(
        matches!(error, ProcessError::NotExecutable { .. }),
        "{error:?}"
    );
    assert!(text.ends_with("it is a directory"), "{text}");

    let (text, error) = message(script(dir, "plain", "#!/bin/sh\n", 0o644));
    assert!(
        matches!(error, ProcessError::NotExecutable { .. }),
        "{error:?}"
    );
    assert!(text.contains("chmod +x"), "{text}");

    let (text, error) = message(script(dir, "dos", "#!/bin/sh\r\necho\r\n", 0o755));
    assert!(
        matches!(error, ProcessError::NotExecutable { .. }),
        "{error:?}"
    );
    assert!(text.contains("`/bin/sh\\r`, which is not there"), "{text}");

    let error = Program::shell("true")
        .dir(dir.join("gone"))
        .run()
        .unwrap_err();
    assert!(error.to_string().contains("working directory"), "{error}");

    let error = Program::new(Vec::new()).run().unwrap_err();
    assert!(error.to_string().contains("no program is named"), "{error}");
}

#[test]
fn a_script_without_a_first_line_is_run_by_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let program = script(dir.path(), "bare", "cat; exit 5\n", 0o755);
    let finished = Program::new(vec![program]).stdin("in").run().unwrap();
    assert_eq!(finished.exit, Exit::Code(5));
    assert_eq!(finished.stdout_text(), "in");
}

#[test]
fn a_relative_program_stands_against_the_working_directory() {
    let dir = tempfile::tempdir().unwrap();
    script(
        dir.path(),
        "here",
        "#!/bin/sh\necho $WHO in $(pwd)\n",
        0o755,
    );
    let finished = Program::new(vec!["./here".to_owned()])
        .dir(dir.path())
        .env("WHO", "me")
        .run()
        .unwrap();
    let real = dir.path().canonicalize().unwrap();
    assert_eq!(
        finished.stdout_text(),
        format!("me in {}\n", real.display())
    );
}

#[test]
fn a_detached_program_gets_its_input_and_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let input = vec![b'y'; 1 << 20];
    let start = Instant::now();
    Program::shell(&format!(
        "cat > {0}.part; sleep 0.1; mv {0}.part {0}",
        mark.display()
    ))
    .stdin(input)
    .start_detached()
    .unwrap();
    assert!(start.elapsed() < Duration::from_millis(90));
    let patience = Instant::now() + Duration::from_secs(5);
    while !mark.exists() {
        assert!(Instant::now() < patience);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fs::metadata(mark).unwrap().len(), 1 << 20);
}

#[test]
fn programs_are_found_as_a_shell_finds_them() {
    let dir = tempfile::tempdir().unwrap();
    script(dir.path(), "tool", "", 0o755);
    script(dir.path(), "data", "", 0o644);
    let path = std::ffi::OsString::from(format!("/nowhere:{}", dir.path().display()));
    assert_eq!(
        find_program("tool", Some(&path)),
        Some(dir.path().join("tool"))
    );
    assert_eq!(find_program("data", Some(&path)), None);
    assert_eq!(find_program("tool", None), None);
    assert_eq!(find_program("", Some(&path)), None);
    let full = dir.path().join("tool");
    assert_eq!(find_program(full.to_str().unwrap(), None), Some(full));
}
