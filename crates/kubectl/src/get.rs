//! `kubectl get` and `kubectl events`: tables, other formats, and the stream of `-w`.

use super::client::Client;
use super::custom::CustomColumns;
use super::output::{OutputFormat, kind_of};
use super::parse::Args;
use super::printers::table::Widths;
use super::printers::{TableRow, jsonpath};
use super::targets::{Targets, label};
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use crate::printers;
use apiserver::{Op, Record};
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;
use sim_core::Listing;
use std::collections::VecDeque;
use std::rc::Rc;

const FLAGS: &str = "output/o= watch/w watch-only selector/l= field-selector= all-namespaces/A ~all show-labels label-columns/L= sort-by= \
    no-headers show-kind ignore-not-found ~chunk-size= @filename/f= kustomize/k= recursive/R raw= !subresource= ~server-print output-watch-events";

const EVENTS_FLAGS: &str = "for= types= all-namespaces/A watch/w output/o= no-headers";

/// `kubectl get`.
pub const VERB: Verb = Verb {
    name: "get",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Display one or many resources",
};

/// `kubectl events`.
pub const EVENTS: Verb = Verb {
    name: "events",
    aliases: &[],
    flags: EVENTS_FLAGS,
    reads: Reads::Yes,
    run: events,
    help: "List events",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("get", FLAGS, words)?;
    client.use_flags(&args)?;
    let format = client
        .mode
        .format
        .clone()
        .unwrap_or(OutputFormat::Table { wide: false });
    if let Some(path) = args.get("raw") {
        return raw(client, path);
    }
    if args.words.is_empty() {
        return Err(Failure::error(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n\n\
             See 'kubectl get -h' for help and examples",
        ));
    }
    let targets = Targets::parse(client, &args, &args.words)?;
    let mut watch = GetWatch::new(client, targets, format, &args);
    if args.on("watch") || args.on("watch-only") {
        if let Some((kind, _)) = watch
            .targets
            .list
            .iter()
            .find(|(kind, _)| !kind.is_stored())
        {
            let message = format!(
                "watch is not supported on resources of kind {:?}",
                kind.info().plural
            );
            return Err(Failure::plain(format!(
                "Error from server (MethodNotAllowed): {message}"
            )));
        }
        if watch
            .targets
            .list
            .iter()
            .any(|(kind, _)| *kind != watch.targets.list[0].0)
        {
            return Err(Failure::error(
                "you may only specify a single resource type",
            ));
        }
        if !args.on("watch-only") {
            watch.first(client)?;
        }
        return Ok(Outcome::pending(watch));
    }
    list(client, watch, &args)
}

/// Handles paths of the server: its health, an object or a list of objects.
fn raw(client: &mut Client<'_>, path: &str) -> Result<Outcome, Failure> {
    let nothing = || {
        Failure::plain(
            "Error from server (NotFound): the server could not find the requested resource",
        )
    };
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (api, rest) = match &parts[..] {
        ["healthz" | "livez" | "readyz"] => {
            client.out.push_str("ok");
            return Ok(Outcome::Done);
        }
        ["api", version, rest @ ..] => ((*version).to_owned(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => return Err(nothing()),
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        rest => ("", rest),
    };
    let (plural, name) = match rest {
        [plural] => (*plural, None),
        [plural, name] => (*plural, Some(*name)),
        _ => return Err(nothing()),
    };
    let kind = client
        .kind(plural)
        .filter(|kind| kind.info().plural == plural && kind.api_version() == api)
        .ok_or_else(nothing)?;
    let key = ObjectRef::new(kind, namespace, name.unwrap_or(""));
    client.may_read(if name.is_some() { "get" } else { "list" }, &key, "")?;
    let value = match name {
        Some(_) => client.get_at(&key)?,
        None => serde_json::json!({
            "apiVersion": api, "kind": format!("{}List", kind.name()), "items": client.list(kind, namespace),
            "metadata": {"resourceVersion": client.sim().server().version().to_string()},
        }),
    };
    client.out.push_str(&value.to_string());
    Ok(Outcome::Done)
}

fn events(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("events", EVENTS_FLAGS, words)?;
    client.use_flags(&args)?;
    let namespace = if args.on("all-namespaces") {
        String::new()
    } else {
        client.namespace.clone()
    };
    let mut events = client.list(Kind::Event, &namespace);
    for wanted in args.all("types").flat_map(|types| types.split(',')) {
        if !["normal", "warning"].contains(&wanted.to_ascii_lowercase().as_str()) {
            return Err(Failure::error("valid --types are Normal or Warning"));
        }
    }
    if args.get("types").is_some() {
        let wanted: Vec<&str> = args
            .all("types")
            .flat_map(|types| types.split(','))
            .collect();
        events.retain(|e| {
            wanted.iter().any(|kind| {
                e["type"]
                    .as_str()
                    .is_some_and(|found| found.eq_ignore_ascii_case(kind))
            })
        });
    }
    if let Some((kind, name)) = args.get("for").and_then(|target| target.split_once('/')) {
        let kind = client.kind(kind).ok_or_else(|| {
            Failure::plain(format!("the server doesn't have a resource type {kind:?}"))
        })?;
        events.retain(|e| {
            e["involvedObject"]["kind"] == kind.name() && e["involvedObject"]["name"] == name
        });
    }
    if events.is_empty() {
        client.warn(format!("No events found in {namespace} namespace."));
        return Ok(Outcome::Done);
    }
    k8s_model::sort::sort_by_key(&mut events, printers::event_order);
    let now = client.wall();
    let mut rows = vec![
        ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for event in &events {
        let text = |path: &str| {
            event
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let object = format!(
            "{}/{}",
            text("/involvedObject/kind"),
            text("/involvedObject/name")
        );
        rows.push(vec![
            printers::event_age(event, now),
            text("/type"),
            text("/reason"),
            object,
            text("/message"),
        ]);
    }
    client.out.push_str(&Widths::default().print(&rows));
    Ok(Outcome::Done)
}

const ADDED: &str = "ADDED";
const DELETED: &str = "DELETED";

/// Output options, and the state of `-w`.
#[derive(Clone, Debug)]
pub struct GetWatch {
    targets: Targets,
    format: OutputFormat,
    widths: Widths,
    header: bool,
    shown_header: bool,
    show_labels: bool,
    label_columns: Vec<String>,
    everywhere: bool,
    show_kind: bool,
    /// True if the type of the event is shown with each object.
    with_event: bool,
    custom: CustomColumns,
    /// Number of journal entries processed.
    seen: usize,
}

impl GetWatch {
    fn new(client: &Client<'_>, targets: Targets, format: OutputFormat, args: &Args) -> GetWatch {
        let mut kinds: Vec<Kind> = targets.list.iter().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        GetWatch {
            custom: CustomColumns::of(client.sim().server().definitions(), &kinds),
            show_kind: args.on("show-kind") || kinds.len() > 1,
            with_event: args.on("output-watch-events"),
            everywhere: args.on("all-namespaces"),
            header: !args.on("no-headers"),
            shown_header: false,
            show_labels: args.on("show-labels"),
            label_columns: args
                .all("label-columns")
                .flat_map(|l| l.split(','))
                .map(str::to_owned)
                .collect(),
            widths: Widths::default(),
            seen: client.sim().journal().len(),
            targets,
            format,
        }
    }

    fn first(&mut self, client: &mut Client<'_>) -> Result<(), Failure> {
        let objects = self.targets.fetch(client);
        if objects.is_empty() && client.failure.is_some() {
            return Err(Failure::exit("", 1));
        }
        // The initial objects are printed as one table.
        if let (OutputFormat::Table { .. }, Some((kind, _))) = (&self.format, objects.first()) {
            let head = self
                .header
                .then(|| self.with_event("EVENT", self.head(*kind)));
            let rows = objects.iter().map(|(kind, object)| {
                self.with_event(ADDED, self.row(*kind, object, client.wall()))
            });
            let rows: Vec<Vec<String>> = head.into_iter().chain(rows).collect();
            rows.iter().for_each(|row| self.widths.measure(row));
        }
        objects
            .iter()
            .try_for_each(|(kind, object)| self.print(client, *kind, object, ADDED))
    }

    fn with_event(&self, event: &str, mut row: Vec<String>) -> Vec<String> {
        if self.with_event {
            row.insert(0, event.to_owned());
        }
        row
    }

    fn print(
        &mut self,
        client: &mut Client<'_>,
        kind: Kind,
        object: &Value,
        event: &'static str,
    ) -> Result<(), Failure> {
        if let OutputFormat::Table { .. } = self.format {
            let mut rows = Vec::new();
            if self.header && !self.shown_header {
                rows.push(self.with_event("EVENT", self.head(kind)));
                self.shown_header = true;
            }
            rows.push(self.with_event(event, self.row(kind, object, client.wall())));
            let text = self.widths.print(&rows);
            client.out.push_str(&text);
            return Ok(());
        }
        let told = self
            .with_event
            .then(|| serde_json::json!({ "type": event, "object": object }));
        let text = self.format.print(
            kind,
            std::slice::from_ref(told.as_ref().unwrap_or(object)),
            true,
            self.header,
        )?;
        client.out.push_str(&text);
        Ok(())
    }

    /// Returns the columns of a kind, and whether only `-o wide` shows them.
    fn titles(&self, kind: Kind) -> Vec<(String, bool)> {
        let built_in = || {
            printers::columns(kind.name())
                .0
                .iter()
                .map(|(name, wide)| ((*name).to_owned(), *wide))
                .collect()
        };
        self.custom.titles(kind).unwrap_or_else(built_in)
    }

    fn head(&self, kind: Kind) -> Vec<String> {
        let wide = self.format == OutputFormat::Table { wide: true };
        let mut head: Vec<String> = self
            .titles(kind)
            .into_iter()
            .filter(|(_, only_wide)| wide || !only_wide)
            .map(|(name, _)| name)
            .collect();
        if self.everywhere && kind.info().namespaced {
            head.insert(0, "NAMESPACE".to_owned());
        }
        let last = |label: &String| {
            label
                .rsplit('/')
                .next()
                .unwrap_or(label)
                .to_ascii_uppercase()
        };
        head.extend(self.label_columns.iter().map(last));
        if self.show_labels {
            head.push("LABELS".to_owned());
        }
        head
    }

    fn row(&self, kind: Kind, object: &Value, now: i64) -> Vec<String> {
        let wide = self.format == OutputFormat::Table { wide: true };
        let columns = self.titles(kind);
        let cells = self
            .custom
            .cells(kind, object, now)
            .unwrap_or_else(|| printers::columns(kind.name()).1(TableRow { object, now }));
        let mut row: Vec<String> = columns
            .iter()
            .zip(cells)
            .filter(|((_, only_wide), _)| wide || !only_wide)
            .map(|(_, cell)| cell)
            .collect();
        // Events have no NAME column.
        if self.show_kind
            && columns.first().is_some_and(|(name, _)| name == "NAME")
            && let Some(name) = row.first_mut()
        {
            *name = label(kind, name);
        }
        let metadata = &object["metadata"];
        if self.everywhere && kind.info().namespaced {
            row.insert(0, metadata["namespace"].as_str().unwrap_or("").to_owned());
        }
        row.extend(self.label_columns.iter().map(|l| {
            metadata["labels"][l.as_str()]
                .as_str()
                .unwrap_or("")
                .to_owned()
        }));
        if self.show_labels {
            row.push(printers::pairs(&metadata["labels"]));
        }
        row
    }
}

impl PendingCommand for GetWatch {
    /// Prints new changes; a watch never ends by itself.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        let mut changed = Vec::new();
        for entry in client.sim().journal().from(self.seen).iter() {
            let Record::Write { op, object, before } = &entry.record else {
                continue;
            };
            let wanted = self.targets.list.iter().any(|(kind, name)| {
                *kind == object.kind && name.as_ref().is_none_or(|n| object.meta.name == *n)
            });
            let here = self.targets.namespace.is_empty()
                || !object.kind.info().namespaced
                || object.meta.namespace == self.targets.namespace;
            if !wanted || !here {
                continue;
            }
            // An object that no longer matches is shown once, as if it were deleted.
            let value = object.to_value();
            let matches = self.targets.selects(object.kind, &value);
            let matched = || {
                before
                    .as_ref()
                    .is_some_and(|before| self.targets.selects(before.kind, &before.to_value()))
            };
            let event = match matches {
                false if !matched() => continue,
                false => DELETED,
                true if *op == Op::Deleted => DELETED,
                true if self.with_event && !matched() => ADDED,
                true => "MODIFIED",
            };
            changed.push((object.kind, value, event));
        }
        self.seen = client.sim().journal().len();
        for (kind, object, event) in changed {
            self.print(client, kind, &object, event)?;
        }
        Ok(false)
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}

fn list(client: &mut Client<'_>, mut watch: GetWatch, args: &Args) -> Result<Outcome, Failure> {
    if args.on("ignore-not-found") {
        let there = |name: &Option<String>, kind: Kind| {
            name.as_ref()
                .is_none_or(|name| client.find(&client.key(kind, name)).is_some())
        };
        watch.targets.list.retain(|(kind, name)| there(name, *kind));
    }
    if matches!(watch.format, OutputFormat::Table { .. }) && args.get("sort-by").is_none() {
        let objects = watch.targets.listings(client);
        return Ok(Outcome::pending(GetTable::new(
            client, watch, objects, args,
        )));
    }
    let mut objects = watch.targets.find(client);
    if let Some(path) = args.get("sort-by") {
        sort(&mut objects, path)?;
    }
    if matches!(watch.format, OutputFormat::Table { .. }) {
        return Ok(Outcome::pending(GetTable::new(
            client,
            watch,
            VecDeque::from([Listing::of(objects)]),
            args,
        )));
    }
    let named = watch.targets.list.iter().any(|(_, name)| name.is_some());
    let single = named && watch.targets.list.len() == 1;
    if objects.is_empty() && named {
        return Ok(Outcome::Done);
    }
    let kind = watch
        .targets
        .list
        .first()
        .map_or(Kind::Pod, |(kind, _)| *kind);
    let mut values: Vec<Value> = objects.iter().map(|object| object.to_value()).collect();
    if args.on("show-managed-fields") || watch.format.reads("managedFields") {
        values
            .iter_mut()
            .for_each(|object| client.show_managers(kind_of(object, kind), object));
    }
    let text = watch.format.print(kind, &values, single, watch.header)?;
    client.out.push_str(&text);
    warn(client, &watch.targets.list);
    Ok(Outcome::Done)
}

/// Prints the server's warning for a deprecated kind.
fn warn(client: &mut Client<'_>, targets: &[(Kind, Option<String>)]) {
    let definitions = client.sim().server().definitions();
    if let Some(warning) = targets
        .iter()
        .find_map(|(kind, _)| definitions.deprecation(*kind, ""))
    {
        client.warn(format!("Warning: {warning}"));
    }
}

/// Tables by kind, separated by an empty line. Objects are first read, then printed, a limited number at a time.
#[derive(Clone, Debug)]
pub struct GetTable {
    watch: GetWatch,
    /// Objects still to be read.
    objects: VecDeque<Listing>,
    tables: Vec<(Kind, Widths, VecDeque<Vec<String>>)>,
    /// Index of the table being printed.
    at: usize,
    now: i64,
    /// True if missing objects have been reported, or need not be.
    told: bool,
}

impl GetTable {
    fn new(
        client: &Client<'_>,
        watch: GetWatch,
        objects: VecDeque<Listing>,
        args: &Args,
    ) -> GetTable {
        GetTable {
            watch,
            objects,
            tables: Vec::new(),
            at: 0,
            now: client.wall(),
            told: client.failure.is_some() || args.on("ignore-not-found"),
        }
    }

    fn read(&mut self, object: &Object) {
        let value = object.to_value();
        if !self.watch.targets.selects(object.kind, &value) {
            return;
        }
        if self
            .tables
            .last()
            .is_none_or(|(kind, ..)| *kind != object.kind)
        {
            self.tables
                .push((object.kind, Widths::default(), VecDeque::new()));
            if self.watch.header {
                self.add(self.watch.head(object.kind));
            }
        }
        self.add(self.watch.row(object.kind, &value, self.now));
    }

    fn add(&mut self, row: Vec<String>) {
        if let Some((_, widths, rows)) = self.tables.last_mut() {
            widths.measure(&row);
            rows.push_back(row);
        }
    }
}

impl PendingCommand for GetTable {
    /// Reads or prints as many rows as the client takes at a time. Returns true when all are printed.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        let mut room = client.rows;
        while let Some(list) = self.objects.front_mut().filter(|_| room > 0) {
            match list.next() {
                Some(object) => {
                    room -= 1;
                    self.read(&object);
                }
                None => drop(self.objects.pop_front()),
            }
        }
        while let Some((_, widths, rows)) = self.tables.get_mut(self.at).filter(|_| room > 0) {
            room -= 1;
            match rows.pop_front() {
                Some(row) => widths.put(&row, &mut client.out),
                None => {
                    self.at += 1;
                    client.out.push_str(if self.at < self.tables.len() {
                        "\n"
                    } else {
                        ""
                    });
                }
            }
        }
        if room == 0 {
            return Ok(false);
        }
        let targets = &self.watch.targets.list;
        if self.tables.is_empty() {
            if !self.told {
                let namespaced = targets.iter().any(|(kind, _)| kind.info().namespaced)
                    && !self.watch.everywhere;
                let place = if namespaced {
                    format!(" in {} namespace.", client.namespace)
                } else {
                    String::new()
                };
                client.warn(format!("No resources found{place}"));
            }
        } else {
            warn(client, targets);
        }
        Ok(true)
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}

fn sort(objects: &mut Vec<Rc<Object>>, path: &str) -> Result<(), Failure> {
    let mut keyed: Vec<(Option<Value>, Rc<Object>)> = Vec::with_capacity(objects.len());
    for object in objects.drain(..) {
        let value = object.to_value();
        let found = jsonpath::values(path, &value)
            .map_err(|fault| Failure::error(fault.told(path, &value)))?;
        keyed.push((found.first().map(|value| (*value).clone()), object));
    }
    k8s_model::sort::sort_by(&mut keyed, |(left, _), (right, _)| match (left, right) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a
            .as_f64()
            .partial_cmp(&b.as_f64())
            .unwrap_or(std::cmp::Ordering::Equal),
        _ => left
            .as_ref()
            .map(jsonpath::show)
            .cmp(&right.as_ref().map(jsonpath::show)),
    });
    objects.extend(keyed.into_iter().map(|(_, object)| object));
    Ok(())
}
