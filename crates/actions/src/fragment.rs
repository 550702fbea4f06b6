//! Fragments of a manifest: fields without an object, as documentation prints them, and the object and field where they belong.

use super::{Repair, key_of};
use i18n::msg;
use k8s_model::ObjectRef;
use k8s_model::schema::{list_element, schema, strict_errors};
use manifest::Document;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::ops::Range;

/// Longest text in which a fragment is placed, in bytes.
const MAX_BYTES: usize = 100_000;
/// List whose only element takes fields, as documentation shows those of a container.
const CONTAINERS: &str = "containers";
/// Fields of a Pod that documentation shows for a container.
const OF_CONTAINER: [&str; 2] = ["resources", "securityContext"];

/// Place in an object: its kind's struct, and the steps to it.
#[derive(Clone)]
struct Place {
    kind: &'static str,
    steps: Vec<String>,
}

impl Repair {
    /// Repair that moves a document without `apiVersion` and `kind` into an object of a manifest: the first of `selected` that has its
    /// fields, or else the only one. `manifest` is the text itself, or another if the text has nothing else.
    pub fn fragment(
        text: &str,
        line: usize,
        manifest: &str,
        selected: &[ObjectRef],
    ) -> Option<Repair> {
        if text.len().max(manifest.len()) > MAX_BYTES {
            return None;
        }
        let parsed = manifest::parse(text.as_bytes());
        let document = parsed.documents.iter().find(|one| one.line == line)?;
        let value = document.value.as_object()?;
        let has_name = value
            .get("metadata")
            .is_some_and(|metadata| metadata.get("name").is_some());
        if value.contains_key("apiVersion") || value.contains_key("kind") || has_name {
            return None;
        }
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let (range, is_alone) = (lines_of(text, document.index)?, text != manifest);
        if is_alone && parsed.documents.len() > 1 {
            return None;
        }
        let source = Block::new(&lines[range.clone()]);
        let objects = manifest::parse(manifest.as_bytes()).documents;
        let fitting: Vec<(&Document, Place)> = objects
            .iter()
            .filter(|object| object.prefix.is_empty())
            .filter_map(|object| Some((object, place(&object.value, value)?)))
            .collect();
        let is_of =
            |key: &ObjectRef, object: &Document| key_of(&object.value).as_ref() == Some(key);
        let chosen = selected
            .iter()
            .find_map(|key| fitting.iter().find(|(object, _)| is_of(key, object)));
        let (object, place) = match (chosen, &fitting[..]) {
            (Some(chosen), _) | (None, [chosen]) => chosen,
            _ => return None,
        };
        let mut merged = merged(manifest, object, place, &source)?;
        if !is_alone {
            let mut rest: Vec<&str> = merged.split('\n').collect();
            // The fragment stands as far from the end of the text, or from its beginning, as before.
            let (from, to) = if object.index < document.index {
                let end = rest.len();
                let moved = |line: usize| (end + line).checked_sub(lines.len());
                (moved(range.start)?, moved(range.end)?)
            } else {
                (range.start, range.end)
            };
            if from > 0 {
                rest.drain(from - 1..to);
            } else {
                rest.drain(..(to + 1).min(rest.len()));
            }
            merged = rest.join("\n");
        }
        let others = objects
            .iter()
            .filter(|other| is_alone || other.line != line);
        let expected = others.map(|other| {
            if other.index == object.index {
                expected(other, place, value)
            } else {
                Some(other.value.clone())
            }
        });
        verified(text, &merged, expected.collect::<Option<Vec<Value>>>()?)?;
        Some(into(text, &merged, object, place))
    }

    /// Repair that moves a field from the top of its object to the field that has it.
    pub(super) fn misplaced(text: &str, document: &Document, key: &str) -> Option<Repair> {
        if text.len() > MAX_BYTES || key.contains(['.', '[']) || !document.prefix.is_empty() {
            return None;
        }
        let lines: Vec<&str> = text.split('\n').collect();
        let range = lines_of(text, document.index)?;
        let owned: Vec<String> = lines[range.clone()]
            .iter()
            .map(|&line| line.to_owned())
            .collect();
        let block = Block::new(&owned);
        let entries = block.entries(block.all(), block.indent()?)?;
        let at = entries.iter().position(|entry| entry.key == key)?;
        let lines_of_it = block.whole(&entries, at, block.all().end);
        let mut rest = lines.clone();
        rest.drain(range.start + lines_of_it.start..range.start + lines_of_it.end);
        let mut object = document.clone();
        let value = object.value.as_object_mut()?.remove(key)?;
        let value = Map::from_iter([(key.to_owned(), value)]);
        let place = place(&object.value, &value).filter(|place| !place.steps.is_empty())?;
        let source = Block::new(&owned[lines_of_it]);
        let merged = merged(&rest.join("\n"), &object, &place, &source)?;
        let mut objects = manifest::parse(text.as_bytes()).documents;
        objects
            .iter_mut()
            .find(|one| one.index == object.index)?
            .value = expected(&object, &place, &value)?;
        let expected = objects.into_iter().map(|one| one.value).collect();
        verified(text, &merged, expected)?;
        Some(into(text, &merged, &object, &place))
    }
}

/// Returns the lines of a document of a text, from 0.
fn lines_of(text: &str, index: usize) -> Option<Range<usize>> {
    let chunk = manifest::chunks(text.as_bytes()).nth(index)?;
    let count = chunk.bytes.split_inclusive(|byte| *byte == b'\n').count();
    Some(chunk.line - 1..chunk.line - 1 + count)
}

/// Returns the place of an object that has all fields of a fragment, the outermost first.
fn place(object: &Value, fragment: &Map<String, Value>) -> Option<Place> {
    let (version, kind) = (object["apiVersion"].as_str()?, object["kind"].as_str()?);
    let root = Place {
        kind: schema().kind(version, kind)?,
        steps: Vec::new(),
    };
    let fits = |place: &Place| {
        let mut nested = Value::Object(fragment.clone());
        for step in place.steps.iter().rev() {
            nested = if step == "0" {
                json!([nested])
            } else {
                json!({ step: nested })
            };
        }
        nested["apiVersion"] = version.into();
        nested["kind"] = kind.into();
        let known = |key: &String| schema().field(place.kind, key).is_some();
        !fragment.is_empty()
            && fragment.keys().all(known)
            && strict_errors(version, kind, &nested).is_empty()
    };
    let mut open = VecDeque::from([(root, object)]);
    let mut found: Option<Place> = None;
    while let Some((place, value)) = open.pop_front() {
        if fits(&place) {
            let is_containers = place.steps.last().is_some_and(|step| step == "0");
            let is_shared = fragment
                .keys()
                .all(|key| OF_CONTAINER.contains(&key.as_str()));
            match &found {
                None if !is_shared || is_containers => return Some(place),
                None => found = Some(place.clone()),
                Some(_) if is_containers => return Some(place),
                Some(_) => {}
            }
        }
        for (key, inner) in value.as_object().into_iter().flatten() {
            let Some(field) = schema().field(place.kind, key) else {
                continue;
            };
            let kind = field.kind.trim_start_matches('*');
            let step = |kind, steps: &[&str]| Place {
                kind,
                steps: [
                    &place.steps[..],
                    &steps
                        .iter()
                        .map(|&step| step.to_owned())
                        .collect::<Vec<_>>()[..],
                ]
                .concat(),
            };
            match (list_element(kind), inner) {
                (None, Value::Object(_)) if schema().fields(kind).is_some() => {
                    open.push_back((step(kind, &[key]), inner));
                }
                (Some(element), Value::Array(items)) if key == CONTAINERS => {
                    if let [only] = &items[..] {
                        let element = element.trim_start_matches('*');
                        open.push_back((step(element, &[key, "0"]), only));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns an object with the fields of a fragment at a place.
fn expected(object: &Document, place: &Place, fragment: &Map<String, Value>) -> Option<Value> {
    let mut value = object.value.clone();
    let pointer: String = place
        .steps
        .iter()
        .map(|step| ["/", step].concat())
        .collect();
    let target = value.pointer_mut(&pointer)?;
    *target = combined(target, &Value::Object(fragment.clone()));
    Some(value)
}

/// Returns a value with those of a fragment: objects are merged, and lists by the names of their elements.
fn combined(old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut all = old.clone();
            for (key, value) in new {
                let value = old
                    .get(key)
                    .map_or_else(|| value.clone(), |old| combined(old, value));
                all.insert(key.clone(), value);
            }
            Value::Object(all)
        }
        (Value::Array(old), Value::Array(new)) if is_named(old) && is_named(new) => {
            let mut all = old.clone();
            for value in new {
                match all.iter_mut().find(|other| other["name"] == value["name"]) {
                    Some(other) => *other = combined(other, value),
                    None => all.push(value.clone()),
                }
            }
            Value::Array(all)
        }
        _ => new.clone(),
    }
}

fn is_named(items: &[Value]) -> bool {
    items.iter().all(|item| item["name"].is_string())
}

/// Returns a text with a fragment in one of its objects.
fn merged(text: &str, object: &Document, place: &Place, source: &Block) -> Option<String> {
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let range = lines_of(text, object.index)?;
    let mut target = Block::new(&lines);
    let (range, indent) = target.find(range, &place.steps)?;
    target.merge(range, indent, source, source.all(), source.indent()?)?;
    Some(target.lines.join("\n"))
}

/// Returns `Some` if a text has exactly these objects, without an error.
fn verified(before: &str, text: &str, objects: Vec<Value>) -> Option<()> {
    let parsed = manifest::parse(text.as_bytes());
    let found = parsed.documents.into_iter().map(|document| document.value);
    (text != before && parsed.diagnostics.is_empty() && found.eq(objects)).then_some(())
}

/// Repair that replaces a text by another, in the lines that differ.
fn into(old: &str, new: &str, object: &Document, place: &Place) -> Repair {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let most = old.len().min(new.len()) - 1;
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    // One line at least is replaced.
    let first = same(&mut old.iter().zip(&new)).min(most);
    let last = same(&mut old.iter().rev().zip(new.iter().rev())).min(most - first);
    let kind = object.value["kind"].as_str().unwrap_or_default();
    let name = object.value["metadata"]["name"]
        .as_str()
        .unwrap_or_default();
    let object = [kind, " ", name].concat();
    let mut path = String::new();
    for step in &place.steps {
        match step.as_str() {
            "0" => path.push_str("[0]"),
            _ if path.is_empty() => path.push_str(step),
            _ => path.extend([".", step]),
        }
    }
    Repair {
        line: first + 1,
        old: old[first..old.len() - last].join("\n"),
        new: new[first..new.len() - last].join("\n"),
        reason: msg::repair_fragment(&*object),
        offer: if path.is_empty() {
            msg::repair_into_object(&*object)
        } else {
            msg::repair_into_field(path, object)
        },
    }
}

/// Lines in block style.
#[derive(Clone)]
struct Block {
    lines: Vec<String>,
    /// The lines with blanks in place of the signs of list items within which a place was looked for.
    masked: Vec<String>,
}

/// Key of a mapping with its value.
struct Entry {
    key: String,
    /// First line, with the comments before the key.
    from: usize,
    /// Line of the key.
    at: usize,
    /// Line after the last one of the value.
    to: usize,
}

/// Value below a key: lines and their indentation.
enum Body {
    Mapping(Range<usize>, usize),
    List(Range<usize>, usize),
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns true for a line without content.
fn is_void(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with("---")
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start_matches(' ');
    line == "-" || line.starts_with("- ")
}

/// Splits a line into its key and the value after the colon.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(' ');
    let (key, value) = match line.split_once(": ") {
        Some(both) => both,
        None => (line.trim_end().strip_suffix(':')?, ""),
    };
    let value = value.trim();
    let value = if value.starts_with('#') { "" } else { value };
    Some((key.trim_matches(['"', '\'']), value))
}

/// Returns the comment after the value of a line, with the blanks before it.
fn comment_of(line: &str) -> &str {
    let starts = line.match_indices(" #").map(|(at, _)| at);
    let is_outside = |at: &usize| {
        let before = &line[..*at];
        ['"', '\'']
            .iter()
            .all(|quote| before.matches(*quote).count() % 2 == 0)
    };
    let at = starts.into_iter().find(is_outside);
    let at = at.map(|at| line[..at].trim_end().len());
    &line[at.unwrap_or(line.len())..]
}

impl Block {
    fn new(lines: &[String]) -> Block {
        Block {
            lines: lines.to_vec(),
            masked: lines.to_vec(),
        }
    }

    fn all(&self) -> Range<usize> {
        0..self.lines.len()
    }

    /// Returns the indentation of the first line with content.
    fn indent(&self) -> Option<usize> {
        self.indent_in(self.all())
    }

    fn indent_in(&self, range: Range<usize>) -> Option<usize> {
        let lines = self.masked.get(range)?;
        let first = lines.iter().find(|line| !is_void(line))?;
        Some(indent_of(first))
    }

    /// Returns the entries of a mapping whose keys have this indentation; `None` if it is not in block style.
    fn entries(&self, range: Range<usize>, indent: usize) -> Option<Vec<Entry>> {
        let mut all: Vec<Entry> = Vec::new();
        let mut comments = None;
        for at in range {
            let line = &self.masked[at];
            if is_void(line) {
                if line.trim_start().starts_with('#') && indent_of(line) <= indent {
                    comments.get_or_insert(at);
                }
                continue;
            }
            if indent_of(line) == indent && !is_item(line) {
                let (key, _) = key_and_value(line)?;
                all.push(Entry {
                    key: key.to_owned(),
                    from: comments.unwrap_or(at),
                    at,
                    to: at + 1,
                });
            } else if indent_of(line) < indent {
                return None;
            } else {
                all.last_mut()?.to = at + 1;
            }
            comments = None;
        }
        Some(all)
    }

    /// Returns the lines of an entry with its comments, up to those of the next one or to the end.
    fn whole(&self, entries: &[Entry], at: usize, end: usize) -> Range<usize> {
        let end = entries.get(at + 1).map_or(end, |next| next.from);
        let from = entries[at].from;
        let last = self.lines[from..end]
            .iter()
            .rposition(|line| !line.trim().is_empty());
        from..last.map_or(end, |last| from + last + 1)
    }

    /// Returns the value of an entry in block style below its key.
    fn body(&self, entry: &Entry) -> Option<Body> {
        let (_, value) = key_and_value(&self.masked[entry.at])?;
        let range = entry.at + 1..entry.to;
        let indent = self.indent_in(range.clone()).filter(|_| value.is_empty())?;
        let first = self.masked[range.clone()]
            .iter()
            .find(|line| !is_void(line))?;
        Some(if is_item(first) {
            Body::List(range, indent)
        } else {
            Body::Mapping(range, indent)
        })
    }

    /// Returns the items of a list, each as the lines of a mapping, whose indentation is that after the sign.
    fn items(&mut self, range: Range<usize>, indent: usize) -> Option<Vec<(Range<usize>, usize)>> {
        let starts: Vec<usize> = range
            .clone()
            .filter(|at| indent_of(&self.masked[*at]) == indent && is_item(&self.masked[*at]))
            .collect();
        let mut all = Vec::new();
        for (index, start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(range.end);
            self.masked[*start].replace_range(indent..=indent, " ");
            let inner = self.indent_in(*start..end)?;
            all.push((*start..end, inner));
        }
        Some(all)
    }

    /// Shows the signs of the items of a list again.
    fn unmask(&mut self, range: Range<usize>, indent: usize) {
        for at in range {
            let line = &mut self.masked[at];
            if self.lines[at].as_bytes().get(indent) == Some(&b'-') && indent_of(line) > indent {
                line.replace_range(indent..=indent, "-");
            }
        }
    }

    /// Finds the mapping at a place within the lines of a document.
    fn find(&mut self, range: Range<usize>, steps: &[String]) -> Option<(Range<usize>, usize)> {
        let indent = self.indent_in(range.clone())?;
        let Some((step, rest)) = steps.split_first() else {
            return Some((range, indent));
        };
        let entries = self.entries(range, indent)?;
        let entry = entries.iter().find(|entry| entry.key == *step)?;
        match (self.body(entry)?, rest) {
            (Body::Mapping(range, _), rest) => self.find(range, rest),
            (Body::List(range, indent), [_, rest @ ..]) => {
                let (range, _) = self.items(range, indent)?.into_iter().next()?;
                self.find(range, rest)
            }
            (Body::List(..), []) => None,
        }
    }

    fn replace(&mut self, range: Range<usize>, lines: Vec<String>) {
        self.masked.splice(range.clone(), lines.iter().cloned());
        self.lines.splice(range, lines);
    }

    /// Returns lines of this block with another indentation.
    fn moved(&self, range: Range<usize>, from: usize, to: usize) -> Vec<String> {
        let lines = self.masked[range].iter();
        lines
            .map(|line| {
                let own = indent_of(line);
                let rest = line.trim_start_matches(' ');
                if rest.is_empty() {
                    String::new()
                } else {
                    [&" ".repeat(to + own.saturating_sub(from)), rest].concat()
                }
            })
            .collect()
    }

    /// Merges a mapping of another block into one of this block.
    fn merge(
        &mut self,
        mut range: Range<usize>,
        indent: usize,
        source: &Block,
        from: Range<usize>,
        from_indent: usize,
    ) -> Option<()> {
        let mut source = source.clone();
        let entries = source.entries(from.clone(), from_indent)?;
        for (index, entry) in entries.iter().enumerate() {
            let before = self.lines.len();
            let own = self.entries(range.clone(), indent)?;
            let whole = source.whole(&entries, index, from.end);
            let mut lines = source.moved(whole, from_indent, indent);
            match own.iter().find(|other| other.key == entry.key) {
                None => {
                    let end = own.last()?.to;
                    self.replace(end..end, lines);
                }
                Some(other) => match (self.body(other), source.body(entry)) {
                    (
                        Some(Body::Mapping(to, to_indent)),
                        Some(Body::Mapping(from, from_indent)),
                    ) => {
                        self.merge(to, to_indent, &source, from, from_indent)?;
                    }
                    (Some(Body::List(to, to_indent)), Some(Body::List(from, from_indent)))
                        if source.has_names(from.clone(), from_indent)
                            && self.has_names(to.clone(), to_indent) =>
                    {
                        self.merge_items(to, to_indent, &mut source, from, from_indent)?;
                    }
                    _ => {
                        let key = entry.at - entry.from;
                        let first = lines.get_mut(key)?;
                        if (entry.to - entry.at, other.to - other.at) == (1, 1)
                            && comment_of(first).is_empty()
                        {
                            first.push_str(comment_of(&self.lines[other.at]));
                        }
                        // The sign of a list item stands before its first key.
                        let head = self.lines[other.at].get(..indent)?.to_owned();
                        self.replace(other.at..other.to, lines);
                        self.lines[other.at + key].replace_range(..indent, &head);
                    }
                },
            }
            range.end = (range.end + self.lines.len()).checked_sub(before)?;
        }
        Some(())
    }

    /// Returns true if each item of a list has a name.
    fn has_names(&self, range: Range<usize>, indent: usize) -> bool {
        let mut copy = self.clone();
        let items = copy.items(range, indent).unwrap_or_default();
        !items.is_empty()
            && items
                .into_iter()
                .all(|(range, indent)| copy.name(range, indent).is_some())
    }

    fn name(&self, range: Range<usize>, indent: usize) -> Option<&str> {
        let entries = self.entries(range, indent)?;
        let entry = entries.iter().find(|entry| entry.key == "name")?;
        let (_, value) = key_and_value(&self.masked[entry.at])?;
        let end = value.len() - comment_of(value).len();
        Some(value[..end].trim_matches(['"', '\'']))
    }

    /// Merges a list of another block into one of this block, by the names of the items.
    fn merge_items(
        &mut self,
        mut range: Range<usize>,
        indent: usize,
        source: &mut Block,
        from: Range<usize>,
        from_indent: usize,
    ) -> Option<()> {
        let lists = source.clone();
        for (item, item_indent) in source.items(from, from_indent)? {
            let before = self.lines.len();
            let name = source.name(item.clone(), item_indent)?.to_owned();
            let mut own = self.clone();
            let items = own.items(range.clone(), indent)?;
            let same = items
                .into_iter()
                .find(|(range, indent)| own.name(range.clone(), *indent) == Some(&*name));
            match same {
                Some((to, to_indent)) => {
                    self.masked = own.masked;
                    self.merge(to, to_indent, source, item, item_indent)?;
                    let end = (range.end + self.lines.len()).checked_sub(before)?;
                    self.unmask(range.start..end, indent);
                }
                None => {
                    let lines = lists.moved(item, from_indent, indent);
                    self.replace(range.end..range.end, lines);
                }
            }
            range.end = (range.end + self.lines.len()).checked_sub(before)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::Kind;

    const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the site
spec:
  replicas: 2 # two
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: nginx
        image: nginx:1.27
        # the port
        ports:
        - containerPort: 80
";
    const SERVICE: &str =
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports: [{port: 80}]\n";

    /// Puts a fragment after a manifest; returns its offer and the text.
    fn put(manifest: &str, fragment: &str) -> Option<(String, String)> {
        let text = [manifest, "---\n", fragment].concat();
        let line = manifest.lines().count() + 2;
        let repair = Repair::fragment(&text, line, &text, &[])?;
        Some((repair.offer.english(), repair.apply(&text)?))
    }

    #[test]
    fn new_fields_come_last_and_comments_stay() {
        let (offer, text) = put(
            WEB,
            "# Step by step.\nstrategy:\n    rollingUpdate: # few\n        maxSurge: 1\n",
        )
        .expect("an offer");
        assert_eq!(offer, "Put them into spec of Deployment web");
        assert_eq!(
            text,
            [WEB, "  # Step by step.\n  strategy:\n      rollingUpdate: # few\n          maxSurge: 1\n"].concat()
        );
    }

    #[test]
    fn a_value_is_replaced_and_the_comment_beside_it_stays() {
        let (_, text) = put(WEB, "  replicas: 5\n  minReadySeconds: 3\n").expect("an offer");
        let expected = WEB.replace("replicas: 2 #", "replicas: 5 #");
        assert_eq!(text, [&expected, "  minReadySeconds: 3\n"].concat());
        let (_, text) = put(WEB, "replicas: 5 # five\n").expect("an offer");
        assert_eq!(text, WEB.replace("2 # two", "5 # five"));
    }

    #[test]
    fn fields_of_a_container_go_to_the_only_one() {
        let (offer, text) = put(WEB, "resources:\n  limits: {cpu: 1}\n").expect("an offer");
        assert_eq!(
            offer,
            "Put them into spec.template.spec.containers[0] of Deployment web"
        );
        assert_eq!(
            text,
            [WEB, "        resources:\n          limits: {cpu: 1}\n"].concat()
        );
        let (_, text) = put(WEB, "name: front\nimage: nginx:1.28\n").expect("an offer");
        let expected = WEB
            .replace("name: nginx", "name: front")
            .replace("1.27", "1.28");
        assert_eq!(text, expected);
        let two = WEB.replace(
            "      containers:\n",
            "      containers:\n      - name: side\n        image: busybox\n",
        );
        let (offer, _) = put(&two, "resources:\n  limits: {cpu: 1}\n").expect("an offer");
        assert_eq!(offer, "Put them into spec.template.spec of Deployment web");
        assert_eq!(put(&two, "image: nginx:1.28\n"), None);
    }

    #[test]
    fn lists_are_merged_by_name() {
        let fragment = "\
containers:
  - name: nginx
    ports:
    - containerPort: 81
    env:
    - name: A
      value: b
  - name: side
    image: busybox
volumes:
- name: data
  emptyDir: {}
";
        let (offer, text) = put(WEB, fragment).expect("an offer");
        assert_eq!(offer, "Put them into spec.template.spec of Deployment web");
        let added = "        env:\n        - name: A\n          value: b\n      - name: side\n        image: busybox\n      volumes:\n      - name: data\n        emptyDir: {}\n";
        assert_eq!(
            text,
            [
                &*WEB.replace("containerPort: 80", "containerPort: 81"),
                added
            ]
            .concat()
        );
    }

    #[test]
    fn the_selected_object_is_meant_or_else_the_only_one() {
        let two = [WEB, "---\n", &WEB.replace("name: web", "name: api")].concat();
        assert_eq!(put(&two, "replicas: 5\n"), None);
        let text = [&two, "---\nreplicas: 5\n"].concat();
        let line = two.lines().count() + 2;
        let api = ObjectRef::new(Kind::Deployment, "default", "api");
        let pod = ObjectRef::new(Kind::Pod, "default", "api-1");
        let repair = Repair::fragment(&text, line, &text, &[pod, api]).expect("an offer");
        assert_eq!(repair.reason, msg::repair_fragment("Deployment api"));
        let after = repair.apply(&text).expect("a text");
        assert_eq!(
            after,
            two.replace(
                "name: api # the site\nspec:\n  replicas: 2",
                "name: api # the site\nspec:\n  replicas: 5"
            )
        );
        // Of different kinds one has the field.
        let both = [SERVICE, "---\n", WEB].concat();
        assert!(put(&both, "replicas: 5\n").is_some());
        assert!(
            put(&both, "type: NodePort\n")
                .expect("an offer")
                .1
                .contains("  type: NodePort\n---")
        );
    }

    #[test]
    fn a_fragment_before_the_object_or_alone_is_placed_too() {
        let text = ["replicas: 5\n---\n", WEB].concat();
        let repair = Repair::fragment(&text, 1, &text, &[]).expect("an offer");
        let expected = WEB.replace("replicas: 2 ", "replicas: 5 ");
        assert_eq!(repair.apply(&text).as_deref(), Some(&*expected));
        let alone = "# new\nreplicas: 5";
        let repair = Repair::fragment(alone, 1, WEB, &[]).expect("an offer");
        assert_eq!(
            repair.apply(alone).as_deref(),
            Some(&*WEB.replace("  replicas: 2 ", "  # new\n  replicas: 5 "))
        );
    }

    #[test]
    fn what_fits_nowhere_or_cannot_be_merged_is_no_repair() {
        for fragment in [
            "colour: red\n",
            "replicas: two\n",
            "metadata: {name: other}\nspec: {replicas: 1}\n",
            "kind: Deployment\nspec: {replicas: 1}\n",
            "- replicas\n",
            "just text\n",
        ] {
            assert_eq!(put(WEB, fragment), None, "{fragment}");
        }
        let flow = WEB.replace(
            "  replicas: 2 # two\n",
            "  strategy: {type: RollingUpdate}\n",
        );
        assert_eq!(
            put(&flow, "strategy:\n  rollingUpdate: {maxSurge: 1}\n"),
            None
        );
        assert_eq!(
            put(
                "{apiVersion: v1, kind: Service, spec: {}}\n",
                "type: NodePort\n"
            ),
            None
        );
    }

    #[test]
    fn a_field_at_the_top_of_its_object_is_moved_to_its_place() {
        let text: std::rc::Rc<str> = WEB
            .replace(
                "spec:\n  replicas: 2 # two\n",
                "# more\nreplicas: 5\nspec:\n",
            )
            .into();
        let mut sim = cluster::Sim::new(Default::default(), 1);
        let answer = crate::apply(&mut sim, &text);
        let repair = answer.diagnostics[0].repair.clone().expect("an offer");
        assert_eq!(
            repair.offer,
            msg::repair_into_field("spec", "Deployment web")
        );
        let after = repair.apply(&text).expect("a text");
        assert_eq!(
            after,
            [
                &*text.replace("# more\nreplicas: 5\n", ""),
                "  # more\n  replicas: 5\n"
            ]
            .concat()
        );
    }
}
