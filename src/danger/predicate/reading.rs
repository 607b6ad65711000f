//! What a program reads that is secret, or dumps of its surroundings.

use super::file::is_secret_dir;
use crate::danger::secret;
use crate::danger::words::words;
use crate::program;
use crate::program::Fact;
use crate::secret::is_secret_file;
use crate::secret::is_secret_variable;
use crate::shell::Invocation;

/// Whether an argument of a program that sends names a secret file: `@.env`, `file=@.env`, `.env`.
pub(super) fn holds_secret_path(text: &str) -> bool {
    !text.contains("://")
        && text
            .split(['@', '=', ',', '<', ';', ' '])
            .any(is_secret_file)
}

/// Whether an argument names a secret file, other than the key by which a client shows who it is.
pub(super) fn names_secret_argument(invocation: &Invocation) -> bool {
    let own = words!("own-key-options");
    let mut before = "";
    invocation.arguments.iter().any(|word| {
        let is_own = own.contains(&before)
            || (word.text.split_once('=')).is_some_and(|(option, _)| own.contains(&option));
        before = &word.text;
        !is_own && holds_secret_path(&word.text)
    })
}

pub(super) fn reads_secret_input(invocation: &Invocation) -> bool {
    invocation
        .redirects
        .iter()
        .any(|r| r.reads() && is_secret_file(&r.target.text))
}

pub(super) fn is_secret_reader(invocation: &Invocation) -> bool {
    if is_environment_dump(invocation) || reads_secret_input(invocation) {
        return true;
    }
    let program = invocation.program.as_str();
    if program::find(program).is(Fact::Shows) {
        return invocation.arguments.iter().any(|w| {
            is_secret_file(&w.text)
                || matches!(w.text.as_str(), "/etc/passwd" | "/etc/hosts" | "/etc/group")
                || w.text.strip_prefix("if=").is_some_and(is_secret_file)
                || matches!(program, "tar" | "zip" | "7z") && is_secret_dir(&w.text)
        });
    }
    let first = invocation.operands().next().map(|w| w.text.as_str());
    match program {
        "history" => true,
        "security" => first.is_some_and(|f| f.starts_with("find-") || f.starts_with("dump")),
        "pass" => matches!(first, Some("show")),
        "op" => matches!(first, Some("read" | "item")),
        "vault" => matches!(first, Some("read" | "kv")),
        "aws" => invocation
            .arguments
            .iter()
            .any(|w| w.text == "get-secret-value"),
        "echo" | "printf" => invocation
            .arguments
            .iter()
            .any(|w| w.dynamic && secret::variables(&w.text).any(is_secret_variable)),
        "crontab" => false,
        _ => false,
    }
}

/// Whether a client prints a token or secret for another program, which is fine for one that logs in with it.
pub(super) fn prints_token(invocation: &Invocation) -> bool {
    let words: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let has = |word: &str| words.contains(&word);
    match invocation.program.as_str() {
        "gcloud" => has("print-access-token") || has("print-identity-token") || has("access"),
        "aws" => has("get-login-password") || has("export-credentials") || has("get-parameter"),
        "az" => has("get-access-token") || has("secret"),
        "gh" | "glab" | "heroku" => words.starts_with(&["auth", "token"]) || has("auth:token"),
        "kubectl" | "oc" => has("secret") || has("secrets") || has("token"),
        "docker-credential-desktop" | "docker-credential-osxkeychain" => has("get"),
        "doppler" | "infisical" | "chamber" => has("secrets") || has("export"),
        "gpg" | "gpg2" => invocation.has_long("--export-secret-keys"),
        _ => false,
    }
}

pub(super) fn is_environment_dump(invocation: &Invocation) -> bool {
    let no_operands = invocation.operands().next().is_none();
    match invocation.program.as_str() {
        "env" | "printenv" => no_operands,
        "set" => invocation.arguments.is_empty(),
        "export" | "declare" | "typeset" => {
            no_operands
                && invocation
                    .arguments
                    .iter()
                    .all(|w| matches!(w.text.as_str(), "-p" | "-x" | "-xp" | "-px"))
                && !invocation.arguments.is_empty()
        }
        _ => false,
    }
}
