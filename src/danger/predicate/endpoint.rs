//! Endpoint: where that lies what a client works on: on this machine, in a folder or a server of the line itself.

use super::known::{is_in_made_folder, is_told};
use crate::danger::digest::Digest;
use crate::shell::{Invocation, Word, authority, is_loopback};
use crate::words::{names_for, words};

/// Whether an address of this machine is what a client is given, by its arguments, a variable or an alias that the line sets, and
/// none of another: `--endpoint-url http://localhost:4566`.
pub(super) fn is_on_loopback(digest: &Digest<'_>, _: &[&Word]) -> bool {
    let arguments = digest.invocation.arguments.iter();
    let mut given = arguments.filter(|word| is_address(word)).peekable();
    if given.peek().is_some() {
        return given.all(leads_here);
    }
    let variables = values_of_variables(digest, words!("endpoint-variables", lines));
    let mut addresses = variables.chain(aliases(digest)).peekable();
    addresses.peek().is_some() && addresses.all(leads_here)
}

fn is_address(word: &Word) -> bool {
    word.text.contains("http://") || word.text.contains("https://")
}

/// Whether a word is known, and the address in it is one of this machine.
fn leads_here(word: &Word) -> bool {
    let address = word
        .text
        .split_once("://")
        .map_or(&*word.text, |(_, rest)| rest);
    !word.dynamic
        && (is_loopback(address)
            || words!("mail-catchers")
                .contains(&authority(address).split(':').next().unwrap_or_default()))
}

/// Returns the values that the line gives to the variables which a list names for this program.
fn values_of_variables<'a>(
    digest: &Digest<'a>,
    list: &'static [&'static str],
) -> impl Iterator<Item = &'a Word> {
    let own = digest.invocation.environment.iter();
    let all = own.chain(&digest.analysis.assignments);
    let program = &digest.invocation.program;
    all.filter(move |(name, _)| names_for(list, name, program))
        .map(|(_, value)| value)
}

/// Returns the addresses of the aliases that the line sets, where all operands are below such: `mc alias set t http://localhost:9000`.
fn aliases<'a>(digest: &Digest<'a>) -> Vec<&'a Word> {
    let same = digest
        .earlier()
        .filter(|i| i.program == digest.invocation.program && !i.remote);
    let set = same.filter_map(|i| match i.operands().collect::<Vec<_>>().as_slice() {
        [alias, set, name, address, ..] if alias.text == "alias" && set.text == "set" => {
            Some((name.text.as_str(), *address))
        }
        _ => None,
    });
    let set: Vec<_> = set.collect();
    let of = |word: &&Word| {
        let name = word.text.split('/').next();
        let own = set.iter().filter(|(alias, _)| name == Some(*alias));
        own.map(|(_, address)| *address).next_back()
    };
    let paths = digest
        .operands
        .iter()
        .filter(|word| word.text.contains('/'));
    paths
        .map(of)
        .collect::<Option<Vec<_>>>()
        .unwrap_or_default()
}

/// Whether the store that an option or a variable names lies in a folder that the line makes: `restic -r "$(mktemp -d)"`.
pub(super) fn is_own_store(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    let lines = words!("store-places", lines).iter();
    let names = lines.filter_map(|line| {
        let name = line.split(' ').next()?;
        (name.starts_with('-') && names_for(&[line], name, &invocation.program)).then_some(name)
    });
    let names: Vec<&str> = names.collect();
    let given: Vec<Word> = invocation.values_of(&names).collect();
    let of_variables = values_of_variables(digest, words!("store-places", lines));
    let mut stores = match given.as_slice() {
        [] => of_variables.collect::<Vec<_>>(),
        given => given.iter().collect(),
    }
    .into_iter()
    .peekable();
    !invocation.remote && stores.peek().is_some() && stores.all(|at| is_in_made_folder(digest, at))
}

/// Whether the line has started the server that a client speaks with, as one for trials: `vault server -dev`.
pub(super) fn is_own_server(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    let is_trial = |i: &Invocation| {
        let mut words = i.arguments.iter();
        i.program == invocation.program
            && !i.remote
            && words.any(|word| is_told(word) && matches!(word.text.as_str(), "-dev" | "--dev"))
    };
    let mut led = values_of_variables(digest, words!("endpoint-variables", lines))
        .chain(&invocation.arguments)
        .filter(|word| is_address(word) || word.dynamic);
    !invocation.remote && digest.earlier().any(is_trial) && led.all(leads_here)
}
