//! Type checker of expressions: undeclared names and functions, unknown fields, and operators that no overload takes.
//!
//! Models `cel-go/checker/checker.go`. A type that is not known passes everywhere; receivers and arguments of functions are not checked.

use super::library::{self, Function};
use super::parse::{CelExpr, Issue};
use super::types::{CelType, VARIABLES};
use serde_json::Value;

/// Functions that an expression may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Functions {
    /// Those that this engine evaluates.
    Evaluated,
    /// All of Kubernetes.
    Declared,
}

/// Variables of an expression with their types.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: Vec<(String, CelType)>,
    /// Fields of `variables`.
    composed: Vec<(String, CelType)>,
}

impl Environment {
    /// Declares a variable.
    pub fn declare(mut self, name: &str, kind: CelType) -> Environment {
        self.variables.push((name.to_owned(), kind));
        self
    }

    /// Returns the environment without a variable.
    pub fn without(&self, name: &str) -> Environment {
        let mut environment = self.clone();
        environment.variables.retain(|(known, _)| known != name);
        environment
    }

    /// Declares a variable of a policy, which later expressions call `variables.name`.
    pub fn compose(&mut self, name: &str, kind: CelType) {
        self.composed.push((name.to_owned(), kind));
    }

    fn variable(&self, name: &str) -> Option<&CelType> {
        let named = |(known, _): &&(String, CelType)| known == name;
        self.variables
            .iter()
            .rev()
            .find(named)
            .map(|(_, kind)| kind)
    }
}

/// Returns the type of an expression.
///
/// # Errors
/// Its issues, in the order of the checker.
pub(super) fn check(
    root: &CelExpr,
    environment: Environment,
    functions: Functions,
) -> Result<CelType, Vec<Issue>> {
    let mut checker = Checker {
        environment,
        functions,
        issues: Vec::new(),
    };
    let kind = checker.kind(root);
    if checker.issues.is_empty() {
        Ok(kind)
    } else {
        Err(checker.issues)
    }
}

struct Checker {
    environment: Environment,
    functions: Functions,
    issues: Vec<Issue>,
}

impl Checker {
    fn error(&mut self, at: usize, message: String) -> CelType {
        self.issues.push(Issue { at, message });
        CelType::Dyn
    }

    fn undeclared(&mut self, name: &str, at: usize) -> CelType {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.error(at, message)
    }

    fn kind(&mut self, expr: &CelExpr) -> CelType {
        match expr {
            CelExpr::Literal(value) => literal(value),
            CelExpr::Name(name, at) => match self.environment.variable(name) {
                Some(kind) => kind.clone(),
                None => self.undeclared(name, *at),
            },
            CelExpr::Field(of, name, at) => {
                let of = self.kind(of);
                self.field(&of, name, *at)
            }
            CelExpr::Has(of, name, at) => {
                let of = self.kind(of);
                self.field(&of, name, *at);
                CelType::Bool
            }
            CelExpr::Index(of, index) => {
                let of = self.kind(of);
                self.kind(index);
                match of {
                    CelType::List(value) | CelType::Map(value) => *value,
                    _ => CelType::Dyn,
                }
            }
            CelExpr::Not(of) => {
                self.kind(of);
                CelType::Bool
            }
            CelExpr::Negative(of) => self.kind(of),
            CelExpr::Binary(sign, left, right, at) => {
                let (left, right) = (self.kind(left), self.kind(right));
                self.binary(sign, left, right, *at)
            }
            CelExpr::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                self.kind(condition);
                let (yes, no) = (self.kind(yes), self.kind(no));
                if yes == no { yes } else { CelType::Dyn }
            }
            CelExpr::List(items) => {
                let kinds: Vec<CelType> = items.iter().map(|item| self.kind(item)).collect();
                CelType::List(common(kinds).into())
            }
            CelExpr::Map(pairs) => {
                let mut values = Vec::new();
                for (key, value) in pairs {
                    self.kind(key);
                    values.push(self.kind(value));
                }
                CelType::Map(common(values).into())
            }
            CelExpr::Call(name, of, arguments, at) => {
                self.call(name, of.as_deref(), arguments, *at)
            }
            CelExpr::Each(each, list, element, asked) => {
                let list = self.kind(list);
                let last = self.scoped(element, list.element(), asked);
                match *each {
                    "map" => CelType::List(last.into()),
                    "filter" => CelType::List(list.element().into()),
                    _ => CelType::Bool,
                }
            }
        }
    }

    /// Checks expressions with one more variable; returns the type of the last one.
    fn scoped(&mut self, name: &str, kind: CelType, asked: &[CelExpr]) -> CelType {
        self.environment.variables.push((name.to_owned(), kind));
        let mut last = CelType::Dyn;
        for asked in asked {
            last = self.kind(asked);
        }
        self.environment.variables.pop();
        last
    }

    fn field(&mut self, of: &CelType, name: &str, at: usize) -> CelType {
        if *of == VARIABLES {
            let named = |(known, _): &&(String, CelType)| known == name;
            let found = self.environment.composed.iter().rev().find(named);
            if let Some((_, kind)) = found {
                return kind.clone();
            }
        } else if let Some(kind) = of.field(name) {
            return kind;
        }
        let message = match of {
            CelType::Named(_) => format!("undefined field '{name}'"),
            _ => format!("type '{of}' does not support field selection"),
        };
        self.error(at, message)
    }

    fn call(
        &mut self,
        name: &str,
        of: Option<&CelExpr>,
        arguments: &[CelExpr],
        at: usize,
    ) -> CelType {
        // A name that is no variable is the namespace of a function.
        let namespace = match of {
            Some(CelExpr::Name(namespace, _)) if self.environment.variable(namespace).is_none() => {
                Some(format!("{namespace}.{name}"))
            }
            _ => None,
        };
        if let (Some("cel.bind"), [CelExpr::Name(variable, _), value, body]) =
            (namespace.as_deref(), arguments)
            && self.functions == Functions::Declared
        {
            let kind = self.kind(value);
            return self.scoped(variable, kind, std::slice::from_ref(body));
        }
        if let Some(name) = &namespace
            && let Some(function) = self.declared(name, false, arguments.len())
        {
            let kinds: Vec<CelType> = arguments.iter().map(|part| self.kind(part)).collect();
            return (function.result)(&kinds);
        }
        let receiver = of.map(|of| self.kind(of));
        if let ("optMap" | "optFlatMap", Some(receiver), [CelExpr::Name(variable, _), body]) =
            (name, &receiver, arguments)
            && self.functions == Functions::Declared
        {
            let kind = self.scoped(variable, receiver.unwrapped(), std::slice::from_ref(body));
            return match name {
                "optMap" => CelType::Optional(kind.into()),
                _ => kind,
            };
        }
        if let (Some(receiver), Functions::Declared) = (&receiver, self.functions)
            && let Some(kind) = self.comprehension(name, receiver, arguments)
        {
            return kind;
        }
        let is_method = receiver.is_some();
        let mut kinds: Vec<CelType> = receiver.into_iter().collect();
        kinds.extend(arguments.iter().map(|part| self.kind(part)));
        match self.declared(name, is_method, arguments.len()) {
            Some(function) => (function.result)(&kinds),
            None => self.undeclared(name, at),
        }
    }

    /// Checks a macro of two variables (`ext.TwoVarComprehensions`), or `sortBy`.
    fn comprehension(
        &mut self,
        name: &str,
        receiver: &CelType,
        arguments: &[CelExpr],
    ) -> Option<CelType> {
        if let ("sortBy", [CelExpr::Name(element, _), key]) = (name, arguments) {
            self.scoped(element, CelType::Dyn, std::slice::from_ref(key));
            return Some(receiver.clone());
        }
        let result = match name {
            "all" | "exists" | "existsOne" => CelType::Bool,
            "transformList" => CelType::List(CelType::Dyn.into()),
            "transformMap" | "transformMapEntry" => CelType::Map(CelType::Dyn.into()),
            _ => return None,
        };
        let [CelExpr::Name(key, _), CelExpr::Name(value, _), asked @ ..] = arguments else {
            return None;
        };
        let known = self.environment.variables.len();
        self.environment.variables.push((key.clone(), CelType::Dyn));
        self.scoped(value, CelType::Dyn, asked);
        self.environment.variables.truncate(known);
        Some(result)
    }

    fn declared(&self, name: &str, is_method: bool, arguments: usize) -> Option<&'static Function> {
        library::declared(name, is_method, arguments)
            .filter(|function| function.is_evaluated || self.functions == Functions::Declared)
    }

    fn binary(&mut self, sign: &str, left: CelType, right: CelType, at: usize) -> CelType {
        let scalars = left.is_scalar() && right.is_scalar();
        let (result, is_refused) = match sign {
            "&&" | "||" => {
                let other = |side: &CelType| side.is_scalar() && *side != CelType::Bool;
                (CelType::Bool, other(&left) || other(&right))
            }
            "==" | "!=" | "<" | "<=" | ">" | ">=" => {
                let numbers = left.is_number() && right.is_number();
                (CelType::Bool, scalars && left != right && !numbers)
            }
            "in" => (CelType::Bool, right.is_scalar()),
            _ => {
                let known = if left == CelType::Dyn { &right } else { &left };
                let result = match known {
                    CelType::Int | CelType::Uint | CelType::Double | CelType::String => {
                        known.clone()
                    }
                    list @ CelType::List(_) if left == right => list.clone(),
                    _ => CelType::Dyn,
                };
                (result, scalars && left != right)
            }
        };
        // Literals do not tell whether they are signed.
        let is_mixed = matches!(
            (&left, &right),
            (CelType::Int, CelType::Uint) | (CelType::Uint, CelType::Int)
        );
        if is_refused && !is_mixed {
            let operator = if sign == "in" {
                "@in".to_owned()
            } else {
                format!("_{sign}_")
            };
            let message = format!(
                "found no matching overload for '{operator}' applied to '({left}, {right})'"
            );
            self.error(at, message);
        }
        result
    }
}

fn literal(value: &Value) -> CelType {
    match value {
        Value::Bool(_) => CelType::Bool,
        Value::Number(number) if number.is_f64() => CelType::Double,
        Value::Number(_) => CelType::Int,
        Value::String(_) => CelType::String,
        _ => CelType::Null,
    }
}

/// Returns the type of elements: their own if it is one.
fn common(kinds: Vec<CelType>) -> CelType {
    let mut kinds = kinds.into_iter();
    match kinds.next() {
        Some(first) if kinds.all(|kind| kind == first) => first,
        _ => CelType::Dyn,
    }
}
