//! `ahp check` on policies that have no error and are not what their author will have meant.

use std::fs;

use ahp::config::Locations;
use ahp::diagnostic::{Code, Diagnostic};
use ahp::engine::Engine;

/// Returns what is said of a policy with no error.
fn lint(policy: &str, scripts: &[(&str, &str)]) -> Vec<Diagnostic> {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir_all(project.path().join(".ahp/oracles")).unwrap();
    fs::write(project.path().join(".ahp/hooks.yaml"), policy).unwrap();
    for (name, text) in scripts {
        fs::write(project.path().join(".ahp/oracles").join(name), text).unwrap();
    }
    let engine = Engine::builder()
        .locations(Locations::of_project(project.path()))
        .without_log()
        .build()
        .unwrap();
    let state = engine.state();
    assert!(state.faults().is_empty(), "{:?}", state.faults());
    let warnings = state.lint();
    assert!(warnings.iter().all(|w| !w.is_error() && !w.help.is_empty()));
    warnings
}

fn codes(policy: &str) -> Vec<Code> {
    lint(policy, &[])
        .iter()
        .map(|warning| warning.code)
        .collect()
}

/// What `ahp log advise` adds where a repair takes long is not a mistake.
#[test]
fn what_an_issue_will_be_asked_for_may_be_told_when_it_starts() {
    let up_front = "hooks: {post-issue-start: [{oracle: ChecklistValidator, intensity: aid}]}";
    assert_eq!(codes(up_front), []);
    let blocks = "hooks: {post-tool-use: [{oracle: ChecklistValidator, intensity: aid}]}";
    assert_eq!(codes(blocks), [Code::MissingFact]);
}

#[test]
fn a_sound_policy_is_passed_over_in_silence() {
    let policy = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, priority: 1}, \
                  {oracle: FileChangeLimiter, config: {action: prompt}, priority: 2}]}";
    assert_eq!(codes(policy), []);
}

#[test]
fn a_binding_that_can_never_fire_is_told() {
    for when in [
        "{tool.name: Bash}",
        "{stop.active: true}",
        "{trigger: pre-issue-close}",
    ] {
        let policy =
            format!("hooks: {{pre-issue-submit: [{{oracle: ChecklistValidator, when: {when}}}]}}");
        assert_eq!(codes(&policy), [Code::NeverFires], "{when}");
    }
    // What happens inside a subagent names it, and its end is a stop.
    for (trigger, when) in [
        ("pre-tool-use", "{subagent.name: x}"),
        ("pre-issue-submit", "{subagent.type: x}"),
        ("post-subagent", "{stop.reason: x}"),
        ("post-session", "{stop.reason: x}"),
    ] {
        let policy =
            format!("hooks: {{{trigger}: [{{oracle: ChecklistValidator, when: {when}}}]}}");
        assert!(!codes(&policy).contains(&Code::NeverFires), "{trigger}");
    }
    let disjoint = "hooks: {pre-issue-submit: {when: {issue.type: feature}, oracles: \
                    [{oracle: ChecklistValidator, when: {issue.type: [fix, chore]}}]}}";
    assert_eq!(codes(disjoint), [Code::NeverFires]);
    let joint = disjoint.replace("[fix, chore]", "[fix, feature]");
    assert_eq!(codes(&joint), []);
}

#[test]
fn a_near_miss_of_a_usual_value_is_told() {
    let near = |when: &str| {
        let policy = format!("hooks: {{pre-tool-use: [{{oracle: PermissionChecker, {when}}}]}}");
        let warnings = lint(&policy, &[]);
        let helps = warnings.iter().filter(|w| w.code == Code::NeverFires);
        helps.map(|w| w.help.join("; ")).collect::<Vec<_>>()
    };
    for (when, meant) in [
        ("when: {issue.type: feture}", "feature"),
        ("when: {environment: prod}", "production"),
        (
            "when: {not: {environment: [devlopment, staging]}}",
            "development",
        ),
        ("when: {environment: '!= stagng'}", "staging"),
        ("when: {host: cluade-code}", "claude-code"),
        ("when: {host: nosuch}", "nosuch"),
        (
            "intensity: {by: host, cdoex: block, default: prompt}",
            "codex",
        ),
        ("when: {any: [{tool: Bsh}]}", "Bash"),
        ("when: {issue.criticality: critcal}", "critical"),
        (
            "intensity: {by: environment, prod: block, default: prompt}",
            "production",
        ),
    ] {
        let helps = near(when);
        assert_eq!(helps.len(), 1, "{when}: {helps:?}");
        assert!(
            helps[0].contains(&format!("`{meant}`")),
            "{when}: {helps:?}"
        );
    }
    for when in [
        "when: {issue.type: [feature, Bug, story, spike]}",
        "when: {environment: [prod, production]}",
        "when: {environment: [development, qa, live]}",
        "when: {host: claude-code}",
        "when: {host: [claude, codex-cli]}",
        "when: {tool: [Bash, Task, deploy, run_shell_command]}",
        "when: {issue.type: '~ feat'}",
    ] {
        assert_eq!(near(when), [""; 0], "{when}");
    }
    let own = "settings: {environment: prod}\nhooks: {pre-tool-use: [{oracle: PermissionChecker, when: {environment: prod}}]}";
    assert_eq!(codes(own), []);
}

#[test]
fn what_repeats_or_contradicts_is_told() {
    let twice = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}, \
                 {oracle: checklist_validator, id: again, config: {allow_partial: CONFIG, min_completion_rate: 0.5}}]}";
    assert_eq!(
        codes(&twice.replace(
            ", config: {allow_partial: CONFIG, min_completion_rate: 0.5}",
            ""
        )),
        [Code::Shadowed]
    );
    assert_eq!(codes(&twice.replace("CONFIG", "true")), []);
    let against = twice
        .replace(
            "{oracle: ChecklistValidator}",
            "{oracle: ChecklistValidator, config: {allow_partial: false}}",
        )
        .replace("CONFIG", "true");
    assert_eq!(codes(&against), [Code::Shadowed]);
    // Two files with hooks are two things.
    let hooks = r#"{"hooks": {"PreToolUse": [{"type": "command", "command": "true"}]}}"#;
    let two = "hooks: {pre-tool-use: [\
               {oracle: CommandHooks, id: one, config: {file: .ahp/oracles/a.json}, priority: 9}, \
               {oracle: CommandHooks, id: two, config: {file: .ahp/oracles/b.json}}]}";
    let told = lint(two, &[("a.json", hooks), ("b.json", hooks)]);
    assert!(
        told.iter().all(|warning| warning.code != Code::Shadowed),
        "{told:?}"
    );
}

#[test]
fn many_alike_are_told_of_once_each() {
    let policy = |config: fn(usize) -> String| {
        let bindings = (1..=300).map(|n| {
            format!(
                "    - {{oracle: FileChangeLimiter, id: b{n}, config: {}}}\n",
                config(n)
            )
        });
        codes(&format!(
            "hooks:\n  pre-issue-submit:\n{}",
            bindings.collect::<String>()
        ))
    };
    let shadowed = vec![Code::Shadowed; 299];
    assert_eq!(policy(|_| "{action: block}".to_owned()), shadowed);
    assert_eq!(
        policy(|n| format!("{{action: block, max_files: {n}}}")),
        shadowed
    );
    let told = policy(|n| format!("{{max_files: 1, max_lines: {n}}}"));
    let clashes = told
        .iter()
        .filter(|code| **code == Code::ControlClash)
        .count();
    assert_eq!((told.len(), clashes), (598, 299));
}

#[test]
fn what_comes_too_strong_or_too_late_is_told() {
    let post = "hooks: {post-issue-submit: [{oracle: ChecklistValidator}]}";
    assert_eq!(codes(post).first(), Some(&Code::Intensity));
    let weakened = "hooks: {pre-context-compact: [{oracle: FileChangeLimiter, intensity: prompt}]}";
    assert!(!codes(weakened).contains(&Code::Intensity));
    let late = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator, async: true}]}";
    assert_eq!(codes(late), [Code::Intensity]);
}

#[test]
fn two_controls_of_one_stage_are_told() {
    let policy = "hooks: {pre-issue-submit: [{oracle: FileChangeLimiter}, \
                  {oracle: FileChangeLimiter, id: lines, config: {max_lines: 100}, priority: N}]}";
    assert_eq!(codes(&policy.replace('N', "0")), [Code::ControlClash]);
    assert_eq!(codes(&policy.replace('N', "1")), []);
}

/// A policy, its scripts, and what is told: the code, the line, parts of the message and of the help.
type Told<'a> = (
    &'a str,
    &'a [(&'a str, &'a str)],
    Code,
    u32,
    &'a str,
    &'a str,
);

#[test]
fn every_warning_names_the_place_and_says_what_is_meant() {
    let script = [(
        "mine.rhai",
        "fn evaluate(ctx) { if ctx.files.chnged == 1 { block(\"x\") } else { accept() } }",
    )];
    let cases: &[Told<'_>] = &[
        (
            "hooks:\n  pre-issue-submit:\n    - oracle: ChecklistValidator\n      when:\n        tool.name: Bash\n",
            &[],
            Code::NeverFires,
            5,
            "`checklist-validator` never fires: an event of `pre-issue-submit` has no `tool.name`",
            "remove this condition",
        ),
        (
            "hooks:\n  pre-issue-submit:\n    - oracle: ChecklistValidator\n    - oracle: ChecklistValidator\n      id: again\n",
            &[],
            Code::Shadowed,
            4,
            "`again` repeats `checklist-validator` at `pre-issue-submit`",
            "remove one",
        ),
        (
            "hooks:\n  pre-issue-submit:\n    - oracle: FileChangeLimiter\n      config: {max_files: 3, action: block}\n    - oracle: FileChangeLimiter\n      id: again\n      config: {max_files: 5, action: block}\n",
            &[],
            Code::Shadowed,
            5,
            "`again` and `file-change-limiter` judge one event by two values of `max_files`",
            "the stricter of them wins",
        ),
        (
            "hooks:\n  pre-issue-close:\n    - oracle: FileChangeLimiter\n      intensity: control\n",
            &[],
            Code::Intensity,
            3,
            "`file-change-limiter` can give a control, which `pre-issue-close` is not meant for",
            "`pre-issue-close` carries block",
        ),
        (
            "hooks:\n  pre-issue-submit:\n    - oracle: ChecklistValidator\n      async: true\n",
            &[],
            Code::Intensity,
            4,
            "`checklist-validator` is not waited for, so that its block comes too late",
            "remove `async`",
        ),
        (
            "hooks:\n  pre-issue-submit:\n    - oracle: FileChangeLimiter\n    - oracle: FileChangeLimiter\n      id: lines\n      config: {max_lines: 9}\n",
            &[],
            Code::ControlClash,
            4,
            "`file-change-limiter` and `lines` may both change the operation in one stage of `pre-issue-submit`",
            "different priorities",
        ),
        (
            "hooks:\n  pre-session:\n    - oracle: PermissionChecker\n",
            &[],
            Code::MissingFact,
            3,
            "at `pre-session`",
            "`pre-tool-use`",
        ),
        (
            "hooks:\n  pre-issue-submit:\n    - oracle: mine\n",
            &script,
            Code::MisspeltFact,
            3,
            "`.ahp/oracles/mine.rhai:1:33` asks for a fact `files.chnged`, which no event can have",
            "did you mean `files.changed`?",
        ),
        (
            "hooks:\n  pre-tool-use:\n    - oracle: PermissionChecker\n      when: {tool.command: \"git push *\"}\n",
            &[],
            Code::NeverFires,
            4,
            "a star stands for itself in `git push *`",
            "write `glob:git push *` for a pattern",
        ),
        (
            "hooks: {}\n",
            &[("mine.rhai", "fn evaluate(ctx) { accept() }")],
            Code::UnusedOracle,
            0,
            "no binding uses the script oracle `.ahp/oracles/mine.rhai`",
            "bind it by `oracle: mine`, or remove the file",
        ),
    ];
    for (policy, scripts, code, line, message, help) in cases {
        let warnings = lint(policy, scripts);
        let [warning] = warnings.as_slice() else {
            panic!("{policy}: {warnings:#?}");
        };
        let at = warning.label.as_ref().map_or(0, |label| label.span.line);
        assert_eq!((warning.code, at), (*code, *line), "{policy}");
        assert!(warning.message.contains(message), "{}", warning.message);
        let helps = warning.help.join("; ");
        assert!(helps.contains(help), "{helps}");
    }
}

#[test]
fn a_script_that_nobody_names_is_told() {
    let scripts = [
        ("used_one.rhai", "fn evaluate(ctx) { accept() }"),
        ("lonely.rhai", "fn evaluate(ctx) { accept() }"),
    ];
    let warnings = lint("hooks: {pre-tool-use: [{oracle: UsedOne}]}", &scripts);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].code, Code::UnusedOracle);
    assert!(warnings[0].message.contains(".ahp/oracles/lonely.rhai"));
}
