//! Pushed: git's hook before a push is told what changes and not whether it is forced; what a remote would lose tells that.

use std::sync::Arc;

use serde_json::json;

use crate::event::{Event, GitHook};
use crate::workspace::Workspace;

/// Returns the event of a push with the command line that says which refs are forced: those that would leave the remote
/// without a commit that it has. Where that cannot be told it is forced too, for git asks its hook about no other ref of
/// which it does not know that it goes forward.
pub(super) fn with_force(
    mut event: Arc<Event>,
    workspace: impl FnOnce(&Event) -> Arc<dyn Workspace>,
) -> Arc<Event> {
    let Some(GitHook::Push(push)) = event.git.as_deref() else {
        return event;
    };
    let workspace = workspace(&event);
    let command = push.command(|pushed| {
        !pushed.replaces_nothing()
            && (pushed.is_fixed() || !workspace.builds_on(&pushed.new, &pushed.old))
    });
    if let Some(tool) = &mut Arc::make_mut(&mut event).tool {
        tool.input = json!({ "command": command });
    }
    event
}
