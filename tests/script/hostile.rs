//! Scripts that mean harm end within their limits, with a clear error.

use std::process::Stdio;
use std::time::{Duration, Instant};

use ahp::oracle::rhai::Script;

use crate::world::World;

use super::scripts::{run, try_run};

/// How much the process may grow while a hostile script runs, in KiB.
const MAX_GROWTH: u64 = 64 << 10;

/// Stands for any of the three that a run is watched for: which comes first depends on the machine.
const LIMIT: &str = "(limit)";
const LIMITS: [&str; 3] = [
    "takes more than 500000 operations",
    "uses too much memory",
    "longer than its timeout",
];

/// What a script does, and a part of the error that ends it; empty where any end within the limits is right.
const HOSTILE: &[(&str, &str)] = &[
    ("loop { }", LIMIT),
    ("deep(0)", "more than 32 deep"),
    (
        r#"let s = "x"; loop { s += s; }"#,
        "longer than 1048576 bytes",
    ),
    (
        r#"let s = "x"; loop { s = s + s; }"#,
        "longer than 1048576 bytes",
    ),
    (
        r#"let s = "x"; s.pad(10_000_000_000, 'y');"#,
        "longer than 1048576 bytes",
    ),
    (
        r#"let s = "xxxxxxxxxxxxxxxx"; s.pad(1_000_000, 'x'); let t = s; s.replace("x", t);"#,
        "longer than 1048576 bytes",
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'x'); s.split("")"#,
        "more than 10000 items",
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'x'); s.to_chars()"#,
        "more than 10000 items",
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'x'); s.split('x')"#,
        "more than 10000 items",
    ),
    ("let a = []; loop { a.push(1); }", "more than 10000 items"),
    (
        "let a = []; a.pad(1_000_000_000, 0);",
        "more than 10000 items",
    ),
    ("let a = [1]; loop { a += a; }", "more than 10000 items"),
    ("let a = []; loop { a = [a]; }", LIMIT),
    ("let a = []; loop { let b = []; b.push(a); a = b; }", LIMIT),
    ("let a = [0]; loop { let b = [0]; b[0] = a; a = b; }", LIMIT),
    (
        "let m = #{}; let k = 0; loop { k += 1; m[`${k}`] = k; }",
        LIMIT,
    ),
    (
        "let m = #{}; let k = 0; loop { k += 1; m.set(`${k}`, k); }",
        "",
    ),
    ("let m = #{}; loop { let n = #{}; n.x = m; m = n; }", LIMIT),
    (
        r#"let s = ""; s.pad(1_000_000, 'x'); let m = #{}; let k = 0; loop { k += 1; m[`${k}`] = s + k; }"#,
        LIMIT,
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'x'); let a = []; a.pad(10_000, ""); for i in 0..10_000 { a[i] = s + i; }"#,
        LIMIT,
    ),
    (r#"let s = ""; s.pad(1_000_000, 'x'); long(0, s)"#, LIMIT),
    ("let f = 0; loop { let g = f; f = || g; }", LIMIT),
    ("let f = Fn(\"deep\"); loop { f = f.curry(f); }", LIMIT),
    (
        "let f = Fn(\"deep\"); loop { f = Fn(\"deep\").curry(f); }",
        LIMIT,
    ),
    (
        "let f = Fn(\"deep\"); loop { f = Fn(\"deep\").curry([f]); }",
        LIMIT,
    ),
    (
        "let f = Fn(\"deep\"); loop { f = Fn(\"deep\").curry(#{a: f}); }",
        LIMIT,
    ),
    ("let a = (); loop { let b = a; a = [|| b]; }", LIMIT),
    (
        "let a = 1; let f = || a; loop { let g = [f, f]; let h = #{x: g}; f = || h; }",
        LIMIT,
    ),
    ("sleep(100)", "`sleep` is not offered"),
    ("Fn(\"sl\" + \"eep\").call(100)", "`sleep` is not offered"),
    ("eval(\"40 + 2\")", "'eval' is disabled"),
    (
        "Fn(\"ev\" + \"al\").call(\"40 + 2\")",
        "'eval' is a reserved keyword",
    ),
    (
        "import \"/etc/passwd\" as x;",
        "'import' is a reserved keyword",
    ),
    ("read_file(\"../../etc/passwd\")", "only inside the project"),
    ("read_file(\"/etc/passwd\")", "only inside the project"),
    (
        r#"matches("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "(a+)+$b{1000}{1000}")"#,
        "exceeds size limit",
    ),
    (
        r#"matches("x", "((a{100}){100}){100}")"#,
        "exceeds size limit",
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'a'); loop { find_all(s, "a") }"#,
        "more than 10000 items",
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'a'); replace_all(s, "a", s)"#,
        "longer than 1048576 bytes",
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'a'); loop { matches(s, "(a|b|ab)*c$") }"#,
        "",
    ),
    (
        r#"let s = ""; s.pad(500_000, '['); parse_json(s)"#,
        "recursion limit",
    ),
    (
        r#"let s = ""; s.pad(500_000, '['); parse_yaml(s)"#,
        "recursion limit",
    ),
    (
        r#"parse_yaml("a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]")"#,
        "budget breached",
    ),
    ("ctx.issue = 1; accept()", "no writable property"),
    ("ctx.files.changed = []; accept()", "no writable property"),
    ("throw 1", "runtime error: 1"),
    ("for i in 0..1_000_000_000_000 { }", LIMIT),
    ("while true { try { loop { } } catch { } }", LIMIT),
    ("1 / 0", "division by zero"),
    ("9223372036854775807 + 1", "addition overflow"),
    (
        "let x = -9223372036854775807 - 1; x / -1",
        "division overflow",
    ),
    ("1 << 1_000_000; [][5]", "out of bounds"),
    (
        r#"let s = ""; s.pad(1_000_000, 'a'); let a = []; loop { a.push(s); }"#,
        "longer than 1048576 bytes",
    ),
    (
        r#"let t = ""; t.pad(1_000_000, '('); parse_command(t); 1"#,
        "gave a whole number",
    ),
    (
        "let s = `${ctx}`; debug(ctx); print(ctx); loop { print(s) }",
        LIMIT,
    ),
    (
        r#"let s = ""; s.pad(1_000_000, 'a'); matches(s, "(?:a?){400}b.*(?:a|aa)+[^a]$")"#,
        "",
    ),
];

/// What does not even have to run: the reader itself is attacked.
fn hostile_sources() -> Vec<(&'static str, String)> {
    let nested = |open: &str, close: &str| {
        let depth = 20_000;
        let body = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        format!("fn evaluate(ctx) {{ {body} }}")
    };
    vec![
        ("parentheses", nested("(", ")")),
        ("lists", nested("[", "]")),
        ("maps", nested("#{a:", "}")),
        ("blocks", nested("{", "}")),
        ("conditions", nested("if true {", "}")),
        ("negations", nested("!", "")),
        ("closures", nested("|x| ", "")),
        ("texts in texts", nested("`${", "}`")),
        ("a sum", nested("1 + ", "")),
        ("a chain", nested("ctx.", "")),
        ("functions", "fn f() { }\n".repeat(10_000)),
        (
            "a long text",
            format!("fn evaluate(ctx) {{ \"{}\" }}", "x".repeat(1 << 20)),
        ),
        (
            "an import",
            "import \"/etc/passwd\" as p; fn evaluate(ctx) { p::x }".to_owned(),
        ),
        (
            "an export",
            "export let x = 1; fn evaluate(ctx) { accept() }".to_owned(),
        ),
    ]
}

/// Measured in a process of its own: other tests would be counted too.
#[test]
fn hostile_scripts_end_within_their_limits() {
    #[expect(clippy::disallowed_methods, reason = "this very test is the program")]
    let ended = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "script::hostile::each_in_turn",
            "--ignored",
            "--nocapture",
        ])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{told}");
}

#[test]
#[ignore = "run by `hostile_scripts_end_within_their_limits`, alone in a process"]
fn each_in_turn() {
    let mut wrong = 0;
    for (body, expected) in HOSTILE {
        let source = format!(
            "fn deep(n) {{ deep(n + 1) }}\n\
             fn long(n, s) {{ let t = s + n; let u = s + n; let v = s + n; long(n + 1, t) }}\n\
             fn evaluate(ctx) {{ {body} }}"
        );
        // Forget the peak of the run before.
        std::fs::write("/proc/self/clear_refs", "5").ok();
        let before = status("VmRSS:");
        let started = Instant::now();
        let told = match Script::compile("made-up", "made-up.rhai", &source) {
            Ok(_) => match try_run(&source, Duration::from_millis(400)) {
                Ok(run) => match run.result {
                    Ok(_) => "no error".to_owned(),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let took = started.elapsed();
        // One step of it may go on: what that still takes up counts too.
        wait_for_workers(started);
        let grown = status("VmHWM:").saturating_sub(before);
        let fits = match *expected {
            LIMIT => LIMITS.iter().any(|limit| told.contains(limit)),
            expected => told.contains(expected),
        };
        // On a busy machine the clock may be the limit that is reached first: that is an end within the limits too.
        let out_of_time = told.contains("longer than its timeout");
        let right = (fits || out_of_time) && grown < MAX_GROWTH && took < Duration::from_secs(8);
        wrong += u32::from(!right);
        let mark = if right { "ok   " } else { "WRONG" };
        let first = told.lines().next().unwrap_or_default();
        eprintln!(
            "{mark} {:>3} MiB {took:>8.1?}  {body}\n      -> {first}",
            grown >> 10
        );
    }
    for (what, source) in hostile_sources() {
        std::fs::write("/proc/self/clear_refs", "5").ok();
        let before = status("VmRSS:");
        let started = Instant::now();
        let told = match Script::compile("made-up", "made-up.rhai", &source) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        let took = started.elapsed();
        let grown = status("VmHWM:").saturating_sub(before);
        let right = !told.is_empty() && grown < MAX_GROWTH && took < Duration::from_secs(8);
        wrong += u32::from(!right);
        let mark = if right { "ok   " } else { "WRONG" };
        let first = told.lines().next().unwrap_or_default();
        eprintln!(
            "{mark} {:>3} MiB {took:>8.1?}  the source: {what}\n      -> {first}",
            grown >> 10
        );
    }
    assert_eq!(wrong, 0);
}

/// Waits until no script is running any more, as long as a step can take on a busy machine.
fn wait_for_workers(started: Instant) {
    let is_running = |task: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(task.path().join("stat"));
        stat.is_ok_and(|stat| stat.contains("(ahp-script) R"))
    };
    let any_runs = || {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        tasks.flatten().any(is_running)
    };
    while any_runs() && started.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
}

/// Returns a field of the process's own status, in KiB.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}

#[test]
fn a_hostile_script_does_not_disturb_another() {
    let harmless = "fn evaluate(ctx) { aid(`${ctx.files.changed.len()}`) }";
    std::thread::scope(|scope| {
        scope.spawn(|| run("fn evaluate(ctx) { loop { } }", Duration::from_secs(1)));
        scope.spawn(|| {
            run(
                "fn evaluate(ctx) { let a = []; loop { a = [a]; } }",
                Duration::from_millis(300),
            )
        });
        for _ in 0..20 {
            let signals = run(harmless, Duration::from_secs(10)).result.unwrap();
            assert_eq!(signals[0].payload.text(), "3");
        }
    });
}

/// One long step cannot be ended from within: the answer comes in time all the same, and the next oracle has its own.
#[test]
fn a_step_without_an_end_delays_neither_the_answer_nor_another_oracle() {
    let world = World::new(
        "hooks:\n  pre-tool-use:\n    - {oracle: endless, timeout: 200ms, on_error: block}\n    - {oracle: harmless, timeout: 200ms}\n",
    );
    world.write(
        ".ahp/oracles/endless.rhai",
        "fn evaluate(ctx) {\n    let s = \"\";\n    s.pad(1_000_000, 'a');\n    loop { matches(s, \"(?:a?){400}b.*(?:a|aa)+[^a]$\"); }\n}\n",
    );
    world.write(
        ".ahp/oracles/harmless.rhai",
        "fn evaluate(ctx) { aid(\"as ever\") }\n",
    );
    let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--format", "json"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    let verdict = &ran.json()[0];
    let bindings = verdict["bindings"].as_array().unwrap();
    let outcome = |id: &str| {
        let report = bindings.iter().find(|report| report["id"] == id);
        report.unwrap()["outcome"].clone()
    };
    assert_eq!(outcome("endless"), "failed", "{verdict}");
    assert_eq!(outcome("harmless"), "signalled", "{verdict}");
    assert!(ran.stdout.contains("longer than its timeout"), "{verdict}");
}

#[test]
fn a_script_reads_nothing_through_a_link_that_leads_out() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: curious}]}\n");
    world.write("../secret", "the secret\n");
    for (link, to) in [("link", "../secret"), ("folder", "..")] {
        std::os::unix::fs::symlink(to, world.path(link)).unwrap();
    }
    for path in ["link", "folder/secret", "../secret", "folder/../../secret"] {
        world.write(
            ".ahp/oracles/curious.rhai",
            format!("fn evaluate(ctx) {{ block(read_file(\"{path}\")) }}\n"),
        );
        let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash"]);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("only inside the project"), "{path}: {told}");
        assert!(!told.contains("the secret"), "{path}: {told}");
        let listed = format!(
            "fn evaluate(ctx) {{ if file_exists(\"{path}\") || list_files(\"folder/**\").len() > 0 {{ block(\"seen\") }} else {{ accept() }} }}\n"
        );
        world.write(".ahp/oracles/curious.rhai", listed);
        let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Bash"]);
        assert_eq!(ran.code, 0, "{path}: {}", ran.stdout);
    }
}

#[test]
fn many_scripts_together_are_bounded_as_one_is() {
    let ids: Vec<String> = (0..60).map(|n| format!("z{n}")).collect();
    let bound = ids.iter().map(|id| format!("{{oracle: {id}}}"));
    let bound = bound.collect::<Vec<_>>().join(", ");
    let world = World::new(&format!("hooks: {{pre-tool-use: [{bound}]}}"));
    for id in &ids {
        world.write(
            &format!(".ahp/oracles/{id}.rhai"),
            "fn evaluate(e) { loop { } }",
        );
    }
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
    });
    let ran = world.ahp_fed(
        &["hook", "--host", "claude-code"],
        event.to_string().as_bytes(),
    );
    assert!(ran.stdout.contains("\"ask\""), "{ran:?}");
    let log = serde_json::to_string(&world.log()).unwrap();
    // On a slow machine some are over time before.
    let alone = log.matches("takes more than 500000 operations").count();
    assert!(alone <= 8, "{alone}");
}
