//! Differences between two states of objects, field by field: the changes that applying a manifest would make, and those between two
//! instants.

use apiserver::{Journal, Op};
use i18n::format::middle;
use i18n::{Message, msg};
use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Changed field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedField {
    /// Path, such as `spec.template.spec.containers[nginx].image`.
    pub path: String,
    /// Old value; `None` if it was not set.
    pub from: Option<Value>,
    /// New value; `None` if it is not set.
    pub to: Option<Value>,
}

impl ChangedField {
    /// Old and new value as text that fits a line: a single value is cut in the middle, two long ones to where they differ.
    pub fn shown(&self) -> (Option<String>, Option<String>) {
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            let (from, to) = differing(&text(from), &text(to));
            return (Some(from), Some(to));
        }
        let single = |value: &Value| middle(&text(value), MAX_LONE_VALUE_CHARS);
        (self.from.as_ref().map(single), self.to.as_ref().map(single))
    }

    /// Returns both values if they are counts; one that is not set counts as zero.
    pub fn counts(&self) -> Option<(i64, i64)> {
        let count = |value: &Option<Value>| value.as_ref().map_or(Some(0), Value::as_i64);
        Some((count(&self.from)?, count(&self.to)?))
    }

    /// Returns true if a value is an object or a list.
    pub fn is_nested(&self) -> bool {
        let is_nested = |value: &Value| value.is_object() || value.is_array();
        self.from.as_ref().is_some_and(is_nested) || self.to.as_ref().is_some_and(is_nested)
    }

    /// Returns true if the change marks the object as being deleted.
    pub fn is_deletion(&self) -> bool {
        self.path == "metadata.deletionTimestamp" && self.to.is_some()
    }

    /// Returns true if the field is shown first; status counters and fields written by the system are only shown on request.
    pub fn is_key(&self, kind: Kind) -> bool {
        let told = |of: &[&str]| of.iter().any(|end| self.path.ends_with(end));
        match kind {
            _ if self.is_technical() => false,
            // Annotations of a person have other names, while labels and selectors are a person's.
            _ if self.path.starts_with("metadata.annotations.")
                && self.path.contains("kubernetes.io/") =>
            {
                false
            }
            // Derived from the Pods.
            Kind::EndpointSlice | Kind::Endpoints => false,
            _ if !self.path.starts_with("status.") => true,
            Kind::Pod => told(&[
                "status.phase",
                "conditions[Ready].status",
                ".restartCount",
                ".waiting.reason",
            ]),
            Kind::Node => told(&["conditions[Ready].status"]),
            Kind::PersistentVolumeClaim | Kind::PersistentVolume => told(&["status.phase"]),
            // A ReplicaSet's counters follow from its Pods, which are listed themselves.
            Kind::ReplicaSet => false,
            Kind::DaemonSet => told(&["status.numberReady"]),
            Kind::Job => told(&["status.succeeded", "status.failed"]),
            _ if self.path.contains(".conditions[") => told(&["].status"]),
            _ => told(&[
                "status.readyReplicas",
                "status.desiredReplicas",
                "status.phase",
            ]),
        }
    }

    /// Returns true if the field is internal bookkeeping: identity, write counters, times.
    pub fn is_technical(&self) -> bool {
        let last = self.path.rsplit('.').next().unwrap_or("");
        if self.is_deletion() {
            return false;
        }
        matches!(
            last,
            "uid"
                | "resourceVersion"
                | "observedGeneration"
                | "containerID"
                | "imageID"
                | "deletionGracePeriodSeconds"
        ) || ["Time", "Timestamp", "-time"]
            .iter()
            .any(|end| last.ends_with(end))
    }
}

/// Changed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Key of the object.
    pub key: ObjectRef,
    /// Added, deleted, or modified.
    pub op: Op,
    /// Changed fields of a modified object.
    pub fields: Vec<ChangedField>,
}

impl Change {
    /// Returns true if a person probably made the change, judging by kind and fields: people also label objects and cordon nodes, which are
    /// mostly written by controllers. Kubernetes' own labels are the system's.
    pub fn is_by_person(&self) -> bool {
        let label =
            |path: &str| path.starts_with("metadata.labels") && !path.contains("kubernetes.io/");
        let own = |field: &ChangedField| field.path == "spec.unschedulable" || label(&field.path);
        rank(self.key.kind) == 0 || self.op == Op::Modified && self.fields.iter().any(own)
    }
}

/// Maximum number of fields listed per object.
const MAX_FIELDS: usize = 40;
/// Maximum length of a value: of a changed one, cut to where the two differ, and of a single one, cut in the middle.
pub const MAX_VALUE_CHARS: usize = 60;
const MAX_LONE_VALUE_CHARS: usize = 160;
/// Length of the common beginning shown before two long values differ.
const MAX_COMMON_CHARS: usize = 12;
/// Fields that every write changes, and kubectl's own bookkeeping.
const IGNORED_FIELDS: [&str; 3] = [
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.managedFields",
];

fn is_noise(path: &str) -> bool {
    IGNORED_FIELDS.contains(&path)
        || path.strip_prefix("metadata.annotations.") == Some(LAST_APPLIED)
}

/// Returns the fields in which two objects differ.
pub fn fields(before: &Object, after: &Object) -> Vec<ChangedField> {
    let mut out = Vec::new();
    compare(
        &mut String::new(),
        Some(&before.to_value()),
        Some(&after.to_value()),
        &mut out,
    );
    out
}

fn compare(
    path: &mut String,
    before: Option<&Value>,
    after: Option<&Value>,
    out: &mut Vec<ChangedField>,
) {
    if before == after || out.len() >= MAX_FIELDS || is_noise(path) {
        return;
    }
    match (before, after) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let mut keys: Vec<&String> = a
                .keys()
                .chain(b.keys().filter(|key| !a.contains_key(*key)))
                .collect();
            keys.sort();
            for key in keys {
                let dot = if path.is_empty() { "" } else { "." };
                within(path, &[dot, key].concat(), a.get(key), b.get(key), out);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            let (old, new) = (names(a), names(b));
            let by_name: BTreeMap<&str, &Value> =
                new.iter().map(String::as_str).zip(b).rev().collect();
            for (name, value) in old.iter().zip(a) {
                let same = by_name.get(name.as_str()).copied();
                within(path, &["[", name, "]"].concat(), Some(value), same, out);
            }
            let old: BTreeSet<&String> = old.iter().collect();
            for (name, value) in new.iter().zip(b).filter(|(name, _)| !old.contains(name)) {
                within(path, &["[", name, "]"].concat(), None, Some(value), out);
            }
        }
        _ => out.push(ChangedField {
            path: path.clone(),
            from: before.cloned(),
            to: after.cloned(),
        }),
    }
}

fn within(
    path: &mut String,
    step: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    out: &mut Vec<ChangedField>,
) {
    let length = path.len();
    path.push_str(step);
    compare(path, before, after, out);
    path.truncate(length);
}

/// Returns the keys of a list's elements: their names, types or other identifying fields, or else their indexes.
fn names(list: &[Value]) -> Vec<String> {
    let name = |element: &Value| {
        let found = ["/name", "/type", "/targetRef/name"]
            .iter()
            .find_map(|key| element.pointer(key).and_then(Value::as_str));
        found.filter(|name| !name.is_empty()).map(str::to_string)
    };
    let all: Option<Vec<String>> = list.iter().map(name).collect();
    all.unwrap_or_else(|| (0..list.len()).map(|at| at.to_string()).collect())
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_string)
}

/// Shortens two values for display: the common beginning of long ones is left out.
fn differing(from: &str, to: &str) -> (String, String) {
    let common = from
        .chars()
        .zip(to.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = from.chars().count().max(to.chars().count());
    let skipped = if longest > MAX_VALUE_CHARS {
        common.saturating_sub(MAX_COMMON_CHARS)
    } else {
        0
    };
    let shown = |value: &str| {
        let rest: String = value.chars().skip(skipped).collect();
        middle(
            &if skipped > 0 {
                ["…", &rest].concat()
            } else {
                rest
            },
            MAX_VALUE_CHARS,
        )
    };
    (shown(from), shown(to))
}

/// Maximum number of fields named in a summary.
const MAX_NAMED_FIELDS: usize = 4;

/// Returns the changed fields that a person would change on purpose: each by its own name, with its object if there are several, or others
/// beside it (`among_others`).
pub fn brief(changes: &[Change], among_others: bool) -> Vec<Message> {
    let wanted = |field: &&ChangedField| {
        ["spec.", "data.", "stringData."]
            .iter()
            .any(|part| field.path.starts_with(part))
    };
    let changed = changes.iter().filter(|change| change.op == Op::Modified);
    let fields: Vec<(&ObjectRef, &ChangedField)> = changed
        .flat_map(|change| {
            change
                .fields
                .iter()
                .filter(|field| field.is_key(change.key.kind))
                .map(|field| (&change.key, field))
        })
        .filter(|(_, field)| wanted(field))
        .collect();
    let several = among_others || fields.windows(2).any(|pair| pair[0].0 != pair[1].0);
    let said = |value: Option<String>| value.map_or_else(msg::field_not_set, Message::name);
    let told = |(key, field): &(&ObjectRef, &ChangedField)| {
        let own = field.path.rsplit('.').next().unwrap_or(&field.path);
        let name = if several {
            format!("{} {} {own}", key.kind.name(), key.name)
        } else {
            own.to_owned()
        };
        let (from, to) = field.shown();
        msg::plan_field(name, said(from), said(to))
    };
    let more = fields.len().saturating_sub(MAX_NAMED_FIELDS);
    let mut told: Vec<Message> = fields.iter().take(MAX_NAMED_FIELDS).map(told).collect();
    if more > 0 {
        told.push(msg::summary_more(more));
    }
    told
}

/// Returns the net effect of journal entries: each object once, compared before the first and after the last entry.
pub fn written(entries: Journal<'_>) -> Vec<Change> {
    // Object before and after.
    type Pair = (Option<Rc<Object>>, Option<Rc<Object>>);
    let mut found: Vec<Pair> = Vec::new();
    let mut places: BTreeMap<Uid, usize> = BTreeMap::new();
    for entry in entries.iter() {
        let apiserver::Record::Write { op, object, before } = &entry.record else {
            continue;
        };
        if object.kind == k8s_model::Kind::Event {
            continue;
        }
        let now = (*op != Op::Deleted).then(|| object.clone());
        match places.get(&object.meta.uid) {
            Some(at) => found[*at].1 = now,
            None => {
                places.insert(object.meta.uid, found.len());
                found.push((before.clone(), now));
            }
        }
    }
    found
        .iter()
        .filter_map(|(was, is)| change(was.as_ref(), is.as_ref(), true))
        .collect()
}

/// Returns the differences between two instants: added, deleted and modified objects. Fields are compared for the first `detail`.
pub fn between(before: &[Rc<Object>], after: &[Rc<Object>], detail: usize) -> Vec<Change> {
    let sorted = |objects: &[Rc<Object>]| {
        let mut all: Vec<Rc<Object>> = objects.to_vec();
        all.sort_by(order_of);
        all
    };
    let (before, after) = (sorted(before), sorted(after));
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < before.len() || j < after.len() {
        let side = match (before.get(i), after.get(j)) {
            (Some(a), Some(b)) => order_of(a, b),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        let was = before.get(i).filter(|_| side.is_le());
        let is = after.get(j).filter(|_| side.is_ge());
        let found = change(was, is, out.len() < detail);
        // An object that was changed back is not listed.
        out.extend(found.filter(|change| {
            change.op != Op::Modified || !change.fields.is_empty() || out.len() >= detail
        }));
        i += usize::from(side.is_le());
        j += usize::from(side.is_ge());
    }
    out
}

/// Sort rank of a kind: kinds that users write first, then those created from them, then Pods, then kinds mostly written by controllers.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::ReplicaSet | Kind::Job => 1,
        Kind::Pod => 2,
        Kind::EndpointSlice
        | Kind::Endpoints
        | Kind::Lease
        | Kind::Node
        | Kind::PersistentVolume
        | Kind::ControllerRevision
        | Kind::Event => 3,
        _ => 0,
    }
}

/// Compares changes for sorting; an object that was replaced by one of the same name stands beside it.
fn place(kind: Kind, namespace: &str, name: &str, than: (Kind, &str, &str)) -> std::cmp::Ordering {
    (rank(kind), kind, namespace, name).cmp(&(rank(than.0), than.0, than.1, than.2))
}

fn order_of(a: &Rc<Object>, b: &Rc<Object>) -> std::cmp::Ordering {
    place(
        a.kind,
        &a.meta.namespace,
        &a.meta.name,
        (b.kind, &b.meta.namespace, &b.meta.name),
    )
    .then_with(|| a.meta.uid.cmp(&b.meta.uid))
}

/// Returns the change of the object with a name, in the result of [`between`]; one replaced under the same name counts as modified.
pub fn fate(all: &[Change], (kind, namespace, name): (Kind, &str, &str)) -> Option<Op> {
    let order = |change: &Change| {
        place(
            change.key.kind,
            &change.key.namespace,
            &change.key.name,
            (kind, namespace, name),
        )
    };
    let from = all.partition_point(|change| order(change).is_lt());
    let own: Vec<Op> = all[from..]
        .iter()
        .take_while(|change| order(change).is_eq())
        .map(|change| change.op)
        .collect();
    match own[..] {
        [] => None,
        [only] => Some(only),
        _ => Some(Op::Modified),
    }
}

/// Groups changes shown together: a single one, two with the same name, or many similar ones that are only counted.
pub fn together(all: &[Change]) -> Vec<&[Change]> {
    let named = |a: &Change, b: &Change| a.key == b.key;
    // Names of objects created by one owner differ in their suffix only.
    let family = |change: &Change| change.key.name.rfind('-').map_or(0, |at| at + 1);
    let alike = |a: &Change, b: &Change| {
        let same = (a.key.kind, &a.key.namespace, a.op) == (b.key.kind, &b.key.namespace, b.op);
        same && a.op != Op::Modified
            && family(a) > 0
            && a.key.name[..family(a)] == b.key.name[..family(b)]
    };
    let mut out: Vec<&[Change]> = Vec::new();
    let mut left = all;
    while let Some(first) = left.first() {
        let run = left
            .windows(2)
            .take_while(|pair| alike(&pair[0], &pair[1]) && !named(&pair[0], &pair[1]))
            .count()
            + 1;
        // The last of them may be one half of a replacement.
        let run = run - usize::from(run < left.len() && named(&left[run - 1], &left[run]));
        let pair = left.get(1).is_some_and(|next| named(first, next));
        let many = if pair {
            2
        } else if run > MAX_LISTED_ALIKE {
            run
        } else {
            1
        };
        let (these, rest) = left.split_at(many);
        out.push(these);
        left = rest;
    }
    out
}

/// Number of added or deleted objects of a kind above which they are shown in one line.
const MAX_LISTED_ALIKE: usize = 3;

fn change(was: Option<&Rc<Object>>, is: Option<&Rc<Object>>, detail: bool) -> Option<Change> {
    let (op, object) = match (was, is) {
        (None, Some(is)) => (Op::Added, is),
        (Some(was), None) => (Op::Deleted, was),
        (Some(was), Some(is))
            if !Rc::ptr_eq(was, is) && was.meta.resource_version != is.meta.resource_version =>
        {
            (Op::Modified, is)
        }
        _ => return None,
    };
    let fields = match (was, is) {
        (Some(was), Some(is)) if detail => fields(was, is),
        _ => Vec::new(),
    };
    Some(Change {
        key: object.key(),
        op,
        fields,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_long_values_it_is_shown_where_they_differ() {
        assert_eq!(
            differing("nginx:1.25", "nginx:1.26"),
            ("nginx:1.25".into(), "nginx:1.26".into())
        );
        let same = "a word ".repeat(20);
        let (from, to) = differing(&format!("{same}80"), &format!("{same}8080 and more"));
        assert_eq!(
            (from.as_str(), to.as_str()),
            ("…rd a word 80", "…rd a word 8080 and more")
        );
        // Without a common beginning both are cut in the middle.
        let (from, to) = differing(&"x".repeat(100), "y");
        assert_eq!((from.chars().count(), to.as_str()), (MAX_VALUE_CHARS, "y"));
    }

    #[test]
    fn a_person_has_cordoned_a_node_and_labelled_a_pod() {
        let change = |kind: Kind, op: Op, path: &str| Change {
            key: ObjectRef::new(kind, "", "x"),
            op,
            fields: vec![ChangedField {
                path: path.into(),
                from: None,
                to: Some("true".into()),
            }],
        };
        assert!(change(Kind::Node, Op::Modified, "spec.unschedulable").is_by_person());
        assert!(change(Kind::Pod, Op::Modified, "metadata.labels.app").is_by_person());
        assert!(change(Kind::Service, Op::Modified, "spec.ports[0].port").is_by_person());
        assert!(
            !change(
                Kind::Pod,
                Op::Modified,
                "metadata.labels.topology.kubernetes.io/zone"
            )
            .is_by_person()
        );
        assert!(!change(Kind::Node, Op::Modified, "spec.taints").is_by_person());
        assert!(!change(Kind::Pod, Op::Added, "metadata.labels.app").is_by_person());
    }

    #[test]
    fn a_plan_names_the_fields_that_a_person_sets() {
        let field = |path: &str, from: &str, to: &str| ChangedField {
            path: path.into(),
            from: Some(from.into()),
            to: Some(to.into()),
        };
        let fields = vec![
            field("metadata.annotations.a", "1", "2"),
            field("spec.replicas", "4", "2"),
            field(
                "spec.template.spec.containers[nginx].image",
                "nginx:1",
                "nginx:2",
            ),
            field("status.readyReplicas", "4", "2"),
        ];
        let key = ObjectRef::new(Kind::Deployment, "default", "web");
        let changes = [
            Change {
                key: key.clone(),
                op: Op::Modified,
                fields: fields.clone(),
            },
            Change {
                key,
                op: Op::Added,
                fields,
            },
        ];
        let named: Vec<String> = brief(&changes, false)
            .iter()
            .map(Message::english)
            .collect();
        assert_eq!(named, ["replicas 4 → 2", "image nginx:1 → nginx:2"]);
        let port = Change {
            key: ObjectRef::new(Kind::Service, "default", "web"),
            op: Op::Modified,
            fields: vec![field("spec.ports[0].targetPort", "80", "8080")],
        };
        let [web, _] = changes;
        let both = [web, port];
        let named: Vec<String> = brief(&both, false).iter().map(Message::english).collect();
        assert_eq!(
            named,
            [
                "Deployment web replicas 4 → 2",
                "Deployment web image nginx:1 → nginx:2",
                "Service web targetPort 80 → 8080"
            ]
        );
        let fields: Vec<ChangedField> = ["a", "b", "c", "d", "e"]
            .map(|key| field(&format!("data.{key}"), "1", "2"))
            .into();
        let key = ObjectRef::new(Kind::ConfigMap, "default", "web");
        assert_eq!(
            brief(
                &[Change {
                    key,
                    op: Op::Modified,
                    fields
                }],
                false
            )
            .last()
            .map(Message::english)
            .as_deref(),
            Some("1 more")
        );
    }

    #[test]
    fn one_that_was_replaced_under_its_name_has_changed_and_many_alike_are_one_line() {
        let of = |op, kind, name: &str| Change {
            key: ObjectRef::new(kind, "default", name),
            op,
            fields: Vec::new(),
        };
        let all = [
            of(Op::Modified, Kind::StatefulSet, "web"),
            of(Op::Added, Kind::Pod, "a-1"),
            of(Op::Added, Kind::Pod, "a-2"),
            of(Op::Added, Kind::Pod, "a-3"),
            of(Op::Added, Kind::Pod, "a-4"),
            of(Op::Deleted, Kind::Pod, "web-0"),
            of(Op::Added, Kind::Pod, "web-0"),
            of(Op::Added, Kind::Pod, "web-1"),
        ];
        let fate = |kind, name| fate(&all, (kind, "default", name));
        assert_eq!(
            [fate(Kind::Pod, "web-0"), fate(Kind::Pod, "web-1")],
            [Some(Op::Modified), Some(Op::Added)]
        );
        assert_eq!(
            [fate(Kind::Pod, "web-2"), fate(Kind::StatefulSet, "web")],
            [None, Some(Op::Modified)]
        );
        assert_eq!(
            together(&all)
                .iter()
                .map(|these| these.len())
                .collect::<Vec<_>>(),
            [1, 4, 2, 1]
        );
        let added = ["web-10", "web-11", "web-12", "web-13", "web-2"]
            .map(|name| of(Op::Added, Kind::Pod, name));
        let halves: Vec<Change> = added
            .into_iter()
            .chain([of(Op::Deleted, Kind::Pod, "web-2")])
            .collect();
        assert_eq!(
            together(&halves)
                .iter()
                .map(|these| these.len())
                .collect::<Vec<_>>(),
            [4, 2]
        );
        let key = |path: &str, kind| {
            ChangedField {
                path: path.into(),
                from: None,
                to: None,
            }
            .is_key(kind)
        };
        assert!(
            key("spec.replicas", Kind::Deployment)
                && key("status.readyReplicas", Kind::Deployment)
                && key("status.phase", Kind::Pod)
        );
        assert!(
            !key("endpoints[web-0]", Kind::EndpointSlice)
                && !key(
                    "metadata.annotations.deployment.kubernetes.io/revision",
                    Kind::Deployment
                )
        );
        assert!(
            key("metadata.labels.app.kubernetes.io/version", Kind::Pod)
                && key(
                    "spec.template.spec.nodeSelector.kubernetes.io/hostname",
                    Kind::Deployment
                )
                && key("status.conditions[Available].status", Kind::Deployment)
                && key("status.phase", Kind::Namespace)
        );
        assert!(
            !key("status.updatedReplicas", Kind::Deployment)
                && !key("status.readyReplicas", Kind::ReplicaSet)
        );
    }

    #[test]
    fn elements_are_known_by_name() {
        let mut out = Vec::new();
        let of = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let (a, b) = (
            of(r#"{"c":[{"name":"x","n":1},{"name":"y"}],"l":[1,2]}"#),
            of(r#"{"c":[{"name":"y"},{"name":"x","n":2}],"l":[1]}"#),
        );
        compare(&mut String::new(), Some(&a), Some(&b), &mut out);
        let paths: Vec<&str> = out.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["c[x].n", "l[1]"]);
        let pods = |all: &[&str]| {
            Value::from_iter(
                all.iter()
                    .map(|pod| serde_json::json!({"targetRef": {"name": pod}, "ip": *pod})),
            )
        };
        assert_eq!(
            names(pods(&["web-0", "web-1"]).as_array().expect("a list")),
            ["web-0", "web-1"]
        );
        let technical = |path: &str| {
            ChangedField {
                path: path.into(),
                from: None,
                to: None,
            }
            .is_technical()
        };
        let deleted = ChangedField {
            path: "metadata.deletionTimestamp".into(),
            from: None,
            to: Some("2026-01-01T00:00:00Z".into()),
        };
        assert!(
            deleted.is_deletion()
                && !deleted.is_technical()
                && technical("metadata.deletionGracePeriodSeconds")
        );
        assert!(
            technical("metadata.uid")
                && technical("status.conditions[Ready].lastTransitionTime")
                && !technical("spec.replicas")
        );
    }
}
