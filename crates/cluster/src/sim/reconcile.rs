//! Reconcile passes of the controllers.

use super::*;
use apiserver::ApiError;
use script::Step;

/// Virtual time a pass keeps its key busy: minimum, per round trip to the API server, per owned object.
const PASS_COST_US: u64 = MS;
const ROUND_TRIP_US: u64 = 7 * MS;
const PER_OWNED_US: u64 = 50;

impl Sim {
    /// Runs the pass of a controller for a key that is due. A slowed controller queues the key instead; one that is no longer slow
    /// records how long the key has waited.
    pub(super) fn reconcile(&mut self, i: usize, key: &ObjectRef) {
        let (now, due) = (self.now(), self.tasks.due());
        let free = self.manager.worker_of_loop(i, due);
        let queue = &mut self.manager.workers[i].queue;
        let Some(cause) = queue.take(key, due) else {
            return;
        };
        if let Some(free) = free {
            // Every worker of the loop has a key.
            self.manager.enqueue(i, key, free, cause, &mut self.tasks);
            return;
        }
        if queue.slowed().is_some() {
            queue.push_slow(key, cause, now);
            self.manager.plan_slow_pass(i, &mut self.tasks);
        } else if queue.is_disturbed() {
            let waited = queue.take_waited(key);
            self.late_pass(i, key, cause, waited);
        } else {
            self.run_pass(i, key, cause);
        }
    }

    /// Runs the pass of a slowed controller for the first key in line.
    pub(super) fn slow_pass(&mut self, i: usize) {
        let due = self.tasks.due();
        if let Some((key, waited)) = self.manager.workers[i].queue.take_first(due) {
            self.late_pass(i, &key, waited.cause, Some(waited));
            self.manager.plan_slow_pass(i, &mut self.tasks);
        }
    }

    fn late_pass(
        &mut self,
        i: usize,
        key: &ObjectRef,
        cause: Option<EntryId>,
        waited: Option<Waited>,
    ) {
        let written = self.journal().len();
        self.run_pass(i, key, cause);
        if let Some(Waited { since, fault, .. }) = waited.filter(|_| self.journal().len() > written)
        {
            self.delays.pass(self.pass, fault, since, self.now());
        }
    }

    /// Returns true if a pass over a key would write anything now, found by running it on a copy.
    pub(crate) fn has_work(&self, i: usize, key: &ObjectRef) -> bool {
        let mut copy = self.clone();
        copy.server.store.now = copy.now();
        copy.run_pass(i, key, None);
        copy.journal().len() > self.journal().len()
    }

    fn run_pass(&mut self, i: usize, key: &ObjectRef, cause: Option<EntryId>) {
        if ControllerManager::place_of_loop(i).is_some() {
            let result = self.run_scripted(i, key, cause, false).0;
            self.requeue_scripted(i, key, cause, result);
            return;
        }
        self.pass += 1;
        let controller: &dyn Controller = controllers::ALL[i];
        let (worker, now) = (&mut self.manager.workers[i], self.tasks.now());
        let informer = &self.informers.controller_manager;
        let written = worker.written.get(key);
        let watch_faults = informer.watch_faults.as_ref();
        let view = PassView {
            cache: &informer.cache,
            now,
            wall: self.server.store.wall_at(now),
            timing: self.config.timing,
            loads: &self.kubelets.loads,
            config: &self.config,
            heartbeats: &self.kubelets,
            sees_own_writes: written.is_none_or(|needed| informer.seen() >= *needed)
                && watch_faults
                    .is_none_or(|watch_faults| !watch_faults.awaits(controller.component(), key)),
        };
        let mut state = worker.states.remove(key).unwrap_or_default();
        let before = worker.limit.is_some().then(|| state.clone());
        let mut client = LoopClient::new(
            &mut self.server,
            &mut self.recorder,
            Origin::new(Actor::component(controller.component()), cause, self.pass),
            &mut state,
        );
        client.limit = worker.limit.as_mut().map(|limit| (limit, key));
        let result = controller.reconcile(key, &view, &mut client);
        let (writes, round_trips, waits) = (client.writes, client.round_trips, client.waits);
        if waits && let Some(before) = before {
            // The pass stores its state again when it resumes.
            state = before;
        }
        if !state.is_empty() {
            worker.states.insert(key.clone(), state);
        }
        let owned = view
            .cache
            .object(key)
            .map_or(0, |o| view.cache.owned_count(o.meta.uid));
        if writes > 0 {
            worker
                .written
                .insert(key.clone(), self.server.store.journal().len());
        }
        let cost = PASS_COST_US
            + ROUND_TRIP_US * u64::from(round_trips.min(50))
            + PER_OWNED_US * owned as u64;
        if self.server.store.get(key).is_some() {
            worker.queue.keep_busy(key, now.after(cost));
        }
        let requeue = match (&mut worker.limit, result) {
            // The pass is resumed when the key's turn comes.
            (Some(limit), _) if waits => Some(limit.wait(key).0.saturating_sub(now.0).max(1)),
            (limit, result) => {
                if let Some(limit) = limit {
                    limit.leave(key);
                }
                match result {
                    Ok(Action::RetryWithin(span)) => Some(worker.queue.back_off(key).min(span)),
                    Ok(action) => {
                        worker.queue.forget(key);
                        match action {
                            Action::RequeueAfter(span) => Some(span),
                            _ => None,
                        }
                    }
                    Err(_) => Some(worker.queue.back_off(key)),
                }
            }
        };
        if let Some(span) = requeue {
            self.manager
                .requeue_after(i, key, span, cause, &mut self.tasks);
        }
    }

    /// Runs the pass of a loop; returns the lines that it executes, if they are asked for.
    pub(super) fn run_scripted(
        &mut self,
        i: usize,
        key: &ObjectRef,
        cause: Option<EntryId>,
        traced: bool,
    ) -> (Result<Action, ApiError>, Vec<Step>) {
        let nothing = (Ok(Action::AwaitChange), Vec::new());
        let slot = ControllerManager::place_of_loop(i);
        let Some(slot) = slot.and_then(|place| self.manager.loops.get_mut(place)) else {
            return nothing;
        };
        let Some(of) = slot.program.clone() else {
            return nothing;
        };
        self.pass += 1;
        let now = self.tasks.now();
        let cache = &self.informers[Process::Loop(of.id)].cache;
        let view = PassView {
            cache,
            now,
            wall: self.server.store.wall_at(now),
            timing: self.config.timing,
            loads: &self.kubelets.loads,
            config: &self.config,
            heartbeats: &self.kubelets,
            sees_own_writes: true,
        };
        let mut state = KeyState::default();
        let mut client = LoopClient::new(
            &mut self.server,
            &mut self.recorder,
            Origin::new(Actor::component(of.component()), cause, self.pass),
            &mut state,
        );
        if traced {
            return (
                nothing.0,
                of.trace(key, &view, &mut client, &mut slot.state),
            );
        }
        let failing = slot.state.failing().count();
        let result = of.pass(key, &view, &mut client, &mut slot.state);
        let until = now.after(PASS_COST_US + ROUND_TRIP_US * u64::from(client.round_trips));
        let reports = slot.state.failing().count() != failing;
        if self.server.store.get(key).is_some() {
            self.manager.workers[i].queue.keep_busy(key, until);
        }
        self.manager.keep_worker_busy(i, until);
        if reports {
            let own = of.own_key();
            self.manager.enqueue(i, &own, until, None, &mut self.tasks);
        }
        (result, Vec::new())
    }

    /// Queues a key again as its pass asks for.
    fn requeue_scripted(
        &mut self,
        i: usize,
        key: &ObjectRef,
        cause: Option<EntryId>,
        result: Result<Action, ApiError>,
    ) {
        let queue = &mut self.manager.workers[i].queue;
        let span = match result {
            Ok(Action::RetryWithin(span)) => Some(queue.back_off(key).min(span)),
            Ok(action) => {
                queue.forget(key);
                match action {
                    Action::RequeueAfter(span) => Some(span),
                    Action::AwaitChange | Action::RetryWithin(_) => None,
                }
            }
            Err(_) => Some(queue.back_off(key)),
        };
        if let Some(span) = span {
            self.manager
                .requeue_after(i, key, span, cause, &mut self.tasks);
        }
    }
}
