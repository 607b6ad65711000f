//! Text as the shell and its small programs change it: escapes, base64, hex, `tr`.

/// Returns the program that runs a script, by the script's first line, and the words of that line: the program there, and the
/// rest as one word.
pub(crate) fn shebang(script: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    let line = script.lines().next()?.strip_prefix("#!")?.trim();
    let (path, rest) = match line.split_once(char::is_whitespace) {
        Some((path, rest)) => (path, Some(rest.trim())),
        None => (line, None),
    };
    let mut program = path.rsplit('/').next()?;
    if program == "env" {
        let mut words = rest?.split_ascii_whitespace();
        let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
        program = named?.rsplit('/').next()?;
    }
    Some((program, std::iter::once(path).chain(rest)))
}

/// Decodes the escapes of `$'…'`, `echo -e` and `printf`.
pub(crate) fn unescape(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut bytes: Vec<u8> = Vec::new();
    let mut i = 0;
    while let Some(&c) = chars.get(i) {
        i += 1;
        let Some(&next) = chars.get(i).filter(|_| c == '\\') else {
            flush(&mut bytes, &mut out);
            out.push(c);
            continue;
        };
        i += 1;
        let numeric = |from: usize, radix: u32, most: usize| {
            let digits: String = chars
                .get(from..)
                .unwrap_or_default()
                .iter()
                .take(most)
                .take_while(|d| d.is_digit(radix))
                .collect();
            let value = u32::from_str_radix(&digits, radix).ok();
            (value, digits.len())
        };
        let (value, used) = match next {
            'x' => numeric(i, 16, 2),
            'u' => numeric(i, 16, 4),
            'U' => numeric(i, 16, 8),
            '0'..='7' => {
                i -= 1;
                numeric(i, 8, if next == '0' { 4 } else { 3 })
            }
            _ => (None, 0),
        };
        if let Some(value) = value {
            i += used;
            if matches!(next, 'u' | 'U') {
                flush(&mut bytes, &mut out);
                out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
            } else {
                bytes.push(u8::try_from(value & 0xff).unwrap_or(0));
            }
            continue;
        }
        flush(&mut bytes, &mut out);
        match next {
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' | 'E' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' | '?' => out.push(next),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    flush(&mut bytes, &mut out);
    out
}

fn flush(bytes: &mut Vec<u8>, out: &mut String) {
    if !bytes.is_empty() {
        out.push_str(&String::from_utf8_lossy(bytes));
        bytes.clear();
    }
}

/// Decodes base64, standard or URL-safe, with or without padding; none where it is none.
pub(super) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let mut bits = 0_u32;
    let mut count = 0;
    for c in text.bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' | b' ' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or(0));
        }
    }
    String::from_utf8(bytes).ok()
}

/// Decodes hexadecimal digits, as `xxd -r -p` does; none where there are none.
pub(super) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .filter_map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes).ok()
}

/// Changes characters as `tr FROM TO` does.
pub(super) fn translate(text: &str, from: &str, to: &str) -> String {
    let from = character_set(from);
    let to = character_set(to);
    text.chars()
        .map(|c| match from.iter().position(|&f| f == c) {
            Some(at) => to.get(at).or(to.last()).copied().unwrap_or(c),
            None => c,
        })
        .collect()
}

/// Leaves characters out as `tr -d SET` does.
pub(super) fn without(text: &str, set: &str) -> String {
    let set = character_set(set);
    text.chars().filter(|c| !set.contains(c)).collect()
}

fn character_set(written: &str) -> Vec<char> {
    let written = match written {
        "[:upper:]" => "A-Z",
        "[:lower:]" => "a-z",
        "[:space:]" => " \\t\\n",
        other => other,
    };
    let chars: Vec<char> = unescape(written).chars().collect();
    let mut set = Vec::new();
    let mut i = 0;
    while let Some(&c) = chars.get(i) {
        if let (Some('-'), Some(&last)) = (chars.get(i + 1), chars.get(i + 2))
            && last >= c
            && u32::from(last) - u32::from(c) < 256
        {
            set.extend(c..=last);
            i += 3;
        } else {
            set.push(c);
            i += 1;
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::{base64, hex, translate, unescape};

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(unescape("\\x72m \\162\\155 \\u0072m"), "rm rm rm");
        assert_eq!(unescape("a\\nb\\q"), "a\nb\\q");
        assert_eq!(unescape("end\\"), "end\\");
    }

    #[test]
    fn encodings_are_decoded() {
        assert_eq!(base64("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
        assert_eq!(base64("!!"), None);
        assert_eq!(hex("726d202d7266202f").as_deref(), Some("rm -rf /"));
        assert_eq!(translate("ez -es /", "A-Za-z", "N-ZA-Mn-za-m"), "rm -rf /");
    }
}
