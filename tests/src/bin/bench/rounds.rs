//! Contestants that take turns, and what their figures say.

use anyhow::{Context, Result};

/// One contestant: its name and how one sample of it is taken.
pub(crate) struct Contestant<'a> {
    name: &'static str,
    sample: Box<dyn FnMut() -> Result<f64> + 'a>,
}

impl<'a> Contestant<'a> {
    pub(crate) fn new(name: &'static str, sample: impl FnMut() -> Result<f64> + 'a) -> Self {
        Self { name, sample: Box::new(sample) }
    }
}

/// The figures of one contestant, a round each.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    pub name: &'static str,
    pub values: Vec<f64>,
}

/// Lets everyone warm up once, then takes a sample of each in every round.
pub(crate) fn in_turns(rounds: usize, mut contestants: Vec<Contestant>) -> Result<Vec<Samples>> {
    let mut all: Vec<Samples> =
        contestants.iter().map(|c| Samples { name: c.name, values: Vec::new() }).collect();
    for round in 0..=rounds {
        for (contestant, samples) in contestants.iter_mut().zip(&mut all) {
            let value = (contestant.sample)().with_context(|| contestant.name)?;
            if round > 0 {
                samples.values.push(value);
            }
        }
    }
    Ok(all)
}

impl Samples {
    pub(crate) fn median(&self) -> f64 {
        median(&self.values)
    }

    /// The median of the rounds' ratios.
    pub(crate) fn ratio_to(&self, peer: &Self) -> f64 {
        let ratios: Vec<f64> = self.values.iter().zip(&peer.values).map(|(a, b)| a / b).collect();
        median(&ratios)
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        let ours = Samples { name: "a", values: vec![1.0, 10.0, 3.0] };
        let peer = Samples { name: "b", values: vec![2.0, 20.0, 3.0] };
        assert_eq!((ours.median(), ours.ratio_to(&peer)), (3.0, 0.5));
    }
}
