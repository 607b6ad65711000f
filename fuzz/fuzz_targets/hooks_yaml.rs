//! A layer of the configuration.

#![no_main]

use ahp::config::Config;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let loaded = Config::parse_str(text);
    for fault in &loaded.diagnostics {
        assert!(!ahp::diagnostic::render(fault, &loaded.sources, false).is_empty());
    }
});
