//! Machine key: tells what this machine wrote from what came with a clone (spec §11.6).
//!
//! A random key lies in the user's state directory. What is kept in a project and believed later (the heads of log files,
//! answers, evidence of tests) carries an HMAC-SHA-256 by it over what it says and the path of the project.

use std::fmt;
use std::fs::File;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use hmac::digest::Key;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::OFlags;
use sha2::Sha256;

use crate::random;
use crate::regular_file;
use crate::signal::hex;

const LENGTH: usize = 32;
/// The name of its file in the state directory.
pub(crate) const NAME: &str = "key";

/// The key of the user's state directory, bound to one project.
#[derive(Clone)]
pub struct ProjectKey {
    /// None where there is no key: nothing then is this machine's word.
    key: Option<Arc<[u8; LENGTH]>>,
    project: Arc<[u8]>,
}

impl fmt::Debug for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectKey").finish_non_exhaustive()
    }
}

impl ProjectKey {
    /// Reads the key of a state directory for a project; on first use it is made, once, however many processes ask for it.
    ///
    /// # Errors
    /// The key can be neither read nor made, or is not a key.
    pub fn of(state_dir: &Path, project: &Path) -> io::Result<Self> {
        let path = state_dir.join(NAME);
        let bytes = match regular_file::open(None, &path, OFlags::RDONLY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(state_dir, &path)?;
                read(regular_file::open(None, &path, OFlags::RDONLY)?)
            }
            Ok(file) => read(file),
            Err(error) => Err(error),
        }?;
        // Two paths to one project are one project.
        let project = project
            .canonicalize()
            .unwrap_or_else(|_| project.to_owned());
        Ok(Self {
            key: Some(Arc::new(bytes)),
            project: project.as_os_str().as_encoded_bytes().into(),
        })
    }

    /// Stands for the key of a machine that has none, or none that can be used: it marks nothing, and nothing verifies by it.
    pub fn none() -> Self {
        Self {
            key: None,
            project: Arc::default(),
        }
    }

    /// Whether there is a key.
    pub(crate) const fn is_there(&self) -> bool {
        self.key.is_some()
    }

    /// Returns the HMAC, in hexadecimal digits, of what is said for a purpose; none without a key.
    pub(crate) fn mac(&self, purpose: &str, said: &[&str]) -> Option<String> {
        let hash = self.hash(purpose, said)?;
        Some(hex(&hash.finalize().into_bytes()))
    }

    /// Whether a HMAC is that of what is said for a purpose.
    pub(crate) fn verifies(&self, purpose: &str, said: &[&str], mac: &str) -> bool {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let bytes: Option<Vec<u8>> = mac
            .as_bytes()
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
                _ => None,
            })
            .collect();
        let hash = self.hash(purpose, said);
        bytes
            .zip(hash)
            .is_some_and(|(bytes, hash)| hash.verify_slice(&bytes).is_ok())
    }

    fn hash(&self, purpose: &str, said: &[&str]) -> Option<Hmac<Sha256>> {
        let key = self.key.as_ref()?;
        // HMAC fills a short key up with zeros.
        let mut block = Key::<Hmac<Sha256>>::default();
        for (to, from) in block.iter_mut().zip(**key) {
            *to = from;
        }
        let mut hash = Hmac::<Sha256>::new(&block);
        let parts = [purpose.as_bytes(), &*self.project];
        // With its length before it, no part can be taken for the end of the one before.
        for part in parts.into_iter().chain(said.iter().map(|s| s.as_bytes())) {
            hash.update(&(part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Some(hash)
    }
}

/// Makes the key; where another process is sooner, its key stays.
fn make(state_dir: &Path, path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(state_dir)?;
    let mut key = [0; LENGTH];
    random::fill(&mut key)?;
    let draft = state_dir.join(format!("{NAME}.{}", random::id().simple()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let linked = regular_file::open(None, &draft, flags)
        .and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()
        })
        // Unlike a rename, a link never takes the place of what is there.
        .and_then(|()| std::fs::hard_link(&draft, path));
    std::fs::remove_file(&draft).ok();
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn read(mut file: File) -> io::Result<[u8; LENGTH]> {
    let unusable = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let metadata = file.metadata()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(unusable("the key belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    if metadata.len() != LENGTH as u64 {
        return Err(unusable("the key does not have 32 bytes"));
    }
    let mut key = [0; LENGTH];
    io::Read::read_exact(&mut file, &mut key)?;
    Ok(key)
}
