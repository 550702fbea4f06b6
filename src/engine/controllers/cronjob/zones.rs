//! Time zones by their present rules; earlier rules are not known here, and neither are zones that are not listed.

use crate::engine::store::validation::local_seconds;

/// When the clock goes forward an hour and when it goes back: the first Sunday from a day on, at an hour of standard time.
struct Summer {
    from: (i64, i64, i64),
    to: (i64, i64, i64),
    /// Whether the hours are those of UTC.
    utc: bool,
}

const NONE: Option<&Summer> = None;
const EUROPE: Option<&Summer> = Some(&Summer { from: (3, 25, 1), to: (10, 25, 1), utc: true });
const AMERICA: Option<&Summer> = Some(&Summer { from: (3, 8, 2), to: (11, 1, 1), utc: false });
const AUSTRALIA: Option<&Summer> = Some(&Summer { from: (10, 1, 2), to: (4, 1, 2), utc: false });
const NEW_ZEALAND: Option<&Summer> = Some(&Summer { from: (9, 24, 2), to: (4, 1, 2), utc: false });
const CHILE: Option<&Summer> = Some(&Summer { from: (9, 2, 4), to: (4, 2, 3), utc: true });

/// Minutes ahead of UTC in standard time, the rule of summer time, and the zones that have both.
const ZONES: &[(i64, Option<&Summer>, &str)] = &[
    (
        0,
        NONE,
        "UTC Etc/UTC GMT Etc/GMT UCT Zulu Etc/UCT Etc/Zulu Etc/Greenwich Etc/Universal Africa/Abidjan Africa/Accra Africa/Dakar Atlantic/Reykjavik",
    ),
    (
        0,
        EUROPE,
        "WET Europe/London Europe/Dublin Europe/Lisbon Europe/Jersey Europe/Guernsey Europe/Isle_of_Man Atlantic/Canary Atlantic/Madeira",
    ),
    (60, NONE, "Africa/Lagos Africa/Algiers Africa/Tunis Africa/Kinshasa Africa/Luanda"),
    (
        60,
        EUROPE,
        "CET MET Europe/Amsterdam Europe/Andorra Europe/Belgrade Europe/Berlin Europe/Bratislava Europe/Brussels Europe/Budapest \
        Europe/Copenhagen Europe/Gibraltar Europe/Ljubljana Europe/Luxembourg Europe/Madrid Europe/Malta Europe/Monaco Europe/Oslo \
        Europe/Paris Europe/Podgorica Europe/Prague Europe/Rome Europe/San_Marino Europe/Sarajevo Europe/Skopje Europe/Stockholm \
        Europe/Tirane Europe/Vaduz Europe/Vatican Europe/Vienna Europe/Warsaw Europe/Zagreb Europe/Zurich Africa/Ceuta",
    ),
    (120, NONE, "Africa/Johannesburg Africa/Maputo Africa/Harare Africa/Lusaka Africa/Tripoli Africa/Khartoum Europe/Kaliningrad"),
    (
        120,
        EUROPE,
        "EET Europe/Athens Europe/Bucharest Europe/Helsinki Europe/Kiev Europe/Kyiv Europe/Mariehamn Europe/Riga Europe/Sofia \
        Europe/Tallinn Europe/Vilnius Asia/Nicosia",
    ),
    (
        180,
        NONE,
        "Turkey Europe/Istanbul Europe/Moscow Europe/Minsk Europe/Simferopol Africa/Nairobi Africa/Addis_Ababa Asia/Riyadh \
        Asia/Baghdad Asia/Kuwait Asia/Qatar Asia/Amman Asia/Damascus",
    ),
    (210, NONE, "Iran Asia/Tehran"),
    (240, NONE, "Asia/Dubai Asia/Muscat Asia/Baku Asia/Tbilisi Asia/Yerevan Europe/Samara"),
    (270, NONE, "Asia/Kabul"),
    (300, NONE, "Asia/Karachi Asia/Tashkent Asia/Yekaterinburg Asia/Almaty"),
    (330, NONE, "Asia/Kolkata Asia/Calcutta Asia/Colombo"),
    (345, NONE, "Asia/Kathmandu Asia/Katmandu"),
    (360, NONE, "Asia/Dhaka Asia/Omsk Asia/Urumqi Asia/Bishkek"),
    (390, NONE, "Asia/Yangon Asia/Rangoon"),
    (420, NONE, "Asia/Bangkok Asia/Jakarta Asia/Ho_Chi_Minh Asia/Saigon Asia/Novosibirsk Asia/Krasnoyarsk"),
    (
        480,
        NONE,
        "PRC ROC Singapore Hongkong Asia/Shanghai Asia/Chongqing Asia/Hong_Kong Asia/Macau Asia/Taipei Asia/Singapore Asia/Kuala_Lumpur \
        Asia/Manila Asia/Irkutsk Australia/Perth",
    ),
    (540, NONE, "Japan ROK Asia/Tokyo Asia/Seoul Asia/Pyongyang Asia/Yakutsk"),
    (570, NONE, "Australia/Darwin"),
    (570, AUSTRALIA, "Australia/Adelaide"),
    (600, NONE, "Australia/Brisbane Asia/Vladivostok Pacific/Guam Pacific/Port_Moresby"),
    (600, AUSTRALIA, "Australia/Sydney Australia/Melbourne Australia/Hobart Australia/Canberra"),
    (720, NONE, "Pacific/Fiji Asia/Kamchatka"),
    (720, NEW_ZEALAND, "Pacific/Auckland"),
    (780, NONE, "Pacific/Tongatapu Pacific/Apia"),
    (-120, NONE, "America/Noronha Atlantic/South_Georgia"),
    (
        -180,
        NONE,
        "America/Sao_Paulo Brazil/East America/Argentina/Buenos_Aires America/Buenos_Aires America/Montevideo America/Bahia America/Fortaleza",
    ),
    (-210, AMERICA, "America/St_Johns Canada/Newfoundland"),
    (-240, NONE, "America/Caracas America/La_Paz America/Manaus America/Puerto_Rico America/Santo_Domingo Brazil/West"),
    (-240, AMERICA, "America/Halifax Canada/Atlantic Atlantic/Bermuda"),
    (-240, CHILE, "America/Santiago Chile/Continental"),
    (-300, NONE, "EST America/Bogota America/Lima America/Panama America/Jamaica America/Guayaquil America/Cancun"),
    (
        -300,
        AMERICA,
        "America/New_York US/Eastern America/Toronto Canada/Eastern America/Detroit America/Indiana/Indianapolis America/Nassau",
    ),
    (-360, NONE, "America/Mexico_City Mexico/General America/Costa_Rica America/Guatemala America/Regina America/El_Salvador"),
    (-360, AMERICA, "America/Chicago US/Central America/Winnipeg Canada/Central"),
    (-420, NONE, "MST America/Phoenix US/Arizona America/Hermosillo"),
    (-420, AMERICA, "America/Denver US/Mountain America/Edmonton Canada/Mountain America/Boise"),
    (-480, AMERICA, "America/Los_Angeles US/Pacific America/Vancouver Canada/Pacific America/Tijuana"),
    (-540, AMERICA, "America/Anchorage US/Alaska"),
    (-600, NONE, "HST Pacific/Honolulu US/Hawaii Pacific/Tahiti"),
    (-660, NONE, "Pacific/Pago_Pago US/Samoa"),
];

/// A time zone.
#[derive(Clone, Copy)]
pub struct Zone {
    standard: i64,
    summer: Option<&'static Summer>,
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone { standard: 0, summer: None };

    /// The zone of this name, if it is known here; `Etc/GMT-5` is five hours ahead.
    pub fn find(name: &str) -> Option<Zone> {
        if let Some(hours) = name.strip_prefix("Etc/GMT").and_then(|n| n.parse::<i64>().ok()).filter(|n| (-14..=12).contains(n)) {
            return Some(Zone { standard: -hours * 3600, summer: None });
        }
        let zone = ZONES.iter().find(|(_, _, names)| names.split_whitespace().any(|known| known == name))?;
        Some(Zone { standard: zone.0 * 60, summer: zone.1 })
    }

    /// By how many seconds local time is ahead of UTC at a moment.
    pub fn offset(self, at: i64) -> i64 {
        let Some(rule) = self.summer else { return self.standard };
        let (year, _, _) = crate::api::time::civil((at + self.standard).div_euclid(86_400));
        let shift = if rule.utc { 0 } else { self.standard };
        let moment = |(month, day, hour): (i64, i64, i64)| first_sunday(year, month, day) + hour * 3600 - shift;
        let (from, to) = (moment(rule.from), moment(rule.to));
        let summer = if from < to { from <= at && at < to } else { at >= from || at < to };
        self.standard + if summer { 3600 } else { 0 }
    }

    /// A moment as RFC 3339 with the offset of this zone.
    pub fn rfc3339(self, at: i64) -> String {
        let offset = self.offset(at);
        let mut text = crate::api::Timestamp(at + offset).rfc3339();
        if offset != 0 || self.standard != 0 {
            text.pop();
            let minutes = offset.abs() / 60;
            text.push_str(&format!("{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60));
        }
        text
    }
}

/// The start of the first Sunday from a day on.
fn first_sunday(year: i64, month: i64, day: i64) -> i64 {
    let start = local_seconds(year, month, day, 0);
    start + (3 - start.div_euclid(86_400)).rem_euclid(7) * 86_400
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Timestamp;

    #[test]
    fn summer_time_begins_and_ends() {
        let cases = [
            ("Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59+01:00"),
            ("Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00"),
            ("Europe/London", "2026-12-01T12:00:00Z", "2026-12-01T12:00:00Z"),
            ("America/New_York", "2026-03-08T07:00:00Z", "2026-03-08T03:00:00-04:00"),
            ("America/New_York", "2026-11-01T06:00:00Z", "2026-11-01T01:00:00-05:00"),
            ("Australia/Sydney", "2026-04-04T15:59:59Z", "2026-04-05T02:59:59+11:00"),
            ("Australia/Sydney", "2026-04-04T16:00:00Z", "2026-04-05T02:00:00+10:00"),
            ("Asia/Shanghai", "2026-11-21T06:34:00Z", "2026-11-21T14:34:00+08:00"),
            ("Etc/GMT-5", "2026-11-21T06:34:00Z", "2026-11-21T11:34:00+05:00"),
            ("Etc/UTC", "2026-11-21T06:34:00Z", "2026-11-21T06:34:00Z"),
        ];
        for (zone, at, local) in cases {
            assert_eq!(Zone::find(zone).unwrap().rfc3339(Timestamp::parse(at).unwrap().0), local, "{zone}");
        }
        assert!(Zone::find("Mars/Olympus").is_none());
    }
}
