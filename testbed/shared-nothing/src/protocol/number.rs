/// Appends a decimal number, without the cost of formatting.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    if number < 10 {
        out.push(b'0' + number as u8);
        return;
    }
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

/// A line from `from` on that is a number of one or two digits, as most are, and where the next one begins.
#[inline]
pub(super) fn short_line(input: &[u8], from: usize) -> Option<(u64, usize)> {
    let digit = |byte: u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10).map(u64::from);
    match *input.get(from..)? {
        [ones, b'\r', b'\n', ..] => Some((digit(ones)?, from + 3)),
        [tens, ones, b'\r', b'\n', ..] => Some((10 * digit(tens)? + digit(ones)?, from + 4)),
        _ => None,
    }
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
    fn short_lines_are_read_as_all_others() {
        for number in 0..100 {
            let line = format!("${number}\r\n+");
            assert_eq!(short_line(line.as_bytes(), 1), Some((number, line.len() - 1)));
        }
        for line in ["", "\r\n", "1", "1\r", "1\n", "12\n", "123\r\n", "x\r\n", "1x\r\n", "-1\r\n"]
        {
            assert_eq!(short_line(line.as_bytes(), 0), None, "{line:?}");
        }
        assert_eq!(short_line(b"1\r\n", 9), None, "past the end");
    }

    #[test]
    fn nothing_else_is_a_number() {
        for text in ["", "-1", "+1", "1 ", "1x", "18446744073709551616"] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
    }
}
