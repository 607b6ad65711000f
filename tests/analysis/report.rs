//! `ahp log report`: one page with the data of the log, shown by a browser without a complaint.

use ahp::event::Trigger;
use ahp::process::{Program, find_program};
use ahp::signal::{Action, Intensity};

use super::making::Life;
use crate::world::World;

const POLICY: &str = "\
hooks:
  pre-issue-submit:
    - {oracle: ChecklistValidator, id: checklist}
    - {oracle: FileChangeLimiter, id: size}
";

fn project() -> World {
    let world = World::new(POLICY);
    let mut life = Life::new(world.log_place());
    let issues = ["FEAT-0001", "FEAT-0002", "FIX-<3>"];
    for i in 0..45_i64 {
        life.issue = Some(issues[usize::try_from(i % 3).unwrap()]);
        let day = (i / 5) * 86_400 + i * 60;
        life.give(day, "checklist", Intensity::Block, 4000);
        life.accept(day + 40 * (i % 7 + 1) * (i % 7 + 1), "checklist", 3000);
        (life.issue, life.session) = (None, format!("s{i}"));
        let prompt = life.give(day + 3000, "size", Intensity::Prompt, 20_000);
        life.answer(day + 3001, "size", prompt, Action::Dismiss);
    }
    life.give(86_400, "context", Intensity::Aid, 900_000);
    life.give(86_500, "split", Intensity::Control, 90_000);
    world
}

fn report(world: &World) -> String {
    let done = world.ahp(&["log", "report", "--output", "report.html"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    world.read("report.html")
}

#[test]
fn the_page_holds_the_data_and_loads_nothing() {
    let world = project();
    let page = report(&world);
    assert!(page.len() < 1 << 20);
    for part in ["http://", "https://", "<script", "src=", "@import", "url("] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("What was found") && page.contains("Hosts") && page.contains("Sessions"));
    // Nine days; 45 blocks of the checklist; what a log holds is text, never markup.
    assert_eq!(page.matches("data-day=").count(), 9);
    assert!(page.contains("aria-label=\"checklist · pre-issue-submit: 45 block\""));
    assert!(page.contains("data-issue=\"FIX-&lt;3&gt;\""));
    assert!(page.contains("data-rule=\"noise\""));
    assert!(page.contains("data-class=\"&lt; 5 min\""));
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(page.contains(Trigger::PreIssueSubmit.name()));
    // What the repairs of each rule took, of which there are enough to speak of an average.
    let costs = page.split("What each rule cost").nth(1).unwrap();
    let costs = costs.split("</table>").next().unwrap();
    assert!(
        costs.contains("<td>finding · checklist</td><td>45</td>"),
        "{costs}"
    );
    assert!(!page.contains("These are few"));
}

#[test]
fn a_page_of_few_repairs_says_so() {
    let world = World::new(POLICY);
    let mut life = Life::new(world.log_place());
    life.issue = Some("FEAT-0001");
    life.give(0, "checklist", Intensity::Block, 10);
    life.accept(120, "checklist", 10);
    let page = report(&world);
    assert!(page.contains("1 repair, on average 2 min"), "{page}");
    assert!(page.contains("These are few"));
}

/// With as many days as this the last name stands at the edge: it must have room there, where texts are largest, too.
#[test]
fn the_names_of_days_stand_inside_the_chart() {
    for days in [1, 8, 9, 15, 40] {
        let world = World::new("");
        let mut life = Life::new(world.log_place());
        for day in 0..days {
            life.give(day * 86_400, "size", Intensity::Aid, 10);
        }
        let page = report(&world);
        let chart = page.split("Signals of each day").nth(1).unwrap();
        let chart = chart.split("</svg>").next().unwrap();
        let names = chart.split("<text x=\"").skip(2);
        let places: Vec<u32> = names
            .map(|text| text.split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(!places.is_empty());
        assert!(
            places.iter().all(|x| (36..=684).contains(x)),
            "{days}: {places:?}"
        );
    }
}

#[test]
fn an_empty_log_still_gives_a_page() {
    let page = report(&World::new(""));
    assert!(page.contains("The log has no records."));
}

#[test]
fn a_browser_shows_it_without_a_complaint() {
    let path = std::env::var_os("PATH");
    let Some(browser) = find_program("chromium", path.as_deref()) else {
        eprintln!("SKIPPED: a_browser_shows_it_without_a_complaint: there is no chromium here");
        return;
    };
    let world = project();
    report(&world);
    let argv = [
        browser.to_str().unwrap(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        &format!(
            "--user-data-dir={}",
            world.dir.path().join("browser").display()
        ),
        "--enable-logging=stderr",
        "--log-level=0",
        "--dump-dom",
        &format!("file://{}", world.path("report.html").display()),
    ];
    let done = Program::new(argv.map(str::to_owned).to_vec())
        .max_output(8 << 20)
        .run()
        .unwrap();
    let dom = String::from_utf8_lossy(&done.stdout);
    assert!(dom.contains("data-day=") && dom.contains("</svg>"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!said.contains(":CONSOLE"), "{said}");
}
