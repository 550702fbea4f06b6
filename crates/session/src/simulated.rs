//! Table of what is simulated, only stored, or refused: for the help and `docs/simulated.md`.

use i18n::{Message, msg};
use k8s_model::Kind;
use k8s_model::kind::ALL;
use kubectl::VERBS;

/// Treatment of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// A loop or a command acts on it.
    Simulated,
    /// It is stored and shown; no loop acts on it.
    Stored,
    /// The API server refuses it.
    Refused,
}

impl Treatment {
    /// Label of the treatment.
    pub fn word(self) -> Message {
        match self {
            Treatment::Simulated => msg::simulated_yes(),
            Treatment::Stored => msg::simulated_stored(),
            Treatment::Refused => msg::simulated_refused(),
        }
    }
}

/// Row of the table.
pub struct SimulatedRow {
    /// Feature.
    pub what: Message,
    /// Treatment.
    pub treatment: Treatment,
    /// Kinds or details.
    pub which: Message,
}

/// Builds the table.
pub fn table() -> Vec<SimulatedRow> {
    use Treatment::{Refused, Simulated, Stored};
    let kinds = |simulated: bool| {
        list(
            ALL.iter()
                .filter(|kind| kind.is_simulated() == simulated)
                .map(|kind| Kind::name(*kind)),
        )
    };
    let verbs = |runs: bool| {
        list(
            VERBS
                .iter()
                .filter(|verb| verb.is_simulated() == runs)
                .map(|verb| verb.name),
        )
    };
    let row = |what: Message, treatment: Treatment, which: Message| SimulatedRow {
        what,
        treatment,
        which,
    };
    vec![
        row(msg::simulated_kinds(), Simulated, kinds(true)),
        row(msg::simulated_kinds(), Stored, kinds(false)),
        row(
            msg::simulated_kinds(),
            Refused,
            msg::simulated_other_kinds(),
        ),
        row(Message::name("kubectl"), Simulated, verbs(true)),
        row(Message::name("kubectl"), Refused, verbs(false)),
        row(
            msg::simulated_gateway(),
            Simulated,
            msg::simulated_gateway_how(k8s_model::gateway::CONTROLLER),
        ),
        row(
            msg::simulated_programs(),
            Simulated,
            msg::simulated_programs_how(),
        ),
        row(
            msg::simulated_probes(),
            Simulated,
            msg::simulated_probes_how(),
        ),
        row(
            msg::simulated_usage(),
            Simulated,
            msg::simulated_usage_how(),
        ),
        row(
            msg::simulated_metrics(),
            Stored,
            msg::simulated_metrics_how(),
        ),
        row(
            msg::simulated_mounts(),
            Simulated,
            msg::simulated_mounts_how(),
        ),
        row(msg::simulated_gates(), Refused, msg::simulated_gates_how()),
    ]
}

fn list(names: impl Iterator<Item = &'static str>) -> Message {
    Message::list(names.map(Message::name).collect())
}

#[cfg(test)]
mod tests {
    use super::table;
    use std::fmt::Write as _;

    /// `UPDATE_DOCS=1 cargo test simulated` rewrites the page.
    #[test]
    fn the_page_of_the_docs_is_the_table() {
        let mut page = String::from(
            "# What is simulated\n\nThe same table is in the page under `?`. It is generated from the registries of kinds and of kubectl's verbs\n\
             (`crates/session/src/simulated.rs`); `UPDATE_DOCS=1 cargo test simulated` writes it anew.\n\n| what | | which |\n|---|---|---|\n",
        );
        for row in table() {
            let _ = writeln!(
                page,
                "| {} | {} | {} |",
                row.what.english(),
                row.treatment.word().english(),
                row.which.english()
            );
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulated.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).expect("docs/simulated.md");
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap_or_default(),
            page,
            "docs/simulated.md is stale: UPDATE_DOCS=1 cargo test simulated"
        );
    }
}
