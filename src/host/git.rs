//! Git: its own hooks, told as the git command that they stop; words go to stderr, which git shows.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::event::{Event, GitHook, Push, PushedRef, ToolCall, Trigger};
use crate::place::{Place, Scope};
use crate::shell_word::quoted;

use super::{
    CANARY, Certainty, DecodeError, Decoded, Form, Host, HostEvent, HostResponse, Input, Reply,
    Settings, Switches, as_read,
};

pub(super) static HOST: Host = Host {
    name: "git",
    aliases: &[],
    title: "git",
    events: &[
        HostEvent::new(&["pre-commit"], Trigger::PreToolUse)
            .block()
            .context()
            .notice(),
        HostEvent::new(&["commit-msg"], Trigger::PreToolUse)
            .block()
            .context()
            .notice(),
        HostEvent::new(&["pre-push"], Trigger::PreToolUse)
            .block()
            .context()
            .notice(),
    ],
    timeout: Duration::from_mins(10),
    text_limit: 9_000,
    programs: &["git"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Git,
        files: &[(Scope::Project, Place::project(".git/hooks"))],
        machine: None,
    }),
    places: &[
        Place::project(".git/config"),
        // By either, git reads another file in its place.
        Place::project(".git/commondir"),
        Place::project(".git/config.worktree"),
        Place::home(".gitconfig"),
        Place::config("git/config"),
    ],
    switches: Switches {
        variables: &["GIT_CONFIG_GLOBAL"],
        ..Switches::NONE
    },
    sample: "",
    trial: None,
    blind_spots: &[
        "`git commit --no-verify` and `git push --no-verify` call no hook",
        "a merge that makes a commit calls `commit-msg` alone, and one that makes none calls no hook of these",
        "`git cherry-pick`, `git revert`, `git am`, `git rebase` and commits made through a forge's own page call none of these hooks",
    ],
    speaks: |_| Certainty::No,
    adjust: as_read,
    encode,
    obeys: |reply| reply.blocks,
};

/// Reads one of git's hooks: its name comes with the command line, and its data as arguments and plain text.
pub(super) fn decode(input: &Input<'_>) -> Result<Decoded, DecodeError> {
    let name = input.event.ok_or(DecodeError::NoEvent)?;
    let Some(host_event) = HOST.event(name) else {
        return Ok(Decoded {
            host: &HOST,
            event: name.to_owned(),
            host_event: None,
            session_id: None,
            events: Vec::new(),
            notes: vec![format!("git has an unknown hook `{name}`: passed")],
        });
    };
    let first = input.arguments.first().map_or("", String::as_str);
    let push = (name == "pre-push").then(|| pushed(first, input.bytes));
    let command = match name {
        "commit-msg" => format!(
            "git commit -m {}",
            quoted(&message(&input.work_dir.join(first)))
        ),
        _ => push.as_ref().map_or_else(
            || "git commit".to_owned(),
            // Whether a ref is forced, git does not say: the engine finds out.
            |push| push.command(|_| false),
        ),
    };
    let mut event = Event::new(host_event.trigger.unwrap_or(Trigger::PreToolUse));
    event.host = Some(HOST.name.to_owned());
    event.git = push.map(|push| Arc::new(GitHook::Push(push)));
    event.work_dir = Some(input.work_dir.to_owned());
    // Git names no session; the canary has no other place to say that it is one.
    event.session_id = input.arguments.iter().find(|a| *a == CANARY).cloned();
    event.tool = Some(ToolCall {
        name: "git".to_owned(),
        input: json!({ "command": command }),
        ..ToolCall::default()
    });
    Ok(Decoded {
        host: &HOST,
        event: name.to_owned(),
        host_event: Some(host_event),
        session_id: event.session_id.clone(),
        events: vec![event],
        notes: Vec::new(),
    })
}

/// Reads what is pushed: a line for each ref, of its local name, its new object, its name there and its object there.
fn pushed(remote: &str, bytes: &[u8]) -> Push {
    let text = String::from_utf8_lossy(bytes);
    let read = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(PushedRef {
            local: words.next()?,
            new: words.next()?,
            remote: words.next()?,
            old: words.next().unwrap_or_default(),
        })
    };
    Push {
        remote: remote.to_owned(),
        refs: text.lines().filter_map(read).collect(),
    }
}

/// Reads a commit message as git will keep it: without the comments that the editor was given.
fn message(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let kept: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("# ------------------------ >8"))
        .filter(|line| !line.starts_with('#'))
        .collect();
    kept.join("\n").trim().to_owned()
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut reply = match &response.objection {
        Some(objection) => Reply::block(&objection.agent),
        None => Reply {
            stderr: response.context.clone().unwrap_or_default(),
            ..Reply::nothing()
        },
    };
    // It goes to the terminal as it is, and git writes on.
    if !reply.stderr.is_empty() && !reply.stderr.ends_with('\n') {
        reply.stderr.push('\n');
    }
    reply
}
