//! HOOK.md hooks: read, matched, put in order and run.

mod bound;
pub(crate) mod everywhere;
mod front_matter;
mod order;
mod protocol;
mod seeds;
mod speed;
mod told;
mod vocabulary;

use std::path::Path;
use std::sync::Arc;

use ahp::event::{Event, ToolView};
use ahp::hook_md::{Hook, Hooks};

/// Returns the hooks that an event is to meet, in their order.
fn due(hooks: &Hooks, event: &Event) -> Vec<Arc<Hook>> {
    let root = Path::new("/home/user/project");
    let meets = |hook: &Arc<Hook>| {
        let call = event.tool.as_ref();
        call.is_none_or(|call| {
            let view = ToolView::of(call, root, root);
            hook.front.matcher.matches(call, &view, root)
        })
    };
    let at = hooks.at(event.trigger, &|_| true);
    at.into_iter().filter(meets).collect()
}
