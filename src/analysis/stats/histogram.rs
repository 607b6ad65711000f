//! Histogram: durations by size, exact when small and to a thousandth when great, in bounded memory.

/// Values below this have a place of their own.
const EXACT: u64 = 2048;
/// Places for each doubling above.
const STEPS: u64 = 1024;

/// How often which duration was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    counts: Vec<u32>,
    total: u64,
}

impl Histogram {
    pub(super) fn add(&mut self, value: u32) {
        let place = place(value.into());
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(place) {
            *count = count.saturating_add(1);
        }
        self.total += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.total += other.total;
    }

    /// Returns the value that so many percent do not exceed; none of nothing.
    pub(super) fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.counts.iter().enumerate().find_map(|(place, count)| {
            seen += u64::from(*count);
            (seen >= rank).then(|| value(place as u64))
        })
    }
}

fn place(value: u64) -> usize {
    let place = if value < EXACT {
        value
    } else {
        let exponent = u64::from(value.ilog2());
        EXACT + (exponent - 11) * STEPS + (value >> (exponent - 10)) - STEPS
    };
    usize::try_from(place).unwrap_or(usize::MAX)
}

const fn value(place: u64) -> u64 {
    if place < EXACT {
        return place;
    }
    let above = place - EXACT;
    (STEPS + above % STEPS) << (above / STEPS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_values_that_differ_by_a_thousandth() {
        for number in [0, 1, 2047, 2048, 2049, 5000, 1_000_000, u64::from(u32::MAX)] {
            let least = value(place(number) as u64);
            assert!(
                least <= number && number - least <= number / 1000,
                "{number} {least}"
            );
        }
    }

    #[test]
    fn percentiles_are_by_rank() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50), None);
        for number in 1..=100 {
            histogram.add(number);
        }
        assert_eq!(histogram.percentile(50), Some(50));
        assert_eq!(histogram.percentile(99), Some(99));
        assert_eq!(histogram.percentile(100), Some(100));
    }
}
