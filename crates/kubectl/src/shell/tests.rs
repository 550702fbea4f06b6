use crate::{Progress, Session};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;

/// Returns the output of terminal lines.
fn shown(sim: &mut Sim, text: &str) -> String {
    let mut session = Session::line(sim, text, usize::MAX);
    for _ in 0..100 {
        if session.poll(sim) == Progress::Done {
            break;
        }
        sim.advance(sim.now().after(100_000), usize::MAX);
    }
    session.stdout.clone() + &session.stderr
}

#[test]
fn lines_print_what_busybox_prints() {
    let mut cases: Vec<(String, String)> = Vec::new();
    for line in include_str!("lines.txt").lines() {
        match (line.get(..2), cases.last_mut()) {
            (Some("$ "), _) => cases.push((line[2..].to_owned(), String::new())),
            (Some("> "), Some((text, _))) => text.push_str(&format!("\n{}", &line[2..])),
            (Some("  "), Some((_, out))) => out.push_str(&format!("{}\n", &line[2..])),
            _ => {}
        }
    }
    assert!(cases.len() > 80);
    let mut different = String::new();
    for (text, expected) in cases {
        let found = shown(&mut Sim::new(ClusterConfig::default(), 1), &text);
        if found != expected {
            different.push_str(&format!("$ {text}\nbusybox:\n{expected}here:\n{found}\n"));
        }
    }
    assert!(different.is_empty(), "{different}");
}

#[test]
fn blocks_wait_and_read_from_pipes() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let before = sim.now();
    assert_eq!(
        shown(
            &mut sim,
            "printf 'a\\nb\\n' | while read x; do sleep 1; echo $x; done"
        ),
        "a\nb\n"
    );
    assert!(sim.now().0 - before.0 >= 2_000_000);
    shown(
        &mut sim,
        "for i in 1 2; do kubectl create configmap c$i; done",
    );
    assert_eq!(
        shown(
            &mut sim,
            "kubectl get cm -o name | grep /c | xargs kubectl delete | wc -l"
        ),
        "2\n"
    );
    assert_eq!(
        shown(
            &mut sim,
            "echo 1 > a.txt; echo 2 > b.txt; cat *.txt; echo *.yaml; for f in ?.txt; do echo ${f%.txt}; done"
        ),
        "1\n2\n*.yaml\na\nb\n"
    );
    assert_eq!(
        shown(
            &mut sim,
            "f() { echo $1; }; f x > out; cat out; { echo 1; echo 2; } > out; wc -l < out; v=1; { v=2; } > out; echo $v"
        ),
        "x\n2\n2\n"
    );
}

#[test]
fn hostile_scripts_end() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    for text in [
        "f() { f; }; f",
        "f() { f | f; }; f",
        "f() { x=$(f); }; f",
        "x=${x:-${x:-${x:-${x:-${x:-${x:-${x:-${x:-${x:-${x:-a}}}}}}}}}}",
        &format!("echo $(({}1))", "(".repeat(50_000)),
        &format!("echo $(({}1))", "-".repeat(50_000)),
        &format!("x={}; echo ${{x%%*b*c*d}} ${{x//a*b/}}", "a".repeat(60_000)),
        &format!("echo {}", "\"$(".repeat(50_000)),
        &"{ ".repeat(50_000),
        &format!("{}case x in", "case x in x) ".repeat(50_000)),
        "set -- a a; while true; do set -- \"$@\" \"$@\"; done",
        "while true; do eval 'eval true'; done",
        "printf '%1000000000d' 1 | wc -c",
        "printf '%4096d\\n' $(seq 1000) | wc -c",
        "seq 1000 | xargs -n1 xargs -n1 echo | wc -l",
        "case $(seq 1000) in *9*8*7*6*5*4*3*2*1*x) ;; esac; echo *********a",
    ] {
        let mut session = Session::line(&mut sim, text, usize::MAX);
        for _ in 0..50 {
            if session.poll(&mut sim) == Progress::Done {
                break;
            }
        }
        assert!(session.exit.is_some(), "{text:.60}");
        assert!(
            session.stdout.len() + session.stderr.len() < 8 << 20,
            "{text:.60}"
        );
    }
}

#[test]
fn parts_of_scripts_in_any_order_do_no_harm() {
    const PARTS: [&str; 64] = [
        "echo",
        " ",
        " ",
        " ",
        "$x",
        "${x",
        "}",
        "${#x}",
        "${x:-",
        "${x%",
        "${x/",
        "/",
        "$((",
        "))",
        "(",
        ")",
        "$(",
        "`",
        "\"",
        "'",
        "\\",
        "\n",
        ";",
        ";;",
        "|",
        "&&",
        "||",
        "&",
        "<<E\n",
        "\nE\n",
        "> f",
        "< f",
        ">&2",
        "2>&1",
        "case a in",
        "esac",
        "for x in",
        "do",
        "done",
        "while",
        "if",
        "then",
        "fi",
        "f()",
        "{",
        "}",
        "break 2",
        "return",
        "shift",
        "set --",
        "read x y",
        "sed -n '",
        "s/a*/&\\1/g",
        "grep -oE '",
        "(a|b*)+{2,}",
        "[[:alpha:]]",
        "tr a-z",
        "printf '%*d %s'",
        "test ( -a",
        "[ ! -n",
        "date -d",
        "x=1",
        "é*?",
        "-1+2*~!x++",
    ];
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let mut state = 1_u64;
    for _ in 0..6_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(PARTS[(state >> 33) as usize % PARTS.len()]);
        }
        let mut session = Session::line(&mut sim, &text, usize::MAX);
        session.poll(&mut sim);
        assert!(session.stdout.len() < 8 << 20, "{text}");
    }
    const TOOLS: [&str; 12] = [
        "grep -o", "grep -E", "grep -c", "sed", "sed -nE", "tr", "tr -cs", "printf", "date -d",
        "test", "cut -d", "xargs -I",
    ];
    const LETTERS: [char; 40] = [
        'a', 'b', 'é', '1', '2', '9', ' ', '\\', '(', ')', '[', ']', '{', '}', '*', '+', '?', '.',
        '^', '$', '|', '/', ',', ';', '!', 's', 'p', 'd', 'g', 'y', 'q', '%', '-', ':', '&', '=',
        'n', 'i', '\n', '@',
    ];
    for round in 0..12_000 {
        let mut words = String::new();
        for _ in 0..3 {
            words.push_str(" '");
            for _ in 0..round % 9 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                words.push(LETTERS[(state >> 33) as usize % LETTERS.len()]);
            }
            words.push('\'');
        }
        let text = format!(
            "printf 'aé b1\\n\\n2/9*a\\n' | {}{words}",
            TOOLS[round % TOOLS.len()]
        );
        let mut session = Session::line(&mut sim, &text, usize::MAX);
        session.poll(&mut sim);
        assert!(
            session.exit.is_some() && session.stdout.len() < 1 << 20,
            "{text}"
        );
    }
}
