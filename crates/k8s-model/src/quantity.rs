//! Kubernetes quantities (`500m`, `1Gi`): parsing, comparing, and the canonical form that is stored.
//!
//! Models `apimachinery/pkg/api/resource/quantity.go`. A value is held in billionths, the finest that
//! Kubernetes keeps; values too large for that are capped instead of growing without bound.

use std::cmp::Ordering;
use std::fmt;

/// Notation of a quantity, which decides how it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `12e6`
    DecimalExponent,
    /// `12Mi`
    BinarySI,
    /// `12M`
    DecimalSI,
}

impl Format {
    /// Returns the name of the Go constant.
    pub fn name(self) -> &'static str {
        match self {
            Format::DecimalExponent => "DecimalExponent",
            Format::BinarySI => "BinarySI",
            Format::DecimalSI => "DecimalSI",
        }
    }
}

/// Parse error of a quantity, in Kubernetes' words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityError {
    /// The text is not a number with a suffix.
    Format,
    /// The number does not parse.
    Numeric,
    /// The suffix is unknown.
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::Format => "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            QuantityError::Numeric => "unable to parse numeric part of quantity",
            QuantityError::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

const NANO: i128 = 1_000_000_000;
/// Limit of an amount: room for every int64 of whole units, and for sums of many.
const CAP: i128 = i128::MAX / 4;

/// Exact amount with its notation.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    nano: i128,
    format: Format,
}

/// Go's internal form of a parsed quantity; only the template hash needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoForm {
    /// Value and decimal scale if the amount fits Go's fast form, `None` for a big decimal.
    pub fast: Option<(i64, i32)>,
    /// True if Go took the text for canonical and cached it.
    pub cached: bool,
}

struct Parts<'a> {
    negative: bool,
    num: &'a str,
    denom: &'a str,
    base: u32,
    exponent: i32,
    format: Format,
}

const SUFFIXES: [(&str, u32, i32); 16] = [
    ("Ki", 2, 10),
    ("Mi", 2, 20),
    ("Gi", 2, 30),
    ("Ti", 2, 40),
    ("Pi", 2, 50),
    ("Ei", 2, 60),
    ("n", 10, -9),
    ("u", 10, -6),
    ("m", 10, -3),
    ("", 10, 0),
    ("k", 10, 3),
    ("M", 10, 6),
    ("G", 10, 9),
    ("T", 10, 12),
    ("P", 10, 15),
    ("E", 10, 18),
];

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    let negative = text.starts_with('-');
    let rest = text
        .strip_prefix(['-', '+'])
        .unwrap_or(text)
        .trim_start_matches('0');
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let (num, mut rest) = rest.split_at(digits(rest));
    let mut denom = "";
    if let Some(fraction) = rest.strip_prefix('.') {
        (denom, rest) = fraction.split_at(digits(fraction));
    }
    let letters = rest
        .bytes()
        .take_while(|b| b"eEinumkKMGTP".contains(b))
        .count();
    let tail = &rest[letters..];
    let tail = tail.strip_prefix(['-', '+']).unwrap_or(tail);
    if !tail.bytes().all(|b| b.is_ascii_digit()) {
        return Err(QuantityError::Format);
    }
    let (base, exponent, format) = suffix(rest).ok_or(QuantityError::Suffix)?;
    if num.is_empty() && denom.is_empty() && !text.contains('0') {
        return Err(QuantityError::Numeric);
    }
    Ok(Parts {
        negative,
        num: if num.is_empty() { "0" } else { num },
        denom,
        base,
        exponent,
        format,
    })
}

fn suffix(text: &str) -> Option<(u32, i32, Format)> {
    if let Some((_, base, exponent)) = SUFFIXES.iter().find(|(name, ..)| *name == text) {
        return Some((
            *base,
            *exponent,
            if *base == 2 {
                Format::BinarySI
            } else {
                Format::DecimalSI
            },
        ));
    }
    let exponent = text.strip_prefix(['e', 'E'])?.parse::<i64>().ok()?;
    Some((
        10,
        exponent.clamp(-1000, 1000) as i32,
        Format::DecimalExponent,
    ))
}

impl Quantity {
    /// Zero.
    pub const ZERO: Quantity = Quantity {
        nano: 0,
        format: Format::DecimalSI,
    };

    /// Parses a quantity. Amounts below a billionth are rounded up to it.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        let parts = split(text)?;
        let mut nano: i128 = 0;
        let mut scale = parts.exponent + 9;
        for byte in parts.num.bytes() {
            nano = nano
                .saturating_mul(10)
                .saturating_add(i128::from(byte - b'0'))
                .min(CAP);
        }
        if parts.base == 2 {
            scale = 9;
            nano = nano.saturating_mul(1 << parts.exponent).min(CAP);
            return Ok(Quantity::binary(&parts, nano, scale));
        }
        let mut lost = false;
        for byte in parts.denom.bytes() {
            if nano < CAP / 100 {
                nano = nano * 10 + i128::from(byte - b'0');
                scale -= 1;
            } else {
                lost |= byte != b'0';
            }
        }
        let nano = shift(nano, scale, lost);
        Ok(Quantity {
            nano: if parts.negative { -nano } else { nano },
            format: parts.format,
        })
    }

    fn binary(parts: &Parts<'_>, whole: i128, scale: i32) -> Quantity {
        // The fraction of a binary quantity: digits / 10^n * 2^exponent, in billionths, rounded up.
        let mut fraction: i128 = 0;
        let mut divisor: i128 = 1;
        for byte in parts.denom.bytes().take(12) {
            fraction = fraction * 10 + i128::from(byte - b'0');
            divisor *= 10;
        }
        let scaled = fraction.saturating_mul(1 << parts.exponent);
        let extra = (scaled / divisor).saturating_mul(NANO)
            + ((scaled % divisor) * NANO + divisor - 1) / divisor;
        let nano = shift(whole, scale, false)
            .saturating_add(extra)
            .min(i128::from(i64::MAX) * NANO);
        let format = if nano > 0 && nano < NANO {
            Format::DecimalSI
        } else {
            parts.format
        };
        Quantity {
            nano: if parts.negative { -nano } else { nano },
            format,
        }
    }

    /// Parses a JSON string or number; `None` if it is not a quantity.
    pub fn from_json(value: &serde_json::Value) -> Option<Quantity> {
        match value {
            serde_json::Value::String(text) => Quantity::parse(text).ok(),
            serde_json::Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
            _ => None,
        }
    }

    /// Builds a whole number of units.
    pub fn units(value: i64) -> Quantity {
        Quantity {
            nano: i128::from(value) * NANO,
            format: Format::DecimalSI,
        }
    }

    /// Builds a number of thousandths.
    pub fn millis(value: i64) -> Quantity {
        Quantity {
            nano: i128::from(value) * (NANO / 1000),
            format: Format::DecimalSI,
        }
    }

    /// Builds a number of bytes, printed in powers of two.
    pub fn bytes(value: i64) -> Quantity {
        Quantity {
            format: Format::BinarySI,
            ..Quantity::units(value)
        }
    }

    /// Returns the thousandths, rounded up.
    pub fn as_millis(self) -> i64 {
        self.rounded(NANO / 1000)
    }

    /// Returns the whole units, rounded up.
    pub fn as_units(self) -> i64 {
        self.rounded(NANO)
    }

    fn rounded(self, unit: i128) -> i64 {
        let up = (self.nano.abs() + unit - 1) / unit * self.nano.signum();
        i64::try_from(up).unwrap_or(if up < 0 { i64::MIN } else { i64::MAX })
    }

    /// Rounds the amount away from zero to thousandths, the precision of stored limits and requests.
    pub fn round_up_to_milli(self) -> Quantity {
        let unit = NANO / 1000;
        Quantity {
            nano: (self.nano.abs() + unit - 1) / unit * unit * self.nano.signum(),
            ..self
        }
    }

    /// Returns the notation.
    pub fn format(self) -> Format {
        self.format
    }

    /// Returns the amount as a floating-point number.
    pub fn as_f64(self) -> f64 {
        self.nano as f64 / 1e9
    }

    /// Returns true if the amount is zero.
    pub fn is_zero(self) -> bool {
        self.nano == 0
    }

    /// Returns true if the amount is below zero.
    pub fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// Returns true if the amount is a whole number.
    pub fn is_whole(self) -> bool {
        self.nano % NANO == 0
    }

    /// Returns the sum; zero takes the format of the other.
    #[must_use]
    pub fn plus(self, other: Quantity) -> Quantity {
        let format = if self.nano == 0 {
            other.format
        } else {
            self.format
        };
        Quantity {
            nano: self.nano.saturating_add(other.nano),
            format,
        }
    }

    /// Returns a multiple.
    #[must_use]
    pub fn times(self, factor: i64) -> Quantity {
        Quantity {
            nano: self.nano.saturating_mul(factor.into()),
            format: self.format,
        }
    }

    /// Returns the difference; zero takes the format of the other.
    #[must_use]
    pub fn minus(self, other: Quantity) -> Quantity {
        let format = if self.nano == 0 {
            other.format
        } else {
            self.format
        };
        Quantity {
            nano: self.nano.saturating_sub(other.nano),
            format,
        }
    }

    fn binary_text(self) -> Option<String> {
        let small = self.nano.abs() < 1024 * NANO;
        if self.format != Format::BinarySI || small || !self.is_whole() {
            return None;
        }
        let (mut amount, mut times) = (self.nano / NANO, 0);
        while amount % 1024 == 0 && times < 6 {
            amount /= 1024;
            times += 1;
        }
        Some(format!(
            "{amount}{}",
            ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][times]
        ))
    }
}

/// Returns `value * 10^scale`, rounded up, capped.
fn shift(value: i128, scale: i32, lost: bool) -> i128 {
    if value == 0 {
        return i128::from(lost);
    }
    if scale >= 0 {
        return 10i128
            .checked_pow(scale.unsigned_abs())
            .and_then(|p| value.checked_mul(p))
            .map_or(CAP, |v| v.min(CAP));
    }
    match 10i128.checked_pow(scale.unsigned_abs()) {
        Some(power) => value / power + i128::from(value % power != 0 || lost),
        None => 1,
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return f.write_str("0");
        }
        if let Some(text) = self.binary_text() {
            return f.write_str(&text);
        }
        let (mut amount, mut exponent) = (self.nano, -9);
        while amount % 1000 == 0 && exponent < 18 {
            amount /= 1000;
            exponent += 3;
        }
        if self.format == Format::DecimalExponent {
            return if exponent == 0 {
                write!(f, "{amount}")
            } else {
                write!(f, "{amount}e{exponent}")
            };
        }
        let name = SUFFIXES
            .iter()
            .find(|(_, base, e)| *base == 10 && *e == exponent)
            .map_or("", |(name, ..)| name);
        write!(f, "{amount}{name}")
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

/// Returns the canonical form of a quantity's text; text that is not a quantity is left as it is.
pub fn canonical(text: &str) -> String {
    match Quantity::parse(text) {
        // Text that Go takes for canonical is kept verbatim, even where printing differs.
        Ok(_) if text == "0" || go_form(text).is_some_and(|form| form.cached) => text.to_owned(),
        Ok(quantity) => quantity.to_string(),
        Err(_) => text.to_owned(),
    }
}

/// Returns Go's internal form of a parsed text.
pub fn go_form(text: &str) -> Option<GoForm> {
    if text == "0" {
        return Some(GoForm {
            fast: Some((0, 0)),
            cached: true,
        });
    }
    let parts = split(text).ok()?;
    let shifted = format!("{}{}", parts.num, parts.denom);
    let digits = shifted.len() as i32;
    let (mut scale, mantissa, precision) = match parts.format {
        Format::BinarySI if parts.denom.is_empty() => {
            // A power of 1024 has about three digits of decimal precision.
            (
                0,
                1i64 << parts.exponent,
                15 - digits - parts.exponent * 3 / 10 - 1,
            )
        }
        Format::BinarySI => {
            return Some(GoForm {
                fast: None,
                cached: false,
            });
        }
        _ => (parts.exponent, 1, 18 - digits),
    };
    scale -= parts.denom.len() as i32;
    if precision < 0 || scale < -9 {
        return Some(GoForm {
            fast: None,
            cached: false,
        });
    }
    let value = shifted.parse::<i64>().ok()?;
    let Some(mut result) = value.checked_mul(mantissa) else {
        return Some(GoForm {
            fast: None,
            cached: false,
        });
    };
    if parts.negative {
        result = -result;
    }
    let cached = match parts.format {
        Format::BinarySI => value & 7 != 0,
        _ => scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0'),
    };
    Some(GoForm {
        fast: Some((result, scale)),
        cached,
    })
}

/// Returns the thousandths of a JSON quantity; 0 if it does not parse.
pub fn milli_of(value: &serde_json::Value) -> i64 {
    Quantity::from_json(value).map_or(0, Quantity::as_millis)
}

/// Returns the whole units of a JSON quantity, rounded up; 0 if it does not parse.
pub fn units_of(value: &serde_json::Value) -> i64 {
    Quantity::from_json(value).map_or(0, Quantity::as_units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_stored_in_canonical_form() {
        for (text, stored) in [
            ("0", "0"),
            ("1024Mi", "1Gi"),
            ("0.5", "500m"),
            ("1", "1"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("64Mi", "64Mi"),
            ("1.5Gi", "1536Mi"),
            ("128974848", "128974848"),
            ("129e6", "129e6"),
            ("129M", "129M"),
            ("1000k", "1M"),
            ("0.1", "100m"),
            ("100m", "100m"),
            ("1e3", "1e3"),
            ("2E", "2E"),
            ("0Mi", "0"),
            ("512Ki", "512Ki"),
            ("1Ki", "1Ki"),
            ("100Ki", "100Ki"),
            ("1Pi", "1Pi"),
            ("+5", "+5"),
            ("-1", "-1"),
            ("1000", "1k"),
            ("8Gi", "8Gi"),
            ("2.50", "2500m"),
            ("1.0", "1"),
            ("10", "10"),
            ("0.0000000001", "1n"),
        ] {
            assert_eq!(canonical(text), stored, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_told_in_kubernetes_words() {
        for text in ["", "1GB!", "abc", "1 Gi", "64mb"] {
            assert_eq!(
                Quantity::parse(text).unwrap_err(),
                QuantityError::Format,
                "{text}"
            );
        }
        for text in ["1KiB", "1K", "5mm", "1ee"] {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
        assert_eq!(Quantity::parse("1K").unwrap_err(), QuantityError::Suffix);
        assert_eq!(Quantity::parse(".").unwrap_err(), QuantityError::Numeric);
    }

    #[test]
    fn quantities_compare_across_formats() {
        let q = |text| Quantity::parse(text).unwrap();
        assert_eq!(q("1Gi"), q("1024Mi"));
        assert!(q("1G") < q("1Gi"));
        assert!(q("500m") < q("1"));
        assert_eq!(q("100m").plus(q("0.4")).to_string(), "500m");
        assert_eq!(q("1Gi").minus(q("512Mi")).to_string(), "512Mi");
        assert_eq!(q("1.5").as_units(), 2);
        assert_eq!(q("0.0001").round_up_to_milli().to_string(), "1m");
        assert_eq!(q("1e100").as_units(), i64::MAX);
        assert_eq!(q(&"9".repeat(400)).as_units(), i64::MAX);
    }
}
