//! Parsing of instants.

/// Parses an instant into milliseconds: `90`, `1:30` or `1:02:30.5` from the beginning, also `5m` and `1m30s`; with a minus sign back from
/// `now`.
pub fn parse(text: &str, now: u64) -> Option<u64> {
    let text = text.trim().replace('：', ":");
    let (back, text) = text
        .strip_prefix(['-', '−'])
        .map_or((false, &*text), |text| (true, text.trim_start()));
    let clock = || {
        text.split(':')
            .try_fold(0.0, |all, part| Some(all * 60.0 + number(part)?))
            .filter(|_| text.matches(':').count() < 3)
    };
    let ms = (clock().or_else(|| units(text))? * 1000.0).round() as u64;
    Some(if back { now.saturating_sub(ms) } else { ms })
}

/// Parses hours, minutes and seconds with units (`1h5m`) into seconds.
fn units(text: &str) -> Option<f64> {
    let mut all = 0.0;
    let mut rest = text;
    while let Some(at) = rest.find(['h', 'm', 's']) {
        let seconds = match rest.as_bytes()[at] {
            b'h' => 3600.0,
            b'm' => 60.0,
            _ => 1.0,
        };
        all += number(rest[..at].trim())? * seconds;
        rest = &rest[at + 1..];
    }
    (rest.is_empty() && !text.is_empty()).then_some(all)
}

fn number(text: &str) -> Option<f64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_instant_is_a_clock_a_number_of_seconds_or_back_from_now() {
        let cases = [
            ("90", Some(90_000)),
            (" 1:30 ", Some(90_000)),
            ("1:02:30.5", Some(3_750_500)),
            ("5m", Some(300_000)),
            ("2 h", Some(7_200_000)),
            ("-5m", Some(300_000)),
            ("1m30s", Some(90_000)),
            ("1：30", Some(90_000)),
            ("5m x", None),
            ("m", None),
            ("−30", Some(570_000)),
            ("-1h", Some(0)),
            ("", None),
            ("soon", None),
            ("1:2:3:4", None),
            ("1e9", None),
            ("inf", None),
        ];
        for (text, ms) in cases {
            assert_eq!(parse(text, 600_000), ms, "{text}");
        }
    }
}
