//! Kinds of CustomResourceDefinitions: names, versions, schemas, columns and subresources.
//!
//! Guarantees: the served kinds follow from the stored definitions alone: a kind is served from when it is established until its
//! definition is gone; its name is remembered, as in kubectl's cache. Models
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.

pub(super) mod rules;
pub(super) mod schema;

use crate::control_loop;
use k8s_model::cel::Program;
use k8s_model::kind::{self, CustomNames};
use k8s_model::{Body, Kind, Object};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::rc::Rc;

pub(super) use schema::{go_type, problems, read_rules, untyped};

/// Finalizer of a definition until its objects are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Notes the version that objects of a new definition are stored in.
pub(super) fn prepare_for_create(object: &mut Object) {
    let Body::Other(body) = &mut object.body else {
        return;
    };
    let versions = body.get("spec").map(|spec| spec["versions"].clone());
    let versions = versions.unwrap_or_default();
    let stored = versions
        .as_array()
        .into_iter()
        .flatten()
        .filter(|version| version["storage"] == true);
    let stored: Vec<Value> = stored.map(|version| version["name"].clone()).collect();
    let names = json!({ "kind": "", "plural": "" });
    let status = json!({ "acceptedNames": names, "conditions": null, "storedVersions": stored });
    body.insert("status".to_owned(), status);
}

/// Printer column.
#[derive(Clone, Debug, PartialEq)]
pub struct PrinterColumn {
    /// Header, such as `Length`.
    pub name: String,
    /// Type, such as `integer`.
    pub kind: String,
    /// JSON path, such as `.spec.length`.
    pub path: String,
    /// True if only `-o wide` shows it.
    pub wide: bool,
}

/// JSON paths of the scale subresource.
#[derive(Clone, Debug, Default)]
pub struct ScalePaths {
    /// Path of the desired replicas.
    pub replicas: String,
    /// Path of the actual replicas.
    pub status_replicas: String,
    /// Path of the label selector as text, empty if there is none.
    pub selector: String,
}

/// Version of a kind.
#[derive(Clone, Debug)]
pub struct Version {
    /// Version name, such as `v1`.
    pub name: String,
    /// Deprecation warning for clients.
    pub deprecation: Option<String>,
    /// `openAPIV3Schema`
    pub schema: Rc<Value>,
    /// True if the status is a subresource.
    pub status: bool,
    /// Paths of the scale subresource, if there is one.
    pub scale: Option<ScalePaths>,
    /// JSON paths of the selectable fields, besides name and namespace.
    pub selectable: Vec<String>,
    /// Additional printer columns.
    pub columns: Vec<PrinterColumn>,
    /// Validation rules of the schema, by the path of the schema.
    pub(super) rules: Rc<Vec<(String, Program)>>,
}

/// Kind defined by a CustomResourceDefinition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Kind.
    pub kind: Kind,
    /// Singular name, such as `boat`.
    pub singular: String,
    /// Short names.
    pub short: Vec<String>,
    /// Categories, such as `all`.
    pub categories: Vec<String>,
    /// Served versions, the preferred one first.
    pub versions: Vec<Version>,
    /// True if the definition exists; a deleted one is only remembered.
    pub served: bool,
    /// True while the definition's objects are being deleted.
    pub terminating: bool,
}

impl Definition {
    /// Parses an established definition.
    pub(super) fn read(object: &Object, known: Option<Kind>) -> Option<Definition> {
        let Body::Other(body) = &object.body else {
            return None;
        };
        let spec = body.get("spec")?;
        let conditions = body
            .get("status")
            .and_then(|status| status["conditions"].as_array());
        let holds = |kind: &str| {
            conditions
                .into_iter()
                .flatten()
                .any(|c| c["type"] == kind && c["status"] == "True")
        };
        if !holds("Established") {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let texts = |value: &Value| {
            value
                .as_array()
                .into_iter()
                .flatten()
                .map(text)
                .collect::<Vec<String>>()
        };
        let names = &spec["names"];
        let served = spec["versions"]
            .as_array()?
            .iter()
            .filter(|version| version["served"] == true);
        let (group, kind) = (
            spec["group"].as_str().unwrap_or(""),
            spec["names"]["kind"].as_str().unwrap_or(""),
        );
        let mut versions: Vec<Version> = served
            .map(|version| Version::read(version, group, kind))
            .collect();
        versions.sort_by_key(|version| Reverse(rank(&version.name)));
        let (group, name, plural) = (
            text(&spec["group"]),
            text(&names["kind"]),
            text(&names["plural"]),
        );
        let names_of = CustomNames {
            group: &group,
            version: &versions.first()?.name,
            name: &name,
            plural: &plural,
            namespaced: spec["scope"] != "Cluster",
        };
        Some(Definition {
            // Stored objects keep the name that they were stored with.
            kind: known.or_else(|| Kind::custom(names_of))?,
            singular: text(&names["singular"]),
            short: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            versions,
            served: true,
            terminating: object.meta.is_deleting(),
        })
    }

    /// Returns the version of this name, or the preferred one.
    pub fn version(&self, name: &str) -> &Version {
        // There is at least one version.
        self.versions
            .iter()
            .find(|version| version.name == name)
            .unwrap_or(&self.versions[0])
    }

    /// Returns true if a word such as `bt`, `boats.harbour.example.com` or `boats.v1.harbour.example.com` names this kind.
    fn is_meant(&self, word: &str) -> bool {
        let info = self.kind.info();
        let (resource, group) = word.split_once('.').unwrap_or((word, ""));
        let named = resource == info.plural
            || resource == self.singular
            || resource == info.name.to_ascii_lowercase()
            || self.short.iter().any(|short| short == resource);
        let versioned = || {
            group.split_once('.').is_some_and(|(v, of)| {
                of == info.group && self.versions.iter().any(|own| own.name == v)
            })
        };
        named && (group.is_empty() || group == info.group || versioned())
    }
}

impl Version {
    fn read(version: &Value, group: &str, kind: &str) -> Version {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let column = |column: &Value| PrinterColumn {
            name: text(&column["name"]),
            kind: text(&column["type"]),
            path: text(&column["jsonPath"]),
            wide: column["priority"]
                .as_i64()
                .is_some_and(|priority| priority > 0),
        };
        let schema = version["schema"]["openAPIV3Schema"].clone();
        let subresources = &version["subresources"];
        let usual = || format!("{group}/{} {kind} is deprecated", text(&version["name"]));
        let warning = || {
            version["deprecationWarning"]
                .as_str()
                .map_or_else(usual, str::to_owned)
        };
        Version {
            name: text(&version["name"]),
            deprecation: (version["deprecated"] == true).then(warning),
            rules: Rc::new(read_rules(&schema, &mut |_, _, _| {})),
            schema: Rc::new(schema),
            status: subresources
                .get("status")
                .is_some_and(|status| !status.is_null()),
            scale: subresources
                .get("scale")
                .filter(|scale| scale.is_object())
                .map(|scale| ScalePaths {
                    replicas: text(&scale["specReplicasPath"]),
                    status_replicas: text(&scale["statusReplicasPath"]),
                    selector: text(&scale["labelSelectorPath"]),
                }),
            selectable: version["selectableFields"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|field| text(&field["jsonPath"]))
                .collect(),
            columns: version["additionalPrinterColumns"]
                .as_array()
                .into_iter()
                .flatten()
                .map(column)
                .collect(),
        }
    }
}

/// Ranks versions: stable before beta and alpha, newer before older, others last.
fn rank(name: &str) -> (u8, u32, u32) {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let Some(rest) = name.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let (major, rest) = rest.split_at(digits(rest));
    let Ok(major) = major.parse() else {
        return (0, 0, 0);
    };
    for (word, stage) in [("beta", 2), ("alpha", 1)] {
        if let Some(minor) = rest.strip_prefix(word) {
            return minor
                .parse()
                .map_or((0, 0, 0), |minor| (stage, major, minor));
        }
    }
    if rest.is_empty() {
        (3, major, 0)
    } else {
        (0, 0, 0)
    }
}

/// All definitions, including deleted ones.
#[derive(Clone, Debug)]
pub struct Definitions {
    all: Rc<Vec<Rc<Definition>>>,
}

impl Default for Definitions {
    /// Returns the definitions of an empty cluster: that of the kind of loops.
    fn default() -> Definitions {
        let own = control_loop::definition();
        Definitions {
            all: Rc::new(own.into_iter().collect()),
        }
    }
}

impl Definitions {
    /// Returns the served kinds, in the order of their names.
    pub fn served(&self) -> impl Iterator<Item = &Rc<Definition>> {
        self.all.iter().filter(|definition| definition.served)
    }

    /// Returns the definition of a served kind.
    pub fn of(&self, kind: Kind) -> Option<&Rc<Definition>> {
        self.served().find(|definition| definition.kind == kind)
    }

    /// Returns the deprecation warning for a version of a kind (the preferred one if `version` is empty).
    pub fn deprecation(&self, kind: Kind, version: &str) -> Option<String> {
        let custom = || {
            self.of(kind)
                .and_then(|definition| definition.version(version).deprecation.clone())
        };
        kind.deprecation().map(str::to_owned).or_else(custom)
    }

    /// Returns true if an update may change the status too: the kind has no status subresource.
    pub(super) fn updates_status(&self, kind: Kind) -> bool {
        self.of(kind)
            .is_some_and(|definition| !definition.version("").status)
    }

    /// Returns true if a kind is served.
    pub fn serves(&self, kind: Kind) -> bool {
        !kind.is_custom() || self.of(kind).is_some()
    }

    /// Returns the kind for an `apiVersion` and `kind`.
    pub fn named(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let custom = self.served().find(|definition| {
            let info = definition.kind.info();
            info.name == kind
                && info.group == group
                && definition.versions.iter().any(|own| own.name == version)
        });
        let built_in = || Kind::from_api(api_version, kind).filter(|kind| !kind.is_custom());
        custom.map(|definition| definition.kind).or_else(built_in)
    }

    /// Returns the kind of stored objects: of several that a definition has had under one name, such as in another scope, the served one.
    pub fn stored(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let is = |definition: &&Rc<Definition>| {
            definition.kind.name() == kind && definition.kind.api_version() == api_version
        };
        self.served()
            .find(is)
            .map(|definition| definition.kind)
            .or_else(|| Kind::from_api(api_version, kind))
    }

    /// Returns the kinds that a word of the command line names, in the order of discovery: built-in ones, then those of definitions,
    /// finally those of deleted definitions.
    pub fn resources(&self, word: &str) -> impl Iterator<Item = Kind> {
        let word = word.to_ascii_lowercase();
        let custom: Vec<Kind> = [true, false]
            .into_iter()
            .flat_map(|served| self.all.iter().filter(move |one| one.served == served))
            .filter(|definition| definition.is_meant(&word))
            .map(|definition| definition.kind)
            .collect();
        kind::ALL
            .iter()
            .copied()
            .filter(move |kind| kind.is_meant(&word))
            .chain(custom)
    }

    /// Returns the kind for a word of the command line, including the kinds of deleted definitions.
    pub fn meant(&self, word: &str) -> Option<Kind> {
        self.resources(word).next()
    }

    /// Returns the kinds of a category.
    pub fn category(&self, name: &str) -> Vec<Kind> {
        self.served()
            .filter(|definition| definition.categories.iter().any(|own| own == name))
            .map(|definition| definition.kind)
            .collect()
    }

    /// Records a written definition.
    pub(super) fn take(&mut self, object: &Object) {
        let same = |definition: &Rc<Definition>| {
            let info = definition.kind.info();
            definition.served && *object.meta.name == *format!("{}.{}", info.plural, info.group)
        };
        let place = self.all.iter().position(same);
        if place.is_some_and(|at| control_loop::is_control_loop(self.all[at].kind)) {
            return;
        }
        let Some(new) = Definition::read(object, place.map(|at| self.all[at].kind)) else {
            return;
        };
        let all = Rc::make_mut(&mut self.all);
        match place {
            Some(at) => all[at] = Rc::new(new),
            None => {
                all.retain(|old| old.kind != new.kind);
                all.push(Rc::new(new));
                all.sort_by_key(|definition| definition.kind);
            }
        }
    }

    /// Records a deleted definition.
    pub(super) fn forget(&mut self, object: &Object) {
        for definition in Rc::make_mut(&mut self.all) {
            let info = definition.kind.info();
            if *object.meta.name == *format!("{}.{}", info.plural, info.group)
                && !control_loop::is_control_loop(definition.kind)
            {
                Rc::make_mut(definition).served = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn the_newest_stable_version_is_preferred() {
        let mut names = ["foo", "v1alpha1", "v2", "v1beta2", "v1", "v1beta1", "v10"];
        names.sort_by_key(|name| std::cmp::Reverse(rank(name)));
        assert_eq!(
            names,
            ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]
        );
    }
}
