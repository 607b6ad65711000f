//! Search: which files `find`, `fd`, `grep` and `rg` come to when they go through folders, and what their pipes let through.

mod expression;
mod file;
mod filter;
mod folder;
mod options;

pub(crate) use self::expression::{Deed, Expression, STARTS, printed};
pub(crate) use self::file::{read, read_short};
pub(crate) use self::filter::{come_through, keeps_names, meets, wild};
pub(crate) use self::folder::{Fd, goes_into_hidden, holds, lists, own_words};
pub(crate) use self::options::{Options, is_grep, is_steered, searches, sent_to};
