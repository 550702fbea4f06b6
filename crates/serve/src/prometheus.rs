//! `/metrics`: metrics of the server for Prometheus.
//!
//! Guarantees: nothing is measured for it, so that the engine runs unchanged; requests are counted by labels of low cardinality. Models
//! `apiserver/pkg/endpoints/metrics` and `apiserver/pkg/storage/etcd3/metrics`; the text has format 0.0.4.
//!
//! Written without the crate `prometheus-client`, which knows only OpenMetrics: it appends `_total` to the name of each counter, so that
//! `apiserver_request_total` would be described under another name, and scrapers that ask for 0.0.4 would get a format that they do not
//! read.

use super::cluster::{Cluster, OpenRequest};
use super::counts::RequestLabels;
use super::discovery;
use super::exchange::DecisionLabels;
use super::http_request::{HttpRequest, Target};
use super::status::Answer;
use apiserver::WebhookVerdict;
use k8s_model::{Kind, Time, kind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Media type of the answer.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Methods counted by name.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Returns the metric labels of a request, with the kind concerned if there is one.
pub fn labels(
    cluster: &Cluster,
    request: &HttpRequest,
    about: Option<(Kind, &Target)>,
) -> RequestLabels {
    let method = METHODS
        .into_iter()
        .find(|method| *method == request.method)
        .unwrap_or("other");
    let dry_run = if request.is_dry() { "All" } else { "" };
    let Some((kind, target)) = about else {
        return RequestLabels {
            verb: method,
            dry_run,
            ..RequestLabels::default()
        };
    };
    let part = discovery::has_part(&cluster.host.sim, kind, &target.version, &target.part);
    let (reads, all) = (matches!(method, "GET" | "HEAD"), target.name.is_empty());
    let verb = match method {
        _ if matches!(target.part.as_str(), "exec" | "attach" | "portforward") => "CONNECT",
        _ if reads && request.on("watch") => "WATCH",
        _ if reads && all => "LIST",
        "DELETE" if all => "DELETECOLLECTION",
        "PATCH" if request.applies() => "APPLY",
        method => method,
    };
    let scope = match () {
        () if !all || method == "POST" => "resource",
        () if !target.namespace.is_empty() => "namespace",
        () => "cluster",
    };
    let subresource = if part {
        target.part.clone()
    } else {
        String::new()
    };
    let [group, version, resource] =
        [&target.group, &target.version, &target.resource].map(String::clone);
    RequestLabels {
        group,
        version,
        resource,
        subresource,
        scope,
        verb,
        dry_run,
    }
}

/// Open request with its metric labels.
pub struct Labelled {
    /// Metric labels.
    pub labels: RequestLabels,
    /// Request.
    pub inner: Box<dyn OpenRequest>,
}

impl OpenRequest for Labelled {
    fn poll(&mut self, cluster: &mut Cluster) -> bool {
        self.inner.poll(cluster)
    }

    fn restored(&mut self, cluster: &mut Cluster) -> bool {
        self.inner.restored(cluster)
    }

    fn has_backlog(&self) -> bool {
        self.inner.has_backlog()
    }

    fn due(&self) -> Option<Time> {
        self.inner.due()
    }

    fn labels(&self) -> Option<&RequestLabels> {
        Some(&self.labels)
    }
}

/// Text of the answer.
struct Page(String);

impl Page {
    /// Writes a metric with its values, each with its labels.
    fn metric(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        values: impl IntoIterator<Item = (String, u64)>,
    ) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in values {
            let labels = if labels.is_empty() {
                labels
            } else {
                format!("{{{labels}}}")
            };
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }
}

/// Writes the decisions of webhooks: `apiserver/pkg/admission/metrics/metrics.go`.
fn webhook_metrics(page: &mut Page, cluster: &Cluster) {
    let counts = &cluster.exchanges.counts;
    if counts.is_empty() {
        return;
    }
    let labels = |labels: &DecisionLabels| {
        let kind = if labels.mutates {
            "admit"
        } else {
            "validating"
        };
        let (name, operation) = (&labels.name, labels.operation);
        (format!("name={name:?},operation={operation:?}"), kind)
    };
    let is_rejected = |verdict| {
        !matches!(
            verdict,
            WebhookVerdict::Allowed | WebhookVerdict::FailedOpen
        )
    };
    let mut requests = BTreeMap::<String, u64>::new();
    let mut rejections = BTreeMap::<String, u64>::new();
    let mut opened = BTreeMap::<String, u64>::new();
    for (decision, count) in counts {
        let (text, kind) = labels(decision);
        let (verdict, code) = (decision.verdict, decision.code);
        let rejected = is_rejected(verdict);
        let request = format!("code=\"{code}\",{text},rejected=\"{rejected}\",type={kind:?}");
        *requests.entry(request).or_default() += count;
        let error = match verdict {
            WebhookVerdict::Denied => "no_error",
            WebhookVerdict::FailedClosed | WebhookVerdict::FailedOpen => "calling_webhook_error",
            _ => "apiserver_internal_error",
        };
        if verdict != WebhookVerdict::Allowed {
            let text =
                format!("error_type={error:?},{text},rejection_code=\"{code}\",type={kind:?}");
            *rejections.entry(text).or_default() += count;
        }
        if verdict == WebhookVerdict::FailedOpen {
            let text = format!("name={:?},type={kind:?}", decision.name);
            *opened.entry(text).or_default() += count;
        }
    }
    page.metric(
        "apiserver_admission_webhook_request_total",
        "counter",
        "Requests that admission webhooks were asked about, by their decision.",
        requests,
    );
    page.metric(
        "apiserver_admission_webhook_rejection_count",
        "counter",
        "Requests that admission webhooks denied, and calls that failed.",
        rejections,
    );
    page.metric(
        "apiserver_admission_webhook_fail_open_count",
        "counter",
        "Requests that were let through although the call of a webhook failed.",
        opened,
    );
}

/// Serves all metrics.
pub fn answer(cluster: &Cluster) -> Answer {
    let mut page = Page(String::new());
    let (sim, counts) = (&cluster.host.sim, &cluster.counts);
    let mut open: BTreeMap<&RequestLabels, u64> = BTreeMap::new();
    for labels in cluster.open.iter().filter_map(|request| request.labels()) {
        *open.entry(labels).or_default() += 1;
    }
    page.metric(
        "apiserver_longrunning_requests",
        "gauge",
        "Requests that are being answered piece by piece: watches, logs, commands in containers.",
        open.iter().map(|(labels, count)| (labels.text(), *count)),
    );
    let requests = counts.requests.iter().map(|((labels, code), count)| {
        let text = format!(
            "code=\"{code}\",dry_run={:?},{}",
            labels.dry_run,
            labels.text()
        );
        (text, *count)
    });
    page.metric(
        "apiserver_request_total",
        "counter",
        "Requests that were answered, by what they asked for and the code of the answer.",
        requests,
    );
    webhook_metrics(&mut page, cluster);
    let custom = sim
        .server
        .definitions()
        .served()
        .map(|definition| definition.kind);
    let kinds: Vec<Kind> = kind::ALL
        .iter()
        .copied()
        .filter(|kind| kind.is_stored())
        .chain(custom)
        .collect();
    let count = |kind: Kind| sim.store().count(kind) as u64;
    page.metric(
        "apiserver_resource_objects",
        "gauge",
        "Stored objects by resource.",
        kinds.iter().map(|kind| {
            (
                format!(
                    "group={:?},resource={:?}",
                    kind.info().group,
                    kind.info().plural
                ),
                count(*kind),
            )
        }),
    );
    page.metric(
        "apiserver_storage_objects",
        "gauge",
        "Stored objects by resource, under the older name of the metric.",
        kinds.iter().map(|kind| {
            (
                format!("resource={:?}", kind.group_resource()),
                count(*kind),
            )
        }),
    );
    let version = discovery::version();
    let word = |field: &str| version[field].as_str().unwrap_or("").to_owned();
    let build = format!(
        "git_version={:?},major={:?},minor={:?}",
        word("gitVersion"),
        word("major"),
        word("minor")
    );
    page.metric(
        "kubernetes_build_info",
        "gauge",
        "Always 1; its labels name the version of Kubernetes.",
        [(build, 1)],
    );
    let one = |value: u64| [(String::new(), value)];
    let mut hits = BTreeMap::<String, u64>::new();
    for active in sim.client_faults.active(sim.now()) {
        *hits.entry(active.fault.to_string()).or_default() += u64::from(active.hits);
    }
    page.metric(
        "loopscope_client_fault_hits",
        "gauge",
        "Exchanges with clients on which a fault that has not ended has acted.",
        hits.iter().map(|(fault, hits)| {
            let fault = fault.replace('\\', "\\\\").replace('"', "\\\"");
            (format!("fault=\"{fault}\""), *hits)
        }),
    );
    page.metric(
        "loopscope_resource_version",
        "counter",
        "Writes to the store since the simulated cluster began.",
        one(sim.store().version()),
    );
    page.metric(
        "loopscope_tasks_total",
        "counter",
        "Tasks that the simulation has run.",
        one(cluster.host.steps),
    );
    page.metric(
        "loopscope_virtual_time_seconds",
        "gauge",
        "Virtual seconds since the simulated cluster began.",
        one(sim.now().0 / k8s_model::time::SECOND),
    );
    page.metric(
        "process_start_time_seconds",
        "gauge",
        "When the server started, in seconds since 1970.",
        one(counts.started),
    );
    Answer {
        content_type: TEXT,
        ..Answer::text(page.0)
    }
}
