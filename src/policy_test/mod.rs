//! Policy tests as data: a policy or an oracle, a made-up project, and what must come of an event (spec §9).
//!
//! A file holds what its tests have in common and the tests; a test repeats only what differs:
//!
//! ```yaml
//! oracle: branch-guard
//! trigger: pre-tool-use
//! tests:
//!   - name: a push to the default branch is blocked
//!     command: git push origin main
//!     expect: block
//!   - name: a push to another branch is not
//!     command: git push origin feature
//!     expect: none
//! ```

mod case;
mod compare;
mod coverage;
mod expectation;
mod file;
mod past;
mod project;
mod run;
mod setup;
mod update;

pub use self::case::{Case, TestFile};
pub use self::compare::Difference;
pub use self::coverage::{Coverage, Gap};
pub use self::expectation::{Expectation, ExpectedSignal};
pub use self::file::{find_files, read};
pub use self::run::{Outcome, Runner};
pub use self::update::updated;
