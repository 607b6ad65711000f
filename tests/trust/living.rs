//! Trust and the engine: what changed since is seen, also by an engine that lives long, and while a command runs.

use std::fs;

use ahp::config::{Environment, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, ToolCall, Trigger};
use ahp::trust::Trust;
use ahp::verdict::{Decision, Outcome, Verdict};

use crate::world::{World, write};

/// A project, its user, and one engine that outlives every change to either.
struct Living {
    world: World,
    engine: Engine,
}

impl Living {
    fn new(policy: &str, files: &[(&str, &str)]) -> Self {
        let world = World::new(policy);
        for (file, text) in files {
            world.write(file, text);
        }
        let shown = world.home().display().to_string();
        let environment = Environment::of(world.root(), [("HOME", shown.as_str())]);
        let locations = Locations::find(&environment, None);
        let engine = Engine::builder()
            .locations(locations)
            .without_log()
            .build()
            .unwrap();
        Self { world, engine }
    }

    /// Grants trust as another process does.
    fn grant(&self) {
        let trust = self.trust();
        let look = trust.look().unwrap();
        trust
            .grant(&look, "2026-01-15T10:30:00Z".parse().unwrap())
            .unwrap();
    }

    fn trust(&self) -> Trust {
        let state = self.world.home().join(".local/state/ahp");
        Trust::of(&self.world.root(), Some(&state))
    }

    fn judge(&self, trigger: Trigger) -> Verdict {
        let event = {
            let mut event = Event::new(trigger);
            event.tool = trigger
                .is_tool()
                .then(|| ToolCall::new("Bash", serde_json::json!({"command": "true"})));
            event.work_dir = Some(self.world.root());
            event
        };
        block_on(self.engine.evaluate(event))
    }
}

const HOOK: &str = "---\nname: guard\ndescription: It guards\ntrigger: before_tool\n---\n";

fn says(verdict: &Verdict) -> String {
    let texts = verdict.signals.iter().map(|s| s.payload.text().to_owned());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_living_engine_sees_trust_that_is_granted_and_taken_back() {
    let living = Living::new(
        "version: 1\n",
        &[
            (".agents/hooks/guard/HOOK.md", HOOK),
            (".agents/hooks/guard/scripts/run.sh", "echo no >&2; exit 2"),
        ],
    );
    let decision = || living.judge(Trigger::PreToolUse).decision;
    assert_eq!(decision(), Decision::Ask);
    living.grant();
    assert_eq!(decision(), Decision::Block);
    assert!(living.trust().revoke().unwrap());
    assert_eq!(decision(), Decision::Ask);
}

#[test]
fn a_living_engine_sees_hooks_that_come_change_and_go() {
    let living = Living::new("version: 1\n", &[]);
    assert_eq!(living.judge(Trigger::PreToolUse).decision, Decision::None);
    let home = living.world.home().join(".config/agents/hooks/guard");
    write(&home.join("HOOK.md"), HOOK);
    write(&home.join("scripts/run.sh"), "echo no >&2; exit 2");
    assert_eq!(living.judge(Trigger::PreToolUse).decision, Decision::Block);
    // The same length, another trigger.
    write(
        &home.join("HOOK.md"),
        HOOK.replace("before_tool", "after_agent"),
    );
    assert_eq!(living.judge(Trigger::PreToolUse).decision, Decision::None);
    write(&home.join("HOOK.md"), HOOK);
    assert_eq!(living.judge(Trigger::PreToolUse).decision, Decision::Block);
    fs::remove_dir_all(&home).unwrap();
    assert_eq!(living.judge(Trigger::PreToolUse).decision, Decision::None);
}

#[test]
fn a_living_engine_sees_scripts_that_change() {
    let script = |text: &str| format!("fn evaluate(ctx) {{ {text} }}");
    let living = Living::new(
        "hooks: {pre-agent-turn: [{oracle: own}]}\n",
        &[(".ahp/oracles/own.rhai", &script("accept()"))],
    );
    assert_eq!(living.judge(Trigger::PreAgentTurn).decision, Decision::None);
    let blocks = script(r#"block("no", ["stop"])"#);
    living.world.write(".ahp/oracles/own.rhai", &blocks);
    assert_eq!(
        living.judge(Trigger::PreAgentTurn).decision,
        Decision::Block
    );
}

#[test]
fn a_hook_whose_head_is_not_the_trusted_one_does_not_run() {
    let living = Living::new(
        "version: 1\n",
        &[
            (".agents/hooks/guard/HOOK.md", HOOK),
            (".agents/hooks/guard/scripts/run.sh", "echo no >&2; exit 2"),
        ],
    );
    living.grant();
    let hook = living
        .engine
        .state()
        .hooks()
        .unwrap()
        .find("guard")
        .cloned();
    let mut hook = (*hook.unwrap()).clone();
    assert!(hook.front_as_trusted(&hook.dir).is_ok());
    hook.front.timeout = std::time::Duration::from_mins(10);
    let refused = hook.front_as_trusted(&hook.dir).unwrap_err();
    assert!(refused.contains("`HOOK.md` was changed"), "{refused}");
}

const GATE: &str = "hooks: {pre-issue-submit: [{oracle: TestGate, timeout: 5s, config: {command: 'sh ./gate.sh'}}]}\n";

#[test]
fn what_a_command_says_counts_only_if_its_script_stayed_as_it_was() {
    // It passes, by what it puts in its own place while it runs, and puts back.
    let turncoat =
        "cp gate.sh gate.old; echo true > gate.sh; cp gate.old gate.sh; echo '1 passed'; exit 0\n";
    let living = Living::new(GATE, &[("gate.sh", turncoat)]);
    living.grant();
    let verdict = living.judge(Trigger::PreIssueSubmit);
    assert_eq!(verdict.bindings[0].outcome, Outcome::Failed, "{verdict:?}");
    assert!(
        says(&verdict).contains("was changed while"),
        "{}",
        says(&verdict)
    );
    assert_eq!(verdict.signals[0].header.kind, "not-trusted");

    let living = Living::new(GATE, &[("gate.sh", "echo done\nexit 0\n")]);
    living.grant();
    let verdict = living.judge(Trigger::PreIssueSubmit);
    assert!(
        !says(&verdict).contains("was changed while"),
        "{}",
        says(&verdict)
    );
}

#[test]
fn a_command_that_is_not_waited_for_needs_trust_as_well() {
    let policy = GATE.replace("timeout: 5s", "async: true");
    let living = Living::new(&policy, &[("gate.sh", "touch ran\n")]);
    let verdict = living.judge(Trigger::PreIssueSubmit);
    assert_eq!(verdict.bindings[0].outcome, Outcome::Failed);
    assert!(says(&verdict).contains("ahp trust"), "{}", says(&verdict));
    // Nor does it run where it is started by its name.
    let event = Event::new(Trigger::PreIssueSubmit).with_work_dir(living.world.root());
    block_on(
        living
            .engine
            .evaluate_in_background(event.clone(), "test-gate"),
    );
    assert!(!living.world.path("ran").exists());
    living.grant();
    block_on(living.engine.evaluate_in_background(event, "test-gate"));
    assert!(living.world.path("ran").exists());
}

#[test]
fn a_command_of_an_issue_runs_only_as_it_was_looked_at() {
    let issue = |command: &str| {
        format!(
            "---\nid: FEAT-1\ntype: feature\nsolution: implemented\nchecklist:\n  - {{id: c1, item: It holds, checked: true, verification: \"custom: {command}\"}}\n---\n"
        )
    };
    // Bound by the user, so that the binding itself needs no trust: the command is the clone's all the same.
    let living = Living::new("version: 1\n", &[("Issues/FEAT-1.md", &issue("touch ran"))]);
    let policy = "hooks: {pre-issue-close: [{oracle: CompletionVerifier, config: {require_tests: false}}]}\n";
    write(&living.world.home().join(".ahp/hooks.yaml"), policy);
    let judge = || {
        let event = {
            let mut event = Event::new(Trigger::PreIssueClose);
            event.issue_id = Some("FEAT-1".to_owned());
            event.work_dir = Some(living.world.root());
            event
        };
        block_on(living.engine.evaluate(event))
    };
    let verdict = judge();
    assert_eq!(
        verdict.signals[0].header.kind,
        "not-trusted",
        "{}",
        says(&verdict)
    );
    assert!(!living.world.path("ran").exists());
    let look = living.trust().look().unwrap();
    let commands = look
        .changes()
        .iter()
        .filter(|c| c.path.starts_with("issue-commands/"));
    let shown: Vec<String> = commands.map(ahp::trust::Change::diff).collect();
    assert!(
        shown.len() == 1 && shown[0].contains("+touch ran"),
        "{shown:?}"
    );
    living.grant();
    judge();
    assert!(living.world.path("ran").exists());
    // Whatever else is written into the issue, the command stays the one that was looked at.
    fs::remove_file(living.world.path("ran")).unwrap();
    living
        .world
        .write("Issues/FEAT-1.md", &(issue("touch ran") + "More.\n"));
    judge();
    assert!(living.world.path("ran").exists());
    living.world.write("Issues/FEAT-1.md", issue("touch other"));
    let verdict = judge();
    assert_eq!(
        verdict.signals[0].header.kind,
        "not-trusted",
        "{}",
        says(&verdict)
    );
    assert!(!living.world.path("other").exists());
}
