//! Record of a cluster, one JSON value per line, as `loopscope serve` keeps it and sends it to following pages: first the initial cluster,
//! then each command with its place, and in between the progress of the clock.

use actions::Action;
use actions::RecordedAction;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Time, Timestamp};
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Number of nodes for which Kubernetes is designed.
const MAX_NODES: usize = 5_000;

/// Initial cluster, if it is not the default one: number of nodes, wall clock in seconds since 1970, and the cluster section of a scenario,
/// which takes precedence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialCluster(
    usize,
    i64,
    #[serde(default, skip_serializing_if = "Value::is_null")] Value,
);

impl InitialCluster {
    /// Builds it from a configuration; `None` for the default cluster.
    pub fn of(config: &ClusterConfig) -> Option<InitialCluster> {
        let usual = ClusterConfig::default();
        let is_usual = config.nodes.len() == usual.nodes.len() && config.epoch == usual.epoch;
        (!is_usual).then_some(InitialCluster(
            config.nodes.len(),
            config.epoch.seconds(),
            Value::Null,
        ))
    }

    /// Returns true if it represents a configuration completely.
    pub fn tells(config: &ClusterConfig) -> bool {
        InitialCluster::of(config).map_or_else(ClusterConfig::default, InitialCluster::config)
            == *config
    }

    /// Builds it from a scenario.
    pub fn of_scenario(scenario: &Scenario) -> InitialCluster {
        InitialCluster(
            scenario.cluster.nodes.len(),
            scenario.cluster.epoch.seconds(),
            scenario.written.clone(),
        )
    }

    /// Converts it to the cluster's configuration.
    pub fn config(self) -> ClusterConfig {
        let written = if self.2.is_null() {
            None
        } else {
            scenario::cluster(&self.2).ok()
        };
        if let Some(config) = written.filter(|config| config.nodes.len() <= MAX_NODES) {
            return config;
        }
        ClusterConfig {
            epoch: Timestamp::new(self.1),
            ..ClusterConfig::with_nodes(self.0.min(MAX_NODES))
        }
    }
}

/// Line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Head {
        /// Version of this format: 1.
        record: u32,
        seed: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cluster: Option<InitialCluster>,
    },
    /// Command: tasks run before it, time in microseconds, and action.
    Did(u64, u64, Action),
    /// Progress of the clock: tasks and microseconds.
    Clock(u64, u64),
}

fn written(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

/// Formats the first line.
pub fn head(seed: u64, config: &ClusterConfig) -> String {
    written(&Line::Head {
        record: 1,
        seed,
        cluster: InitialCluster::of(config),
    })
}

/// Formats the line of a command.
pub fn did(recorded: &RecordedAction) -> String {
    written(&Line::Did(
        recorded.steps,
        recorded.time.0,
        recorded.action.clone(),
    ))
}

/// Formats the line of the clock.
pub fn clock(tasks: u64, at: Time) -> String {
    written(&Line::Clock(tasks, at.0))
}

/// Returns true if a text is a record and not a manifest.
pub fn is_record(text: &str) -> bool {
    text.starts_with("{\"record\":") && text.lines().next().is_some_and(begins)
}

/// Returns true if a line is the first of a record.
pub fn begins(line: &str) -> bool {
    matches!(serde_json::from_str(line), Ok(Line::Head { .. }))
}

/// Decoded record.
#[derive(Clone, Debug, Default)]
pub struct SavedRecord {
    /// Seed of the run.
    pub seed: u64,
    /// Initial cluster.
    pub config: ClusterConfig,
    /// Commands, in order.
    pub commands: Vec<RecordedAction>,
    /// Progress of the clock: number of tasks, and time.
    pub end: (u64, Time),
}

/// Error of an unreadable record: the line, from 1, and its problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub usize, pub String);

impl SavedRecord {
    /// Decodes a whole record.
    ///
    /// # Errors
    /// The first line that cannot be decoded. A truncated last line is ignored.
    pub fn read(text: &str) -> Result<SavedRecord, Unreadable> {
        let mut record = None;
        let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
        for (index, line) in whole
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            SavedRecord::take(&mut record, line)
                .map_err(|problem| Unreadable(index + 1, problem))?;
        }
        record.ok_or_else(|| Unreadable(1, "the record is empty".to_owned()))
    }

    /// Decodes the next line; the first one creates the record.
    pub fn take(record: &mut Option<SavedRecord>, line: &str) -> Result<(), String> {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match (line, record) {
            (
                Line::Head {
                    record: 1,
                    seed,
                    cluster,
                },
                record @ None,
            ) => {
                let config = cluster.map_or_else(ClusterConfig::default, InitialCluster::config);
                *record = Some(SavedRecord {
                    seed,
                    config,
                    ..SavedRecord::default()
                });
            }
            (
                Line::Head {
                    record: version, ..
                },
                None,
            ) => return Err(format!("version {version} is not known")),
            (Line::Head { .. }, Some(_)) => return Err("it begins twice".to_owned()),
            (_, None) => return Err("it has no beginning".to_owned()),
            (Line::Did(tasks, at, action), Some(record)) => {
                // Neither tasks nor time go back.
                record.end = (record.end.0.max(tasks), record.end.1.max(Time(at)));
                record.commands.push(RecordedAction {
                    steps: record.end.0,
                    time: record.end.1,
                    action,
                });
            }
            (Line::Clock(tasks, at), Some(record)) => {
                record.end = (record.end.0.max(tasks), record.end.1.max(Time(at)))
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let config = ClusterConfig {
            epoch: Timestamp::new(7),
            ..ClusterConfig::with_nodes(5)
        };
        let commands: Vec<RecordedAction> = vec![
            RecordedAction {
                steps: 3,
                time: Time(5),
                action: Action::apply("kind: Pod\n# 控制器"),
            },
            RecordedAction {
                steps: 9,
                time: Time(11),
                action: Action::kubectl("get pods"),
            },
        ];
        let mut lines = vec![head(4, &config)];
        lines.extend(commands.iter().map(did));
        lines.push(clock(12, Time(20)));
        let read = SavedRecord::read(&(lines.join("\n") + "\n")).unwrap();
        assert_eq!(
            (
                read.seed,
                read.config.nodes.len(),
                read.config.epoch,
                read.end
            ),
            (4, 5, Timestamp::new(7), (12, Time(20)))
        );
        assert_eq!(read.commands, commands);
        // A process that was killed in the middle of a line.
        assert_eq!(
            SavedRecord::read(&format!("{}\n[1, 2, {{\"ap", lines[0]))
                .unwrap()
                .commands,
            []
        );
    }

    #[test]
    fn what_is_no_record_is_told_with_its_line() {
        let line = |text: &str| {
            SavedRecord::read(text)
                .map(|_| ())
                .map_err(|problem| problem.0)
        };
        assert_eq!(line(""), Err(1));
        assert_eq!(line("kind: Pod\n"), Err(1));
        assert_eq!(line("{\"record\":2,\"seed\":1}\n"), Err(1));
        assert_eq!(
            line("{\"record\":1,\"seed\":1}\n\n[1,2,{\"sing\":1}]\n"),
            Err(3)
        );
        assert_eq!(
            line(
                "{\"record\":1,\"seed\":1,\"cluster\":[999999999,0]}\n[18446744073709551615,18446744073709551615]\n[0,0]\n"
            ),
            Ok(())
        );
    }
}
