//! Repairs of refused manifests: an edit of a few lines that a person can accept.

use i18n::{Message, msg};
use k8s_model::kind::{self, api_group};

/// Edit that would let a manifest through.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// First line replaced, from 1.
    pub line: usize,
    /// Lines replaced, without the last line break.
    pub old: String,
    /// Lines in their place.
    pub new: String,
    /// Reason, in the reader's language.
    pub reason: Message,
    /// Edit, as its button names it.
    pub offer: Message,
}

/// Length of a text in bytes up to which repairs of its syntax are looked for.
const MAX_SYNTAX: usize = 100_000;

/// Group versions that Kubernetes has stopped serving, with the kinds concerned (all if none is named) and the release: the deprecation guide
/// of API versions.
const REMOVED: &[(&str, &[&str], &str)] = &[
    ("extensions/v1beta1", &["Ingress"], "1.22"),
    ("extensions/v1beta1", &[], "1.16"),
    ("apps/v1beta1", &[], "1.16"),
    ("apps/v1beta2", &[], "1.16"),
    (
        "admissionregistration.k8s.io/v1beta1",
        &[
            "ValidatingWebhookConfiguration",
            "MutatingWebhookConfiguration",
        ],
        "1.22",
    ),
    ("apiextensions.k8s.io/v1beta1", &[], "1.22"),
    (
        "certificates.k8s.io/v1beta1",
        &["CertificateSigningRequest"],
        "1.22",
    ),
    ("coordination.k8s.io/v1beta1", &["Lease"], "1.22"),
    (
        "networking.k8s.io/v1beta1",
        &["Ingress", "IngressClass"],
        "1.22",
    ),
    ("rbac.authorization.k8s.io/v1beta1", &[], "1.22"),
    ("scheduling.k8s.io/v1beta1", &[], "1.22"),
    ("storage.k8s.io/v1beta1", &["CSIStorageCapacity"], "1.27"),
    (
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        "1.22",
    ),
    ("batch/v1beta1", &[], "1.25"),
    ("discovery.k8s.io/v1beta1", &[], "1.25"),
    ("events.k8s.io/v1beta1", &[], "1.25"),
    ("autoscaling/v2beta1", &[], "1.25"),
    ("policy/v1beta1", &[], "1.25"),
    ("node.k8s.io/v1beta1", &[], "1.25"),
    ("autoscaling/v2beta2", &[], "1.26"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", &[], "1.26"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", &[], "1.29"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", &[], "1.32"),
];

impl Repair {
    /// Returns a text with the edit; `None` if the lines are not there any more.
    pub fn apply(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.split('\n').collect();
        let first = self.line.checked_sub(1)?;
        let count = self.old.split('\n').count();
        let old = lines.get(first..first + count)?;
        if old.join("\n") != self.old {
            return None;
        }
        let new = [
            &lines[..first],
            &[self.new.as_str()],
            &lines[first + count..],
        ];
        Some(new.concat().join("\n"))
    }

    /// Repair of an object whose kind is defined by now: its text is applied again as it is.
    pub fn again(text: &str, line: usize, kind: &str) -> Option<Repair> {
        let line_text = text.split('\n').nth(line.checked_sub(1)?)?;
        Some(Repair {
            line,
            old: line_text.to_owned(),
            new: line_text.to_owned(),
            reason: msg::repair_established(kind),
            offer: msg::repair_again(),
        })
    }

    /// Repair of a misspelt field: the known field in place of the columns of a line, in characters from 0.
    pub fn field(text: &str, line: usize, columns: (usize, usize), name: &str) -> Option<Repair> {
        let old = text.split('\n').nth(line.checked_sub(1)?)?;
        let head = old.chars().take(columns.0);
        let tail = old.chars().skip(columns.1);
        Some(Repair {
            line,
            new: head.chain(name.chars()).chain(tail).collect(),
            old: old.to_owned(),
            reason: msg::repair_field(),
            offer: Message::name(name),
        })
    }

    /// Repair of a text that is no YAML, by the line of the error: a comment without `#` after a quoted value, or a block that is indented
    /// further than the key before it. Only what lets the text parse further is offered.
    pub fn syntax(text: &str, line: usize) -> Option<Repair> {
        if text.len() > MAX_SYNTAX {
            return None;
        }
        let lines: Vec<&str> = text.split('\n').collect();
        // The parser may notice an error a line late, or name the line before.
        let near = [line, line.saturating_sub(1), line + 1];
        let near = near
            .into_iter()
            .filter(|line| (1..=lines.len()).contains(line));
        let candidates =
            near.flat_map(|line| [commented(&lines, line - 1), outdented(&lines, line - 1)]);
        let before = errors(text);
        candidates.flatten().find(|repair| {
            let after = repair.apply(text).map(|text| errors(&text));
            after.is_some_and(|after| is_further(&after, &before))
        })
    }

    /// Repair of an `apiVersion` that the API server does not serve for a kind that it serves in another.
    pub fn version(text: &str, line: usize, version: &str, kind: &str) -> Option<Repair> {
        let group = api_group(version);
        let removed = REMOVED.iter().find(|(removed, kinds, _)| {
            *removed == version && (kinds.is_empty() || kinds.contains(&kind))
        });
        // A kind of another project may have the name of a built-in one.
        let is_own = removed.is_some() || !group.contains('.') || group.ends_with(".k8s.io");
        let named = || kind::all().filter(|known| known.name() == kind);
        let served = named().find(|known| known.info().group == group);
        let served = served
            .or_else(|| named().next().filter(|_| is_own))?
            .api_version();
        if served == version {
            return None;
        }
        let old = text.split('\n').nth(line.checked_sub(1)?)?;
        Some(Repair {
            line,
            new: old.replacen(version, &served, 1),
            old: old.to_owned(),
            reason: match removed {
                Some((_, _, release)) => msg::repair_removed(kind, *release),
                None => msg::repair_version(kind),
            },
            offer: Message::name(served),
        })
        .filter(|repair| repair.new != repair.old)
    }
}

/// Lines of the errors of a text, in its order.
fn errors(text: &str) -> Vec<usize> {
    let parsed = manifest::parse(text.as_bytes());
    parsed.diagnostics.iter().map(|fault| fault.line).collect()
}

/// Returns true if the first error in which two parses differ is later in one than in the other, or gone.
fn is_further(after: &[usize], before: &[usize]) -> bool {
    let differs = after
        .iter()
        .zip(before)
        .find(|(after, before)| after != before);
    differs.map_or(after.len() < before.len(), |(after, before)| after > before)
}

/// Returns true if a line holds nothing but a comment.
fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Repair that writes `#` before what follows a quoted value on its line.
fn commented(lines: &[&str], at: usize) -> Option<Repair> {
    let line = lines[at];
    let key = line.find(": ").or_else(|| line.find("- "));
    let value = key.filter(|_| !is_comment(line))? + 2;
    let value = value + (line[value..].len() - line[value..].trim_start().len());
    let end = value + quoted(&line[value..])?;
    let gap = line[end..].len() - line[end..].trim_start().len();
    let (blank, comment) = line[end..].split_at(gap);
    let follows = comment.chars().next()?;
    if blank.is_empty() || "#,]}:".contains(follows) {
        return None;
    }
    // Only an ASCII blank separates a comment.
    let blank = if blank.is_ascii() { blank } else { " " };
    Some(Repair {
        line: at + 1,
        old: line.to_owned(),
        new: format!("{}{blank}# {comment}", &line[..end]),
        reason: msg::repair_comment(),
        offer: Message::name(format!("# {}", comment.trim_end())),
    })
}

/// Length of the quoted scalar at the beginning of a text, with its quotes.
fn quoted(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, quote) = chars.next().filter(|(_, quote)| "\"'".contains(*quote))?;
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' if quote == '"' => drop(chars.next()),
            _ if char != quote => {}
            '\'' if chars.peek().is_some_and(|(_, next)| *next == '\'') => drop(chars.next()),
            _ => return Some(at + 1),
        }
    }
    None
}

/// Repair that moves a block to the left, from a line that is indented further than the key with a value before it.
fn outdented(lines: &[&str], at: usize) -> Option<Repair> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_blank = |line: &str| line.trim().is_empty();
    // Column of the key, which may follow the sign of a list item.
    let column = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let mut above = lines[..at].iter().rev();
    let before = above.find(|line| !is_blank(line) && !is_comment(line))?;
    let (_, value) = before.split_once(": ")?;
    if value.trim().is_empty() || !lines[at].contains(':') {
        return None;
    }
    let (is, should) = (indent(lines[at]), column(before));
    if is <= should {
        return None;
    }
    let is_deep = |line: &&&str| is_blank(line) || indent(line) >= is;
    let deep = lines[at..].iter().take_while(is_deep).count();
    let last = lines[at..at + deep]
        .iter()
        .rposition(|line| !is_blank(line));
    let count = last? + 1;
    let block = &lines[at..at + count];
    let moved: Vec<&str> = block
        .iter()
        .map(|line| line.get(is - should..).unwrap_or("").trim_end())
        .collect();
    Some(Repair {
        line: at + 1,
        old: block.join("\n"),
        new: moved.join("\n"),
        reason: msg::repair_indent(),
        offer: if count == 1 {
            msg::repair_indent_line(at + 1, is - should)
        } else {
            msg::repair_indent_lines(at + 1, at + count, is - should)
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_after_a_quoted_value_becomes_a_comment() {
        let text = "spec:\n  serviceName: \"nginx\"   关键\n  replicas: 2\n";
        for line in [2, 3] {
            let repair = Repair::syntax(text, line).expect("repair");
            assert_eq!(
                repair.apply(text).as_deref(),
                Some("spec:\n  serviceName: \"nginx\"   # 关键\n  replicas: 2\n")
            );
            assert_eq!(repair.offer.english(), "# 关键");
        }
        for text in [
            "a: \"b\" # c",
            "a: [\"b\", c]",
            "a: \"b\"",
            "\"a\": b",
            "a: it's b's",
        ] {
            assert_eq!(Repair::syntax(text, 1), None, "{text}");
        }
    }

    #[test]
    fn a_blank_that_yaml_does_not_know_is_replaced() {
        let wide = "spec:\n  serviceName: \"nginx\"\u{3000}关键\n";
        let repair = Repair::syntax(wide, 2).expect("repair");
        assert_eq!(repair.new, "  serviceName: \"nginx\" # 关键");
        assert_eq!(quoted("\"a \\\" b\" c"), Some(8));
        assert_eq!(quoted("'it''s' c"), Some(7));
        assert_eq!(quoted("\"open"), None);
    }

    #[test]
    fn lines_of_a_list_item_are_left_where_they_are() {
        let text = "containers:\n- name: web\n  image: nginx\n    ports: []\n";
        let repair = Repair::syntax(text, 4).expect("repair");
        assert_eq!((repair.line, repair.new.as_str()), (4, "  ports: []"));
        assert_eq!(repair.offer, msg::repair_indent_line(4, 2));
    }

    #[test]
    fn what_does_not_let_a_text_parse_further_is_no_repair() {
        assert_eq!(Repair::syntax("a: {b: c\nd: \"e\"\n", 2), None);
    }

    #[test]
    fn a_block_that_is_indented_too_far_is_moved_to_its_key() {
        let text = "    kind: PersistentVolumeClaim \n    apiVersion: v1 \n      metadata: \n        name: \n          pv-claim \n      spec: \n          accessModes: \n          - ReadWriteOnce \n";
        let repair = Repair::syntax(text, 3).expect("repair");
        assert_eq!(repair.offer, msg::repair_indent_lines(3, 8, 2));
        assert_eq!(
            repair.apply(text).as_deref(),
            Some(
                "    kind: PersistentVolumeClaim \n    apiVersion: v1 \n    metadata:\n      name:\n        pv-claim\n    spec:\n        accessModes:\n        - ReadWriteOnce\n"
            )
        );
        assert_eq!(Repair::syntax("metadata:\n  name: a\n", 2), None);
    }

    #[test]
    fn a_version_that_is_no_longer_served_is_replaced() {
        let text = "apiVersion: extensions/v1beta1\nkind: Deployment\n";
        let repair = Repair::version(text, 1, "extensions/v1beta1", "Deployment").expect("repair");
        assert_eq!(repair.reason, msg::repair_removed("Deployment", "1.16"));
        assert_eq!(
            repair.apply(text).as_deref(),
            Some("apiVersion: apps/v1\nkind: Deployment\n")
        );
        let ingress = Repair::version(
            "apiVersion: extensions/v1beta1",
            1,
            "extensions/v1beta1",
            "Ingress",
        );
        assert_eq!(
            ingress.expect("repair").new,
            "apiVersion: networking.k8s.io/v1"
        );
        assert_eq!(
            Repair::version("apiVersion: apps/v1", 1, "apps/v1", "Deployment"),
            None
        );
        for (version, kind) in [("a/v1", "Widget"), ("serving.knative.dev/v1", "Service")] {
            let text = format!("apiVersion: {version}");
            assert_eq!(Repair::version(&text, 1, version, kind), None);
        }
    }

    #[test]
    fn a_repair_of_lines_that_have_changed_is_not_made() {
        let repair = Repair::field("a: 1\nreplica: 2", 2, (0, 7), "replicas").expect("repair");
        assert_eq!(
            repair.apply("a: 1\nreplica: 2").as_deref(),
            Some("a: 1\nreplicas: 2")
        );
        assert_eq!(repair.apply("a: 1\nb: 2"), None);
        assert_eq!(repair.apply("a: 1"), None);
    }
}
