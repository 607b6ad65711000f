//! The made-up event and project against which targets ask their questions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ahp::event::Event;
use ahp::fact::{Facts, FactsSeed};
use ahp::oracle::HookContext;
use ahp::signal_log::EmptyHistory;
use ahp::trust::Trust;
use ahp::workspace::MemoryWorkspace;

/// Returns the facts of a tool call in a project with one issue.
pub fn facts() -> Arc<Facts> {
    let issue = "---\nid: FEAT-0001\ntype: feature\n---\n- [ ] open\n- [x] done\n";
    let workspace = MemoryWorkspace::new("/project").with_file("Issues/FEAT-0001.md", issue);
    let input = serde_json::json!({"command": "cd src && rm -rf build | tee log"});
    let mut event = Event::tool_use("Bash", input);
    event.issue_id = Some("FEAT-0001".to_owned());
    event.session_id = Some("s".to_owned());
    Arc::new(Facts::new(FactsSeed {
        event: Arc::new(event),
        workspace: Arc::new(workspace),
        history: Arc::new(EmptyHistory),
        environment: "development".to_owned(),
        time: "2026-02-09T10:00:00Z".parse().unwrap_or_default(),
        home: None,
        trusted_hosts: Vec::new(),
    }))
}

/// Returns a context with little time.
pub fn context() -> HookContext {
    HookContext {
        facts: facts(),
        binding: "fuzz".into(),
        deadline: Instant::now().checked_add(Duration::from_millis(200)),
        state_dir: std::path::Path::new("/project/.ahp").into(),
        trust: Trust::everything(),
        guards: Arc::default(),
        outside: false,
    }
}
