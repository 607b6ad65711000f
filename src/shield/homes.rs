//! Homes: the folder of each host in a person's home, which its client needs to write, and what is held in it.
//!
//! What decides over hooks stands in `host`; here is what a mount needs beside it, found with the real clients.

use crate::place::Place;

/// The folder of a host.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) host: &'static str,
    pub(super) folder: Place,
    /// Names that are held beside what is guarded.
    pub(super) held: &'static [&'static str],
    /// Names that are guarded and must stay writable.
    pub(super) free: &'static [&'static str],
}

const fn home(host: &'static str, folder: Place, held: &'static [&'static str]) -> Home {
    Home {
        host,
        folder,
        held,
        free: &[],
    }
}

/// What Gemini CLI and what came of it keep.
const GEMINI: &[&str] = &[
    "agents",
    "commands",
    "extensions",
    "hooks",
    "policies",
    "settings.json",
    "skills",
    "trustedFolders.json",
];

/// The folders, by the host's name.
pub(super) const HOMES: &[Home] = &[
    home(
        "claude-code",
        Place::moved("CLAUDE_CONFIG_DIR", ".claude", ""),
        &["CLAUDE.md", "agents", "commands", "output-styles", "skills"],
    ),
    // Its sessions, keys and settings of models lie in `data`.
    home(
        "cline",
        Place::home(".cline"),
        &["agents", "plugins", "rules", "skills", "workflows"],
    ),
    // It writes skills of its own at each start.
    home(
        "codex",
        Place::moved("CODEX_HOME", ".codex", ""),
        &["plugins", "prompts", "rules"],
    ),
    Home {
        // It ends where it cannot write this.
        free: &["config.json"],
        ..home(
            "copilot",
            Place::moved("COPILOT_HOME", ".copilot", ""),
            &["agents", "mcp-config.json", "plugins", "skills"],
        )
    },
    home("gemini-cli", Place::home(".gemini"), GEMINI),
    home(
        "kimi-cli",
        Place::home(".kimi"),
        &["agents", "hooks", "mcp.json", "plugins", "skills"],
    ),
    home(
        "kimi-code",
        Place::home(".kimi-code"),
        &["agents", "hooks", "mcp.json", "plugins", "skills"],
    ),
    home("qwen-code", Place::home(".qwen"), GEMINI),
];
