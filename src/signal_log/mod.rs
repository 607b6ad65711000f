//! The JSONL signal log: append-only, hash-chained, written by many processes at once (spec §8).

mod asked;
mod backward;
mod blocks;
mod chain;
mod compose;
mod error;
mod evaluation;
mod files;
mod follow;
mod frame;
mod group;
mod history;
mod index;
mod infer;
mod known;
mod lock;
mod probe;
mod reader;
mod record;
mod redact;
mod repeated;
mod respond;
mod rotation;
mod tail;
mod verify;
mod writer;

pub use self::asked::{AskedAbout, OpenQuestion};
pub(crate) use self::blocks::bare_lines;
pub(crate) use self::chain::of_agent;
pub use self::error::LogError;
pub use self::evaluation::Evaluation;
pub use self::files::LogPlace;
pub use self::follow::Follow;
pub(crate) use self::frame::Frame;
pub use self::frame::Links;
pub use self::history::{
    Chain, EmptyHistory, History, LogHistory, MemoryHistory, OpenSignal, SharedHistory, Standing,
    Waiver,
};
pub use self::infer::{answers_of_host, inferred_responses};
pub(crate) use self::known::note_log;
pub use self::known::{KnownLog, known_logs, log_key};
pub use self::probe::probe;
pub use self::reader::{BadLine, Reader, Records};
pub use self::record::{
    AlsoFound, BadRecord, Body, EvaluationRecord, Line, Notice, Record, ResponseRecord,
    SignalRecord, Text,
};
pub use self::repeated::Repeated;
pub use self::respond::{Answer, RespondError, respond};
pub use self::verify::{Damage, DamageKind, Verification, verify};
pub use self::writer::{Appended, SignalLog};
