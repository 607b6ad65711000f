//! Faults: in programs that judge, and in oracles. Whatever they do, the verdict is right, in time, and nothing stays.

mod oracles;
mod programs;

use std::fs;
use std::path::Path;

#[test]
fn the_threat_model_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut count = 0;
    for named in page.split('`').filter(|text| text.starts_with("tests/")) {
        let Some((file, test)) = named.split_once("::") else {
            assert!(root.join(named).exists(), "{named}");
            continue;
        };
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        assert!(text.contains(&format!("fn {test}(")), "there is no {named}");
        count += 1;
    }
    assert!(count > 25, "{count}");
}
