//! The moments that a filter of the log begins and ends with.

use ahp::analysis::{parse_since, parse_until};
use chrono::{DateTime, Utc};

#[test]
fn moments_are_read_in_every_form() {
    let now: DateTime<Utc> = "2026-02-09T10:00:00Z".parse().unwrap();
    for (text, expected) in [
        ("2d", "2026-02-07T10:00:00Z"),
        ("90m", "2026-02-09T08:30:00Z"),
        ("1w", "2026-02-02T10:00:00Z"),
        ("2026-01-31", "2026-01-31T00:00:00Z"),
        ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"),
    ] {
        let expected = expected.parse::<DateTime<Utc>>().unwrap();
        assert_eq!(parse_since(text, now).unwrap(), expected);
        let is_day = text == "2026-01-31";
        assert_eq!(parse_until(text, now).unwrap() == expected, !is_day);
    }
    let until = parse_until("2026-01-31", now).unwrap();
    assert_eq!(until.to_rfc3339(), "2026-01-31T23:59:59.999999999+00:00");
    for text in ["", "d", "-2d", "2y", "yesterday", "99999999999w"] {
        assert!(parse_since(text, now).is_err(), "{text}");
    }
}
