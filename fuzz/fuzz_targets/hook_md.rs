//! A `HOOK.md`, whoever wrote it.

#![no_main]

use ahp::diagnostic::{FileId, SourceMap};
use ahp::hook_md::parse;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut sources = SourceMap::default();
    sources.add("HOOK.md", text);
    let parsed = parse(text, "a-hook", FileId::default());
    for fault in &parsed.diagnostics {
        assert!(!ahp::diagnostic::render(fault, &sources, false).is_empty());
    }
    if let Some(front) = parsed.front {
        assert_eq!(front.name, "a-hook");
        let facts = project::facts();
        if let (Some(call), Some(view)) = (&facts.event().tool, facts.tool()) {
            front.matcher.matches(call, view, facts.project_root());
        }
    } else {
        assert!(parsed.diagnostics.iter().any(|fault| fault.is_error()));
    }
});
