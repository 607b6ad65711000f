//! McpTool: the server and the tool behind the hosts' spellings of an MCP tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpTool {
    /// The server's name; none where the host does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool's own name.
    pub tool: String,
    /// Whether its server says that it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether its server says that it may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
}

impl McpTool {
    /// Returns the name by which rules for many hosts know a tool: `mcp__server__tool`.
    pub(crate) fn common_name(server: &str, tool: &str) -> String {
        format!("mcp__{server}__{tool}")
    }

    /// Makes a tool of a server that says nothing further of it.
    pub fn of_server(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            server: Some(server.into()),
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// Takes what a server says of it in the `annotations` of its list of tools.
    #[must_use]
    pub fn annotated(mut self, annotations: &Value) -> Self {
        let says = |key: &str| annotations.get(key).and_then(Value::as_bool);
        self.read_only = says("readOnlyHint");
        self.destructive = says("destructiveHint");
        self
    }

    /// Reads an MCP tool from its name in any host's spelling.
    pub fn named(name: &str) -> Option<Self> {
        of_name(name)
    }
}

/// Reads an MCP tool from a tool name: `mcp__server__tool`, `mcp_server_tool`, `@server/tool`, `MCP:tool`.
///
/// In the second spelling a server whose name has an underscore cannot be told from the tool's name: the
/// first one is taken as the border. Hosts that use it say the server beside the name.
pub(super) fn of_name(name: &str) -> Option<McpTool> {
    if let Some(tool) = name.strip_prefix("MCP:") {
        return Some(McpTool {
            tool: tool.to_owned(),
            ..McpTool::default()
        });
    }
    let (server, tool) = if let Some(rest) = name.strip_prefix("mcp__") {
        rest.split_once("__")?
    } else if let Some(rest) = name.strip_prefix('@') {
        rest.split_once('/')?
    } else {
        name.strip_prefix("mcp_")?.split_once('_')?
    };
    (!server.is_empty() && !tool.is_empty()).then(|| McpTool::of_server(server, tool))
}

/// Reads an MCP tool from the input of a tool that calls any of them by name.
pub(super) fn of_input(input: &Value) -> Option<McpTool> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(McpTool {
        server: text("server_name").or_else(|| text("server")),
        tool: text("tool_name").or_else(|| text("uri"))?,
        ..McpTool::default()
    })
}
