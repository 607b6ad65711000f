//! An agent loop that consumes all four intensities (S4 §6.2): it asks before each step, and does what it is told.
//!
//! Run it with `cargo run --example agent_host`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use ahp::engine::Engine;
use ahp::event::Event;
use ahp::oracle::{HookContext, Mode, Oracle, OracleError};
use ahp::signal::{Modification, Payload, Signal};
use ahp::verdict::Decision;
use async_trait::async_trait;
use serde_json::{Value, json};

const POLICY: &str = "
hooks:
  pre-tool-use:
    - {oracle: PermissionChecker, priority: 1}
    - {oracle: BatchLimit, priority: 2, when: {tool.name: import}}
    - {oracle: FrontDoor, priority: 3, when: {tool.kind: write}}
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder()
        .policy_text(POLICY)
        .oracle("BatchLimit", Arc::new(BatchLimit { most: 100 }))
        .oracle("FrontDoor", Arc::new(FrontDoor))
        .build()?;
    let steps = [
        ("Bash", json!({"command": "git status"})),
        ("Bash", json!({"command": "rm -rf ~"})),
        ("import", json!({"file": "orders.csv", "batch_size": 1000})),
        (
            "Write",
            json!({"file_path": "README.md", "content": "hello"}),
        ),
    ];
    for (tool, input) in steps {
        println!("step: {tool} {input}");
        match consume(&engine, tool, input).await {
            Some(input) => println!("   runs: {tool} {input}"),
            None => println!("   does not run"),
        }
    }
    Ok(())
}

/// Asks the policy about a step; returns the input with which to go on, or nothing where the step is stopped.
async fn consume(engine: &Engine, tool: &str, input: Value) -> Option<Value> {
    let event = Event::tool_use(tool, input.clone());
    let verdict = engine.evaluate(event).await;
    for signal in &verdict.signals {
        match &signal.payload {
            Payload::Block(block) => {
                println!("   blocked: {}", block.reason);
                for step in &block.resolution_path {
                    println!("     - {step}");
                }
            }
            Payload::Control(control) => {
                for m in &control.modifications {
                    println!(
                        "   changed: {} from {} to {}",
                        m.target, m.original, m.updated
                    );
                }
            }
            Payload::Prompt(prompt) => println!("   warned: {}", prompt.message),
            Payload::Aid(aid) => println!("   tip: {}", aid.context_info),
        }
    }
    match verdict.decision {
        Decision::Block | Decision::Ask => None,
        Decision::Allow | Decision::None => Some(verdict.modified_input.unwrap_or(input)),
    }
}

/// Keeps batches small.
#[derive(Debug)]
struct BatchLimit {
    most: u64,
}

#[async_trait]
impl Oracle for BatchLimit {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let input = context.event().tool.as_ref().map(|tool| &tool.input);
        let size = input.and_then(|input| input.get("batch_size")?.as_u64());
        Ok(size
            .filter(|size| *size > self.most)
            .map(|size| {
                Signal::control(
                    "batch-too-large",
                    vec![Modification {
                        target: "tool.input.batch_size".to_owned(),
                        original: size.into(),
                        updated: self.most.into(),
                        reason: format!("batches have at most {} rows", self.most),
                    }],
                )
            })
            .into_iter()
            .collect())
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }
}

/// Warns of a change to the file that people read first, and gives a tip.
#[derive(Debug)]
struct FrontDoor;

#[async_trait]
impl Oracle for FrontDoor {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let paths = context.facts.tool().map_or(&[][..], |tool| &tool.paths);
        if !paths.iter().any(|path| path.ends_with("README.md")) {
            return Ok(Vec::new());
        }
        Ok(vec![
            Signal::prompt("front-door", "the README is what people read first")
                .steps(["Have somebody read it"]),
            Signal::aid("style", "short sentences are read to their end"),
        ])
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }
}
