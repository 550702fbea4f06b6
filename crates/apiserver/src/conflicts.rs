//! Injected conflicts: updates of controllers that are refused once.

use super::component::Component;
use super::server::Origin;
use super::{ApiError, ApiServer};
use crate::why::Why;
use k8s_model::Object;

impl Origin {
    /// Returns true for a controller: one of the cluster, or a client with a field manager that is not kubectl's, such as an operator.
    fn is_controller(&self) -> bool {
        let is_operator = |name: &str| !name.is_empty() && !name.starts_with("kubectl");
        match self.actor.component {
            Component::User => self.manager.as_ref().is_some_and(|m| is_operator(&m.name)),
            Component::Kubelet => false,
            _ => true,
        }
    }
}

impl ApiServer {
    /// Refuses an update that an injected fault lets fail with a conflict. A patch names no version that could conflict.
    ///
    /// # Errors
    /// The conflict.
    pub(super) fn check_disturbance(
        &mut self,
        origin: &Origin,
        object: &Object,
        why: &Why,
    ) -> Result<(), ApiError> {
        if self.conflicts.is_empty() || !origin.is_controller() {
            return Ok(());
        }
        let Some(at) = self.conflicts.iter().position(|meant| meant.is(object)) else {
            return Ok(());
        };
        self.conflicts.remove(at);
        let error = ApiError::conflict(object.kind, &object.meta.name);
        self.refuse(origin, object.key(), &error, why.clone());
        Err(error)
    }
}
