//! Lines of JSON-RPC on stdin: each is a request, or gets an error with a code.

#![no_main]

#[path = "../../src/bin/ahp/command/serve/line.rs"]
mod line;
#[path = "../../src/bin/ahp/command/serve/rpc.rs"]
mod rpc;
#[path = "../../src/bin/ahp/command/serve/told.rs"]
mod told;

use line::{Line, Lines};
use rpc::Request;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // What lies at the edge of what is read at once must come out alike.
    for at_once in [1, 7, 1 << 16] {
        let mut lines = Lines::new(std::io::BufReader::with_capacity(at_once, bytes));
        let mut wanted = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        while let Some(line) = lines.next().unwrap() {
            let Line::Whole(line) = line else {
                panic!("nothing here is too long");
            };
            assert_eq!(Some(line.as_slice()), wanted.next());
            match Request::read(&line) {
                Ok(request) => {
                    let id = request.id.unwrap_or_default();
                    let told = rpc::result(&id, &request.params);
                    assert_eq!((&told["id"], &told["result"]), (&id, &request.params));
                    assert!(!rpc::Error::unknown_method(&request.method, &[]).response(Some(&id))["error"].is_null());
                }
                Err(refused) => {
                    let (error, id) = *refused;
                    let told = error.response(id.as_ref());
                    assert!(told["error"]["code"].as_i64().is_some_and(|code| code < -32000));
                }
            }
        }
        assert_eq!(wanted.next(), None);
    }
});
