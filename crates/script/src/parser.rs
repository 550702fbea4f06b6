//! Parser of programs.

use crate::ast::{
    Act, Call, Clause, Comprehension, Expr, Function, Name, Node, Parameter, Piece, Statement,
    Target,
};
use crate::error::{Problem, ScriptError};
use crate::lexer::{FormatPart, Token, tokens};
use std::rc::Rc;

/// Maximum nesting of expressions and blocks.
const DEEPEST: u32 = 40;

/// Parses a program into its statements.
pub(crate) fn parse(source: &str) -> Result<Vec<Statement>, ScriptError> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
        loops: 0,
        functions: 0,
        names: Vec::new(),
        globals: Vec::new(),
    };
    let mut statements = Vec::new();
    while *parser.peek() != Token::End {
        parser.statements(&mut statements)?;
    }
    Ok(statements)
}

struct Parser {
    tokens: Vec<(u32, Token)>,
    at: usize,
    depth: u32,
    /// Loops around the statement within its function.
    loops: u32,
    /// Functions around the statement.
    functions: u32,
    /// Names that the statement has read so far.
    names: Vec<Name>,
    /// Names that the function declares as global.
    globals: Vec<Name>,
}

type Parsed<T> = Result<T, ScriptError>;

/// Named arguments of a call.
type NamedExprs = Vec<(Name, Expr)>;

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens
            .get(self.at)
            .map_or(&Token::End, |(_, token)| token)
    }

    fn line(&self) -> u32 {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(1, |(line, _)| *line)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn error(&self, problem: Problem) -> ScriptError {
        ScriptError::new(self.line(), problem)
    }

    fn unexpected(&self, expected: &'static str) -> ScriptError {
        let found = self.peek().text();
        self.error(Problem::UnexpectedText { found, expected })
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if *found == word)
    }

    /// Skips a word if it is next.
    fn eat(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &'static str, expected: &'static str) -> Parsed<()> {
        if self.eat(word) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn name(&mut self) -> Parsed<Name> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Parses with one more level of nesting.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return Err(self.error(Problem::TooNested));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts a link of a chain, which nests to the left.
    fn lengthen(&self, length: &mut u32) -> Parsed<()> {
        *length += 1;
        if *length > DEEPEST {
            return Err(self.error(Problem::TooNested));
        }
        Ok(())
    }

    /// Parses a line of statements, or a statement with its blocks.
    fn statements(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        match self.peek() {
            Token::Word("if" | "for" | "while" | "def") => {
                let statement = self.nested(Parser::compound)?;
                into.push(statement);
                return Ok(());
            }
            Token::Indent => return Err(self.error(Problem::Indentation)),
            _ => {}
        }
        loop {
            if let Some(statement) = self.simple()? {
                into.push(statement);
            }
            if self.eat(";") && *self.peek() != Token::Line {
                continue;
            }
            break;
        }
        match self.next() {
            Token::Line => Ok(()),
            _ => {
                self.at -= 1;
                Err(self.unexpected("the end of the line"))
            }
        }
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.expect(":", "':'")?;
        let mut statements = Vec::new();
        if *self.peek() != Token::Line {
            // A block on the line of its head.
            if matches!(self.peek(), Token::Word("if" | "for" | "while" | "def")) {
                return Err(self.unexpected("the end of the line"));
            }
            self.statements(&mut statements)?;
            return Ok(statements);
        }
        self.at += 1;
        if *self.peek() != Token::Indent {
            return Err(self.unexpected("an indented block"));
        }
        self.at += 1;
        while !matches!(self.peek(), Token::Dedent | Token::End) {
            self.statements(&mut statements)?;
        }
        self.at += usize::from(*self.peek() == Token::Dedent);
        Ok(statements)
    }

    fn compound(&mut self) -> Parsed<Statement> {
        let line = self.line();
        self.names.clear();
        let mut names = None;
        let node = if self.eat("if") {
            let mut cases = Vec::new();
            let condition = self.expr()?;
            names = Some(std::mem::take(&mut self.names));
            cases.push((Some(condition), self.block()?));
            loop {
                if self.eat("elif") {
                    self.names.clear();
                    let condition = self.expr()?;
                    // The names of all conditions.
                    let read = std::mem::take(&mut self.names);
                    names.get_or_insert_default().extend(read);
                    cases.push((Some(condition), self.block()?));
                } else if self.eat("else") {
                    cases.push((None, self.block()?));
                    break;
                } else {
                    break;
                }
            }
            Act::If(cases)
        } else if self.eat("for") {
            let target = self.targets()?;
            self.expect("in", "'in'")?;
            let items = self.exprs()?;
            names = Some(std::mem::take(&mut self.names));
            Act::For(target, items, self.looped()?)
        } else if self.eat("while") {
            let condition = self.expr()?;
            names = Some(std::mem::take(&mut self.names));
            Act::While(condition, self.looped()?)
        } else {
            self.expect("def", "'def'")?;
            let name = self.name()?;
            self.expect("(", "'('")?;
            let parameters = self.parameters(")")?;
            self.expect(")", "')'")?;
            Act::Def(self.function(name, parameters, Parser::block)?)
        };
        Ok(Statement {
            line,
            names: unique(names.unwrap_or_default()),
            node,
        })
    }

    fn looped(&mut self) -> Parsed<Vec<Statement>> {
        self.loops += 1;
        let body = self.block();
        self.loops -= 1;
        body
    }

    /// Parses the body of a function.
    fn function(
        &mut self,
        name: Name,
        parameters: Vec<Parameter>,
        body: impl FnOnce(&mut Self) -> Parsed<Vec<Statement>>,
    ) -> Parsed<Rc<Function>> {
        let loops = std::mem::take(&mut self.loops);
        let globals = std::mem::take(&mut self.globals);
        self.functions += 1;
        let body = body(self);
        self.functions -= 1;
        self.loops = loops;
        let globals = std::mem::replace(&mut self.globals, globals);
        Ok(Rc::new(Function {
            name,
            parameters,
            body: body?,
            globals,
        }))
    }

    fn parameters(&mut self, end: &'static str) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.is(end) {
            let name = self.name()?;
            let default = match self.eat("=") {
                true => Some(self.expr()?),
                false => None,
            };
            parameters.push(Parameter { name, default });
            if !self.eat(",") {
                break;
            }
        }
        Ok(parameters)
    }

    /// Parses a statement of a line; `None` for one without an effect.
    fn simple(&mut self) -> Parsed<Option<Statement>> {
        let line = self.line();
        self.names.clear();
        let node = match self.peek() {
            Token::Word("return") => {
                if self.functions == 0 {
                    return Err(self.unexpected("a statement"));
                }
                self.at += 1;
                let ends = matches!(self.peek(), Token::Line | Token::Word(";"));
                Act::Return(if ends { None } else { Some(self.exprs()?) })
            }
            Token::Word(word @ ("break" | "continue")) => {
                let node = if *word == "break" {
                    Act::Break
                } else {
                    Act::Continue
                };
                if self.loops == 0 {
                    return Err(self.unexpected("a statement"));
                }
                self.at += 1;
                node
            }
            Token::Word("pass") => {
                self.at += 1;
                Act::Pass
            }
            Token::Word("global") => {
                self.at += 1;
                loop {
                    let name = self.name()?;
                    self.globals.push(name);
                    if !self.eat(",") {
                        return Ok(None);
                    }
                }
            }
            _ => self.assignment()?,
        };
        Ok(Some(Statement {
            line,
            names: unique(std::mem::take(&mut self.names)),
            node,
        }))
    }

    fn assignment(&mut self) -> Parsed<Act> {
        let value = self.exprs()?;
        if self.eat("=") {
            let target = self.target(value)?;
            let value = self.exprs()?;
            if self.is("=") {
                return Err(self.error(Problem::Unsupported("a chain of assignments".to_owned())));
            }
            return Ok(Act::Assign(target, value));
        }
        for (word, operator) in [
            ("+=", "+"),
            ("-=", "-"),
            ("*=", "*"),
            ("/=", "/"),
            ("//=", "//"),
            ("%=", "%"),
        ] {
            if self.eat(word) {
                let target = self.target(value)?;
                if matches!(target, Target::Several(_)) {
                    return Err(self.unexpected("a statement"));
                }
                return Ok(Act::Augment(target, operator, self.exprs()?));
            }
        }
        Ok(Act::Expr(value))
    }

    /// Turns an expression into the target of an assignment.
    fn target(&self, expr: Expr) -> Parsed<Target> {
        Ok(match expr.node {
            Node::Name(name) => Target::Name(name),
            Node::Index(place) => Target::Index(place),
            Node::Field(object, name) => Target::Field(object, name),
            Node::List(items) => {
                let targets = items.into_iter().map(|item| self.target(item));
                Target::Several(targets.collect::<Parsed<_>>()?)
            }
            _ => return Err(self.unexpected("something that can be assigned to")),
        })
    }

    /// Parses the targets of a loop.
    fn targets(&mut self) -> Parsed<Target> {
        let first = self.postfix()?;
        let mut targets = vec![self.target(first)?];
        let mut several = false;
        while self.eat(",") {
            several = true;
            if self.is("in") {
                break;
            }
            let next = self.postfix()?;
            targets.push(self.target(next)?);
        }
        Ok(match (several, targets.pop()) {
            (false, Some(target)) => target,
            (_, last) => {
                targets.extend(last);
                Target::Several(targets)
            }
        })
    }

    /// Parses expressions separated by commas, which make a list.
    fn exprs(&mut self) -> Parsed<Expr> {
        let line = self.line();
        let first = self.expr()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat(",") {
            if matches!(
                self.peek(),
                Token::Line | Token::Word("=" | ")" | "]" | "}" | ":" | ";")
            ) {
                break;
            }
            items.push(self.expr()?);
        }
        Ok(Expr {
            line,
            node: Node::List(items),
        })
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(Parser::conditional)
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let line = self.line();
        if self.eat("lambda") {
            let parameters = self.parameters(":")?;
            self.expect(":", "':'")?;
            let body = |parser: &mut Parser| {
                let value = parser.expr()?;
                Ok(vec![Statement {
                    line,
                    names: Rc::new([]),
                    node: Act::Return(Some(value)),
                }])
            };
            let function = self.function("lambda".into(), parameters, body)?;
            return Ok(Expr {
                line,
                node: Node::Lambda(function),
            });
        }
        let value = self.or()?;
        if !self.eat("if") {
            return Ok(value);
        }
        let condition = self.or()?;
        self.expect("else", "'else'")?;
        let otherwise = self.expr()?;
        Ok(Expr {
            line,
            node: Node::If(Box::new((condition, value, otherwise))),
        })
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        let mut length = 0;
        while self.eat("or") {
            self.lengthen(&mut length)?;
            let line = left.line;
            let node = Node::Or(Box::new((left, self.and()?)));
            left = Expr { line, node };
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.not()?;
        let mut length = 0;
        while self.eat("and") {
            self.lengthen(&mut length)?;
            let line = left.line;
            let node = Node::And(Box::new((left, self.not()?)));
            left = Expr { line, node };
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Expr> {
        let line = self.line();
        if self.eat("not") {
            let node = Node::Not(Box::new(self.nested(Parser::not)?));
            return Ok(Expr { line, node });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let first = self.sum()?;
        let mut others = Vec::new();
        loop {
            let operator = match self.peek() {
                Token::Word(word @ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in")) => *word,
                Token::Word("is") => {
                    self.at += 1;
                    let not = self.eat("not");
                    others.push((if not { "!=" } else { "==" }, self.sum()?));
                    continue;
                }
                Token::Word("not") => "not in",
                _ => break,
            };
            self.at += 1;
            if operator == "not in" {
                self.expect("in", "'in'")?;
            }
            others.push((operator, self.sum()?));
        }
        if others.is_empty() {
            return Ok(first);
        }
        Ok(Expr {
            line: first.line,
            node: Node::Compare(Box::new(first), others),
        })
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.binary(&["+", "-", "|"], Parser::product)
    }

    fn product(&mut self) -> Parsed<Expr> {
        self.binary(&["*", "/", "//", "%"], Parser::sign)
    }

    fn binary(
        &mut self,
        operators: &'static [&'static str],
        operand: fn(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let mut left = operand(self)?;
        let mut length = 0;
        while let Some(operator) = operators.iter().find(|operator| self.is(operator)) {
            self.lengthen(&mut length)?;
            self.at += 1;
            let line = left.line;
            let node = Node::Binary(operator, Box::new((left, operand(self)?)));
            left = Expr { line, node };
        }
        Ok(left)
    }

    fn sign(&mut self) -> Parsed<Expr> {
        let line = self.line();
        if self.eat("-") {
            let node = match self.nested(Parser::sign)? {
                Expr {
                    node: Node::Int(number),
                    ..
                } => Node::Int(number.wrapping_neg()),
                value => Node::Negative(Box::new(value)),
            };
            return Ok(Expr { line, node });
        }
        if self.eat("+") {
            return self.nested(Parser::sign);
        }
        if self.is("**") {
            return Err(self.unexpected("an expression"));
        }
        let value = self.postfix()?;
        if self.is("**") {
            return Err(self.error(Problem::Unsupported("'**'".to_owned())));
        }
        Ok(value)
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut value = self.atom()?;
        let mut length = 0;
        loop {
            let line = self.line();
            self.lengthen(&mut length)?;
            let node = if self.eat(".") {
                Node::Field(Box::new(value), self.name()?)
            } else if self.eat("(") {
                let (positional, named) = self.arguments()?;
                Node::Call(Box::new(Call {
                    function: value,
                    positional,
                    named,
                }))
            } else if self.eat("[") {
                let start = match self.is(":") {
                    true => None,
                    false => Some(self.exprs()?),
                };
                if self.eat(":") {
                    let end = match self.is("]") {
                        true => None,
                        false => Some(self.expr()?),
                    };
                    self.expect("]", "']'")?;
                    Node::Slice(Box::new((value, start, end)))
                } else {
                    self.expect("]", "']'")?;
                    let Some(index) = start else {
                        return Err(self.unexpected("an index"));
                    };
                    Node::Index(Box::new((value, index)))
                }
            } else {
                return Ok(value);
            };
            value = Expr { line, node };
        }
    }

    fn arguments(&mut self) -> Parsed<(Vec<Expr>, NamedExprs)> {
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        while !self.is(")") {
            let is_named = matches!(self.tokens.get(self.at + 1), Some((_, Token::Word("="))));
            match self.peek().clone() {
                Token::Name(name) if is_named => {
                    self.at += 2;
                    named.push((name, self.expr()?));
                }
                _ => {
                    if !named.is_empty() {
                        return Err(self.unexpected("a named argument"));
                    }
                    let value = self.expr()?;
                    if self.is("for") {
                        let line = value.line;
                        let node = self.comprehension(None, value)?;
                        positional.push(Expr { line, node });
                    } else {
                        positional.push(value);
                    }
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "')'")?;
        Ok((positional, named))
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let line = self.line();
        let node = match self.peek().clone() {
            Token::Int(number) => Node::Int(number),
            Token::Float(number) => Node::Float(number),
            Token::Name(name) => {
                self.names.push(name.clone());
                Node::Name(name)
            }
            Token::Word("None") => Node::None,
            Token::Word("True") => Node::Bool(true),
            Token::Word("False") => Node::Bool(false),
            Token::Text(text) => {
                self.at += 1;
                // Strings side by side are one.
                let mut whole = text;
                while let Token::Text(more) = self.peek().clone() {
                    whole = format!("{whole}{more}").into();
                    self.at += 1;
                }
                return Ok(Expr {
                    line,
                    node: Node::Text(whole),
                });
            }
            Token::Format(parts) => {
                self.at += 1;
                let node = Node::Format(self.pieces(line, &parts)?);
                return Ok(Expr { line, node });
            }
            Token::Word("(") => {
                self.at += 1;
                if self.eat(")") {
                    let node = Node::List(Vec::new());
                    return Ok(Expr { line, node });
                }
                let value = self.exprs()?;
                if self.is("for") {
                    let node = self.comprehension(None, value)?;
                    self.expect(")", "')'")?;
                    return Ok(Expr { line, node });
                }
                self.expect(")", "')'")?;
                return Ok(value);
            }
            Token::Word("[") => {
                self.at += 1;
                let node = self.list()?;
                return Ok(Expr { line, node });
            }
            Token::Word("{") => {
                self.at += 1;
                let node = self.dict()?;
                return Ok(Expr { line, node });
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.at += 1;
        Ok(Expr { line, node })
    }

    fn list(&mut self) -> Parsed<Node> {
        let mut items = Vec::new();
        while !self.is("]") {
            let item = self.expr()?;
            if items.is_empty() && self.is("for") {
                let node = self.comprehension(None, item)?;
                self.expect("]", "']'")?;
                return Ok(node);
            }
            items.push(item);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]", "']'")?;
        Ok(Node::List(items))
    }

    fn dict(&mut self) -> Parsed<Node> {
        let mut entries = Vec::new();
        while !self.is("}") {
            let key = self.expr()?;
            self.expect(":", "':'")?;
            let value = self.expr()?;
            if entries.is_empty() && self.is("for") {
                let node = self.comprehension(Some(key), value)?;
                self.expect("}", "'}'")?;
                return Ok(node);
            }
            entries.push((key, value));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "'}'")?;
        Ok(Node::Dict(entries))
    }

    fn comprehension(&mut self, key: Option<Expr>, value: Expr) -> Parsed<Node> {
        let mut clauses = Vec::new();
        loop {
            if self.eat("for") {
                let target = self.targets()?;
                self.expect("in", "'in'")?;
                let items = self.or()?;
                clauses.push(Clause::For(target, items));
            } else if self.eat("if") {
                let condition = self.or()?;
                clauses.push(Clause::If(condition));
            } else {
                break;
            }
            if clauses.len() > 8 {
                return Err(self.error(Problem::TooNested));
            }
        }
        Ok(Node::Comprehension(Box::new(Comprehension {
            key,
            value,
            clauses,
        })))
    }

    /// Parses the expressions of a formatted string.
    fn pieces(&mut self, line: u32, parts: &[FormatPart]) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        for part in parts {
            let source = match part {
                FormatPart::Text(text) => {
                    pieces.push(Piece::Text(text.clone()));
                    continue;
                }
                FormatPart::Source(source) => source,
            };
            let found = tokens(source.trim()).map_err(|error| ScriptError { line, ..error })?;
            let mut inner = Parser {
                tokens: found.into_iter().map(|(_, token)| (line, token)).collect(),
                at: 0,
                depth: self.depth,
                loops: 0,
                functions: 0,
                names: Vec::new(),
                globals: Vec::new(),
            };
            let value = inner.expr()?;
            if !matches!(inner.peek(), Token::Line | Token::End) {
                return Err(inner.unexpected("'}'"));
            }
            self.names.append(&mut inner.names);
            pieces.push(Piece::Value(value));
        }
        Ok(pieces)
    }
}

/// Maximum number of names noted for a statement.
const MAX_NAMES: usize = 12;

/// Removes repeated names, and those beyond the maximum.
fn unique(names: Vec<Name>) -> Rc<[Name]> {
    let mut found: Vec<Name> = Vec::new();
    for name in names {
        if found.len() < MAX_NAMES && !found.contains(&name) {
            found.push(name);
        }
    }
    found.into()
}
