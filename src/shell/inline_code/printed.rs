//! Printed text: what code prints that does nothing but print a literal.

use super::Language;
use super::expression::literal;

/// The calls that print.
pub(super) const PRINTING: &[(Language, &[&str])] = &[
    (Language::Python, &["print("]),
    (
        Language::JavaScript,
        &["console.log(", "process.stdout.write("],
    ),
    (Language::Perl, &["print(", "print", "say "]),
    (
        Language::Ruby,
        &["puts ", "puts(", "print ", "$stdout.print "],
    ),
    (Language::Php, &["echo", "print "]),
    (Language::Lua, &["print(", "io.write("]),
    (Language::Awk, &["print"]),
];

/// Returns what a piece of code prints; none where it does anything else.
pub(in crate::shell) fn printed(language: Language, code: &str) -> Option<String> {
    let (_, calls) = PRINTING.iter().find(|(known, _)| *known == language)?;
    let mut code = code.trim();
    if language == Language::Awk {
        code = code.strip_prefix("BEGIN")?.trim_start();
        code = code.strip_prefix('{')?.trim_start();
    }
    let rest = calls.iter().find_map(|call| code.strip_prefix(call))?;
    let (text, after) = literal(rest.trim_start())?;
    after
        .chars()
        .all(|c| matches!(c, ')' | ';' | '}' | ' ' | '\n'))
        .then(|| text + "\n")
}
