//! Parser of YAML or JSON text into documents and diagnostics; never fails, never panics, always terminates quickly.
//!
//! Follows kubectl's reader: documents are split at `---` lines, YAML is converted to JSON as in `sigs.k8s.io/yaml`, lists are flattened,
//! and errors are reported in kubectl's words.
//! This is the only module that uses the YAML crate.

mod convert;
mod locate;
mod split;
mod words;

use serde_json::{Value, json};

pub use locate::{locate, locate_line, repeated};
pub use split::chunks;
pub use words::{STDIN, TextFault};

/// Maximum size of a document in bytes: the API server accepts no larger request.
const DOCUMENT_LIMIT: usize = 3 * 1024 * 1024;
/// Maximum size of a text in bytes: enough for a large course.
const TEXT_LIMIT: usize = 16 * 1024 * 1024;
const DOCUMENT_COUNT_LIMIT: usize = 10_000;
const DIAGNOSTIC_LIMIT: usize = 100;

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The document is ignored.
    Error,
    /// The document is used, but part of it has no effect.
    Warning,
}

/// Problem found in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Error.
    pub fault: TextFault,
    /// Line in the whole text, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Index of the document, from 0.
    pub document: usize,
}

/// Object of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Index of the document in the text, from 0; items of one list share it.
    pub index: usize,
    /// Object as JSON.
    pub value: Value,
    /// First line of the document in the whole text, from 1.
    pub line: usize,
    /// Path of the object inside the document: empty, or `items[2].` in a list.
    pub prefix: String,
}

/// Result of parsing a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// Objects in order.
    pub documents: Vec<Document>,
    /// Problems in the rest of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses every document of a text. A faulty document yields a diagnostic and the others are still parsed.
pub fn parse(text: &[u8]) -> Parsed {
    let (mut reader, mut parsed) = (Reader::default(), Parsed::default());
    while let Some(mut part) = reader.next(text) {
        parsed.documents.append(&mut part.documents);
        parsed.diagnostics.append(&mut part.diagnostics);
    }
    parsed
}

/// Parses the first value of a text that is not an API object; the error is the parser's.
pub fn value(text: &str) -> Result<Value, String> {
    let values = convert::documents(text).map_err(|parsed| parsed.fault.to_string())?;
    Ok(values.into_iter().next().unwrap_or(Value::Null))
}

/// Parses a file that is not sent to an API server, such as a scenario: a single document may be as long as a text.
pub fn parse_file(text: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    if text.len() > TEXT_LIMIT {
        parsed.error(words::too_large(TEXT_LIMIT), 1, 1, 0);
        return parsed;
    }
    chunks(text)
        .enumerate()
        .for_each(|(index, chunk)| read_chunk(&mut parsed, index, &chunk, TEXT_LIMIT));
    parsed
}

/// Incremental parser, one document at a time: YAML anchors do not reach across documents, so each is parsed separately.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    cursor: split::Cursor,
    index: usize,
    faults: usize,
    over: bool,
}

impl Reader {
    /// Parses the next document of the text, which must be the same text every time; several objects if it is a list.
    pub fn next(&mut self, text: &[u8]) -> Option<Parsed> {
        if self.over {
            return None;
        }
        let mut parsed = Parsed::default();
        if text.len() > TEXT_LIMIT {
            self.over = true;
            parsed.error(words::too_large(TEXT_LIMIT), 1, 1, 0);
            return Some(parsed);
        }
        let chunk = self.cursor.next(text)?;
        if self.index >= DOCUMENT_COUNT_LIMIT {
            self.over = true;
            let fault = TextFault::Parsing(format!("more than {DOCUMENT_COUNT_LIMIT} documents"));
            parsed.error(fault, chunk.line, 1, self.index);
            return Some(parsed);
        }
        if self.faults >= DIAGNOSTIC_LIMIT {
            self.over = true;
            return None;
        }
        read_chunk(&mut parsed, self.index, &chunk, DOCUMENT_LIMIT);
        self.index += 1;
        self.faults += parsed.diagnostics.len();
        Some(parsed)
    }
}

fn read_chunk(parsed: &mut Parsed, index: usize, chunk: &split::Chunk<'_>, limit: usize) {
    if chunk.bytes.len() > limit {
        return parsed.error(words::too_large(limit), chunk.line, 1, index);
    }
    let text = match std::str::from_utf8(chunk.bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = chunk.line
                + chunk.bytes[..error.valid_up_to()]
                    .iter()
                    .filter(|b| **b == b'\n')
                    .count();
            return parsed.error(words::not_utf8(chunk.bytes, error), line, 1, index);
        }
    };
    match convert::documents(text) {
        Ok(values) => values
            .into_iter()
            .for_each(|value| add_document(parsed, index, chunk.line, value)),
        Err(at) => parsed.error(
            at.fault,
            chunk.line + at.line.max(1) - 1,
            at.column.max(1),
            index,
        ),
    }
}

fn add_document(parsed: &mut Parsed, index: usize, line: usize, value: Value) {
    match value {
        Value::Null => {}
        Value::Object(_) => flatten(&mut parsed.documents, index, line, value, String::new()),
        _ => parsed.error(
            TextFault::Validating("invalid object to validate".to_owned()),
            line,
            1,
            index,
        ),
    }
}

/// Flattens a list: kubectl applies its items one by one.
fn flatten(
    documents: &mut Vec<Document>,
    index: usize,
    line: usize,
    mut value: Value,
    prefix: String,
) {
    let is_list = value["kind"]
        .as_str()
        .is_some_and(|kind| kind.ends_with("List"));
    match value.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if is_list => {
            for (at, item) in items.into_iter().enumerate() {
                flatten(
                    documents,
                    index,
                    line,
                    item,
                    format!("{prefix}items[{at}]."),
                );
            }
        }
        taken => {
            if let (Some(taken), Some(slot)) = (taken, value.get_mut("items")) {
                *slot = taken;
            }
            to_stored_version(&mut value);
            documents.push(Document {
                index,
                value,
                line,
                prefix,
            });
        }
    }
}

/// Converts the older of two versions of an API to the stored one.
fn to_stored_version(value: &mut Value) {
    if value["apiVersion"] != "autoscaling/v1" || value["kind"] != "HorizontalPodAutoscaler" {
        return;
    }
    value["apiVersion"] = "autoscaling/v2".into();
    let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(percent) = spec.remove("targetCPUUtilizationPercentage") {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        spec.insert(
            "metrics".into(),
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]),
        );
    }
}

impl Parsed {
    fn error(&mut self, fault: TextFault, line: usize, column: usize, document: usize) {
        self.diagnostics.push(Diagnostic {
            severity: Severity::Error,
            fault,
            line,
            column,
            document,
        });
    }
}

/// Returns the error of an object without `kind` or `apiVersion`.
pub fn header_fault(value: &Value) -> Option<TextFault> {
    let missing = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .is_none_or(str::is_empty)
    };
    let told = match (missing("apiVersion"), missing("kind")) {
        (true, true) => "[apiVersion not set, kind not set]",
        (true, false) => "apiVersion not set",
        (false, true) => "kind not set",
        (false, false) => return None,
    };
    Some(TextFault::Validating(told.to_owned()))
}

#[cfg(test)]
mod tests;
