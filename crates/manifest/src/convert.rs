//! Conversion of a document's text to JSON values, as in `sigs.k8s.io/yaml`.
//!
//! The YAML crate implements YAML 1.2; Kubernetes reads 1.1, where `yes` is a boolean and `0644` is octal. So plain scalars are converted
//! again here. Expansion of aliases is bounded by a budget.

use super::words::TextFault;
use crate::words;
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// Parse error of a document, with its position in the text.
#[derive(Debug)]
pub struct ParseFault {
    /// Error.
    pub fault: TextFault,
    /// Line in the document, from 1; 0 if unknown.
    pub line: usize,
    /// Column, from 1; 0 if unknown.
    pub column: usize,
}

/// Maximum nesting.
const DEPTH: usize = 128;
/// Maximum number of unclosed brackets passed to the scanner, whose cost grows with them.
const BRACKETS: usize = 512;
const BAD_KEY: &str = "invalid map key: ";
const EXCESSIVE: &str = "document contains excessive aliasing";

/// Returns the values of a document: one, or several for consecutive JSON objects.
pub fn documents(text: &str) -> Result<Vec<Value>, ParseFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if open_brackets(text) > BRACKETS {
        return Err(ParseFault {
            fault: words::yaml("exceeded max depth of 10000"),
            line: 0,
            column: 0,
        });
    }
    if text.trim_start().starts_with('{') {
        let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text)
            .into_iter()
            .collect();
        if let Ok(values) = values {
            return Ok(values);
        }
    }
    yaml(text).map(|value| vec![value])
}

fn open_brackets(text: &str) -> usize {
    let (mut open, mut most) = (0usize, 0usize);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn yaml(text: &str) -> Result<Value, ParseFault> {
    let Some(document) = serde_yaml::Deserializer::from_str(text).next() else {
        return Ok(Value::Null);
    };
    // Without aliases no document has more nodes or characters than its text.
    let budget = Cell::new(text.len() + 200_000);
    Node {
        text,
        budget: &budget,
    }
    .deserialize(document)
    .map_err(|error| fault(&error))
}

/// Converts an error of the YAML crate to Go's words: the same problem, but with lines counted as in Go.
fn fault(error: &serde_yaml::Error) -> ParseFault {
    let (line, column) = error.location().map_or((0, 0), |l| (l.line(), l.column()));
    let shown = error.to_string();
    let at = |text: &str| {
        text.find(" at line ")
            .or(text.find(" at position "))
            .unwrap_or(text.len())
    };
    let mut problem = shown[..at(&shown)]
        .split(", while ")
        .next()
        .unwrap_or("")
        .to_owned();
    if problem.contains("recursion limit exceeded") {
        problem = format!("exceeded max depth of {DEPTH}");
    } else if problem.contains("repetition limit exceeded") || problem.contains(EXCESSIVE) {
        problem = EXCESSIVE.to_owned();
    } else if let Some(at) = shown.find(BAD_KEY) {
        // The rest may contain any words; Go names no line here.
        let end = shown
            .rfind(" at line ")
            .filter(|end| *end > at)
            .unwrap_or(shown.len());
        return ParseFault {
            fault: words::yaml(&shown[at..end]),
            line,
            column,
        };
    } else if let Some(json) = problem.split("json: ").nth(1) {
        return ParseFault {
            fault: TextFault::Parsing(format!("error converting YAML to JSON: json: {json}")),
            line,
            column,
        };
    }
    // Go counts from 0, except in the scanner.
    let scanner = format!("{error:?}").contains("SCANNER");
    let shown_line = if scanner && line > 1 {
        line
    } else {
        line.saturating_sub(1)
    };
    let place = if shown_line == 0 {
        String::new()
    } else {
        format!("line {shown_line}: ")
    };
    ParseFault {
        fault: words::yaml(&format!("{place}{problem}")),
        line,
        column,
    }
}

/// Deserializer of one node into JSON.
#[derive(Clone, Copy)]
struct Node<'t> {
    text: &'t str,
    budget: &'t Cell<usize>,
}

impl Node<'_> {
    fn spend<E: serde::de::Error>(&self, cost: usize) -> Result<(), E> {
        let left = self
            .budget
            .get()
            .checked_sub(cost)
            .ok_or_else(|| E::custom(EXCESSIVE))?;
        self.budget.set(left);
        Ok(())
    }

    /// Returns true if a piece of the text is unquoted.
    fn is_plain(&self, piece: &str) -> bool {
        let offset = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let before = offset
            .checked_sub(1)
            .and_then(|i| self.text.as_bytes().get(i));
        offset < self.text.len() && !matches!(before, Some(b'"' | b'\''))
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::from(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::from(value))
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.spend(1)?;
        float(value).ok_or_else(|| {
            let name = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            E::custom(format!("json: unsupported value: {name}"))
        })
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, value: &'de str) -> Result<Value, E> {
        self.spend(1 + value.len())?;
        if self.is_plain(value)
            && let Some(value) = old_scalar(value)
        {
            return Ok(value);
        }
        Ok(Value::from(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.spend(1 + value.len())?;
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.spend(1)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.spend(1)?;
        let mut map = Map::new();
        let mut merged = Vec::new();
        while let Some(key) = entries.next_key_seed(self)? {
            let value = entries.next_value_seed(self)?;
            match key_text(&key) {
                Some(key) if key == "<<" => merged.push(value),
                // The last of equal keys wins, as in Kubernetes.
                Some(key) => drop(map.insert(key, value)),
                None => {
                    return Err(A::Error::custom(format!("{BAD_KEY}{}", go(&key))));
                }
            }
        }
        for value in merged {
            merge(&mut map, value).map_err(A::Error::custom)?;
        }
        Ok(Value::Object(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        // An application tag has no meaning in JSON.
        let (_, variant): (serde::de::IgnoredAny, _) = data.variant()?;
        variant.newtype_variant_seed(self)
    }
}

/// Converts a float as Go prints it in JSON: whole numbers without a point.
fn float(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

/// Returns the YAML 1.1 value of a plain scalar that is only text in YAML 1.2.
fn old_scalar(text: &str) -> Option<Value> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Value::Bool(false)),
        _ => {}
    }
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || text.len() > 40 {
        return None;
    }
    let sign = if plain.starts_with('-') { -1 } else { 1 };
    if digits.bytes().all(|b| matches!(b, b'0'..=b'7'))
        && digits.len() > 1
        && digits.starts_with('0')
    {
        return i64::from_str_radix(digits, 8)
            .ok()
            .map(|n| Value::from(sign * n));
    }
    if digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        return plain.parse::<f64>().ok().and_then(float);
    }
    None
}

/// Returns a key in the form that JSON allows.
fn key_text(key: &Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(key.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Formats a value as Go prints it with its types: `{{name}}` in a template is a map with a map as its key.
fn go(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => format!(
            "[]interface {{}}{{{}}}",
            items.iter().map(go).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", go(value)))
                .collect();
            format!(
                "map[interface {{}}]interface {{}}{{{}}}",
                entries.join(", ")
            )
        }
        other => other.to_string(),
    }
}

/// Merges `<<: *base`: keys of the base that are not set here.
fn merge(map: &mut Map<String, Value>, value: Value) -> Result<(), &'static str> {
    match value {
        Value::Object(base) => {
            for (key, value) in base {
                map.entry(key).or_insert(value);
            }
            Ok(())
        }
        Value::Array(items) => items.into_iter().try_for_each(|item| match item {
            Value::Object(_) => merge(map, item),
            _ => Err("map merge requires map or sequence of maps as the value"),
        }),
        _ => Err("map merge requires map or sequence of maps as the value"),
    }
}
