//! Whole processes, from start to answer, beside the plainest things that could stand in their place.
//!
//! `cargo bench --bench startup` prints a table with ratios to `/bin/true`. Each program runs in turn with `/bin/true`, so that
//! a slow moment of the machine hits both alike, and the caches that a heavier neighbour empties are not counted against
//! either. Programs are started by `posix_spawn`, without a shell.
//!
//! `ahp` is measured as `cargo build --release` makes it and, where this is Linux on x86_64 with glibc's `libc.a`, as
//! `cargo static` makes it, which takes some minutes the first time. `AHP` names another `ahp` to measure in their place,
//! `STARTUP_RUNS` the number of runs (default 300).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measurement may panic, prints its table and starts processes by itself"
)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What Claude Code sends before it runs a shell command.
const EVENT: &str = r#"{"session_id":"s1","transcript_path":"/home/u/t.jsonl","cwd":"CWD","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test --workspace && git status --short | head -20","description":"Run the tests"},"tool_use_id":"toolu_1"}"#;

/// A hook as people write it by hand: one regular expression over the command.
const JQ_HOOK: &str = "#!/bin/bash\ncommand=$(jq -r '.tool_input.command')\nif echo \"$command\" | grep -qE 'rm -rf|DROP TABLE'; then\n  echo 'dangerous command' >&2\n  exit 2\nfi\nexit 0\n";

const PYTHON_HOOK: &str = "#!/usr/bin/env python3\nimport json, re, sys\nevent = json.load(sys.stdin)\nif re.search(r'rm -rf|DROP TABLE', event['tool_input']['command']):\n    print('dangerous command', file=sys.stderr)\n    sys.exit(2)\n";

/// An `ahp` to measure, and how it was built.
struct Build {
    name: &'static str,
    path: String,
}

/// One process to measure.
struct Subject {
    name: &'static str,
    build: &'static str,
    program: String,
    arguments: Vec<String>,
    times: Vec<Duration>,
    /// What `/bin/true` took in turn with it.
    base: Vec<Duration>,
    /// Peak memory in MiB.
    peak: Option<f64>,
}

fn main() {
    let runs: usize = std::env::var("STARTUP_RUNS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300);
    let world = tempfile::tempdir().unwrap();
    let project = world.path().join("project");
    let home = world.path().join("home");
    set_up(&project, &home);
    let event = EVENT.replace("CWD", project.to_str().unwrap());
    let script = |name: &str, text: &str| {
        let path = world.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    };
    let builds = builds(world.path());
    let subject = |name, build, program: &str, arguments: &[&str]| Subject {
        name,
        build,
        program: program.to_owned(),
        arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
        times: Vec::with_capacity(runs),
        base: Vec::with_capacity(runs),
        peak: None,
    };
    let mut subjects = vec![subject("`/bin/true`", "", "/bin/true", &[])];
    for build in &builds {
        subjects.push(subject(
            "`ahp hook`: three layers, packs `baseline` and `safe-shell`, log",
            build.name,
            &build.path,
            &["hook", "--host", "claude-code"],
        ));
        for (name, dir) in [
            ("`ahp run`: fifty bindings, log", "fifty"),
            ("`ahp run`: no oracle of its own", "plain"),
            ("`ahp run`: a script of twenty lines", "script"),
        ] {
            let dir = world.path().join(dir);
            let arguments = ["run", "--event", "-", "--work-dir", dir.to_str().unwrap()];
            subjects.push(subject(name, build.name, &build.path, &arguments));
        }
    }
    set_up_fifty(&world.path().join("fifty"));
    set_up_script(
        &world.path().join("plain"),
        "PermissionChecker, when: {tool: Write}",
    );
    set_up_script(&world.path().join("script"), "twenty");
    if found("jq") {
        let hook = script("jq-hook", JQ_HOOK);
        subjects.push(subject(
            "a `bash` and `jq` hook with one regular expression",
            "",
            &hook,
            &[],
        ));
    } else {
        eprintln!("SKIPPED: bash + jq hook: there is no jq here");
    }
    if found("python3") {
        let hook = script("python-hook", PYTHON_HOOK);
        subjects.push(subject(
            "a Python hook with one regular expression",
            "",
            &hook,
            &[],
        ));
    } else {
        eprintln!("SKIPPED: python hook, peak memory: there is no python3 here");
    }
    let own_event = format!(
        r#"{{"trigger":"pre-tool-use","work_dir":"{}","tool":{{"name":"Bash","input":{{"command":"cargo test"}}}}}}"#,
        world.path().join("fifty").display()
    );
    // A child inherits the directory: one that is to change it first could not be started by `posix_spawn`.
    std::env::set_current_dir(&project).unwrap();
    let base = subject("`/bin/true`", "", "/bin/true", &[]);
    for subject in &mut subjects {
        let input = if subject.name.starts_with("`ahp run`") {
            &own_event
        } else {
            &event
        };
        for run in 0..runs + 5 {
            let took = measure(&base, &home, &event);
            let time = measure(subject, &home, input);
            // The first runs fill the caches of the machine.
            if run >= 5 {
                subject.base.push(took);
                subject.times.push(time);
            }
        }
        subject.peak = peak(subject, &home, input);
    }
    print_table(&mut subjects, runs);
}

/// The programs to measure. They are copied, because both are built to one path.
fn builds(world: &Path) -> Vec<Build> {
    if let Ok(path) = std::env::var("AHP") {
        return vec![Build {
            name: "`AHP`",
            path,
        }];
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cargo = |arguments: &[&str]| {
        eprintln!("building the program (cargo {})", arguments.join(" "));
        let mut cargo = Command::new(env!("CARGO"));
        let built = cargo.args(arguments).current_dir(root).status().unwrap();
        assert!(built.success(), "cargo ended with {built}");
    };
    let copy = |name, from: &str, to: &str| {
        let path = world.join(to);
        fs::copy(root.join(from), &path).unwrap();
        Build {
            name,
            path: path.to_string_lossy().into_owned(),
        }
    };
    cargo(&["build", "--release", "--locked", "--bin", "ahp"]);
    let with_loader = copy("`cargo build`", "target/release/ahp", "with-loader");
    if !has_static_libc() {
        eprintln!("SKIPPED: cargo static: this is not Linux on x86_64, or there is no libc.a");
        return vec![with_loader];
    }
    cargo(&["static"]);
    let built = copy("`cargo static`", "target/dist/ahp", "without-loader");
    vec![built, with_loader]
}

fn has_static_libc() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
        && Command::new("cc")
            .arg("-print-file-name=libc.a")
            .output()
            // A compiler that knows of no such file repeats the name.
            .is_ok_and(|output| output.stdout.starts_with(b"/"))
}

/// Three layers with the packs that most people will use.
fn set_up(project: &Path, home: &Path) {
    fs::create_dir_all(project.join(".ahp")).unwrap();
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir_all(home.join(".ahp")).unwrap();
    fs::write(home.join(".ahp/hooks.yaml"), "settings: {timeout: 30s}\nhooks: {pre-tool-use: [{oracle: PermissionChecker, id: mine}]}\n").unwrap();
    fs::write(
        project.join(".ahp/hooks.yaml"),
        "extends: [ahp:baseline, ahp:safe-shell]\n",
    )
    .unwrap();
    fs::write(
        project.join(".ahp/hooks.local.yaml"),
        "hooks: {pre-tool-use: [{id: mine, priority: 1}]}\n",
    )
    .unwrap();
}

/// One layer with fifty bindings, as the first issue of the project asks for.
fn set_up_fifty(dir: &Path) {
    fs::create_dir_all(dir.join(".ahp")).unwrap();
    let mut policy = String::from("hooks:\n  pre-tool-use:\n");
    for n in 0..50 {
        policy.push_str(&format!(
            "    - {{oracle: PermissionChecker, id: rule-{n}, when: {{tool: Write, environment: e{n}}}}}\n"
        ));
    }
    fs::write(dir.join(".ahp/hooks.yaml"), policy).unwrap();
}

/// One layer with one binding, and a script beside it: what the script costs is the difference between two of these.
fn set_up_script(dir: &Path, binding: &str) {
    fs::create_dir_all(dir.join(".ahp/oracles")).unwrap();
    let policy = format!("hooks: {{pre-tool-use: [{{oracle: {binding}}}]}}\n");
    fs::write(dir.join(".ahp/hooks.yaml"), policy).unwrap();
    let script = include_str!("twenty-lines.rhai");
    fs::write(dir.join(".ahp/oracles/twenty.rhai"), script).unwrap();
}

fn command(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn measure(subject: &Subject, home: &Path, input: &str) -> Duration {
    let mut command = command(&subject.program, home);
    command.args(&subject.arguments);
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    // A program that does not read its stdin closes it.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let status = child.wait().unwrap();
    let time = started.elapsed();
    assert!(status.success(), "{} ended with {status}", subject.name);
    time
}

fn found(program: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|dir| Path::new(dir).join(program).exists())
}

fn print_table(subjects: &mut [Subject], runs: usize) {
    for subject in subjects.iter_mut() {
        subject.times.sort_unstable();
        subject.base.sort_unstable();
    }
    let at = |times: &[Duration], part: f64| {
        let last = times.len().saturating_sub(1);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few hundred runs"
        )]
        let n = (last as f64 * part).round() as usize;
        times.get(n).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    println!("{runs} runs each, in turn with /bin/true\n");
    println!("| process | built by | median ms | p95 | p99 | × `/bin/true` | p99 × | peak MiB |");
    println!("|---|---|---|---|---|---|---|---|");
    for subject in subjects {
        let (median, p95, p99) = (
            at(&subject.times, 0.5),
            at(&subject.times, 0.95),
            at(&subject.times, 0.99),
        );
        println!(
            "| {} | {} | {median:.2} | {p95:.2} | {p99:.2} | {:.2} | {:.2} | {} |",
            subject.name,
            subject.build,
            median / at(&subject.base, 0.5),
            p99 / at(&subject.base, 0.99),
            subject
                .peak
                .map_or("?".to_owned(), |mib| format!("{mib:.1}")),
        );
    }
}

/// Returns the peak memory of a process in MiB, as the operating system accounts it: never less than what the one that
/// started it had, which the figure of `/bin/true` tells.
fn peak(subject: &Subject, home: &Path, input: &str) -> Option<f64> {
    let probe = "import os, sys\nquiet = [(os.POSIX_SPAWN_DUP2, os.open(os.devnull, os.O_WRONLY), 1)]\nchild = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)\nprint(os.wait4(child, 0)[2].ru_maxrss)";
    if !found("python3") {
        return None;
    }
    let mut child = command("python3", home)
        .args(["-I", "-S", "-c", probe, &subject.program])
        .args(&subject.arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its stdin closes it.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    let kib: f64 = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap();
    Some(kib / 1024.0)
}
