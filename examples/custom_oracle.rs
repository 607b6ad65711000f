//! An oracle of the host program's own, written in Rust, with a configuration that is checked at its place in the policy.
//!
//! Run it with `cargo run --example custom_oracle`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use ahp::engine::Engine;
use ahp::event::{Event, Trigger};
use ahp::oracle::{
    ConfigError, Definition, HookContext, Mode, Oracle, OracleConfig, OracleError, Programs,
};
use ahp::signal::{Intensity, Signal};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Keeps tools away from hosts that are not on a list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct AllowedHosts {
    /// The hosts that may be fetched from.
    hosts: Vec<String>,
}

#[async_trait]
impl Oracle for AllowedHosts {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let urls = context.facts.tool().map_or(&[][..], |tool| &tool.urls);
        let mut hosts = urls.iter().map(|url| {
            let host = url.split_once("://").map_or(&**url, |(_, rest)| rest);
            host.split(['/', ':']).next().unwrap_or_default()
        });
        let Some(host) = hosts.find(|host| !self.hosts.iter().any(|allowed| allowed == host))
        else {
            return Ok(Vec::new());
        };
        let text = format!("`{host}` is not on the list of hosts");
        Ok(vec![Signal::block("host-not-allowed", text).steps([
            format!("Fetch from one of {}", self.hosts.join(", ")),
        ])])
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }
}

fn build(config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError> {
    Ok(Arc::new(config.decode::<AllowedHosts>()?))
}

/// What the engine knows of the oracle before it runs.
const DEFINITION: Definition = Definition {
    name: "AllowedHosts",
    kebab: "allowed-hosts",
    summary: "Keeps tools away from hosts that are not on a list.",
    triggers: &[Trigger::PreToolUse],
    intensities: &[Intensity::Block],
    needs: &[],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(AllowedHosts),
    build,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder()
        .register(DEFINITION)
        .policy_text("hooks: {pre-tool-use: [{oracle: AllowedHosts, config: {hosts: [docs.rs]}}]}")
        .build()?;
    for url in ["https://docs.rs/rhai", "https://example.com/"] {
        let event = Event::tool_use("WebFetch", json!({ "url": url }));
        let verdict = engine.evaluate(event).await;
        println!("{url}: {}", verdict.decision);
    }

    // The same oracle with a misspelt key: the fault is known before any event comes.
    let broken = Engine::builder()
        .register(DEFINITION)
        .policy_text("hooks: {pre-tool-use: [{oracle: AllowedHosts, config: {host: [docs.rs]}}]}")
        .build()?;
    let state = broken.state();
    for fault in state.faults() {
        println!("{}", fault.one_line(state.sources()));
    }
    Ok(())
}
