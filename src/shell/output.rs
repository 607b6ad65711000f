//! The output of small programs, where it can be told without running them.

use super::{Invocation, Surroundings, Word, text};

/// What stands for the name that `mktemp` gives.
pub(crate) const MADE_DIRECTORY: &str = "/tmp/tmp.mktemp";

/// Returns what a program would print; none where that is known only when it runs.
pub(super) fn of(invocation: &Invocation, surroundings: &Surroundings) -> Option<String> {
    let arguments = &invocation.arguments;
    let stdin = invocation.stdin.text();
    if arguments.iter().any(|w| w.dynamic || w.glob)
        && !matches!(invocation.program.as_str(), "echo" | "printf")
    {
        return None;
    }
    let first = arguments.first().map(|w| w.text.as_str());
    match invocation.program.as_str() {
        "true" | ":" | "cd" | "export" | "set" | "sleep" | "mkdir" | "touch" | "chmod"
        | "unset" => Some(String::new()),
        "echo" => echo(arguments),
        "printf" => printf(arguments),
        "cat" | "tee"
            if !arguments.iter().any(|w| !w.is_option() && w.text != "-")
                || invocation.program == "tee" =>
        {
            stdin.map(str::to_owned)
        }
        "base64" | "openssl" | "gbase64" => {
            let decodes = arguments
                .iter()
                .any(|w| matches!(w.text.as_str(), "-d" | "-D" | "--decode" | "-di" | "-id"));
            let is_base64 = invocation.program != "openssl"
                || arguments
                    .iter()
                    .any(|w| matches!(w.text.as_str(), "base64" | "-base64" | "-a"));
            (decodes && is_base64)
                .then(|| text::base64(stdin?))
                .flatten()
        }
        "xxd" if invocation.has_short('r') && invocation.has_short('p') => text::hex(stdin?),
        "rev" => Some(
            stdin?
                .lines()
                .map(|line| line.chars().rev().collect::<String>() + "\n")
                .collect(),
        ),
        "tr" => match arguments.as_slice() {
            [delete, set] if delete.text == "-d" => Some(text::without(stdin?, &set.text)),
            [from, to] => Some(text::translate(stdin?, &from.text, &to.text)),
            _ => None,
        },
        "sed" | "gsed" => match arguments.as_slice() {
            [script] => substituted(stdin?, &script.text),
            _ => None,
        },
        "pwd" => Some(invocation.work_dir.as_ref()?.to_string_lossy().into_owned()),
        "which" | "type" | "where" => Some(found(&arguments.last()?.text)),
        "command" if matches!(first, Some("-v" | "-V")) => Some(found(&arguments.last()?.text)),
        "basename" => Some(first?.trim_end_matches('/').rsplit('/').next()?.to_owned()),
        "dirname" => Some(match first?.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((dir, _)) => dir.to_owned(),
            None => ".".to_owned(),
        }),
        "realpath" | "readlink" => arguments
            .last()
            .filter(|w| !w.is_option())
            .map(|w| w.text.clone()),
        // The name is new each time, but always below the directory for temporary files.
        "mktemp" => Some(MADE_DIRECTORY.to_owned()),
        "git"
            if arguments
                .iter()
                .map(|w| w.text.as_str())
                .eq(["rev-parse", "--show-toplevel"]) =>
        {
            Some(surroundings.project_root.to_string_lossy().into_owned())
        }
        _ => None,
    }
}

/// Returns what `sed` makes of a text with one plain substitution.
fn substituted(text: &str, script: &str) -> Option<String> {
    let mut parts = script.strip_prefix("s/")?.split('/');
    let (from, to) = (parts.next()?, parts.next()?);
    let is_known = !to.contains(['\\', '&']) && parts.next().is_some_and(str::is_empty);
    if from == "^" && is_known {
        let lines = text.lines().flat_map(|line| [to, line, "\n"]);
        return Some(lines.collect());
    }
    let is_plain = |part: &str| !part.contains(['*', '[', '\\', '^', '$', '&', '.']);
    (is_plain(from) && !to.contains(['\\', '&']) && !from.is_empty())
        .then(|| text.replace(from, to))
}

/// Returns where a program lies: which of the folders it is makes no difference here.
fn found(program: &str) -> String {
    if program.contains('/') {
        program.to_owned()
    } else {
        format!("/usr/bin/{program}")
    }
}

fn echo(arguments: &[Word]) -> Option<String> {
    let mut newline = true;
    let mut escapes = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        let Some(letters) = word.text.strip_prefix('-').filter(|l| !l.is_empty()) else {
            break;
        };
        if !letters.chars().all(|c| matches!(c, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !letters.contains('n');
        escapes |= letters.contains('e');
        rest = after;
    }
    // A text with an unknown part is still worth knowing, as long as no program makes that part.
    if rest.iter().any(|w| !w.made_by.is_empty()) {
        return None;
    }
    let mut text = rest
        .iter()
        .map(|w| w.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    if escapes {
        text = text::unescape(&text);
    }
    if newline {
        text.push('\n');
    }
    Some(text)
}

fn printf(arguments: &[Word]) -> Option<String> {
    let mut words = arguments.iter();
    let mut format = words.next()?;
    if format.text == "--" {
        format = words.next()?;
    }
    if format.text == "-v" || arguments.iter().any(|w| !w.made_by.is_empty()) {
        return None;
    }
    let values: Vec<&Word> = words.collect();
    let mut out = String::new();
    let mut next = 0;
    loop {
        let before = next;
        let mut chars = format.text.chars();
        let mut literal = String::new();
        while let Some(c) = chars.next() {
            if c != '%' {
                literal.push(c);
                continue;
            }
            out.push_str(&text::unescape(&std::mem::take(&mut literal)));
            let mut conversion = chars.next();
            while conversion
                .is_some_and(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '0' | ' '))
            {
                conversion = chars.next();
            }
            match conversion {
                Some('%') => out.push('%'),
                Some(kind) => {
                    if let Some(value) = values.get(next) {
                        if kind == 'b' {
                            out.push_str(&text::unescape(&value.text));
                        } else {
                            out.push_str(&value.text);
                        }
                    }
                    next += 1;
                }
                None => {}
            }
        }
        out.push_str(&text::unescape(&literal));
        if next >= values.len() || next == before {
            return Some(out);
        }
    }
}
