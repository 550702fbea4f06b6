//! State of the cluster and its history since a step of a lesson began, read from the journal.
//!
//! Every instant of the journal is processed once, completely and in order, however the clock was sliced: aggregations over time do not
//! depend on when they are evaluated.

use super::expr::{Aggregation, Expr, Expressions, Operator};
use apiserver::Actor;
use apiserver::Why;
use apiserver::journal::{Entry, Journal, Op, Record};
use cluster::Sim;
use controller_runtime::event_series::LATE_COUNT;
use k8s_model::{Kind, Object, ObjectRef, Str, Time};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Missing value: the object does not exist.
    Nothing,
    /// Number.
    Number(i64),
    /// Text.
    Text(Str),
    /// Boolean.
    Truth(bool),
}

impl Value {
    /// Returns true for the boolean true.
    pub fn is_true(&self) -> bool {
        *self == Value::Truth(true)
    }
}

/// Formats a value for a caption; booleans and missing values are never shown.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Nothing => f.write_str("–"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Truth(truth) => write!(f, "{truth}"),
        }
    }
}

/// Intermediate result of an aggregation.
#[derive(Clone, Debug)]
struct Slot {
    value: Value,
    /// Time of the last change.
    at: Time,
}

/// State of the cluster from the journal, and its history since a step began.
#[derive(Clone, Debug, Default)]
pub struct ObservedHistory {
    /// Objects by key, without Events.
    pub objects: BTreeMap<ObjectRef, Rc<Object>>,
    /// Objects created since the step began.
    pub created: Vec<Rc<Object>>,
    /// Objects deleted since the step began, in their last version.
    pub deleted: Vec<Rc<Object>>,
    /// Updates of objects since the step began.
    pub updated: Vec<Update>,
    /// Occurrences of Events since the step began.
    pub events: Vec<Rc<Object>>,
    /// Person's commands in the journal since the step, or its task, began.
    pub commands: Vec<Str>,
    /// Console input since then, including commands that only read.
    pub entered: Vec<Str>,
    /// Objects selected by the person since the step began.
    pub looked: Vec<ObjectRef>,
    /// Start time of the step.
    pub began: Time,
    /// Instant up to which the journal has been processed.
    pub now: Time,
    /// Number of journal entries processed.
    read: usize,
    /// Number of journal entries at the start of the step.
    first: usize,
    slots: Vec<Slot>,
    over: Rc<Expressions>,
    goal: Option<Goal>,
}

/// Update of an object.
#[derive(Clone, Debug)]
pub struct Update {
    /// Object before the update.
    pub before: Rc<Object>,
    /// Object after it.
    pub object: Rc<Object>,
}

/// Goal of a task, evaluated after every instant.
#[derive(Clone, Debug)]
struct Goal {
    check: Rc<Expr>,
    /// Start time of the task, and number of entries then.
    since: Time,
    first: usize,
    reached: bool,
}

impl ObservedHistory {
    /// Returns the number of journal entries at the start of the step.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Begins a step.
    pub fn begin(&mut self, sim: &Sim, over: Rc<Expressions>) {
        self.fold(sim.journal(), sim.now(), true);
        self.first = self.read;
        self.forget_occurrences();
        (self.entered, self.looked) = Default::default();
        (self.began, self.now, self.over, self.goal) = (sim.now(), sim.now(), over, None);
        self.slots = Vec::new();
        self.take();
    }

    /// Begins a task: earlier input belongs to the script, or does not count.
    pub fn ask(&mut self, sim: &Sim, check: Rc<Expr>) {
        (self.commands, self.entered) = Default::default();
        self.goal = Some(Goal {
            check,
            since: self.now,
            first: self.read,
            reached: false,
        });
        self.look_at_goal(Some(sim));
    }

    /// Returns true if the task was completed at any time since it began; functions of the present are evaluated now.
    pub fn is_reached(&mut self, sim: &Sim) -> bool {
        self.look_at_goal(Some(sim));
        self.goal.as_ref().is_some_and(|goal| goal.reached)
    }

    fn look_at_goal(&mut self, sim: Option<&Sim>) {
        let Some(goal) = self
            .goal
            .as_ref()
            .filter(|goal| !goal.reached && goal.since <= self.now)
        else {
            return;
        };
        let reached = self.eval(&goal.check.clone(), sim).is_true();
        if let Some(goal) = &mut self.goal {
            goal.reached = reached;
        }
    }

    /// Returns the result of an aggregation so far, and the time of its last change.
    pub fn over(&self, at: usize) -> Option<(&Value, Time)> {
        self.slots.get(at).map(|slot| (&slot.value, slot.at))
    }

    /// Creates the history of a step that begins now.
    pub fn present(sim: &Sim) -> ObservedHistory {
        let objects = k8s_model::kind::all()
            .filter(|kind| *kind != Kind::Event)
            .flat_map(|kind| sim.store().each(kind));
        ObservedHistory {
            objects: objects
                .map(|object| (object.key(), object.clone()))
                .collect(),
            began: sim.now(),
            now: sim.now(),
            read: sim.journal().len(),
            first: sim.journal().len(),
            ..ObservedHistory::default()
        }
    }

    /// Builds the history up to `to` for a step that began at `began.0`, with `began.1` entries in the journal.
    pub fn of(
        journal: Journal<'_>,
        began: (Time, usize),
        over: Rc<Expressions>,
        to: Time,
    ) -> ObservedHistory {
        let mut history = ObservedHistory::default();
        history.fold(journal.first(began.1), began.0, true);
        history.forget_occurrences();
        (history.first, history.began, history.now, history.over) =
            (history.read, began.0, began.0, over);
        history.take();
        history.fold(journal, to, true);
        history
    }

    /// Processes the same journal further, up to another end.
    pub fn catch_up(&mut self, journal: Journal<'_>, to: Time) {
        self.fold(journal, to, true);
    }

    /// Evaluates an expression without functions of the present.
    pub fn eval_recorded(&self, expr: &Expr) -> Value {
        self.eval(expr, None)
    }

    /// Processes a journal again from its beginning, since it is another one, up to an instant.
    pub fn reread(&mut self, sim: &Sim) {
        let journal = sim.journal();
        let first = self.first.min(journal.len());
        let old = std::mem::replace(
            self,
            ObservedHistory {
                began: self.began.min(sim.now()),
                first,
                ..ObservedHistory::default()
            },
        );
        self.fold(journal.first(first), self.began, true);
        self.forget_occurrences();
        (self.entered, self.looked, self.over, self.now) =
            (old.entered, old.looked, old.over, self.began);
        self.goal = old.goal.map(|goal| Goal {
            since: goal.since.min(sim.now()),
            first: goal.first.min(journal.len()),
            reached: false,
            check: goal.check,
        });
        self.take();
        self.advance(sim, false);
    }

    /// Returns true if the journal is shorter than the processed part.
    pub fn is_ahead_of(&self, sim: &Sim) -> bool {
        self.read > sim.journal().len()
    }

    /// Processes new journal entries. An instant that may not be over yet is included only with `through`, at the end of a step.
    pub fn advance(&mut self, sim: &Sim, through: bool) {
        self.fold(sim.journal(), sim.now(), through);
    }

    fn fold(&mut self, journal: Journal<'_>, to: Time, through: bool) {
        let mut changed = false;
        for entry in journal.from(self.read).iter() {
            if entry.time > to || (entry.time == to && !through) {
                break;
            }
            if changed && entry.time > self.now {
                self.take();
                changed = false;
            }
            changed |= self.observe(entry);
        }
        if changed {
            self.take();
        }
        self.now = self.now.max(to);
    }

    /// Processes the next entry; returns true if values may have changed.
    pub fn observe(&mut self, entry: &Entry) -> bool {
        (self.now, self.read) = (entry.time, self.read + 1);
        match &entry.record {
            Record::Write { op, object, .. } if object.kind == Kind::Event => {
                // A count that is written later is no occurrence.
                let occurs = *op != Op::Deleted && entry.why != (Why::Event { reason: LATE_COUNT });
                if occurs {
                    self.events.push(object.clone());
                }
                return occurs;
            }
            Record::Write { op, object, before } => {
                match (op, before) {
                    (Op::Added, _) => self.created.push(object.clone()),
                    (Op::Deleted, _) => self.deleted.push(object.clone()),
                    (Op::Modified, Some(before)) => self.updated.push(Update {
                        before: before.clone(),
                        object: object.clone(),
                    }),
                    (Op::Modified, None) => {}
                }
                match op {
                    Op::Deleted => drop(self.objects.remove(&object.key())),
                    _ => drop(self.objects.insert(object.key(), object.clone())),
                }
                return true;
            }
            // The commands of the script precede the task.
            _ if entry.is_command()
                && entry.actor == Actor::USER
                && self.goal.as_ref().is_none_or(|goal| self.read > goal.first) =>
            {
                self.commands.extend(entry.command_line().map(Str::from));
            }
            _ => {}
        }
        false
    }

    /// Number of journal entries processed.
    pub fn processed(&self) -> usize {
        self.read
    }

    /// Forgets what happened before: functions count from here on.
    pub fn forget_occurrences(&mut self) {
        (
            self.created,
            self.deleted,
            self.updated,
            self.events,
            self.commands,
        ) = Default::default();
    }

    /// Updates the aggregations at the instant just processed.
    fn take(&mut self) {
        let over = self.over.clone();
        for (at, (over, expr)) in over.over.iter().enumerate() {
            let value = self.eval(expr, None);
            let truth = value.is_true();
            let now = self.now;
            let Some(slot) = self.slots.get_mut(at) else {
                let value = match over {
                    Aggregation::Max | Aggregation::Min => value,
                    Aggregation::Ever | Aggregation::Always => Value::Truth(truth),
                    Aggregation::Never => Value::Truth(!truth),
                };
                self.slots.push(Slot { value, at: now });
                continue;
            };
            let next = match (over, &slot.value, &value) {
                (Aggregation::Max, Value::Number(old), Value::Number(new)) if new <= old => {
                    continue;
                }
                (Aggregation::Min, Value::Number(old), Value::Number(new)) if new >= old => {
                    continue;
                }
                (Aggregation::Max | Aggregation::Min, _, Value::Nothing) => continue,
                (Aggregation::Max | Aggregation::Min, ..) => value,
                (Aggregation::Ever, ..) if truth => Value::Truth(true),
                (Aggregation::Always, ..) if !truth => Value::Truth(false),
                (Aggregation::Never, ..) if truth => Value::Truth(false),
                _ => continue,
            };
            if slot.value != next {
                *slot = Slot {
                    value: next,
                    at: now,
                };
            }
        }
        self.look_at_goal(None);
    }

    /// Evaluates an expression, on the present and on the processed history.
    pub fn value(&self, sim: &Sim, expr: &Expr) -> Value {
        self.eval(expr, Some(sim))
    }

    /// Returns true if an expression holds.
    pub fn holds(&self, sim: &Sim, expr: &Expr) -> bool {
        self.value(sim, expr).is_true()
    }

    fn eval(&self, expr: &Expr, sim: Option<&Sim>) -> Value {
        match expr {
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text((&**text).into()),
            Expr::Not(inner) => Value::Truth(!self.eval(inner, sim).is_true()),
            Expr::Over(at) => self
                .slots
                .get(*at)
                .map_or(Value::Nothing, |slot| slot.value.clone()),
            Expr::Call(function, arguments) => (function.run)(self, sim, arguments),
            Expr::Binary(operator, left, right) => {
                let left = self.eval(left, sim);
                match operator {
                    Operator::And if !left.is_true() => Value::Truth(false),
                    Operator::Or if left.is_true() => left,
                    _ => join(*operator, left, self.eval(right, sim)),
                }
            }
        }
    }

    /// Returns true if an expression can still hold in the future: an `always` that failed once never will.
    pub fn can_hold(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Binary(Operator::And, left, right) => self.can_hold(left) && self.can_hold(right),
            Expr::Binary(Operator::Or, left, right) => self.can_hold(left) || self.can_hold(right),
            Expr::Over(at) => {
                let lasts = matches!(
                    self.over.over.get(*at),
                    Some((Aggregation::Always | Aggregation::Never, _))
                );
                !lasts || self.slots.get(*at).is_none_or(|slot| slot.value.is_true())
            }
            _ => true,
        }
    }

    /// Returns the time of the last change of the first aggregation within an expression.
    pub fn since(&self, expr: &Expr) -> Option<Time> {
        match expr {
            Expr::Over(at) => self.slots.get(*at).map(|slot| slot.at),
            Expr::Not(inner) => self.since(inner),
            Expr::Binary(_, left, right) => self.since(left).or_else(|| self.since(right)),
            _ => None,
        }
    }
}

fn join(operator: Operator, left: Value, right: Value) -> Value {
    use Operator::{And, AtLeast, AtMost, Equal, Greater, Less, Minus, Or, Plus, Unequal};
    let truth = match (operator, &left, &right) {
        (Plus, Value::Number(left), Value::Number(right)) => {
            return Value::Number(left.saturating_add(*right));
        }
        (Minus, Value::Number(left), Value::Number(right)) => {
            return Value::Number(left.saturating_sub(*right));
        }
        (Plus | Minus, ..) => return Value::Nothing,
        (And | Or, _, right) => right.is_true(),
        // A missing value equals nothing, and differs from everything.
        (Equal, Value::Nothing, _) | (Equal, _, Value::Nothing) => false,
        (Equal, left, right) => left == right,
        (Unequal, left, right) => left != right || *left == Value::Nothing,
        (Less, Value::Number(left), Value::Number(right)) => left < right,
        (AtMost, Value::Number(left), Value::Number(right)) => left <= right,
        (Greater, Value::Number(left), Value::Number(right)) => left > right,
        (AtLeast, Value::Number(left), Value::Number(right)) => left >= right,
        (Less | AtMost | Greater | AtLeast, ..) => false,
    };
    Value::Truth(truth)
}
