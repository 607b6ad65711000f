//! A line of the signal log.

#![no_main]

use ahp::signal_log::Line;
use ahp::signal_log::MemoryHistory;
use ahp::signal_log::Record;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(line) = Line::parse(data) {
        line.trigger();
        line.issue();
        line.time();
    }
    if let Ok(record) = serde_json::from_slice::<Record>(data) {
        let again = serde_json::to_vec(&record).expect("a record can be written");
        assert!(serde_json::from_slice::<Record>(&again).is_ok());
        MemoryHistory::new([record]);
    }
});
