//! ToolKind: what a tool does, whatever its host calls it.

use serde::{Deserialize, Serialize};

/// What a tool does, whatever its host calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Runs a command line.
    Shell,
    /// Writes a whole file.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Deletes a file.
    Delete,
    /// Reads a file.
    Read,
    /// Searches files.
    Search,
    /// Fetches from the network.
    Fetch,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Starts or steers an agent.
    Agent,
    /// Anything else.
    Other,
}

impl ToolKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Shell,
        Self::Write,
        Self::Edit,
        Self::Delete,
        Self::Read,
        Self::Search,
        Self::Fetch,
        Self::Mcp,
        Self::Agent,
        Self::Other,
    ];

    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Mcp => "mcp",
            Self::Agent => "agent",
            Self::Other => "other",
        }
    }
}
