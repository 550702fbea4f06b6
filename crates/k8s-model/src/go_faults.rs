//! Positions of the errors that Go's decoders report for base64 and times.

/// Returns the index of the first byte that is not base64, as Go's standard decoder counts it.
pub(super) fn base64_fault(text: &str) -> Option<usize> {
    let bytes: Vec<u8> = text
        .bytes()
        .filter(|b| !matches!(b, b'\r' | b'\n'))
        .collect();
    let good = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let end = bytes.iter().position(|b| !good(b)).unwrap_or(bytes.len());
    if end == bytes.len() {
        return (end % 4 != 0).then_some(end - end % 4);
    }
    let padding = match end % 4 {
        2 => "==",
        3 => "=",
        _ => return Some(end),
    };
    (&bytes[end..] != padding.as_bytes()).then_some(if bytes[end] == b'=' {
        bytes.len()
    } else {
        end
    })
}

const TIME_SHAPE: &str = "dddd-dd-ddTdd:dd:dd";
/// Offsets in `TIME_SHAPE` with the part of Go's layout that is read there.
const TIME_PARTS: [(usize, &str); 11] = [
    (0, "2006"),
    (4, "-"),
    (5, "01"),
    (7, "-"),
    (8, "02"),
    (10, "T"),
    (11, "15"),
    (13, ":"),
    (14, "04"),
    (16, ":"),
    (17, "05"),
];

/// Returns the rest of an RFC 3339 time from the part that does not parse.
pub(super) fn time_fault(text: &str) -> Option<&str> {
    for (at, shape) in TIME_SHAPE.bytes().enumerate() {
        let good = text.as_bytes().get(at).is_some_and(|b| match shape {
            b'd' => b.is_ascii_digit(),
            other => *b == other,
        });
        if !good {
            let start = TIME_PARTS
                .iter()
                .rev()
                .find(|(s, _)| *s <= at)
                .map_or(0, |(s, _)| *s);
            return Some(text.get(start.min(text.len())..).unwrap_or(""));
        }
    }
    let rest = text.get(TIME_SHAPE.len()..).unwrap_or("");
    let digits = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let zone = digits.as_bytes();
    let offset = zone.len() == 6 && matches!(zone[0], b'+' | b'-') && zone[3] == b':';
    (digits != "Z" && !offset).then_some(digits)
}

pub(super) fn time_part(at: usize) -> &'static str {
    TIME_PARTS
        .iter()
        .rev()
        .find(|(start, _)| *start <= at && at < TIME_SHAPE.len())
        .map_or("Z07:00", |(_, part)| part)
}
