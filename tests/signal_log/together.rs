//! Appending from many tasks and threads of one process, whose records share writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ahp::signal_log::{Appended, LogError, Reader, SignalLog, verify};

use super::making::{accepted, at, blocked, log};

/// Every acknowledged number exactly once, without a gap, in a log whose chain holds.
fn assert_whole(log: &SignalLog, mut acknowledged: Vec<Appended>) {
    acknowledged.sort_by_key(|a| a.first_seq);
    let mut next = 1;
    for appended in &acknowledged {
        assert_eq!(appended.first_seq, next);
        next = appended.last_seq + 1;
    }
    let found = verify(log.path()).unwrap();
    assert_eq!(found.damage, None);
    assert_eq!(found.records, next - 1);
}

#[tokio::test]
async fn tasks_of_one_thread_are_all_written() {
    let dir = tempfile::tempdir().unwrap();
    let log = Arc::new(log(dir.path()));
    let tasks: Vec<_> = (0..300)
        .map(|n| {
            let log = log.clone();
            tokio::spawn(async move {
                let bodies = if n % 3 == 0 {
                    blocked(n, "a")
                } else {
                    vec![accepted()]
                };
                log.append_together(bodies, at(0), None).await.unwrap()
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for task in tasks {
        acknowledged.push(task.await.unwrap());
    }
    assert_whole(&log, acknowledged);
}

#[test]
fn threads_are_all_written() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let write = || {
        let append = || {
            let appending = log.append_together(vec![accepted()], at(0), None);
            ahp::engine::block_on(appending).unwrap()
        };
        (0..50).map(|_| append()).collect::<Vec<_>>()
    };
    let acknowledged = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        let written = threads.into_iter().flat_map(|t| t.join().unwrap());
        written.collect()
    });
    assert_whole(&log, acknowledged);
}

#[tokio::test]
async fn tasks_that_are_given_up_hold_up_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let log = Arc::new(log(dir.path()));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let log = log.clone();
            tokio::spawn(async move { log.append_together(vec![accepted()], at(0), None).await })
        })
        .collect();
    // All have asked, none is written yet.
    tokio::task::yield_now().await;
    for task in tasks.iter().step_by(2) {
        task.abort();
    }
    let mut written = Vec::new();
    for task in tasks {
        if let Ok(appended) = task.await {
            written.push(appended.unwrap());
        }
    }
    assert!(written.len() >= 50, "{}", written.len());
    assert!(verify(log.path()).unwrap().records >= written.len() as u64);
}

#[tokio::test]
async fn what_cannot_be_written_is_told_to_each_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("signals.jsonl"), "somebody's notes\n").unwrap();
    let log = Arc::new(log(dir.path()));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let log = log.clone();
            tokio::spawn(async move { log.append_together(vec![accepted()], at(0), None).await })
        })
        .collect();
    for task in tasks {
        let told = task.await.unwrap();
        assert!(matches!(told, Err(LogError::Foreign { .. })), "{told:?}");
    }
    let left = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(left, "somebody's notes\n");
}

#[tokio::test]
async fn a_log_that_another_process_holds_is_waited_for_until_the_deadline() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(vec![accepted()], at(0)).unwrap();
    let lock = std::fs::File::open(dir.path().join("signals.jsonl.lock")).unwrap();
    lock.lock().unwrap();
    let until = Instant::now() + Duration::from_millis(50);
    let told = log
        .append_together(vec![accepted()], at(1), Some(until))
        .await;
    assert!(matches!(told, Err(LogError::Busy { .. })), "{told:?}");
    assert!(until.elapsed() < Duration::from_secs(5));
    lock.unlock().unwrap();
    assert_eq!(Reader::open(log.path()).unwrap().records().count(), 1);
}
