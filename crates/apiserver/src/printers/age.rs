//! Ages, as kubectl rounds them.
//!
//! Models `apimachinery/pkg/util/duration`.

use k8s_model::Timestamp;

/// Returns the age of an RFC 3339 time at `now`, in seconds since 1970.
pub fn since(time: &str, now: i64) -> String {
    Timestamp::parse(time).map_or_else(|| "<unknown>".to_owned(), |t| human(now - t.seconds()))
}

/// Formats seconds with at most two units.
pub fn human(seconds: i64) -> String {
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let two = |large: i64, unit: char, small: i64, smaller: char| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{smaller}"),
    };
    match hours {
        _ if seconds < 120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(hours / 24, 'd', hours % 24, 'h'),
        _ if hours < 24 * 365 * 2 => format!("{}d", hours / 24),
        _ if hours < 24 * 365 * 8 => two(hours / 24 / 365, 'y', hours / 24 % 365, 'd'),
        _ => format!("{}y", hours / 24 / 365),
    }
}

/// Formats a time as `Sat, 21 Nov 2026 06:23:33 +0000`.
pub fn long(time: &str) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let Some(moment) = Timestamp::parse(time) else {
        return "<unset>".to_owned();
    };
    let text = moment.rfc3339();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or("");
    let day = DAYS[moment.seconds().div_euclid(86400).rem_euclid(7) as usize];
    let month = part(5, 7)
        .parse::<usize>()
        .ok()
        .and_then(|m| MONTHS.get(m.wrapping_sub(1)))
        .unwrap_or(&"");
    format!(
        "{day}, {} {month} {} {} +0000",
        part(8, 10),
        part(0, 4),
        part(11, 19)
    )
}
