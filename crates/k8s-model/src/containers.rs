//! Containers of a Pod across all lists of its spec.

use super::pod::{Container, ContainerStatus, PodSpec, PodStatus};
use serde_json::Value;

impl PodSpec {
    /// Returns the containers that run for as long as the Pod does: main containers and sidecars.
    pub fn serving_containers(&self) -> impl Iterator<Item = &Container> {
        let sidecars = self.init_containers.iter().filter(|one| one.is_sidecar());
        self.containers.iter().chain(sidecars)
    }

    /// Returns every container with the list of the spec that it is in: main containers, then init containers, then ephemeral ones.
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

    /// Returns the container at a position of [`every_container`](Self::every_container), as JSON.
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
    /// Returns the status of every container.
    pub fn every_container(&self) -> impl Iterator<Item = &ContainerStatus> {
        self.container_statuses
            .iter()
            .chain(&self.init_container_statuses)
            .chain(&self.ephemeral_container_statuses)
    }

    /// Returns the status of the container of this name, in any of the lists.
    pub fn of_container(&self, name: &str) -> Option<&ContainerStatus> {
        self.every_container().find(|status| status.name == name)
    }
}
