//! Report of a check, as text for a person and as JUnit XML for a program.

use super::{Checked, Counterexample, Report};
use explain::words::Reason;
use scenario::{Expected, How};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Maximum number of reasons of a chain, and of faults, in the report.
const MOST_REASONS: usize = 14;
const MOST_FAULTS: usize = 20;

/// Formats an expectation: `never: ready(web) < 2`.
pub(crate) fn expectation(of: &Expected) -> String {
    match of.how {
        How::Finishes(span) => format!("finishes within {} s: {}", span as f64 / 1e6, of.text),
        how => format!("{}: {}", how.word(), of.text),
    }
}

fn title(one: &Checked) -> String {
    expectation(&one.expected)
}

fn runs(report: &Report) -> String {
    let (first, count) = (report.options.seed, report.options.seeds);
    let plural = if count == 1 { "run" } else { "runs" };
    format!(
        "{count} {plural}{}, seeds {first} to {}",
        match (report.options.faults, report.options.jitter) {
            (false, 0) => String::new(),
            (true, 0) => " with faults".to_owned(),
            (false, jitter) => format!(" with a jitter of {} ms", jitter as f64 / 1e3),
            (true, jitter) => format!(" with faults and a jitter of {} ms", jitter as f64 / 1e3),
        },
        first.saturating_add(count.max(1) - 1)
    )
}

/// Formats the number of distinct histories, and the run after which there was no new one.
fn histories(report: &Report) -> String {
    let of = &report.histories;
    match (of.distinct(), of.runs - of.last_new) {
        (1, 0) => "1 history".to_owned(),
        (1, _) if report.options.jitter > 0 => {
            "all with the same writes in the same order".to_owned()
        }
        (1, _) => "all with the same writes in the same order (--jitter 20ms varies it)".to_owned(),
        (distinct, 0) => format!("{distinct} distinct histories, the last run brought a new one"),
        (distinct, _) => format!(
            "{distinct} distinct histories, none new after run {}",
            of.last_new
        ),
    }
}

/// Formats the report as text.
pub fn text(report: &Report) -> String {
    let mut out = format!("{}: {}: {}\n", report.name, runs(report), histories(report));
    for one in &report.checked {
        let found = match one.violated {
            _ if one.is_vacuous() => "CANNOT BE DECIDED".to_owned(),
            0 => format!("no violation in {} runs", report.options.seeds),
            n => format!("VIOLATED in {n} of {} runs", report.options.seeds),
        };
        let _ = writeln!(out, "{found:<26} {}  ({})", title(one), one.location);
        if one.is_vacuous() {
            let _ = writeln!(
                out,
                "{:<26} note: no object that it names existed at any instant of any run",
                ""
            );
        }
        for call in &one.unknown {
            let _ = writeln!(
                out,
                "{:<26} note: {call} had no value at any instant of any run",
                ""
            );
        }
    }
    for (step, (said, runs)) in &report.failed {
        let _ = writeln!(
            out,
            "note: step {} failed in {runs} of {} runs: {said}",
            step + 1,
            report.options.seeds
        );
    }
    for (one, found) in report
        .checked
        .iter()
        .filter_map(|one| Some((one, one.first.as_ref()?)))
    {
        out += &format!("\n{}\n{}", title(one), counterexample(found));
    }
    out
}

fn counterexample(found: &Counterexample) -> String {
    let mut out = format!("  seed {}, at {}\n", found.seed, found.at.clock());
    for (call, value) in &found.values {
        let _ = writeln!(out, "  {call} = {value}");
    }
    section(&mut out, "the command said", found.output.iter().cloned());
    section(&mut out, "where they stand", found.standing.iter().cloned());
    section(
        &mut out,
        "how it came about, newest first",
        found.reasons.iter().take(MOST_REASONS).map(reason),
    );
    let left = found.faults.len().saturating_sub(MOST_FAULTS);
    let more = (left > 0).then(|| format!("and {left} before these"));
    let faults = found
        .faults
        .iter()
        .rev()
        .take(MOST_FAULTS)
        .map(|(at, line)| format!("{}  {line}", at.clock()));
    section(
        &mut out,
        "with these faults, newest first",
        faults.chain(more),
    );
    let _ = writeln!(out, "  index.html{}", found.link);
    out
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "  {title}:");
    }
    for line in lines {
        let _ = writeln!(out, "    {line}");
    }
}

fn reason(reason: &Reason) -> String {
    let clock = k8s_model::Time(reason.at * 1000).clock();
    let mut line = format!(
        "{clock}  {:<26} {}",
        reason.actor.english(),
        reason.effect.english()
    );
    let short = reason.short.english();
    if !short.is_empty() {
        let _ = write!(line, ": {short}");
    }
    let saw: Vec<String> = reason
        .saw
        .iter()
        .map(explain::why::row)
        .map(|(name, value)| format!("{} {}", name.english(), value.english()))
        .collect();
    if !saw.is_empty() {
        let _ = write!(line, " ({})", saw.join(", "));
    }
    line
}

/// Builds the report as JSON.
pub fn json(report: &Report) -> Value {
    let checked = report.checked.iter().map(|one| {
        let verdict = match one.violated {
            _ if one.is_vacuous() => "undecided",
            0 => "holds",
            _ => "violated",
        };
        json!({
            "expectation": title(one), "location": one.location, "verdict": verdict, "violated": one.violated, "unknown": one.unknown,
            "counterexample": one.first.as_ref().map(counterexample_json),
        })
    });
    let failed = report.failed.iter().map(
        |(step, (message, runs))| json!({ "step": step + 1, "message": message, "runs": runs }),
    );
    let histories = &report.histories;
    json!({
        "name": report.name, "seed": report.options.seed, "runs": report.options.seeds, "faults": report.options.faults, "jitter": report.options.jitter as f64 / 1e6,
        "histories": { "distinct": histories.distinct(), "lastNew": histories.last_new },
        "checked": checked.collect::<Vec<_>>(), "failed": failed.collect::<Vec<_>>(),
    })
}

fn counterexample_json(found: &Counterexample) -> Value {
    let values: Map<String, Value> = found
        .values
        .iter()
        .map(|(call, value)| (call.clone(), value.as_str().into()))
        .collect();
    let faults = found
        .faults
        .iter()
        .map(|(at, fault)| json!({ "seconds": at.seconds(), "fault": fault.to_string() }));
    let reasons = found.reasons.iter().map(|reason| {
        json!({ "seconds": reason.at as f64 / 1000.0, "actor": reason.actor.english(), "effect": reason.effect.english(), "reason": reason.short.english() })
    });
    json!({
        "seed": found.seed, "seconds": found.at.seconds(), "values": values, "output": found.output, "standing": found.standing,
        "reasons": reasons.collect::<Vec<_>>(), "faults": faults.collect::<Vec<_>>(), "link": found.link,
    })
}

/// Formats the report as JUnit XML.
pub fn junit(report: &Report) -> String {
    let failures = report.checked.iter().filter(|one| one.violated > 0).count();
    let errors = report.checked.iter().filter(|one| one.is_vacuous()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">\n",
        escaped(&report.name),
        report.checked.len()
    );
    for one in &report.checked {
        let head = format!(
            "  <testcase classname=\"{}\" name=\"{}\"",
            escaped(&report.name),
            escaped(&title(one))
        );
        match &one.first {
            None if one.is_vacuous() => {
                let message = format!(
                    "{}: no object that it names existed at any instant of any run",
                    one.location
                );
                out += &format!(
                    "{head}>\n    <error message=\"{}\"/>\n  </testcase>\n",
                    escaped(&message)
                );
            }
            None if one.violated == 0 => out += &format!("{head}/>\n"),
            found => {
                let message = format!(
                    "violated in {} of {} runs",
                    one.violated, report.options.seeds
                );
                let body = found.as_ref().map(counterexample).unwrap_or_default();
                out += &format!(
                    "{head}>\n    <failure message=\"{message}\">{}</failure>\n  </testcase>\n",
                    escaped(&body)
                );
            }
        }
    }
    out + "</testsuite>\n"
}

/// Escapes text for XML and HTML; characters not allowed in XML are left out.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
