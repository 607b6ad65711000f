//! The signal log: appending, damage and repair, rotation, history.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on says where by panicking"
)]

mod belonging;
mod cleaning;
mod command;
mod durability;
mod following;
mod history;
pub(crate) mod making;
mod page;
mod redacting;
mod together;
mod unwritable;
mod verifying;
mod writing;
