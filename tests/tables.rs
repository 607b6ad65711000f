//! The table of programs is checked when the program is built; a fault is told with its line.

#[path = "../policies/reader/programs.rs"]
mod programs;

#[test]
fn a_fault_is_told_with_its_line() {
    for (table, fault) in [
        ("[a]\nraeds\n", "line 2: `raeds` is not a fact"),
        ("[b a]\nreads\n", "line 1: names are sorted"),
        ("reads\n", "line 1: a fact stands below"),
        ("[a]\nreads x\n", "line 2: these are not words of `reads`"),
        ("[a]\nonly\n", "line 2: these are not words of `only`"),
        ("[a]\nruns words\n", "line 2: these are not words of `runs`"),
        ("[a]\nreads\n\n[a b]\nreads\n", "line 5: `reads` of `a`"),
    ] {
        let found = programs::faults(table, &["only", "reads", "runs"]);
        assert!(found.iter().any(|f| f.starts_with(fault)), "{found:?}");
    }
    let unused = programs::written("#   reads   leaves\n#   shows   shows\n\n[a]\nreads\n");
    assert!(unused.is_err_and(|fault| fault.ends_with("nobody has `shows`")));
}
