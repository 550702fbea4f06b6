//! Faults on external clients: which exchanges with the API server they hit. What a hit does is up to the server (`crates/serve`).
//!
//! | fault | effect |
//! |---|---|
//! | `client SELECTOR 429 [retry-after SECONDS]`, `500`, `503` | a request is refused before it is read |
//! | `client SELECTOR 409` | an update or a patch is refused, as if another client had written first |
//! | `client SELECTOR timeout-after-commit` | a write is committed, and answered with 504 |
//! | `client SELECTOR slow TIME` | a request is answered that much later |
//! | `client SELECTOR disconnect` | open watches end, and requests get no answer |
//! | `client SELECTOR lose`, `delay TIME` | events do not reach the client's watches, or that much later |
//! | `client SELECTOR 410` | open watches expire, and so do requests that continue from a resourceVersion |
//! | `client SELECTOR off` | ends the faults with this selector; `client all off` ends all |

use crate::sim::Sim;
use apiserver::Origin;
use apiserver::journal::{Actor, ClientFaultHit, EntryId, Record};
use apiserver::why::Why;
use fault::{CallStage, ClientAction, ClientCall, ClientFault, ClientSelector};
use k8s_model::Time;
use sim_core::rng::Rng;
use std::rc::Rc;

/// Faults on clients.
#[derive(Clone, Default, Debug)]
pub struct ClientFaults {
    active: Vec<ActiveClientFault>,
    /// Number of faults ordered so far.
    ordered: u32,
}

/// Fault on clients that has not ended.
#[derive(Clone, Debug)]
pub struct ActiveClientFault {
    /// Fault.
    pub fault: Rc<ClientFault>,
    /// Number of exchanges that it has hit.
    pub hits: u32,
    /// Time at which it ends.
    until: Option<Time>,
    /// Number of the fault, from 1.
    number: u32,
    /// Entry of the journal.
    entry: EntryId,
    /// Source of the decisions of a share.
    rng: Rng,
}

impl ActiveClientFault {
    /// Number of exchanges that it may still hit; `None` if there is no limit.
    pub fn left(&self) -> Option<u32> {
        let times = self.fault.limit.times?;
        Some(times.saturating_sub(self.hits))
    }

    fn is_over(&self, now: Time) -> bool {
        self.left() == Some(0) || self.until.is_some_and(|until| until <= now)
    }

    fn concerns(&self, call: &ClientCall) -> bool {
        let is_news = match call.stage {
            CallStage::OpenWatch { examined } => self.number > examined,
            CallStage::Request { .. } | CallStage::Event => true,
        };
        is_news && self.fault.action.concerns(call) && self.fault.selector.selects(call)
    }
}

impl ClientFaults {
    /// Returns the number of faults ordered so far, by which an open watch knows those that it has not seen.
    pub fn ordered(&self) -> u32 {
        self.ordered
    }

    /// Returns the faults that have not ended.
    pub fn active(&self, now: Time) -> impl Iterator<Item = &ActiveClientFault> {
        self.active.iter().filter(move |fault| !fault.is_over(now))
    }

    /// Returns true if a fault may hit an exchange.
    pub fn concern(&self, call: &ClientCall, now: Time) -> bool {
        self.active(now).any(|fault| fault.concerns(call))
    }

    /// Ends the faults with a selector; all of them, if it selects all.
    pub fn end(&mut self, selector: &ClientSelector) {
        self.active
            .retain(|fault| !selector.is_empty() && fault.fault.selector != *selector);
    }

    /// Orders a fault that is an entry of the journal.
    pub fn order(&mut self, fault: &ClientFault, entry: EntryId, now: Time, rng: Rng) {
        self.ordered += 1;
        self.active.push(ActiveClientFault {
            fault: Rc::new(fault.clone()),
            hits: 0,
            until: fault.limit.span.map(|span| now.after(span)),
            number: self.ordered,
            entry,
            rng,
        });
    }

    /// Returns the first fault that hits an exchange, and counts that.
    fn hit(&mut self, call: &ClientCall, now: Time) -> Option<&ActiveClientFault> {
        self.active.retain(|fault| !fault.is_over(now));
        let hit = self.active.iter_mut().find_map(|fault| {
            let share = u64::from(fault.fault.limit.share.unwrap_or(100));
            let hits = fault.concerns(call) && (share == 100 || fault.rng.below(100) < share);
            hits.then_some(fault)
        })?;
        hit.hits += 1;
        Some(hit)
    }
}

impl Sim {
    /// Lets the faults on clients act on an exchange with one; a hit is recorded in the journal. Returns what happens to the exchange.
    pub fn disturb_client(&mut self, call: &ClientCall) -> Option<ClientAction> {
        let now = self.now();
        let hit = self.client_faults.hit(call, now)?;
        let (fault, cause) = (hit.fault.clone(), hit.entry);
        let action = fault.action;
        let record = Record::ClientFault(Rc::new(ClientFaultHit {
            fault,
            call: call.clone(),
        }));
        self.pass += 1;
        self.server.store.now = now;
        let origin = Origin::new(Actor::USER, Some(cause), self.pass);
        self.server.store.record(&origin, record, Why::Asked);
        Some(action)
    }
}
