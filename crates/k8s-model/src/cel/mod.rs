//! Expressions of `x-kubernetes-validations`: the part of CEL that rules of CustomResourceDefinitions commonly use.
//!
//! An expression is parsed once and evaluated on JSON. Unknown functions and operators are refused by name when a rule is parsed.
//! Models `github.com/google/cel-go` and `apiserver/pkg/cel/library`; types are those of the values, there are no durations,
//! timestamps, quantities, optional values.

mod eval;
mod functions;
mod parse;

use parse::CelExpr;
use serde_json::Value;

/// Parsed expression.
#[derive(Clone, Debug)]
pub struct Program {
    root: CelExpr,
}

impl Program {
    /// Parses an expression; the error names what is invalid or unknown.
    pub fn read(text: &str) -> Result<Program, String> {
        Ok(Program {
            root: parse::read(text)?,
        })
    }

    /// Returns true if the expression uses `oldSelf`.
    pub fn asks_old(&self) -> bool {
        self.root.names("oldSelf")
    }

    /// Evaluates the expression; errors are CEL's.
    pub fn ask(&self, this: &Value, old: Option<&Value>) -> Result<Value, String> {
        eval::evaluate(&self.root, this, old)
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
