//! Reach: the files of secrets that a command comes upon when it goes through folders, as the disk tells.

mod folder;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::folder::{Kept, matched, secrets_below};
use self::shown::{secret_names, shows_secret};
use super::known::{has_project, path};
use super::network::is_downloader;
use super::reading::is_masked;
use crate::danger::digest::Digest;
use crate::program::{self, Fact};
use crate::search::{
    Deed, Expression, Options, come_through, goes_into_hidden, is_grep, lists, meets, printed,
    read, sent_to,
};
use crate::secret::is_secret_file;
use crate::shell::{Invocation, Stdin, Word, lexical, roots};
use crate::words::words;

/// Options of a search that shows no lines, but names or numbers.
const SHOWS_NO_LINES: &[&str] = words!("lineless-options");

/// Whether a search prints a line of a file of secrets that it comes upon: `grep -r KEY .`, `rg --hidden --no-ignore KEY`,
/// `find . -exec grep KEY {} +`.
pub(super) fn is_searched(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let search = digest.invocation;
    let is_search =
        search.program != "git" || search.subcommand().is_some_and(|w| w.text == "grep");
    if !is_search || !may_show(digest) || Options::of(search).has(SHOWS_NO_LINES) {
        return false;
    }
    let is_shown = |line: &str| meets(search, line) != Some(false);
    let goes_through = |kept: Kept| {
        let named = sent_to(search);
        let named = if named.is_empty() { vec!["."] } else { named };
        named.into_iter().any(|root| {
            let dirs = places(digest, &Word::plain(root)).into_iter();
            let mut found = dirs.flat_map(|dir| {
                let below = secrets_below(&dir, kept).into_iter();
                below.map(move |way| (dir.join(&way), way))
            });
            found.any(|(file, way)| {
                let is_named = way.as_os_str().is_empty() || search.program == "git";
                (is_named || lists(search, root, &way, &file))
                    && tells(digest, &file, &is_shown)
                    && !(kept.ignored && is_everybodys(digest, &file))
            })
        })
    };
    kept_from(search).is_some_and(goes_through) || is_given(digest, words, &is_shown)
}

/// Whether a commit holds a file as it is: who has the repository has seen it.
fn is_everybodys(digest: &Digest<'_>, file: &Path) -> bool {
    digest.knowledge.uncommitted(file, true) == Some(0)
}

/// Whether a program shows a file of secrets among those that a pattern or a search names: `cat .*`, `find . -exec cat {} +`.
pub(super) fn is_read(digest: &Digest<'_>, words: &[&Word]) -> bool {
    may_show(digest) && is_given(digest, words, &|_| true)
}

/// Whether one of the files that patterns and searches name holds secrets on a line that is shown.
fn is_given(digest: &Digest<'_>, words: &[&Word], is_shown: &dyn Fn(&str) -> bool) -> bool {
    words.iter().any(|word| {
        let files = match digest.makers_of(word) {
            [] if word.text.contains(['*', '?', '[']) => places(digest, word),
            makers => found(digest, makers),
        };
        let mut secrets = files
            .iter()
            .filter(|file| is_secret_file(&file.to_string_lossy()));
        secrets.any(|file| tells(digest, file, is_shown))
    })
}

/// Whether an archive that is shown or sent holds a file of secrets: `tar c . | base64`.
pub(super) fn is_packed(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let out = digest.invocation.value_of(&["-C", "--directory"]);
    let leaves_out = |way: &Path| {
        let excluded = digest.invocation.arguments.iter();
        let mut excluded = excluded.filter_map(|word| word.text.strip_prefix("--exclude="));
        excluded.any(|glob| {
            way.iter().any(|part| {
                crate::glob::glob(glob.trim_start_matches("./"), &part.to_string_lossy())
            })
        })
    };
    prints_archive(digest.invocation)
        && may_show(digest)
        && words.iter().any(|word| {
            let base = out.as_ref().filter(|out| out.text != word.text);
            let word = base.map_or_else(
                || (*word).clone(),
                |base| Word::plain(format!("{}/{}", base.text, word.text)),
            );
            places(digest, &word).into_iter().any(|dir| {
                let below = secrets_below(&dir, Kept::default());
                below
                    .into_iter()
                    .any(|way| !leaves_out(&way) && tells(digest, &dir.join(&way), &|_| true))
            })
        })
}

/// What `docker compose` reads where it is told nothing else.
const COMPOSE_FILES: &[&str] = words!("compose-files");

/// Whether what `docker compose config` prints holds secrets of the `.env` beside it, which it puts where they are named.
pub(super) fn is_interpolated(digest: &Digest<'_>) -> bool {
    let compose = digest.invocation;
    let Some(dir) = compose.work_dir.as_ref().filter(|_| may_show(digest)) else {
        return false;
    };
    let names = secret_names(&dir.join(".env"));
    let given = compose.value_of(&["-f", "--file"]);
    let files = given.map_or_else(
        || COMPOSE_FILES.iter().map(|name| dir.join(name)).collect(),
        |file| places(digest, &file),
    );
    let mut texts = files.iter().filter_map(|file| read(file));
    let named = texts.find(|text| {
        text.contains("env_file") || names.iter().any(|name| text.contains(name.as_str()))
    });
    let is_named = !names.is_empty() && named.is_some();
    if is_named {
        let fact = "`.env` lies beside it, and its values are put in".to_owned();
        digest.note.set(Some(fact));
    }
    is_named
}

/// Whether `tar` makes an archive and writes it to its output.
fn prints_archive(tar: &Invocation) -> bool {
    let cluster = tar.arguments.first().map_or("", |word| word.text.as_str());
    let has = |letter: char| {
        !cluster.starts_with("--") && cluster.contains(letter) || tar.has_short(letter)
    };
    let names_file = has('f') || tar.has_long("--file");
    let is_output =
        |word: &Word| matches!(word.text.as_str(), "-" | "-f-" | "--file=-" | "/dev/stdout");
    (has('c') || tar.has_long("--create")) && (!names_file || tar.arguments.iter().any(is_output))
}

/// Returns what a search leaves out of the folders that it goes through; none where it goes through none, or only through
/// what everybody sees who has the repository.
fn kept_from(search: &Invocation) -> Option<Kept> {
    let options = Options::of(search);
    let reads_input = search.stdin != Stdin::Inherited && sent_to(search).is_empty();
    let all = Kept::default();
    match search.program.as_str() {
        "ack" | "ag" | "rg" if reads_input => None,
        "git" => {
            let is_free = options.has(&["--no-index"]);
            let is_standard = options.has(&["--exclude-standard"]);
            let ignored = match () {
                () if is_free => is_standard,
                () if options.has(&["--no-exclude-standard"]) => false,
                () if options.has(&["--untracked"]) => true,
                () => return None,
            };
            Some(Kept { ignored, ..all })
        }
        "rg" | "ag" => {
            let times = |name: &str| options.named(&[name]).count();
            let unrestricted = times("-u") + times("--unrestricted");
            let is_ag = search.program == "ag";
            let reads_hidden = (is_ag || unrestricted != 1) && goes_into_hidden(search)
                || options.has(&["--hidden", "-."]);
            let reads_ignored =
                options.has(&["--no-ignore", "--no-ignore-vcs"]) || unrestricted > 0;
            Some(Kept {
                hidden: !reads_hidden,
                ignored: !reads_ignored,
            })
        }
        "ack" | "rgrep" => Some(all),
        program if is_grep(program) => goes_into_hidden(search).then_some(all),
        _ => None,
    }
}

/// Whether what a command prints is seen or leaves this machine, and the disk can tell what it comes upon.
fn may_show(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    let mut later = digest.analysis.invocations.iter().skip(digest.index + 1);
    let leaves = |i: &Arc<Invocation>| {
        i.fed_by.contains(&digest.index)
            && (is_downloader(i) || program::find(&i.program).is(Fact::Sends))
    };
    // What the disk tells is the same by both readings of the words.
    !invocation.remote
        && !digest.is_reread
        && has_project(digest)
        && (!digest.is_consumed() || later.any(leaves))
        && !is_masked(digest)
}

/// Returns the files and folders that a word names, as a pattern too.
fn places(digest: &Digest<'_>, word: &Word) -> Vec<PathBuf> {
    if let Some(path) = path(digest, word) {
        return vec![path];
    }
    let dir = digest.invocation.work_dir.as_ref();
    let Some(dir) = dir.filter(|_| !word.dynamic) else {
        return Vec::new();
    };
    matched(&lexical(
        &word.text,
        dir,
        digest.analysis.surroundings.home.as_deref(),
    ))
}

/// Returns the files of secrets that searches print, or hand over, and that come through what stands behind them in the pipe.
fn found(digest: &Digest<'_>, makers: &[Arc<Invocation>]) -> Vec<PathBuf> {
    let home = digest.analysis.surroundings.home.as_deref();
    let mut files = Vec::new();
    for (at, find) in makers.iter().enumerate() {
        let dir = find.work_dir.as_ref().filter(|_| find.program == "find");
        let Some(dir) = dir else { continue };
        let filters = makers.get(at + 1..).unwrap_or_default();
        let is_handed_over = digest.invocation.wrappers.last() == Some(&find.program);
        let deed = if is_handed_over {
            Deed::Acts
        } else {
            Deed::Prints
        };
        let expression = Expression::of(find, deed);
        for root in roots(find).0.into_iter().filter(|root| !root.dynamic) {
            let top = lexical(&root.text, dir, home);
            let is_found = |way: &PathBuf| {
                expression.reaches(&root, &top, way)
                    && come_through(digest.analysis, filters, &printed(&root.text, way))
            };
            let below = secrets_below(&top, Kept::default()).into_iter();
            files.extend(below.filter(is_found).map(|way| top.join(way)));
        }
    }
    files
}

/// Whether a file of secrets would be shown, by its lines; the reason then names it.
fn tells(digest: &Digest<'_>, file: &Path, is_shown: &dyn Fn(&str) -> bool) -> bool {
    let shows = shows_secret(file, is_shown);
    if shows {
        let root = &digest.analysis.surroundings.project_root;
        let shown = file.strip_prefix(root).unwrap_or(file);
        digest
            .note
            .set(Some(format!("`{}` is among them", shown.display())));
    }
    shows
}
