//! A `when`: compiled, and asked of an event.

#![no_main]

use ahp::condition::Condition;
use ahp::config::parse_yaml;
use ahp::diagnostic::FileId;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut faults = Vec::new();
    let Some(node) = parse_yaml(text, FileId::default(), &mut faults) else {
        return;
    };
    if let Some(condition) = Condition::compile(&node, &mut faults) {
        let facts = project::facts();
        assert_eq!(condition.holds(&facts), condition.holds(&facts));
        condition.trace(&facts);
    }
});
