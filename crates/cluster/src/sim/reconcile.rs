//! Work queues of the controllers: dispatch of keys, and reconcile passes.

use super::*;

impl Sim {
    pub(super) fn wake_loops(&mut self, event: &Event<'_>, id: EntryId) {
        let mut woken = std::mem::take(&mut self.woken);
        woken_by(
            &self.routes,
            event,
            &self.informers[MANAGER].cache,
            &mut |i, key| woken.push((i, key)),
        );
        if event.op == Op::Deleted {
            let key = event.object.key();
            self.recorder.forget(event.object.meta.uid);
            for i in 0..controllers::ALL.len() {
                self.queues[i].drop_key(&key);
                self.written[i].remove(&key);
                self.memories[i].remove(&key);
            }
            self.limits.iter_mut().for_each(|limit| limit.leave(&key));
        }
        let at = self.now.after(DISPATCH_US);
        let clock = self.server.wall().seconds() * SECOND as i64 + (self.now.0 % SECOND) as i64;
        for (i, key) in woken.drain(..) {
            match controllers::ALL[i].delay(event, &key, clock) {
                0 => self.enqueue(i, &key, at, Some(id)),
                span => self.wake_later(i, &key, span, Some(id)),
            }
        }
        self.woken = woken;
    }

    pub fn enqueue(&mut self, i: usize, key: &ObjectRef, at: Time, cause: Option<EntryId>) {
        if let Some(at) = self.queues[i].add(key, at, cause) {
            self.push(at, Task::Reconcile(i as u8, key.clone()));
        }
    }

    pub(super) fn reconcile(&mut self, i: usize, key: &ObjectRef) {
        let Some(cause) = self.queues[i].take(key, self.now) else {
            return;
        };
        match self.queues[i].is_disturbed() {
            true => self.line_up(i, key, cause),
            false => self.work_on(i, key, cause),
        }
    }

    /// Runs one pass of a controller for a key.
    pub fn work_on(&mut self, i: usize, key: &ObjectRef, cause: Option<EntryId>) {
        let controller: &dyn Controller = controllers::ALL[i];
        let informer = &self.informers[MANAGER];
        let view = PassView {
            cache: &informer.cache,
            now: self.now,
            wall: self.server.wall_at(self.now),
            timing: self.config.timing,
            loads: &self.kubelets.loads,
            config: &self.config,
            heartbeats: &self.kubelets,
            sees_own_writes: self.written[i]
                .get(key)
                .is_none_or(|needed| informer.seen() >= *needed)
                && (informer.trouble.is_none() || self.sees_own_late(controller.name(), key)),
        };
        self.pass += 1;
        let mut memory = self.memories[i]
            .remove(key)
            .map(Rc::unwrap_or_clone)
            .unwrap_or_default();
        let before = (!self.limits.is_empty()).then(|| memory.clone());
        let mut out = LoopClient {
            server: &mut self.server,
            recorder: &mut self.recorder,
            origin: Origin {
                actor: Actor::component(controller.name()),
                cause,
                pass: self.pass,
                manager: None,
                user: None,
            },
            writes: 0,
            round_trips: 0,
            memory: &mut memory,
            limit: self.limits.get_mut(i).map(|limit| (limit, key)),
            waits: false,
        };
        let result = controller.reconcile(key, &view, &mut out);
        let (writes, round_trips, waits) = (out.writes, out.round_trips, out.waits);
        if waits && let Some(before) = before {
            // The pass stores its state again when it resumes.
            memory = before;
        }
        if !memory.is_empty() {
            self.memories[i].insert(key.clone(), Rc::new(memory));
        }
        let owned = view
            .cache
            .object(key)
            .map_or(0, |o| view.cache.owned_count(o.meta.uid));
        if writes > 0 {
            self.written[i].insert(key.clone(), self.server.journal().len());
        }
        let cost = PASS_COST_US
            + ROUND_TRIP_US * u64::from(round_trips.min(50))
            + PER_OWNED_US * owned as u64;
        if self.server.get(key).is_some() {
            self.queues[i].keep_busy(key, self.now.after(cost));
        }
        if waits {
            return self.wait_for_turn(i, key, cause);
        }
        if let Some(limit) = self.limits.get_mut(i) {
            limit.leave(key);
        }
        match result {
            Ok(Action::RetryWithin(span)) => {
                let delay = self.queues[i].back_off(key).min(span);
                self.wake_later(i, key, delay, cause);
            }
            Ok(action) => {
                self.queues[i].forget(key);
                if let Action::RequeueAfter(span) = action {
                    self.wake_later(i, key, span, cause);
                }
            }
            Err(_) => {
                let delay = self.queues[i].back_off(key);
                self.wake_later(i, key, delay, cause);
            }
        }
    }

    /// Handles an exhausted client rate limit: the pass is resumed when the key's turn comes.
    pub(super) fn wait_for_turn(&mut self, i: usize, key: &ObjectRef, cause: Option<EntryId>) {
        let turn = self.limits[i].wait(key);
        self.wake_later(i, key, turn.0.saturating_sub(self.now.0).max(1), cause);
    }

    pub(super) fn wake_later(
        &mut self,
        i: usize,
        key: &ObjectRef,
        span: u64,
        cause: Option<EntryId>,
    ) {
        let at = self.now.after(span);
        if self.queues[i].add_at(key, at, cause) {
            self.push(at, Task::Wake(i as u8, key.clone()));
        }
    }

    pub(super) fn resync(&mut self, i: usize) {
        let Some((seconds, kinds)) = controllers::ALL[i].resync() else {
            return;
        };
        let cache = &self.informers[MANAGER].cache;
        let keys: Vec<_> = kinds
            .iter()
            .flat_map(|kind| cache.list(*kind))
            .map(|o| o.key())
            .collect();
        for key in keys {
            self.enqueue(i, &key, self.now, None);
        }
        self.push(self.now.after(seconds * SECOND), Task::Resync(i as u8));
    }
}
