//! Functions of the language, and methods of its types.

use crate::api;
use crate::ast::Name;
use crate::error::Problem;
use crate::eval::{At, Done, Interpreter, operation, unchecked};
use crate::value::{Dict, Key, Place, Value};
use std::cmp::Ordering;

type Answer = Result<Value, Problem>;

/// Maximum nesting that `diff` compares.
const DEEPEST: u32 = 30;

impl Interpreter<'_> {
    /// Calls a function of the language.
    pub fn builtin(
        &mut self,
        line: u32,
        name: &str,
        values: &[Value],
        named: &[(Name, Value)],
    ) -> Done<Value> {
        let option = |name: &str| {
            let found = named.iter().find(|(known, _)| **known == *name);
            found.map(|(_, value)| value.clone())
        };
        match name {
            "sorted" | "min" | "max" => {
                return self.ordered(line, name, values, option("key"), option("reverse"));
            }
            "print" => return self.print(line, values),
            _ => {}
        }
        if let Some((unknown, _)) = named.first() {
            let reason = format!("argument '{unknown}' is not expected");
            return Err(wrong(name, &reason)).at(line);
        }
        self.plain(name, values).at(line)
    }

    /// Logs values, with spaces between them.
    fn print(&mut self, line: u32, values: &[Value]) -> Done<Value> {
        let texts = values.iter().map(|value| self.heap.show(value, false));
        let texts = texts.collect::<Result<Vec<_>, _>>().at(line)?;
        let text = Value::Text(texts.join(" ").into());
        match api::cluster_function("log") {
            Some(log) => self.ask(line, log, vec![text], Vec::new()),
            None => Ok(Value::None),
        }
    }

    fn plain(&mut self, name: &str, values: &[Value]) -> Answer {
        match (name, values) {
            ("len", [value]) => self.length(value),
            ("range", [Value::Int(end)]) => self.range(0, *end, 1),
            ("range", [Value::Int(start), Value::Int(end)]) => self.range(*start, *end, 1),
            ("range", [Value::Int(start), Value::Int(end), Value::Int(step)]) => {
                self.range(*start, *end, *step)
            }
            ("str", [value]) => {
                let text = self.heap.show(value, false)?;
                Ok(Value::Text(text.into()))
            }
            ("repr", [value]) => {
                let text = self.heap.show(value, true)?;
                Ok(Value::Text(text.into()))
            }
            ("int", [value]) => integer(value),
            ("float", [value]) => match value {
                Value::Int(number) => Ok(Value::Float(*number as f64)),
                Value::Float(number) => Ok(Value::Float(*number)),
                Value::Text(text) => {
                    let number = text
                        .trim()
                        .parse()
                        .ok()
                        .filter(|number: &f64| number.is_finite());
                    number
                        .map(Value::Float)
                        .ok_or_else(|| operation("float", &[value]))
                }
                other => Err(operation("float", &[other])),
            },
            ("bool", [value]) => Ok(Value::Bool(self.heap.is_true(value))),
            ("type", [value]) => Ok(Value::Text(value.type_name().into())),
            ("abs", [Value::Int(number)]) => number
                .checked_abs()
                .map(Value::Int)
                .ok_or(Problem::Overflow),
            ("abs", [Value::Float(number)]) => Ok(Value::Float(number.abs())),
            ("any", [items]) => {
                let items = self.iterate(items)?;
                Ok(Value::Bool(
                    items.iter().any(|item| self.heap.is_true(item)),
                ))
            }
            ("all", [items]) => {
                let items = self.iterate(items)?;
                Ok(Value::Bool(
                    items.iter().all(|item| self.heap.is_true(item)),
                ))
            }
            ("sum", [items]) => {
                let mut sum = Value::Int(0);
                for item in self.iterate(items)? {
                    sum = self.binary("+", &sum, &item)?;
                }
                Ok(sum)
            }
            ("reversed", [items]) => {
                let mut items = self.iterate(items)?;
                items.reverse();
                self.heap.list(items)
            }
            ("enumerate", [items]) => {
                let mut pairs = Vec::new();
                for (i, item) in self.iterate(items)?.into_iter().enumerate() {
                    pairs.push(self.heap.list(vec![Value::Int(i as i64), item])?);
                }
                self.heap.list(pairs)
            }
            ("zip", [a, b]) => {
                let (a, b) = (self.iterate(a)?, self.iterate(b)?);
                let mut pairs = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    pairs.push(self.heap.list(vec![a, b])?);
                }
                self.heap.list(pairs)
            }
            ("dict", []) => self.heap.dict(Dict::default()),
            ("dict", [Value::Dict(place)]) => self.copy(*place),
            ("fail", [message]) => Err(Problem::Failed(self.heap.show(message, false)?)),
            ("is_error", [value]) => Ok(Value::Bool(matches!(value, Value::Failure(_)))),
            ("check", [Value::Failure(failure)]) => Err(unchecked(failure)),
            ("check", [value]) => Ok(value.clone()),
            ("diff", [desired, current]) => {
                let mut differences = Vec::new();
                self.differences("", desired, current, 0, &mut differences)?;
                let texts = differences.into_iter().map(|text| Value::Text(text.into()));
                self.heap.list(texts.collect())
            }
            ("set_owner", [child, owner]) => self.set_owner(child, owner),
            ("has_finalizer", [object, name]) => {
                let finalizers = self.finalizers(object)?;
                Ok(Value::Bool(self.position(finalizers, name)?.is_some()))
            }
            ("add_finalizer", [object, name]) => {
                let finalizers = self.finalizers(object)?;
                if self.position(finalizers, name)?.is_some() {
                    return Ok(Value::Bool(false));
                }
                self.push(finalizers, name.clone())?;
                Ok(Value::Bool(true))
            }
            ("remove_finalizer", [object, name]) => {
                let finalizers = self.finalizers(object)?;
                let found = self.position(finalizers, name)?;
                if let Some((items, at)) = self.heap.items_mut(finalizers).zip(found) {
                    items.remove(at);
                }
                Ok(Value::Bool(found.is_some()))
            }
            _ => {
                let types: Vec<_> = values.iter().map(Value::type_name).collect();
                let reason = format!("arguments ({}) are not expected", types.join(", "));
                Err(wrong(name, &reason))
            }
        }
    }

    fn length(&mut self, value: &Value) -> Answer {
        let length = match value {
            Value::Text(text) => text.chars().count(),
            Value::List(place) => self.heap.items(*place).len(),
            Value::Dict(place) => self.heap.entries(*place)?.len(),
            // A field that an object does not have holds nothing.
            Value::None => 0,
            Value::Failure(failure) => return Err(unchecked(failure)),
            other => return Err(operation("len", &[other])),
        };
        self.heap.take(length / 64)?;
        Ok(Value::Int(length as i64))
    }

    fn range(&mut self, start: i64, end: i64, step: i64) -> Answer {
        if step == 0 {
            return Err(wrong("range", "the step is 0"));
        }
        let mut items = Vec::new();
        let mut at = start;
        while if step > 0 { at < end } else { at > end } {
            self.heap.take(32)?;
            items.push(Value::Int(at));
            let Some(next) = at.checked_add(step) else {
                break;
            };
            at = next;
        }
        self.heap.list(items)
    }

    /// Sorts items by a key, or finds the least or greatest.
    fn ordered(
        &mut self,
        line: u32,
        name: &str,
        values: &[Value],
        key: Option<Value>,
        reverse: Option<Value>,
    ) -> Done<Value> {
        let items = match values {
            [items] => self.iterate(items).at(line)?,
            values if name != "sorted" => values.to_vec(),
            _ => return Err(wrong(name, "takes one list")).at(line),
        };
        let mut ranked = Vec::with_capacity(items.len());
        for item in items {
            let rank = match &key {
                Some(key) => self.apply(line, key, vec![item.clone()], Vec::new())?,
                None => item.clone(),
            };
            ranked.push((rank, item));
        }
        let mut problem = None;
        let mut compare = |a: &(Value, Value), b: &(Value, Value)| match self.order("<", &a.0, &b.0)
        {
            Ok(order) => order.unwrap_or(Ordering::Equal),
            Err(error) => {
                problem.get_or_insert(error);
                Ordering::Equal
            }
        };
        merge_sort(&mut ranked, &mut compare);
        if let Some(problem) = problem {
            return Err(problem).at(line);
        }
        let mut items: Vec<Value> = ranked.into_iter().map(|(_, item)| item).collect();
        match name {
            "sorted" => {
                if reverse.is_some_and(|reverse| self.heap.is_true(&reverse)) {
                    items.reverse();
                }
                self.heap.list(items).at(line)
            }
            "min" => items
                .into_iter()
                .next()
                .ok_or_else(|| wrong(name, "the list is empty"))
                .at(line),
            _ => items
                .pop()
                .ok_or_else(|| wrong(name, "the list is empty"))
                .at(line),
        }
    }

    fn copy(&mut self, place: Place) -> Answer {
        let mut dict = Dict::default();
        for (key, value) in self.heap.entries(place)?.iter() {
            dict.insert(key.clone(), value.clone());
        }
        self.heap.dict(dict)
    }

    /// Collects the fields of the desired value that the current one has not, as texts.
    fn differences(
        &mut self,
        path: &str,
        desired: &Value,
        current: &Value,
        depth: u32,
        found: &mut Vec<String>,
    ) -> Result<(), Problem> {
        if depth > DEEPEST {
            return Err(Problem::Depth);
        }
        let below = |name: &str| match path.is_empty() {
            true => name.to_owned(),
            false => format!("{path}.{name}"),
        };
        match (desired, current) {
            (Value::Dict(desired), Value::Dict(current)) => {
                let entries: Vec<(Key, Value)> =
                    self.heap.entries(*desired)?.iter().cloned().collect();
                for (key, value) in &entries {
                    let other = self.heap.entries(*current)?.get(key).cloned();
                    let other = other.unwrap_or(Value::None);
                    let path = below(&key.to_string());
                    self.differences(&path, value, &other, depth + 1, found)?;
                }
            }
            (Value::List(a), Value::List(b))
                if self.heap.items(*a).len() == self.heap.items(*b).len() =>
            {
                let pairs: Vec<(Value, Value)> = {
                    let (a, b) = (self.heap.items(*a), self.heap.items(*b));
                    a.iter().cloned().zip(b.iter().cloned()).collect()
                };
                for (i, (a, b)) in pairs.iter().enumerate() {
                    let path = format!("{path}[{i}]");
                    self.differences(&path, a, b, depth + 1, found)?;
                }
            }
            _ => {
                if !self.heap.equal(desired, current)? {
                    let show = |heap: &mut crate::value::Heap, value: &Value| {
                        heap.brief(value).unwrap_or_default()
                    };
                    let from = show(&mut self.heap, current);
                    let to = show(&mut self.heap, desired);
                    let text = format!("{path}: {from} != {to}");
                    self.heap.take(text.len())?;
                    found.push(text);
                }
            }
        }
        Ok(())
    }

    /// Returns a dict of an object, which is created if it is missing.
    fn dict_in(&mut self, object: &Value, name: &str) -> Result<Place, Problem> {
        let Value::Dict(place) = object else {
            return Err(match object {
                Value::Failure(failure) => unchecked(failure),
                other => operation("metadata", &[other]),
            });
        };
        let key = Key::Text(name.into());
        if let Some(Value::Dict(inner)) = self.heap.entries(*place)?.get(&key) {
            return Ok(*inner);
        }
        let new = self.heap.dict(Dict::default())?;
        self.heap.entries(*place)?.insert(key, new.clone());
        match new {
            Value::Dict(inner) => Ok(inner),
            _ => Err(Problem::Depth),
        }
    }

    /// Returns a list of a dict, which is created if it is missing.
    fn list_in(&mut self, place: Place, name: &str) -> Result<Place, Problem> {
        let key = Key::Text(name.into());
        if let Some(Value::List(inner)) = self.heap.entries(place)?.get(&key) {
            return Ok(*inner);
        }
        let new = self.heap.list(Vec::new())?;
        self.heap.entries(place)?.insert(key, new.clone());
        match new {
            Value::List(inner) => Ok(inner),
            _ => Err(Problem::Depth),
        }
    }

    fn finalizers(&mut self, object: &Value) -> Result<Place, Problem> {
        let metadata = self.dict_in(object, "metadata")?;
        self.list_in(metadata, "finalizers")
    }

    fn position(&mut self, list: Place, item: &Value) -> Result<Option<usize>, Problem> {
        for (i, other) in self.heap.items(list).to_vec().iter().enumerate() {
            if self.heap.equal(item, other)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    fn push(&mut self, list: Place, item: Value) -> Result<(), Problem> {
        self.heap.take(32)?;
        if let Some(items) = self.heap.items_mut(list) {
            items.push(item);
        }
        Ok(())
    }

    /// Makes an object the controller of another one.
    fn set_owner(&mut self, child: &Value, owner: &Value) -> Answer {
        let metadata = self.dict_in(owner, "metadata")?;
        let mut reference = Dict::default();
        for (place, names) in [
            (owner, ["apiVersion", "kind"]),
            (&Value::Dict(metadata), ["name", "uid"]),
        ] {
            let Value::Dict(place) = place else { continue };
            for name in names {
                let key = Key::Text(name.into());
                let value = self.heap.entries(*place)?.get(&key).cloned();
                let value = value.ok_or_else(|| {
                    wrong("set_owner", "the owner is not an object of the cluster")
                })?;
                reference.insert(key, value);
            }
        }
        for name in ["controller", "blockOwnerDeletion"] {
            reference.insert(Key::Text(name.into()), Value::Bool(true));
        }
        let reference = self.heap.dict(reference)?;
        let metadata = self.dict_in(child, "metadata")?;
        let owners = self.list_in(metadata, "ownerReferences")?;
        if self.position(owners, &reference)?.is_none() {
            self.push(owners, reference)?;
        }
        Ok(child.clone())
    }

    /// Calls a method of a value; `None` if its type has none of this name.
    pub fn method(
        &mut self,
        line: u32,
        object: &Value,
        name: &str,
        values: &[Value],
        named: &[(Name, Value)],
    ) -> Done<Option<Value>> {
        if let (Value::List(place), "sort") = (object, name) {
            let mut options = named.iter();
            let mut option = |wanted: &str| {
                let found = options.find(|(known, _)| **known == *wanted);
                found.map(|(_, value)| value.clone())
            };
            let (key, reverse) = (option("key"), option("reverse"));
            let sorted =
                self.ordered(line, "sorted", std::slice::from_ref(object), key, reverse)?;
            if let Value::List(sorted) = sorted {
                let items = self.heap.items(sorted).to_vec();
                if let Some(old) = self.heap.items_mut(*place) {
                    *old = items;
                }
            }
            return Ok(Some(Value::None));
        }
        let found = match object {
            Value::List(place) => self.list_method(*place, name, values),
            Value::Dict(place) => self.dict_method(*place, name, values),
            Value::Text(text) => self.text_method(text, name, values),
            _ => return Ok(None),
        };
        found.transpose().at(line)
    }

    fn list_method(&mut self, place: Place, name: &str, values: &[Value]) -> Option<Answer> {
        Some(match (name, values) {
            ("append", [item]) => self.push(place, item.clone()).map(|()| Value::None),
            ("extend", [items]) => self.iterate(items).and_then(|items| {
                for item in items {
                    self.push(place, item)?;
                }
                Ok(Value::None)
            }),
            ("insert", [Value::Int(at), item]) => self.heap.take(32).map(|()| {
                if let Some(items) = self.heap.items_mut(place) {
                    let at = usize::try_from(*at).unwrap_or(0).min(items.len());
                    items.insert(at, item.clone());
                }
                Value::None
            }),
            ("pop", []) => {
                let last = self.heap.items_mut(place).and_then(Vec::pop);
                last.ok_or_else(|| Problem::NoItem("-1".to_owned()))
            }
            ("pop", [Value::Int(at)]) => {
                let items = self.heap.items_mut(place);
                let found = items.and_then(|items| {
                    let at = usize::try_from(*at).ok().filter(|at| *at < items.len())?;
                    Some(items.remove(at))
                });
                found.ok_or_else(|| Problem::NoItem(at.to_string()))
            }
            ("remove", [item]) => self.position(place, item).and_then(|at| {
                let at = at.ok_or_else(|| Problem::NoItem("of this value".to_owned()))?;
                if let Some(items) = self.heap.items_mut(place) {
                    items.remove(at);
                }
                Ok(Value::None)
            }),
            ("index", [item]) => self.position(place, item).and_then(|at| {
                let at = at.ok_or_else(|| Problem::NoItem("of this value".to_owned()))?;
                Ok(Value::Int(at as i64))
            }),
            ("count", [item]) => {
                let items = self.heap.items(place).to_vec();
                let mut count = 0;
                for other in &items {
                    match self.heap.equal(item, other) {
                        Ok(equal) => count += i64::from(equal),
                        Err(problem) => return Some(Err(problem)),
                    }
                }
                Ok(Value::Int(count))
            }
            ("clear", []) => {
                if let Some(items) = self.heap.items_mut(place) {
                    items.clear();
                }
                Ok(Value::None)
            }
            _ => return None,
        })
    }

    fn dict_method(&mut self, place: Place, name: &str, values: &[Value]) -> Option<Answer> {
        Some(match (name, values) {
            ("get", [key] | [key, _]) => key.to_key().and_then(|key| {
                let found = self.heap.entries(place)?.get(&key).cloned();
                Ok(found
                    .or_else(|| values.get(1).cloned())
                    .unwrap_or(Value::None))
            }),
            ("keys", []) => {
                let keys = self.iterate(&Value::Dict(place));
                keys.and_then(|keys| self.heap.list(keys))
            }
            ("values", []) => self
                .heap
                .entries(place)
                .map(|dict| {
                    dict.iter()
                        .map(|(_, value)| value.clone())
                        .collect::<Vec<_>>()
                })
                .and_then(|values| self.heap.list(values)),
            ("items", []) => self
                .heap
                .entries(place)
                .map(|dict| dict.iter().cloned().collect::<Vec<_>>())
                .and_then(|entries| {
                    let mut pairs = Vec::new();
                    for (key, value) in entries {
                        pairs.push(self.heap.list(vec![key.to_value(), value])?);
                    }
                    self.heap.list(pairs)
                }),
            ("pop", [key] | [key, _]) => key.to_key().and_then(|key| {
                let found = self.heap.entries(place)?.remove(&key);
                let found = found.or_else(|| values.get(1).cloned());
                found.ok_or_else(|| Problem::NoItem(format!("'{key}'")))
            }),
            ("setdefault", [key, default]) => key.to_key().and_then(|key| {
                self.heap.take(128)?;
                let entries = self.heap.entries(place)?;
                if let Some(found) = entries.get(&key) {
                    return Ok(found.clone());
                }
                entries.insert(key, default.clone());
                Ok(default.clone())
            }),
            ("update", [Value::Dict(other)]) => {
                let entries = self
                    .heap
                    .entries(*other)
                    .map(|other| other.iter().cloned().collect::<Vec<_>>());
                entries.and_then(|entries| {
                    self.heap.take(entries.len() * 128)?;
                    let dict = self.heap.entries(place)?;
                    for (key, value) in entries {
                        dict.insert(key, value);
                    }
                    Ok(Value::None)
                })
            }
            ("copy", []) => self.copy(place),
            ("clear", []) => self.heap.entries(place).map(|dict| {
                *dict = Dict::default();
                Value::None
            }),
            _ => return None,
        })
    }

    fn text_method(&mut self, text: &str, name: &str, values: &[Value]) -> Option<Answer> {
        if let Err(problem) = self.heap.take(text.len() / 8) {
            return Some(Err(problem));
        }
        Some(match (name, values) {
            ("startswith", [Value::Text(part)]) => Ok(Value::Bool(text.starts_with(&**part))),
            ("endswith", [Value::Text(part)]) => Ok(Value::Bool(text.ends_with(&**part))),
            ("removeprefix", [Value::Text(part)]) => {
                self.heap.text(text.strip_prefix(&**part).unwrap_or(text))
            }
            ("removesuffix", [Value::Text(part)]) => {
                self.heap.text(text.strip_suffix(&**part).unwrap_or(text))
            }
            ("lower", []) => self.heap.text(&text.to_lowercase()),
            ("upper", []) => self.heap.text(&text.to_uppercase()),
            ("strip", []) => self.heap.text(text.trim()),
            ("isdigit", []) => Ok(Value::Bool(
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
            )),
            ("find", [Value::Text(part)]) => {
                let at = text.find(&**part).map(|at| text[..at].chars().count());
                Ok(Value::Int(at.map_or(-1, |at| at as i64)))
            }
            ("replace", [Value::Text(from), Value::Text(to)]) => {
                let many = text.matches(&**from).count();
                let size = text.len().saturating_add(many.saturating_mul(to.len()));
                self.heap
                    .take(size)
                    .and_then(|()| self.heap.text(&text.replace(&**from, to)))
            }
            ("split" | "rsplit", _) => self.split(text, name == "rsplit", values),
            ("join", [items]) => self.iterate(items).and_then(|items| {
                let mut joined = String::new();
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        joined.push_str(text);
                    }
                    let Value::Text(item) = item else {
                        return Err(operation("join", &[item]));
                    };
                    self.heap.take(item.len() + text.len())?;
                    joined.push_str(item);
                }
                Ok(Value::Text(joined.into()))
            }),
            _ => return None,
        })
    }

    fn split(&mut self, text: &str, from_end: bool, values: &[Value]) -> Answer {
        let parts: Vec<&str> = match values {
            [] => text.split_whitespace().collect(),
            [Value::Text(by)] if !by.is_empty() => text.split(&**by).collect(),
            [Value::Text(by), Value::Int(most)] if !by.is_empty() => {
                let most = usize::try_from(*most).unwrap_or(usize::MAX - 1) + 1;
                if from_end {
                    let mut parts: Vec<&str> = text.rsplitn(most, &**by).collect();
                    parts.reverse();
                    parts
                } else {
                    text.splitn(most, &**by).collect()
                }
            }
            _ => return Err(wrong("split", "takes a separator and a number")),
        };
        let mut items = Vec::with_capacity(parts.len());
        for part in parts {
            items.push(self.heap.text(part)?);
        }
        self.heap.list(items)
    }
}

/// Sorts in a fixed number of comparisons, whatever order they give.
fn merge_sort<T: Clone>(items: &mut Vec<T>, compare: &mut dyn FnMut(&T, &T) -> Ordering) {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(a), Some(b)) = (left.first(), right.first()) {
                if compare(a, b) == Ordering::Greater {
                    merged.push(b.clone());
                    right = &right[1..];
                } else {
                    merged.push(a.clone());
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        *items = merged;
        width *= 2;
    }
}

fn integer(value: &Value) -> Answer {
    match value {
        Value::Int(number) => Ok(Value::Int(*number)),
        Value::Bool(value) => Ok(Value::Int(i64::from(*value))),
        Value::Float(number) => Ok(Value::Int(number.trunc() as i64)),
        Value::Text(text) => {
            let number = text.trim().parse().map(Value::Int);
            number.map_err(|_| wrong("int", &format!("{text:?} is not a number")))
        }
        other => Err(operation("int", &[other])),
    }
}

fn wrong(function: &str, reason: &str) -> Problem {
    Problem::Argument {
        function: function.to_owned(),
        reason: reason.to_owned(),
    }
}
