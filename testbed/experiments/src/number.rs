//! Numbers as people read them.

/// `+24.5 %`, from a ratio.
pub(crate) fn change(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "–".to_owned();
    }
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

/// The middle value; the mean of the two middle ones of an even number; NaN of none.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_change() {
        assert_eq!(change(1.245), "+24.5 %");
        assert_eq!(change(0.5), "-50.0 %");
        assert_eq!(change(f64::NAN), "–");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median([9.0, 1.0, 2.0]), 2.0);
        assert!(median([0.0; 0]).is_nan() && mean(std::iter::empty()).is_nan());
    }
}
