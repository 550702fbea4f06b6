//! Calls of admission webhooks: what a request needs to be answered from outside, and the answers.
//!
//! The engine calls nothing. A request that needs the answer of a webhook which can be reached names the call and is refused; whoever runs the
//! engine drops the attempt, makes the call, and repeats the request with the answer. An answer is input: a history holds it beside the
//! request, so that a replay calls nothing.

use crate::server::ApiServer;
use k8s_model::{Kind, Str};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::rng::Rng;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Service port that a webhook's `clientConfig.service` names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServicePort {
    /// Namespace of the Service.
    pub namespace: String,
    /// Name of the Service.
    pub name: String,
    /// Port.
    pub port: u16,
}

/// Call of a webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookCall {
    /// Webhook that is called.
    pub webhook: WebhookId,
    /// `clientConfig` of the webhook.
    pub client_config: Value,
    /// Versions of `AdmissionReview` that the webhook accepts.
    pub review_versions: Vec<String>,
    /// `timeoutSeconds` of the webhook.
    pub timeout_seconds: u64,
    /// `request` of the `AdmissionReview`, without its uid.
    pub request: Value,
}

impl WebhookCall {
    /// Returns true if a call asks the same: it differs at most in the identity that a new object is given.
    pub fn asks_same(&self, other: &WebhookCall) -> bool {
        let plain = |call: &WebhookCall| {
            let mut request = call.request.clone();
            let creates = request["operation"] == "CREATE";
            if let Some(meta) = request
                .pointer_mut("/object/metadata")
                .and_then(Value::as_object_mut)
                .filter(|_| creates)
            {
                meta.remove("uid");
                meta.remove("creationTimestamp");
                if meta.contains_key("generateName") {
                    meta.remove("name");
                }
            }
            request
        };
        (&self.webhook, &self.client_config) == (&other.webhook, &other.client_config)
            && plain(self) == plain(other)
    }
}

/// Identity of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookId {
    /// True for a mutating webhook.
    pub mutates: bool,
    /// Name of the configuration.
    pub configuration: Str,
    /// Name of the webhook.
    pub name: Str,
}

impl WebhookId {
    /// Returns the kind of the configuration.
    pub fn kind(&self) -> Kind {
        match self.mutates {
            true => Kind::MutatingWebhookConfiguration,
            false => Kind::ValidatingWebhookConfiguration,
        }
    }
}

/// Answer of a webhook, as histories hold it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAnswer {
    /// Webhook that answered.
    pub webhook: WebhookId,
    /// Outcome of the call.
    pub outcome: WebhookOutcome,
}

/// Outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WebhookOutcome {
    /// `response` of the `AdmissionReview`, without its uid.
    Response(Value),
    /// Error of the call, for which the failure policy decides.
    Failed(String),
}

/// Answers of webhooks to the calls of one action or task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionAnswers {
    /// Seed of the names and uids that the action or task draws: a webhook is asked about the same ones that are stored, whatever is written
    /// meanwhile.
    pub seed: u64,
    /// Answers in the order of their calls.
    pub answers: Vec<WebhookAnswer>,
}

/// Webhooks that whoever runs the engine can call.
#[derive(Clone, Debug, Default)]
pub struct WebhookReach {
    /// Services behind which something listens; a URL is always called.
    pub services: Rc<BTreeSet<ServicePort>>,
}

/// Decision of a webhook about a request, for metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookDecision {
    /// Webhook.
    pub webhook: WebhookId,
    /// Operation of the request.
    pub operation: &'static str,
    /// Kind of the decision.
    pub verdict: WebhookVerdict,
    /// Status code of a rejection, or of the answer to the call; 0 if there is none.
    pub code: u16,
}

/// Kind of a webhook's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WebhookVerdict {
    /// The request is allowed.
    Allowed,
    /// The request is denied.
    Denied,
    /// The webhook could not be called, and its failure policy refuses the request.
    FailedClosed,
    /// The webhook could not be called, and its failure policy lets the request through.
    FailedOpen,
    /// The API server refuses the request because of the webhook's answer, or of a condition of it.
    ServerError,
}

/// Exchange with the webhooks while requests are served.
#[derive(Clone, Debug, Default)]
pub struct WebhookExchange {
    /// Webhooks that can be called; `None` where nothing can, as in a replay.
    pub reach: Option<WebhookReach>,
    /// Answers for the next action or task.
    answers: Option<Rc<AdmissionAnswers>>,
    /// Random numbers of all others, while there are answers.
    rng: Option<Rng>,
    /// Calls whose answers were used, in order.
    pub answered: Vec<WebhookCall>,
    /// Calls that lack an answer: what was attempted must be dropped, and repeated with answers.
    pub pending: Vec<WebhookCall>,
    /// Decisions of webhooks.
    pub decisions: Vec<WebhookDecision>,
    /// True while a dry run is served.
    pub(crate) dry_run: bool,
    /// Options of the request that is served, with their kind.
    pub(crate) options: Rc<Value>,
    used: usize,
}

impl WebhookExchange {
    /// Returns the outcome of a call; `None` if the webhook cannot be reached, or if the call is pending.
    pub(crate) fn call(
        &mut self,
        call: WebhookCall,
        service: Option<&ServicePort>,
    ) -> Option<WebhookOutcome> {
        let answers = self.answers.as_ref().map(|answers| &answers.answers);
        if let Some(answer) = answers.and_then(|answers| answers.get(self.used))
            && answer.webhook == call.webhook
        {
            let outcome = answer.outcome.clone();
            self.used += 1;
            if self.reach.is_some() {
                self.answered.push(call);
            }
            return Some(outcome);
        }
        let is_reached = self
            .reach
            .as_ref()
            .is_some_and(|reach| service.is_none_or(|service| reach.services.contains(service)));
        if is_reached {
            self.pending.push(call);
        }
        None
    }

    /// Notes a decision, if somebody counts them.
    pub(crate) fn decided(&mut self, decision: WebhookDecision) {
        if self.reach.is_some() {
            self.decisions.push(decision);
        }
    }
}

impl ApiServer {
    /// Begins an action or a task that may call webhooks, or for which there are answers.
    pub fn begin_admission(
        &mut self,
        reach: Option<WebhookReach>,
        answers: Option<Rc<AdmissionAnswers>>,
    ) {
        self.end_admission();
        let seed = answers.as_ref().map(|answers| answers.seed);
        self.webhooks = WebhookExchange {
            reach,
            answers,
            rng: seed.map(|seed| std::mem::replace(&mut self.store.rng, Rng::new(seed))),
            ..WebhookExchange::default()
        };
    }

    /// Ends the action or task: what it asked of webhooks remains to be read.
    pub fn end_admission(&mut self) {
        if let Some(rng) = self.webhooks.rng.take() {
            self.store.rng = rng;
        }
        (self.webhooks.answers, self.webhooks.used) = (None, 0);
    }
}
