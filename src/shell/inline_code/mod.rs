//! Inline code: what `python -c`, `node -e`, `perl -e` and their like obviously do.
//!
//! No interpreter of these languages: known calls are found with their literal arguments, and each is
//! said as the command that does the same (`shutil.rmtree("x")` is `rm -rf x`), so that one set of rules judges both.

mod calls;
mod expression;

use self::calls::Meaning;
use self::calls::calls;
use self::expression::list;
use self::expression::literal;
use self::expression::receiver;
use self::expression::split_arguments;
use self::expression::value;
use super::Word;
use super::text;

/// How often code may hold code (`exec("exec(…)")`).
const MAX_NESTING: usize = 4;
/// The longest code that is looked at, in bytes.
const MAX_LENGTH: usize = 64 * 1024;
/// Calls that return what a server sends.
const FETCHES: &[&str] = &[
    "urlopen(",
    "requests.get(",
    "httpx.get(",
    "URI.open(",
    "Net::HTTP.get",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "fetch(",
];

/// A language whose interpreter takes code on its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Lua,
    Awk,
    AppleScript,
    PowerShell,
    Expect,
}

/// What a call in inline code does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// It gives a text to a shell.
    Shell(String),
    /// It starts a program.
    Program(Vec<Word>),
    /// It does what this program does with these arguments.
    Does(&'static str, Vec<Word>),
}

/// Returns the language of an interpreter.
pub(super) fn language(program: &str) -> Option<Language> {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    Some(match name {
        "python" | "pypy" | "ipython" => Language::Python,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Language::JavaScript,
        "perl" => Language::Perl,
        "ruby" | "irb" => Language::Ruby,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
        "osascript" => Language::AppleScript,
        "pwsh" | "powershell" | "cmd" => Language::PowerShell,
        "expect" => Language::Expect,
        _ => return None,
    })
}

impl Language {
    /// Returns the options whose value is code.
    pub(super) const fn code_options(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Expect => &["-c"],
            Self::JavaScript => &["-e", "-p", "--eval", "--print", "eval"],
            Self::Perl => &["-e", "-E"],
            Self::Ruby | Self::Lua | Self::AppleScript => &["-e"],
            Self::Php => &["-r", "-R", "-B", "-E"],
            Self::Awk => &[],
            Self::PowerShell => &["-c", "-C", "-Command", "-command", "/c", "/C"],
        }
    }

    /// Whether its first operand is code.
    pub(super) const fn takes_code_operand(self) -> bool {
        matches!(self, Self::Awk)
    }
}

/// Returns what a piece of code obviously does.
pub(super) fn actions(language: Language, code: &str) -> Vec<Action> {
    let mut actions = Vec::new();
    if code.len() <= MAX_LENGTH {
        collect(language, code, 0, &mut actions);
    }
    actions
}

fn collect(language: Language, code: &str, nesting: usize, actions: &mut Vec<Action>) {
    match language {
        Language::PowerShell => {
            actions.push(Action::Shell(code.to_owned()));
            return;
        }
        Language::AppleScript => {
            for part in code.split("do shell script").skip(1) {
                if let Some((text, _)) = literal(part.trim_start()) {
                    actions.push(Action::Shell(text));
                }
            }
            return;
        }
        Language::Perl | Language::Ruby | Language::Php => {
            actions.extend(
                code.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|text| Action::Shell(text.to_owned())),
            );
        }
        Language::Awk => {
            // `"command" | getline` and `print | "command"` start a shell.
            for part in code.split('|').skip(1) {
                if let Some((text, _)) = literal(part.trim_start()) {
                    actions.push(Action::Shell(text));
                }
            }
            for part in code.split("getline").take(code.matches("getline").count()) {
                if let Some((before, _)) = part.trim_end().rsplit_once('|')
                    && let Some(text) = before.trim_end().strip_suffix('"')
                    && let Some((_, text)) = text.rsplit_once('"')
                {
                    actions.push(Action::Shell(text.to_owned()));
                }
            }
        }
        _ => {}
    }
    if is_reverse_shell(code) {
        actions.push(Action::Does("reverse-shell", Vec::new()));
    }
    for (name, meaning) in calls(language) {
        for (at, _) in code.match_indices(name) {
            let before = code.get(..at).unwrap_or_default();
            let after = code.get(at + name.len()..).unwrap_or_default();
            // A longer name is another call.
            let starts_inside = !name.starts_with('.')
                && before
                    .chars()
                    .next_back()
                    .is_some_and(|c| c.is_alphanumeric() || c == '_');
            let goes_on = after
                .chars()
                .next()
                .is_some_and(|c| c.is_alphanumeric() || c == '_');
            if starts_inside || goes_on {
                continue;
            }
            let arguments = match after.trim_start().strip_prefix('(') {
                Some(inner) => split_arguments(inner),
                None if matches!(language, Language::Perl | Language::Ruby | Language::Expect)
                    && !name.starts_with('.') =>
                {
                    let statement = after.trim_start();
                    let end = statement.find([';', '\n', '}']).unwrap_or(statement.len());
                    let bare = statement.get(..end).unwrap_or_default();
                    if *name == "qx" || *name == "%x" {
                        let inner = bare.get(1..).unwrap_or_default();
                        vec![format!(
                            "{:?}",
                            inner.trim_end_matches(['}', ')', '/', ']', '|'])
                        )]
                    } else if language == Language::Expect {
                        vec![format!("{bare:?}")]
                    } else {
                        split_arguments(bare)
                    }
                }
                None => continue,
            };
            act(
                language, code, before, &arguments, *meaning, nesting, actions,
            );
        }
    }
}

fn act(
    language: Language,
    code: &str,
    before: &str,
    arguments: &[String],
    meaning: Meaning,
    nesting: usize,
    actions: &mut Vec<Action>,
) {
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    let paths = || -> Vec<Word> {
        arguments
            .iter()
            .filter(|a| !is_keyword_argument(a))
            .filter(|a| !a.trim_start().starts_with(['{', '(']) && !a.contains("=>"))
            .map(|a| value(a, code))
            .collect()
    };
    match meaning {
        Meaning::Shell => {
            let texts = list(first, code);
            if texts.len() > 1 {
                actions.push(Action::Program(texts));
            } else if arguments.len() > 1
                && matches!(language, Language::Perl | Language::Ruby)
                && !is_keyword_argument(arguments.get(1).map_or("", String::as_str))
            {
                actions.push(Action::Program(paths()));
            } else {
                actions.push(Action::Shell(value(first, code).text));
            }
        }
        Meaning::Program => {
            let in_shell = arguments.iter().any(|a| {
                let a = a.replace(' ', "");
                a == "shell=True" || a.contains("shell:true")
            });
            let mut words = list(first, code);
            if words.len() < 2 {
                let second = arguments.get(1).map_or("", String::as_str);
                let more = list(second, code);
                if second.trim_start().starts_with('[') {
                    words.extend(more);
                }
            }
            match words.as_slice() {
                [] => {}
                [one] if in_shell || one.text.contains(' ') => {
                    actions.push(Action::Shell(one.text.clone()));
                }
                many if in_shell => {
                    let texts: Vec<_> = many.iter().map(|w| w.text.as_str()).collect();
                    actions.push(Action::Shell(texts.join(" ")));
                }
                _ => actions.push(Action::Program(words)),
            }
        }
        Meaning::Paths(program, options) => {
            let mut words: Vec<Word> = options.iter().map(|o| Word::plain(*o)).collect();
            let mut given = paths();
            if matches!(program, "tee" | "cat" | "rm") && options != ["-f"] {
                given.truncate(1);
            }
            if matches!(program, "chmod" | "chown") && options == ["0"] {
                given.truncate(1);
            }
            if !given.is_empty() {
                words.extend(given);
                actions.push(Action::Does(program, words));
            }
        }
        Meaning::Receiver(program, options) => {
            let Some(path) = receiver(before, code) else {
                return;
            };
            let mut words: Vec<Word> = options.iter().map(|o| Word::plain(*o)).collect();
            words.push(path);
            if program == "mv" {
                words.extend(paths());
            }
            actions.push(Action::Does(program, words));
        }
        Meaning::Open => {
            let mode = arguments.get(1).map_or("", |m| m.as_str());
            let path_at_end = language == Language::Perl && arguments.len() > 2;
            let path = if path_at_end {
                arguments.get(2).map_or("", String::as_str)
            } else {
                first
            };
            let writes = mode.contains(['w', 'a', 'x', '+', '>'])
                && mode.len() < 24
                && (mode.contains(['\'', '"']));
            let path = value(path, code);
            if !path.text.is_empty() {
                actions.push(Action::Does(if writes { "tee" } else { "cat" }, vec![path]));
            }
        }
        Meaning::Sql => {
            let statement = value(first, code);
            if !statement.dynamic {
                actions.push(Action::Does("sql", vec![statement]));
            }
        }
        Meaning::Code => {
            let inner = value(first, code).text;
            if FETCHES
                .iter()
                .any(|call| first.contains(call) || inner.contains(call))
            {
                actions.push(Action::Does("download-and-run", Vec::new()));
            }
            if nesting < MAX_NESTING && !inner.is_empty() && inner != code {
                collect(language, &inner, nesting + 1, actions);
                if let Some(decoded) = text::base64(&inner).filter(|d| d.len() > 8) {
                    collect(language, &decoded, nesting + 1, actions);
                    actions.push(Action::Does("decode-and-run", Vec::new()));
                }
            }
        }
        Meaning::Send => {
            let mut words = vec![Word::plain("-d"), Word::plain("data")];
            let posts = arguments.len() > 1;
            if !posts {
                words.clear();
            }
            words.push(value(first, code));
            actions.push(Action::Does("curl", words));
        }
    }
}

/// Whether an argument is `name=value` or `name: value`, not a value of its own.
fn is_keyword_argument(argument: &str) -> bool {
    let end = argument
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(argument.len());
    let rest = argument.get(end..).unwrap_or_default().trim_start();
    end > 0
        && ((rest.starts_with('=') && !rest.starts_with("=="))
            || (rest.starts_with(':') && !rest.starts_with("::")))
}

/// Whether code connects a socket to a shell.
fn is_reverse_shell(code: &str) -> bool {
    let connects = [
        "socket.socket",
        "TCPSocket",
        "fsockopen",
        "net.Socket",
        "net.connect",
        "createConnection",
        "IO::Socket",
        "use Socket",
        "socket.tcp",
    ]
    .iter()
    .any(|s| code.contains(s));
    let runs = [
        "dup2",
        "pty.spawn",
        "subprocess",
        "/bin/sh",
        "/bin/bash",
        "exec(",
        "spawn(",
        "\"sh\"",
        "'sh'",
    ]
    .iter()
    .any(|s| code.contains(s));
    connects && runs
}
