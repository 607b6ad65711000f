//! What a daemon keeps from one event to the next: what it has read of a connection, and what it knows of the first event.

use std::fs;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::socket::{Daemon, POLICY, frame, judged, payload, read, socket};
use crate::world::World;

/// A request for the judgement of a command.
fn request(world: &World, command: &str) -> Vec<u8> {
    request_with(world, payload(world, command).as_bytes())
}

fn request_with(world: &World, body: &[u8]) -> Vec<u8> {
    let head = json!({"v": 1, "build": "", "op": "hook", "host": "claude-code", "cwd": world.root(),
        "env": {"HOME": world.home()}});
    frame(head.to_string().as_bytes(), body)
}

fn is_stopped(stream: &mut UnixStream) -> bool {
    assert_eq!(read(stream).unwrap().0["state"], "accepted");
    let (_, answer) = read(stream).unwrap();
    String::from_utf8(answer).unwrap().contains("\"deny\"")
}

#[test]
fn requests_that_come_together_or_in_parts_are_each_answered_in_turn() {
    let world = World::new(POLICY);
    let _daemon = Daemon::start(&world, &[]);
    let commands = ["git push --force", "git status"];
    // One is longer than what is taken in at once.
    let mut long: Value = serde_json::from_str(&payload(&world, commands[1])).unwrap();
    long["unknown"] = "x".repeat(40 << 10).into();
    let all: Vec<u8> = (0..20)
        .flat_map(|n| request(&world, commands[n % 2]))
        .chain(request_with(&world, long.to_string().as_bytes()))
        .chain(request(&world, commands[0]))
        .collect();
    for size in [all.len(), 1_000, 17] {
        let mut stream = UnixStream::connect(socket(&world)).unwrap();
        let mut asking = stream.try_clone().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for part in all.chunks(size) {
                    asking.write_all(part).unwrap();
                }
            });
            for n in 0..20 {
                assert_eq!(is_stopped(&mut stream), n % 2 == 0, "{size} {n}");
            }
            assert!(!is_stopped(&mut stream), "{size}");
            assert!(is_stopped(&mut stream), "{size}");
        });
    }
    assert_eq!(judged(&world), 66);
}

#[test]
fn what_was_asked_before_a_request_that_cannot_be_read_is_answered() {
    let world = World::new(POLICY);
    let _daemon = Daemon::start(&world, &[]);
    let mut stream = UnixStream::connect(socket(&world)).unwrap();
    let mut asked = request(&world, "git push --force");
    asked.extend(frame(b"no JSON", b""));
    stream.write_all(&asked).unwrap();
    assert!(is_stopped(&mut stream));
    assert!(read(&mut stream).is_none());
}

#[test]
fn what_the_first_event_found_is_kept_again_where_it_is_gone_or_damaged() {
    let world = World::new(POLICY);
    let _daemon = Daemon::start(&world, &[]);
    let mut stream = UnixStream::connect(socket(&world)).unwrap();
    let mut stopped = || {
        let command = request(&world, "git push --force");
        stream.write_all(&command).unwrap();
        is_stopped(&mut stream)
    };
    assert!(stopped());
    let kept: Vec<PathBuf> = fs::read_dir(world.home().join(".local/state/ahp/approved"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [kept] = kept.as_slice() else {
        panic!("{kept:?}");
    };
    let first = fs::read(kept).unwrap();
    assert!(stopped());
    fs::remove_file(kept).unwrap();
    assert!(stopped());
    assert_eq!(fs::read(kept).unwrap(), first);
    fs::write(kept, "damaged").unwrap();
    assert!(stopped());
    assert_eq!(fs::read(kept).unwrap(), first);
}
