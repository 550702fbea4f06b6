use i18n::{Message, msg};
use projection::model::{Id, Model, Root};
use std::collections::{BTreeMap, BTreeSet};
use views::grouping::*;
use projection::model::ControllerCard;

fn root(kind: &str, namespace: &str, app: &str) -> Root {
    let id = Id { kind: kind.into(), namespace: namespace.into(), name: "x".into(), uid: format!("{kind}{namespace}{app}") };
    let of = ControllerCard { id, app: app.into(), ..ControllerCard::default() };
    Root { controller: Some(of.into()), ..Root::default() }
}

fn titles(by: GroupBy, roots: Vec<Root>) -> Vec<(String, Vec<usize>)> {
    let grouping = Grouping { by, ..Grouping::default() };
    let groups = grouping.groups(&Model { roots, ..Model::default() });
    groups.into_iter().map(|group| (group.title.english(), group.roots)).collect()
}

fn some() -> Vec<Root> {
    vec![root("Deployment", "shop", "web"), root("StatefulSet", "shop", "db"), root("Deployment", "ops", ""), Root::default()]
}

#[test]
fn workloads_are_grouped_by_what_was_chosen() {
    let of = |title: &str, roots: &[usize]| (title.to_owned(), roots.to_vec());
    let bare = of("Pods without an owner", &[3]);
    assert_eq!(titles(GroupBy::Namespace, some()), [of("Namespace shop", &[0, 1]), of("Namespace ops", &[2]), bare.clone()]);
    assert_eq!(titles(GroupBy::Kind, some()), [of("Deployment", &[0, 2]), of("StatefulSet", &[1]), bare.clone()]);
    assert_eq!(titles(GroupBy::App, some()), [of("web", &[0]), of("db", &[1]), of("Without an app label", &[2]), bare.clone()]);
    assert_eq!(titles(GroupBy::Automatic, some()), titles(GroupBy::Namespace, some()));
    assert_eq!(titles(GroupBy::Automatic, some().split_off(2)), titles(GroupBy::Kind, some().split_off(2)));
}

#[test]
fn the_application_is_the_one_that_a_workload_names_itself() {
    let text = |own: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a, labels: {{{own}}}}}, spec: {{selector: {{matchLabels: {{app: a-1}}}}, \
             template: {{metadata: {{labels: {{app: a-1}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}}}}}"
        )
    };
    let app = |own: &str| {
        let mut state = session::State::new(&text(own), 1);
        state.update(session::selection::SelectionMsg::GroupBy(GroupBy::App));
        let scene = state.picture().scene.clone();
        let heading = scene.items.iter().find(|item| item.id.kind == GROUP);
        heading.map(|item| item.id.name.clone())
    };
    assert_eq!([app("app: a"), app("app.kubernetes.io/name: b, app: a"), app("tier: x")].map(Option::unwrap), ["a", "b", "a-1"]);
}

#[test]
fn a_group_is_folded_and_unfolded() {
    let mut grouping = Grouping { by: GroupBy::Kind, ..Grouping::default() };
    let model = Model { roots: some(), ..Model::default() };
    let uid = grouping.groups(&model)[1].id.uid.clone();
    grouping.toggle(uid.clone());
    let folded: Vec<bool> = grouping.groups(&model).iter().map(|group| group.folded).collect();
    assert_eq!(folded, [false, true, false]);
    grouping.toggle(uid);
    assert!(grouping.groups(&model).iter().all(|group| !group.folded));
}
