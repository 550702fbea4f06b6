//! The schema that editors check lessons with is made of the tables that lessons are read by, and of the document of the format.

use cluster::loops;
use lesson::read::{CHOICE, LESSON, PREDICT, REVIEW, STEP, TASK, TEXT, VERSION};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap_or_default()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

/// What a field holds. A field that is not here has no place in the schema, and the test fails.
fn holds(of: &str, field: &str) -> Value {
    let (text, actions, expression) = (
        reference("text"),
        list(&reference("action")),
        reference("expression"),
    );
    match (of, field) {
        ("lesson", "lesson") => json!({ "const": VERSION }),
        ("lesson", "cluster") => reference("cluster"),
        ("lesson", "seed") => json!({ "type": "integer", "minimum": 0 }),
        ("lesson", "steps") => {
            json!({ "type": "array", "minItems": 1, "maxItems": 200, "items": reference("step") })
        }
        ("step", "view") => {
            json!({ "enum": views::ALL.iter().map(|view| view.id).collect::<Vec<_>>() })
        }
        ("step", "beside") => json!({ "const": "event-driven" }),
        ("step", "loop") => {
            let known: Vec<_> = loops::all().map(|one| one.component.name()).collect();
            // Or the name of a ControlLoop that a step has applied.
            json!({ "anyOf": [{ "enum": known }, { "type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" }] })
        }
        ("step", "look") | ("task", "about") | ("text", "en" | "zh") => json!({ "type": "string" }),
        ("step", "do") | ("task", "solution" | "alternative" | "wrong") => actions,
        ("step", "predict") => reference("predict"),
        ("step", "task") => reference("task"),
        ("step", "expect") => list(&expression),
        ("lesson", "review") => list(&reference("review")),
        ("review", "choices") => {
            json!({ "type": "array", "minItems": 2, "items": text })
        }
        ("review", "right") => json!({ "type": "integer", "minimum": 1 }),
        ("predict", "choices") => {
            json!({ "type": "array", "minItems": 2, "items": reference("choice") })
        }
        ("predict", "number") | ("choice", "if") | ("task", "check") => expression,
        ("task", "hints") | ("lesson", "learned") => list(&text),
        ("lesson", "title" | "summary")
        | ("step", "say" | "notes")
        | ("predict" | "review", "ask" | "because")
        | ("choice", "say")
        | ("task", "goal") => text,
        (of, field) => panic!("the schema does not know {field} of {of}"),
    }
}

/// What the document says about a field: the second column of its table, if the field has a row of its own or shares one.
fn described(document: &str, of: &str, field: &str) -> Option<String> {
    let heading = match of {
        "lesson" => "\n## The lesson\n",
        "step" => "\n## A step\n",
        _ => return None,
    };
    let (_, section) = document.split_once(heading)?;
    let row = section.split("\n## ").next()?.lines().find(|line| {
        line.starts_with("| `")
            && line.split('|').nth(1).is_some_and(|cell| {
                cell.split(',')
                    .any(|name| name.trim() == format!("`{field}`"))
            })
    })?;
    // A bar within the cell is written with a backslash.
    Some(
        row.replace("\\|", "¦")
            .split('|')
            .nth(2)?
            .trim()
            .replace('¦', "|"),
    )
}

fn mapping(document: &str, of: &str, fields: &[&str], required: &[&str]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            let mut holds = holds(of, field);
            if let Some(words) = described(document, of, field) {
                holds["description"] = words.into();
            }
            ((*field).to_owned(), holds)
        })
        .collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn schema() -> Value {
    let document = file("docs/lesson-format.md");
    let mut schema = mapping(&document, "lesson", LESSON, &["lesson", "title", "steps"]);
    let of = |of, fields, required| mapping(&document, of, fields, required);
    let mut predict = of("predict", PREDICT, &["ask"]);
    predict["oneOf"] = json!([{ "required": ["choices"] }, { "required": ["number"] }]);
    let duration = json!({ "type": ["string", "number"], "pattern": "^[0-9.]+(ms|s|m|h)$" });
    let action =
        |name: &str, holds: &Value| json!({ "properties": { name: holds }, "required": [name] });
    let line = json!({ "type": "string" });
    let mut kubectl = action("kubectl", &line);
    kubectl["properties"]["background"] = json!({ "type": "boolean" });
    let wait = json!({ "anyOf": [{ "const": "settled" }, duration] });
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "A lesson of Loopscope".into();
    schema["$defs"] = json!({
        "text": { "anyOf": [{ "type": "string" }, of("text", TEXT, &["en"])] },
        "expression": { "type": "string" },
        "action": { "type": "object", "anyOf": [action("apply", &line), kubectl, action("fault", &line), action("wait", &wait)] },
        "cluster": {
            "type": "object",
            "properties": {
                "nodes": { "anyOf": [{ "type": "integer", "minimum": 0 }, list(&json!({
                    "type": "object", "properties": { "name": line, "allocatable": { "type": "object" } }, "required": ["name"]
                }))] },
                "timing": { "type": "object", "properties": { "podStart": duration, "podStop": duration, "provision": duration } },
            },
        },
        "step": of("step", STEP, &["say"]),
        "predict": predict,
        "review": of("review", REVIEW, &["ask", "choices", "right"]),
        "choice": of("choice", CHOICE, &["say", "if"]),
        "task": of("task", TASK, &["goal", "check", "solution"]),
    });
    schema
}

/// `UPDATE_DOCS=1 cargo test --test command lesson_schema` writes the file anew.
#[test]
fn the_schema_has_the_fields_that_lessons_are_read_by() {
    let name = "static/lesson.schema.json";
    let schema = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &schema).unwrap();
    }
    assert!(
        file(name) == schema,
        "{name} is stale: UPDATE_DOCS=1 cargo test --test command lesson_schema"
    );
}

/// What an editor shows where a field is written.
#[test]
fn the_document_describes_every_field_of_lessons_and_steps() {
    let document = file("docs/lesson-format.md");
    for (of, fields) in [("lesson", LESSON), ("step", STEP)] {
        for field in fields {
            assert!(
                described(&document, of, field).is_some_and(|words| !words.is_empty()),
                "docs/lesson-format.md has no row for {field} of a {of}"
            );
        }
    }
}
