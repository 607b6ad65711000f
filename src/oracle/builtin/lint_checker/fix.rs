//! Fix: what linters can fix themselves, fixed so that it can be taken back.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::NAMED;
use crate::oracle::toolchain::linter::{TOOLS, wanted};
use crate::oracle::wording::{counted, listed};
use crate::oracle::{HookContext, OracleError};
use crate::regular_file;
use crate::signal::{Modification, Signal, hex};

/// Lets the fixers change files; gives a control that names those that were changed.
pub(super) fn fix(
    context: &HookContext,
    files: &[String],
    named: &[String],
) -> Result<Option<Signal>, OracleError> {
    let root = context.root();
    // Files are read here and not through the workspace, which would remember what they were.
    let read = |path: &str| fs::read(root.join(path)).ok();
    let before: BTreeMap<&String, Vec<u8>> = files
        .iter()
        .filter(|file| {
            TOOLS
                .iter()
                .any(|tool| tool.fix.is_some() && tool.looks_at(file, read))
        })
        .filter_map(|file| Some((file, read(file)?)))
        .collect();
    let mut fixers = Vec::new();
    for tool in wanted(context, named) {
        let own: Vec<String> = before
            .keys()
            .filter(|file| tool.looks_at(file, read))
            .map(|&file| file.clone())
            .collect();
        if let (Some(arguments), Some(program), false) =
            (&tool.fix, tool.program(context), own.is_empty())
        {
            for call in tool.calls(context.workspace(), &own) {
                // What it cannot fix, how it fails and its code for that, the check afterwards tells.
                tool.call(context, &program, arguments, &call).ok();
            }
            fixers.push(tool.name);
        }
    }
    let mut patch = String::new();
    let mut modifications = Vec::new();
    for (file, old) in &before {
        let new = fs::read(root.join(file)).unwrap_or_default();
        if new == *old {
            continue;
        }
        let (old_text, new_text) = (String::from_utf8_lossy(old), String::from_utf8_lossy(&new));
        let body = diffy::create_patch(&old_text, &new_text).to_string();
        let hunks = body.split_once("\n@@").map_or("", |(_, hunks)| hunks);
        patch.push_str(&format!("--- a/{file}\n+++ b/{file}\n@@{hunks}"));
        modifications.push(Modification {
            target: format!("file:{file}"),
            original: json!(digest(old)),
            updated: json!(digest(&new)),
            reason: format!("fixed by {}", fixers.join(", ")),
        });
    }
    if modifications.is_empty() {
        return Ok(None);
    }
    let name = format!(
        "fixes/{}.patch",
        digest(patch.as_bytes()).trim_start_matches("sha256:")
    );
    let path = context.state_dir.join(&name);
    let kept = regular_file::replace(context.state_dir.parent(), &path, patch.as_bytes());
    if let Err(error) = kept {
        // Without the patch the change could not be taken back: it is taken back now.
        for (file, old) in &before {
            fs::write(root.join(file), old).ok();
        }
        return Err(OracleError::failed(format!(
            "the patch cannot be kept in {}: {error}",
            path.display()
        )));
    }
    let changed: Vec<String> = modifications
        .iter()
        .map(|m| m.target.trim_start_matches("file:").to_owned())
        .collect();
    let shown = path
        .strip_prefix(root)
        .unwrap_or(&path)
        .display()
        .to_string();
    Ok(Some(
        Signal::control("lint-fixed", modifications)
            .reason(format!(
                "{} fixed {}: {}; `git apply -R {shown}` takes it back",
                fixers.join(", "),
                counted(changed.len(), "file"),
                listed(&changed, NAMED)
            ))
            .files(changed.clone())
            .fingerprint(&changed),
    ))
}

fn digest(bytes: &[u8]) -> String {
    let mut digits = hex(&Sha256::digest(bytes));
    digits.truncate(16);
    format!("sha256:{digits}")
}
