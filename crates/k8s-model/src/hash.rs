//! Hashes in the names of ReplicaSets and ControllerRevisions.
//!
//! A Pod template is printed field by field, absent ones too, as Go's struct printer would, and the
//! text is hashed; so a hash holds for one Kubernetes minor version only. The text goes straight into
//! the hasher. Models `pkg/controller/controller_utils.go` (`ComputeHash`) and `pkg/controller/history`.

use super::quantity::GoForm;
use super::schema::{Field, list_element, map_element, schema};
use crate::quantity;
use serde_json::Value;
use std::fmt::{self, Write};

const OFFSET: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;
/// Letters and digits that cannot spell a word by chance.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Turns a number into text that is safe in names: each decimal digit becomes a letter or digit.
pub fn safe_encode(text: &str) -> String {
    text.bytes()
        .map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]))
        .collect()
}

/// FNV-1a hasher that accepts text.
struct Fnv1a(u32);

impl Fnv1a {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(PRIME);
        }
    }
}

impl Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

/// Returns the `pod-template-hash` of a defaulted Pod template; DaemonSet revisions use it as well.
pub fn pod_template_hash(template: &Value, collision_count: Option<i32>) -> String {
    let mut hasher = Fnv1a(OFFSET);
    // Writing into the hasher cannot fail.
    let _ = Dump { out: &mut hasher }.template(template);
    if let Some(count) = collision_count {
        // Go reserves eight bytes and fills the first four, little endian.
        hasher.bytes(&(count as u32).to_le_bytes());
        hasher.bytes(&[0; 4]);
    }
    safe_encode(&hasher.0.to_string())
}

/// Returns the text that is hashed, for tests and debugging.
pub fn pod_template_dump(template: &Value) -> String {
    let mut text = String::new();
    let _ = Dump { out: &mut text }.template(template);
    text
}

/// Returns the data of a StatefulSet's or DaemonSet's ControllerRevision: a patch that restores the template.
pub fn controller_revision_data(template: &Value) -> Value {
    let mut template = template.as_object().cloned().unwrap_or_default();
    template.insert("$patch".to_owned(), Value::from("replace"));
    let nest = |name: &str, inner: Value| {
        Value::Object(
            [(name.to_owned(), inner)]
                .into_iter()
                .collect::<serde_json::Map<_, _>>(),
        )
    };
    nest("spec", nest("template", Value::Object(template)))
}

/// Returns that data as the text that is hashed: Go's encoder escapes HTML markup.
pub fn controller_revision_text(template: &Value) -> String {
    let mut text = String::new();
    for c in controller_revision_data(template).to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            _ => text.push(c),
        }
    }
    text
}

/// Hashes a ControllerRevision's data as JSON text. Unlike for Pod templates this is FNV-1: it multiplies first.
pub fn controller_revision_hash(data: &str, collision_count: i32) -> String {
    let count = collision_count.to_string();
    let hash = data
        .bytes()
        .chain(count.bytes())
        .fold(OFFSET, |hash, byte| {
            hash.wrapping_mul(PRIME) ^ u32::from(byte)
        });
    safe_encode(&hash.to_string())
}

/// Writer of values in the format of Go's struct printer with types, in the order of the struct.
struct Dump<'a, W: Write> {
    out: &'a mut W,
}

impl<W: Write> Dump<'_, W> {
    fn template(&mut self, template: &Value) -> fmt::Result {
        self.typed("v1.PodTemplateSpec", Some(template))
    }

    /// Writes `(type)value`.
    fn typed(&mut self, kind: &'static str, value: Option<&Value>) -> fmt::Result {
        self.out.write_char('(')?;
        self.type_name(kind)?;
        self.out.write_char(')')?;
        self.value(kind, value.filter(|v| !v.is_null()))
    }

    /// Writes a type name; every API package is called `v1` in Go.
    fn type_name(&mut self, kind: &str) -> fmt::Result {
        match kind.find("metav1.") {
            Some(at) => write!(self.out, "{}{}", &kind[..at], &kind[at + 4..]),
            None => self.out.write_str(kind),
        }
    }

    fn value(&mut self, kind: &'static str, value: Option<&Value>) -> fmt::Result {
        if let Some(inner) = kind.strip_prefix('*') {
            return match value {
                Some(_) => self.value(inner, value),
                None => self.out.write_str("<nil>"),
            };
        }
        if let Some(element) = list_element(kind) {
            return self.list(element, value);
        }
        let base = schema().scalar(kind).unwrap_or(kind);
        if let Some(element) = map_element(base) {
            return self.map(element, value);
        }
        if let Some(fields) = schema().fields(base) {
            return self.fields(fields, value);
        }
        self.leaf(base, value)
    }

    /// Writes a list; empty and absent are equal after the round trip through the API server.
    fn list(&mut self, element: &'static str, value: Option<&Value>) -> fmt::Result {
        let Some(items) = value
            .and_then(Value::as_array)
            .filter(|items| !items.is_empty())
        else {
            return self.out.write_str("<nil>");
        };
        self.out.write_char('[')?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.write_char(' ')?;
            }
            self.value(element, Some(item))?;
        }
        self.out.write_char(']')
    }

    fn map(&mut self, element: &'static str, value: Option<&Value>) -> fmt::Result {
        let Some(map) = value
            .and_then(Value::as_object)
            .filter(|map| !map.is_empty())
        else {
            return self.out.write_str("<nil>");
        };
        self.out.write_str("map[")?;
        for (index, (key, item)) in map.iter().enumerate() {
            if index > 0 {
                self.out.write_char(' ')?;
            }
            write!(self.out, "{key}:")?;
            self.value(element, Some(item))?;
        }
        self.out.write_char(']')
    }

    fn fields(&mut self, fields: &[Field], value: Option<&Value>) -> fmt::Result {
        self.out.write_char('{')?;
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.out.write_char(' ')?;
            }
            let (first, rest) = field.go_name();
            if field.inline() {
                write!(self.out, "{}:", field.kind.rsplit('.').next().unwrap_or(""))?;
                self.typed(field.kind, value)?;
            } else {
                write!(self.out, "{first}{rest}:")?;
                self.typed(field.kind, value.and_then(|v| v.get(field.json)))?;
            }
        }
        self.out.write_char('}')
    }

    fn leaf(&mut self, base: &str, value: Option<&Value>) -> fmt::Result {
        match (base, value) {
            ("resource.Quantity", _) => self.quantity(value),
            ("intstr.IntOrString", _) => {
                let text = value.and_then(Value::as_str);
                let number = value.and_then(Value::as_i64).unwrap_or(0);
                let kind = i32::from(text.is_some());
                let text = text.unwrap_or("");
                write!(
                    self.out,
                    "{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"
                )
            }
            ("metav1.Time", _) => self.out.write_str(
                "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}",
            ),
            (_, Some(Value::String(text))) => self.out.write_str(text),
            (_, Some(other)) => write!(self.out, "{other}"),
            ("bool", None) => self.out.write_str("false"),
            ("int32" | "int64", None) => self.out.write_char('0'),
            (_, None) => Ok(()),
        }
    }

    fn quantity(&mut self, value: Option<&Value>) -> fmt::Result {
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let parsed = quantity::Quantity::parse(&text).unwrap_or(quantity::Quantity::ZERO);
        let form = quantity::go_form(&text).unwrap_or(GoForm {
            fast: Some((0, 0)),
            cached: false,
        });
        let (amount, scale) = form.fast.unwrap_or((0, 0));
        write!(
            self.out,
            "{{i:(resource.int64Amount){{value:(int64){amount} scale:(resource.Scale){scale}}} "
        )?;
        self.out
            .write_str("d:(resource.infDecAmount){Dec:(*inf.Dec)")?;
        if form.fast.is_some() {
            self.out.write_str("<nil>")?;
        } else {
            let units = parsed.as_units();
            let (negative, amount) = (units < 0, units.unsigned_abs());
            write!(
                self.out,
                "{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[{amount}]}} scale:(inf.Scale)0}}"
            )?;
        }
        let kept = if form.cached { text.as_str() } else { "" };
        let format = if value.is_some() {
            parsed.format().name()
        } else {
            ""
        };
        write!(
            self.out,
            "}} s:(string){kept} Format:(resource.Format){format}}}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../../tests/data/hash-vectors.json")).unwrap()
    }

    #[test]
    fn a_template_is_printed_and_hashed_as_the_control_plane_does() {
        let vectors = vectors();
        let templates = vectors["templates"].as_array().unwrap();
        assert!(templates.len() >= 16);
        for case in templates {
            assert_eq!(
                pod_template_dump(&case["template"]),
                case["dump"].as_str().unwrap()
            );
            assert_eq!(
                pod_template_hash(&case["template"], None),
                case["hash"].as_str().unwrap()
            );
        }
    }

    #[test]
    fn a_revision_is_hashed_as_the_control_plane_does() {
        let vectors = vectors();
        let cases = vectors["controllerRevisions"].as_array().unwrap();
        assert!(cases.len() >= 5);
        for case in cases {
            let data = case["data"].as_str().unwrap();
            let count = case["collisionCount"].as_i64().unwrap() as i32;
            assert_eq!(
                controller_revision_hash(data, count),
                case["hash"].as_str().unwrap()
            );
            let mut template =
                serde_json::from_str::<Value>(data).unwrap()["spec"]["template"].clone();
            template.as_object_mut().unwrap().remove("$patch");
            assert_eq!(controller_revision_text(&template), data);
        }
    }

    #[test]
    fn a_collision_count_changes_the_hash() {
        let template = serde_json::json!({"spec": {"containers": []}});
        assert_ne!(
            pod_template_hash(&template, None),
            pod_template_hash(&template, Some(1))
        );
    }
}
