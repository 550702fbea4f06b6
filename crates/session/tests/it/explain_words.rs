use apiserver::journal::{Op, Record};
use explain::effect::effect;
use explain::words::*;
use k8s_model::Kind;
use projection::changes::fields;

#[test]
fn the_step_in_which_a_pod_disappears_says_so() {
    use session::timeline::TimelineMsg;
    let mut state = session::State::new((session::examples::ALL[2].text)(), 1);
    state.update(TimelineMsg::Seconds(30));
    state.update(session::console::ConsoleMsg::Enter(
        "kubectl delete pod web-0 --wait=false".into(),
    ));
    let steps: Vec<String> = (0..8)
        .map(|_| {
            state.update(TimelineMsg::Step);
            step(state.timeline.run.journal()).0.english()
        })
        .collect();
    assert!(
        steps
            .iter()
            .any(|step| step.ends_with(": Pod web-0 deleted")),
        "{steps:#?}"
    );
}

#[test]
fn a_mark_of_the_user_tells_of_commands_and_leads_to_what_they_wrote() {
    use session::console::ConsoleMsg;
    use session::timeline::TimelineMsg;
    let mut state = session::State::new((session::examples::ALL[0].text)(), 1);
    state.update(TimelineMsg::Seconds(10));
    let at = state.timeline.run.now();
    let name = "deployment nginx-deployment";
    state.update(ConsoleMsg::Enter(format!(
        "kubectl scale {name} --replicas=5"
    )));
    let told = |state: &session::State| {
        let journal = state.timeline.run.journal();
        (
            tell(journal, at, at, projection::marks::Lane::User).english(),
            object_at(journal, at, at, projection::marks::Lane::User),
        )
    };
    let (sentence, object) = told(&state);
    assert!(
        sentence.contains("scale") && !sentence.contains("more"),
        "{sentence}"
    );
    assert_eq!(
        object.map(|key| (key.kind, key.name.to_string())),
        Some((Kind::Deployment, "nginx-deployment".into()))
    );
    state.update(ConsoleMsg::Enter(format!("kubectl label {name} a=b")));
    assert!(told(&state).0.contains("1 more"), "{}", told(&state).0);
}

#[test]
fn a_status_write_names_the_changed_field() {
    let mut told = std::collections::BTreeMap::new();
    for example in session::examples::ALL {
        let mut state = session::State::new((example.text)(), 1);
        state.update(session::timeline::TimelineMsg::Seconds(70));
        for entry in state.timeline.run.journal().iter() {
            let Record::Write {
                op: Op::Modified,
                object,
                before: Some(before),
            } = &entry.record
            else {
                continue;
            };
            let words = effect(entry).english();
            assert!(
                !words.contains("status written") && !words.contains(": status,"),
                "{words}"
            );
            assert!(
                !words.contains("conditions["),
                "a condition is told by its type: {words}"
            );
            if words.ends_with(" changed") && !words.contains(": ") {
                assert!(
                    fields(before, object).is_empty(),
                    "{words}: {:?}",
                    fields(before, object)
                );
            }
            if let Some(at) = words.find(": ").filter(|_| {
                fields(before, object)
                    .iter()
                    .any(|field| field.path.starts_with("status."))
            }) {
                let field = words[at + 2..].split(' ').next().unwrap_or("").to_string();
                told.entry((object.kind.name(), field)).or_insert(words);
            }
        }
    }
    let of = |kind: &'static str, field: &str| {
        told.get(&(kind, field.to_string()))
            .map_or("", String::as_str)
    };
    assert!(
        of("ReplicaSet", "readyReplicas").ends_with(": readyReplicas 0 → 1"),
        "{told:#?}"
    );
    assert_eq!(
        of("Deployment", "readyReplicas"),
        "Deployment nginx-deployment: readyReplicas 0 → 1"
    );
    assert_eq!(of("Job", "succeeded"), "Job pi: succeeded 0 → 2");
    assert_eq!(of("CronJob", "active"), "CronJob hello: active set");
}

#[test]
fn only_counts_are_grouped_and_secret_values_are_hidden() {
    let of = |port: u16, pass: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {{ports: [{{port: {port}}}]}}\n---\n\
             apiVersion: v1\nkind: Secret\nmetadata: {{name: sec}}\nstringData: {{pass: {pass}}}\n"
        )
    };
    let mut state = session::State::new(&of(8080, "one"), 1);
    state.update(session::timeline::TimelineMsg::Seconds(1));
    state.update(session::editor::EditorMsg::Edit(of(9090, "two")));
    state.update(session::Msg::Apply);
    let journal = state.timeline.run.journal();
    let told: Vec<String> = journal
        .iter()
        .filter(|entry| entry.actor.component.name() == "user")
        .map(|entry| effect(entry).english())
        .collect();
    assert!(
        told.contains(&"Service s: spec.ports[0].port 8080 → 9090".to_string()),
        "{told:?}"
    );
    assert!(
        told.contains(&"Secret sec: data.pass changed".to_string()),
        "{told:?}"
    );
}
