//! Lists and watches: HTTP requests as requests to the API server, and their responses as HTTP.

use super::cluster::{Cluster, Reply};
use super::http_request::{HttpRequest, Target};
use super::objects::rendered;
use super::show::Representation;
use super::status::{Answer, not_allowed};
use super::watch::WatchStream;
use super::write::api_request;
use apiserver::{Content, ObjectList, Subresource, Verb};
use k8s_model::Kind;

/// Handles a list or a watch.
pub fn list(cluster: &mut Cluster, request: &HttpRequest, kind: Kind, target: &Target) -> Reply {
    let verb = match request.on("watch") {
        true => Verb::Watch,
        false => Verb::List,
    };
    let response = cluster.send(api_request(request, kind, target, verb, Subresource::Main));
    let form = Representation::new(&cluster.host.sim, request, kind, target.api_version());
    match response.result {
        Err(error) => Answer::error(&error, Some((kind, &target.name))).into(),
        Ok(Content::Watch(watch)) => {
            let (stream, receiver) = WatchStream::open(cluster, request, kind, watch, form);
            cluster.open.push(Box::new(stream));
            Reply::Stream("application/json", receiver, Vec::new())
        }
        Ok(Content::List(list)) => list_answer(cluster, &form, list).into(),
        Ok(_) => not_allowed().into(),
    }
}

/// Returns the HTTP answer with the objects of a list.
pub fn list_answer(cluster: &mut Cluster, form: &Representation, mut list: ObjectList) -> Answer {
    let objects: Vec<_> = list
        .by_ref()
        .map(|object| rendered(cluster, object).for_read())
        .collect();
    Answer::json_text(200, form.list(&cluster.host.sim, objects, &list))
}
