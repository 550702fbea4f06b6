//! Containers of a Pod, whichever list of its spec they are in.

use super::pod::{Container, ContainerStatus, PodSpec, PodStatus};
use serde_json::Value;

impl PodSpec {
    /// Every container, with the list of the spec that it is in: the main ones, then the init containers, then the ephemeral ones.
    pub fn every_container(&self) -> impl Iterator<Item = (&'static str, &Container)> {
        fn list<'c>(
            name: &'static str,
            list: &'c [Container],
        ) -> impl Iterator<Item = (&'static str, &'c Container)> {
            list.iter().map(move |container| (name, container))
        }
        list("containers", &self.containers)
            .chain(list("initContainers", &self.init_containers))
            .chain(list("ephemeralContainers", &self.ephemeral_containers))
    }

    /// The container at a place among [`every_container`](Self::every_container), as JSON.
    pub fn raw_container(&self, place: usize) -> &Value {
        let Some((list, container)) = self.every_container().nth(place) else {
            return &Value::Null;
        };
        let all = self.raw[list].as_array().into_iter().flatten();
        all.into_iter()
            .find(|one| one["name"] == container.name.as_str())
            .unwrap_or(&Value::Null)
    }
}

impl PodStatus {
    /// The status of every container.
    pub fn every_container(&self) -> impl Iterator<Item = &ContainerStatus> {
        self.container_statuses
            .iter()
            .chain(&self.init_container_statuses)
            .chain(&self.ephemeral_container_statuses)
    }

    /// The status of the container of this name, in whichever list it is.
    pub fn of_container(&self, name: &str) -> Option<&ContainerStatus> {
        self.every_container().find(|status| status.name == name)
    }
}
