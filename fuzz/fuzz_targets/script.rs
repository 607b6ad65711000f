//! A script oracle: compiled, and run against an event with little time.

#![no_main]

use std::path::Path;
use std::sync::Arc;

use ahp::config::Node;
use ahp::diagnostic::Span;
use ahp::engine::block_on;
use ahp::oracle::{Factory as _, OracleConfig};
use ahp::oracle::rhai::Script;

libfuzzer_sys::fuzz_target!(|source: &str| {
    let Ok(script) = Script::compile("fuzz", "fuzz.rhai", source) else {
        return;
    };
    let node = Node::empty_map(Span::default());
    let config = OracleConfig {
        node: &node,
        root: Path::new("/project"),
    };
    if let Ok(oracle) = Arc::new(script).build(&config) {
        block_on(oracle.evaluate(&project::context())).ok();
    }
});
