//! Field sets in the form of `managedFields`: `{"f:spec": {"f:replicas": {}}}`.
//!
//! An element is in the set if nothing, or a `.`, is below it. Lists that are merged name their elements by keys
//! (`k:{"name":"c"}`) or values (`v:"x"`); a list or struct that is atomic is one field.
//! Models `sigs.k8s.io/structured-merge-diff/v6/{fieldpath,typed}`.

use k8s_model::Kind;
use k8s_model::schema::{Omit, list_element, map_element, schema};
use serde_json::{Map, Value, json};

/// Field set, with the sets below each field.
pub type FieldSet = Map<String, Value>;

/// Marker of an element that is itself in the set, besides fields below it.
const SELF: &str = ".";

/// Structs and maps that are replaced as a whole.
const ATOMIC: [&str; 17] = [
    "admissionregistrationv1.MatchResources",
    "admissionregistrationv1.ParamKind",
    "admissionregistrationv1.ParamRef",
    "admissionregistrationv1.Variable",
    "metav1.LabelSelector",
    "v1.NodeSelector",
    "v1.NodeSelectorTerm",
    "v1.ObjectReference",
    "v1.LocalObjectReference",
    "v1.TypedLocalObjectReference",
    "v1.SecretReference",
    "v1.ObjectFieldSelector",
    "v1.ResourceFieldSelector",
    "v1.ConfigMapKeySelector",
    "v1.SecretKeySelector",
    "v1.FileKeySelector",
    "v1.TopologySelectorTerm",
];
const ATOMIC_MAPS: [(&str, &str); 3] = [
    ("v1.PodSpec", "nodeSelector"),
    ("v1.ServiceSpec", "selector"),
    ("v1.ReplicationControllerSpec", "selector"),
];
/// Lists whose elements have more than one key.
const KEYS: [(&str, &[&str]); 3] = [
    ("v1.ContainerPort", &["containerPort", "protocol"]),
    ("v1.ServicePort", &["port", "protocol"]),
    (
        "v1.TopologySpreadConstraint",
        &["topologyKey", "whenUnsatisfiable"],
    ),
];

/// Lists of values that are sets, though strategic merge patches replace them.
const SETS: [(&str, &str); 1] = [("storagev1.CSIDriverSpec", "volumeLifecycleModes")];

/// Struct without a schema here: its maps are merged, its lists are replaced.
const FREE: &str = "*";

/// Schema of a field.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Go type of the value, or of the elements for a list.
    name: &'static str,
    /// True if the value is a single field, whatever it contains.
    atomic: bool,
    /// Key field of the elements of a list; empty for a list of values.
    key: &'static str,
    /// True if Go writes the field even when unset.
    always: bool,
    /// True for a key of a map, as opposed to a field of a struct.
    in_map: bool,
}

impl Shape {
    /// Returns the schema of a whole object.
    pub fn of_kind(kind: Kind) -> Shape {
        let built_in = || {
            schema()
                .kind(&kind.api_version(), kind.name())
                .filter(|_| !kind.is_custom())
        };
        Shape {
            name: built_in().unwrap_or(FREE),
            atomic: false,
            key: "",
            always: true,
            in_map: false,
        }
    }

    /// Returns true if the value is a single field, whatever it contains.
    pub fn is_atomic(self) -> bool {
        self.atomic
    }

    /// Returns the schema of a field, or of the values of a map.
    pub fn child(self, name: &str) -> Shape {
        if let Some(element) = map_element(self.name) {
            return Shape {
                name: resolve(element),
                atomic: false,
                key: "",
                always: false,
                in_map: true,
            };
        }
        if self.name == FREE {
            return Shape {
                // Every object has metadata.
                always: self.always && name == "metadata",
                ..self
            };
        }
        let Some(field) = schema().field(self.name, name) else {
            return Shape {
                name: "",
                atomic: true,
                key: "",
                always: false,
                in_map: true,
            };
        };
        let kind = resolve(field.kind);
        let inner = resolve(list_element(kind).unwrap_or(kind));
        let list = inner != kind;
        Shape {
            name: inner,
            atomic: if list {
                !field.strategy.contains("merge") && !SETS.contains(&(self.name, name))
            } else {
                ATOMIC.contains(&inner) || ATOMIC_MAPS.contains(&(self.name, name))
            },
            key: field.merge_key,
            always: field.omit == Omit::Never
                || !field.kind.starts_with('*') && !list && schema().fields(inner).is_some(),
            in_map: false,
        }
    }

    /// Returns the schema of the elements of this list.
    pub fn element(self) -> Shape {
        Shape {
            atomic: ATOMIC.contains(&self.name),
            key: "",
            always: false,
            in_map: true,
            ..self
        }
    }

    /// Returns the path element of an item of this list.
    pub fn element_name(self, item: &Value) -> String {
        if self.key.is_empty() {
            return format!("v:{item}");
        }
        let several = KEYS
            .iter()
            .find(|(name, _)| *name == self.name)
            .map(|(_, keys)| *keys);
        let keys = several.unwrap_or(std::slice::from_ref(&self.key));
        let value = |key: &str| match &item[key] {
            Value::Null if key == "protocol" => json!("TCP"),
            value => value.clone(),
        };
        let map = keys
            .iter()
            .map(|key| ((*key).to_owned(), value(key)))
            .collect::<serde_json::Map<_, _>>();
        format!("k:{}", Value::Object(map))
    }

    /// Returns the children of a value by path element. Empty for an atomic value.
    fn parts(self, value: Option<&Value>) -> Vec<(String, Shape, &Value)> {
        match value {
            Some(Value::Object(map)) if !self.atomic => map
                .iter()
                .map(|(name, v)| (format!("f:{name}"), self.child(name), v))
                .collect(),
            Some(Value::Array(items)) if !self.atomic && self.name != FREE => {
                let mut parts: Vec<(String, Shape, &Value)> = Vec::new();
                for item in items {
                    let name = self.element_name(item);
                    match parts.iter_mut().find(|(known, ..)| *known == name) {
                        // Elements that share their key are one field.
                        Some((_, shape, _)) => shape.atomic = true,
                        None => parts.push((name, self.element(), item)),
                    }
                }
                parts
            }
            _ => Vec::new(),
        }
    }

    /// Returns the children that differ between two values, by path element.
    fn differing<'v>(
        self,
        old: Option<&'v Value>,
        new: Option<&'v Value>,
    ) -> Vec<DifferingChild<'v>> {
        if let (false, Some(old), Some(new)) = (self.atomic, fields_of(old), fields_of(new)) {
            // Most children are equal; their path elements and schemas are not needed.
            let get = |map: Option<&'v Map<String, Value>>, name: &String| {
                map.and_then(|map| map.get(name))
            };
            let names = new.into_iter().flat_map(Map::keys);
            let gone = old
                .into_iter()
                .flat_map(Map::keys)
                .filter(|name| get(new, name).is_none());
            let children = names
                .chain(gone)
                .map(|name| (name, get(old, name), get(new, name)))
                .filter(|(_, old, new)| old != new);
            return children
                .map(|(name, old, new)| (format!("f:{name}"), self.child(name), old, new))
                .collect();
        }
        let (before, after) = (self.parts(old), self.parts(new));
        let find = |list: &[(String, Shape, &'v Value)], name: &str| {
            list.iter()
                .find(|(other, ..)| other == name)
                .map(|(_, _, value)| *value)
        };
        let mut all: Vec<DifferingChild<'v>> = after
            .iter()
            .map(|(name, shape, value)| (name.clone(), *shape, find(&before, name), Some(*value)))
            .collect();
        let gone = before
            .iter()
            .filter(|(name, ..)| find(&after, name).is_none());
        all.extend(gone.map(|(name, shape, value)| (name.clone(), *shape, Some(*value), None)));
        all
    }

    fn is_leaf(self, value: &Value) -> bool {
        self.atomic || !(value.is_object() || value.is_array() && self.name != FREE)
    }
}

/// Path element of a child, its schema, and its value before and after.
type DifferingChild<'v> = (String, Shape, Option<&'v Value>, Option<&'v Value>);

/// Returns the map of a value that has only fields: no map if there is no value.
fn fields_of(value: Option<&Value>) -> Option<Option<&Map<String, Value>>> {
    match value {
        None | Some(Value::Null) => Some(None),
        Some(Value::Object(map)) => Some(Some(map)),
        Some(_) => None,
    }
}

fn resolve(kind: &'static str) -> &'static str {
    let kind = kind.trim_start_matches('*');
    schema()
        .scalar(kind)
        .filter(|base| base.starts_with("map[") || base.starts_with("[]"))
        .unwrap_or(kind)
}

/// Returns the fields that a value sets.
pub fn of_value(shape: Shape, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, shape, value) in shape.parts(Some(value)) {
        let mut below = of_value(shape, value);
        let itself =
            value.is_null() || value.as_object().is_some_and(Map::is_empty) || shape.in_map;
        if !below.is_empty() && itself {
            below.insert(SELF.into(), json!({}));
        }
        if itself || !below.is_empty() || shape.is_leaf(value) {
            set.insert(name, Value::Object(below));
        }
    }
    set
}

/// Difference between two states of an object: added or changed fields, and removed ones.
#[derive(Default)]
pub struct Changes {
    path: Vec<String>,
    pub changed: FieldSet,
    pub removed: FieldSet,
}

/// Compares two states; `old` is null for a new object.
pub fn compare(shape: Shape, old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    changes.walk(shape, Some(old), Some(new), true);
    changes
}

impl Changes {
    /// Compares two values; `zero` is set if the field exists in an empty object.
    fn walk(&mut self, shape: Shape, old: Option<&Value>, new: Option<&Value>, zero: bool) {
        if old == new {
            return;
        }
        let filled = |v: Option<&Value>| {
            v.is_some_and(|v| {
                !shape.is_leaf(v)
                    && (v.as_object().is_some_and(|m| !m.is_empty())
                        || v.as_array().is_some_and(|l| !l.is_empty()))
            })
        };
        if !filled(old) && !filled(new) {
            let mut values = [old, new].into_iter().flatten();
            let is_empty = values.all(|v| v.as_object().is_some_and(Map::is_empty));
            if zero && shape.always && is_empty && schema().fields(shape.name).is_some() {
                // An empty struct is part of an empty object.
                return;
            }
            return self.leaf(old, new);
        }
        let zero = zero && shape.always;
        for (name, shape, old, new) in shape.differing(old, new) {
            self.step(
                &name,
                shape,
                old.filter(|v| !v.is_null()),
                new.filter(|v| !v.is_null()),
                zero,
            );
        }
        if old.is_none() && !zero {
            insert(&mut self.changed, &self.path);
        } else if new.is_none() && !zero {
            insert(&mut self.removed, &self.path);
        }
    }

    fn step(
        &mut self,
        name: &str,
        shape: Shape,
        old: Option<&Value>,
        new: Option<&Value>,
        zero: bool,
    ) {
        self.path.push(name.to_owned());
        self.walk(shape, old, new, zero);
        self.path.pop();
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(_), None) => insert(&mut self.removed, &self.path),
            (_, Some(_)) => insert(&mut self.changed, &self.path),
            (None, None) => {}
        }
    }
}

fn insert(set: &mut FieldSet, path: &[String]) {
    let Some((name, rest)) = path.split_first() else {
        return;
    };
    let known = set.contains_key(name);
    let Some(below) = set
        .entry(name.as_str())
        .or_insert_with(|| json!({}))
        .as_object_mut()
    else {
        return;
    };
    // An element that is itself in the set is marked once it has fields below it.
    if known && below.is_empty() && !rest.is_empty() || rest.is_empty() && !below.is_empty() {
        below.insert(SELF.into(), json!({}));
    }
    insert(below, rest);
}

fn has_itself(below: &FieldSet) -> bool {
    below.is_empty() || below.contains_key(SELF)
}

/// Returns the fields of both sets.
pub fn intersection(left: &FieldSet, right: &FieldSet) -> FieldSet {
    combine(left, right, |left, right| left && right)
}

/// Returns the fields of `left` that are not in `right`.
pub fn difference(left: &FieldSet, right: &FieldSet) -> FieldSet {
    combine(left, right, |left, right| left && !right)
}

/// Returns the fields of either set.
pub fn union(left: &FieldSet, right: &FieldSet) -> FieldSet {
    combine(left, right, |left, right| left || right)
}

fn combine(left: &FieldSet, right: &FieldSet, keep: fn(bool, bool) -> bool) -> FieldSet {
    let empty = FieldSet::new();
    let mut set = FieldSet::new();
    for name in left
        .keys()
        .chain(right.keys().filter(|name| !left.contains_key(*name)))
        .filter(|name| *name != SELF)
    {
        let (a, b) = (
            left.get(name).and_then(Value::as_object),
            right.get(name).and_then(Value::as_object),
        );
        let mut below = combine(a.unwrap_or(&empty), b.unwrap_or(&empty), keep);
        let itself = keep(a.is_some_and(has_itself), b.is_some_and(has_itself));
        if itself && !below.is_empty() {
            below.insert(SELF.into(), json!({}));
        }
        if itself || !below.is_empty() {
            set.insert(name.clone(), Value::Object(below));
        }
    }
    set
}

/// Formats the fields of a set as paths: `.spec.template.spec.containers[name="c"].image`.
pub fn paths(set: &FieldSet) -> Vec<String> {
    let mut found = Vec::new();
    write_paths(set, "", &mut found);
    found
}

fn write_paths(set: &FieldSet, prefix: &str, found: &mut Vec<String>) {
    for (name, below) in set.iter().filter(|(name, _)| *name != SELF) {
        let Some(below) = below.as_object() else {
            continue;
        };
        let path = prefix.to_owned() + &step(name);
        if has_itself(below) {
            found.push(path.clone());
        }
        write_paths(below, &path, found);
    }
}

/// Formats a path element: `.image`, `[name="c"]`, `[="x"]`.
pub fn step(name: &str) -> String {
    let (kind, rest) = name.split_at(2.min(name.len()));
    if kind == "f:" {
        return format!(".{rest}");
    }
    let Ok(Value::Object(keys)) = serde_json::from_str(rest) else {
        return format!("[={rest}]");
    };
    format!(
        "[{}]",
        keys.iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(",")
    )
}

/// Merges an applied value into another: structs and maps field by field, lists by the keys of their elements.
pub fn merge(shape: Shape, target: &mut Value, applied: &Value) {
    match (target, applied) {
        (Value::Object(map), Value::Object(new)) if !shape.atomic => {
            for (name, value) in new {
                match map.get_mut(name) {
                    Some(old) => merge(shape.child(name), old, value),
                    None => drop(map.insert(name.clone(), value.clone())),
                }
            }
        }
        (Value::Array(list), Value::Array(new)) if !shape.atomic && shape.name != FREE => {
            merge_lists(shape, list, new)
        }
        (target, applied) => *target = applied.clone(),
    }
}

/// Merges lists: applied elements keep their applied order; other elements stay before the element that followed them.
fn merge_lists(shape: Shape, list: &mut Vec<Value>, applied: &[Value]) {
    let names: Vec<String> = applied
        .iter()
        .map(|item| shape.element_name(item))
        .collect();
    let mut old: Vec<(String, Value)> = list
        .drain(..)
        .map(|item| (shape.element_name(&item), item))
        .collect();
    for (item, name) in applied.iter().zip(&names) {
        let others = old
            .iter()
            .take_while(|(other, _)| !names.contains(other))
            .count();
        list.extend(old.drain(..others).map(|(_, item)| item));
        let mut merged = item.clone();
        if let Some(at) = old.iter().position(|(other, _)| other == name) {
            merged = old.remove(at).1;
            merge(shape.element(), &mut merged, item);
        }
        list.push(merged);
    }
    list.extend(old.into_iter().map(|(_, item)| item));
}

/// Removes fields applied last time but not now, unless another manager owns them.
pub fn prune(shape: Shape, value: &mut Value, last: &FieldSet, kept: &FieldSet) {
    match value {
        Value::Object(map) if !shape.atomic => {
            map.retain(|name, inner| {
                !is_pruned(shape.child(name), &format!("f:{name}"), inner, last, kept)
            });
        }
        Value::Array(items) if !shape.atomic => {
            items.retain_mut(|item| {
                !is_pruned(shape.element(), &shape.element_name(item), item, last, kept)
            });
        }
        _ => {}
    }
}

/// Prunes one field or element; returns true if it is removed itself, or becomes empty.
fn is_pruned(
    shape: Shape,
    name: &str,
    value: &mut Value,
    last: &FieldSet,
    kept: &FieldSet,
) -> bool {
    let Some(last) = last.get(name).and_then(Value::as_object) else {
        return false;
    };
    let empty = FieldSet::new();
    let owned = kept.get(name).and_then(Value::as_object);
    if owned.is_none() && has_itself(last) {
        return true;
    }
    let filled = |value: &Value| value.as_object().is_some_and(|map| !map.is_empty());
    let before = filled(value);
    prune(shape, value, last, owned.unwrap_or(&empty));
    before && value.is_object() && !filled(value) && !owned.is_some_and(has_itself)
}
