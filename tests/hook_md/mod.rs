//! HOOK.md hooks: read, matched, put in order and run.

mod bound;
pub(crate) mod everywhere;
mod front_matter;
mod order;
mod protocol;
mod seeds;
mod speed;

use std::sync::Arc;

use ahp::event::Event;
use ahp::hook_md::{Hook, Hooks};

/// Returns the hooks that an event is to meet, in their order.
fn due(hooks: &Hooks, event: &Event) -> Vec<Arc<Hook>> {
    let meets = |hook: &Arc<Hook>| {
        let call = event.tool.as_ref();
        call.is_none_or(|call| hook.front.matcher.matches(call, || call.kinds()))
    };
    let at = hooks.at(event.trigger, &|_| true);
    at.into_iter().filter(meets).collect()
}
