//! Group: appends of one process that come at the same time are written together, by the first of them.
//!
//! Whoever comes while nobody writes leads: it lets the tasks that are ready add theirs, writes for all, tells each what
//! became of its records, and hands the lead on to the first who came meanwhile. Nobody is told of records that are
//! not yet written; whoever gives up waiting takes out what is not.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::Appended;
use super::writer::{Request, Written};

/// How many appends are written together at most, so that the first does not wait for long.
const MOST: usize = 1024;

/// The appends of one log that wait.
#[derive(Debug, Default)]
pub(super) struct Group(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    requests: VecDeque<(Request, Arc<Mailbox>)>,
    is_led: bool,
}

/// Where a member hears what is next.
#[derive(Debug)]
struct Mailbox(Mutex<Turn>);

/// What is next for a member.
#[derive(Debug)]
enum Turn {
    Wait(Option<Waker>),
    Lead,
    Told(Outcome),
    Heard,
}

/// What became of an append.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Its records are in the log.
    Written(Appended),
    /// They are, but may not outlive a power cut.
    Unsaved(io::Error),
    /// None of them is: it is to be tried alone, and to hear its own error.
    Failed(Request),
}

/// One append that waits, or leads.
#[derive(Debug)]
pub(super) struct Member<'a> {
    group: &'a Group,
    mailbox: Arc<Mailbox>,
    leads: bool,
}

/// The appends that are written together; those that are not told of by the end have failed.
#[derive(Debug)]
pub(super) struct Batch(Vec<(Request, Arc<Mailbox>)>);

impl Group {
    /// Adds an append.
    pub(super) fn join(&self, request: Request) -> Member<'_> {
        let mut waiting = self.waiting();
        let turn = if mem::replace(&mut waiting.is_led, true) {
            Turn::Wait(None)
        } else {
            Turn::Lead
        };
        let mailbox = Arc::new(Mailbox(Mutex::new(turn)));
        waiting.requests.push_back((request, mailbox.clone()));
        Member {
            group: self,
            mailbox,
            leads: false,
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mailbox {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, turn: Turn) {
        let before = mem::replace(&mut *self.turn(), turn);
        if let Turn::Wait(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl Member<'_> {
    /// Waits for what became of the append; none where this one is to write, for itself and all others.
    pub(super) fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Outcome>> {
        let mut turn = self.mailbox.turn();
        match mem::replace(&mut *turn, Turn::Heard) {
            Turn::Lead => {
                self.leads = true;
                *turn = Turn::Wait(None);
                Poll::Ready(None)
            }
            Turn::Told(outcome) => Poll::Ready(Some(outcome)),
            Turn::Wait(_) | Turn::Heard => {
                *turn = Turn::Wait(Some(context.waker().clone()));
                Poll::Pending
            }
        }
    }

    /// Takes the appends that are to be written now.
    pub(super) fn batch(&self) -> Batch {
        let mut waiting = self.group.waiting();
        let count = waiting.requests.len().min(MOST);
        Batch(waiting.requests.drain(..count).collect())
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if matches!(*self.mailbox.turn(), Turn::Heard) && !self.leads {
            return;
        }
        let mut waiting = self.group.waiting();
        waiting
            .requests
            .retain(|(_, mailbox)| !Arc::ptr_eq(mailbox, &self.mailbox));
        // The lead may have come after this one had given up.
        if self.leads || matches!(*self.mailbox.turn(), Turn::Lead) {
            match waiting.requests.front() {
                Some((_, next)) => next.set(Turn::Lead),
                None => waiting.is_led = false,
            }
        }
    }
}

impl Batch {
    /// Returns the appends.
    pub(super) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.0.iter().map(|(request, _)| request)
    }

    /// Tells each what was written of it.
    pub(super) fn tell(mut self, written: Written) {
        for ((_, mailbox), appended) in mem::take(&mut self.0).into_iter().zip(written.appended) {
            mailbox.set(Turn::Told(match &written.saved {
                Ok(()) => Outcome::Written(appended),
                Err(error) => Outcome::Unsaved(io::Error::new(error.kind(), error.to_string())),
            }));
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        for (request, mailbox) in mem::take(&mut self.0) {
            mailbox.set(Turn::Told(Outcome::Failed(request)));
        }
    }
}

/// Lets the other tasks that are ready go first, once.
pub(super) async fn let_others_come() {
    let mut has_waited = false;
    poll_fn(|context| {
        if mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(member: &mut Member<'_>) -> Poll<Option<Outcome>> {
        member.poll(&Context::from_waker(Waker::noop()))
    }

    fn leads(member: &mut Member<'_>) -> bool {
        matches!(next(member), Poll::Ready(None))
    }

    fn written(seqs: std::ops::RangeInclusive<u64>) -> Written {
        let appended = seqs.map(|seq| Appended {
            first_seq: seq,
            last_seq: seq,
            ..Appended::default()
        });
        Written {
            appended: appended.collect(),
            saved: Ok(()),
        }
    }

    #[test]
    fn the_first_writes_for_all_and_hands_the_lead_to_the_next() {
        let group = Group::default();
        let mut members: Vec<_> = (0..3).map(|_| group.join(Request::default())).collect();
        let leading: Vec<_> = members.iter_mut().map(leads).collect();
        assert_eq!(leading, [true, false, false]);
        let batch = members[0].batch();
        assert_eq!(batch.requests().count(), 3);
        // Comes while the others are written: it is not among them, and not told with them.
        let mut late = group.join(Request::default());
        batch.tell(written(7..=9));
        for (member, seq) in members.iter_mut().zip(7..) {
            let told = next(member);
            assert!(
                matches!(&told, Poll::Ready(Some(Outcome::Written(a))) if a.first_seq == seq),
                "{told:?}"
            );
        }
        assert!(next(&mut late).is_pending());
        drop(members);
        assert!(leads(&mut late));
        drop(late);
        assert!(leads(&mut group.join(Request::default())));
    }

    #[test]
    fn who_gives_up_is_not_written_and_keeps_nobody_waiting() {
        let group = Group::default();
        let mut leader = group.join(Request::default());
        let mut second = group.join(Request::default());
        let mut third = group.join(Request::default());
        assert!(leads(&mut leader) && next(&mut second).is_pending());
        drop(leader);
        // The lead has come to the second, which gives up before it hears of it.
        drop(second);
        assert!(leads(&mut third));
        assert_eq!(third.batch().requests().count(), 1);
    }

    #[test]
    fn what_is_not_told_of_has_failed() {
        let group = Group::default();
        let mut leader = group.join(Request::default());
        let mut other = group.join(Request::default());
        assert!(leads(&mut leader));
        drop(leader.batch());
        for member in [&mut leader, &mut other] {
            assert!(matches!(
                next(member),
                Poll::Ready(Some(Outcome::Failed(_)))
            ));
        }
    }
}
