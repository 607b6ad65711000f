//! Order, togetherness, timeouts, panics, controls, and what a broken policy does.

use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};

use ahp::condition::Condition;
use ahp::diagnostic::FileId;
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, ToolCall, Trigger};
use ahp::fact::{Fact, FactSource};
use ahp::oracle::{HookContext, Mode, Oracle, OracleError};
use ahp::signal::{Intensity, Modification, Signal};
use ahp::verdict::{Decision, Outcome};
use async_trait::async_trait;
use serde_json::{Value, json};

type Judge = dyn Fn(&HookContext) -> Result<Vec<Signal>, OracleError> + Send + Sync;

/// An oracle made of a closure.
struct Closure {
    judge: Box<Judge>,
    mode: Mode,
}

impl std::fmt::Debug for Closure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closure")
    }
}

#[async_trait]
impl Oracle for Closure {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        (self.judge)(context)
    }

    fn mode(&self) -> Mode {
        self.mode
    }
}

fn inline(
    judge: impl Fn(&HookContext) -> Result<Vec<Signal>, OracleError> + Send + Sync + 'static,
) -> Arc<dyn Oracle> {
    Arc::new(Closure {
        judge: Box::new(judge),
        mode: Mode::Inline,
    })
}

fn threaded(
    judge: impl Fn(&HookContext) -> Result<Vec<Signal>, OracleError> + Send + Sync + 'static,
) -> Arc<dyn Oracle> {
    Arc::new(Closure {
        judge: Box::new(judge),
        mode: Mode::Threaded,
    })
}

fn shell(command: &str) -> Event {
    let mut event = Event::new(Trigger::PreToolUse);
    event.session_id = Some("s1".to_owned());
    event.tool = Some(ToolCall::new("Bash", json!({"command": command})));
    event
}

fn engine(policy: &str, oracles: &[(&str, Arc<dyn Oracle>)]) -> Engine {
    let mut builder = Engine::builder().policy_text(policy).without_log();
    for (name, oracle) in oracles {
        builder = builder.oracle(name, oracle.clone());
    }
    let engine = builder.build().unwrap();
    let state = engine.state();
    let faults: Vec<_> = state
        .faults()
        .iter()
        .map(|f| f.one_line(state.sources()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    engine
}

fn set(target: &str, updated: Value) -> Vec<Modification> {
    vec![Modification {
        target: target.to_owned(),
        original: Value::Null,
        updated,
        reason: String::new(),
    }]
}

#[test]
fn stages_run_in_ascending_order_and_a_block_stops_later_ones() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str, blocks: bool| {
        let seen = seen.clone();
        inline(move |_| {
            seen.lock().unwrap().push(name);
            Ok(if blocks {
                vec![Signal::block("no", name)]
            } else {
                Vec::new()
            })
        })
    };
    let policy = "
hooks:
  pre-tool-use:
    - {oracle: Third, priority: 3}
    - {oracle: Second, priority: 2}
    - {oracle: SecondToo, priority: 2}
    - {oracle: First}
";
    let engine = engine(
        policy,
        &[
            ("First", note("first", false)),
            ("Second", note("second", true)),
            ("SecondToo", note("second-too", false)),
            ("Third", note("third", false)),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(*seen.lock().unwrap(), ["first", "second", "second-too"]);
    assert_eq!(verdict.decision, Decision::Block);
    let outcomes: Vec<_> = verdict
        .bindings
        .iter()
        .map(|b| (b.id.as_str(), b.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("(self-protection)", Outcome::Accepted),
            ("third", Outcome::NotRun),
            ("second", Outcome::Signalled),
            ("second-too", Outcome::Accepted),
            ("first", Outcome::Accepted),
        ]
    );
}

#[test]
fn a_block_stops_nothing_where_the_settings_say_so() {
    let engine = engine(
        "
settings: {on_block: continue}
hooks:
  pre-tool-use:
    - {oracle: A, priority: 1}
    - {oracle: B, priority: 2}
",
        &[
            ("A", inline(|_| Ok(vec![Signal::block("a", "a")]))),
            ("B", inline(|_| Ok(vec![Signal::aid("b", "b")]))),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.decision, Decision::Block);
    assert_eq!(verdict.signals.len(), 2);
}

#[test]
fn oracles_of_one_stage_run_at_the_same_time() {
    // Each waits for the other: one after the other they would never end.
    let meet = Arc::new(Barrier::new(2));
    let waits = |meet: Arc<Barrier>| {
        threaded(move |_| {
            meet.wait();
            Ok(Vec::new())
        })
    };
    let engine = engine(
        "hooks: {pre-tool-use: [{oracle: A}, {oracle: B}]}",
        &[("A", waits(meet.clone())), ("B", waits(meet))],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.decision, Decision::None);
    assert!(
        verdict
            .bindings
            .iter()
            .all(|b| b.outcome == Outcome::Accepted)
    );
}

#[test]
fn signals_stand_in_the_order_of_the_configuration_whoever_ends_first() {
    let (late, early) = std::sync::mpsc::channel::<()>();
    let early = Mutex::new(early);
    let late = Mutex::new(late);
    let engine = engine(
        "hooks: {pre-tool-use: [{oracle: A}, {oracle: B}]}",
        &[
            (
                "A",
                threaded(move |_| {
                    early.lock().unwrap().recv().unwrap();
                    Ok(vec![Signal::aid("a", "a")])
                }),
            ),
            (
                "B",
                threaded(move |_| {
                    late.lock().unwrap().send(()).unwrap();
                    Ok(vec![Signal::aid("b", "b")])
                }),
            ),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    let kinds: Vec<_> = verdict
        .signals
        .iter()
        .map(|s| s.header.kind.as_str())
        .collect();
    assert_eq!(kinds, ["a", "b"]);
}

#[test]
fn a_stuck_oracle_costs_no_more_than_its_timeout_and_gives_what_on_error_says() {
    let engine = engine(
        "
hooks:
  pre-tool-use:
    - {oracle: Stuck, timeout: 50ms, on_error: block}
    - {oracle: Fine}
",
        &[
            (
                "Stuck",
                threaded(|_| {
                    loop {
                        std::thread::park();
                    }
                }),
            ),
            ("Fine", threaded(|_| Ok(Vec::new()))),
        ],
    );
    let started = Instant::now();
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(verdict.decision, Decision::Block);
    assert_eq!(verdict.bindings[1].outcome, Outcome::Failed);
    assert!(verdict.bindings[1].error.as_ref().unwrap().contains("50ms"));
    assert_eq!(verdict.bindings[2].outcome, Outcome::Accepted);
    assert_eq!(verdict.signals[0].header.kind, "oracle-error");
}

#[test]
fn what_only_computes_needs_no_clock_of_a_runtime() {
    let engine = engine("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}", &[]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let verdict = runtime.block_on(engine.evaluate(shell("rm -rf /")));
    assert_eq!(verdict.decision, Decision::Block);
}

#[test]
fn panics_and_errors_are_caught_and_harm_nobody_else() {
    let engine = engine(
        "hooks: {pre-tool-use: [{oracle: A}, {oracle: B}, {oracle: C}, {oracle: D, on_error: allow}]}",
        &[
            ("A", inline(|_| panic!("at the disco"))),
            ("B", threaded(|_| panic!("too"))),
            ("C", inline(|_| Ok(vec![Signal::block("c", "c")]))),
            ("D", inline(|_| Err(OracleError::failed("no")))),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.decision, Decision::Block);
    let failed: Vec<_> = verdict
        .bindings
        .iter()
        .filter(|b| b.outcome == Outcome::Failed)
        .map(|b| b.id.as_str())
        .collect();
    assert_eq!(failed, ["a", "b", "d"]);
    assert_eq!(verdict.signals.len(), 3);
    assert!(verdict.signals[0].payload.text().contains("at the disco"));
}

#[test]
fn a_control_of_an_earlier_stage_is_seen_by_later_ones() {
    let engine = engine(
        "
hooks:
  pre-tool-use:
    - {oracle: A, priority: 1}
    - {oracle: B, priority: 2}
",
        &[
            (
                "A",
                inline(|_| {
                    Ok(vec![Signal::control(
                        "a",
                        set("tool.input.command", json!("ls -l")),
                    )])
                }),
            ),
            (
                "B",
                inline(|context| {
                    let command = context.facts.tool().unwrap().command.clone().unwrap();
                    Ok(vec![Signal::control(
                        "b",
                        set("tool.input.command", json!(format!("{command} -a"))),
                    )])
                }),
            ),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.decision, Decision::Allow);
    assert_eq!(verdict.modified_input, Some(json!({"command": "ls -l -a"})));
}

#[test]
fn the_verdict_is_the_same_in_every_order_of_finishing() {
    let judged = |order: [usize; 4], blocks: bool| {
        // Each waits for its turn to end.
        let turn = Arc::new((Mutex::new(0), Condvar::new()));
        let ends = |place: usize, signal: Signal| {
            let (turn, rank) = (turn.clone(), order[place]);
            threaded(move |_| {
                let (now, changed) = &*turn;
                let now = now.lock().unwrap();
                let mut now = changed.wait_while(now, |now| *now != rank).unwrap();
                *now += 1;
                changed.notify_all();
                Ok(vec![signal.clone()])
            })
        };
        let last = if blocks {
            Signal::block("d", "d")
        } else {
            Signal::aid("d", "d")
        };
        let engine = engine(
            "hooks: {pre-tool-use: [{oracle: A}, {oracle: B}, {oracle: C}, {oracle: D}]}",
            &[
                (
                    "A",
                    ends(0, Signal::control("a", set("/command", json!("one")))),
                ),
                ("B", ends(1, Signal::prompt("b", "b"))),
                (
                    "C",
                    ends(2, Signal::control("c", set("/command", json!("two")))),
                ),
                ("D", ends(3, last)),
            ],
        );
        let verdict = block_on(engine.evaluate(shell("ls")));
        let signals: Vec<_> = verdict
            .signals
            .iter()
            .map(|s| (s.header.kind.clone(), s.intensity()))
            .collect();
        let bindings: Vec<_> = verdict.bindings.iter().map(|b| b.id.clone()).collect();
        (verdict.decision, signals, verdict.modified_input, bindings)
    };
    for blocks in [false, true] {
        let expected = judged([0, 1, 2, 3], blocks);
        assert_eq!(expected.2, Some(json!({"command": "one"})));
        for code in 0..4_usize.pow(4) {
            let order = [code / 64 % 4, code / 16 % 4, code / 4 % 4, code % 4];
            let is_order = (0..4).all(|rank| order.contains(&rank));
            if is_order {
                assert_eq!(judged(order, blocks), expected, "{order:?}");
            }
        }
    }
}

#[test]
fn two_controls_of_one_stage_on_one_target_do_not_both_win() {
    let engine = engine(
        "hooks: {pre-tool-use: [{oracle: A}, {oracle: B}]}",
        &[
            (
                "A",
                inline(|_| Ok(vec![Signal::control("a", set("/command", json!("one")))])),
            ),
            (
                "B",
                inline(|_| Ok(vec![Signal::control("b", set("/command", json!("two")))])),
            ),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.modified_input, Some(json!({"command": "one"})));
    assert_eq!(verdict.signals[1].intensity(), Intensity::Prompt);
}

#[test]
fn a_ceiling_weakens_what_an_oracle_gives() {
    let engine = engine(
        "
hooks:
  pre-tool-use:
    - oracle: A
      intensity: {by: environment, production: block, default: prompt}
",
        &[(
            "A",
            inline(|_| Ok(vec![Signal::block("a", "a").steps(["fix it"])])),
        )],
    );
    assert_eq!(
        block_on(engine.evaluate(shell("ls"))).decision,
        Decision::Allow
    );
    let mut event = shell("ls");
    event.environment = Some("production".to_owned());
    assert_eq!(block_on(engine.evaluate(event)).decision, Decision::Block);
}

#[test]
fn only_bindings_whose_when_holds_are_run() {
    let accept = || inline(|_| Ok(vec![Signal::aid("seen", "seen")]));
    let engine = engine(
        "
hooks:
  pre-tool-use:
    when: {tool: [Bash]}
    oracles:
      - {oracle: A, when: {tool.command: '~ ^ls'}}
      - {oracle: B, when: {environment: production}}
      - {oracle: C, enabled: false}
      - {oracle: D, when: {any: [{tool.kind: write}, {tool.programs: ls}]}}
",
        &[
            ("A", accept()),
            ("B", accept()),
            ("C", accept()),
            ("D", accept()),
        ],
    );
    let verdict = block_on(engine.evaluate(shell("ls")));
    let outcomes: Vec<_> = verdict
        .bindings
        .iter()
        .map(|b| (b.id.as_str(), b.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("(self-protection)", Outcome::Accepted),
            ("a", Outcome::Signalled),
            ("d", Outcome::Signalled),
            ("c", Outcome::Disabled)
        ]
    );
    // Any host's name for a tool of that kind.
    let mut event = shell("ls");
    event.tool.as_mut().unwrap().name = "run_shell_command".to_owned();
    assert_eq!(block_on(engine.evaluate(event)).signals.len(), 2);
}

/// Bindings are found by the values that an event has; one inside of `any` is asked. Both must say the same.
#[test]
fn a_condition_is_found_by_its_values_as_it_is_by_asking() {
    let mut patch = shell("");
    patch.tool = Some(ToolCall::new(
        "MultiEdit",
        json!({"file_path": "src/main.rs", "edits": [{"old_string": "a", "new_string": "b"}]}),
    ));
    let mut mcp = patch.clone();
    mcp.host = Some("codex".to_owned());
    mcp.tool.as_mut().unwrap().name = "mcp__github__create_issue".to_owned();
    let mut fetch = shell("");
    fetch.environment = Some("production".to_owned());
    fetch.tool = Some(ToolCall::new(
        "WebFetch",
        json!({"url": "https://example.com/x"}),
    ));
    let bare = Engine::builder().policy_text("hooks: {}").build().unwrap();
    for event in [shell("git push --force"), patch, mcp, fetch] {
        let facts = bare.facts(&bare.state(), Arc::new(event.clone()));
        let mut conditions = Vec::new();
        let of_event = |fact: &&Fact| fact.source() == FactSource::Event;
        for fact in Fact::ALL.iter().filter(of_event) {
            let value = facts.get(*fact).to_json();
            let one = match &value {
                Value::Array(items) => items.first().cloned().unwrap_or_default(),
                one => one.clone(),
            };
            let Some(text) = one.as_str() else { continue };
            for told in [
                json!(text),
                json!(format!("== {text}")),
                json!(format!("!= {text}")),
                json!(format!("~ ^{}", regex::escape(text))),
                json!(["another", text]),
                json!("another"),
            ] {
                // A condition that cannot be written is not one that is found otherwise.
                let mut faults = Vec::new();
                let line = json!({ fact.name(): told }).to_string();
                let node = ahp::config::parse_yaml(&line, FileId::default(), &mut faults).unwrap();
                if Condition::compile(&node, &mut faults).is_some() {
                    conditions.push(line);
                }
            }
        }
        assert!(conditions.len() > 40, "{conditions:?}");
        let bindings = conditions.iter().enumerate().map(|(n, condition)| {
            format!(
                "    - {{oracle: A, id: found-{n}, when: {condition}}}\n    \
                     - {{oracle: A, id: asked-{n}, when: {{any: [{condition}]}}}}\n"
            )
        });
        let policy = format!("hooks:\n  pre-tool-use:\n{}", bindings.collect::<String>());
        let accept = inline(|_| Ok(Vec::new()));
        let verdict = block_on(engine(&policy, &[("A", accept)]).evaluate(event));
        let ran = |id: String| verdict.bindings.iter().any(|report| report.id == id);
        let mut fired = 0;
        for (n, condition) in conditions.iter().enumerate() {
            assert_eq!(
                ran(format!("found-{n}")),
                ran(format!("asked-{n}")),
                "{condition}"
            );
            fired += usize::from(ran(format!("found-{n}")));
        }
        assert!(fired > 20 && fired < conditions.len(), "{fired}");
    }
}

#[test]
fn a_broken_policy_blocks_what_has_not_happened_and_warns_of_what_has() {
    let engine = Engine::builder()
        .policy_text("hooks: {pre-tool-use: [{oracle: ChecklistValidatr}]}")
        .build()
        .unwrap();
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.decision, Decision::Block);
    assert_eq!(verdict.signals[0].header.kind, "config-error");
    let mut after = shell("ls");
    after.trigger = Trigger::PostToolUse;
    assert_eq!(block_on(engine.evaluate(after)).decision, Decision::Allow);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_may_use_one_engine_at_once() {
    let engine = engine(
        "hooks: {pre-tool-use: [{oracle: A}, {oracle: B}]}",
        &[
            ("A", threaded(|_| Ok(vec![Signal::aid("a", "a")]))),
            ("B", inline(|_| Ok(Vec::new()))),
        ],
    );
    let tasks: Vec<_> = (0..64)
        .map(|n| {
            let engine = engine.clone();
            tokio::spawn(async move { engine.evaluate(shell(&format!("echo {n}"))).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().signals.len(), 1);
    }
}

#[test]
fn the_types_of_the_engine_may_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Engine>();
    crosses::<ahp::verdict::Verdict>();
}

#[test]
fn a_policy_that_changes_is_read_again() {
    let project = tempfile::tempdir().unwrap();
    let file = project.path().join(".ahp/hooks.yaml");
    std::fs::create_dir(project.path().join(".ahp")).unwrap();
    std::fs::write(&file, "hooks: {}\n").unwrap();
    let engine = Engine::builder()
        .locations(ahp::config::Locations::of_project(project.path()))
        .oracle("Stop", inline(|_| Ok(vec![Signal::block("stop", "stop")])))
        .build()
        .unwrap();
    let clone = engine.clone();
    assert_eq!(
        block_on(engine.evaluate(shell("ls"))).decision,
        Decision::None
    );
    std::fs::write(&file, "hooks: {pre-tool-use: [{oracle: Stop}]}\n").unwrap();
    assert_eq!(
        block_on(clone.evaluate(shell("ls"))).decision,
        Decision::Block
    );
    std::fs::write(&file, "hooks: {pre-tool-use: [{oracle: Stp}]}\n").unwrap();
    let verdict = block_on(engine.evaluate(shell("ls")));
    assert_eq!(verdict.signals[0].header.kind, "config-error");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(
        block_on(engine.evaluate(shell("ls"))).decision,
        Decision::None
    );
}

#[test]
fn repeated_violations_grow_stronger_until_one_is_accepted() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join(".ahp")).unwrap();
    std::fs::write(
        project.path().join(".ahp/hooks.yaml"),
        "
hooks:
  pre-issue-submit:
    - oracle: Large
      escalate: {steps: [prompt, control, block], per: issue, reset_after: accept}
",
    )
    .unwrap();
    let is_large = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let large = is_large.clone();
    let engine = Engine::builder()
        .locations(ahp::config::Locations::of_project(project.path()))
        .oracle(
            "Large",
            inline(move |_| {
                Ok(if large.load(std::sync::atomic::Ordering::Relaxed) {
                    vec![Signal::control("large", set("batch_size", json!(10)))]
                } else {
                    Vec::new()
                })
            }),
        )
        .build()
        .unwrap();
    let submit = || {
        let mut event = Event::new(Trigger::PreIssueSubmit);
        event.issue_id = Some("FEAT-0001".to_owned());
        block_on(engine.evaluate(event))
    };
    let intensities: Vec<_> = (0..4).map(|_| submit().signals[0].intensity()).collect();
    assert_eq!(
        intensities,
        [
            Intensity::Prompt,
            Intensity::Control,
            Intensity::Block,
            Intensity::Block
        ]
    );
    is_large.store(false, std::sync::atomic::Ordering::Relaxed);
    assert!(submit().signals.is_empty());
    is_large.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(submit().signals[0].intensity(), Intensity::Prompt);
}

#[test]
fn an_event_that_needs_no_program_file_or_thread_is_known_before_it_is_judged() {
    let slow = || inline(|_| Ok(Vec::new()));
    for (binding, only_computes) in [
        ("{oracle: PermissionChecker}", true),
        (
            "{oracle: PermissionChecker, when: {tool.programs: rm}}",
            true,
        ),
        ("{oracle: TestGate}", false),
        ("{oracle: TestGate, when: {tool: Write}}", true),
        ("{oracle: TestGate, when: {not: {tool: Bash}}}", true),
        ("{oracle: PermissionChecker, async: true}", false),
        (
            "{oracle: PermissionChecker, when: {git.dirty: true}}",
            false,
        ),
        (
            "{oracle: PermissionChecker, when: {expr: 'files.changed_count > 1'}}",
            false,
        ),
        (
            "{oracle: PermissionChecker, config: {preset: {by: environment, default: git}}}",
            false,
        ),
        ("{oracle: Slow}", false),
    ] {
        let policy = format!("hooks: {{pre-tool-use: [{binding}]}}");
        let engine = engine(&policy, &[("Slow", slow())]);
        let prepared = engine.prepare(engine.state(), shell("ls"));
        assert_eq!(prepared.only_computes(), only_computes, "{binding}");
    }
    let engine = engine("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}", &[]);
    let brings_an_event = engine.prepare(engine.state(), shell("monoco issue submit FIX-0001"));
    assert!(!brings_an_event.only_computes());
}

/// A finding escalates however many other calls come between, and its own answer holds against the escalation.
#[test]
fn the_same_command_escalates_whatever_comes_between() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(project.path().join(".ahp")).unwrap();
    std::fs::write(
        project.path().join(".ahp/hooks.yaml"),
        "
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      id: shell
      config: {preset: none, dangerous_commands: [npm publish, cargo publish]}
      escalate: {steps: [prompt, block], per: session, reset_after: accept}
",
    )
    .unwrap();
    let engine = Engine::builder()
        .locations(ahp::config::Locations::of_project(project.path()))
        .build()
        .unwrap();
    let run = |command: &str| {
        let event = Event::tool_use("Bash", json!({"command": command})).with_session("s1");
        block_on(engine.evaluate(event))
    };
    let intensity = |command: &str| run(command).signals.first().map(Signal::intensity);
    assert_eq!(intensity("npm publish"), Some(Intensity::Prompt));
    assert_eq!(intensity("ls"), None);
    // Another object of the same rule is another finding.
    assert_eq!(intensity("cargo publish"), Some(Intensity::Prompt));
    assert_eq!(intensity("npm   publish"), Some(Intensity::Block));
    assert_eq!(intensity("ls"), None);

    let prompted = run("npm publish --tag next");
    let signal = &prompted.signals[0];
    assert_eq!(signal.intensity(), Intensity::Prompt);
    let log = ahp::signal_log::SignalLog::open(
        project.path().join(".ahp/signals.jsonl"),
        &ahp::config::LogSettings::default(),
    )
    .unwrap();
    let answer = ahp::signal_log::Answer {
        action: ahp::signal::Action::Acknowledge,
        details: serde_json::Map::new(),
        by: ahp::signal::Actor::Human,
    };
    let id = signal.header.id.to_string();
    let now = ahp::engine::Clock::now(&ahp::engine::SystemClock);
    ahp::signal_log::respond(&log, &id, answer, now).unwrap();
    assert_eq!(intensity("npm publish --tag next"), None);
    assert_eq!(intensity("npm publish --tag next"), None);
    assert_eq!(intensity("npm publish"), Some(Intensity::Block));
}
