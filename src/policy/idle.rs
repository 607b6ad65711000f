//! Idle keys: what a configuration says and what, as the rest of it stands, does nothing.

use crate::config::{Node, Value};
use crate::diagnostic::{Code, Diagnostic};

/// A key of an oracle's configuration that needs another one.
struct Idle {
    /// The oracle, as it is logged.
    oracle: &'static str,
    key: &'static str,
    /// Whether it does something.
    works: fn(value: &Node, config: &Node) -> bool,
    help: &'static str,
}

const IDLE: &[Idle] = &[
    Idle {
        oracle: "checklist-validator",
        key: "min_completion_rate",
        // All of it is needed anyway.
        works: |rate, config| says(config, "allow_partial") || rate.to_json().as_f64() >= Some(1.0),
        help: "add `allow_partial: true`: without it every item must be done",
    },
    Idle {
        oracle: "checklist-validator",
        key: "allow_partial",
        works: |allows, config| !is_true(allows) || config.get("min_completion_rate").is_some(),
        help: "add `min_completion_rate:`, the share that must be done; without it that is all",
    },
    Idle {
        oracle: "completion-verifier",
        key: "test_globs",
        works: |_, config| says(config, "require_tests"),
        help: "add `require_tests: true`",
    },
    Idle {
        oracle: "completion-verifier",
        key: "doc_globs",
        works: |_, config| says(config, "require_docs"),
        help: "add `require_docs: true`",
    },
    Idle {
        oracle: "file-change-limiter",
        key: "control_action",
        works: |_, config| {
            let action = config.get("action").and_then(Node::as_str);
            action.is_none_or(|action| action == "control")
        },
        help: "say `action: control`, or leave it out",
    },
];

/// Warns of the keys of an oracle's configuration that do nothing.
pub(super) fn remarks(oracle: &str, config: &Node) -> Vec<Diagnostic> {
    let of_oracle = IDLE.iter().filter(|idle| idle.oracle == oracle);
    of_oracle
        .filter_map(|idle| {
            let value = config.get(idle.key)?;
            let message = format!("`{}` does nothing here", idle.key);
            (!(idle.works)(value, config))
                .then(|| Diagnostic::warning(Code::UnknownKey, message, value.span).help(idle.help))
        })
        .collect()
}

/// Whether a key is there and not `false`; what is chosen by the context may be true.
fn says(config: &Node, key: &str) -> bool {
    config.get(key).is_some_and(is_true)
}

fn is_true(value: &Node) -> bool {
    !matches!(value.value, Value::Bool(false))
}
