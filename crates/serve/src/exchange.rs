//! Attempts to run something that needs answers of admission webhooks.
//!
//! The cluster never waits for a webhook: an attempt that lacks an answer is dropped with all it has done, the call is made on another thread,
//! and once the answer is there it is attempted again. Other clients are served meanwhile, so that the cluster may have changed; a call that
//! then asks something else is made again, as upstream calls again after a conflict in the storage. Only an attempt that has every answer
//! counts: its answers are recorded before it, and a replay gives them to the same action or task.

use super::cluster::{Cluster, Reply};
use super::http_request::HttpRequest;
use super::listen::Call;
use super::webhooks::WebhookCaller;
use actions::{Action, Host, RecordedAction};
use apiserver::{
    AdmissionAnswers, WebhookAnswer, WebhookCall, WebhookDecision, WebhookOutcome, WebhookReach,
    WebhookVerdict,
};
use fault::ClientAction;
use k8s_model::Time;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Answers that may be outdated by other writes before webhooks count as out of reach.
const MAX_OUTDATED: u32 = 24;
/// Interval at which open requests are looked after while the cluster waits for answers.
const PUMP_WAIT: Duration = Duration::from_millis(20);

/// Calls of one action or task, in order, with the outcomes there are.
#[derive(Default)]
pub struct Exchange {
    calls: Vec<NumberedCall>,
    /// Number of times that an answer was outdated.
    outdated: u32,
    /// Seed of the names and uids of an attempt that calls webhooks.
    seed: Option<u64>,
}

struct NumberedCall {
    number: u64,
    call: WebhookCall,
    outcome: Option<WebhookOutcome>,
}

impl Exchange {
    /// Returns true if every call has an outcome.
    fn is_complete(&self) -> bool {
        self.calls.iter().all(|call| call.outcome.is_some())
    }

    fn answers(&self) -> Option<Rc<AdmissionAnswers>> {
        let answer = |call: &NumberedCall| {
            Some(WebhookAnswer {
                webhook: call.call.webhook.clone(),
                outcome: call.outcome.clone()?,
            })
        };
        Some(Rc::new(AdmissionAnswers {
            seed: self.seed?,
            answers: self.calls.iter().map_while(answer).collect(),
        }))
    }

    fn take(&mut self, number: u64, outcome: &WebhookOutcome) -> bool {
        let call = self.calls.iter_mut().find(|call| call.number == number);
        let is_own = call.is_some();
        if let Some(call) = call {
            call.outcome = Some(outcome.clone());
        }
        is_own
    }
}

/// Place in a history.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Tasks run before it.
    steps: u64,
    /// Virtual time.
    time: Time,
}

/// Request of a client with the state of its attempts.
pub struct Incoming {
    pub request: Box<HttpRequest>,
    pub reply: oneshot::Sender<Reply>,
    pub attempt: Attempt,
}

/// State of the attempts to serve a request.
#[derive(Default)]
pub struct Attempt {
    exchange: Exchange,
    /// Decision of the faults on clients, which is taken once.
    pub fault: Option<Option<ClientAction>>,
    /// True if the last attempt lacked an answer.
    pub is_pending: bool,
}

/// Exchange of a cluster with the webhooks.
#[derive(Default)]
pub struct Exchanges {
    caller: Option<WebhookCaller>,
    reach: WebhookReach,
    inbox: Option<Rc<Receiver<Call>>>,
    last_number: u64,
    /// Requests of clients that wait for answers.
    waiting: Vec<Incoming>,
    /// Exchange of the next task.
    task: Option<Exchange>,
    /// Exchange of an action that the cluster waits for.
    action: Option<Exchange>,
    /// Messages that came while the cluster waited.
    deferred: VecDeque<Call>,
    /// Request that is being served.
    pub current: Attempt,
    is_pumping: bool,
    is_stopping: bool,
    /// True while open requests are being polled.
    pub is_polling: bool,
    /// Number of decisions, by webhook.
    pub counts: BTreeMap<DecisionLabels, u64>,
}

/// Metric labels of a webhook's decision.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DecisionLabels {
    /// Name of the webhook.
    pub name: String,
    /// True for a mutating webhook.
    pub mutates: bool,
    /// Operation of the request.
    pub operation: &'static str,
    /// Kind of the decision.
    pub verdict: WebhookVerdict,
    /// Status code.
    pub code: u16,
}

impl DecisionLabels {
    fn new(decision: &WebhookDecision) -> DecisionLabels {
        DecisionLabels {
            name: decision.webhook.name.to_string(),
            mutates: decision.webhook.mutates,
            operation: decision.operation,
            verdict: decision.verdict,
            code: decision.code,
        }
    }
}

impl Cluster {
    /// Lets the cluster call webhooks, and take messages while it waits for their answers.
    pub(super) fn connect_webhooks(
        &mut self,
        caller: WebhookCaller,
        reach: WebhookReach,
        inbox: Receiver<Call>,
    ) {
        let exchanges = &mut self.exchanges;
        (exchanges.caller, exchanges.reach) = (Some(caller), reach);
        exchanges.inbox = Some(Rc::new(inbox));
    }

    /// Returns true if admission may need the answer of a webhook.
    pub(super) fn calls_webhooks(&self) -> bool {
        self.exchanges.caller.is_some() && self.host.sim.server.has_webhooks()
    }

    /// Receives the next message; `Err` if none comes in time, or none ever.
    pub(super) fn receive(&mut self, wait: Duration) -> Result<Call, RecvTimeoutError> {
        if let Some(call) = self.exchanges.deferred.pop_front() {
            return Ok(call);
        }
        match self.exchanges.inbox.clone() {
            Some(inbox) => inbox.recv_timeout(wait),
            None => Err(RecvTimeoutError::Disconnected),
        }
    }

    /// Receives a message that has come already.
    pub(super) fn try_receive(&mut self) -> Option<Call> {
        let deferred = self.exchanges.deferred.pop_front();
        deferred.or_else(|| self.exchanges.inbox.as_ref()?.try_recv().ok())
    }

    /// Runs something on the host with the answers that an exchange has; returns its result, with the answers that were used. Without an answer
    /// that it needs, the host is as before, and the missing calls are made.
    fn attempt<T>(
        &mut self,
        exchange: &mut Exchange,
        run: impl Fn(&mut Host) -> T,
    ) -> Option<(T, Option<Rc<AdmissionAnswers>>)> {
        loop {
            let before = self.host.clone();
            let answers = exchange.answers();
            let reaches = exchange.outdated <= MAX_OUTDATED && !self.exchanges.is_stopping;
            let reach = reaches.then(|| self.exchanges.reach.clone());
            let server = &mut self.host.sim.server;
            server.begin_admission(reach, answers.clone());
            let result = run(&mut self.host);
            self.host.sim.server.end_admission();
            let done = std::mem::take(&mut self.host.sim.server.webhooks);
            if !reaches {
                return Some((result, answers));
            }
            let asked = done.answered.iter().zip(&exchange.calls);
            let same = asked
                .take_while(|(asked, call)| asked.asks_same(&call.call))
                .count();
            if same == done.answered.len() && done.pending.is_empty() {
                for decision in &done.decisions {
                    let labels = DecisionLabels::new(decision);
                    *self.exchanges.counts.entry(labels).or_default() += 1;
                }
                let answers = answers.map(|mut answers| {
                    Rc::make_mut(&mut answers).answers.truncate(same);
                    answers
                });
                return Some((result, answers));
            }
            self.host = before;
            if exchange.seed.is_none() {
                let mut rng = self.host.sim.store().rng.clone();
                exchange.seed = Some(rng.bits() ^ self.exchanges.last_number.rotate_left(32));
                continue;
            }
            exchange.outdated += u32::from(exchange.calls.len() > same);
            exchange.calls.truncate(same);
            if same < done.answered.len() {
                // It asks something else now.
                continue;
            }
            for call in done.pending {
                self.exchanges.last_number += 1;
                let number = self.exchanges.last_number;
                if let Some(caller) = &self.exchanges.caller {
                    caller.call(number, call.clone());
                }
                exchange.calls.push(NumberedCall {
                    number,
                    call,
                    outcome: None,
                });
            }
            return None;
        }
    }

    /// Runs the request that is being served; `None` if an answer is missing, so that it is to be served again.
    pub(super) fn attempt_request<T>(
        &mut self,
        run: impl Fn(&mut Host) -> T,
    ) -> Option<(T, Option<Rc<AdmissionAnswers>>)> {
        let mut exchange = std::mem::take(&mut self.exchanges.current.exchange);
        let result = self.attempt(&mut exchange, run);
        self.exchanges.current.exchange = exchange;
        self.exchanges.current.is_pending = result.is_none();
        result
    }

    /// Runs an action to its end, while other clients are served; returns the answers that it used too.
    pub(super) fn attempt_action<T>(
        &mut self,
        run: impl Fn(&mut Host) -> T,
    ) -> (T, Option<Rc<AdmissionAnswers>>) {
        if self.exchanges.caller.is_none() || self.exchanges.is_pumping {
            return (run(&mut self.host), None);
        }
        let mut exchange = Exchange::default();
        loop {
            if let Some(done) = self.attempt(&mut exchange, &run) {
                return done;
            }
            self.exchanges.action = Some(exchange);
            self.pump(|exchanges| exchanges.action.as_ref().is_none_or(Exchange::is_complete));
            exchange = self.exchanges.action.take().unwrap_or_default();
        }
    }

    /// Runs tasks until a time, each with the answers that it needs; returns true if the time was reached.
    pub(super) fn run_tasks(&mut self, to: Time, mut budget: usize) -> bool {
        while self.host.sim.tasks.next_due().is_some_and(|at| at <= to) {
            if budget == 0 || self.awaits_answer() {
                return false;
            }
            let place = self.place();
            let mut exchange = self.exchanges.task.take().unwrap_or_default();
            let Some((cost, answers)) = self.attempt(&mut exchange, Host::step) else {
                self.exchanges.task = Some(exchange);
                continue;
            };
            budget = budget.saturating_sub(cost);
            self.record_answers(place, answers);
        }
        self.host.advance(to, 1).done
    }

    /// Returns the place in the history of what comes next.
    pub(super) fn place(&self) -> Place {
        Place {
            steps: self.host.steps,
            time: self.host.sim.now(),
        }
    }

    /// Records the answers of webhooks that the next action or task uses.
    pub(super) fn record_answers(&mut self, place: Place, answers: Option<Rc<AdmissionAnswers>>) {
        if let Some(answers) = answers {
            self.log.push(RecordedAction {
                steps: place.steps,
                time: place.time,
                action: Action::Admission(answers),
            });
        }
    }

    /// Returns true if the next task waits for a webhook: the clock stands still.
    pub(super) fn awaits_answer(&self) -> bool {
        let task = self.exchanges.task.as_ref();
        task.is_some_and(|task| !task.is_complete())
    }

    /// Serves other clients until the next task has its answers.
    pub(super) fn await_answer(&mut self) {
        self.pump(|exchanges| exchanges.task.as_ref().is_none_or(Exchange::is_complete));
    }

    /// Forgets what the next task waits for: the cluster is another one.
    pub(super) fn forget_answers(&mut self) {
        self.exchanges.task = None;
    }

    /// Serves other clients until a condition holds; what is about the cluster itself waits.
    fn pump(&mut self, is_done: impl Fn(&Exchanges) -> bool) {
        let Some(inbox) = self.exchanges.inbox.clone() else {
            return;
        };
        let current = std::mem::take(&mut self.exchanges.current);
        self.exchanges.is_pumping = true;
        while !is_done(&self.exchanges) && !self.exchanges.is_stopping {
            match inbox.recv_timeout(PUMP_WAIT) {
                Ok(Call::Request(request, reply)) if request.path.starts_with("/loopscope/") => {
                    let call = Call::Request(request, reply);
                    self.exchanges.deferred.push_back(call);
                }
                Ok(Call::Request(request, reply)) => self.serve(Incoming {
                    request,
                    reply,
                    attempt: Attempt::default(),
                }),
                Ok(Call::Answered(number, outcome)) => self.answered(number, &outcome),
                Ok(Call::Typed) | Err(RecvTimeoutError::Timeout) => self.poll_open(),
                Ok(Call::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.exchanges.deferred.push_front(Call::Stop);
                    self.exchanges.is_stopping = true;
                }
            }
        }
        self.exchanges.is_pumping = false;
        if self.exchanges.is_stopping {
            self.forget_answers();
        }
        self.exchanges.current = current;
    }

    /// Serves a request, or keeps it until the webhooks that it needs have answered.
    pub(super) fn serve(&mut self, incoming: Incoming) {
        let Incoming {
            mut request,
            reply,
            attempt,
        } = incoming;
        if let Some(authenticator) = &self.authenticator {
            match authenticator.authenticate(&self.host.sim, &request) {
                Ok(user) => request.identity = user,
                Err(refusal) => {
                    let _ = reply.send(refusal.into());
                    return;
                }
            }
        }
        self.exchanges.current = attempt;
        let answer = super::answer_on_record(self, &request);
        if !self.exchanges.current.is_pending {
            super::token::fill_secrets(self);
        }
        let attempt = std::mem::take(&mut self.exchanges.current);
        if attempt.is_pending {
            self.exchanges.waiting.push(Incoming {
                request,
                reply,
                attempt,
            });
            return;
        }
        // A client that is gone needs no answer.
        let _ = reply.send(answer);
    }

    /// Takes the outcome of a call; a request that has all its answers is served.
    pub(super) fn answered(&mut self, number: u64, outcome: &WebhookOutcome) {
        let exchanges = &mut self.exchanges;
        for exchange in [&mut exchanges.task, &mut exchanges.action]
            .into_iter()
            .flatten()
        {
            if exchange.take(number, outcome) {
                return;
            }
        }
        let waiting = &mut exchanges.waiting;
        let taken = waiting
            .iter_mut()
            .position(|incoming| incoming.attempt.exchange.take(number, outcome));
        let complete = taken.filter(|at| waiting[*at].attempt.exchange.is_complete());
        let Some(mut incoming) = complete.map(|at| waiting.remove(at)) else {
            return;
        };
        incoming.attempt.is_pending = false;
        // Nothing is written for a client that is gone.
        if !incoming.reply.is_closed() {
            self.serve(incoming);
        }
    }
}
