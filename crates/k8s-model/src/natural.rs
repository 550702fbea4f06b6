//! Natural order of names.

/// Compares names with numbers by value: `node-2` before `node-10`.
pub fn natural_cmp(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let Some(mut at) = a.iter().zip(b).position(|(x, y)| x != y) else {
        return a.len().cmp(&b.len());
    };
    // The number may begin before the first digit that differs.
    while at > 0 && a[at - 1].is_ascii_digit() {
        at -= 1;
    }
    // Digits of the number, without leading zeros.
    fn number(text: &[u8]) -> Option<&[u8]> {
        let digits = &text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()];
        let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
        (!digits.is_empty()).then_some(&digits[zeros..])
    }
    let (a, b) = (&a[at..], &b[at..]);
    match (number(a), number(b)) {
        (Some(x), Some(y)) if x != y => x.len().cmp(&y.len()).then_with(|| x.cmp(y)),
        _ => a.cmp(b),
    }
}
