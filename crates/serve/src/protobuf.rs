//! Bodies in protobuf, as client-go sends them for built-in kinds; answers are JSON, which these clients accept too.
//!
//! Models `apimachinery/pkg/runtime/serializer/protobuf` and the generated messages of `k8s.io/api`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_model::Timestamp;
use k8s_model::event::MicroTime;
use k8s_model::protobuf::MessageField;
use k8s_model::schema::{Omit, list_element, map_element, schema};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Messages that clients send and that belong to no stored kind, such as options and reviews; written by `tests/tools/protobuf.py`.
const OTHERS: &str = include_str!("protobuf.txt");
/// Prefix of the envelope.
const MAGIC: &[u8] = b"k8s\0";
/// Maximum nesting depth of messages.
const MOST_DEPTH: usize = 64;
const JSON_SCHEMA: Type = Type::Message("apiextensionsv1.JSONSchemaProps");

struct Table {
    kinds: BTreeMap<(&'static str, &'static str), &'static str>,
    messages: BTreeMap<&'static str, Vec<Field>>,
}

/// Field of a message.
struct Field {
    number: u64,
    /// JSON name; empty if the fields of its message are inlined.
    json: &'static str,
    kind: Type,
    /// True if JSON leaves out a zero value.
    omits: bool,
}

/// Type of a field.
#[derive(PartialEq)]
enum Type {
    Text,
    Bytes,
    Integer,
    Bool,
    Double,
    Quantity,
    Time,
    MicroTime,
    IntOrString,
    /// JSON in bytes.
    Raw,
    /// List of texts in a message of its own, as within a map.
    Texts,
    /// Schema of a CustomResourceDefinition, or something else.
    SchemaOr(Alternative),
    List(Box<Type>),
    Map(Box<Type>),
    Message(&'static str),
}

/// Alternative to a schema.
#[derive(Clone, Copy, PartialEq)]
enum Alternative {
    /// `JSONSchemaPropsOrArray`.
    Schemas,
    /// `JSONSchemaPropsOrBool`.
    Bool,
    /// `JSONSchemaPropsOrStringArray`.
    Texts,
}

impl Type {
    /// Reads a Go type; `within` is true for the elements of a list or map.
    fn read(go: &'static str, within: bool) -> Type {
        let go = go.trim_start_matches('*');
        if let Some(element) = list_element(go) {
            return match element {
                "byte" => Type::Bytes,
                _ if within => Type::Texts,
                element => Type::List(Box::new(Type::read(element, true))),
            };
        }
        if let Some(element) = map_element(go) {
            return Type::Map(Box::new(Type::read(element, true)));
        }
        match go {
            "string" => Type::Text,
            "bool" => Type::Bool,
            "int" | "int32" | "int64" | "uint32" | "uint64" => Type::Integer,
            "float64" => Type::Double,
            "resource.Quantity" => Type::Quantity,
            "metav1.Time" => Type::Time,
            "metav1.MicroTime" => Type::MicroTime,
            "intstr.IntOrString" => Type::IntOrString,
            "runtime.RawExtension" | "metav1.FieldsV1" | "apiextensionsv1.JSON" => Type::Raw,
            "apiextensionsv1.JSONSchemaPropsOrArray" => Type::SchemaOr(Alternative::Schemas),
            "apiextensionsv1.JSONSchemaPropsOrBool" => Type::SchemaOr(Alternative::Bool),
            "apiextensionsv1.JSONSchemaPropsOrStringArray" => Type::SchemaOr(Alternative::Texts),
            "authenticationv1.ExtraValue" | "authorizationv1.ExtraValue" => Type::Texts,
            named => match schema().scalar(named) {
                Some(base) => Type::read(base, within),
                None => Type::Message(named),
            },
        }
    }

    /// Returns the value of an absent field.
    fn zero(&self) -> Value {
        match self {
            Type::Text | Type::Bytes => "".into(),
            Type::Integer => 0.into(),
            Type::Double => number(0.0),
            Type::Bool => false.into(),
            Type::Quantity => "0".into(),
            Type::Time
            | Type::MicroTime
            | Type::IntOrString
            | Type::Raw
            | Type::Texts
            | Type::SchemaOr(_)
            | Type::List(_)
            | Type::Map(_)
            | Type::Message(_) => Value::Null,
        }
    }
}

impl Field {
    fn new(number: u64, json: &'static str, go: &'static str, omits: bool) -> Field {
        let kind = Type::read(go, false);
        Field {
            number,
            json,
            // Go never leaves out a pointer that is set, nor a quantity, which is a struct.
            omits: omits && !go.starts_with('*') && kind != Type::Quantity,
            kind,
        }
    }
}

fn table() -> &'static Table {
    static READ: OnceLock<Table> = OnceLock::new();
    READ.get_or_init(|| {
        let stored = schema().kinds();
        let mut table = Table {
            kinds: stored
                .map(|(version, kind, name)| ((version, kind), name))
                .collect(),
            messages: BTreeMap::new(),
        };
        for (name, fields) in k8s_model::protobuf::messages() {
            let field = |one: MessageField| {
                let omits = one.field.omit != Omit::Never;
                Field::new(one.number, one.field.json, one.field.kind, omits)
            };
            table
                .messages
                .insert(name, fields.into_iter().map(field).collect());
        }
        let mut name = "";
        for line in OTHERS.lines() {
            let mut words = line.split(' ');
            let first = words.next().unwrap_or("");
            let mut next = || words.next().unwrap_or("");
            if let Some(version) = first.strip_prefix('@') {
                let kind = next();
                table.kinds.insert((version, kind), next());
            } else if let Some(message) = first.strip_prefix('>') {
                name = message;
                table.messages.insert(name, Vec::new());
            } else if let (Ok(number), Some(fields)) = (first.parse(), table.messages.get_mut(name))
            {
                let (json, kind) = (next(), next());
                let (go, omits) = (kind.trim_end_matches('~'), kind.ends_with('~'));
                let json = if json == "-" { "" } else { json };
                fields.push(Field::new(number, json, go, omits));
            }
        }
        table
    })
}

/// Decodes an object from its envelope.
pub fn object(bytes: &[u8]) -> Result<Value, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    )?;
    let (mut version, mut kind, mut raw) = ("", "", &[][..]);
    for (number, wire) in fields(rest)? {
        match (number, wire) {
            (1, Wire::Bytes(meta)) => {
                for (number, wire) in fields(meta)? {
                    match (number, wire) {
                        (1, Wire::Bytes(text)) => version = utf8(text)?,
                        (2, Wire::Bytes(text)) => kind = utf8(text)?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(body)) => raw = body,
            _ => {}
        }
    }
    let known = &table().kinds;
    // Options kinds exist in every group.
    let message = known
        .get(&(version, kind))
        .or_else(|| known.get(&("meta.k8s.io/v1", kind)));
    let message =
        message.ok_or_else(|| format!("no kind {kind:?} is registered for version {version:?}"))?;
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), kind.into());
    read(message, raw, &mut object, 0)?;
    Ok(Value::Object(object))
}

/// Field as encoded on the wire.
#[derive(Clone, Copy)]
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, Wire<'_>)>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let wire = match tag & 7 {
            0 => Wire::Number(varint(&mut bytes)?),
            1 => Wire::Number(u64::from_le_bytes(
                cut(&mut bytes, 8)?.try_into().map_err(|_| end())?,
            )),
            2 => {
                let length = varint(&mut bytes)?;
                Wire::Bytes(cut(
                    &mut bytes,
                    usize::try_from(length).map_err(|_| end())?,
                )?)
            }
            5 => Wire::Number(u64::from(u32::from_le_bytes(
                cut(&mut bytes, 4)?.try_into().map_err(|_| end())?,
            ))),
            other => return Err(format!("proto: illegal wireType {other}")),
        };
        found.push((tag >> 3, wire));
    }
    Ok(found)
}

fn end() -> String {
    "unexpected EOF".to_owned()
}

fn cut<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], String> {
    let (head, rest) = bytes.split_at_checked(length).ok_or_else(end)?;
    *bytes = rest;
    Ok(head)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = cut(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("proto: integer overflow".to_owned())
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "proto: invalid UTF-8".to_owned())
}

/// Decodes a message into an object.
fn read(
    message: &str,
    bytes: &[u8],
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), String> {
    if depth > MOST_DEPTH {
        return Err("proto: messages are nested too deep".to_owned());
    }
    let Some(known) = table().messages.get(message) else {
        return Ok(());
    };
    for (number, wire) in fields(bytes)? {
        let Some(field) = known.iter().find(|field| field.number == number) else {
            continue;
        };
        if let (Type::Map(element), Wire::Bytes(entry)) = (&field.kind, wire) {
            let (mut key, mut value) = (String::new(), element.zero());
            for (number, wire) in fields(entry)? {
                match (number, wire) {
                    (1, Wire::Bytes(text)) => key = utf8(text)?.to_owned(),
                    (2, wire) => value = leaf(element, wire, depth)?,
                    _ => {}
                }
            }
            let map = object.entry(field.json).or_insert_with(|| json!({}));
            map.as_object_mut().map(|map| map.insert(key, value));
        } else if let Type::List(element) = &field.kind {
            let value = leaf(element, wire, depth)?;
            let list = object.entry(field.json).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(value);
            }
        } else if let (true, Wire::Bytes(inner), Type::Message(name)) =
            (field.json.is_empty(), wire, &field.kind)
        {
            read(name, inner, object, depth + 1)?;
        } else {
            let value = leaf(&field.kind, wire, depth)?;
            // Go writes every field; JSON omits empty ones.
            let empty = value.is_null() || (field.omits && value == field.kind.zero());
            if !empty {
                object.insert(field.json.to_owned(), value);
            }
        }
    }
    Ok(())
}

fn leaf(kind: &Type, wire: Wire<'_>, depth: usize) -> Result<Value, String> {
    Ok(match (kind, wire) {
        (Type::Text, Wire::Bytes(text)) => utf8(text)?.into(),
        (Type::Bytes, Wire::Bytes(bytes)) => STANDARD.encode(bytes).into(),
        (Type::Integer, Wire::Number(number)) => (number as i64).into(),
        (Type::Bool, Wire::Number(number)) => (number != 0).into(),
        (Type::Double, Wire::Number(bits)) => number(f64::from_bits(bits)),
        (Type::Quantity, Wire::Bytes(inner)) => text_of(inner, 1)?.into(),
        (Type::Time, Wire::Bytes(inner)) => time(inner, false)?,
        (Type::MicroTime, Wire::Bytes(inner)) => time(inner, true)?,
        (Type::IntOrString, Wire::Bytes(inner)) => {
            if number_of(inner, 1)? == 1 {
                text_of(inner, 3)?.into()
            } else {
                number_of(inner, 2)?.into()
            }
        }
        (Type::Raw, Wire::Bytes(inner)) => {
            let raw = fields(inner)?
                .into_iter()
                .find_map(|(number, wire)| match (number, wire) {
                    (1, Wire::Bytes(bytes)) => Some(bytes),
                    _ => None,
                });
            raw.map_or(Ok(Value::Null), |raw| {
                serde_json::from_slice(raw).map_err(|e| e.to_string())
            })?
        }
        (Type::SchemaOr(other), Wire::Bytes(inner)) => schema_or(*other, inner, depth)?,
        (Type::Texts, Wire::Bytes(inner)) => {
            let mut items = Vec::new();
            for (number, wire) in fields(inner)? {
                if let (1, Wire::Bytes(text)) = (number, wire) {
                    items.push(Value::from(utf8(text)?));
                }
            }
            items.into()
        }
        (Type::Message(name), Wire::Bytes(inner)) => {
            let mut object = Map::new();
            read(name, inner, &mut object, depth + 1)?;
            Value::Object(object)
        }
        _ => return Err("proto: wrong wireType".to_owned()),
    })
}

/// Formats a number as Go does in JSON: without a fraction if it is integral.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        (value as i64).into()
    } else {
        value.into()
    }
}

/// Decodes a schema of a CustomResourceDefinition, or its alternative.
fn schema_or(other: Alternative, bytes: &[u8], depth: usize) -> Result<Value, String> {
    let (mut schema, mut items, mut allows) = (None, Vec::new(), false);
    for (number, wire) in fields(bytes)? {
        match (other, number) {
            (Alternative::Schemas | Alternative::Texts, 1) | (Alternative::Bool, 2) => {
                schema = Some(leaf(&JSON_SCHEMA, wire, depth)?)
            }
            (Alternative::Schemas, 2) => items.push(leaf(&JSON_SCHEMA, wire, depth)?),
            (Alternative::Texts, 2) => items.push(leaf(&Type::Text, wire, depth)?),
            (Alternative::Bool, 1) => allows = leaf(&Type::Bool, wire, depth)? == true,
            _ => {}
        }
    }
    Ok(match other {
        Alternative::Bool => schema.unwrap_or_else(|| allows.into()),
        Alternative::Schemas | Alternative::Texts if items.is_empty() => {
            schema.unwrap_or(Value::Null)
        }
        Alternative::Schemas | Alternative::Texts => items.into(),
    })
}

fn text_of(bytes: &[u8], wanted: u64) -> Result<&str, String> {
    let found = fields(bytes)?
        .into_iter()
        .find_map(|(number, wire)| match wire {
            Wire::Bytes(text) if number == wanted => Some(text),
            _ => None,
        });
    found.map_or(Ok(""), utf8)
}

fn number_of(bytes: &[u8], wanted: u64) -> Result<i64, String> {
    let found = fields(bytes)?
        .into_iter()
        .find_map(|(number, wire)| match wire {
            Wire::Number(value) if number == wanted => Some(value),
            _ => None,
        });
    Ok(found.unwrap_or(0) as i64)
}

/// Decodes a time; an empty one is null.
fn time(bytes: &[u8], micro: bool) -> Result<Value, String> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let seconds = Timestamp::new(number_of(bytes, 1)?);
    if !micro {
        return Ok(seconds.rfc3339().into());
    }
    let micros = number_of(bytes, 2)?.clamp(0, 999_999_999) / 1_000;
    Ok(MicroTime(seconds, micros as u32).rfc3339().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a length-delimited field.
    fn put(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    fn envelope(version: &str, kind: &str, body: &[u8]) -> Vec<u8> {
        let meta = [put(1, version.as_bytes()), put(2, kind.as_bytes())].concat();
        [MAGIC, &put(1, &meta), &put(2, body)].concat()
    }

    #[test]
    fn an_eviction_is_read_with_its_options() {
        let meta = [put(1, b"web-0"), put(2, b""), put(3, b"far"), put(8, b"")].concat();
        let options = [&[1 << 3, 30], put(4, b"Foreground").as_slice()].concat();
        let found = object(&envelope(
            "policy/v1",
            "Eviction",
            &[put(1, &meta), put(2, &options)].concat(),
        ));
        let wanted = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": "web-0", "namespace": "far" },
            "deleteOptions": { "gracePeriodSeconds": 30, "propagationPolicy": "Foreground" },
        });
        assert_eq!(found, Ok(wanted));
    }

    #[test]
    fn maps_lists_and_quantities_are_read() {
        let entry = [put(1, b"cpu"), put(2, &put(1, b"100m"))].concat();
        let port = [2 << 3, 0, 3 << 3, 80].to_vec();
        let container = [put(1, b"app"), put(6, &port), put(8, &put(2, &entry))].concat();
        let found =
            object(&envelope("v1", "Pod", &put(2, &put(2, &container)))).unwrap_or_default();
        assert_eq!(
            found["spec"]["containers"][0]["resources"],
            json!({ "requests": { "cpu": "100m" } })
        );
        assert_eq!(
            found["spec"]["containers"][0]["ports"],
            json!([{ "containerPort": 80 }])
        );
    }

    #[test]
    fn broken_messages_are_errors() {
        assert!(object(b"{}").is_err());
        assert!(object(&envelope("v1", "Boat", &[])).is_err());
        let whole = envelope("v1", "Pod", &put(1, &put(1, b"web")));
        for end in 0..whole.len() {
            let _ = object(&whole[..end]);
        }
        assert!(object(&envelope("v1", "Pod", &[0xff, 0xff])).is_err());
    }
}
