//! Shown: whether lines of a file of secrets that are printed tell a secret.

use std::path::Path;

use crate::search::read_short;
use crate::secret::{holds_secret, is_secret_variable};

/// The longest file that is looked into, in bytes; a longer one is taken to be shown.
const LONGEST: u64 = 64 << 10;

/// Whether one of the lines of a file that are shown holds a secret; one that cannot be looked into may.
pub(super) fn shows_secret(file: &Path, is_shown: &dyn Fn(&str) -> bool) -> bool {
    file.is_file()
        && read_short(file, LONGEST)
            .is_none_or(|text| text.lines().any(|line| is_shown(line) && is_secret(line)))
}

/// Returns the names of the settings in a file that are secrets.
pub(super) fn secret_names(file: &Path) -> Vec<String> {
    let text = read_short(file, LONGEST).unwrap_or_default();
    let secrets = text.lines().filter(|line| is_secret(line));
    let names = secrets.filter_map(|line| Some(line.split_once('=')?.0.trim()));
    names
        .map(|name| name.strip_prefix("export ").unwrap_or(name).to_owned())
        .collect()
}

/// Whether a line of such a file is more than a comment, a mark or a setting of a harmless name.
fn is_secret(line: &str) -> bool {
    let line = line.trim();
    let is_mark = line.is_empty() || line.starts_with('#') || line.starts_with("-----");
    let bare = line.strip_prefix("export ").unwrap_or(line);
    let setting = bare.split_once('=').filter(|(name, _)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_part)
    });
    match setting {
        _ if is_mark => holds_secret(line),
        Some((_, value)) if value.trim_matches(['"', '\'', ' ']).is_empty() => false,
        Some((name, _)) => is_secret_variable(name) || holds_secret(line),
        // Of a key, or of a file in another form, each line is a part.
        None => line.len() > 2,
    }
}
