//! Rights: modes, mounts and variables that give away more than they should.

pub(super) fn is_preload(name: &str) -> bool {
    matches!(
        name,
        "LD_PRELOAD"
            | "LD_AUDIT"
            | "DYLD_INSERT_LIBRARIES"
            | "BASH_ENV"
            | "PROMPT_COMMAND"
            | "DYLD_LIBRARY_PATH"
            | "GIT_SSL_NO_VERIFY"
            | "NODE_TLS_REJECT_UNAUTHORIZED"
            | "PERL5OPT"
            | "RUBYOPT"
    )
}

pub(super) fn is_host_mount(text: &str) -> bool {
    let value = text
        .trim_start_matches("-v")
        .trim_start_matches("--volume=");
    value.starts_with("/:/")
        || value.starts_with("/etc:")
        || value.starts_with("/root:")
        || value.starts_with("/var/run/docker.sock")
        || value.starts_with("/home:")
        || value.contains("src=/,")
        || value.contains("source=/,")
        || value.starts_with("/proc:")
        || value.starts_with("/sys:")
        || value.starts_with("/run/docker.sock")
}

pub(super) fn is_set_uid(mode: &str) -> bool {
    let is_number = mode.len() == 4 && mode.bytes().all(|b| b.is_ascii_digit());
    mode.contains("+s") || is_number && mode.starts_with(['2', '4', '6'])
}

pub(super) fn is_world_writable(mode: &str) -> bool {
    if mode.bytes().all(|b| b.is_ascii_digit()) {
        return mode.len() >= 3
            && matches!(mode.as_bytes().last(), Some(b'7' | b'6' | b'2' | b'3'));
    }
    (mode.starts_with("a+")
        || mode.starts_with("o+")
        || mode.starts_with("ugo+")
        || mode.starts_with('+')
        || mode.starts_with("a=")
        || mode.starts_with("go+")
        || mode.starts_with("ugo=")
        || mode.starts_with("o="))
        && mode.contains('w')
}
