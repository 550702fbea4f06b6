//! Label and field selectors of the command line.

use serde_json::Value;

/// What objects a command means.
#[derive(Clone, Debug, Default)]
pub struct ObjectSelector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    values: Vec<String>,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    In,
    NotIn,
    Exists,
    Absent,
}

impl ObjectSelector {
    /// Reads `-l` and `--field-selector`; says what is wrong with them as the server does.
    pub fn parse(labels: Option<&str>, fields: Option<&str>) -> Result<ObjectSelector, String> {
        let mut selection = ObjectSelector::default();
        for part in parts(labels.unwrap_or("")) {
            selection.labels.push(requirement(&part)?);
        }
        for part in fields.unwrap_or("").split(',').filter(|part| !part.is_empty()) {
            let (key, equal, value) = if let Some((key, value)) = part.split_once("!=") {
                (key, false, value)
            } else if let Some((key, value)) = part.split_once("==").or(part.split_once('=')) {
                (key, true, value)
            } else {
                return Err(format!("invalid selector: {part:?}; can't understand {part:?}"));
            };
            selection.fields.push((key.trim().to_owned(), equal, value.trim().to_owned()));
        }
        Ok(selection)
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object is meant.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        self.labels.iter().all(|requirement| requirement.matches(labels)) && self.fields.iter().all(|field| matches_field(object, field))
    }
}

fn matches_field(object: &Value, (path, equal, value): &(String, bool, String)) -> bool {
    let path = format!("/{}", path.replace('.', "/"));
    let found = object.pointer(&path).map(super::printers::jsonpath::show).unwrap_or_default();
    (found == *value) == *equal
}

impl Requirement {
    fn matches(&self, labels: &Value) -> bool {
        let value = labels.get(&self.key).and_then(Value::as_str);
        let listed = value.is_some_and(|value| self.values.iter().any(|v| v == value));
        match self.how {
            How::In => listed,
            How::NotIn => !listed,
            How::Exists => value.is_some(),
            How::Absent => value.is_none(),
        }
    }
}

/// Splits at commas outside parentheses.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '(') - i32::from(c == ')');
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn requirement(part: &str) -> Result<Requirement, String> {
    if part.starts_with(['=', '(']) {
        return Err(format!("found '{}', expected: !, identifier, or 'end of string'", &part[..1]));
    }
    let new = |key: &str, how: How, values: Vec<String>| Requirement { key: key.trim().to_owned(), values, how };
    if let Some(key) = part.strip_prefix('!') {
        return Ok(new(key, How::Absent, Vec::new()));
    }
    for (word, how) in [(" notin ", How::NotIn), (" in ", How::In)] {
        if let Some((key, list)) = part.split_once(word) {
            let found = list.trim();
            let list = found.strip_prefix('(').and_then(|l| l.strip_suffix(')'));
            let list = list.ok_or_else(|| format!("unable to parse requirement: found '{found}' expected: '('"))?;
            return Ok(new(key, how, list.split(',').map(|v| v.trim().to_owned()).collect()));
        }
    }
    for (sign, how) in [("!=", How::NotIn), ("==", How::In), ("=", How::In)] {
        if let Some((key, value)) = part.split_once(sign) {
            return Ok(new(key, how, vec![value.trim().to_owned()]));
        }
    }
    Ok(new(part, How::Exists, Vec::new()))
}
