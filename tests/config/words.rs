//! What is written as one word: durations, sizes, names of oracles and of packs.

use std::time::Duration;

use ahp::config::{PACKS, Target, default_id, format_duration, parse_duration, parse_size};

#[test]
fn durations_have_a_unit_or_are_seconds() {
    let ok = [
        ("500ms", 500),
        ("30s", 30_000),
        ("2m", 120_000),
        ("1h", 3_600_000),
        ("1.5", 1_500),
        ("10 s", 10_000),
    ];
    for (text, milliseconds) in ok {
        let expected = Duration::from_millis(milliseconds);
        assert_eq!(parse_duration(text), Ok(expected), "{text}");
        let written = format_duration(expected);
        assert_eq!(parse_duration(&written), Ok(expected), "{written}");
    }
    for text in [
        "", "s", "-1s", "1d", "0", "0ms", "25h", "1e9", "1s2", "soon", "1..5s",
    ] {
        assert!(parse_duration(text).is_err(), "{text}");
    }
}

#[test]
fn sizes_have_a_binary_unit_or_are_bytes() {
    assert_eq!(parse_size("64MiB"), Ok(64 << 20));
    assert_eq!(parse_size("10"), Ok(10));
    for text in ["", "MiB", "1MB", "-1", "1.5MiB", "99999999999GiB"] {
        assert!(parse_size(text).is_err(), "{text}");
    }
}

#[test]
fn every_spelling_gives_one_id() {
    for (name, id) in [
        ("ChecklistValidator", "checklist-validator"),
        ("checklist_validator", "checklist-validator"),
        ("checklist-validator", "checklist-validator"),
        ("HTTPGate2Way", "http-gate2-way"),
        (".ahp/oracles/no_print.rhai", "no-print"),
        ("ChangeSizeLimiter", "file-change-limiter"),
        ("表格检查", "表格检查"),
    ] {
        assert_eq!(default_id(&Target::Oracle(name.to_owned())), id, "{name}");
    }
}

#[test]
fn every_pack_says_in_one_line_what_it_is() {
    for pack in PACKS {
        assert!(pack.summary().ends_with('.'), "{}", pack.name);
    }
}
