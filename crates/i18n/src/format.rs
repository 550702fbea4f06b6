//! Formatting of virtual times and durations, as `MM:SS.mmm`, `27.6 s`, `4 min 18 s`.

/// Formats a point of virtual time, in milliseconds since the first event: `00:07.552`, from one hour
/// `1:02:03.004`, from one day `2d 03:04:05`.
pub fn clock(ms: u64) -> String {
    let (s, milli) = (ms / 1000, ms % 1000);
    let (m, h, d) = (s / 60, s / 3600, s / 86_400);
    if d > 0 {
        format!("{d}d {:02}:{:02}:{:02}", h % 24, m % 60, s % 60)
    } else if h > 0 {
        format!("{h}:{:02}:{:02}.{milli:03}", m % 60, s % 60)
    } else {
        format!("{m:02}:{:02}.{milli:03}", s % 60)
    }
}

/// Formats a point of virtual time in whole seconds, as object timestamps have them: `00:07`.
pub fn stamp(ms: u64) -> String {
    tick(ms, 1000)
}

/// Formats a label of the time axis: milliseconds only where ticks are closer than a second.
pub fn tick(ms: u64, step: u64) -> String {
    let full = clock(ms);
    if step < 1000 || ms >= 86_400_000 {
        full
    } else {
        full[..full.len() - 4].to_string()
    }
}

/// Formats a duration: `840 ms`, `27.6 s`, `4 min 18 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// Formats a configured duration: `2 s` rather than `2.0 s`.
pub fn span(ms: u64) -> String {
    duration(ms).replace(".0 s", " s")
}

/// Formats a rounded duration: `52 s`, `59 min`, `3 h`, `2 d`.
pub fn about(ms: u64) -> String {
    let (n, unit) = match ms / 1000 {
        s @ 0..60 => (s, "s"),
        s @ 60..3_600 => (s / 60, "min"),
        s @ 3_600..86_400 => (s / 3_600, "h"),
        s => (s / 86_400, "d"),
    };
    format!("{n} {unit}")
}

/// Formats a count with thousands separators: `5,000`.
pub fn count(n: usize) -> String {
    crate::count(n as i64)
}

/// Formats a count with marked thousands; from ten million on, cut to whole millions.
pub fn short_count(n: u64) -> String {
    if n < 10_000_000 {
        count(n as usize)
    } else {
        format!("{} M", count((n / 1_000_000) as usize))
    }
}

/// Length in CSS pixels, formatted to a thousandth. The standard formatting of floats costs 15 kB.
#[derive(Clone, Copy)]
pub struct Px(pub f64);

impl std::fmt::Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let thousandths = (self.0 * 1000.0).round() as i64;
        let (sign, whole, mut rest) = (
            if thousandths < 0 { "-" } else { "" },
            thousandths.abs() / 1000,
            thousandths.abs() % 1000,
        );
        write!(f, "{sign}{whole}")?;
        let mut digits = 3;
        while rest > 0 && rest % 10 == 0 {
            (rest, digits) = (rest / 10, digits - 1);
        }
        if rest > 0 {
            write!(f, ".{rest:0digits$}")
        } else {
            Ok(())
        }
    }
}

/// Capitalizes the first letter, as at the start of a sentence.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => [first.to_ascii_uppercase()]
            .into_iter()
            .chain(chars)
            .collect(),
        None => String::new(),
    }
}

/// Cuts a long name in the middle: `pvc-7d26…51f3`.
pub fn middle(name: &str, most: usize) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= most {
        return name.to_string();
    }
    let tail = (most - 1) / 2;
    let head = most - 1 - tail;
    chars[..head]
        .iter()
        .chain(['…'].iter())
        .chain(&chars[chars.len() - tail..])
        .collect()
}

/// Cuts a volume's name: most contain a uid. It is cut to the same length everywhere, so that it can be recognized.
pub fn volume(name: &str) -> String {
    middle(name, 10)
}

/// Cuts a long name at the front: `…-5d59d67564`.
pub fn front(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        name.to_string()
    } else {
        format!(
            "…{}",
            name.chars().skip(length + 1 - most).collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_short_and_exact() {
        let text = |x: f64| Px(x).to_string();
        assert_eq!(
            [
                text(0.0),
                text(-3.0),
                text(12.5),
                text(-0.25),
                text(1.0625),
                text(99.9996)
            ],
            ["0", "-3", "12.5", "-0.25", "1.063", "100"]
        );
    }

    #[test]
    fn time_is_written_in_the_form_its_length_asks_for() {
        assert_eq!(clock(7_552), "00:07.552");
        assert_eq!(clock(3_723_004), "1:02:03.004");
        assert_eq!(
            (stamp(7_000).as_str(), stamp(183_845_000).as_str()),
            ("00:07", "2d 03:04:05")
        );
        assert_eq!(clock(183_845_000), "2d 03:04:05");
        assert_eq!(tick(7_000, 1000), "00:07");
        assert_eq!(tick(7_200, 200), "00:07.200");
        assert_eq!(duration(840), "840 ms");
        assert_eq!(duration(27_650), "27.6 s");
        assert_eq!(duration(258_000), "4 min 18 s");
        assert_eq!(
            [
                about(52_900),
                about(258_000),
                about(7_300_000),
                about(172_900_000)
            ],
            ["52 s", "4 min", "2 h", "2 d"]
        );
    }

    #[test]
    fn counts_and_long_names_stay_readable() {
        assert_eq!(count(5000), "5,000");
        assert_eq!(count(150_000), "150,000");
        assert_eq!(count(7), "7");
        assert_eq!(
            (short_count(5000), short_count(2_147_483_647)),
            ("5,000".into(), "2,147 M".into())
        );
        assert_eq!(middle("pvc-7d26aaaa-bbbb-51f3", 13), "pvc-7d…b-51f3");
        assert_eq!(volume("pvc-7d26aaaa-bbbb-51f3"), "pvc-7…51f3");
        assert_eq!(middle("web-0", 13), "web-0");
        assert_eq!(front("nginx-5d59d67564", 12), "…-5d59d67564");
    }
}
