//! Functions of the expression language.

use super::eval::order;
use crate::go_regex::GoRegex;
use crate::time::duration;
use serde_json::Value;
use std::cmp::Ordering;

/// Formats a value as text.
pub(super) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn wrong() -> String {
    "no such overload".to_owned()
}

/// Evaluates a call; a method's receiver is the first argument.
pub(super) fn call(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let [of, rest @ ..] = arguments else {
        return Err(wrong());
    };
    match of {
        _ if name == "dyn" => Ok(of.clone()),
        Value::Array(items) => listed(name, items, rest),
        Value::Object(map) if name == "size" => Ok(Value::from(map.len())),
        Value::String(text) => of_text(name, text, rest),
        Value::Number(number) => match name {
            "int" => Ok(Value::from(
                number
                    .as_i64()
                    .unwrap_or_else(|| number.as_f64().unwrap_or(0.0) as i64),
            )),
            "double" => Ok(Value::from(number.as_f64().unwrap_or(0.0))),
            "string" => Ok(Value::String(number.to_string())),
            _ => Err(wrong()),
        },
        Value::Bool(truth) if name == "string" => Ok(Value::String(truth.to_string())),
        Value::Bool(_) if name == "bool" => Ok(of.clone()),
        _ => Err(wrong()),
    }
}

fn of_text(name: &str, text: &str, rest: &[Value]) -> Result<Value, String> {
    let word = |at: usize| rest.get(at).and_then(Value::as_str).ok_or_else(wrong);
    let place = |at: usize| rest.get(at).and_then(Value::as_i64);
    let cut = |from: i64, to: i64| {
        let letters: Vec<char> = text.chars().collect();
        let valid = 0 <= from && from <= to && to <= letters.len() as i64;
        if valid {
            Ok(letters[from as usize..to as usize]
                .iter()
                .collect::<String>())
        } else {
            Err(format!("index out of range: {from}"))
        }
    };
    let matched = |pattern: &str| GoRegex::new(pattern).map_err(|error| error.to_string());
    let length = text.chars().count() as i64;
    let index =
        |at: Option<usize>| Value::from(at.map_or(-1, |at| text[..at].chars().count() as i64));
    Ok(match name {
        "size" => Value::from(length),
        "startsWith" => Value::Bool(text.starts_with(word(0)?)),
        "endsWith" => Value::Bool(text.ends_with(word(0)?)),
        "contains" => Value::Bool(text.contains(word(0)?)),
        "matches" => Value::Bool(matched(word(0)?)?.is_match(text)),
        "find" => {
            let found = matched(word(0)?)?.find(text);
            Value::from(found.map_or("", |found| &text[found]))
        }
        "lowerAscii" => Value::String(text.to_ascii_lowercase()),
        "upperAscii" => Value::String(text.to_ascii_uppercase()),
        "trim" => Value::String(text.trim().to_owned()),
        "reverse" => Value::String(text.chars().rev().collect()),
        "split" => {
            let most = place(1).filter(|most| *most >= 0).unwrap_or(i64::MAX) as usize;
            let parts: Vec<Value> = match word(0)? {
                "" => text.chars().map(|c| Value::String(c.into())).collect(),
                by => text.splitn(most, by).map(Value::from).collect(),
            };
            Value::Array(parts)
        }
        "replace" => {
            let most = place(2).filter(|most| *most >= 0).unwrap_or(i64::MAX) as usize;
            Value::String(text.replacen(word(0)?, word(1)?, most))
        }
        "substring" => Value::String(cut(
            place(0).ok_or_else(wrong)?,
            place(1).unwrap_or(length),
        )?),
        "charAt" => {
            let at = place(0).ok_or_else(wrong)?;
            Value::String(cut(at, (at + 1).min(length))?)
        }
        "indexOf" => index(text.find(word(0)?)),
        "lastIndexOf" => index(text.rfind(word(0)?)),
        "int" => text
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| format!("type conversion error from 'string' to 'int': {text}"))?,
        "double" => text
            .parse::<f64>()
            .map(Value::from)
            .map_err(|_| format!("type conversion error from 'string' to 'double': {text}"))?,
        "string" => Value::from(text),
        // Durations are held in microseconds, which compare in the same order.
        "duration" => duration(text)
            .map(Value::from)
            .ok_or_else(|| format!("time: invalid duration {text:?}"))?,
        "bool" => Value::Bool(text == "true"),
        _ => return Err(wrong()),
    })
}

fn listed(name: &str, items: &[Value], rest: &[Value]) -> Result<Value, String> {
    let best = |wanted: Ordering| {
        let mut found: Option<&Value> = None;
        for item in items {
            if found.is_none_or(|found| order(item, found) == Some(wanted)) {
                found = Some(item);
            }
        }
        found
            .cloned()
            .ok_or_else(|| format!("{name} called on empty list"))
    };
    Ok(match name {
        "size" => Value::from(items.len()),
        "join" => Value::String(
            items
                .iter()
                .map(shown)
                .collect::<Vec<_>>()
                .join(rest.first().and_then(Value::as_str).unwrap_or("")),
        ),
        "isSorted" => Value::Bool(
            items
                .windows(2)
                .all(|pair| order(&pair[0], &pair[1]).is_some_and(Ordering::is_le)),
        ),
        "sum" if items.iter().all(|item| item.is_i64() || item.is_u64()) => {
            let sum = items
                .iter()
                .filter_map(Value::as_i64)
                .try_fold(0_i64, i64::checked_add);
            Value::from(sum.ok_or("integer overflow")?)
        }
        "sum" => Value::from(items.iter().filter_map(Value::as_f64).sum::<f64>()),
        "min" => best(Ordering::Less)?,
        "max" => best(Ordering::Greater)?,
        "indexOf" => Value::from(
            items
                .iter()
                .position(|item| Some(item) == rest.first())
                .map_or(-1, |at| at as i64),
        ),
        "lastIndexOf" => Value::from(
            items
                .iter()
                .rposition(|item| Some(item) == rest.first())
                .map_or(-1, |at| at as i64),
        ),
        "reverse" => Value::Array(items.iter().rev().cloned().collect()),
        _ => return Err(wrong()),
    })
}
