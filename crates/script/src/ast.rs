//! Syntax tree of a program.

use std::rc::Rc;

/// Name of a variable or a field.
pub(crate) type Name = Rc<str>;

/// Expression with its line.
#[derive(Debug)]
pub(crate) struct Expr {
    pub line: u32,
    pub node: Node,
}

#[derive(Debug)]
pub(crate) enum Node {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    Format(Vec<Piece>),
    Name(Name),
    List(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Index(Box<(Expr, Expr)>),
    Slice(Box<(Expr, Option<Expr>, Option<Expr>)>),
    Field(Box<Expr>, Name),
    Call(Box<Call>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(&'static str, Box<(Expr, Expr)>),
    /// Chain of comparisons: `a < b < c`.
    Compare(Box<Expr>, Vec<(&'static str, Expr)>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    /// Condition, and the values if it is true and if not.
    If(Box<(Expr, Expr, Expr)>),
    Lambda(Rc<Function>),
    Comprehension(Box<Comprehension>),
}

/// Part of a formatted string.
#[derive(Debug)]
pub(crate) enum Piece {
    Text(Rc<str>),
    Value(Expr),
}

#[derive(Debug)]
pub(crate) struct Call {
    pub function: Expr,
    pub positional: Vec<Expr>,
    pub named: Vec<(Name, Expr)>,
}

#[derive(Debug)]
pub(crate) struct Comprehension {
    /// Key of an entry, if it makes a dict.
    pub key: Option<Expr>,
    pub value: Expr,
    pub clauses: Vec<Clause>,
}

#[derive(Debug)]
pub(crate) enum Clause {
    For(Target, Expr),
    If(Expr),
}

/// Target of an assignment.
#[derive(Debug)]
pub(crate) enum Target {
    Name(Name),
    Index(Box<(Expr, Expr)>),
    Field(Box<Expr>, Name),
    Several(Vec<Target>),
}

#[derive(Debug)]
pub(crate) struct Function {
    pub name: Name,
    pub parameters: Vec<Parameter>,
    pub body: Vec<Statement>,
    /// Names declared as global.
    pub globals: Vec<Name>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: Name,
    pub default: Option<Expr>,
}

/// Statement with its line.
#[derive(Debug)]
pub(crate) struct Statement {
    pub line: u32,
    /// Names that the statement reads, without those of its blocks.
    pub names: Rc<[Name]>,
    pub node: Act,
}

#[derive(Debug)]
pub(crate) enum Act {
    Expr(Expr),
    Assign(Target, Expr),
    Augment(Target, &'static str, Expr),
    /// Conditions with their blocks; the last one may have none.
    If(Vec<(Option<Expr>, Vec<Statement>)>),
    For(Target, Expr, Vec<Statement>),
    While(Expr, Vec<Statement>),
    Def(Rc<Function>),
    Return(Option<Expr>),
    Break,
    Continue,
    Pass,
}
