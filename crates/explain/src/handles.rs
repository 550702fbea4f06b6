//! Fields of an object that a person changes most: replicas and image.

use k8s_model::pod::Container;
use k8s_model::{Body, Object};

/// Fields that can be changed beside an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handles {
    /// `spec.replicas`
    pub replicas: Option<i32>,
    /// Image of the first container.
    pub image: Option<ContainerImage>,
}

/// Image of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerImage {
    /// Name of the container.
    pub container: String,
    /// Image.
    pub image: String,
}

impl Handles {
    /// Reads the fields of an object.
    pub fn of(object: &Object) -> Handles {
        let replicas = match &object.body {
            Body::Deployment(body) => Some(body.spec.replicas),
            Body::StatefulSet(body) => Some(body.spec.replicas),
            Body::ReplicaSet(body) => Some(body.spec.replicas),
            _ => None,
        };
        let containers = match &object.body {
            Body::Deployment(_) | Body::StatefulSet(_) | Body::DaemonSet(_) => containers(object),
            // A Pod of a controller is changed in the controller's template.
            Body::Pod(_) if object.meta.controller().is_none() => containers(object),
            _ => &[],
        };
        Handles {
            replicas,
            image: containers.first().map(|container| ContainerImage {
                container: container.name.to_string(),
                image: container.image.to_string(),
            }),
        }
    }
}

/// Returns the containers of a Pod or of a Pod template.
pub(crate) fn containers(object: &Object) -> &[Container] {
    match object.pod() {
        Some(pod) => &pod.spec.containers,
        None => object
            .pod_template()
            .map_or(&[], |template| &template.spec.containers),
    }
}

/// Returns the image of an object that is not in the catalogue, and is assumed to exist.
pub fn assumed_image(object: &Object) -> Option<&str> {
    containers(object)
        .iter()
        .map(|container| container.image.as_str())
        .find(|image| kubelet::is_assumed(image))
}
