//! Numbers and escapes in C notation.

/// Parses a number in C notation: `10`, `0x1f`, `017`.
pub fn number(text: &str) -> Option<i64> {
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or((1, text.strip_prefix('+').unwrap_or(text)), |rest| {
            (-1, rest)
        });
    let (digits, base) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let plain = digits.chars().all(|c| c.is_digit(base));
    u64::from_str_radix(digits, base)
        .ok()
        .filter(|_| plain)
        .map(|value| (value as i64).wrapping_mul(sign))
}

/// Replaces escapes such as `\n`, `\t`, `\101`, `\x41`, `\\`.
pub fn unescaped(text: &str) -> String {
    let (mut out, mut chars) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().filter(|_| c == '\\');
        let plain = match next {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('e') => '\x1b',
            Some('f') => '\x0c',
            Some('v') => '\x0b',
            Some('\\') => '\\',
            Some(first @ ('x' | '0'..='7')) => {
                // Escapes `\x41`, `\101`, and `\0101` as in `echo`.
                let (base, most) = match first {
                    'x' => (16, 2),
                    '0' => (8, 4),
                    _ => (8, 3),
                };
                if first == 'x' {
                    chars.next();
                }
                let mut value = 0;
                for _ in 0..most {
                    let Some(digit) = chars
                        .next_if(|c| c.is_digit(base))
                        .and_then(|c| c.to_digit(base))
                    else {
                        break;
                    };
                    value = value * base + digit;
                }
                out.push(char::from_u32(value & 0xff).unwrap_or('?'));
                continue;
            }
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(plain);
    }
    out
}
