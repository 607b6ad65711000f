//! Kind: kinds of acts, and which of them a person has asked for.

use crate::session::{Origin, Origins};

/// What an act does; the name is that of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Look,
    Say,
    Pay,
    Refund,
    Buy,
    Grant,
    Remove,
    Install,
    Work,
    Schedule,
    Push,
    Merge,
    Change,
    Steer,
    Follow,
    /// Something is wanted, in words that tell no kind.
    Vague,
}

/// Every kind of act, with the name of its list.
const KINDS: &[(Kind, &str)] = &[
    (Kind::Look, "look"),
    (Kind::Say, "say"),
    (Kind::Pay, "pay"),
    (Kind::Refund, "refund"),
    (Kind::Buy, "buy"),
    (Kind::Grant, "grant"),
    (Kind::Remove, "remove"),
    (Kind::Install, "install"),
    (Kind::Work, "work"),
    (Kind::Schedule, "schedule"),
    (Kind::Push, "push"),
    (Kind::Merge, "merge"),
    (Kind::Change, "change"),
    (Kind::Steer, "steer"),
    (Kind::Follow, "follow"),
    (Kind::Vague, "vague"),
];

/// What stands before the name of a kind that the person has asked for.
const ASKED: &str = "\u{1}asked ";

/// What is kept where the person typed anything that is not understood.
const TYPED: &str = "typed";

/// Kinds of acts that a person has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked(u16);

impl Asked {
    pub(super) const fn of(kind: Kind) -> Self {
        Self(1 << kind as u16)
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, kind: Kind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }

    /// Whether they have one of others.
    pub(super) const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether there is an act among them.
    pub(super) const fn has_act(self) -> bool {
        self.0 & !Self::of(Kind::Look).0 != 0
    }

    /// Whether there is one that does more than tell something.
    pub(super) const fn has_work(self) -> bool {
        let talk = Self::of(Kind::Look).0 | Self::of(Kind::Say).0 | Self::of(Kind::Vague).0;
        self.0 & !talk != 0
    }

    /// Whether only words were typed that tell no kind.
    pub(super) fn is_vague(self) -> bool {
        self == Self::of(Kind::Vague)
    }

    /// Returns what the prompts of a session asked for; none where nothing was typed.
    pub(super) fn in_session(origins: &Origins) -> Option<Self> {
        let has = |name: &str| origins.has(Origin::Prompt, &format!("{ASKED}{name}"));
        has(TYPED).then(|| {
            let kinds = KINDS.iter().filter(|(_, name)| has(name));
            kinds.fold(Self::default(), |all, (kind, _)| all.with(Self::of(*kind)))
        })
    }

    /// Whether they have one of several kinds, or any act where none is named; none where only words were typed that tell no
    /// kind.
    pub(super) fn allows(self, kinds: Self) -> Option<bool> {
        let is_asked = kinds == Self::default() && self.has_act() || self.has_any(kinds);
        (is_asked || !self.is_vague()).then_some(is_asked)
    }

    /// Returns the kinds that have such names.
    pub(super) fn named(names: &str) -> Self {
        let kinds = KINDS.iter();
        let kinds = kinds.filter(|(_, name)| names.split(' ').any(|one| one == *name));
        kinds.fold(Self::default(), |all, (kind, _)| all.with(Self::of(*kind)))
    }

    /// Returns what is kept of them.
    pub(super) fn kept(self) -> impl Iterator<Item = String> {
        let names = KINDS.iter().filter(move |(kind, _)| self.has(*kind));
        let names = names.map(|(_, name)| *name).chain([TYPED]);
        names.map(|name| format!("{ASKED}{name}"))
    }
}
