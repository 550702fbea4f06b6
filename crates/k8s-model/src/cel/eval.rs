//! Evaluation of expressions.

use super::functions;
use super::parse::CelExpr;
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Maximum number of evaluation steps of a rule, so that a rule cannot block the page.
const MOST_STEPS: usize = 200_000;

/// Evaluates an expression with variables by name.
pub(super) fn evaluate(expr: &CelExpr, variables: &[(&str, &Value)]) -> Result<Value, String> {
    let names = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).clone()));
    Evaluator {
        names: names.collect(),
        left: MOST_STEPS,
    }
    .value(expr)
}

struct Evaluator {
    names: Vec<(String, Value)>,
    left: usize,
}

fn truth(value: Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "no such overload".to_owned())
}

/// Returns the memory cost of a value, in steps.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 16,
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(map) => {
            1 + map
                .iter()
                .map(|(key, value)| 1 + key.len() / 16 + size(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

impl Evaluator {
    fn spend(&mut self, steps: usize) -> Result<(), String> {
        self.left = self
            .left
            .checked_sub(steps)
            .ok_or("operation cancelled: actual cost limit exceeded")?;
        Ok(())
    }

    fn value(&mut self, expr: &CelExpr) -> Result<Value, String> {
        self.spend(1)?;
        match expr {
            CelExpr::Literal(value) => Ok(value.clone()),
            // Only the field is copied, not the whole object.
            CelExpr::Field(of, name, _) => self.with(of, &mut |of| field(of, name)),
            CelExpr::Has(of, name, _) => self.with(of, &mut |of| {
                Ok(Value::Bool(
                    of.get(name).is_some_and(|value| !value.is_null()),
                ))
            }),
            CelExpr::Name(..) => self.with(expr, &mut |value| Ok(value.clone())),
            CelExpr::Index(of, index) => {
                let index = self.value(index)?;
                self.with(of, &mut |of| at(of, &index))
            }
            CelExpr::Not(of) => Ok(Value::Bool(!truth(self.value(of)?)?)),
            CelExpr::Negative(of) => {
                let value = self.value(of)?;
                match value.as_i64() {
                    Some(whole) => whole
                        .checked_neg()
                        .map(Value::from)
                        .ok_or_else(|| "integer overflow".to_owned()),
                    None => value
                        .as_f64()
                        .map(|number| Value::from(-number))
                        .ok_or_else(|| "no such overload".to_owned()),
                }
            }
            CelExpr::Binary(sign @ ("&&" | "||"), left, right, _) => {
                self.joined(*sign == "||", left, right)
            }
            CelExpr::Binary(sign, left, right, _) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let result = binary(sign, &left, &right)?;
                self.spend(size(&result))?;
                Ok(result)
            }
            CelExpr::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                let yes = if truth(self.value(condition)?)? {
                    yes
                } else {
                    no
                };
                self.value(yes)
            }
            CelExpr::List(items) => items
                .iter()
                .map(|item| self.value(item))
                .collect::<Result<Vec<Value>, String>>()
                .map(Value::Array),
            CelExpr::Map(pairs) => {
                let mut map = Map::new();
                for (key, value) in pairs {
                    map.insert(functions::shown(&self.value(key)?), self.value(value)?);
                }
                Ok(Value::Object(map))
            }
            CelExpr::Call(name, of, arguments, _) => {
                let mut values = Vec::new();
                for part in of.iter().map(|of| &**of).chain(arguments) {
                    values.push(self.value(part)?);
                }
                functions::call(name, &values)
            }
            CelExpr::Each(each, list, element, asked) => {
                let list = self.value(list)?;
                self.each(each, list, element, asked)
            }
        }
    }

    /// Applies a function to a value, which is borrowed rather than copied if it is part of a variable.
    fn with(
        &mut self,
        expr: &CelExpr,
        make: &mut dyn FnMut(&Value) -> Result<Value, String>,
    ) -> Result<Value, String> {
        match self.place(expr)? {
            Some(value) => make(value),
            None => make(&self.value(expr)?),
        }
    }

    fn place(&self, expr: &CelExpr) -> Result<Option<&Value>, String> {
        Ok(match expr {
            CelExpr::Name(name, _) => {
                let found = self
                    .names
                    .iter()
                    .rev()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value);
                Some(found.ok_or_else(|| format!("no such attribute(s): {name}"))?)
            }
            CelExpr::Field(of, name, _) => match self.place(of)? {
                Some(of) => Some(of.get(name).ok_or_else(|| format!("no such key: {name}"))?),
                None => None,
            },
            _ => None,
        })
    }

    /// Evaluates `&&` and `||`: an error does not matter if the other side decides.
    fn joined(&mut self, wanted: bool, left: &CelExpr, right: &CelExpr) -> Result<Value, String> {
        let first = self.value(left).and_then(truth);
        if first == Ok(wanted) {
            return Ok(Value::Bool(wanted));
        }
        let second = self.value(right).and_then(truth);
        if second == Ok(wanted) {
            return Ok(Value::Bool(wanted));
        }
        first.and(second).map(Value::Bool)
    }

    fn each(
        &mut self,
        each: &str,
        list: Value,
        element: &str,
        asked: &[CelExpr],
    ) -> Result<Value, String> {
        let items = match list {
            Value::Array(items) => items,
            Value::Object(map) => map.into_iter().map(|(key, _)| Value::String(key)).collect(),
            _ => return Err("no such overload".to_owned()),
        };
        let (mut found, mut kept, mut failed) = (0, Vec::new(), None);
        for item in items {
            self.names.push((element.to_owned(), item));
            let answers: Result<Vec<Value>, String> =
                asked.iter().map(|asked| self.value(asked)).collect();
            let Some((_, item)) = self.names.pop() else {
                continue;
            };
            // Kept values take memory.
            if let Ok(values) = &answers {
                self.spend(values.iter().map(size).sum())?;
            }
            match (each, answers.as_deref()) {
                ("map", Ok([mapped])) => kept.push(mapped.clone()),
                ("map", Ok([Value::Bool(true), mapped])) => kept.push(mapped.clone()),
                ("map", Ok(_)) => {}
                ("filter", Ok([Value::Bool(true)])) => kept.push(item),
                ("all", Ok([Value::Bool(false)])) => return Ok(Value::Bool(false)),
                ("exists", Ok([Value::Bool(true)])) => return Ok(Value::Bool(true)),
                ("exists_one", Ok([Value::Bool(true)])) => found += 1,
                (_, Ok(_)) => {}
                (_, Err(error)) => failed = Some(error.clone()),
            }
        }
        match (each, failed) {
            (_, Some(error)) => Err(error),
            ("map" | "filter", None) => Ok(Value::Array(kept)),
            ("exists_one", None) => Ok(Value::Bool(found == 1)),
            (each, None) => Ok(Value::Bool(each == "all")),
        }
    }
}

fn field(of: &Value, name: &str) -> Result<Value, String> {
    of.get(name)
        .cloned()
        .ok_or_else(|| format!("no such key: {name}"))
}

fn at(of: &Value, index: &Value) -> Result<Value, String> {
    match (of, index) {
        (Value::Object(map), key) => {
            let key = functions::shown(key);
            map.get(&key)
                .cloned()
                .ok_or_else(|| format!("no such key: {key}"))
        }
        (Value::Array(items), Value::Number(number)) => {
            let place = number.as_u64().and_then(|place| items.get(place as usize));
            place
                .cloned()
                .ok_or_else(|| format!("index out of bounds: {number}"))
        }
        _ => Err("no such overload".to_owned()),
    }
}

/// Compares numbers, strings and booleans.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Returns true if two values are equal; 1 and 1.0 are.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => order(left, right) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => left == right,
    }
}

fn binary(sign: &str, left: &Value, right: &Value) -> Result<Value, String> {
    let overload = || "no such overload".to_owned();
    Ok(match sign {
        "==" => Value::Bool(same(left, right)),
        "!=" => Value::Bool(!same(left, right)),
        "in" => Value::Bool(match right {
            Value::Array(items) => items.iter().any(|item| same(item, left)),
            Value::Object(map) => map.contains_key(&functions::shown(left)),
            _ => return Err(overload()),
        }),
        "<" | "<=" | ">" | ">=" => {
            let order = order(left, right).ok_or_else(overload)?;
            Value::Bool(match sign {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            })
        }
        _ => match (sign, left, right) {
            ("+", Value::String(a), Value::String(b)) => Value::String(format!("{a}{b}")),
            ("+", Value::Array(a), Value::Array(b)) => {
                Value::Array(a.iter().chain(b).cloned().collect())
            }
            (_, Value::Number(a), Value::Number(b)) => number(sign, a, b)?,
            _ => return Err(overload()),
        },
    })
}

fn number(sign: &str, a: &serde_json::Number, b: &serde_json::Number) -> Result<Value, String> {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        if b == 0 && matches!(sign, "/" | "%") {
            return Err(if sign == "/" {
                "division by zero"
            } else {
                "modulus by zero"
            }
            .to_owned());
        }
        let result = match sign {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "/" => a.checked_div(b),
            _ => a.checked_rem(b),
        };
        return result
            .map(Value::from)
            .ok_or_else(|| "integer overflow".to_owned());
    }
    let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
    Ok(Value::from(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => return Err("no such overload".to_owned()),
    }))
}
