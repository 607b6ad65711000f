//! Twin: what would make a copy of our program, or another name for it, by which nobody knows it.

use super::found::{Found, act};
use super::judged::Judged;
use super::tree::Form;
use crate::program::Fact;
use crate::shell::{Invocation, Redirect};

/// Finds a program that would make another name or a copy of ours, under which nobody knows it.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.remote {
        return None;
    }
    let is_own = |text: &str| invocation.guarded.is_own(&invocation.path_of(text));
    let makes = || act("make a copy of `ahp` under another name");
    let goes_on = || goes_on(invocation);
    let is_opened = invocation
        .redirects
        .iter()
        .filter(|redirect| redirect.reads())
        .any(|redirect| is_own(&redirect.target.text));
    // For the shell itself it stays open.
    let is_kept = invocation.emulated || matches!(invocation.program.as_str(), "" | ":" | "exec");
    if is_opened && (is_kept || !invocation.only_reads() || goes_on()) {
        return Some(makes());
    }
    let known = invocation.own();
    let tree = invocation.tree().filter(|tree| tree.form != Form::Fetches);
    let copies = tree.is_some() || known.is(Fact::ToLast) || invocation.program == "dd";
    let packs = known.is(Fact::Unpacks) || known.is(Fact::Cluster);
    let may_show = known.is(Fact::Shows) || known.is(Fact::Decodes);
    let may_copy = packs || copies || may_show && goes_on();
    if !may_copy {
        return None;
    }
    let works_in = tree.and_then(|tree| tree.works_in.clone());
    let dirs: Vec<String> = invocation
        .value_of(&["-C", "--directory"])
        .map(|word| word.text)
        .into_iter()
        .chain(works_in)
        .collect();
    let mut given = invocation.arguments.iter().filter(|word| !word.dynamic);
    let is_given = given.any(|word| {
        let text = word.text.rsplit('=').next().unwrap_or_default();
        is_own(text) || dirs.iter().any(|dir| is_own(&format!("{dir}/{text}")))
    });
    is_given.then(makes)
}

/// Whether what a program prints goes into a file, or to a program that does more than read it.
fn goes_on(invocation: &Judged<'_>) -> bool {
    let own: &Invocation = invocation;
    let nth = invocation.all().position(|one| std::ptr::eq(one, own));
    let is_fed = |one: &Invocation| nth.is_some_and(|nth| one.fed_by.contains(&nth));
    let keeps = |one: &Invocation| one.redirects.iter().any(Redirect::takes_output);
    keeps(own) || (invocation.all()).any(|one| is_fed(one) && (!one.only_reads() || keeps(one)))
}
