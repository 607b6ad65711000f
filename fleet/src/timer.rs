//! Timer: what runs a command every 15 minutes, to be put where the system looks for it.

use std::io::Write as _;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use ahp::config::parse_duration;
use ahp::random;

use crate::error::FleetError;

/// When it runs, or what runs it.
#[derive(Debug, clap::Args)]
pub(crate) struct Schedule {
    /// Wait a random part of this first, so that a thousand machines do not come at once
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    within: Option<Duration>,
    /// Print what runs this every 15 minutes
    #[arg(long, value_enum, value_name = "KIND")]
    print_timer: Option<Timer>,
}

impl Schedule {
    /// Waits as asked; or prints a timer where that was asked, and nothing else is to be done.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(crate) fn begin(&self, job: &Job) -> Result<Option<ExitCode>, FleetError> {
        if let Some(timer) = self.print_timer {
            return timer.print(job).map(Some);
        }
        if let Some(within) = self.within {
            thread::sleep(random_part(within));
        }
        Ok(None)
    }
}

/// A part of a pause by chance.
pub(crate) fn random_part(of: Duration) -> Duration {
    let (high, _) = random::id().as_u64_pair();
    let share = u32::try_from(high >> 48).unwrap_or(0);
    of * share / (1 << 16)
}

/// In which form it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Timer {
    /// A service and a timer
    Systemd,
    /// A property list
    Launchd,
    /// A line of a crontab
    Cron,
}

/// What is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// Its name: `ship`.
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// The arguments of `ahp`.
    pub(crate) arguments: &'static str,
    /// Whether it runs as root for the machine; else as the user for herself.
    pub(crate) is_of_machine: bool,
}

/// The arguments that spread what runs on many machines at once, where the system's own timer does not.
const SPREAD: &str = "--within 6m";

impl Timer {
    /// Prints it.
    ///
    /// # Errors
    /// Standard output is closed.
    fn print(self, job: &Job) -> Result<ExitCode, FleetError> {
        let own = std::env::current_exe()
            .map_err(|error| FleetError::io("find", "ahp-fleet".as_ref(), error))?;
        let text = self.text(job, &own.with_file_name("ahp").to_string_lossy());
        let written = std::io::stdout().lock().write_all(text.as_bytes());
        written.map_err(|error| FleetError::io("write", "standard output".as_ref(), error))?;
        Ok(ExitCode::SUCCESS)
    }

    fn text(self, job: &Job, program: &str) -> String {
        let Job {
            name,
            meaning,
            arguments,
            is_of_machine,
        } = *job;
        let either = |of_machine: &'static str, of_user| {
            if is_of_machine { of_machine } else { of_user }
        };
        match self {
            Self::Systemd => {
                let folder = either("/etc/systemd/system", "~/.config/systemd/user");
                let user = either("", " --user");
                // What systemd would read as a specifier or the end of a word is written so that it does not.
                let program = program.replace('%', "%%").replace('"', "\\\"");
                // Every 12 minutes and up to 6 more: a quarter of an hour, a fifth more or less.
                format!(
                    "# {folder}/ahp-{name}.service\n[Unit]\nDescription={meaning}\n\n[Service]\nType=oneshot\n\
                     ExecStart=\"{program}\" {arguments}\nNice=10\n\n\
                     # {folder}/ahp-{name}.timer\n# Then: systemctl{user} enable --now ahp-{name}.timer\n[Unit]\n\
                     Description={meaning} every 15 minutes\n\n[Timer]\nOnBootSec=1min\nOnUnitActiveSec=12min\n\
                     RandomizedDelaySec=6min\n\n[Install]\nWantedBy=timers.target\n"
                )
            }
            Self::Launchd => {
                let file = format!(
                    "{}/ahp.{name}.plist",
                    either("/Library/LaunchDaemons", "~/Library/LaunchAgents")
                );
                let load = either("sudo launchctl bootstrap system", "launchctl load -w");
                let program = program.replace('&', "&amp;").replace('<', "&lt;");
                let words = arguments.split(' ').chain(SPREAD.split(' '));
                let words: Vec<String> = words.map(|w| format!("<string>{w}</string>")).collect();
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {file}, then: {load} {file} -->\n\
                     <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
                     <plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>ahp.{name}</string>\n  \
                     <key>ProgramArguments</key>\n  <array><string>{program}</string>{}</array>\n  \
                     <key>StartInterval</key><integer>720</integer>\n  <key>RunAtLoad</key><true/>\n  \
                     <key>LowPriorityIO</key><true/>\n</dict>\n</plist>\n",
                    words.concat()
                )
            }
            Self::Cron => {
                let place = either("a file in /etc/cron.d/", "`crontab -e`");
                let who = either("root ", "");
                let program = program.replace('\'', "'\\''").replace('%', "\\%");
                format!(
                    "# {meaning} every 15 minutes: for {place}\n*/15 * * * * {who}'{program}' {arguments} {SPREAD}\n"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_program_stays_one_word() {
        let job = Job {
            name: "bundle",
            meaning: "Fetch",
            arguments: "bundle pull",
            is_of_machine: true,
        };
        for (timer, line) in [
            (Timer::Systemd, r#"ExecStart="/o p/50%%&'/ahp" bundle pull"#),
            (
                Timer::Launchd,
                "<string>/o p/50%&amp;'/ahp</string><string>bundle</string><string>pull</string>\
                 <string>--within</string><string>6m</string>",
            ),
            (
                Timer::Cron,
                r"*/15 * * * * root '/o p/50\%&'\''/ahp' bundle pull --within 6m",
            ),
        ] {
            let text = timer.text(&job, "/o p/50%&'/ahp");
            assert!(text.contains(line), "{text}");
        }
    }
}
