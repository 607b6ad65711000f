//! Secrets as rules ask for them: variables that a text still names.

/// Returns the names of the variables that a text still holds as `$NAME` or `${NAME}`.
pub(super) fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches('{');
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}
