//! Filters the Pods. A block is checked again only when it has changed, and a limited number of Pods per picture, so that a frame costs
//! only what has changed.

use crate::model::{Node, Pod, PodBlock, PodState};
use k8s_model::{Kind, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Maximum number of Pods checked per picture.
const MAX_PODS_PER_PICTURE: usize = 8_000;

/// Terms of a filter: part of a name, `kind:pod`, `app=nginx`; all of them must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    kinds: Vec<String>,
    labels: Vec<String>,
    parts: Vec<String>,
    statuses: Vec<String>,
}

impl Words {
    /// Parses a text; `None` if it is empty.
    pub fn of(text: &str) -> Option<Words> {
        let mut words = Words::default();
        for word in text.split_whitespace() {
            match word.split_once(':') {
                Some(("kind", kind)) => words.kinds.push(kind.to_ascii_lowercase()),
                Some(("status", status)) => words.statuses.push(status.to_ascii_lowercase()),
                _ if word.contains('=') => words.labels.push(word.to_string()),
                _ => words.parts.push(word.to_ascii_lowercase()),
            }
        }
        (words != Words::default()).then_some(words)
    }

    /// Returns true if an object matches. Only Pods have a status to match.
    pub fn want(&self, object: &Object) -> bool {
        let has = |label: &String| {
            label.split_once('=').is_some_and(|(key, value)| {
                object.meta.label(key).is_some_and(|label| label == value)
            })
        };
        self.statuses.is_empty()
            && self.want_named(object.kind, &object.meta.name)
            && self.labels.iter().all(has)
    }

    /// Returns the sorted names of the matching nodes: by prefix of the name, or by kind.
    pub fn nodes(&self, all: &[Rc<Node>]) -> Vec<String> {
        let begins = |node: &&Rc<Node>| {
            self.parts
                .iter()
                .all(|part| node.id.name.starts_with(part.as_str()))
        };
        let kind = self
            .kinds
            .iter()
            .all(|word| Kind::from_word(word) == Some(Kind::Node));
        if !kind || self.parts.is_empty() || !self.labels.is_empty() || !self.statuses.is_empty() {
            return Vec::new();
        }
        let mut named: Vec<String> = all
            .iter()
            .filter(begins)
            .map(|node| node.id.name.clone())
            .collect();
        named.sort();
        named
    }

    /// Returns true if a Pod matches.
    pub fn want_pod(&self, pod: &Pod) -> bool {
        self.want_named(Kind::Pod, &pod.id.name)
            && self.labels.iter().all(|label| pod.labels.contains(label))
            && self.statuses.iter().all(|status| has_status(pod, status))
    }

    fn want_named(&self, kind: Kind, name: &str) -> bool {
        let is = |word: &String| {
            Kind::from_word(word) == Some(kind)
                || kind.name().to_ascii_lowercase().starts_with(word)
        };
        // Names are short: preparing a search takes longer than comparing at each position.
        let holds = |word: &String| {
            word.is_empty()
                || name
                    .as_bytes()
                    .windows(word.len())
                    .any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        };
        self.kinds.iter().all(is) && self.parts.iter().all(holds)
    }
}

/// Returns true if a Pod has a status: the name of its colour in the legend, or a part of its word, such as `imagepull`.
fn has_status(pod: &Pod, status: &str) -> bool {
    let class = match pod.state.class() {
        "failed" => "failing",
        class => class,
    };
    // The displayed text may contain words of another class.
    let reason = || {
        if pod.state == PodState::Failed {
            pod.word.english().to_ascii_lowercase()
        } else {
            String::new()
        }
    };
    class.starts_with(status) || reason().contains(status)
}

/// Matching Pods, by owner and by node.
#[derive(Clone, Debug, Default)]
pub struct PodFilter {
    pub(super) groups: Sifted<(Words, Vec<String>)>,
    pub(super) nodes: Sifted<(Option<String>, String, [Vec<String>; 2])>,
}

impl PodFilter {
    /// Returns true if some Pods have not been checked yet.
    pub fn lags(&self) -> bool {
        self.groups.lags || self.nodes.lags
    }
}

/// Blocks as last checked, and their matching Pods, for one query.
#[derive(Clone, Debug, Default)]
pub(super) struct Sifted<Q> {
    asked: Q,
    blocks: BTreeMap<String, (PodBlock, PodBlock)>,
    looked: usize,
    lags: bool,
    /// Blocks postponed in the previous picture and in this one: postponed ones go first.
    waited: BTreeSet<String>,
    waits: BTreeSet<String>,
}

impl<Q: Clone + PartialEq> Sifted<Q> {
    /// Starts another picture.
    pub fn begin(&mut self, asked: &Q) {
        if self.asked != *asked {
            self.asked = asked.clone();
            self.blocks.clear();
        }
        (self.looked, self.lags, self.waited) = (0, false, std::mem::take(&mut self.waits));
    }

    /// Returns the matching Pods of a block; the previous result if this picture's limit is reached.
    pub fn pass(&mut self, of: &str, block: &PodBlock, keeps: &dyn Fn(&Pod) -> bool) -> PodBlock {
        let known = self.blocks.get(of);
        if let Some((_, left)) = known.filter(|(seen, _)| seen.is(block)) {
            return left.clone();
        }
        let after_others = !self.waited.is_empty() && !self.waited.contains(of);
        if self.looked > MAX_PODS_PER_PICTURE || after_others {
            self.lags = true;
            self.waits.insert(of.to_string());
            return known.map(|(_, left)| left.clone()).unwrap_or_default();
        }
        self.looked += block.len();
        let left: PodBlock = block.iter().filter(|pod| keeps(pod)).cloned().collect();
        self.blocks
            .insert(of.to_string(), (block.clone(), left.clone()));
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(owner: &str, pods: usize) -> PodBlock {
        let pod = |at: usize| {
            let mut pod = Pod {
                labels: Rc::new([format!("app={owner}")]),
                ..Pod::default()
            };
            pod.id.name = format!("{owner}-{at}");
            Rc::new(pod)
        };
        (0..pods).map(pod).collect()
    }

    #[test]
    fn names_kinds_and_labels_must_all_hold() {
        let pods = block("web", 12);
        let left = |text: &str| {
            pods.iter()
                .filter(|pod| Words::of(text).is_some_and(|words| words.want_pod(pod)))
                .count()
        };
        for (text, expected) in [
            ("web", 12),
            ("WEB-1", 3),
            ("kind:po web-1", 3),
            ("kind:service", 0),
            ("app=web -1", 3),
            ("app=db", 0),
            ("db", 0),
        ] {
            assert_eq!(left(text), expected, "{text}");
        }
        assert_eq!(Words::of("  "), None);
    }

    #[test]
    fn a_node_is_named_by_how_its_name_begins() {
        let nodes = ["node-1", "node-13", "node-2"].map(|name| {
            let mut node = Node::default();
            node.id.name = name.into();
            Rc::new(node)
        });
        let named = |text: &str| Words::of(text).expect("words").nodes(&nodes);
        assert_eq!(named("node-1"), ["node-1", "node-13"]);
        assert_eq!(named("kind:node node-2"), ["node-2"]);
        assert_eq!(named("node").len(), 3);
        // A word that is only a part of node names is rather meant for Pods.
        for text in ["-1", "kind:pod node-1", "app=web", "web"] {
            assert!(named(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_large_block_that_changes_all_the_time_keeps_no_other_waiting() {
        let mut sifted = Sifted::default();
        let words = Words::of("-1").expect("a word");
        let mut picture = || {
            sifted.begin(&words);
            let blocks = [
                ("large", block("large", MAX_PODS_PER_PICTURE + 1)),
                ("small", block("small", 3)),
            ];
            blocks.map(|(of, block)| sifted.pass(of, &block, &|pod| words.want_pod(pod)).len())
        };
        assert_eq!(picture()[1], 0);
        assert_eq!(picture()[1], 1);
        assert!(picture()[0] > 0);
    }

    #[test]
    fn blocks_are_looked_through_in_turns_and_again_when_they_change() {
        let mut sifted = Sifted::default();
        let (large, small) = (block("large", MAX_PODS_PER_PICTURE + 1), block("small", 3));
        let words = Words::of("-1").expect("a word");
        let mut picture = |small: &PodBlock, words: &Words| {
            sifted.begin(words);
            let left = [("large", &large), ("small", small)]
                .map(|(of, block)| sifted.pass(of, block, &|pod| words.want_pod(pod)).len());
            (left, sifted.lags)
        };
        let all = large.iter().filter(|pod| words.want_pod(pod)).count();
        assert_eq!(picture(&small, &words), ([all, 0], true));
        assert_eq!(picture(&small, &words), ([all, 1], false));
        let more = block("small", 12);
        assert_eq!(picture(&more, &words), ([all, 3], false));
        let other = Words::of("-2").expect("a word");
        assert!(picture(&more, &other).1);
        assert_eq!(
            picture(&more, &other),
            (
                [large.iter().filter(|pod| other.want_pod(pod)).count(), 1],
                false
            )
        );
    }
}
