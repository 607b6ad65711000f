//! Archive: a bundle as a file, `tar` packed with zstd, the same bytes from the same tree; and what may not be in one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path};

use tar::{Archive, Builder, EntryType, Header};

use super::manifest::{Manifest, NAME, digest};
use crate::error::FleetError;

/// The most bytes of a bundle, packed and unpacked, and the most files.
pub(super) const MOST_PACKED: u64 = 16 << 20;
const MOST_UNPACKED: u64 = 64 << 20;
const MOST_FILES: usize = 4096;

/// The file without which a bundle is no policy.
const POLICY: &str = "hooks.yaml";

/// The files of a bundle by their names, without the manifest: content, and whether it can be executed.
pub(super) type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// Reads the files of a directory that belong into a bundle.
///
/// # Errors
/// A file that does not belong there, a link, or one that cannot be read.
pub(super) fn collect(dir: &Path) -> Result<Files, FleetError> {
    let mut files = Files::new();
    let mut left = vec![dir.to_owned()];
    while let Some(at) = left.pop() {
        let entries = fs::read_dir(&at).map_err(|error| FleetError::io("read", &at, error))?;
        for entry in entries {
            let path = entry
                .map_err(|error| FleetError::io("read", &at, error))?
                .path();
            let about = fs::symlink_metadata(&path)
                .map_err(|error| FleetError::io("read", &path, error))?;
            let name = path
                .strip_prefix(dir)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            if about.is_dir() {
                left.push(path);
            } else if about.is_file() && belongs(&name) {
                use std::os::unix::fs::PermissionsExt as _;
                let content =
                    fs::read(&path).map_err(|error| FleetError::io("read", &path, error))?;
                files.insert(name, (content, about.permissions().mode() & 0o100 != 0));
            } else {
                return Err(FleetError::Refused(format!(
                    "`{name}` does not belong into a bundle: expected `hooks.yaml`, `packs/*.yaml`, `oracles/*.rhai` or `hooks/NAME/…`, no links"
                )));
            }
        }
    }
    if files.len() > MOST_FILES {
        return Err(FleetError::Refused(format!(
            "`{}` has {} files; at most {MOST_FILES} are taken",
            dir.display(),
            files.len()
        )));
    }
    if files.contains_key(POLICY) {
        Ok(files)
    } else {
        Err(FleetError::Refused(format!(
            "`{}` has no `{POLICY}`",
            dir.display()
        )))
    }
}

/// Whether a bundle may hold a file of this name.
fn belongs(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is = |file: &str, kind: &str| Path::new(file).extension().is_some_and(|ext| ext == kind);
    match parts.as_slice() {
        [POLICY] => true,
        ["packs", file] => is(file, "yaml"),
        ["oracles", file] => is(file, "rhai"),
        ["hooks", _, _, ..] => true,
        _ => false,
    }
}

/// Packs a bundle.
///
/// # Errors
/// It is larger than a bundle may be.
pub(super) fn pack(manifest: &[u8], files: &Files) -> Result<Vec<u8>, FleetError> {
    let packed = (|| {
        let mut tar = Builder::new(Vec::new());
        append(&mut tar, NAME, manifest, false)?;
        for (name, (content, is_program)) in files {
            append(&mut tar, name, content, *is_program)?;
        }
        zstd::encode_all(&tar.into_inner()?[..], 19)
    })();
    let packed = packed.map_err(|error: io::Error| {
        FleetError::Refused(format!("the bundle cannot be packed: {error}"))
    })?;
    if packed.len() as u64 > MOST_PACKED {
        return Err(FleetError::Refused(format!(
            "the bundle has {} bytes; at most {MOST_PACKED} are taken",
            packed.len()
        )));
    }
    Ok(packed)
}

fn append(
    tar: &mut Builder<Vec<u8>>,
    name: &str,
    content: &[u8],
    is_program: bool,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_size(content.len() as u64);
    header.set_mode(if is_program { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    tar.append_data(&mut header, name, content)
}

/// Unpacks a bundle in memory and holds every file against the manifest.
///
/// # Errors
/// Something in it may not be there, or is not what the manifest says.
pub(super) fn unpack(packed: &[u8]) -> Result<(Manifest, Files), FleetError> {
    let fault = |told: String| FleetError::Refused(told);
    let broken = |error: io::Error| FleetError::Refused(format!("it cannot be unpacked: {error}"));
    if packed.len() as u64 > MOST_PACKED {
        return Err(fault(format!(
            "it has {} bytes; at most {MOST_PACKED} are taken",
            packed.len()
        )));
    }
    let unpacked = zstd::Decoder::new(packed).map_err(broken)?;
    let mut tar = Archive::new(unpacked.take(MOST_UNPACKED + 1));
    let (mut manifest, mut files, mut bytes) = (None, Files::new(), 0_u64);
    for entry in tar.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.into_owned();
        let name = path.to_string_lossy().into_owned();
        let is_plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if entry.header().entry_type() != EntryType::Regular || !is_plain {
            return Err(fault(format!("`{name}` is not a plain file below it")));
        }
        bytes = bytes.saturating_add(entry.size());
        if bytes > MOST_UNPACKED || files.len() >= MOST_FILES {
            return Err(fault(format!(
                "it unpacks to more than {MOST_UNPACKED} bytes or {MOST_FILES} files"
            )));
        }
        let is_program = entry.header().mode().map_err(broken)? & 0o100 != 0;
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(broken)?;
        if manifest.is_none() {
            if name != NAME {
                return Err(fault(format!(
                    "it begins with `{name}` and not with `{NAME}`"
                )));
            }
            manifest = Some(Manifest::read(&content)?);
        } else if !belongs(&name) || files.insert(name.clone(), (content, is_program)).is_some() {
            return Err(fault(format!(
                "`{name}` does not belong into a bundle, or is in it twice"
            )));
        }
    }
    let manifest = manifest.ok_or_else(|| fault("it is empty".to_owned()))?;
    let told: Vec<_> = manifest
        .files
        .iter()
        .map(|(name, digest)| (name.as_str(), digest.clone()))
        .collect();
    let found: Vec<_> = files
        .iter()
        .map(|(name, (content, _))| (name.as_str(), digest(content)))
        .collect();
    if told != found {
        let differs = |pair: &&(&str, String)| !told.contains(pair);
        let name = found
            .iter()
            .find(differs)
            .map_or("a file that is missing", |(name, _)| name);
        return Err(fault(format!("`{name}` is not what its manifest says")));
    }
    if !files.contains_key(POLICY) {
        return Err(fault(format!(
            "it has no `{POLICY}`, so that it is no policy"
        )));
    }
    Ok((manifest, files))
}
