//! Durations and sizes as a user writes them.

use std::time::Duration;

/// The longest duration that makes sense anywhere: a day.
const MAX_DURATION: Duration = Duration::from_hours(24);

/// Reads a duration: `500ms`, `30s`, `2m`, `1h`, or a number of seconds; more than 0, at most 24 hours.
///
/// # Errors
/// What is wrong, as a fragment that follows the place.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{text}` is not a duration")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a duration"))?;
    let duration = Duration::try_from_secs_f64(number * seconds_per_unit)
        .map_err(|_| format!("`{text}` is not a duration"))?;
    if duration.is_zero() {
        return Err(format!("`{text}` must be longer than 0"));
    }
    if duration > MAX_DURATION {
        return Err(format!("`{text}` is longer than a day"));
    }
    Ok(duration)
}

/// Writes a duration in the form in which it is read.
pub fn format_duration(duration: Duration) -> String {
    match duration.subsec_nanos() {
        0 => format!("{}s", duration.as_secs()),
        nanos if nanos % 1_000_000 == 0 => format!("{}ms", duration.as_millis()),
        _ => format!("{}s", duration.as_secs_f64()),
    }
}

/// Reads a size in bytes: `64MiB`, `512KiB`, `1GiB`, or a number of bytes.
///
/// # Errors
/// What is wrong, as a fragment that follows the place.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size");
    let (number, unit) = split(text);
    let bytes_per_unit: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number
        .checked_mul(bytes_per_unit)
        .ok_or_else(|| format!("`{text}` is too large"))
}

/// Splits a quantity into its number and its unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let unit = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    (number, unit.trim_start())
}
