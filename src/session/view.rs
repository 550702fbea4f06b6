//! Which diagram is shown.

use crate::i18n::{Message, msg};

/// Which diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Who owns whom.
    #[default]
    Ownership,
    /// Where the Pods are.
    Nodes,
    /// What holds the data.
    Storage,
    /// Who answers to a name.
    Network,
    /// Pods of each revision over time.
    Rollout,
    /// The control plane at work.
    Loops,
}

impl View {
    /// All, in the order of the tabs.
    pub const ALL: [View; 6] = [View::Ownership, View::Nodes, View::Network, View::Storage, View::Rollout, View::Loops];

    /// On the tab.
    pub fn title(self) -> Message {
        match self {
            View::Ownership => msg::view_ownership(),
            View::Nodes => msg::view_nodes(),
            View::Storage => msg::view_storage(),
            View::Network => msg::view_network(),
            View::Rollout => msg::view_rollout(),
            View::Loops => msg::view_loops(),
        }
    }

    /// In a link.
    pub fn word(self) -> &'static str {
        match self {
            View::Ownership => "ownership",
            View::Nodes => "nodes",
            View::Storage => "storage",
            View::Network => "network",
            View::Rollout => "rollout",
            View::Loops => "loops",
        }
    }

    /// Its icon.
    pub fn icon(self) -> &'static str {
        match self {
            View::Ownership => "i-deployment",
            View::Nodes => "i-node",
            View::Storage => "i-pv",
            View::Network => "i-service",
            View::Rollout => "i-hpa",
            View::Loops => "i-kubelet",
        }
    }

    /// From a link.
    pub fn from_word(word: &str) -> Option<View> {
        View::ALL.into_iter().find(|view| view.word() == word)
    }
}
