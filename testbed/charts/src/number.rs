//! How numbers are spelled: thousands separated, no exponent within what people read, never `NaN`.

/// What is printed where there is no number.
pub(crate) const NO_VALUE: &str = "–";

const LARGEST_PLAIN: f64 = 1e15;
const MOST_DECIMALS: usize = 6;

/// The value with this many decimals and thousands separators: `grouped(12345.6, 1)` is `12,345.6`.
///
/// What is not finite is a dash, and what would take more digits than anyone reads has an exponent.
#[must_use]
pub fn grouped(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NO_VALUE.to_owned();
    }
    if value.abs() >= LARGEST_PLAIN {
        return exponent(value);
    }
    let plain = format!("{:.*}", decimals.min(MOST_DECIMALS), value.abs());
    let (whole, fraction) = match plain.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (plain.as_str(), None),
    };
    let mut out = String::new();
    let all_zero = plain.bytes().all(|byte| byte == b'0' || byte == b'.');
    if value < 0.0 && !all_zero {
        out.push('-');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// The value with as many decimals as give three digits or so, and all digits of large numbers.
#[must_use]
pub fn rounded(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-6 {
        return exponent(value);
    }
    grouped(value, decimals_for(value))
}

/// Decimals under which values up to `largest` have about three digits.
pub(crate) fn decimals_for(largest: f64) -> usize {
    let largest = largest.abs();
    if !largest.is_finite() || largest >= 100.0 || largest == 0.0 {
        0
    } else if largest >= 10.0 {
        1
    } else if largest >= 1.0 {
        2
    } else if largest >= 0.1 {
        3
    } else {
        MOST_DECIMALS
    }
}

/// The same number of decimals for all values of one chart, none if all are whole.
pub(crate) fn common_decimals(values: impl Iterator<Item = f64> + Clone) -> usize {
    let finite = values.filter(|value| value.is_finite());
    if finite.clone().all(|value| value.fract() == 0.0) {
        return 0;
    }
    decimals_for(finite.fold(0.0, |most, value| most.max(value.abs())))
}

/// Like [`grouped`], but a value that this many decimals would turn into a zero keeps digits.
pub(crate) fn grouped_or_small(value: f64, decimals: usize) -> String {
    let vanishes = value != 0.0 && value.abs() < 0.5 / 10f64.powi(decimals.min(6) as i32);
    if !vanishes {
        return grouped(value, decimals);
    }
    let digits = rounded(value);
    let has_zeros = digits.contains('.') && !digits.contains('e');
    if has_zeros { digits.trim_end_matches('0').to_owned() } else { digits }
}

/// `1.5e20`, without needless zeros.
pub(crate) fn exponent(value: f64) -> String {
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}e{power}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(grouped(0.0, 0), "0");
        assert_eq!(grouped(999.4, 0), "999");
        assert_eq!(grouped(14_592.0, 0), "14,592");
        assert_eq!(grouped(-1_234_567.891, 2), "-1,234,567.89");
        assert_eq!(grouped(-0.01, 1), "0.0");
    }

    #[test]
    fn what_has_no_digits_is_a_dash() {
        assert_eq!(grouped(f64::NAN, 2), "–");
        assert_eq!(rounded(f64::INFINITY), "–");
    }

    #[test]
    fn extremes_have_an_exponent() {
        assert_eq!(rounded(2.5e20), "2.5e20");
        assert_eq!(rounded(-3e-9), "-3e-9");
        assert_eq!(grouped(f64::MAX, 0), "1.8e308");
    }

    #[test]
    fn digits_follow_the_size() {
        assert_eq!(rounded(8.514), "8.51");
        assert_eq!(rounded(90.44), "90.4");
        assert_eq!(rounded(271.3), "271");
        assert_eq!(common_decimals([90.44, 7.0].into_iter()), 1);
        assert_eq!(common_decimals([90.0, f64::NAN].into_iter()), 0);
        assert_eq!(grouped_or_small(0.02, 0), "0.02");
    }
}
