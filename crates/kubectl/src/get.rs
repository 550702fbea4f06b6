//! `kubectl get` and `kubectl events`: tables, other formats, and the stream of `-w`.

use super::client::Client;
use super::failure::server_error;
use super::output::{OutputFormat, kind_of};
use super::parse::Args;
use super::printers::table::Widths;
use super::printers::{TableConvertor, jsonpath};
use super::targets::{Targets, label};
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use crate::printers;
use apiserver::{ApiError, ListOptions, ObjectList, Op, Watch, WatchEvent};
use k8s_model::natural::natural_cmp;
use k8s_model::quantity::Quantity;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;
use sim_core::Listing;
use std::cmp::Ordering;
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
        watch.open(client)?;
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
            client.streams.out.push_str("ok");
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
    let refused = |error: ApiError| server_error(&error);
    let value = match name {
        Some(name) => client
            .object(&ObjectRef::new(kind, namespace, name))
            .map_err(refused)?
            .to_value(),
        None => {
            let objects = client
                .listing(kind, namespace, ListOptions::default())
                .map_err(refused)?;
            let version = objects.resource_version.to_string();
            let items: Vec<Value> = objects.map(|object| object.to_value()).collect();
            serde_json::json!({
                "apiVersion": api, "kind": format!("{}List", kind.name()), "items": items,
                "metadata": {"resourceVersion": version},
            })
        }
    };
    client.streams.out.push_str(&value.to_string());
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
    let mut events = client.list(Kind::Event, &namespace)?;
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
            let involved = &e["involvedObject"];
            involved["apiVersion"] == *kind.api_version()
                && involved["kind"] == kind.name()
                && involved["name"] == name
        });
    }
    if events.is_empty() {
        client
            .streams
            .warn(format!("No events found in {namespace} namespace."));
        return Ok(Outcome::Done);
    }
    events.sort_by_key(printers::event_order);
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
    client.streams.out.push_str(&Widths::default().print(&rows));
    Ok(Outcome::Done)
}

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
    convertor: TableConvertor,
    /// Watches of `-w`.
    watches: Vec<Watch>,
}

impl GetWatch {
    fn new(client: &Client<'_>, targets: Targets, format: OutputFormat, args: &Args) -> GetWatch {
        let mut kinds: Vec<Kind> = targets.list.iter().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        GetWatch {
            convertor: TableConvertor::new(client.sim().server.definitions(), &kinds),
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
            watches: Vec::new(),
            targets,
            format,
        }
    }

    /// Opens the watches, from now on.
    fn open(&mut self, client: &Client<'_>) -> Result<(), Failure> {
        for (kind, name) in &self.targets.list {
            let mut options = self.targets.options.clone();
            options.resource_version = client.sim().store().version().to_string();
            if let Some(name) = name {
                options.field_selector = format!("metadata.name={name}");
            }
            let watch = client
                .watch(*kind, &self.targets.namespace, options)
                .map_err(|error| server_error(&error))?;
            self.watches.push(watch);
        }
        Ok(())
    }

    fn first(&mut self, client: &mut Client<'_>) -> Result<(), Failure> {
        let objects = self.targets.find(client);
        if objects.is_empty() && client.streams.failure.is_some() {
            return Err(Failure::exit("", 1));
        }
        // The initial objects are printed as one table.
        if let (OutputFormat::Table { .. }, Some(first)) = (&self.format, objects.first()) {
            let head = self
                .header
                .then(|| self.with_event_title(self.head(first.kind)));
            let rows = objects
                .iter()
                .map(|object| self.with_event(Op::Added, self.row(object, client.wall())));
            let rows: Vec<Vec<String>> = head.into_iter().chain(rows).collect();
            rows.iter().for_each(|row| self.widths.measure(row));
        }
        objects
            .iter()
            .try_for_each(|object| self.print(client, object, Op::Added))
    }

    fn with_event(&self, op: Op, mut row: Vec<String>) -> Vec<String> {
        if self.with_event {
            row.insert(0, op.watch_type().to_owned());
        }
        row
    }

    fn with_event_title(&self, mut head: Vec<String>) -> Vec<String> {
        if self.with_event {
            head.insert(0, "EVENT".to_owned());
        }
        head
    }

    fn print(&mut self, client: &mut Client<'_>, object: &Object, op: Op) -> Result<(), Failure> {
        if let OutputFormat::Table { .. } = self.format {
            let mut rows = Vec::new();
            if self.header && !self.shown_header {
                rows.push(self.with_event_title(self.head(object.kind)));
                self.shown_header = true;
            }
            rows.push(self.with_event(op, self.row(object, client.wall())));
            let text = self.widths.print(&rows);
            client.streams.out.push_str(&text);
            return Ok(());
        }
        let value = object.to_value();
        let shown = match self.with_event {
            true => serde_json::json!({ "type": op.watch_type(), "object": value }),
            false => value,
        };
        let text =
            self.format
                .print(object.kind, std::slice::from_ref(&shown), true, self.header)?;
        client.streams.out.push_str(&text);
        Ok(())
    }

    fn head(&self, kind: Kind) -> Vec<String> {
        let wide = self.format == OutputFormat::Table { wide: true };
        let mut head: Vec<String> = self
            .convertor
            .columns(kind)
            .into_iter()
            .filter(|column| wide || !column.is_wide)
            .map(|column| column.title())
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

    fn row(&self, object: &Object, now: i64) -> Vec<String> {
        let kind = object.kind;
        let wide = self.format == OutputFormat::Table { wide: true };
        let columns = self.convertor.columns(kind);
        let cells = self.convertor.cells(object, now);
        let mut row: Vec<String> = columns
            .iter()
            .zip(cells)
            .filter(|(column, _)| wide || !column.is_wide)
            .map(|(_, cell)| cell)
            .collect();
        // Events have no NAME column.
        if self.show_kind
            && columns.first().is_some_and(|column| column.name == "Name")
            && let Some(name) = row.first_mut()
        {
            *name = label(kind, name);
        }
        if self.everywhere && kind.info().namespaced {
            row.insert(0, object.meta.namespace.to_string());
        }
        let labels = &object.meta.labels;
        row.extend(self.label_columns.iter().map(|label| {
            let value = labels.get(label.as_str());
            value.map_or_else(String::new, |value| value.to_string())
        }));
        if self.show_labels {
            let all: Vec<String> = labels
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            row.push(printers::or_none(&all.join(",")));
        }
        row
    }
}

impl PendingCommand for GetWatch {
    /// Prints new changes; a watch never ends by itself.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        let mut watches = std::mem::take(&mut self.watches);
        let mut events: Vec<(usize, WatchEvent)> = Vec::new();
        for watch in &mut watches {
            while let Some(event) = watch.next_event(client.sim().store()) {
                events.push((watch.position(), event));
            }
        }
        self.watches = watches;
        events.sort_by_key(|(position, _)| *position);
        for (_, event) in events {
            self.print(client, &event.object, event.op)?;
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
                .is_none_or(|name| !matches!(client.find_object(&client.key(kind, name)), Ok(None)))
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
            VecDeque::from([ObjectList::new(0, Listing::of(objects))]),
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
    client.streams.out.push_str(&text);
    warn(client, &watch.targets.list);
    Ok(Outcome::Done)
}

/// Prints the server's warning for a deprecated kind.
fn warn(client: &mut Client<'_>, targets: &[(Kind, Option<String>)]) {
    let definitions = client.sim().server.definitions();
    if let Some(warning) = targets
        .iter()
        .find_map(|(kind, _)| definitions.deprecation(*kind, ""))
    {
        client.streams.warn(format!("Warning: {warning}"));
    }
}

/// Tables by kind, separated by an empty line. Objects are first read, then printed, a limited number at a time.
#[derive(Clone, Debug)]
pub struct GetTable {
    watch: GetWatch,
    /// Objects still to be read.
    objects: VecDeque<ObjectList>,
    tables: Vec<(Kind, Widths, VecDeque<Vec<String>>)>,
    /// Index of the table being printed.
    at: usize,
    now: i64,
    /// True if missing objects have been reported, or need not be.
    is_reported: bool,
}

impl GetTable {
    fn new(
        client: &Client<'_>,
        watch: GetWatch,
        objects: VecDeque<ObjectList>,
        args: &Args,
    ) -> GetTable {
        GetTable {
            watch,
            objects,
            tables: Vec::new(),
            at: 0,
            now: client.wall(),
            is_reported: client.streams.failure.is_some() || args.on("ignore-not-found"),
        }
    }

    fn read(&mut self, object: &Object) {
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
        self.add(self.watch.row(object, self.now));
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
            match list.examine() {
                Some(object) => {
                    room -= 1;
                    object.iter().for_each(|object| self.read(object));
                }
                None => drop(self.objects.pop_front()),
            }
        }
        while let Some((_, widths, rows)) = self.tables.get_mut(self.at).filter(|_| room > 0) {
            room -= 1;
            match rows.pop_front() {
                Some(row) => widths.put(&row, &mut client.streams.out),
                None => {
                    self.at += 1;
                    client.streams.out.push_str(if self.at < self.tables.len() {
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
            if !self.is_reported {
                let namespaced = targets.iter().any(|(kind, _)| kind.info().namespaced)
                    && !self.watch.everywhere;
                let place = if namespaced {
                    format!(" in {} namespace.", client.namespace)
                } else {
                    String::new()
                };
                client.streams.warn(format!("No resources found{place}"));
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

/// Compares two values of `--sort-by`: numbers and quantities by amount, texts in natural order.
///
/// Models `isLess` of `staging/src/k8s.io/kubectl/pkg/cmd/get/sorter.go`.
fn compare(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    match (left, right) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a
            .as_f64()
            .partial_cmp(&b.as_f64())
            .unwrap_or(Ordering::Equal),
        (Some(Value::String(a)), Some(Value::String(b))) => {
            match (Quantity::parse(a), Quantity::parse(b)) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                _ => natural_cmp(a, b),
            }
        }
        _ => left.map(jsonpath::show).cmp(&right.map(jsonpath::show)),
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
    keyed.sort_by(|(left, _), (right, _)| compare(left.as_ref(), right.as_ref()));
    objects.extend(keyed.into_iter().map(|(_, object)| object));
    Ok(())
}
