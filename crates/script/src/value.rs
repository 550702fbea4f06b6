//! Values of a program, and the memory that holds them during a pass.
//!
//! Lists, dicts and frames are numbered places of one heap, which is dropped as a whole: cycles cost nothing, and what a pass has taken is
//! known at every step.

use crate::ast::{Function, Name};
use crate::error::Problem;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum nesting of a value that is compared, shown or handed to the cluster.
const DEEPEST: u32 = 60;

/// Object that is turned into JSON when a program reads it.
pub trait ToJson {
    /// Returns the object as JSON.
    fn to_json(&self) -> Json;
}

/// Failure of a request, which a program can look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Reason: `conflict`, `not_found`, `exists`, `forbidden`, `invalid` or `error`.
    pub reason: &'static str,
    /// Message of the API server.
    pub message: String,
}

/// Place in the heap.
pub(crate) type Place = usize;

#[derive(Clone, Debug)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    List(Place),
    Dict(Place),
    Function(Rc<Function>, Place),
    /// Function of the language or of the cluster.
    Builtin(Name),
    Failure(Rc<Failure>),
}

/// Key of an entry of a dict.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Key {
    Int(i64),
    Text(Rc<str>),
}

/// Entries in the order of their insertion.
#[derive(Default)]
pub(crate) struct Dict {
    index: BTreeMap<Key, u64>,
    entries: BTreeMap<u64, (Key, Value)>,
    next: u64,
}

impl Dict {
    pub fn get(&self, key: &Key) -> Option<&Value> {
        let place = self.index.get(key)?;
        self.entries.get(place).map(|(_, value)| value)
    }

    pub fn insert(&mut self, key: Key, value: Value) {
        let place = *self.index.entry(key.clone()).or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.entries.insert(place, (key, value));
    }

    pub fn remove(&mut self, key: &Key) -> Option<Value> {
        let place = self.index.remove(key)?;
        self.entries.remove(&place).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Key, Value)> {
        self.entries.values()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

enum Cell {
    List(Vec<Value>),
    Dict(Dict),
    /// Object that no one has read yet.
    Unread(Rc<dyn ToJson>),
    Frame(Frame),
}

/// Variables of a call.
#[derive(Default)]
pub(crate) struct Frame {
    pub names: Vec<(Name, Value)>,
    pub parent: Option<Place>,
}

/// Memory of a pass.
pub(crate) struct Heap {
    cells: Vec<Cell>,
    taken: usize,
    most: usize,
}

type Result<T> = std::result::Result<T, Problem>;

/// Estimated size of a value, in bytes.
const VALUE: usize = 32;

impl Heap {
    pub fn new(most: usize) -> Heap {
        Heap {
            cells: Vec::new(),
            taken: 0,
            most,
        }
    }

    /// Counts memory, in bytes.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > self.most {
            return Err(Problem::Memory(self.most / 1024));
        }
        Ok(())
    }

    fn place(&mut self, cell: Cell, bytes: usize) -> Result<Place> {
        self.take(bytes + VALUE)?;
        self.cells.push(cell);
        Ok(self.cells.len() - 1)
    }

    pub fn text(&mut self, text: &str) -> Result<Value> {
        self.take(text.len())?;
        Ok(Value::Text(text.into()))
    }

    pub fn list(&mut self, items: Vec<Value>) -> Result<Value> {
        let bytes = items.len() * VALUE;
        self.place(Cell::List(items), bytes).map(Value::List)
    }

    pub fn dict(&mut self, dict: Dict) -> Result<Value> {
        let bytes = dict.len() * VALUE * 4;
        self.place(Cell::Dict(dict), bytes).map(Value::Dict)
    }

    pub fn frame(&mut self, frame: Frame) -> Result<Place> {
        self.place(Cell::Frame(frame), 2 * VALUE)
    }

    pub fn frame_at(&self, place: Place) -> Option<&Frame> {
        match self.cells.get(place) {
            Some(Cell::Frame(frame)) => Some(frame),
            _ => None,
        }
    }

    /// Sets a variable of a frame.
    pub fn set(&mut self, place: Place, name: &Name, value: Value) -> Result<()> {
        let Some(Cell::Frame(frame)) = self.cells.get_mut(place) else {
            return Ok(());
        };
        match frame.names.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => {
                frame.names.push((name.clone(), value));
                self.take(VALUE)?;
            }
        }
        Ok(())
    }

    /// Returns the value of a variable of a frame, or of one around it.
    pub fn lookup(&self, mut place: Place, name: &str) -> Option<Value> {
        loop {
            let frame = self.frame_at(place)?;
            if let Some((_, value)) = frame.names.iter().find(|(known, _)| **known == *name) {
                return Some(value.clone());
            }
            place = frame.parent?;
        }
    }

    pub fn object(&mut self, object: Rc<dyn ToJson>) -> Result<Value> {
        self.place(Cell::Unread(object), 0).map(Value::Dict)
    }

    pub fn items(&self, place: Place) -> &[Value] {
        match self.cells.get(place) {
            Some(Cell::List(items)) => items,
            _ => &[],
        }
    }

    pub fn items_mut(&mut self, place: Place) -> Option<&mut Vec<Value>> {
        match self.cells.get_mut(place) {
            Some(Cell::List(items)) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a dict, which are read first if nothing has done so.
    pub fn entries(&mut self, place: Place) -> Result<&mut Dict> {
        if let Some(Cell::Unread(object)) = self.cells.get(place) {
            let json = object.to_json();
            let mut dict = Dict::default();
            if let Json::Object(map) = json {
                for (name, value) in map {
                    let value = self.json(&value)?;
                    self.take(name.len() + 4 * VALUE)?;
                    dict.insert(Key::Text(name.into()), value);
                }
            }
            self.cells[place] = Cell::Dict(dict);
        }
        match self.cells.get_mut(place) {
            Some(Cell::Dict(dict)) => Ok(dict),
            _ => Err(Problem::Depth),
        }
    }

    /// Places a JSON value.
    pub fn json(&mut self, json: &Json) -> Result<Value> {
        Ok(match json {
            Json::Null => Value::None,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Value::Int(number),
                None => Value::Float(number.as_f64().unwrap_or(0.0)),
            },
            Json::String(text) => self.text(text)?,
            Json::Array(items) => {
                let items = items.iter().map(|item| self.json(item));
                let items = items.collect::<Result<Vec<_>>>()?;
                self.list(items)?
            }
            Json::Object(map) => {
                let mut dict = Dict::default();
                for (name, value) in map {
                    let value = self.json(value)?;
                    self.take(name.len())?;
                    dict.insert(Key::Text(name.as_str().into()), value);
                }
                self.dict(dict)?
            }
        })
    }

    /// Returns a value as JSON; functions have none.
    pub fn write_json(&mut self, value: &Value) -> Result<Json> {
        self.json_at(value, 0)
    }

    fn json_at(&mut self, value: &Value, depth: u32) -> Result<Json> {
        if depth > DEEPEST {
            return Err(Problem::Depth);
        }
        self.take(VALUE)?;
        Ok(match value {
            Value::None => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(number) => Json::from(*number),
            // JSON has no infinity.
            Value::Float(number) => Json::from(*number),
            Value::Text(text) => {
                self.take(text.len())?;
                Json::from(&**text)
            }
            Value::List(place) => {
                let items = self.items(*place).to_vec();
                let items = items.iter().map(|item| self.json_at(item, depth + 1));
                Json::Array(items.collect::<Result<_>>()?)
            }
            Value::Dict(place) => {
                if let Some(Cell::Unread(object)) = self.cells.get(*place) {
                    return Ok(object.to_json());
                }
                let entries: Vec<_> = self.entries(*place)?.iter().cloned().collect();
                let mut map = Map::new();
                for (key, value) in &entries {
                    map.insert(key.to_string(), self.json_at(value, depth + 1)?);
                }
                Json::Object(map)
            }
            Value::Function(..) | Value::Builtin(_) | Value::Failure(_) => {
                return Err(Problem::Operation {
                    operation: "JSON".to_owned(),
                    types: vec![value.type_name()],
                });
            }
        })
    }

    pub fn is_true(&self, value: &Value) -> bool {
        match value {
            Value::None | Value::Failure(_) => false,
            Value::Bool(value) => *value,
            Value::Int(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(place) => !self.items(*place).is_empty(),
            Value::Dict(place) => match self.cells.get(*place) {
                Some(Cell::Dict(dict)) => dict.len() > 0,
                _ => true,
            },
            Value::Function(..) | Value::Builtin(_) => true,
        }
    }

    pub fn equal(&mut self, a: &Value, b: &Value) -> Result<bool> {
        self.equal_at(a, b, 0)
    }

    fn equal_at(&mut self, a: &Value, b: &Value, depth: u32) -> Result<bool> {
        if depth > DEEPEST {
            return Err(Problem::Depth);
        }
        self.take(1)?;
        Ok(match (a, b) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                if a == b {
                    return Ok(true);
                }
                let (a, b) = (self.items(*a).to_vec(), self.items(*b).to_vec());
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(&b) {
                    if !self.equal_at(a, b, depth + 1)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Dict(a), Value::Dict(b)) => {
                if a == b {
                    return Ok(true);
                }
                let first: Vec<_> = self.entries(*a)?.iter().cloned().collect();
                if first.len() != self.entries(*b)?.len() {
                    return Ok(false);
                }
                for (key, value) in &first {
                    let Some(other) = self.entries(*b)?.get(key).cloned() else {
                        return Ok(false);
                    };
                    if !self.equal_at(value, &other, depth + 1)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Failure(a), Value::Failure(b)) => a == b,
            (Value::Function(a, _), Value::Function(b, _)) => Rc::ptr_eq(a, b),
            (Value::Builtin(a), Value::Builtin(b)) => a == b,
            _ => false,
        })
    }

    /// Shows a value as Python does: with quotes if it is within another.
    pub fn show(&mut self, value: &Value, quoted: bool) -> Result<String> {
        let mut text = String::new();
        self.show_at(value, quoted, 0, &mut text)?;
        self.take(text.len())?;
        Ok(text)
    }

    fn show_at(&mut self, value: &Value, quoted: bool, depth: u32, to: &mut String) -> Result<()> {
        if depth > DEEPEST {
            return Err(Problem::Depth);
        }
        self.take(VALUE)?;
        match value {
            Value::None => to.push_str("None"),
            Value::Bool(value) => to.push_str(if *value { "True" } else { "False" }),
            Value::Int(number) => to.push_str(&number.to_string()),
            Value::Float(number) => to.push_str(&format!("{number:?}")),
            Value::Text(text) if quoted => to.push_str(&format!("{text:?}")),
            Value::Text(text) => to.push_str(text),
            Value::List(place) => {
                to.push('[');
                for (i, item) in self.items(*place).to_vec().iter().enumerate() {
                    if i > 0 {
                        to.push_str(", ");
                    }
                    self.show_at(item, true, depth + 1, to)?;
                }
                to.push(']');
            }
            Value::Dict(place) => {
                let entries: Vec<_> = self.entries(*place)?.iter().cloned().collect();
                if depth == 0
                    && !quoted
                    && let Some(key) = object_name(&entries, self)
                {
                    to.push_str(&key);
                    return Ok(());
                }
                to.push('{');
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        to.push_str(", ");
                    }
                    match key {
                        Key::Int(number) => to.push_str(&format!("{number}: ")),
                        Key::Text(text) => to.push_str(&format!("{text:?}: ")),
                    }
                    self.show_at(value, true, depth + 1, to)?;
                }
                to.push('}');
            }
            Value::Function(function, _) => to.push_str(&format!("<function {}>", function.name)),
            Value::Builtin(name) => to.push_str(&format!("<function {name}>")),
            Value::Failure(failure) => {
                to.push_str(&format!("{}: {}", failure.reason, failure.message));
            }
        }
        Ok(())
    }

    /// Shows a value in a few words: an object by its kind and name, a list by its length.
    pub fn brief(&mut self, value: &Value) -> Option<String> {
        const LONGEST: usize = 60;
        let text = match value {
            Value::Function(..) | Value::Builtin(_) => return None,
            Value::List(place) => {
                let items = self.items(*place);
                let is_short = |item: &Value| !matches!(item, Value::List(_) | Value::Dict(_));
                if items.len() > 4 || !items.iter().all(is_short) {
                    return Some(format!("list({})", items.len()));
                }
                self.show(value, true).ok()?
            }
            Value::Dict(place) => {
                let entries: Vec<_> = self.entries(*place).ok()?.iter().cloned().collect();
                match object_name(&entries, self) {
                    Some(name) => name,
                    None => format!("dict({})", entries.len()),
                }
            }
            value => self.show(value, true).ok()?,
        };
        Some(match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        })
    }
}

/// Returns the kind and name of entries that are those of an object, or the name of a key.
fn object_name(entries: &[(Key, Value)], heap: &mut Heap) -> Option<String> {
    let text = |entries: &[(Key, Value)], name: &str| {
        entries.iter().find_map(|(key, value)| match (key, value) {
            (Key::Text(key), Value::Text(text)) if **key == *name => Some(text.to_string()),
            _ => None,
        })
    };
    let metadata = entries.iter().find_map(|(key, value)| match (key, value) {
        (Key::Text(key), Value::Dict(place)) if **key == *"metadata" => Some(*place),
        _ => None,
    });
    let Some(metadata) = metadata else {
        // A key has these two alone.
        let (name, namespace) = (text(entries, "name")?, text(entries, "namespace")?);
        return (entries.len() == 2).then(|| match namespace.is_empty() {
            true => name,
            false => format!("{namespace}/{name}"),
        });
    };
    let kind = text(entries, "kind")?;
    let fields: Vec<_> = heap.entries(metadata).ok()?.iter().cloned().collect();
    let name = text(&fields, "name").or_else(|| text(&fields, "generateName"))?;
    Some(format!("{kind}/{name}"))
}

impl Value {
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "string",
            Value::List(_) => "list",
            Value::Dict(_) => "dict",
            Value::Function(..) | Value::Builtin(_) => "function",
            Value::Failure(_) => "error",
        }
    }

    /// Returns the value as the key of an entry.
    pub fn to_key(&self) -> Result<Key> {
        match self {
            Value::Text(text) => Ok(Key::Text(text.clone())),
            Value::Int(number) => Ok(Key::Int(*number)),
            other => Err(Problem::Operation {
                operation: "a key of a dict".to_owned(),
                types: vec![other.type_name()],
            }),
        }
    }
}

impl Key {
    pub fn to_value(&self) -> Value {
        match self {
            Key::Int(number) => Value::Int(*number),
            Key::Text(text) => Value::Text(text.clone()),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Int(number) => write!(f, "{number}"),
            Key::Text(text) => f.write_str(text),
        }
    }
}
