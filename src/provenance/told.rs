//! Told: which passages of a text speak to an agent.
//!
//! A page, a mail or a row is written for people or for programs. A passage that names agents, or takes the word away from whoever
//! else gave it, is there for what reads it: what it names is what somebody wants an agent to take.

use super::{asked, words};

/// How agents are called in the texts that they read.
const AGENTS: &[&str] = &[
    "agent",
    "agente",
    "agenten",
    "agentes",
    "agents",
    "ai",
    "ais",
    "asistente",
    "asistentes",
    "assistant",
    "assistants",
    "assistent",
    "assistente",
    "assistenten",
    "assistentes",
    "assistenz",
    "automated",
    "automatische",
    "automation",
    "automations",
    "autopilot",
    "bot",
    "bots",
    "chatbot",
    "chatbots",
    "claude",
    "codex",
    "copilot",
    "copilots",
    "gpt",
    "ia",
    "ias",
    "ki",
    "llm",
    "llms",
    "non-human",
    "robot",
    "robots",
    "summariser",
    "summarisers",
    "summarizer",
    "summarizers",
    "unattended",
    "whoever",
];

/// Words that make another thing of the name before them: a program, and not who reads.
const PRODUCTS: &[&str] = &["code", "desktop", "mcp"];

/// Neighbours by which a text passes for somebody with more say, or takes the word away from others.
const OVERRIDING: &[[&str; 2]] = &[
    ["all", "previous"],
    ["ignore", "all"],
    ["ignore", "previous"],
    ["ignore", "prior"],
    ["important", "message"],
    ["language", "model"],
    ["language", "models"],
    ["machine", "readers"],
    ["not", "mention"],
    ["previous", "instructions"],
    ["prior", "instructions"],
    ["system", "message"],
    ["system", "note"],
    ["system", "notice"],
    ["system", "override"],
    ["system", "prompt"],
];

/// What is written behind the name of an agent in one word: `agent-instruction`.
const NOTES: &[&str] = &[
    "directive",
    "instruction",
    "instructions",
    "message",
    "note",
    "notice",
    "task",
    "visible",
];

/// How many paragraphs behind one that speaks to an agent belong to it: what it says often stands in a block of its own.
const BEHIND: usize = 2;

/// How many lines of one paragraph are judged as one.
const MOST_LINES: usize = 24;

/// A passage of a text, and its words.
pub(super) struct Passage<'t> {
    pub(super) text: &'t str,
    pub(super) words: Vec<String>,
    /// Whether it speaks to an agent, or stands beside one that does.
    pub(super) is_told: bool,
}

/// Parts a text into passages: paragraphs, which an empty line ends.
pub(super) fn passages(text: &str) -> Vec<Passage<'_>> {
    let with_words = |text| Passage {
        text,
        words: words::words(text),
        is_told: false,
    };
    let mut found: Vec<Passage<'_>> = paragraphs(text).map(with_words).collect();
    let speaking = found.iter().enumerate();
    let speaking = speaking.filter(|(_, passage)| speaks_to_agent(&passage.words));
    let speaking: Vec<usize> = speaking.map(|(at, _)| at).collect();
    for at in speaking {
        let around = at.saturating_sub(1)..(at + BEHIND + 1).min(found.len());
        for passage in found.get_mut(around).unwrap_or_default() {
            passage.is_told = true;
        }
    }
    found
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(['\n', '\r']);
        let mut end = 0;
        for (lines, line) in rest.split_inclusive('\n').enumerate() {
            if lines >= MOST_LINES || lines > 0 && line.trim().is_empty() {
                break;
            }
            end += line.len();
        }
        let (paragraph, after) = rest.split_at_checked(end)?;
        rest = after;
        (!paragraph.is_empty()).then_some(paragraph)
    })
}

/// Whether words name agents, say what programs have to do, or take the word away from others.
fn speaks_to_agent(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).map_or("", String::as_str);
        is_agent(word) && !PRODUCTS.contains(&next) || OVERRIDING.contains(&[&**word, next])
    })
}

fn is_agent(word: &str) -> bool {
    if AGENTS.contains(&word) || word.starts_with("gpt-") {
        return true;
    }
    // Some scripts put nothing between words: `AI助手`.
    if let Some((name, _)) = word
        .find(asked::is_sign)
        .and_then(|at| word.split_at_checked(at))
    {
        return AGENTS.contains(&name);
    }
    // `whoever/whatever`, but no path.
    if let Some((first, second)) = word.split_once('/') {
        let is_several = first.ends_with('s') || first == "whoever";
        return is_several && AGENTS.contains(&first) && second.chars().all(char::is_alphabetic);
    }
    if word.contains(['.', '@']) {
        return false;
    }
    let Some((first, last)) = word.rsplit_once(['-', '_']) else {
        return word.len() > 9 && (word.ends_with("assistant") || word.ends_with("assistants"));
    };
    // One program may be the agent of another: `ssh-agent`.
    last.starts_with("assisten")
        || last.len() > 2 && last != "agent" && last != "automation" && AGENTS.contains(&last)
        || last == "ai" && !first.contains(['-', '_'])
        || AGENTS.contains(&first) && NOTES.contains(&last)
}
