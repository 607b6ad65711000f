//! Claude Code: nested `hookSpecificOutput`, which it ignores whole where `hookEventName` is missing.

use std::time::Duration;

use serde_json::Map;
use serde_json::Value;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::Rewrite;
use super::Speech;
use super::as_read;

pub(super) static HOST: Host = Host {
    name: "claude-code",
    title: "Claude Code",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession)
            .context()
            .notice(),
        Moment::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context()
            .notice(),
        Moment::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask()
            .rewrite(Rewrite::Replace)
            .context()
            .notice(),
        Moment::new(&["PostToolUse"], Trigger::PostToolUse)
            .block()
            .context()
            .notice(),
        Moment::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure)
            .block()
            .context()
            .notice(),
        // Words in the context of a stop make the agent go on, as a block does: advice is not worth that.
        Moment::new(&["Stop"], Trigger::PreAgentTurnStop)
            .block()
            .notice(),
        Moment::new(&["SubagentStart"], Trigger::PreSubagent)
            .context()
            .notice(),
        Moment::new(&["SubagentStop"], Trigger::PostSubagent)
            .block()
            .notice(),
        Moment::new(&["PreCompact"], Trigger::PreContextCompact)
            .block()
            .notice(),
        Moment::new(&["PostCompact"], Trigger::PostContextCompact).notice(),
        Moment::new(&["SessionEnd"], Trigger::PostSession),
        Moment::ignored(&[
            "ConfigChange",
            "CwdChanged",
            "DirectoryAdded",
            "Elicitation",
            "ElicitationResult",
            "FileChanged",
            "InstructionsLoaded",
            "MessageDisplay",
            "Notification",
            "PermissionDenied",
            "PermissionRequest",
            "PostToolBatch",
            "Setup",
            "StopFailure",
            "TaskCompleted",
            "TaskCreated",
            "TeammateIdle",
            "UserPromptExpansion",
            "WorktreeCreate",
            "WorktreeRemove",
        ]),
    ],
    timeout: Duration::from_mins(10),
    text_limit: 9_000,
    programs: &["claude"],
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","transcript_path":"$DIR/t.jsonl","cwd":"$DIR","tool_name":"Write","tool_input":{"file_path":"$DIR/.ahp/hooks.yaml","content":""},"tool_use_id":"canary"}"#,
    blind_spots: &[
        "files pulled in by `@file` and skills typed as `/name` call no tool hook",
        "files that a shell command writes call the hook of the shell, not of a write",
        "`disableAllHooks` in a settings file switches every hook off",
        "a hook that times out lets the tool run",
        "a subagent cannot be stopped from starting; what is said there goes into its context",
    ],
    speaks,
    adjust: as_read,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    if payload.has("hook_event_name") && payload.has("transcript_path") {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

pub(super) fn encode(speech: &Speech<'_>) -> Reply {
    let mut out = speech.with_notice();
    let mut specific = speech.specific();
    if speech.moment.trigger == Some(Trigger::PreToolUse) {
        permission(speech, &mut specific);
    } else if let Some(objection) = &speech.objection {
        // The words at a prompt are shown to the person alone; everywhere else the agent reads them.
        let reason = if speech.moment.trigger == Some(Trigger::PreAgentTurn) {
            &objection.person
        } else {
            &objection.agent
        };
        out.insert("decision".to_owned(), "block".into());
        out.insert("reason".to_owned(), reason.as_str().into());
    }
    if specific.len() > 1 {
        out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    Reply::json(out)
}

/// Writes the decision about a tool call; without one the input is changed all the same, and the host asks
/// its person as ever.
pub(super) fn permission(speech: &Speech<'_>, specific: &mut Map<String, Value>) {
    if let Some(objection) = &speech.objection {
        let (decision, reason) = if objection.ask {
            ("ask", &objection.person)
        } else {
            ("deny", &objection.agent)
        };
        specific.insert("permissionDecision".to_owned(), decision.into());
        specific.insert(
            "permissionDecisionReason".to_owned(),
            reason.as_str().into(),
        );
    }
    if let Some(input) = &speech.input {
        specific.insert("updatedInput".to_owned(), input.clone());
    }
}

pub(super) fn obeys(reply: &Reply) -> bool {
    reply.blocks
        || reply.says("/decision", "block")
        || (reply.says("/hookSpecificOutput/permissionDecision", "deny")
            && reply.says("/hookSpecificOutput/hookEventName", "PreToolUse"))
}
