//! Claude Agent SDK: Claude Code's moments and answers, called as functions of the program that embeds it.

use super::{Certainty, Host, Payload, Switches, claude_code};

pub(super) static HOST: Host = Host {
    name: "claude-agent-sdk",
    aliases: &[],
    title: "Claude Agent SDK",
    programs: &[],
    settings: None,
    places: &[],
    switches: Switches::NONE,
    trial: None,
    blind_spots: &[
        "a program that starts an agent without these hooks",
        "files pulled in by `@file` and skills typed as `/name` call no tool hook",
        "files that a shell command writes call the hook of the shell, not of a write",
        "a subagent cannot be stopped from starting; what is said there goes into its context",
    ],
    speaks,
    ..claude_code::HOST
};

/// Its payloads are Claude Code's: the program that asks says who it is.
const fn speaks(_: &Payload) -> Certainty {
    Certainty::No
}
