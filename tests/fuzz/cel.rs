//! Arbitrary expressions of validation rules: each has the value that the `cel` crate with Kubernetes' functions gives it.

use super::{ROUNDS, rounds};
use k8s_model::cel::Program;
use kube_cel::KubeCelExt;
use serde_json::{Value, json};
use sim_core::rng::Rng;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Type of an expression.
#[derive(Clone, Copy, PartialEq)]
enum CelType {
    Bool,
    Int,
    Text,
    Ints,
    Texts,
}

use CelType::{Bool, Int, Ints, Text, Texts};

fn object() -> Value {
    json!({
        "replicas": 3, "max": 10, "low": -7, "name": "web-0", "host": "a.example.com", "empty": "", "on": true, "off": false,
        "ports": [80, 443, 8080], "none": [], "tags": ["b", "a", "a"], "labels": {"app": "web", "tier": "front"},
    })
}

/// Returns the forms of a type: `$b`, `$i`, `$t`, `$I` and `$T` stand for an expression of a type.
fn forms(cel_type: CelType) -> &'static [&'static str] {
    match cel_type {
        Bool => &[
            "true",
            "self.on",
            "self.off",
            "has(self.name)",
            "has(self.missing)",
            "'app' in self.labels",
            "!($b)",
            "($b) && ($b)",
            "($b) || ($b)",
            "($b) ? ($b) : ($b)",
            "($i) == ($i)",
            "($i) != ($i)",
            "($i) < ($i)",
            "($i) >= ($i)",
            "($t) == ($t)",
            "($t) < ($t)",
            "($t) in ($T)",
            "($i) in ($I)",
            "($T) == ($T)",
            "($t).startsWith($t)",
            "($t).endsWith($t)",
            "($t).contains($t)",
            "($t).matches('^[a-z]+(-[0-9])?$')",
            "($I).all(x, x > ($i))",
            "($I).exists(x, x == ($i))",
            "($I).exists_one(x, x < ($i))",
            "($T).all(x, x.size() > 0)",
            "($I).isSorted()",
            "($T).isSorted()",
            "self.labels.all(k, k.size() > ($i))",
        ],
        Int => &[
            "0",
            "1",
            "2",
            "7",
            "self.replicas",
            "self.max",
            "self.low",
            "($i) + ($i)",
            "($i) - ($i)",
            "($i) * ($i)",
            "($i) / ($i)",
            "($i) % ($i)",
            "-($i)",
            "($b) ? ($i) : ($i)",
            "size($t)",
            "($I).size()",
            "self.ports[($i)]",
            "($I).sum()",
            "($I).max()",
            "($I).min()",
            "($t).indexOf($t)",
            "($t).lastIndexOf($t)",
            "($I).indexOf($i)",
            "int('4')",
        ],
        Text => &[
            "''",
            "'a'",
            "'web'",
            "self.name",
            "self.host",
            "self.empty",
            "($t) + ($t)",
            "($b) ? ($t) : ($t)",
            "string($i)",
            "($t).lowerAscii()",
            "($t).upperAscii()",
            "($t).trim()",
            "($t).replace($t, $t)",
            "($t).substring($i)",
            "($t).substring($i, $i)",
            "($t).charAt($i)",
            "($T).join(',')",
            "($T).join()",
            "self.labels['app']",
            "self.tags[($i)]",
            "($t).reverse()",
        ],
        Ints => &[
            "[]",
            "[1, 2]",
            "self.ports",
            "self.none",
            "($I) + ($I)",
            "($I).map(x, x + ($i))",
            "($I).filter(x, x > ($i))",
            "[($i), ($i)]",
        ],
        Texts => &[
            "[]",
            "['a', 'b']",
            "self.tags",
            "($t).split(',')",
            "($t).split('.')",
            "($T).map(x, x + ($t))",
            "($T).filter(x, x != ($t))",
            "($t).split('a', ($i))",
        ],
    }
}

fn expression(rng: &mut Rng, cel_type: CelType, depth: usize) -> String {
    let forms = forms(cel_type);
    let leaves: Vec<&str> = forms
        .iter()
        .copied()
        .filter(|form| !form.contains('$'))
        .collect();
    let form = if depth == 0 {
        leaves[rng.below(leaves.len() as u64) as usize]
    } else {
        forms[rng.below(forms.len() as u64) as usize]
    };
    let mut parts = form.split('$');
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let inner = match &part[..1] {
            "b" => Bool,
            "i" => Int,
            "t" => Text,
            "I" => Ints,
            _ => Texts,
        };
        // `^…$` is a pattern and no place.
        if "bitIT".contains(&part[..1]) && !text.ends_with('?') {
            text += &expression(rng, inner, depth - 1);
            text += &part[1..];
        } else {
            text.push('$');
            text += part;
        }
    }
    text
}

#[test]
fn any_validation_rule_has_the_value_of_the_cel_crate() {
    let this = object();
    let differences = RefCell::new(Vec::new());
    let values = Cell::new(0);
    rounds(|rng, round| {
        let cel_type = [Bool, Int, Text, Ints, Texts][(round % 5) as usize];
        let text = expression(rng, cel_type, 3);
        let own = Program::read(&text).and_then(|program| program.ask(&this, None));
        let reference = reference(&text, &this);
        values.set(values.get() + u64::from(reference.is_ok()));
        if own.as_ref().ok() != reference.as_ref().ok() {
            differences
                .borrow_mut()
                .push(format!("{text}\n  own {own:?}\n  cel {reference:?}"));
        }
    });
    // An expression in which both find an error says little.
    assert!(values.get() > ROUNDS / 2, "{} have a value", values.get());
    let differences = differences.into_inner();
    assert!(
        differences.is_empty(),
        "{} differ\n{}",
        differences.len(),
        differences[..differences.len().min(30)].join("\n")
    );
}

/// Returns the value that the `cel` crate gives an expression.
fn reference(text: &str, this: &Value) -> Result<Value, String> {
    let mut context = cel::Context::default().with_all();
    context.add_variable_from_value("self", cel_value(this));
    let program = cel::Program::compile(text).map_err(|error| error.to_string())?;
    let value = program
        .execute(&context)
        .map_err(|error| error.to_string())?;
    value.json().map_err(|error| error.to_string())
}

/// Converts JSON with its whole numbers as `int`, as the API server does; the crate's own conversion takes positive ones as `uint`.
fn cel_value(value: &Value) -> cel::Value {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::Array(items) => items.iter().map(cel_value).collect::<Vec<_>>().into(),
        Value::Object(fields) => {
            let entry = |(name, value): (&String, &Value)| (name.clone().into(), cel_value(value));
            cel::Value::Map(cel::objects::Map {
                map: Arc::new(fields.iter().map(entry).collect()),
            })
        }
        Value::String(text) => text.as_str().into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Null => cel::Value::Null,
    }
}
