//! Properties: nothing panics or hangs, and quoting changes nothing.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ahp::danger::{Selection, judge};
use ahp::shell::{Surroundings, analyse};
use proptest::prelude::*;

fn surroundings() -> Surroundings {
    Surroundings {
        work_dir: PathBuf::from("/home/u/p"),
        home: Some(PathBuf::from("/home/u")),
        project_root: PathBuf::from("/home/u/p"),
    }
}

fn stopped(command: &str) -> bool {
    let selection = Selection {
        presets: vec!["standard".to_owned()],
        ..Selection::default()
    };
    let analysis = analyse(command, surroundings());
    assert!(analysis.writes().len() < 1_000_000);
    assert!(analysis.issue_commands().len() + analysis.git_commit_messages().len() < 100_000);
    !judge(&analysis, &selection).is_empty()
}

/// Writes a word in one of the ways that mean the same to a shell.
fn quoted(word: &str, ways: &[u8]) -> String {
    word.chars()
        .zip(ways.iter().cycle())
        .map(|(c, way)| match way % 5 {
            0 => format!("'{c}'"),
            1 => format!("\"{c}\""),
            2 => format!("\\{c}"),
            3 => format!("$'\\x{:02x}'", u32::from(c)),
            _ => c.to_string(),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        stopped(&text);
    }

    #[test]
    fn no_shell_like_text_panics(parts in prop::collection::vec(
        prop::sample::select(vec![
            "rm -rf /", "$(", ")", "`", "\"", "'", "<<EOF\n", "EOF\n", "|", "&&", ";", "{", "}", "(", "${X:-", "$((", "[[", "]]",
            "if ", "then ", "fi", "for x in ", "do ", "done", "case ", "esac", "<(", ">", "2>&1", "\\", "\n", " ", "~", "*", "{a,b}",
            "bash -c ", "eval ", "xargs ", "find . -exec ", "python3 -c ", "X=", "$X", "é", "\u{1}0", "function f ", "f() ",
        ]), 0..24,
    )) {
        stopped(&parts.concat());
    }

    #[test]
    fn quoting_changes_nothing(ways in prop::collection::vec(any::<u8>(), 1..9)) {
        let command = format!("{} {} {}", quoted("rm", &ways), quoted("-rf", &ways), quoted("/etc", &ways));
        prop_assert!(stopped(&command), "{command}");
    }

    #[test]
    fn a_cut_command_never_panics(at in 0_usize..400, pick in 0_usize..10_000) {
        let all: Vec<&str> = include_str!("../permission_checker/destructive.txt").lines().collect();
        let line = all[pick % all.len()];
        let cut: String = line.chars().take(at).collect();
        stopped(&cut);
    }
}

#[test]
fn hostile_sizes_end_in_time() {
    for text in [
        "$(".repeat(3000),
        format!("{}{}", "$(".repeat(500), ")".repeat(500)),
        "`\"".repeat(600),
        "(".repeat(5000),
        "{ ".repeat(5000),
        "if ".repeat(3000),
        "a && ".repeat(5000) + "a",
        "a | ".repeat(3000) + "a",
        "bash -c '".repeat(200),
        "x=$x$x; ".repeat(200),
        format!("x=y; {}", "x=$x$x; ".repeat(200)),
        "set -- \"$@\" \"$@\" a; ".repeat(100),
        "a=(\"${a[@]}\" \"${a[@]}\" b); ".repeat(60),
        format!(
            "{}rm x{}",
            "for i in {1..60}; do ".repeat(8),
            "; done".repeat(8)
        ),
        "{a,b}".repeat(40),
        "'".repeat(40_000),
        "x".repeat(5_000_000),
        "echo 'a\nb'\n".repeat(50_000),
        "<<A ".repeat(500),
    ] {
        let started = Instant::now();
        stopped(&text);
        let took = started.elapsed();
        println!("{:?} {} bytes", took, text.len());
        let head: String = text.chars().take(12).collect();
        assert!(took < Duration::from_secs(8), "{head}… took {took:?}");
    }
}

#[test]
fn a_dangerous_end_of_a_hostile_text_is_still_seen() {
    assert!(stopped(&("echo x\n".repeat(10_000) + "rm -rf /")));
    assert!(stopped(&("$(".repeat(3000) + "; rm -rf /")));
    assert!(stopped(&format!(
        "cat > x <<'EOF'\n{}\nEOF\nrm -rf /",
        "`code` \"q\"\n".repeat(10_000)
    )));
    assert!(!stopped(&format!(
        "cat > x <<'EOF'\n{}\nEOF\ncargo test",
        "`rm -rf /` \"q\"\n".repeat(10_000)
    )));
}
