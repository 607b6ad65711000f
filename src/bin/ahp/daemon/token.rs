//! Token: what a caller over HTTP must know: it lies where only its person reads it, and no shield shows it.

use std::fmt::Write as _;
use std::fs;
use std::fs::OpenOptions;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ahp::config::SERVE_TOKEN;
use ahp::random;
use sha2::{Digest as _, Sha256};

/// How many random bytes it has; it is written in hexadecimal digits.
const LENGTH: usize = 32;

/// The secret of one person's judge.
pub(crate) struct Token(String);

impl Token {
    /// Returns where the token of a state directory lies.
    pub(crate) fn path(state_dir: &Path) -> PathBuf {
        state_dir.join(SERVE_TOKEN)
    }

    /// Reads the token; on first use it is made, once, however many processes ask for it.
    ///
    /// # Errors
    /// It can be neither read nor made, others can read it, or it is not a token.
    pub(crate) fn of(state_dir: &Path) -> Result<Self, String> {
        let path = Self::path(state_dir);
        let told = |error: io::Error| format!("`{}`: {error}", path.display());
        if !path.try_exists().map_err(told)? {
            make(state_dir, &path).map_err(told)?;
        }
        let meta = path.symlink_metadata().map_err(told)?;
        if !meta.is_file() || meta.uid() != rustix::process::getuid().as_raw() {
            return Err(format!("`{}` is not a file of yours", path.display()));
        }
        if meta.mode() & 0o077 != 0 {
            return Err(format!(
                "others can read `{}`: remove it, and a new one is made",
                path.display()
            ));
        }
        let text = fs::read_to_string(&path).map_err(told)?;
        let text = text.trim();
        if text.len() != 2 * LENGTH || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!(
                "`{}` does not hold {LENGTH} bytes in hexadecimal digits: remove it, and a new one is made",
                path.display()
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns what a caller says of it in `Authorization`.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether this is what somebody gives; how long that takes does not tell how much of it is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        Sha256::digest(given) == Sha256::digest(&self.0)
    }
}

/// Makes a token; where another process is sooner, its token stays.
fn make(state_dir: &Path, path: &Path) -> io::Result<()> {
    fs::create_dir_all(state_dir)?;
    let mut bytes = [0_u8; LENGTH];
    random::fill(&mut bytes)?;
    let digits = bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").ok();
        digits
    });
    let draft = state_dir.join(format!("{SERVE_TOKEN}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(&draft)
        .and_then(|mut file| writeln!(file, "{digits}"))
        // Unlike a rename, a link never takes the place of what is there.
        .and_then(|()| fs::hard_link(&draft, path));
    fs::remove_file(&draft).ok();
    match written {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
