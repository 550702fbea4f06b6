//! Evaluation of a program: one pass.

use crate::api::{self, Signature};
use crate::ast::{
    Act, Call, Clause, Comprehension, Expr, Function, Name, Node, Piece, Statement, Target,
};
use crate::error::{Problem, ScriptError};
use crate::value::{Dict, Failure, Frame, Heap, Key, Place, ToJson, Value};
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Limits of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps: statements, expressions, rounds of loops; a call of the cluster counts 20, a write 100.
    pub steps: u64,
    /// Memory in bytes, counted as it is taken.
    pub memory: usize,
}

/// Steps that a call of the cluster counts.
const READ_STEPS: u64 = 20;
const WRITE_STEPS: u64 = 100;

/// Maximum nesting of evaluations.
const DEEPEST: u32 = 150;

/// Request of a program to the cluster.
pub struct HostCall<'a> {
    /// Function.
    pub function: &'static Signature,
    /// Arguments by the names of their parameters.
    pub arguments: BTreeMap<&'static str, Json>,
    /// Place of the call in the program.
    pub site: &'a Site,
}

/// Place of a call in a program, with what it could see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Line, from 1.
    pub line: u32,
    /// Text of the line.
    pub text: String,
    /// Values of the names on the line and on the condition around it; empty for functions that only read.
    pub values: Vec<(String, String)>,
}

/// Answer of the cluster.
pub enum Reply {
    /// Value.
    Json(Json),
    /// Object.
    Object(Rc<dyn ToJson>),
    /// Objects.
    Objects(Vec<Rc<dyn ToJson>>),
    /// Failure of the request.
    Failure(Failure),
}

/// Cluster that a program acts on.
pub trait Host {
    /// Carries out a call.
    ///
    /// # Errors
    /// An argument makes no sense; the pass ends.
    fn call(&mut self, call: &HostCall<'_>) -> Result<Reply, String>;
}

/// Step of a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Line, from 1.
    pub line: u32,
    /// Variables of the function after the step.
    pub values: Vec<(String, String)>,
}

/// Set of lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines(Vec<u64>);

impl Lines {
    /// Adds a line.
    pub fn insert(&mut self, line: u32) {
        let (word, bit) = (line as usize / 64, line % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    /// Returns true if a line is among them.
    pub fn contains(&self, line: u32) -> bool {
        let word = self.0.get(line as usize / 64);
        word.is_some_and(|word| word & (1 << (line % 64)) != 0)
    }
}

/// Result of a step that may stop the pass.
pub(crate) type Done<T> = Result<T, ScriptError>;

/// Continuation after a statement.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

pub(crate) struct Interpreter<'h> {
    pub heap: Heap,
    pub host: Option<&'h mut dyn Host>,
    pub steps: u64,
    pub limits: Limits,
    pub globals: Place,
    /// Lines that the pass has reached.
    pub lines: Lines,
    /// Steps so far, if they are recorded.
    pub trace: Option<Vec<Step>>,
    source: &'h str,
    depth: u32,
    frame: Place,
    /// Names that the function declares as global.
    declared: Rc<[Name]>,
    /// Line and names of the statement, after those of the blocks around it within the function.
    context: Vec<(u32, Rc<[Name]>)>,
}

impl<'h> Interpreter<'h> {
    pub fn new(source: &'h str, limits: Limits) -> Done<Interpreter<'h>> {
        let mut heap = Heap::new(limits.memory);
        let globals = heap
            .frame(Frame::default())
            .map_err(|problem| ScriptError::new(1, problem))?;
        Ok(Interpreter {
            heap,
            host: None,
            steps: 0,
            limits,
            globals,
            lines: Lines::default(),
            trace: None,
            source,
            depth: 0,
            frame: globals,
            declared: Rc::new([]),
            context: Vec::new(),
        })
    }

    /// Counts a step.
    pub fn step(&mut self) -> Result<(), Problem> {
        self.take_steps(1)
    }

    fn take_steps(&mut self, steps: u64) -> Result<(), Problem> {
        self.steps += steps;
        if self.steps > self.limits.steps {
            return Err(Problem::Steps(self.limits.steps));
        }
        Ok(())
    }

    fn nested<T>(&mut self, line: u32, run: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        if self.depth >= DEEPEST {
            return Err(ScriptError::new(line, Problem::Depth));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Runs the statements of a program.
    pub fn module(&mut self, statements: &[Statement]) -> Done<()> {
        self.block(statements).map(drop)
    }

    fn block(&mut self, statements: &[Statement]) -> Done<Flow> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Done<Flow> {
        let line = statement.line;
        self.step().at(line)?;
        if self.host.is_some() {
            self.lines.insert(line);
        }
        self.context.push((line, statement.names.clone()));
        let flow = self.nested(line, |this| this.act(statement));
        self.context.pop();
        let is_block = matches!(
            statement.node,
            Act::Def(_) | Act::If(_) | Act::For(..) | Act::While(..)
        );
        if !is_block {
            self.record(line);
        }
        flow
    }

    /// Records a step with the variables of the function; a line that begins a block is a step before the block.
    fn record(&mut self, line: u32) {
        const MOST: usize = 2_000;
        if self.trace.as_ref().is_none_or(|trace| trace.len() >= MOST) {
            return;
        }
        let names: Vec<(Name, Value)> = match self.heap.frame_at(self.frame) {
            Some(frame) => frame.names.clone(),
            None => Vec::new(),
        };
        let values = names
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), self.heap.brief(value)?)))
            .collect();
        if let Some(trace) = &mut self.trace {
            trace.push(Step { line, values });
        }
    }

    fn act(&mut self, statement: &Statement) -> Done<Flow> {
        let line = statement.line;
        match &statement.node {
            Act::Expr(value) => {
                self.expr(value)?;
            }
            Act::Assign(target, value) => {
                let value = self.expr(value)?;
                self.assign(line, target, value)?;
            }
            Act::Augment(target, operator, value) => self.augment(line, target, operator, value)?,
            Act::If(cases) => {
                for (condition, body) in cases {
                    let holds = match condition {
                        Some(condition) => {
                            if self.host.is_some() {
                                self.lines.insert(condition.line);
                            }
                            let holds = self.condition(condition)?;
                            self.record(condition.line);
                            holds
                        }
                        None => true,
                    };
                    if holds {
                        return self.block(body);
                    }
                }
            }
            Act::For(target, items, body) => {
                let items = self.expr(items)?;
                let items = self.iterate(&items).at(line)?;
                if items.is_empty() {
                    self.record(line);
                }
                for item in items {
                    self.step().at(line)?;
                    self.assign(line, target, item)?;
                    self.record(line);
                    match self.block(body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return Ok(flow),
                    }
                }
            }
            Act::While(condition, body) => loop {
                let holds = self.condition(condition)?;
                self.record(line);
                if !holds {
                    break;
                }
                self.step().at(line)?;
                match self.block(body)? {
                    Flow::Next | Flow::Continue => {}
                    Flow::Break => break,
                    flow @ Flow::Return(_) => return Ok(flow),
                }
            },
            Act::Def(function) => {
                let value = Value::Function(function.clone(), self.frame);
                self.bind(&function.name, value).at(line)?;
            }
            Act::Return(value) => {
                let value = match value {
                    Some(value) => self.expr(value)?,
                    None => Value::None,
                };
                return Ok(Flow::Return(value));
            }
            Act::Break => return Ok(Flow::Break),
            Act::Continue => return Ok(Flow::Continue),
            Act::Pass => {}
        }
        Ok(Flow::Next)
    }

    fn condition(&mut self, condition: &Expr) -> Done<bool> {
        let value = self.expr(condition)?;
        Ok(self.heap.is_true(&value))
    }

    /// Sets a variable of the function, or a global one that it has declared.
    fn bind(&mut self, name: &Name, value: Value) -> Result<(), Problem> {
        let frame = match self.declared.contains(name) {
            true => self.globals,
            false => self.frame,
        };
        self.heap.set(frame, name, value)
    }

    fn assign(&mut self, line: u32, target: &Target, value: Value) -> Done<()> {
        match target {
            Target::Name(name) => self.bind(name, value).at(line),
            Target::Index(place) => {
                let object = self.expr(&place.0)?;
                let index = self.expr(&place.1)?;
                self.set_item(&object, &index, value).at(line)
            }
            Target::Field(object, name) => {
                let object = self.expr(object)?;
                let Value::Dict(place) = object else {
                    return Err(no_field(&object, name)).at(line);
                };
                self.heap.take(64).at(line)?;
                let entries = self.heap.entries(place).at(line)?;
                entries.insert(Key::Text(name.clone()), value);
                Ok(())
            }
            Target::Several(targets) => {
                let items = self.iterate(&value).at(line)?;
                if items.len() != targets.len() {
                    let problem = Problem::Argument {
                        function: "=".to_owned(),
                        reason: format!("{} values for {} names", items.len(), targets.len()),
                    };
                    return Err(ScriptError::new(line, problem));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.nested(line, |this| this.assign(line, target, item))?;
                }
                Ok(())
            }
        }
    }

    fn augment(&mut self, line: u32, target: &Target, operator: &str, value: &Expr) -> Done<()> {
        let value = self.expr(value)?;
        match target {
            Target::Name(name) => {
                let old = self.variable(name).at(line)?;
                let new = self.binary(operator, &old, &value).at(line)?;
                self.bind(name, new).at(line)
            }
            Target::Index(place) => {
                let object = self.expr(&place.0)?;
                let index = self.expr(&place.1)?;
                let old = self.item(&object, &index).at(line)?;
                let new = self.binary(operator, &old, &value).at(line)?;
                self.set_item(&object, &index, new).at(line)
            }
            Target::Field(object, name) => {
                let object = self.expr(object)?;
                let old = self.field(&object, name).at(line)?;
                let new = self.binary(operator, &old, &value).at(line)?;
                let index = Value::Text(name.clone());
                self.set_item(&object, &index, new).at(line)
            }
            Target::Several(_) => Ok(()),
        }
    }

    fn variable(&mut self, name: &Name) -> Result<Value, Problem> {
        if let Some(value) = self.heap.lookup(self.frame, name) {
            return Ok(value);
        }
        if api::language_function(name).is_some() || api::cluster_function(name).is_some() {
            return Ok(Value::Builtin(name.clone()));
        }
        Err(Problem::UndefinedName(name.to_string()))
    }

    pub fn expr(&mut self, expr: &Expr) -> Done<Value> {
        self.step().at(expr.line)?;
        self.nested(expr.line, |this| match &expr.node {
            Node::None => Ok(Value::None),
            Node::Bool(value) => Ok(Value::Bool(*value)),
            Node::Int(number) => Ok(Value::Int(*number)),
            Node::Float(number) => Ok(Value::Float(*number)),
            Node::Text(text) => Ok(Value::Text(text.clone())),
            Node::Name(name) => this.variable(name).at(expr.line),
            Node::Field(object, name) => {
                let object = this.expr(object)?;
                this.field(&object, name).at(expr.line)
            }
            Node::Call(call) => this.call(expr.line, call),
            _ => this.compound(expr),
        })
    }

    /// Evaluates an expression with parts.
    fn compound(&mut self, expr: &Expr) -> Done<Value> {
        let line = expr.line;
        match &expr.node {
            Node::Format(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(piece) => text.push_str(piece),
                        Piece::Value(value) => {
                            let value = self.expr(value)?;
                            text.push_str(&self.heap.show(&value, false).at(line)?);
                        }
                    }
                }
                self.heap.text(&text).at(line)
            }
            Node::List(items) => {
                let items = items.iter().map(|item| self.expr(item));
                let items = items.collect::<Done<Vec<_>>>()?;
                self.heap.list(items).at(line)
            }
            Node::Dict(entries) => {
                let mut dict = Dict::default();
                for (key, value) in entries {
                    let key = self.expr(key)?.to_key().at(line)?;
                    dict.insert(key, self.expr(value)?);
                }
                self.heap.dict(dict).at(line)
            }
            Node::Index(place) => {
                let object = self.expr(&place.0)?;
                let index = self.expr(&place.1)?;
                self.item(&object, &index).at(line)
            }
            Node::Slice(slice) => {
                let object = self.expr(&slice.0)?;
                let mut bounds = [None, None];
                for (bound, part) in bounds.iter_mut().zip([&slice.1, &slice.2]) {
                    if let Some(part) = part {
                        *bound = Some(self.expr(part)?);
                    }
                }
                self.slice(&object, &bounds).at(line)
            }
            Node::Not(value) => Ok(Value::Bool(!self.condition(value)?)),
            Node::Negative(value) => match self.expr(value)? {
                Value::Int(number) => number
                    .checked_neg()
                    .map(Value::Int)
                    .ok_or(ScriptError::new(line, Problem::Overflow)),
                Value::Float(number) => Ok(Value::Float(-number)),
                other => Err(operation("-", &[&other])).at(line),
            },
            Node::Binary(operator, pair) => {
                let left = self.expr(&pair.0)?;
                let right = self.expr(&pair.1)?;
                self.binary(operator, &left, &right).at(line)
            }
            Node::Compare(first, others) => {
                let mut left = self.expr(first)?;
                for (operator, right) in others {
                    let right = self.expr(right)?;
                    if !self.compare(operator, &left, &right).at(line)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Ok(Value::Bool(true))
            }
            Node::And(pair) => {
                let left = self.expr(&pair.0)?;
                if self.heap.is_true(&left) {
                    self.expr(&pair.1)
                } else {
                    Ok(left)
                }
            }
            Node::Or(pair) => {
                let left = self.expr(&pair.0)?;
                if self.heap.is_true(&left) {
                    Ok(left)
                } else {
                    self.expr(&pair.1)
                }
            }
            Node::If(parts) => match self.condition(&parts.0)? {
                true => self.expr(&parts.1),
                false => self.expr(&parts.2),
            },
            Node::Lambda(function) => Ok(Value::Function(function.clone(), self.frame)),
            Node::Comprehension(comprehension) => self.comprehension(line, comprehension),
            _ => Ok(Value::None),
        }
    }

    fn comprehension(&mut self, line: u32, comprehension: &Comprehension) -> Done<Value> {
        let scope = Frame {
            names: Vec::new(),
            parent: Some(self.frame),
        };
        let scope = self.heap.frame(scope).at(line)?;
        let outer = std::mem::replace(&mut self.frame, scope);
        let (mut items, mut dict) = (Vec::new(), Dict::default());
        let result = self.clauses(line, comprehension, 0, &mut items, &mut dict);
        self.frame = outer;
        result?;
        match comprehension.key {
            Some(_) => self.heap.dict(dict).at(line),
            None => self.heap.list(items).at(line),
        }
    }

    fn clauses(
        &mut self,
        line: u32,
        comprehension: &Comprehension,
        at: usize,
        items: &mut Vec<Value>,
        dict: &mut Dict,
    ) -> Done<()> {
        match comprehension.clauses.get(at) {
            None => {
                self.heap.take(64).at(line)?;
                match &comprehension.key {
                    Some(key) => {
                        let key = self.expr(key)?.to_key().at(line)?;
                        dict.insert(key, self.expr(&comprehension.value)?);
                    }
                    None => items.push(self.expr(&comprehension.value)?),
                }
            }
            Some(Clause::If(condition)) => {
                if self.condition(condition)? {
                    self.clauses(line, comprehension, at + 1, items, dict)?;
                }
            }
            Some(Clause::For(target, over)) => {
                let over = self.expr(over)?;
                for item in self.iterate(&over).at(line)? {
                    self.step().at(line)?;
                    self.assign(line, target, item)?;
                    self.clauses(line, comprehension, at + 1, items, dict)?;
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, line: u32, call: &Call) -> Done<Value> {
        // A method: a function of the type of its value, or a field that is a function.
        let method = match &call.function.node {
            Node::Field(object, name) => Some((self.expr(object)?, name)),
            _ => None,
        };
        let function = match &method {
            Some(_) => None,
            None => Some(self.expr(&call.function)?),
        };
        let positional = call.positional.iter().map(|value| self.expr(value));
        let positional = positional.collect::<Done<Vec<_>>>()?;
        let mut named = Vec::new();
        for (name, value) in &call.named {
            named.push((name.clone(), self.expr(value)?));
        }
        if let Some((object, name)) = method {
            return match self.method(line, &object, name, &positional, &named)? {
                Some(value) => Ok(value),
                None => {
                    let function = self.field(&object, name).at(line)?;
                    self.apply(line, &function, positional, named)
                }
            };
        }
        self.apply(line, &function.unwrap_or(Value::None), positional, named)
    }

    /// Calls a function.
    pub fn apply(
        &mut self,
        line: u32,
        function: &Value,
        positional: Vec<Value>,
        named: Vec<(Name, Value)>,
    ) -> Done<Value> {
        match function {
            Value::Function(function, scope) => self.nested(line, |this| {
                this.invoke(line, function, *scope, positional, named)
            }),
            Value::Builtin(name) => match api::cluster_function(name) {
                Some(signature) => self.ask(line, signature, positional, named),
                None => self.builtin(line, name, &positional, &named),
            },
            other => Err(Problem::NotCallable(other.type_name())).at(line),
        }
    }

    /// Calls a function of the program.
    fn invoke(
        &mut self,
        line: u32,
        function: &Rc<Function>,
        scope: Place,
        positional: Vec<Value>,
        named: Vec<(Name, Value)>,
    ) -> Done<Value> {
        let parameters = function.parameters.iter();
        let parameters = parameters.map(|one| (&*one.name, one.default.is_none()));
        let keywords = named.iter().map(|(name, _)| &**name);
        api::fit(&function.name, parameters, positional.len(), keywords).at(line)?;
        let mut names: Vec<(Name, Value)> = Vec::new();
        for (parameter, value) in function.parameters.iter().zip(positional) {
            names.push((parameter.name.clone(), value));
        }
        names.extend(named);
        for parameter in &function.parameters {
            if names.iter().any(|(known, _)| *known == parameter.name) {
                continue;
            }
            if let Some(default) = &parameter.default {
                names.push((parameter.name.clone(), self.expr(default)?));
            }
        }
        self.heap.take(names.len() * 32).at(line)?;
        let frame = Frame {
            names,
            parent: Some(scope),
        };
        let frame = self.heap.frame(frame).at(line)?;
        let outer = std::mem::replace(&mut self.frame, frame);
        let declared = std::mem::replace(&mut self.declared, function.globals.as_slice().into());
        let context = std::mem::take(&mut self.context);
        let flow = self.block(&function.body);
        self.context = context;
        self.declared = declared;
        self.frame = outer;
        Ok(match flow? {
            Flow::Return(value) => value,
            _ => Value::None,
        })
    }

    /// Calls a function of the cluster.
    pub fn ask(
        &mut self,
        line: u32,
        signature: &'static Signature,
        positional: Vec<Value>,
        named: Vec<(Name, Value)>,
    ) -> Done<Value> {
        let wrong = |reason: String| Problem::Argument {
            function: signature.name.to_owned(),
            reason,
        };
        let parameters = signature.parameters.iter().enumerate();
        let parameters = parameters.map(|(i, name)| (*name, i < signature.required));
        let keywords = named.iter().map(|(name, _)| &**name);
        api::fit(signature.name, parameters, positional.len(), keywords).at(line)?;
        let mut arguments = BTreeMap::new();
        let mut given: Vec<(&'static str, Value)> = Vec::new();
        given.extend(signature.parameters.iter().copied().zip(positional));
        for (name, value) in named {
            let known = signature.parameters.iter().find(|known| ***known == *name);
            given.extend(known.map(|known| (*known, value)));
        }
        for (name, value) in given {
            if let Value::Failure(failure) = &value {
                return Err(unchecked(failure)).at(line);
            }
            arguments.insert(name, self.heap.write_json(&value).at(line)?);
        }
        let cost = match signature.writes {
            true => WRITE_STEPS,
            false => READ_STEPS,
        };
        self.take_steps(cost).at(line)?;
        let site = self.site(line, signature.writes);
        let Some(host) = &mut self.host else {
            return Err(Problem::OutsidePass(signature.name)).at(line);
        };
        let reply = host.call(&HostCall {
            function: signature,
            arguments,
            site: &site,
        });
        match reply.map_err(wrong).at(line)? {
            Reply::Json(json) => self.heap.json(&json).at(line),
            Reply::Object(object) => self.heap.object(object).at(line),
            Reply::Objects(objects) => {
                let mut items = Vec::with_capacity(objects.len());
                for object in objects {
                    items.push(self.heap.object(object).at(line)?);
                }
                self.heap.list(items).at(line)
            }
            Reply::Failure(failure) => Ok(Value::Failure(Rc::new(failure))),
        }
    }

    /// Describes the place of a call: the line, and the values of the names on it and on the innermost condition around it.
    fn site(&mut self, line: u32, values: bool) -> Site {
        let text = self.source.lines().nth((line as usize).saturating_sub(1));
        let mut site = Site {
            line,
            text: text.unwrap_or("").trim().to_owned(),
            values: Vec::new(),
        };
        if !values {
            return site;
        }
        let near: Vec<Rc<[Name]>> = self
            .context
            .iter()
            .rev()
            .take(2)
            .map(|(_, names)| names.clone())
            .collect();
        for name in near.iter().flat_map(|names| names.iter()) {
            if site.values.iter().any(|(known, _)| **known == **name) {
                continue;
            }
            let value = self.heap.lookup(self.frame, name);
            if let Some(shown) = value.and_then(|value| self.heap.brief(&value)) {
                site.values.push((name.to_string(), shown));
            }
        }
        site
    }

    /// Returns the items of a list, or the keys of a dict.
    pub fn iterate(&mut self, value: &Value) -> Result<Vec<Value>, Problem> {
        match value {
            Value::List(place) => {
                let items = self.heap.items(*place).to_vec();
                self.heap.take(items.len())?;
                Ok(items)
            }
            Value::Dict(place) => {
                let entries = self.heap.entries(*place)?;
                let keys: Vec<Value> = entries.iter().map(|(key, _)| key.to_value()).collect();
                self.heap.take(keys.len())?;
                Ok(keys)
            }
            Value::Failure(failure) => Err(unchecked(failure)),
            other => Err(operation("iteration", &[other])),
        }
    }

    /// Returns the field of an object; None if it has none of this name.
    fn field(&mut self, object: &Value, name: &Name) -> Result<Value, Problem> {
        match object {
            Value::Dict(place) => {
                let entries = self.heap.entries(*place)?;
                let value = entries.get(&Key::Text(name.clone()));
                Ok(value.cloned().unwrap_or(Value::None))
            }
            Value::Failure(failure) => match &**name {
                "reason" => Ok(Value::Text(failure.reason.into())),
                "message" => self.heap.text(&failure.message),
                _ => Err(unchecked(failure)),
            },
            other => Err(no_field(other, name)),
        }
    }

    fn item(&mut self, object: &Value, index: &Value) -> Result<Value, Problem> {
        match (object, index) {
            (Value::List(place), Value::Int(index)) => {
                let items = self.heap.items(*place);
                let item = position(*index, items.len()).and_then(|at| items.get(at));
                item.cloned().ok_or(Problem::NoItem(index.to_string()))
            }
            (Value::Text(text), Value::Int(index)) => {
                self.heap.take(text.len() / 8)?;
                let length = text.chars().count();
                let found = position(*index, length).and_then(|at| text.chars().nth(at));
                let found = found.ok_or(Problem::NoItem(index.to_string()))?;
                self.heap.text(found.encode_utf8(&mut [0; 4]))
            }
            (Value::Dict(place), _) => {
                let key = index.to_key()?;
                let item = self.heap.entries(*place)?.get(&key).cloned();
                item.ok_or_else(|| Problem::NoItem(format!("'{key}'")))
            }
            (Value::Failure(failure), _) => Err(unchecked(failure)),
            _ => Err(operation("[]", &[object, index])),
        }
    }

    fn set_item(&mut self, object: &Value, index: &Value, value: Value) -> Result<(), Problem> {
        match (object, index) {
            (Value::List(place), Value::Int(index)) => {
                let items = self.heap.items_mut(*place);
                let length = items.as_ref().map_or(0, |items| items.len());
                let at = position(*index, length).ok_or(Problem::NoItem(index.to_string()))?;
                if let Some(item) = items.and_then(|items| items.get_mut(at)) {
                    *item = value;
                }
                Ok(())
            }
            (Value::Dict(place), _) => {
                let key = index.to_key()?;
                self.heap.take(128)?;
                self.heap.entries(*place)?.insert(key, value);
                Ok(())
            }
            _ => Err(operation("[] =", &[object, index])),
        }
    }

    fn slice(&mut self, object: &Value, bounds: &[Option<Value>; 2]) -> Result<Value, Problem> {
        let mut ends = [None, None];
        for (end, bound) in ends.iter_mut().zip(bounds) {
            *end = match bound {
                None | Some(Value::None) => None,
                Some(Value::Int(number)) => Some(*number),
                Some(other) => return Err(operation("[:]", &[object, other])),
            };
        }
        let range = |length: usize| {
            let clamp = |at: i64| match usize::try_from(at) {
                Ok(at) => at.min(length),
                Err(_) => usize::try_from(at.saturating_add(length as i64)).unwrap_or(0),
            };
            let start = ends[0].map_or(0, clamp);
            start..ends[1].map_or(length, clamp).max(start)
        };
        match object {
            Value::List(place) => {
                let items = self.heap.items(*place);
                let part = items.get(range(items.len())).unwrap_or_default().to_vec();
                self.heap.list(part)
            }
            Value::Text(text) => {
                let part = range(text.chars().count());
                let part: String = text.chars().skip(part.start).take(part.len()).collect();
                self.heap.take(text.len() / 8)?;
                self.heap.text(&part)
            }
            other => Err(operation("[:]", &[other])),
        }
    }

    pub fn binary(&mut self, operator: &str, a: &Value, b: &Value) -> Result<Value, Problem> {
        if let Value::Failure(failure) = a {
            return Err(unchecked(failure));
        }
        if let Value::Failure(failure) = b {
            return Err(unchecked(failure));
        }
        match (operator, a, b) {
            (_, Value::Int(a), Value::Int(b)) => integers(operator, *a, *b),
            (_, Value::Float(_) | Value::Int(_), Value::Float(_) | Value::Int(_)) => {
                let number = |value: &Value| match value {
                    Value::Int(number) => *number as f64,
                    Value::Float(number) => *number,
                    _ => 0.0,
                };
                floats(operator, number(a), number(b))
            }
            ("+", Value::Text(a), Value::Text(b)) => {
                self.heap.take(a.len() + b.len())?;
                Ok(Value::Text(format!("{a}{b}").into()))
            }
            ("*", Value::Text(text), Value::Int(times)) => {
                let times = usize::try_from(*times).unwrap_or(0);
                self.heap.take(text.len().saturating_mul(times))?;
                Ok(Value::Text(text.repeat(times).into()))
            }
            ("+", Value::List(a), Value::List(b)) => {
                let (a, b) = (self.heap.items(*a), self.heap.items(*b));
                let items = [a, b].concat();
                self.heap.list(items)
            }
            ("*", Value::List(place), Value::Int(times)) => {
                let times = usize::try_from(*times).unwrap_or(0);
                let length = self.heap.items(*place).len();
                self.heap
                    .take(length.saturating_mul(times).saturating_mul(32))?;
                let items = self.heap.items(*place);
                let items = (0..times).flat_map(|_| items.iter().cloned()).collect();
                self.heap.list(items)
            }
            ("|", Value::Dict(a), Value::Dict(b)) => {
                let mut dict = Dict::default();
                for place in [*a, *b] {
                    for (key, value) in self.heap.entries(place)?.iter() {
                        dict.insert(key.clone(), value.clone());
                    }
                }
                self.heap.dict(dict)
            }
            ("%", Value::Text(_), _) => Err(Problem::Unsupported(
                "'%' of strings (use f\"{value}\")".to_owned(),
            )),
            _ => Err(operation(operator, &[a, b])),
        }
    }

    fn compare(&mut self, operator: &str, a: &Value, b: &Value) -> Result<bool, Problem> {
        match operator {
            "==" => self.heap.equal(a, b),
            "!=" => self.heap.equal(a, b).map(|equal| !equal),
            "in" => self.contains(a, b),
            "not in" => self.contains(a, b).map(|found| !found),
            _ => {
                let order = self.order(operator, a, b)?;
                Ok(match operator {
                    "<" => order == Some(Ordering::Less),
                    "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    ">" => order == Some(Ordering::Greater),
                    _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                })
            }
        }
    }

    /// Orders two values; `None` if they have no order, as not-a-number.
    pub fn order(
        &mut self,
        operator: &str,
        a: &Value,
        b: &Value,
    ) -> Result<Option<Ordering>, Problem> {
        self.heap.take(1)?;
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Ok(Some(a.cmp(b))),
            (Value::Bool(a), Value::Bool(b)) => Ok(Some(a.cmp(b))),
            (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))),
            (Value::Float(a), Value::Float(b)) => Ok(a.partial_cmp(b)),
            (Value::Int(a), Value::Float(b)) => Ok((*a as f64).partial_cmp(b)),
            (Value::Float(a), Value::Int(b)) => Ok(a.partial_cmp(&(*b as f64))),
            (Value::List(a), Value::List(b)) => {
                let (a, b) = (self.heap.items(*a).to_vec(), self.heap.items(*b).to_vec());
                self.heap.take(a.len() + b.len())?;
                for (a, b) in a.iter().zip(&b) {
                    // Lists within lists are not ordered, so this does not nest.
                    if matches!((a, b), (Value::List(_), _)) {
                        return Err(operation(operator, &[a, b]));
                    }
                    match self.order(operator, a, b)? {
                        Some(Ordering::Equal) => {}
                        other => return Ok(other),
                    }
                }
                Ok(Some(a.len().cmp(&b.len())))
            }
            (Value::Failure(failure), _) | (_, Value::Failure(failure)) => Err(unchecked(failure)),
            _ => Err(operation(operator, &[a, b])),
        }
    }

    fn contains(&mut self, item: &Value, of: &Value) -> Result<bool, Problem> {
        match (item, of) {
            (_, Value::Dict(place)) => {
                let Ok(key) = item.to_key() else {
                    return Ok(false);
                };
                Ok(self.heap.entries(*place)?.get(&key).is_some())
            }
            (_, Value::List(_)) => {
                for other in self.iterate(of)? {
                    if self.heap.equal(item, &other)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Text(part), Value::Text(text)) => {
                self.heap.take(text.len() / 8)?;
                Ok(text.contains(&**part))
            }
            // A field that an object does not have holds nothing.
            (_, Value::None) => Ok(false),
            _ => Err(operation("in", &[item, of])),
        }
    }
}

/// Returns the place of an index, which counts from the end if it is negative.
fn position(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(at) => Some(at).filter(|at| *at < length),
        Err(_) => usize::try_from(index.checked_add(length as i64)?).ok(),
    }
}

fn integers(operator: &str, a: i64, b: i64) -> Result<Value, Problem> {
    let result = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" | "%" | "/" if b == 0 => return Err(Problem::DivisionByZero),
        "/" => return Ok(Value::Float(a as f64 / b as f64)),
        // Rounded down, as Python does.
        "//" => a.checked_div_euclid(b).and_then(|quotient| {
            match b < 0 && a.checked_rem_euclid(b)? != 0 {
                true => quotient.checked_sub(1),
                false => Some(quotient),
            }
        }),
        "%" => a
            .checked_rem_euclid(b)
            .map(|rest| match b < 0 && rest != 0 {
                true => rest + b,
                false => rest,
            }),
        _ => return Err(operation(operator, &[&Value::Int(a), &Value::Int(b)])),
    };
    result.map(Value::Int).ok_or(Problem::Overflow)
}

fn floats(operator: &str, a: f64, b: f64) -> Result<Value, Problem> {
    Ok(Value::Float(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" | "//" | "%" if b == 0.0 => return Err(Problem::DivisionByZero),
        "/" => a / b,
        "//" => (a / b).floor(),
        "%" => a - b * (a / b).floor(),
        _ => return Err(operation(operator, &[&Value::Float(a), &Value::Float(b)])),
    }))
}

pub(crate) fn operation(operation: &str, values: &[&Value]) -> Problem {
    Problem::Operation {
        operation: operation.to_owned(),
        types: values.iter().map(|value| value.type_name()).collect(),
    }
}

fn no_field(of: &Value, field: &Name) -> Problem {
    Problem::NoField {
        of: of.type_name(),
        field: field.to_string(),
    }
}

pub(crate) fn unchecked(failure: &Failure) -> Problem {
    Problem::Unchecked {
        reason: failure.reason,
        message: failure.message.clone(),
    }
}

/// Adds the line to a problem.
pub(crate) trait At<T> {
    fn at(self, line: u32) -> Done<T>;
}

impl<T> At<T> for Result<T, Problem> {
    fn at(self, line: u32) -> Done<T> {
        self.map_err(|problem| ScriptError::new(line, problem))
    }
}
