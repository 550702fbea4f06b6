//! Expressions of `x-kubernetes-validations`, of admission policies and match conditions: the part of CEL that they commonly use.
//!
//! An expression is parsed and checked once, and evaluated on JSON. A rule of a definition may call only what is evaluated here; unknown
//! functions are refused by name. Expressions of admission are only checked.
//! Models `github.com/google/cel-go` and `apiserver/pkg/cel/library`; values of a rule have the types of JSON, there are no timestamps,
//! quantities, optional values.
//!
//! Why by hand: the `cel` crate with `kube-cel` adds 361 kB (compressed) to the page, a fifth of it, and bounds neither the cost nor the
//! memory of an expression. It is the reference in `tests/fuzz/cel.rs`.

mod check;
mod eval;
mod functions;
mod library;
mod parse;
mod types;

pub use check::Environment;
use check::Functions;
use parse::CelExpr;
pub use parse::is_identifier;
use serde_json::Value;
pub use types::{AUTHORIZER, CelType, NAMESPACE, REQUEST, VARIABLES};

/// Parses and checks an expression that may call every function of Kubernetes; returns its type.
///
/// # Errors
/// The issues of `cel-go` with their lines.
pub fn compile(text: &str, environment: &Environment) -> Result<CelType, String> {
    let root = parse::read(text).map_err(|issue| parse::render(text, &[issue]))?;
    check::check(&root, environment.clone(), Functions::Declared)
        .map_err(|issues| parse::render(text, &issues))
}

/// Parsed expression.
#[derive(Clone, Debug)]
pub struct Program {
    root: CelExpr,
}

impl Program {
    /// Parses an expression; the error names what is invalid or unknown.
    pub fn read(text: &str) -> Result<Program, String> {
        Program::with_type(text, CelType::Dyn)
    }

    /// Parses an expression about values of a type.
    ///
    /// # Errors
    /// What is invalid or unknown, or does not take the type.
    pub fn with_type(text: &str, kind: CelType) -> Result<Program, String> {
        let environment = Environment::default()
            .declare("self", kind.clone())
            .declare("oldSelf", kind);
        Program::in_environment(text, environment)
    }

    /// Parses an expression over the variables of an environment.
    ///
    /// # Errors
    /// Its first problem: it is invalid, or names something unknown or not evaluated here.
    pub fn in_environment(text: &str, environment: Environment) -> Result<Program, String> {
        let root = parse::read(text).map_err(|issue| parse::render(text, &[issue]))?;
        check::check(&root, environment, Functions::Evaluated)
            .map_err(|issues| parse::render(text, &issues))?;
        Ok(Program { root })
    }

    /// Evaluates the expression with variables by name; errors are CEL's.
    pub fn evaluate(&self, variables: &[(&str, &Value)]) -> Result<Value, String> {
        eval::evaluate(&self.root, variables)
    }

    /// Returns true if the expression uses `oldSelf`.
    pub fn asks_old(&self) -> bool {
        self.root.names("oldSelf")
    }

    /// Evaluates the expression; errors are CEL's.
    pub fn ask(&self, this: &Value, old: Option<&Value>) -> Result<Value, String> {
        let old = old.map(|old| ("oldSelf", old));
        let variables: Vec<_> = [("self", this)].into_iter().chain(old).collect();
        self.evaluate(&variables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rules_are_answered() {
        let this = json!({"crew": 3, "length": 12, "name": "anna", "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 443}],
            "tags": {"x": "1"}, "ratio": 0.5, "list": ["b", "a"], "namespace": "n"});
        let yes = [
            "!has(self.sail) || self.sail <= self.length",
            "self.crew <= self.length && self.name.startsWith('an')",
            "self.ports.all(p, p.port > 0 && p.port < 65536)",
            "self.ports.exists(p, p.name == \"b\") && self.ports.exists_one(p, p.port == 80)",
            "self.ports.map(p, p.name) == ['a', 'b'] && self.ports.filter(p, p.port > 100).size() == 1",
            "self.name.matches('^[a-z]+$') && !(self.name in ['x', 'y'])",
            "'x' in self.tags && self.tags['x'] == '1' && self.tags.all(k, k == 'x')",
            "self.crew == 3 ? self.length > 10 : false",
            "size(self.name) == 4 && self.crew + 2 * 3 - 1 == 8 && -7 / 2 == -3 && 7 % 4 == 3",
            "self.list.isSorted() == false && self.ratio < 1.0 && self.ratio < 1",
            "self.name.upperAscii() == 'ANNA' && 'a,b'.split(',').join('-') == 'a-b' && self.__namespace__ == 'n'",
            "self.nothing == 1 || true",
            "string(self.crew) + 'x' == '3x' && int('4') == 4 && self.list.max() == 'b' && [1, 2].sum() == 3",
            "self.name.contains('nn') && self.name.substring(1, 3) == 'nn' && self.name.replace('n', 'm') == 'amma'",
            "self.name.matches(r\"\"\"^[a\"n]+$\"\"\") && \"\"\"a'b\"c\"\"\".size() == 5 && '' == \"\"",
            "duration('1h30m') > duration('100ms') && duration('60s') == duration('1m')",
            "{'a': 1}['a'] == 1 && [[1]][0][0] == 1 && null == null",
        ];
        for rule in yes {
            assert_eq!(
                Program::read(rule).and_then(|rule| rule.ask(&this, None)),
                Ok(json!(true)),
                "{rule}"
            );
        }
        let old = json!({"crew": 4});
        let kept = Program::read("self.crew >= oldSelf.crew").unwrap();
        assert!(kept.asks_old());
        assert_eq!(kept.ask(&this, Some(&old)), Ok(json!(false)));
    }

    #[test]
    fn admission_expressions_compile_with_their_types() {
        let mut environment = Environment::default()
            .declare("object", CelType::Dyn)
            .declare("request", REQUEST)
            .declare("namespaceObject", NAMESPACE)
            .declare("authorizer", AUTHORIZER)
            .declare("variables", VARIABLES);
        environment.compose("a", CelType::String);
        let kind = |text: &str| compile(text, &environment).map(|kind| kind.to_string());
        for text in [
            "authorizer.group('').resource('pods').check('get').allowed()",
            "object.?spec.?replicas.orValue(1) < 5 // a comment",
            "quantity('1Gi').isGreaterThan(quantity('1Mi')) && ip('1.2.3.4').family() == 4",
            "cel.bind(x, object.spec, x.a == 1) && sets.contains([1], [1])",
            "object.metadata.labels[?'a'].optMap(v, v == 'b').orValue(false)",
            "request.userInfo.groups.exists(g, g == 'system:masters')",
            "namespaceObject.metadata.labels['a'] == variables.a",
            "object.metadata.labels.all(k, v, k != '' && v != '')",
            "object.list.exists(i, v, i > 1 && v == 'a')",
            "object.list.transformList(i, v, v).size() > 0",
            "object.list.sortBy(e, e.n)[0].n == 1",
            "[?object.?a, 1].size() > 0 && {?'k': object.?a}.size() == 0",
            "b'abc' == bytes('abc') && .5 < 1e-3 + 1E+2",
            "1u + uint(object.x) > 3u",
        ] {
            assert_eq!(kind(text).as_deref(), Ok("bool"), "{text}");
        }
        for (text, expected) in [
            ("object.spec", "dyn"),
            ("'x' + string(object.a)", "string"),
            ("1", "int"),
            ("request.userInfo.groups", "list(string)"),
        ] {
            assert_eq!(kind(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, at, message) in [
            (
                "foo.bar",
                1,
                "undeclared reference to 'foo' (in container '')",
            ),
            ("request.foo == 1", 8, "undefined field 'foo'"),
            (
                "object.a.exists(i, v, w > 1)",
                23,
                "undeclared reference to 'w' (in container '')",
            ),
            (
                "authorizer.foo()",
                15,
                "undeclared reference to 'foo' (in container '')",
            ),
            (
                "variables.a > 1",
                13,
                "found no matching overload for '_>_' applied to '(string, int)'",
            ),
            (
                "object.",
                8,
                "Syntax error: no viable alternative at input '.'",
            ),
        ] {
            let dots = ".".repeat(at - 1);
            let expected = format!("ERROR: <input>:1:{at}: {message}\n | {text}\n | {dots}^");
            assert_eq!(kind(text), Err(expected));
        }
        let open = kind("bad(").unwrap_err();
        assert!(open.starts_with("ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.',"));
        let cut = kind("1 +\n").unwrap_err();
        assert!(cut.contains(
            ":2:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.',"
        ));
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        let wrong = |rule: &str| Program::read(rule).unwrap_err();
        assert!(wrong("quantity(self.a).isLessThan(quantity('1'))").contains("'quantity'"));
        assert!(wrong("self.a == other").contains("'other'"));
        assert!(wrong("self.a ==").contains("Syntax error"));
        let missing = Program::read("self.a > 1").unwrap().ask(&json!({}), None);
        assert_eq!(missing, Err("no such key: a".to_owned()));
        let long =
            Program::read("self.all(a, self.all(b, self.all(c, self.all(d, a == a))))").unwrap();
        let many: Vec<u32> = (0..100).collect();
        assert!(long.ask(&json!(many), None).is_err());
        // A rule must exhaust neither memory nor the stack.
        let doubled = Program::read(&format!(
            "['xxxxxxxx']{}.size() > 0",
            ".map(a, a + a)".repeat(40)
        ))
        .unwrap();
        assert!(
            doubled
                .ask(&json!({}), None)
                .unwrap_err()
                .contains("cost limit")
        );
        let lists =
            Program::read(&format!("[[1]]{}.size() > 0", ".map(a, a + a)".repeat(40))).unwrap();
        assert!(
            lists
                .ask(&json!({}), None)
                .unwrap_err()
                .contains("cost limit")
        );
        assert!(Program::read(&["1"; 10_000].join("+")).is_err());
        assert!(Program::read(&["true"; 150].join(" && ")).is_ok());
    }
}
