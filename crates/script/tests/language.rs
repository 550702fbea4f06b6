//! Programs against a host that keeps what it is asked.

use script::{
    Failure, Host, HostCall, Input, Limits, Memory, Outcome, Problem, Program, Reply, Style,
};
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    steps: 100_000,
    memory: 8 << 20,
};

/// Host that answers `get` with a fixed object, and keeps the arguments of `log` and the sites of writes.
#[derive(Default)]
struct Recorder {
    logged: Vec<Value>,
    sites: Vec<(u32, Vec<(String, String)>)>,
}

impl Host for Recorder {
    fn call(&mut self, call: &HostCall<'_>) -> Result<Reply, String> {
        match call.function.name {
            "log" => {
                self.logged.push(call.arguments["message"].clone());
                Ok(Reply::Json(Value::Null))
            }
            "get" => Ok(Reply::Json(json!({
                "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 3}
            }))),
            "update" => Ok(Reply::Failure(Failure {
                reason: "conflict",
                message: "changed".to_owned(),
            })),
            _ if call.function.writes => {
                self.sites.push((call.site.line, call.site.values.clone()));
                Ok(Reply::Json(
                    call.arguments.get("object").cloned().unwrap_or(Value::Null),
                ))
            }
            name => Err(format!("{name} is not known")),
        }
    }
}

fn key() -> Input {
    Input::Key {
        namespace: "default".to_owned(),
        name: "web".to_owned(),
    }
}

fn run_with(source: &str, host: &mut Recorder) -> Outcome {
    let program = Program::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    program.run(&key(), &mut Memory::default(), LIMITS, host)
}

/// Values that the body of `reconcile` logs.
fn logged(body: &str) -> Vec<Value> {
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let mut host = Recorder::default();
    let outcome = run_with(&format!("def reconcile(key):\n{indented}"), &mut host);
    outcome
        .result
        .unwrap_or_else(|error| panic!("{error}\n{body}"));
    host.logged
}

fn problem(body: &str) -> (u32, Problem) {
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let source = format!("def reconcile(key):\n{indented}");
    let error = match Program::parse(&source) {
        Err(error) => error,
        Ok(_) => run_with(&source, &mut Recorder::default())
            .result
            .unwrap_err(),
    };
    (error.line, error.problem)
}

#[test]
fn expressions_have_pythons_values() {
    for (source, value) in [
        ("1 + 2 * 3", json!(7)),
        ("7 // 2", json!(3)),
        ("-7 // 2", json!(-4)),
        ("7 // -2", json!(-4)),
        ("-7 % 3", json!(2)),
        ("7 % -3", json!(-2)),
        ("7 / 2", json!(3.5)),
        ("1 < 2 < 3", json!(true)),
        ("3 if False else 4", json!(4)),
        ("not 0 and 'x' or 'y'", json!("x")),
        ("[n * n for n in range(5) if n % 2 == 0]", json!([0, 4, 16])),
        ("{k: len(k) for k in ['a', 'bb']}", json!({"a": 1, "bb": 2})),
        ("sum([x for a in [[1, 2], [3]] for x in a])", json!(6)),
        (
            "sorted(['b', 'a', 'c'], reverse=True)",
            json!(["c", "b", "a"]),
        ),
        ("sorted([3, 1, 2], key=lambda n: -n)", json!([3, 2, 1])),
        ("max(1, 5, 3) + min([4, 2])", json!(7)),
        ("'a-b-c'.split('-')[-1]", json!("c")),
        ("'a-b-c'.rsplit('-', 1)", json!(["a-b", "c"])),
        ("'-'.join([str(n) for n in [1, 2]])", json!("1-2")),
        ("f\"{key.name}-{1 + 1}!\"", json!("web-2!")),
        (
            "'x' in {'x': 1} and 'b' in 'abc' and 2 not in [1]",
            json!(true),
        ),
        ("[1, 2, 3, 4][1:-1]", json!([2, 3])),
        ("'hello'[:2] + 'hello'[3:]", json!("helo")),
        ("{'a': 1}.missing is None", json!(true)),
        ("{'a': 1}.get('b', 5)", json!(5)),
        ("str(key)", json!("default/web")),
        ("str([1, 'a', None, True])", json!("[1, \"a\", None, True]")),
        ("{'a': 1} | {'b': 2}", json!({"a": 1, "b": 2})),
        ("[a + b for a, b in zip([1, 2], [10, 20])]", json!([11, 22])),
        (
            "diff({'spec': {'replicas': 3}}, {'spec': {'replicas': 2, 'paused': True}})",
            json!(["spec.replicas: 2 != 3"]),
        ),
        ("diff({'a': [1, 2]}, {'a': [1, 2], 'b': 1})", json!([])),
        ("int('12') + int(3.9)", json!(15)),
        ("any([0, 1]) and not all([0, 1])", json!(true)),
    ] {
        assert_eq!(logged(&format!("log({source})")), [value], "{source}");
    }
}

#[test]
fn statements_run_as_in_python() {
    let body = "total = 0
for i, n in enumerate([5, 6, 7]):
    if i == 1:
        continue
    total += n
while True:
    total -= 1
    if total < 10: break
a, b = total, 2
a, b = b, a
def twice(x, times=2):
    return x * times
squares = {}
squares['three'] = 9
squares.four = 16
log([total, a, b, twice(4), twice(4, times=3), squares.three + squares['four']])";
    assert_eq!(logged(body), [json!([9, 2, 9, 8, 12, 25])]);
}

#[test]
fn print_is_a_line_of_the_log() {
    assert_eq!(logged("print('a', 1, key)"), [json!("a 1 default/web")]);
}

#[test]
fn lists_are_shared_and_not_copied() {
    assert_eq!(
        logged("a = [1]\nb = a\nb.append(2)\nlog(a)"),
        [json!([1, 2])]
    );
}

#[test]
fn program_without_a_valid_line_is_refused_with_its_line() {
    let refused = |source: &str| Program::parse(source).unwrap_err().to_string();
    let found = [
        refused("def reconcile(key):\n    if True\n        pass\n"),
        refused("def reconcile(key):\n    x = (1,\n"),
        refused("def reconcile(key):\n    return replcas\n"),
        refused("def other(key):\n    pass\n"),
        refused("def reconcile(key):\n    pass\n\ndef on_event(event):\n    pass\n"),
        refused("def reconcile():\n    pass\n"),
        refused("import os\n"),
        refused("def reconcile(key):\n    pass\n  pass\n"),
        refused("def reconcile(key):\n    x = 'abc\n"),
        refused("def reconcile(key):\n    break\n"),
        refused("def reconcile(key):\n    get('Pod')\n"),
        refused("def reconcile(key):\n    list('Pod', labls={})\n"),
        refused("def reconcile(key):\n    double(1, 2)\n\ndef double(x):\n    return x\n"),
        refused("def reconcile(key):\n    len()\n"),
    ];
    assert_eq!(
        found,
        [
            "line 2: expected ':', found the end of the line",
            "line 3: expected ')', found the end of the line",
            "line 2: name 'replcas' is not defined",
            "line 1: the program defines neither reconcile(key) nor on_event(event)",
            "line 4: the program defines both reconcile(key) and on_event(event)",
            "line 1: reconcile takes one parameter",
            "line 1: 'import' is not part of the language",
            "line 3: the indentation fits no block",
            "line 2: the string has no end",
            "line 2: expected a statement, found 'break'",
            "line 2: get: argument 'name' is missing",
            "line 2: list: argument 'labls' is not expected",
            "line 2: double: takes 1 arguments, not 2",
            "line 2: len: argument 'value' is missing",
        ]
    );
}

#[test]
fn call_of_a_name_with_another_meaning_is_not_checked() {
    for source in [
        "def reconcile(key):\n    get = lambda: 1\n    get()\n",
        "def len():\n    return 1\n\ndef reconcile(key):\n    len()\n",
        "def f(x):\n    return x\n\nf = lambda: 1\n\ndef reconcile(key):\n    f()\n",
        "def reconcile(key):\n    max(1, 2, 3)\n    print()\n    sorted([], key=lambda x: x)\n",
    ] {
        assert!(Program::parse(source).is_ok(), "{source}");
    }
}

#[test]
fn failing_pass_ends_with_its_line() {
    assert_eq!(problem("x = 1\nlog(x.name)").0, 3);
    assert_eq!(
        problem("x = [1]\nlog(x[4])"),
        (3, Problem::NoItem("4".to_owned()))
    );
    assert_eq!(
        problem("fail('no luck')"),
        (2, Problem::Failed("no luck".to_owned()))
    );
    assert_eq!(
        problem("log(9223372036854775807 + 1)"),
        (2, Problem::Overflow)
    );
    assert_eq!(problem("log(1 // 0)"), (2, Problem::DivisionByZero));
    assert_eq!(problem("check(update(get('Pod', key)))").0, 2);
}

#[test]
fn pass_that_does_not_end_is_stopped_with_its_line() {
    assert_eq!(
        problem("x = 0\nwhile True:\n    x += 1").1,
        Problem::Steps(100_000)
    );
    assert_eq!(problem("while True: pass").0, 2);
    assert!(matches!(
        problem("log(range(10000000000))").1,
        Problem::Memory(_)
    ));
    assert!(matches!(
        problem("x = 'ab'\nfor i in range(100): x = x + x").1,
        Problem::Memory(_)
    ));
    assert!(matches!(
        problem("log('x' * 9223372036854775807)").1,
        Problem::Memory(_)
    ));
    assert!(matches!(
        problem("log([0] * 9223372036854775807)").1,
        Problem::Memory(_)
    ));
    assert_eq!(
        problem("def f(n):\n    return f(n + 1)\nf(0)"),
        (3, Problem::Depth)
    );
    assert_eq!(problem("a = []\na.append(a)\nlog(a)").1, Problem::Depth);
    assert_eq!(
        problem("a = []\na.append(a)\nlog(str(a))").1,
        Problem::Depth
    );
    assert_eq!(
        problem("a = []\na.append(a)\nb = []\nb.append(b)\nlog(a == b)").1,
        Problem::Depth
    );
}

#[test]
fn deeply_nested_text_is_refused() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("not ", ""),
        ("x.", "x"),
        ("1+", "1"),
        ("1 or ", "1"),
        ("lambda: ", "1"),
        ("1 if 1 else ", "1"),
        ("{1:", "}"),
    ] {
        let source = format!(
            "def reconcile(key):\n    x = {}{}\n",
            open.repeat(5_000),
            close.repeat(5_000)
        );
        assert!(Program::parse(&source).is_err(), "{open}");
    }
    let deep: String = (0..500)
        .map(|i| format!("{}if 1:\n", " ".repeat(i)))
        .collect();
    assert!(Program::parse(&deep).is_err());
}

#[test]
fn failure_of_a_request_is_a_value() {
    let body = "rs = get('ReplicaSet', key)
result = update(rs)
if is_error(result) and not result:
    log(result.reason)";
    assert_eq!(logged(body), [json!("conflict")]);
    let mut host = Recorder::default();
    let outcome = run_with(
        "def reconcile(key):\n    return update(get('Pod', key))\n",
        &mut host,
    );
    assert_eq!(outcome.result.unwrap().unwrap().reason, "conflict");
    // A failure that is used as an object ends the pass.
    assert!(matches!(
        problem("log(update(get('Pod', key)).spec)").1,
        Problem::Unchecked {
            reason: "conflict",
            ..
        }
    ));
}

#[test]
fn write_knows_its_line_and_the_values_that_led_to_it() {
    let mut host = Recorder::default();
    let source = "def reconcile(key):
    rs = get('ReplicaSet', key)
    have = 1
    while have < rs.spec.replicas:
        have += 1
        create({'kind': 'Pod', 'metadata': {'name': f'{key.name}-{have}'}})
";
    run_with(source, &mut host).result.unwrap();
    let names = |values: &[(&str, &str)]| -> Vec<(String, String)> {
        values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    assert_eq!(
        host.sites,
        [
            (
                6,
                names(&[
                    ("key", "default/web"),
                    ("have", "2"),
                    ("rs", "ReplicaSet/web")
                ])
            ),
            (
                6,
                names(&[
                    ("key", "default/web"),
                    ("have", "3"),
                    ("rs", "ReplicaSet/web")
                ])
            ),
        ]
    );
}

#[test]
fn event_program_keeps_its_variables_and_a_reconciling_one_does_not() {
    let edge = "seen = {}
def on_event(event):
    seen[event.object.metadata.name] = seen.get(event.object.metadata.name, 0) + 1
    log(seen)
";
    struct Pod;
    impl script::ToJson for Pod {
        fn to_json(&self) -> Value {
            json!({"metadata": {"name": "a"}})
        }
    }
    let event = || Input::Event {
        kind: "ADDED",
        object: std::rc::Rc::new(Pod),
        before: None,
        initial: false,
    };
    let program = Program::parse(edge).unwrap();
    assert_eq!(program.style(), Style::Edge);
    let (mut memory, mut host) = (Memory::default(), Recorder::default());
    for _ in 0..2 {
        program
            .run(&event(), &mut memory, LIMITS, &mut host)
            .result
            .unwrap();
    }
    assert_eq!(host.logged, [json!({"a": 1}), json!({"a": 2})]);
    let level = "seen = []\ndef reconcile(key):\n    seen.append(key.name)\n    log(seen)\n";
    let program = Program::parse(level).unwrap();
    let (mut memory, mut host) = (Memory::default(), Recorder::default());
    for _ in 0..2 {
        program
            .run(&key(), &mut memory, LIMITS, &mut host)
            .result
            .unwrap();
    }
    assert_eq!(host.logged, [json!(["web"]), json!(["web"])]);
    assert_eq!(memory, Memory::default());
}

#[test]
fn helpers_edit_metadata() {
    let body = "rs = get('ReplicaSet', key)
rs.metadata.uid = 'u'
rs.apiVersion = 'apps/v1'
pod = set_owner({'kind': 'Pod'}, rs)
log(pod.metadata.ownerReferences[0].name)
log([add_finalizer(pod, 'x'), add_finalizer(pod, 'x'), has_finalizer(pod, 'x'), remove_finalizer(pod, 'x'), pod.metadata.finalizers])";
    assert_eq!(
        logged(body),
        [json!("web"), json!([true, false, true, true, []])]
    );
}

#[test]
fn trace_has_each_line_with_the_variables_after_it() {
    let program = Program::parse("def reconcile(key):\n    x = 1\n    x = x + 1\n").unwrap();
    let outcome = program.trace(
        &key(),
        &mut Memory::default(),
        LIMITS,
        &mut Recorder::default(),
    );
    let lines: Vec<_> = outcome
        .trace
        .iter()
        .map(|step| (step.line, step.values.last().unwrap().1.as_str()))
        .collect();
    assert_eq!(lines, [(2, "1"), (3, "2")]);
}

#[test]
fn trace_has_a_line_that_begins_a_block_before_the_block() {
    let source = "def reconcile(key):
    for n in range(2):
        if n == 5:
            pass
        elif n:
            n = 7
    while n < 8:
        n += 1
    for n in []:
        pass
";
    let program = Program::parse(source).unwrap();
    let host = &mut Recorder::default();
    let outcome = program.trace(&key(), &mut Memory::default(), LIMITS, host);
    let lines: Vec<u32> = outcome.trace.iter().map(|step| step.line).collect();
    assert_eq!(lines, [2, 3, 5, 2, 3, 5, 6, 7, 8, 7, 9]);
    assert!(lines.iter().all(|line| outcome.lines.contains(*line)));
    assert!(!outcome.lines.contains(4) && !outcome.lines.contains(10));
}

/// Any text ends in a program or an error, and any program in time: texts are made of pieces of the language.
#[test]
fn random_programs_end() {
    const PIECES: &[&str] = &[
        "def reconcile(key):\n",
        "    ",
        "        ",
        "\n",
        "x",
        "y",
        " = ",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        ".",
        "1",
        "'a'",
        "f'{x}'",
        "for x in ",
        "while ",
        "if ",
        "else:\n",
        "elif ",
        "return ",
        "lambda x: ",
        " + ",
        " - ",
        " * ",
        " // ",
        " % ",
        " in ",
        " not ",
        " and ",
        " or ",
        "range(",
        "len(",
        "x.append(x)\n",
        "get('Pod', key)",
        "list('Pod')",
        "create(x)\n",
        "sorted(",
        "    x = []\n",
        "    y = {}\n",
        "    x = x + x\n",
        "    for y in range(99999):\n        x.append(y)\n",
        "str(",
        "x[",
        "x[0:1]",
        "-",
        "9223372036854775807",
        "    y['a'] = y\n",
        "None",
        "True",
        "def f(a, b=1):\n",
        "    while True:\n        ",
        "break",
        "continue",
        "'",
        "\"\"\"",
        "\\",
        "#",
        "\t",
        "é",
    ];
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let limits = Limits {
        steps: 2_000,
        memory: 1 << 18,
    };
    let mut ran = 0;
    for _ in 0..20_000 {
        let mut source = "def reconcile(key):\n    x = []\n    y = {}\n    ".to_owned();
        for _ in 0..random(14) {
            source.push_str(PIECES[random(PIECES.len())]);
        }
        if let Ok(program) = Program::parse(&source) {
            ran += 1;
            let outcome = program.run(
                &key(),
                &mut Memory::default(),
                limits,
                &mut Recorder::default(),
            );
            assert!(outcome.steps <= limits.steps + 100, "{source}");
        }
    }
    assert!(ran > 100, "{ran}");
}
