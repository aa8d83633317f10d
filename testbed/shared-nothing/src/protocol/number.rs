/// Appends a decimal number, without the cost of formatting.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// A decimal number and nothing else.
#[inline]
pub(super) fn read(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for number in [0, 1, 9, 10, 99, 12_345, u64::MAX] {
            let mut out = Vec::new();
            put(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
            assert_eq!(read(&out), Some(number));
        }
    }

    #[test]
    fn nothing_else_is_a_number() {
        for text in ["", "-1", "+1", "1 ", "1x", "18446744073709551616"] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
    }
}
