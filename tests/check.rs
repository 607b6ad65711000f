//! `ahp check` on policies that have no error and are not what their author will have meant.

use std::fs;

use ahp::config::Locations;
use ahp::diagnostic::Code;
use ahp::diagnostic::Diagnostic;
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
        "{subagent.name: x}",
        "{stop.active: true}",
        "{trigger: pre-issue-close}",
    ] {
        let policy =
            format!("hooks: {{pre-issue-submit: [{{oracle: ChecklistValidator, when: {when}}}]}}");
        assert_eq!(codes(&policy), [Code::NeverFires], "{when}");
    }
    let disjoint = "hooks: {pre-issue-submit: {when: {issue.type: feature}, oracles: \
                    [{oracle: ChecklistValidator, when: {issue.type: [fix, chore]}}]}}";
    assert_eq!(codes(disjoint), [Code::NeverFires]);
    let joint = disjoint.replace("[fix, chore]", "[fix, feature]");
    assert_eq!(codes(&joint), []);
}

#[test]
fn what_repeats_or_contradicts_is_told() {
    let twice = "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}, \
                 {oracle: checklist_validator, id: again, config: {allow_partial: CONFIG}}]}";
    assert_eq!(
        codes(&twice.replace(", config: {allow_partial: CONFIG}", "")),
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
