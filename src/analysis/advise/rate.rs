//! Rate: how many of how many, and how sure that is.

use serde::Serialize;

/// A rate of a sample, with the 95 % interval (Wilson's) in which the true one lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// How many cases speak for it.
    pub cases: u64,
    /// Of how many.
    pub of: u64,
    /// The lower end of the interval, from 0 to 1.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Rate {
    /// Returns the rate of a sample.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a log are far below 2^52"
    )]
    pub fn of(cases: u64, of: u64) -> Self {
        const Z: f64 = 1.96;
        if of == 0 {
            let (low, high) = (0.0, 1.0);
            return Self {
                cases,
                of,
                low,
                high,
            };
        }
        let n = of as f64;
        let rate = cases.min(of) as f64 / n;
        let centre = rate + Z * Z / (2.0 * n);
        let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        let end = |value: f64| (value / (1.0 + Z * Z / n) * 100.0).round() / 100.0;
        Self {
            cases,
            of,
            low: end(centre - spread).max(0.0),
            high: end(centre + spread).min(1.0),
        }
    }
}
