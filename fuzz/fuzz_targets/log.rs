//! A line of the signal log.

#![no_main]

use ahp::signal_log::{Line, MemoryHistory, Record};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let borrowed = Line::read(data).map(|line| (line.seq, line.timestamp));
    let owned: Result<Record, _> = Record::read(data);
    // The event is read by one of them alone.
    if let Ok(record) = owned {
        assert_eq!(borrowed.ok(), Some((record.seq, record.timestamp)));
        assert!(serde_json::to_vec(&record).is_ok());
        MemoryHistory::new([record]);
    }
});
