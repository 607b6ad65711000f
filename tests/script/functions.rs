//! Every function of the manual does what its example says.

use std::time::Duration;

use ahp::oracle::rhai::api::GROUPS;

use super::scripts::run;

#[test]
fn every_example_is_true() {
    let mut wrong = Vec::new();
    for function in GROUPS.iter().flat_map(|group| &group.functions) {
        let (setup, last) = function
            .example
            .rsplit_once("; ")
            .unwrap_or(("", function.example));
        let source = format!(
            "fn evaluate(ctx) {{ {setup}; if ({last}) == true {{ accept() }} else {{ block(\"no\") }} }}"
        );
        match run(&source, Duration::from_secs(10)).result {
            Ok(signals) if signals.is_empty() => {}
            Ok(_) => wrong.push(format!("{}: not true", function.signature)),
            Err(error) => wrong.push(format!("{}: {error}", function.signature)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
