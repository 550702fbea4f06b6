//! `kubectl explain`: a field and its subfields, with types and descriptions.
//!
//! Models `kubectl/pkg/explain/v2` and its template `plaintext.tmpl`.

use super::client::Client;
use super::parse::Args;
use super::printers::jsonpath;
use super::resources::served_versions;
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::kind::api_group;
use k8s_model::{Kind, openapi};
use serde_json::{Map, Value};

const FLAGS: &str = "recursive api-version= output=";

/// `kubectl explain`.
pub const VERB: Verb = Verb {
    name: "explain",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Get documentation for a resource",
};

/// Line width in columns.
const WIDTH: usize = 80;
/// Maximum number of enum values in a list of fields.
const VALUES: usize = 4;

/// Returns true if a line may run this verb, possibly as part of a shell line.
pub fn is_in(line: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word == VERB.name)
}

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("explain", FLAGS, words)?;
    let [path] = &args.words[..] else {
        return Err(Failure::error(if args.words.is_empty() {
            "You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources."
        } else {
            "We accept only this format: explain RESOURCE"
        }));
    };
    match args.get("output").unwrap_or("plaintext") {
        "plaintext" => {}
        "plaintext-openapiv2" => {
            return Err(Failure::error(
                "--output=plaintext-openapiv2 is not simulated",
            ));
        }
        other => return Err(Failure::error(format!("unrecognized format: {other}"))),
    }
    if path.starts_with('.') || path.contains("..") {
        return Err(Failure::error(
            "invalid jsonpath syntax, first node must be field node",
        ));
    }
    let word = path.split('.').next().unwrap_or_default();
    let (kind, steps) = requested(client, path, args.get("api-version")).ok_or_else(|| {
        Failure::plain(format!("the server doesn't have a resource type {word:?}"))
    })?;
    let info = kind.info();
    let mut schemas = Map::new();
    let (version, root) = root(client, kind, args.get("api-version"), &mut schemas)?;
    if !info.group.is_empty() {
        client.streams.say(format!("GROUP:      {}", info.group));
    }
    client.streams.say(format!(
        "KIND:       {}\nVERSION:    {version}\n",
        info.name
    ));
    let mut page = Explained {
        schemas,
        recursive: args.on("recursive"),
        out: String::new(),
    };
    if !page.follow(&root, &steps) {
        return Err(Failure::error(format!(
            "field \"{}\" does not exist",
            steps.last().unwrap_or(&"")
        )));
    }
    client.streams.say(page.out);
    Ok(Outcome::Done)
}

/// Returns the kind and the names of the fields of a path such as `deployments.apps.spec`. Without `--api-version` it is the first kind
/// whose qualified resource name begins the path: the core group's Service hides those of other groups. Models
/// `SplitAndParseResourceRequestWithMatchingPrefix` of `kubectl/pkg/explain/explain.go`.
fn requested<'a>(
    client: &Client<'_>,
    path: &'a str,
    api_version: Option<&str>,
) -> Option<(Kind, Vec<&'a str>)> {
    let (word, fields) = path.split_once('.').unwrap_or((path, ""));
    let definitions = client.sim().server.definitions();
    let mut kinds = definitions.resources(word);
    let found = match api_version.filter(|version| !version.is_empty()) {
        Some(version) => kinds
            .find(|kind| kind.info().group == api_group(version))
            .map(|kind| (kind, fields)),
        None => kinds.find_map(|kind| Some((kind, path.strip_prefix(&kind.group_resource())?))),
    };
    let (kind, fields) = found.or_else(|| Some((client.kind(word)?, fields)))?;
    let steps = fields.split('.').filter(|step| !step.is_empty());
    Some((kind, steps.collect()))
}

/// Returns the version and the schema of a kind.
fn root(
    client: &Client<'_>,
    kind: Kind,
    wanted: Option<&str>,
    schemas: &mut Map<String, Value>,
) -> Result<(String, Value), Failure> {
    let info = kind.info();
    let wanted = wanted.filter(|version| !version.is_empty());
    let missing = |version: &str| {
        let resource = format!("{version}, Resource={}", info.plural);
        let root = if version.contains('/') { "" } else { "/" };
        Failure::error(
            match served_versions(client)
                .iter()
                .any(|served| served == version)
            {
                true => format!("GVR ({root}{resource}) not found in OpenAPI schema"),
                false => format!("couldn't find resource for \"{root}{resource}\""),
            },
        )
    };
    if let Some(definition) = client.sim().server.definitions().of(kind).cloned() {
        let name = wanted
            .and_then(|version| version.rsplit('/').next())
            .unwrap_or("");
        let version = definition.version(name);
        if wanted.is_some_and(|wanted| wanted != format!("{}/{}", info.group, version.name)) {
            return Err(missing(wanted.unwrap_or_default()));
        }
        let schema = openapi::tables().custom(
            &version.schema,
            info.group,
            &version.name,
            info.name,
            schemas,
        );
        return Ok((version.name.to_string(), schema));
    }
    if let Some(version) = wanted.filter(|version| *version != kind.api_version()) {
        return Err(missing(version));
    }
    let schema = openapi::tables().kind(info.group, info.version, info.name, schemas);
    Ok((
        info.version.to_owned(),
        schema.ok_or_else(|| missing(&kind.api_version()))?,
    ))
}

/// Output in progress, with the schemas for references.
struct Explained {
    schemas: Map<String, Value>,
    recursive: bool,
    out: String,
}

impl Explained {
    /// Explains the field at the end of a path; returns false if there is no such field.
    fn follow(&mut self, schema: &Value, path: &[&str]) -> bool {
        let resolved = self.resolved(schema);
        let Some((first, rest)) = path.split_first() else {
            self.explain(&resolved);
            return true;
        };
        if let Some(field) = resolved["properties"].get(first) {
            if rest.is_empty() {
                let kind = self.type_of(field);
                self.out.push_str(&format!("FIELD: {first} <{kind}>\n"));
                if let Some(values) = values(field) {
                    self.out.push_str("ENUM:");
                    values.for_each(|value| self.out.push_str(&format!("\n    {value}")));
                }
                self.out.push_str("\n\n");
            }
            return self.follow(field, rest);
        }
        inner(&resolved)
            .or(resolved["allOf"].get(0))
            .is_some_and(|inner| self.follow(inner, path))
    }

    fn explain(&mut self, schema: &Value) {
        let mut text = String::new();
        self.describe(schema, &mut text);
        let text = if text.is_empty() { "<empty>" } else { &text };
        self.out.push_str(&format!(
            "DESCRIPTION:\n{}\n",
            indented(&wrapped(text, WIDTH - 4), 4)
        ));
        let before = self.out.len();
        self.fields(schema, 1, &[]);
        if self.out.len() > before {
            self.out.insert_str(before, "FIELDS:\n");
        }
    }

    /// Appends the description of a schema and of the schemas it is composed of.
    fn describe(&self, schema: &Value, text: &mut String) {
        let schema = self.resolved(schema);
        if let Some(own) = description(&schema) {
            text.push_str(own);
            text.push('\n');
        }
        for one in schema["allOf"]
            .as_array()
            .into_iter()
            .flatten()
            .chain(inner(&schema))
        {
            self.describe(one, text);
        }
    }

    /// Prints the fields of a schema; `above` are the references that led here.
    fn fields(&mut self, schema: &Value, level: usize, above: &[&str]) {
        let reference = schema["$ref"].as_str();
        if reference.is_some_and(|reference| above.contains(&reference)) {
            return;
        }
        let above: Vec<&str> = above.iter().copied().chain(reference).collect();
        let schema = self.resolved(schema);
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == name));
            self.field(name, field, required, level * 2);
            if self.recursive {
                self.fields(field, level + 1, &above);
            }
        }
        for one in schema["allOf"]
            .as_array()
            .into_iter()
            .flatten()
            .chain(inner(&schema))
        {
            self.fields(one, level, &above);
        }
    }

    fn field(&mut self, name: &str, schema: &Value, required: bool, indent: usize) {
        let (lead, kind) = (" ".repeat(indent), self.type_of(schema));
        let required = if required { " -required-" } else { "" };
        self.out
            .push_str(&format!("{lead}{name}\t<{kind}>{required}\n"));
        if let Some(values) = values(schema) {
            let mut shown: Vec<String> = values.take(VALUES + 1).collect();
            if shown.len() > VALUES {
                shown[VALUES] = "....".to_owned();
            }
            self.out
                .push_str(&format!("{lead}enum: {}\n", shown.join(", ")));
        }
        if !self.recursive {
            let text = wrapped(
                description(schema).unwrap_or("<no description>"),
                WIDTH - 2 - indent,
            );
            self.out
                .push_str(&format!("{}\n\n", indented(&text, indent + 2)));
        }
    }

    /// Resolves a schema if it is a reference.
    fn resolved(&self, schema: &Value) -> Value {
        let meant = schema["$ref"]
            .as_str()
            .and_then(|reference| openapi::resolved(reference, &self.schemas));
        meant.unwrap_or(schema).clone()
    }

    /// Returns the type name, such as `[]Container`.
    fn type_of(&self, schema: &Value) -> String {
        if schema["items"].is_object() {
            return format!("[]{}", self.type_of(&schema["items"]));
        }
        if let Some(values) = inner(schema) {
            return format!("map[string]{}", self.type_of(values));
        }
        if let Some([one]) = schema["allOf"]
            .as_array()
            .map(Vec::as_slice)
            .filter(|_| !schema["properties"].is_object())
        {
            return self.type_of(one);
        }
        let plain = self.resolved(schema)["type"]
            .as_str()
            .filter(|kind| *kind != "object")
            .map(str::to_owned);
        let name = schema["$ref"]
            .as_str()
            .and_then(|reference| reference.rsplit('.').next());
        plain.unwrap_or_else(|| name.unwrap_or("Object").to_owned())
    }
}

/// Returns the schema of the elements of a list or the values of a map.
fn inner(schema: &Value) -> Option<&Value> {
    [&schema["items"], &schema["additionalProperties"]]
        .into_iter()
        .find(|schema| schema.is_object())
}

fn description(schema: &Value) -> Option<&str> {
    schema["description"]
        .as_str()
        .filter(|text| !text.is_empty())
}

/// Returns the enum values of a field.
fn values(schema: &Value) -> Option<impl Iterator<Item = String>> {
    let values = schema["enum"]
        .as_array()
        .filter(|values| !values.is_empty())?;
    Some(values.iter().map(|value| {
        if value == "" {
            "\"\"".to_owned()
        } else {
            jsonpath::show(value)
        }
    }))
}

fn indented(text: &str, by: usize) -> String {
    let lead = " ".repeat(by);
    format!("{lead}{}", text.replace('\n', &format!("\n{lead}")))
}

/// Wraps lines to a width at spaces; a longer word is kept whole. Models `mitchellh/go-wordwrap`.
fn wrapped(text: &str, width: usize) -> String {
    let is_space = |c: char| c.is_whitespace() && c != '\u{a0}';
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let (mut current, mut length, mut rest) = (String::new(), 0, line);
        while !rest.is_empty() {
            // Spaces, and the word after them.
            let start = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
            let end = rest[start..]
                .find(is_space)
                .map_or(rest.len(), |end| start + end);
            let (before, letters) = (
                length + rest[..start].chars().count(),
                rest[start..end].chars().count(),
            );
            if before + letters <= width || letters > 0 && before < 2 {
                current.push_str(&rest[..end]);
                length = before + letters;
            } else if letters > 0 {
                lines.push(std::mem::replace(&mut current, rest[start..end].to_owned()));
                length = letters;
            }
            rest = &rest[end..];
        }
        lines.push(current);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("one  two\nthree ", 8), "one  two\nthree ");
        assert_eq!(wrapped("a longerthanthat b", 6), "a\nlongerthanthat\nb");
        assert_eq!(wrapped("longerthanthat b", 6), "longerthanthat\nb");
        assert_eq!(wrapped("exact fit", 9), "exact fit");
        assert_eq!(wrapped("", 9), "");
    }
}
