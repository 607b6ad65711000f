//! Marks: what they count, whatever happens to hosts, clocks, processes and files.

mod counting;
mod engine;
mod files;
mod hosts;
mod looks;
mod origins;
mod policy;

/// A policy of the kind that people write: no push before the tests have passed since the last edit.
pub(crate) const PUSH_GATE: &str = r#"
marks:
  tests_passed:
    on: post-tool-use
    when: {tool.command: "~ ^cargo test", tool.ok: true}
    until: [{on: post-tool-use, when: {tool.kind: [write, edit]}}]
hooks:
  pre-tool-use:
    - oracle: Say
      id: push
      when: {tool.command: "~ ^git push", marks.tests_passed: 0}
      config: {intensity: block, text: the tests have not passed since the last edit}
"#;
