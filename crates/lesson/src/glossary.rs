//! Glossary: the terms that lessons, the inspector and the documentation explain, and where a text uses them.

use i18n::{Constant, Message, msg};

/// Term of the glossary.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// Name, as Help and the documentation list it.
    pub name: Constant,
    /// Definition: one or two sentences.
    pub definition: Constant,
    /// Spellings in texts of any language. One that begins in lower case may begin a sentence, and an English one may have a plural `s`.
    pub spellings: &'static [&'static str],
}

/// All terms, in the order in which they build on each other.
pub const TERMS: &[Term] = &[
    Term {
        name: || msg::word_node(),
        definition: || msg::word_node_means(),
        spellings: &["node", "节点"],
    },
    Term {
        name: || msg::word_api_server(),
        definition: || msg::word_api_server_means(),
        spellings: &["API server", "kube-apiserver", "API 服务器"],
    },
    Term {
        name: || msg::word_manifest(),
        definition: || msg::word_manifest_means(),
        spellings: &["manifest", "清单"],
    },
    Term {
        name: || Message::name("Pod"),
        definition: || msg::word_pod_means(),
        spellings: &["Pod"],
    },
    Term {
        name: || Message::name("kubelet"),
        definition: || msg::word_kubelet_means(),
        spellings: &["kubelet"],
    },
    Term {
        name: || msg::word_scheduler(),
        definition: || msg::word_scheduler_means(),
        spellings: &["scheduler", "kube-scheduler", "调度器"],
    },
    Term {
        name: || msg::word_namespace(),
        definition: || msg::word_namespace_means(),
        spellings: &["namespace", "命名空间"],
    },
    Term {
        name: || msg::word_label(),
        definition: || msg::word_label_means(),
        spellings: &["label", "标签"],
    },
    Term {
        name: || msg::word_selector(),
        definition: || msg::word_selector_means(),
        spellings: &["selector", "label selector", "选择器", "选择算符"],
    },
    Term {
        name: || msg::word_annotation(),
        definition: || msg::word_annotation_means(),
        spellings: &["annotation", "注解"],
    },
    Term {
        name: || msg::word_loop(),
        definition: || msg::word_loop_means(),
        spellings: &["control loop", "controller", "控制循环", "控制器"],
    },
    Term {
        name: || msg::word_reconcile(),
        definition: || msg::word_reconcile_means(),
        spellings: &["reconcile", "reconciling", "reconciliation", "调谐"],
    },
    Term {
        name: || msg::word_desired(),
        definition: || msg::word_desired_means(),
        spellings: &["desired state", "期望状态"],
    },
    Term {
        name: || msg::word_actual(),
        definition: || msg::word_actual_means(),
        spellings: &["actual state", "current state", "实际状态"],
    },
    Term {
        name: || msg::word_watch(),
        definition: || msg::word_watch_means(),
        spellings: &["watch event", "watch stream", "监视事件"],
    },
    Term {
        name: || msg::word_cache(),
        definition: || msg::word_cache_means(),
        spellings: &["cache", "informer", "缓存"],
    },
    Term {
        name: || msg::word_relist(),
        definition: || msg::word_relist_means(),
        spellings: &["relist", "重新列出", "重新列举"],
    },
    Term {
        name: || msg::word_work_queue(),
        definition: || msg::word_work_queue_means(),
        spellings: &["work queue", "工作队列"],
    },
    Term {
        name: || Message::name("resourceVersion"),
        definition: || msg::word_resource_version_means(),
        spellings: &["resourceVersion", "resource version", "资源版本"],
    },
    Term {
        name: || Message::name("ReplicaSet"),
        definition: || msg::word_replica_set_means(),
        spellings: &["ReplicaSet"],
    },
    Term {
        name: || Message::name("Deployment"),
        definition: || msg::word_deployment_means(),
        spellings: &["Deployment"],
    },
    Term {
        name: || msg::word_template(),
        definition: || msg::word_template_means(),
        spellings: &["Pod template", "Pod 模板"],
    },
    Term {
        name: || msg::word_owner(),
        definition: || msg::word_owner_means(),
        spellings: &["owner", "owner reference", "属主", "属主引用"],
    },
    Term {
        name: || msg::word_rollout(),
        definition: || msg::word_rollout_means(),
        spellings: &["rollout", "rolling update", "滚动更新", "上线"],
    },
    Term {
        name: || msg::word_revision(),
        definition: || msg::word_revision_means(),
        spellings: &["revision", "修订版本"],
    },
    Term {
        name: || Message::name("maxSurge, maxUnavailable"),
        definition: || msg::word_limits_means(),
        spellings: &["maxSurge", "maxUnavailable"],
    },
    Term {
        name: || msg::word_ready(),
        definition: || msg::word_ready_means(),
        spellings: &["Ready", "就绪"],
    },
    Term {
        name: || msg::word_probe(),
        definition: || msg::word_probe_means(),
        spellings: &[
            "readiness probe",
            "liveness probe",
            "startup probe",
            "就绪探针",
            "存活探针",
            "启动探针",
        ],
    },
    Term {
        name: || Message::name("Service"),
        definition: || msg::word_service_means(),
        spellings: &["Service"],
    },
    Term {
        name: || msg::word_headless(),
        definition: || msg::word_headless_means(),
        spellings: &["headless Service", "无头 Service"],
    },
    Term {
        name: || Message::name("StatefulSet"),
        definition: || msg::word_stateful_set_means(),
        spellings: &["StatefulSet"],
    },
    Term {
        name: || msg::word_claim(),
        definition: || msg::word_claim_means(),
        spellings: &[
            "claim",
            "PersistentVolumeClaim",
            "PVC",
            "申领",
            "持久卷申领",
        ],
    },
    Term {
        name: || msg::word_volume(),
        definition: || msg::word_volume_means(),
        spellings: &["PersistentVolume", "PV", "持久卷"],
    },
    Term {
        name: || msg::word_event(),
        definition: || msg::word_event_means(),
        spellings: &["Event"],
    },
    Term {
        name: || msg::word_virtual(),
        definition: || msg::word_virtual_means(),
        spellings: &["virtual time", "虚拟时间"],
    },
];

/// Part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span<'a> {
    /// Words that the glossary has nothing to say of.
    Plain(&'a str),
    /// First use of a term: its place in [`TERMS`], and the words that name it.
    Term(usize, &'a str),
}

/// Finder of the first use of each term in a text, which may be given in several parts.
#[derive(Debug)]
pub struct FirstUses {
    found: [bool; TERMS.len()],
}

impl Default for FirstUses {
    fn default() -> Self {
        FirstUses {
            found: [false; TERMS.len()],
        }
    }
}

impl FirstUses {
    /// Splits the next part of the text at the first use of each term.
    pub fn split<'a>(&mut self, text: &'a str) -> Vec<Span<'a>> {
        let mut spans = Vec::new();
        let (mut plain, mut at) = (0, 0);
        while let Some(step) = text[at..].chars().next().map(char::len_utf8) {
            let Some((term, length)) = term_at(text, at) else {
                at += step;
                continue;
            };
            if !std::mem::replace(&mut self.found[term], true) {
                if plain < at {
                    spans.push(Span::Plain(&text[plain..at]));
                }
                spans.push(Span::Term(term, &text[at..at + length]));
                plain = at + length;
            }
            at += length;
        }
        if plain < text.len() {
            spans.push(Span::Plain(&text[plain..]));
        }
        spans
    }
}

/// Term that a whole text names.
pub fn named(text: &str) -> Option<usize> {
    term_at(text, 0).and_then(|(term, length)| (length == text.len()).then_some(term))
}

/// Term with the longest spelling at an offset of a text, and the length of that spelling.
fn term_at(text: &str, at: usize) -> Option<(usize, usize)> {
    // An English word does not begin within another, nor in a field's path or a name.
    let is_within = |next: char| next.is_ascii_alphanumeric() || "-_./".contains(next);
    let before = text[..at].chars().next_back();
    let here = &text[at..];
    let first = here.chars().next()?;
    if first.is_ascii() && (!first.is_ascii_alphabetic() || before.is_some_and(is_within)) {
        return None;
    }
    let spelled = |spelling: &str| {
        let english = spelling.is_ascii();
        if english && before.is_some_and(is_within) {
            return None;
        }
        let mut length = spelling.len();
        if !spelling.starts_with([first, first.to_ascii_lowercase()]) {
            return None;
        }
        let same = here.get(..length)? == spelling || begins_sentence(here, spelling);
        if !same {
            return None;
        }
        if english {
            length += usize::from(here[length..].starts_with('s'));
            let mut after = here[length..].chars();
            let joins = match after.next() {
                Some('.' | '/') => after
                    .next()
                    .is_some_and(|next| next.is_ascii_alphanumeric()),
                Some(next) => is_within(next),
                None => false,
            };
            if joins {
                return None;
            }
        }
        Some(length)
    };
    let spellings = TERMS.iter().enumerate().flat_map(|(term, one)| {
        let all = one.spellings.iter();
        all.filter_map(move |spelling| Some((term, spelled(spelling)?)))
    });
    spellings.max_by_key(|(_, length)| *length)
}

/// Returns true if a text begins with a lower-case English spelling whose first letter is a capital.
fn begins_sentence(text: &str, spelling: &str) -> bool {
    let (Some(first), Some(expected)) = (text.chars().next(), spelling.chars().next()) else {
        return false;
    };
    expected.is_ascii_lowercase()
        && first == expected.to_ascii_uppercase()
        && text.get(1..spelling.len()) == spelling.get(1..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use i18n::Catalogue;

    /// `UPDATE_DOCS=1 cargo test -p lesson glossary` writes the pages anew.
    #[test]
    fn the_pages_of_the_docs_are_the_glossary() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let pages = [
            (
                "en",
                "docs/glossary.md",
                "# Glossary\n\nThe page explains these terms where a lesson or the inspector uses them, and lists them under `?`.\n",
            ),
            (
                "zh",
                "docs/zh/glossary.md",
                "# 术语表\n\n课程和检查器用到这些术语时，页面就地解释；`?` 下也有全部术语。\n",
            ),
        ];
        for (language, name, head) in pages {
            let words = std::fs::read_to_string(format!("{root}/crates/i18n/src/{language}.txt"));
            let words = Catalogue::read(&words.expect("catalogue"));
            let mut page = head.to_owned();
            for term in TERMS {
                let (name, definition) = ((term.name)(), (term.definition)());
                page += &format!("\n**{}**: {}\n", name.say(&words), definition.say(&words));
            }
            let path = format!("{root}/{name}");
            if std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::write(&path, &page).expect(name);
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(
                kept, page,
                "{name} is stale: UPDATE_DOCS=1 cargo test -p lesson glossary"
            );
        }
    }

    #[test]
    fn no_two_terms_share_a_spelling() {
        let mut spellings: Vec<&str> = TERMS
            .iter()
            .flat_map(|term| term.spellings)
            .copied()
            .collect();
        spellings.sort_unstable();
        assert!(spellings.windows(2).all(|two| two[0] != two[1]));
    }

    /// Words of the spans that are terms.
    fn terms(text: &str) -> Vec<&str> {
        let term = |span: &Span<'static>| match span {
            Span::Term(_, words) => Some(*words),
            Span::Plain(_) => None,
        };
        let text: &'static str = text.to_owned().leak();
        FirstUses::default()
            .split(text)
            .iter()
            .filter_map(term)
            .collect()
    }

    #[test]
    fn each_term_is_found_at_its_first_use() {
        assert_eq!(
            terms("Controllers watch. A controller reconciles Pods; this Pod has labels."),
            ["Controllers", "reconciles", "Pods", "labels"]
        );
        assert_eq!(
            terms("控制循环读取缓存，再比较期望状态；缓存可能已经过时。"),
            ["控制循环", "缓存", "期望状态"]
        );
    }

    #[test]
    fn the_longest_term_is_found() {
        assert_eq!(
            terms("a headless Service and a Service"),
            ["headless Service", "Service"]
        );
        assert_eq!(terms("Pod 模板"), ["Pod 模板"]);
        assert_eq!(terms("持久卷申领"), ["持久卷申领"]);
    }

    #[test]
    fn names_paths_and_other_words_are_no_terms() {
        for text in [
            "Podcast",
            "pod-1",
            "spec.selector",
            "selector.matchLabels",
            "unlabelled",
            "node-1",
            "cached",
        ] {
            assert_eq!(terms(text), Vec::<&str>::new(), "{text}");
        }
        assert_eq!(terms("Look at the node. Then wait."), ["node"]);
    }

    #[test]
    fn a_text_in_parts_names_each_term_once_and_loses_nothing() {
        let mut uses = FirstUses::default();
        assert_eq!(
            uses.split("A node, "),
            [Span::Plain("A "), Span::Term(0, "node"), Span::Plain(", ")]
        );
        assert_eq!(
            uses.split("and another node"),
            [Span::Plain("and another node")]
        );
        assert_eq!(named("节点"), Some(0));
        assert_eq!(named("节点名"), None);
    }
}
