//! Check of names: each name that a program reads is defined somewhere.

use crate::api;
use crate::ast::{Act, Call, Clause, Expr, Function, Name, Node, Piece, Statement, Target};
use crate::error::{Problem, ScriptError};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Refuses a program that reads a name which nothing defines.
pub(crate) fn check(statements: &[Statement]) -> Result<(), ScriptError> {
    let mut globals = BTreeSet::new();
    assigned(statements, &mut globals);
    declared(statements, &mut globals);
    Check {
        functions: functions(statements),
        scopes: vec![globals],
    }
    .block(statements)
}

/// Returns the functions whose name means nothing else in the program, so that a call of it can be checked.
fn functions(statements: &[Statement]) -> BTreeMap<Name, Rc<Function>> {
    let mut others = BTreeSet::new();
    let mut functions = BTreeMap::new();
    declared(statements, &mut others);
    for statement in statements {
        match &statement.node {
            Act::Def(function) => {
                let earlier = functions.insert(function.name.clone(), function.clone());
                others.extend(earlier.map(|earlier| earlier.name.clone()));
            }
            _ => assigned(std::slice::from_ref(statement), &mut others),
        }
    }
    functions.retain(|name, _| !others.contains(name));
    functions
}

/// Collects the names that a block assigns, without those of its functions.
fn assigned(statements: &[Statement], names: &mut BTreeSet<Name>) {
    for statement in statements {
        match &statement.node {
            Act::Assign(target, _) | Act::Augment(target, ..) => bound(target, names),
            Act::For(target, _, body) => {
                bound(target, names);
                assigned(body, names);
            }
            Act::While(_, body) => assigned(body, names),
            Act::If(cases) => cases.iter().for_each(|(_, body)| assigned(body, names)),
            Act::Def(function) => {
                names.insert(function.name.clone());
            }
            Act::Expr(_) | Act::Return(_) | Act::Break | Act::Continue | Act::Pass => {}
        }
    }
}

/// Collects the names that functions declare as global.
fn declared(statements: &[Statement], names: &mut BTreeSet<Name>) {
    for statement in statements {
        match &statement.node {
            Act::Def(function) => {
                names.extend(function.globals.iter().cloned());
                declared(&function.body, names);
            }
            Act::For(_, _, body) | Act::While(_, body) => declared(body, names),
            Act::If(cases) => cases.iter().for_each(|(_, body)| declared(body, names)),
            _ => {}
        }
    }
}

fn bound(target: &Target, names: &mut BTreeSet<Name>) {
    match target {
        Target::Name(name) => {
            names.insert(name.clone());
        }
        Target::Several(targets) => targets.iter().for_each(|target| bound(target, names)),
        Target::Index(_) | Target::Field(..) => {}
    }
}

struct Check {
    functions: BTreeMap<Name, Rc<Function>>,
    scopes: Vec<BTreeSet<Name>>,
}

type Checked = Result<(), ScriptError>;

impl Check {
    fn name(&self, line: u32, name: &Name) -> Checked {
        let is_known = self.scopes.iter().any(|scope| scope.contains(name))
            || api::language_function(name).is_some()
            || api::cluster_function(name).is_some();
        if is_known {
            Ok(())
        } else {
            let problem = Problem::UndefinedName(name.to_string());
            Err(ScriptError::new(line, problem))
        }
    }

    /// Refuses a call of a known function whose arguments do not fit its parameters.
    fn arguments(&self, call: &Call) -> Result<(), Problem> {
        let Node::Name(name) = &call.function.node else {
            return Ok(());
        };
        let mut scopes = self.scopes.iter();
        let is_global = scopes.next().is_some_and(|scope| scope.contains(name));
        if scopes.any(|scope| scope.contains(name)) {
            return Ok(());
        }
        let given = call.positional.len();
        let named = call.named.iter().map(|(name, _)| &**name);
        if let Some(function) = self.functions.get(name) {
            let parameters = function.parameters.iter();
            let parameters = parameters.map(|one| (&*one.name, one.default.is_none()));
            return api::fit(name, parameters, given, named);
        }
        if is_global {
            return Ok(());
        }
        let signature = api::cluster_function(name).or_else(|| api::language_function(name));
        let Some(signature) = signature.filter(|signature| !signature.variadic) else {
            return Ok(());
        };
        let parameters = signature.parameters.iter().enumerate();
        let parameters = parameters.map(|(i, name)| (*name, i < signature.required));
        api::fit(name, parameters, given, named)
    }

    fn block(&mut self, statements: &[Statement]) -> Checked {
        statements
            .iter()
            .try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Checked {
        match &statement.node {
            Act::Expr(value) => self.expr(value),
            Act::Assign(target, value) => {
                self.expr(value)?;
                self.target(target)
            }
            Act::Augment(target, _, value) => {
                self.expr(value)?;
                if let Target::Name(name) = target {
                    self.name(statement.line, name)?;
                }
                self.target(target)
            }
            Act::If(cases) => cases.iter().try_for_each(|(condition, body)| {
                condition.iter().try_for_each(|value| self.expr(value))?;
                self.block(body)
            }),
            Act::For(target, items, body) => {
                self.expr(items)?;
                self.target(target)?;
                self.block(body)
            }
            Act::While(condition, body) => {
                self.expr(condition)?;
                self.block(body)
            }
            Act::Def(function) => self.function(function),
            Act::Return(value) => value.iter().try_for_each(|value| self.expr(value)),
            Act::Break | Act::Continue | Act::Pass => Ok(()),
        }
    }

    fn function(&mut self, function: &Function) -> Checked {
        let defaults = function
            .parameters
            .iter()
            .filter_map(|one| one.default.as_ref());
        defaults
            .into_iter()
            .try_for_each(|value| self.expr(value))?;
        let mut names: BTreeSet<Name> = BTreeSet::new();
        names.extend(function.parameters.iter().map(|one| one.name.clone()));
        assigned(&function.body, &mut names);
        self.scopes.push(names);
        let result = self.block(&function.body);
        self.scopes.pop();
        result
    }

    fn target(&mut self, target: &Target) -> Checked {
        match target {
            Target::Name(_) => Ok(()),
            Target::Index(place) => {
                self.expr(&place.0)?;
                self.expr(&place.1)
            }
            Target::Field(object, _) => self.expr(object),
            Target::Several(targets) => targets.iter().try_for_each(|target| self.target(target)),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Checked {
        match &expr.node {
            Node::None | Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Text(_) => Ok(()),
            Node::Format(pieces) => pieces.iter().try_for_each(|piece| match piece {
                Piece::Text(_) => Ok(()),
                Piece::Value(value) => self.expr(value),
            }),
            Node::Name(name) => self.name(expr.line, name),
            Node::List(items) => items.iter().try_for_each(|item| self.expr(item)),
            Node::Dict(entries) => entries.iter().try_for_each(|(key, value)| {
                self.expr(key)?;
                self.expr(value)
            }),
            Node::Index(pair) | Node::And(pair) | Node::Or(pair) | Node::Binary(_, pair) => {
                self.expr(&pair.0)?;
                self.expr(&pair.1)
            }
            Node::Slice(slice) => {
                self.expr(&slice.0)?;
                let bounds = [&slice.1, &slice.2];
                bounds
                    .into_iter()
                    .flatten()
                    .try_for_each(|value| self.expr(value))
            }
            Node::Field(value, _) | Node::Not(value) | Node::Negative(value) => self.expr(value),
            Node::Call(call) => {
                self.expr(&call.function)?;
                let named = call.named.iter().map(|(_, value)| value);
                let mut arguments = call.positional.iter().chain(named);
                arguments.try_for_each(|value| self.expr(value))?;
                self.arguments(call)
                    .map_err(|problem| ScriptError::new(expr.line, problem))
            }
            Node::Compare(first, others) => {
                self.expr(first)?;
                others.iter().try_for_each(|(_, value)| self.expr(value))
            }
            Node::If(parts) => {
                self.expr(&parts.0)?;
                self.expr(&parts.1)?;
                self.expr(&parts.2)
            }
            Node::Lambda(function) => self.function(function),
            Node::Comprehension(comprehension) => {
                self.scopes.push(BTreeSet::new());
                let result = self.comprehension(comprehension);
                self.scopes.pop();
                result
            }
        }
    }

    fn comprehension(&mut self, comprehension: &crate::ast::Comprehension) -> Checked {
        for clause in &comprehension.clauses {
            match clause {
                Clause::For(target, items) => {
                    self.expr(items)?;
                    if let Some(scope) = self.scopes.last_mut() {
                        bound(target, scope);
                    }
                    self.target(target)?;
                }
                Clause::If(condition) => self.expr(condition)?,
            }
        }
        comprehension
            .key
            .iter()
            .try_for_each(|key| self.expr(key))?;
        self.expr(&comprehension.value)
    }
}
