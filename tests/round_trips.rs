//! What is written is read again as it was: events in AHP's own JSON, verdicts, records of the log.

use std::path::Path;

use ahp::event::{Event, Stop, ToolCall, Trigger};
use ahp::host;
use ahp::host::{Host, Input};
use ahp::signal::{Modification, Signal};
use ahp::signal_log::Reader;
use ahp::verdict::Verdict;
use proptest::prelude::*;
use serde_json::Value;

use crate::signal_log::making;

fn trigger() -> impl Strategy<Value = Trigger> {
    proptest::sample::select(Trigger::ALL.to_vec())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(".{0,8}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(".{0,30}")
}

fn tool() -> impl Strategy<Value = ToolCall> {
    (".{1,12}", json(), text(), proptest::option::of(json())).prop_map(
        |(name, input, use_id, output)| {
            let mut call = ToolCall::new(name, input);
            call.use_id = use_id;
            call.output = output.filter(|value| !value.is_null());
            call
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let texts = (text(), text(), text(), text());
    let stop = proptest::option::of((text(), any::<bool>()));
    let tool = proptest::option::of(tool());
    (trigger(), texts, tool, stop).prop_map(
        |(trigger, (session, issue, prompt, dir), tool, stop)| {
            let mut event = Event::new(trigger);
            event.session_id = session;
            event.issue_id = issue;
            event.prompt = prompt;
            event.work_dir = dir.map(Into::into);
            event.tool = tool;
            event.stop = stop.map(|(reason, active)| Stop {
                reason,
                active,
                ..Stop::default()
            });
            event
        },
    )
}

fn signal() -> impl Strategy<Value = Signal> {
    // Letters in many scripts; what looks like a secret would rightly not be read again.
    let words = r"[\p{L} \n\t\\{}']{0,60}";
    (0..4_u8, words, words, json(), json()).prop_map(|(intensity, text, step, old, new)| {
        match intensity {
            0 => Signal::block("finding", text).steps([step]),
            1 => Signal::control(
                "finding",
                vec![Modification {
                    target: "batch_size".to_owned(),
                    original: old,
                    updated: new,
                    reason: text,
                }],
            ),
            2 => Signal::prompt("finding", text),
            _ => Signal::aid("finding", text),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn an_event_in_ahps_own_json_is_read_as_it_was_written(event in event()) {
        let bytes = serde_json::to_vec(&event).unwrap();
        let decoded = host::decode(&Input {
            bytes: &bytes,
            host: Host::find("native"),
            event: None,
            arguments: &[],
            work_dir: Path::new("/elsewhere"),
        })
        .unwrap();
        prop_assert_eq!(decoded.events.len(), 1);
        prop_assert_eq!(
            serde_json::to_value(&decoded.events[0]).unwrap(),
            serde_json::to_value(&event).unwrap()
        );
    }

    #[test]
    fn a_verdict_is_read_as_it_was_written(
        trigger in trigger(),
        signals in proptest::collection::vec(signal(), 0..4),
    ) {
        let verdict = Verdict::of(trigger, signals);
        let written = serde_json::to_string(&verdict).unwrap();
        let read: Verdict = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&read.signals, &verdict.signals);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), written);
    }

    #[test]
    fn a_record_is_read_as_it_was_appended(signals in proptest::collection::vec(signal(), 1..4)) {
        let dir = tempfile::tempdir().unwrap();
        let log = making::log(dir.path());
        let mut bodies = vec![making::accepted()];
        for (id, signal) in (1..).zip(signals) {
            bodies.push(making::signal(id, signal, "what was found"));
        }
        let written: Vec<_> = bodies
            .iter()
            .map(|body| serde_json::to_value(body).unwrap())
            .collect();
        log.append(bodies, making::at(0)).unwrap();
        let reader = Reader::open(log.path()).unwrap();
        let read: Vec<_> = reader
            .records()
            .map(|record| serde_json::to_value(record.unwrap().body).unwrap())
            .collect();
        prop_assert_eq!(read, written);
    }
}
