//! ahp log verify: checks the hash chain.

use ahp::analysis::Filter;
use ahp::signal_log::verify;

use crate::exit_code::Exit;
use crate::log_file::{self, LogFile};
use crate::output::{self, Format};
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For people or for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let reader = log.read()?;
    let (place, settings) = log.find()?;
    let found = if log.is_named() {
        verify(place).map_err(|e| e.to_string())?
    } else {
        log_file::verified(place)?
    };
    let exit = Exit::unless(found.damage.is_some());
    if args.format == Format::Json {
        output::json(&found);
        return Ok(exit);
    }
    if found.notices > 0 {
        output::line(format!(
            "noted by writers {}: {} kept aside, {} lost",
            count(found.notices, "time"),
            count(found.torn_bytes, "torn byte"),
            count(found.lost_records, "record")
        ));
    }
    if found.torn_tail > 0 {
        output::line(format!(
            "torn at the end: {}; the next writer keeps them aside",
            count(found.torn_tail, "byte")
        ));
    }
    let Some(damage) = &found.damage else {
        if reader.is_empty() {
            super::tell_of_nothing(log, &reader, &Filter::default());
            return Ok(exit);
        }
        output::line(format!(
            "sound: {} ({} to {}) in {}",
            count(found.records, "record"),
            found.first_seq,
            found.last_seq,
            count(found.files, "file")
        ));
        if found.first_seq > 1 {
            let older = found.first_seq - 1;
            let keep = u64::from(settings.keep);
            output::line(format!(
                "the first {} not there: {}",
                if older == 1 {
                    "record is".to_owned()
                } else {
                    format!("{older} records are")
                },
                if found.files > keep {
                    format!("the newest {keep} rotated files are kept (`settings.log.keep`)")
                } else {
                    format!(
                        "rotation keeps {keep} files (`settings.log.keep`) and there are fewer, so a file was removed, or more are kept than before"
                    )
                }
            ));
        }
        return Ok(exit);
    };
    output::error(format!("ahp: the log is damaged: {damage}"));
    if found.further > 0 {
        output::error(format!("     {} more", count(found.further, "bad place")));
    }
    Ok(exit)
}
