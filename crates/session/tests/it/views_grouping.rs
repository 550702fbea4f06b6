use views::grouping::*;

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
    assert_eq!(
        [
            app("app: a"),
            app("app.kubernetes.io/name: b, app: a"),
            app("tier: x")
        ]
        .map(Option::unwrap),
        ["a", "b", "a-1"]
    );
}
