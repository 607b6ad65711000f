//! What a host tells on stdin: the first byte chooses the host that is said to speak.

#![no_main]

use std::path::Path;

use ahp::host::{HOSTS, Input, decode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&first, bytes)) = data.split_first() else {
        return;
    };
    let decoded = decode(&Input {
        bytes,
        host: HOSTS.get(usize::from(first)).copied(),
        event: None,
        arguments: &[],
        work_dir: Path::new("/project"),
    });
    if let Ok(decoded) = decoded {
        let reply = decoded.host.no_opinion(&decoded.event);
        assert!(!decoded.host.obeys(&reply), "no opinion blocks");
    }
});
