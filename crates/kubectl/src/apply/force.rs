//! `kubectl apply --force`: an object that cannot be patched is deleted and recreated.
//!
//! Models `deleteAndCreate` of `kubectl/pkg/cmd/apply/patcher.go`.

use super::Applying;
use crate::client::Client;
use crate::delete::Deletion;
use crate::documents::ManifestObject;
use crate::failure::{file_error, server_error};
use crate::{Failure, PendingCommand};
use apiserver::DeleteOptions;
use k8s_model::Time;
use serde_json::Value;

/// Recreation of an object, waiting for the removal of the old one.
#[derive(Clone, Debug)]
pub struct Recreation {
    new: ManifestObject,
    /// Old object, restored if the new one is refused.
    original: Value,
    old: Deletion,
}

impl Recreation {
    /// Deletes an object; `new` is created when it is gone.
    pub fn start(
        client: &mut Client<'_>,
        new: ManifestObject,
        old: &k8s_model::ObjectRef,
        grace: Option<i64>,
    ) -> Result<Recreation, Failure> {
        let original = client.find(old)?.unwrap_or_default();
        let uid = client
            .delete(
                old,
                DeleteOptions {
                    grace_period_seconds: grace,
                    ..DeleteOptions::background()
                },
            )
            .map_err(|error| server_error(&error))?;
        Ok(Recreation {
            new,
            original,
            old: Deletion::of(old, uid),
        })
    }
}

impl PendingCommand for Applying {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        if let Some(wait) = &mut self.recreation {
            if !wait.old.poll(client)? {
                return Ok(false);
            }
            match client.create(wait.new.value.clone()) {
                Ok(created) => client.report(wait.new.kind, &created, "configured")?,
                Err(error) => {
                    client
                        .streams
                        .fail(&file_error(&error, "creating", &wait.new.source));
                    if let Err(error) = client.create(wait.original.clone()) {
                        client.streams.fail(&server_error(&error));
                    }
                }
            }
            self.recreation = None;
        }
        self.go_on(client);
        Ok(self.recreation.is_none())
    }

    fn deadline(&self) -> Option<Time> {
        self.recreation.as_ref().and_then(|wait| wait.old.deadline)
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
