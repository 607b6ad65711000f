//! What the log teaches: figures worked out by hand.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on says where by panicking"
)]

mod advise;
mod agents;
mod filter;
mod findings;
mod gathered;
mod making;
mod replay;
mod report;
mod simulation;
mod stats;
