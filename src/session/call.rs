//! Call: what is kept of a call that has not ended, and of what came after it.

use serde::{Deserialize, Serialize};

use super::Contribution;

/// One thing that is kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Noted {
    /// All that will be known of it is known: what it added, and when, in milliseconds since 1970.
    Done(Vec<Contribution>, i64),
    /// A call that has not ended.
    Open(Call),
}

impl Noted {
    pub(super) fn call(&self) -> Option<&Call> {
        match self {
            Self::Open(call) => Some(call),
            Self::Done(..) => None,
        }
    }

    pub(super) fn given(&self) -> Vec<(Contribution, i64)> {
        match self {
            Self::Done(given, time) => given.iter().map(|given| (given.clone(), *time)).collect(),
            Self::Open(call) => call.given().map(|given| (given, call.time)).collect(),
        }
    }

    pub(super) fn contributions(&mut self) -> impl Iterator<Item = &mut Contribution> {
        let (first, second) = match self {
            Self::Done(given, _) => (given, None),
            Self::Open(call) => (&mut call.itself, Some(&mut call.result)),
        };
        first.iter_mut().chain(second.into_iter().flatten())
    }
}

/// By what a call is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallId {
    /// The digest of what the host calls it, else of the tool and its input.
    pub digest: u64,
    /// Whether the host has a name for it, so that it is one call however often it is told of.
    pub is_named: bool,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Going {
    /// It is judged, or whoever judged it died over it.
    Judged,
    /// A person is asked about it.
    Asked,
    /// It was let go.
    Gone,
}

/// A call that has not ended, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// By what it is known again.
    pub id: CallId,
    /// When it came, in milliseconds since 1970.
    pub time: i64,
    /// How far it has come.
    pub going: Going,
    /// What it adds if it happens.
    pub itself: Vec<Contribution>,
    /// What its result may add.
    pub result: Vec<Contribution>,
}

impl Call {
    /// Whether it adds anything, by itself or by its result.
    pub fn is_something(&self) -> bool {
        !self.itself.is_empty() || !self.result.is_empty()
    }

    /// Returns what it adds as far as is known now: once it was let go, that it happens is certain.
    pub(super) fn given(&self) -> impl Iterator<Item = Contribution> {
        let itself = self.itself.iter().map(|given| match self.going {
            Going::Gone => given.clone(),
            Going::Judged | Going::Asked => given.doubtful(),
        });
        itself.chain(self.result.iter().map(Contribution::doubtful))
    }

    /// Whether more may become known of it; of one with a name, whether it is told of again.
    pub(super) fn is_open(&self) -> bool {
        !self.result.is_empty()
            || !self.itself.is_empty() && (self.going != Going::Gone || self.id.is_named)
    }
}
