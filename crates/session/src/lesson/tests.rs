use super::{
    LessonCard, LessonFile, LessonMsg, Phase, QuestionCard, Result, ResumePoint, TaskCard,
};
use crate::console::ConsoleMsg;
use crate::editor::{ApplyStatus, EditorMsg};
use crate::replace::{ReplaceMsg, Replacement};
use crate::selection::SelectionMsg;
use crate::tests::ready;
use crate::timeline::TimelineMsg;
use crate::{Msg, State};
use k8s_model::{Kind, Time};
use lesson::format::Tongue;
use lesson::library::{self, BY_SECTION};

const LESSON: &str = include_str!("../../../../static/lessons/control-loop.yaml");

fn run(state: &mut State, seconds: u64, budget: usize) {
    let to = Time(state.timeline.run.sim().now().0 + seconds * 1_000_000);
    while !state.advance(to, budget) {}
}

fn opened() -> State {
    let mut state = State::from_link(None);
    let file = LessonFile::new("control-loop", lesson::parse(LESSON).unwrap());
    state.update(ReplaceMsg::Ask(Replacement::Lesson(file)));
    state
}

fn question(state: &State) -> QuestionCard {
    card(state).question.unwrap()
}

fn task(state: &State) -> TaskCard {
    card(state).task.unwrap()
}

fn card(state: &State) -> LessonCard {
    state.player.as_ref().unwrap().card(
        &state.timeline.run,
        state.timeline.playing,
        Tongue::English,
    )
}

#[test]
fn a_lesson_is_played_to_its_end_the_same_way_however_the_clock_is_sliced() {
    let played = |budget: usize| {
        let mut state = opened();
        run(&mut state, 1, budget);
        assert_eq!(
            (card(&state).step, card(&state).phase),
            ((1, 4), Phase::Done)
        );
        assert!(
            card(&state)
                .say
                .starts_with("A manifest describes the desired state")
        );
        state.update(LessonMsg::Next);
        assert_eq!(card(&state).phase, Phase::Playing);
        run(&mut state, 30, budget);
        assert!(
            card(&state).say.contains("wants 2 Pods, and 2 are ready"),
            "{}",
            card(&state).say
        );
        assert!(
            state.editor.text.contains("kind: Deployment")
                && state.editor.status == ApplyStatus::Applied
        );
        assert!(
            state
                .selection
                .selected
                .as_ref()
                .is_some_and(|key| key.kind == Kind::Deployment)
        );
        state.update(LessonMsg::Next);
        let asked = card(&state);
        assert_eq!(
            (
                asked.phase,
                question(&state).choices.len(),
                question(&state).right,
                asked.say.as_str()
            ),
            (Phase::Asking, 3, None, "")
        );
        state.update(LessonMsg::Answer(2));
        assert_eq!(
            (card(&state).phase, question(&state).right),
            (Phase::Playing, None)
        );
        run(&mut state, 60, budget);
        let told = card(&state);
        assert_eq!(
            (told.phase, question(&state).given, question(&state).right),
            (Phase::Done, Some(2), Some(1))
        );
        assert!(
            question(&state)
                .because
                .starts_with("1 Pod is gone and 1 was created"),
            "{}",
            question(&state).because
        );
        state.update(LessonMsg::Next);
        assert_eq!(card(&state).phase, Phase::Task);
        run(&mut state, 5, budget);
        state.update(EditorMsg::Edit(
            state.editor.text.replace("replicas: 2", "replicas: 4"),
        ));
        state.update(Msg::Apply);
        run(&mut state, 20, budget);
        assert_eq!(
            (card(&state).phase, ready(&state.timeline.run)),
            (Phase::Done, 4)
        );
        assert_eq!(
            card(&state).results,
            [Result::Read, Result::Read, Result::Wrong, Result::Solved]
        );
        state
            .timeline
            .run
            .journal()
            .iter()
            .map(|entry| format!("{entry:?}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(played(4), played(5_000));
}

/// Creates a lesson of the library at its end, with its tasks solved by their solutions.
fn finished() -> State {
    let mut state = opened();
    for _ in 0..4 {
        run(&mut state, 60, usize::MAX);
        for msg in [LessonMsg::Answer(1), LessonMsg::Show] {
            if matches!(
                (card(&state).phase, &msg),
                (Phase::Asking, LessonMsg::Answer(_)) | (Phase::Task, LessonMsg::Show)
            ) {
                state.update(msg);
                run(&mut state, 60, usize::MAX);
            }
        }
        if card(&state).step.0 < 4 {
            assert_eq!(card(&state).score, None);
            state.update(LessonMsg::Next);
        }
    }
    state
}

#[test]
fn a_lesson_ends_with_what_was_right_and_leads_to_the_next_without_a_question() {
    let mut state = finished();
    assert_eq!(
        (card(&state).phase, card(&state).score),
        (Phase::Done, Some((1, 2))),
        "its task was shown"
    );
    let next = library::after(BY_SECTION, "control-loop").expect("a next lesson");
    assert_eq!(next.name, "events-and-state");
    assert_eq!(
        library::after(BY_SECTION, library::ALL.last().unwrap().name),
        None
    );
    // Actions within the lesson are no work that would be lost.
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment web --replicas=5".into(),
    ));
    let file = LessonFile::new(
        next.name,
        lesson::parse(include_str!(
            "../../../../static/lessons/events-and-state.yaml"
        ))
        .unwrap(),
    );
    state.update(ReplaceMsg::Ask(Replacement::Lesson(file)));
    assert_eq!(
        (state.replacing.asked.is_none(), card(&state).title.as_str()),
        (true, "Events or state?")
    );
}

#[test]
fn the_way_back_from_a_new_beginning_is_not_offered_over_a_lesson() {
    let mut state = State::from_link(None);
    run(&mut state, 5, 64);
    // Without an action nothing is lost.
    state.update(EditorMsg::Edit(LESSON.into()));
    state.update(Msg::Apply);
    assert!(state.player.is_some() && state.replacing.before.is_none());
    let mut state = State::from_link(None);
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment nginx-deployment --replicas=3".into(),
    ));
    state.update(ReplaceMsg::Ask(Replacement::Lesson(LessonFile::new(
        "control-loop",
        lesson::parse(LESSON).unwrap(),
    ))));
    state.update(ReplaceMsg::Confirm);
    assert!(state.player.is_some() && !state.offers_undo());
    state.update(LessonMsg::Close);
    assert!(state.offers_undo(), "what was there before is not lost");
}

#[test]
fn no_text_points_to_a_manifest_that_is_not_there_yet() {
    for entry in lesson::library::ALL {
        let path = format!(
            "{}/../../static/lessons/{}.yaml",
            env!("CARGO_MANIFEST_DIR"),
            entry.name
        );
        let lesson = lesson::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        for step in &lesson.steps {
            if step
                .actions
                .iter()
                .any(|action| matches!(action, scenario::ScenarioStep::Apply(_)))
            {
                break;
            }
            let texts = [Tongue::English, Tongue::Chinese].map(|tongue| step.say.plain(tongue));
            assert!(
                !texts[0].contains("This manifest") && !texts[1].contains("这份清单"),
                "{}: {texts:?}",
                entry.name
            );
        }
    }
}

#[test]
fn a_lesson_explains_once_the_descriptions_are_there() {
    let text = "lesson: 1\ntitle: Words\nsummary: Words.\nsteps:\n- say: Read.\n- say: Done.\n  do:\n  - kubectl: explain pod.spec.nodeName\n";
    let mut state = State::from_link(None);
    state.update(ReplaceMsg::Ask(Replacement::Lesson(LessonFile::new(
        "words",
        lesson::parse(text).unwrap(),
    ))));
    state.update(LessonMsg::Next);
    run(&mut state, 5, 64);
    assert_eq!(
        state.console.lines.last().map(|line| line.text.as_str()),
        Some("$ kubectl explain pod.spec.nodeName")
    );
    assert!(state.console.requests_descriptions(&state.timeline.run));
    state.update(ConsoleMsg::Described(true));
    assert!(
        state
            .console
            .lines
            .iter()
            .any(|line| line.text.contains("FIELD: nodeName <string>"))
    );
}

#[test]
fn what_is_played_can_be_hurried_shown_and_played_again() {
    let mut state = opened();
    let next = |state: &mut State| {
        state.update(LessonMsg::Next);
        state.update(LessonMsg::Hurry);
        while state.timeline.run_until.is_some() {
            state.run_slice(50);
        }
    };
    next(&mut state);
    assert_eq!(
        (
            card(&state).step.0,
            card(&state).phase,
            ready(&state.timeline.run)
        ),
        (2, Phase::Done, 2)
    );
    let before = state.timeline.run.objects();
    // An unanswered question is played nevertheless, and its answer shown.
    state.update(LessonMsg::Next);
    next(&mut state);
    assert_eq!(
        (
            card(&state).step.0,
            card(&state).phase,
            question(&state).given,
            question(&state).right
        ),
        (3, Phase::Done, None, Some(1))
    );
    state.update(LessonMsg::Next);
    run(&mut state, 1, 64);
    assert_eq!(
        (card(&state).phase, task(&state).more_hints),
        (Phase::Task, true)
    );
    for _ in 0..3 {
        state.update(LessonMsg::Hint);
    }
    assert_eq!(
        (
            task(&state).hints.len(),
            task(&state).more_hints,
            task(&state).why.is_empty()
        ),
        (2, false, false)
    );
    // Skipping a task has it solved at once.
    let mut skipped = State::from_link(None);
    std::mem::swap(&mut skipped, &mut state);
    skipped.update(LessonMsg::Next);
    while skipped.timeline.run_until.is_some() {
        skipped.run_slice(50);
    }
    assert_eq!(
        (
            card(&skipped).phase,
            card(&skipped).results[3],
            ready(&skipped.timeline.run)
        ),
        (Phase::Done, Result::Shown, 4)
    );
    skipped.update(LessonMsg::Again);
    run(&mut skipped, 1, 64);
    state = skipped;
    state.update(LessonMsg::Show);
    run(&mut state, 30, 64);
    assert_eq!(
        (card(&state).phase, card(&state).results[3]),
        (Phase::Done, Result::Shown)
    );
    state.update(LessonMsg::Back);
    assert_eq!((card(&state).step.0, card(&state).phase), (3, Phase::Done));
    state.update(LessonMsg::Again);
    assert_eq!(
        (card(&state).step.0, card(&state).phase),
        (3, Phase::Asking)
    );
    assert_eq!(state.timeline.run.objects(), before);
    state.update(LessonMsg::Answer(1));
    run(&mut state, 60, 64);
    assert_eq!(card(&state).results[2], Result::Right);
    // Starting over restarts the lesson.
    state.update(ReplaceMsg::Ask(Replacement::StartOver));
    state.update(ReplaceMsg::Confirm);
    assert_eq!((card(&state).step.0, state.timeline.run.now()), (1, 0));
    state.update(LessonMsg::Close);
    assert!(state.player.is_none());
    state.update(ReplaceMsg::Ask(Replacement::Example(1)));
    assert!(state.player.is_none());
}

/// Lesson of two Pods with a question amid a change and a task that undoes it.
const ASKED: &str = "lesson: 1\ntitle: a\nsteps:\n- say: '{{ ready(web) }} Pods run'\n  do: [{kubectl: create deployment web --image=nginx --replicas=2}, {wait: settled}]\n\
    - say: scaled\n  do: [{kubectl: scale deployment web --replicas=4}, {wait: 100ms}]\n\
    - say: '{{ pods(web) }} Pods are left'\n  predict: {ask: '{{ pods(web) }} of {{ replicas(web) }} exist. How many are ready?', number: ready(web), because: '{{ ready(web) }}'}\n  do: [{wait: settled}]\n  \
    task:\n    goal: 'Delete the {{ pods(web) }} Pods'\n    check: pods(web) == 0\n    solution: [{kubectl: scale deployment web --replicas=0}]\n- say: end\n";

fn asked() -> State {
    let mut state = State::from_link(None);
    state.update(ReplaceMsg::Ask(Replacement::Lesson(LessonFile::new(
        "asked",
        lesson::parse(ASKED).unwrap(),
    ))));
    run(&mut state, 30, 64);
    state.update(LessonMsg::Next);
    while card(&state).phase == Phase::Playing {
        let to = Time(state.timeline.run.sim().now().0 + 10_000);
        state.advance(to, 64);
    }
    state.update(LessonMsg::Next);
    assert_eq!(card(&state).phase, Phase::Asking);
    state
}

#[test]
fn the_clock_stands_while_a_question_is_open() {
    let mut state = asked();
    let at = state.timeline.run.sim().now();
    run(&mut state, 30, 64);
    for msg in [
        TimelineMsg::Toggle,
        TimelineMsg::Step,
        TimelineMsg::Seconds(5),
        TimelineMsg::Settle,
        TimelineMsg::StartAt(90_000),
    ] {
        state.update(msg);
        run(&mut state, 5, 64);
        state.run_slice(1_000);
        assert!(!state.timeline.playing);
    }
    assert_eq!(
        (state.timeline.run.sim().now(), ready(&state.timeline.run)),
        (at, 2)
    );
    assert!(
        state
            .announcer
            .notice()
            .english()
            .contains("answer the question"),
        "{}",
        state.announcer.notice().english()
    );
    // The past can be shown, and leads back to the question.
    state.update(TimelineMsg::Seek(at.0 / 1000 - 50));
    state.update(TimelineMsg::Play);
    run(&mut state, 30, 64);
    run(&mut state, 30, 64);
    assert_eq!(
        (state.timeline.run.sim().now(), card(&state).phase),
        (at, Phase::Asking)
    );
    state.update(LessonMsg::Answer(4));
    run(&mut state, 60, 64);
    assert_eq!(
        (card(&state).phase, question(&state).right),
        (Phase::Task, Some(4))
    );
}

#[test]
fn a_text_keeps_the_values_of_its_instant() {
    let mut state = State::from_link(None);
    state.update(ReplaceMsg::Ask(Replacement::Lesson(LessonFile::new(
        "asked",
        lesson::parse(ASKED).unwrap(),
    ))));
    assert_eq!(
        (card(&state).phase, card(&state).say.as_str()),
        (Phase::Playing, "2 Pods run"),
        "also before they run"
    );
    state = asked();
    let ask = question(&state).ask;
    assert_eq!(ask, "4 of 4 exist. How many are ready?");
    state.update(LessonMsg::Answer(3));
    run(&mut state, 60, 64);
    let texts = |state: &State| {
        (
            card(state).say,
            question(state).ask,
            question(state).because,
            task(state).goal,
        )
    };
    let told = texts(&state);
    assert_eq!(
        (told.0.as_str(), told.3.as_str()),
        ("4 Pods are left", "Delete the 4 Pods")
    );
    state.update(TimelineMsg::Seek(0));
    assert_eq!(texts(&state), told, "in the past");
    state.update(TimelineMsg::Live);
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment web --replicas=0".into(),
    ));
    run(&mut state, 60, 64);
    assert_eq!(
        (card(&state).phase, texts(&state)),
        (Phase::Done, told),
        "once its task is done"
    );
}

#[test]
fn back_keeps_answers() {
    let mut state = asked();
    state.update(LessonMsg::Answer(4));
    run(&mut state, 60, 64);
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment web --replicas=0".into(),
    ));
    run(&mut state, 60, 64);
    let (there, score) = (card(&state), state.player.as_ref().unwrap().score());
    assert_eq!((there.phase, score), (Phase::Done, (2, 2)));
    state.update(LessonMsg::Back);
    assert_eq!(
        (card(&state).step.0, card(&state).say.as_str()),
        (2, "scaled")
    );
    assert_eq!(state.timeline.run.sim().store().count(Kind::Pod), 4);
    // Onward without an action: the answer and the task are as they were.
    state.update(LessonMsg::Next);
    assert_eq!(
        (card(&state), state.player.as_ref().unwrap().score()),
        (there.clone(), score)
    );
    state.update(LessonMsg::Next);
    state.update(LessonMsg::Back);
    assert_eq!(
        (card(&state).question, card(&state).task),
        (there.question, there.task)
    );
    assert_eq!(
        (
            card(&state).results[2],
            state.player.as_ref().unwrap().score()
        ),
        (Result::Solved, score)
    );
    // After an action the next step starts afresh.
    state.update(LessonMsg::Back);
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment web --replicas=3".into(),
    ));
    state.update(LessonMsg::Next);
    assert_eq!(
        (card(&state).phase, question(&state).given),
        (Phase::Asking, None)
    );
}

#[test]
fn the_past_and_branches_do_not_confuse_it() {
    let mut state = opened();
    state.update(LessonMsg::Next);
    run(&mut state, 30, 64);
    state.update(LessonMsg::Next);
    state.update(LessonMsg::Answer(1));
    run(&mut state, 40, 64);
    let began = state.timeline.run.now() - 30_000;
    // Looking at the past changes nothing.
    state.update(TimelineMsg::Seek(began));
    assert_eq!(card(&state).phase, Phase::Done);
    state.update(LessonMsg::Next);
    run(&mut state, 1, 64);
    assert_eq!(
        (card(&state).phase, state.timeline.run.in_past()),
        (Phase::Task, false)
    );
    // An action in the past becomes the present.
    state.update(TimelineMsg::Seek(state.timeline.run.now() - 500));
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment web --replicas=4".into(),
    ));
    run(&mut state, 30, 64);
    assert_eq!(
        (state.timeline.run.branches().0, card(&state).phase),
        (2, Phase::Done)
    );
}

#[test]
fn a_lesson_in_the_editor_is_played_beside_its_text() {
    let mut state = State::from_link(None);
    state.update(EditorMsg::Edit(
        LESSON.replace("view: ownership", "view: owners"),
    ));
    state.update(EditorMsg::Check);
    assert!(
        state
            .editor
            .diagnostics
            .iter()
            .any(|one| one.error && one.message.english().contains("no diagram owners"))
    );
    state.update(Msg::Apply);
    assert!(state.player.is_none() && state.editor.status == ApplyStatus::Rejected);
    state.update(EditorMsg::Edit(LESSON.into()));
    state.update(EditorMsg::Check);
    assert!(state.editor.diagnostics.is_empty());
    state.update(Msg::Apply);
    assert!(state.player.is_some() && state.editor.status == ApplyStatus::Applied);
    state.update(LessonMsg::Next);
    run(&mut state, 30, 64);
    assert_eq!(
        (ready(&state.timeline.run), &*state.editor.text),
        (2, LESSON)
    );
    // A link has it.
    let again = State::from_link(Some(&state.link()));
    assert_eq!(card(&again).title, "The control loop");
    assert_eq!(state.editor.drift(&state.timeline.run), Vec::new());
}

#[test]
fn what_a_person_looked_at_counts() {
    let mut state = opened();
    state.update(EditorMsg::Edit(
        "lesson: 1\ntitle: a\nsteps:\n- say: a\n  do: [{kubectl: run web --image=nginx}, {wait: settled}]\n  task:\n    goal: a\n    check: looked(pod/web) and ran('get events')\n    solution: [{kubectl: describe pod web}]\n"
            .into(),
    ));
    state.update(Msg::Apply);
    run(&mut state, 30, 64);
    assert_eq!(card(&state).phase, Phase::Task);
    let pod = state
        .timeline
        .run
        .sim()
        .store()
        .list(Kind::Pod)
        .next()
        .unwrap()
        .key();
    state.update(SelectionMsg::Select(Some(pod)));
    assert_eq!(card(&state).phase, Phase::Task);
    state.update(ConsoleMsg::Enter("kubectl get events".into()));
    assert_eq!(card(&state).phase, Phase::Done);
}

#[test]
fn a_question_counts_also_where_a_task_follows_it() {
    let mut state = State::from_link(None);
    state.update(EditorMsg::Edit(
        "lesson: 1\ntitle: a\nsteps:\n- say: a\n  do: [{kubectl: run web --image=nginx}, {wait: settled}]\n  predict: {ask: a, number: count(pods)}\n  task:\n    goal: a\n    check: count(pods) == 0\n    solution: [{kubectl: delete pod web}]\n"
            .into(),
    ));
    state.update(Msg::Apply);
    let score = |state: &State| state.player.as_ref().unwrap().score();
    assert_eq!(score(&state), (0, 2));
    state.update(LessonMsg::Answer(1));
    run(&mut state, 30, 64);
    assert_eq!(card(&state).phase, Phase::Task);
    state.update(ConsoleMsg::Enter(
        "kubectl delete pod web --wait=false".into(),
    ));
    // The task is done once the Pod is gone, and stays done when another Pod replaces it.
    run(&mut state, 60, 5_000);
    assert_eq!((card(&state).phase, score(&state)), (Phase::Done, (2, 2)));
}

#[test]
fn a_lesson_of_ones_own_can_be_undone_and_gives_back_the_lesson_before_it() {
    let mut state = opened();
    run(&mut state, 1, 64);
    state.update(EditorMsg::Edit(
        "lesson: 1\ntitle: mine\nsteps:\n- say: a\n".into(),
    ));
    state.update(Msg::Apply);
    assert_eq!(card(&state).title, "mine");
    // The author restarts the lesson often.
    state.update(EditorMsg::Edit(
        "lesson: 1\ntitle: mine\nsteps:\n- say: b\n".into(),
    ));
    state.update(ReplaceMsg::Undo);
    assert_eq!(
        (card(&state).title.as_str(), card(&state).step.0),
        ("The control loop", 1)
    );
}

#[test]
fn what_was_entered_before_the_task_does_not_count_after_a_branch_either() {
    let mut state = State::from_link(None);
    state.update(EditorMsg::Edit(
        "lesson: 1\ntitle: a\nsteps:\n- say: a\n  do: [{kubectl: run web --image=nginx}, {wait: 5s}, {kubectl: label pod web a=b}, {wait: settled}]\n- say: b\n  task:\n    goal: a\n    check: ran('label pod')\n    solution: [{kubectl: label pod web c=d}]\n"
            .into(),
    ));
    state.update(Msg::Apply);
    run(&mut state, 30, 64);
    state.update(LessonMsg::Next);
    run(&mut state, 5, 64);
    assert_eq!(card(&state).phase, Phase::Task);
    state.update(TimelineMsg::Seek(state.timeline.run.now() - 1_000));
    state.update(ConsoleMsg::Enter("kubectl annotate pod web x=y".into()));
    run(&mut state, 5, 64);
    assert_eq!(
        (state.timeline.run.branches().0, card(&state).phase),
        (2, Phase::Task)
    );
    state.update(ConsoleMsg::Enter("kubectl label pod web e=f".into()));
    run(&mut state, 5, 64);
    assert_eq!(card(&state).phase, Phase::Done);
}

#[test]
fn progress_is_a_file_with_this_lesson_and_what_is_kept_of_others() {
    let mut state = opened();
    for _ in 0..2 {
        run(&mut state, 30, usize::MAX);
        state.update(LessonMsg::Next);
    }
    state.update(LessonMsg::Answer(1));
    run(&mut state, 30, usize::MAX);
    let kept = [("undo", "over".to_owned()), ("scaling", "2/5".to_owned())];
    let file = state
        .player
        .as_ref()
        .unwrap()
        .progress_file(kept.into_iter(), Tongue::Chinese);
    assert_eq!(
        (file["loopscope"].as_str(), file["version"].as_i64()),
        (Some("progress"), Some(1))
    );
    assert_eq!(
        file["kept"],
        serde_json::json!({ "undo": "over", "scaling": "2/5" })
    );
    let lesson = &file["lesson"];
    assert_eq!(
        (lesson["lesson"].as_str(), lesson["title"].as_str()),
        (Some("control-loop"), Some("控制循环"))
    );
    assert_eq!(
        (
            lesson["step"].as_i64(),
            lesson["phase"].as_str(),
            lesson["over"].as_bool()
        ),
        (Some(3), Some("done"), Some(false))
    );
    assert_eq!(
        lesson["results"],
        serde_json::json!(["read", "read", "right", "open"])
    );
    assert_eq!(
        (lesson["right"].as_i64(), lesson["asked"].as_i64()),
        (Some(1), Some(2))
    );
}

/// Creates a lesson of one's own as a learner takes it.
fn learned() -> State {
    let mut state = State::from_link(None);
    state.update(EditorMsg::Edit(ASKED.into()));
    state.update(Msg::Apply);
    state.learn();
    state
}

#[test]
fn a_learner_keeps_the_source_out_of_the_editor_and_in_the_link() {
    let mut state = learned();
    let holds = |state: &State| {
        assert!(
            !state.player.as_ref().unwrap().is_own() && !state.editor.text.contains("lesson:"),
            "{}",
            state.editor.text
        );
        assert_eq!(state.player.as_ref().unwrap().source(), Some(ASKED));
        assert_eq!(state.link().manifest.as_deref(), Some(ASKED));
    };
    holds(&state);
    run(&mut state, 30, 64);
    state.update(LessonMsg::Next);
    assert_eq!(card(&state).step.0, 2);
    // Starting over would lose the person's action: the page asks first.
    state.update(ConsoleMsg::Enter(
        "kubectl scale deployment web --replicas=3".into(),
    ));
    state.update(ReplaceMsg::Ask(Replacement::StartOver));
    state.update(ReplaceMsg::Confirm);
    assert_eq!(card(&state).step.0, 1);
    holds(&state);
}

/// Progress of a lesson as `static/scorm.js` keeps it.
fn kept(
    lesson: &str,
    title: &str,
    step: usize,
    results: &[&str],
    answered: &[bool],
) -> ResumePoint {
    let progress = serde_json::json!({ "lesson": lesson, "title": title, "step": step, "results": results, "answered": answered });
    ResumePoint::read(&progress).unwrap()
}

fn resumed(state: &mut State, point: ResumePoint) {
    state.resume(point);
    for _ in 0..10_000 {
        if !state.is_resuming() {
            return;
        }
        state.run_slice(200);
    }
    panic!("{:?}", card(state));
}

#[test]
fn resume_reaches_the_step_and_restores_its_results() {
    let mut state = opened();
    resumed(
        &mut state,
        kept(
            "control-loop",
            "",
            4,
            &["read", "read", "wrong", "open"],
            &[false; 4],
        ),
    );
    assert_eq!((card(&state).step.0, ready(&state.timeline.run)), (4, 2));
    assert_eq!(
        card(&state).results,
        [Result::Read, Result::Read, Result::Wrong, Result::Open]
    );
    assert_eq!(state.player.as_ref().unwrap().score(), (0, 2));
    // A task was solved, and a question before it answered.
    let mut state = learned();
    resumed(
        &mut state,
        kept(
            "",
            "a",
            4,
            &["read", "read", "solved", "open"],
            &[false, false, true, false],
        ),
    );
    assert_eq!(
        (card(&state).step.0, card(&state).results[2]),
        (4, Result::Solved)
    );
    assert_eq!(state.player.as_ref().unwrap().score(), (2, 2));
    // A step beyond the end of the lesson is its last.
    let mut state = opened();
    resumed(&mut state, kept("control-loop", "", 99, &[], &[]));
    assert_eq!(card(&state).step.0, 4);
}

#[test]
fn resume_is_of_one_lesson() {
    let mut state = opened();
    for (lesson, title) in [
        ("scaling", "The control loop"),
        ("", "The control loop, too"),
        ("", ""),
    ] {
        state.resume(kept(lesson, title, 3, &["read", "read"], &[]));
        assert_eq!(
            (state.is_resuming(), card(&state).step.0),
            (false, 1),
            "{lesson} {title}"
        );
    }
    let mut own = learned();
    own.resume(kept("", "b", 3, &["read", "read"], &[]));
    assert_eq!((own.is_resuming(), card(&own).step.0), (false, 1));
    assert_eq!(
        ResumePoint::read(&serde_json::json!({ "step": 2, "results": [] })),
        None,
        "of no lesson"
    );
    assert_eq!(
        ResumePoint::read(&serde_json::json!({ "lesson": "scaling", "step": 0, "results": [] })),
        None
    );
}

#[test]
fn a_lesson_that_is_left_on_its_way_is_not_resumed() {
    let mut state = opened();
    state.resume(kept(
        "control-loop",
        "",
        4,
        &["read", "read", "right", "open"],
        &[],
    ));
    assert!(state.is_resuming(), "it takes a slice at least");
    state.update(LessonMsg::Close);
    (0..20).for_each(|_| state.run_slice(200));
    assert!(state.player.is_none() && !state.is_resuming());
    // Another lesson begins at its first step.
    let file = LessonFile::new("asked", lesson::parse(ASKED).unwrap());
    state.update(ReplaceMsg::Ask(Replacement::Lesson(file)));
    state.update(ReplaceMsg::Confirm);
    (0..20).for_each(|_| state.run_slice(200));
    assert_eq!(
        (
            card(&state).title.as_str(),
            card(&state).step.0,
            state.is_resuming()
        ),
        ("a", 1, false)
    );
    // The lesson that was left, restarted while it is resuming, also begins at its first step.
    let mut state = opened();
    state.resume(kept(
        "control-loop",
        "",
        4,
        &["read", "read", "right", "open"],
        &[],
    ));
    state.update(ReplaceMsg::Ask(Replacement::StartOver));
    state.update(ReplaceMsg::Confirm);
    assert_eq!((card(&state).step.0, state.is_resuming()), (1, false));
}

/// What the captions say of the machine on the right is so.
#[test]
fn the_event_driven_machine_follows_the_steps_of_its_lesson() {
    let mut state = State::from_link(None);
    let text = include_str!("../../../../static/lessons/events-and-state.yaml");
    let file = LessonFile::new("events-and-state", lesson::parse(text).unwrap());
    state.update(ReplaceMsg::Ask(Replacement::Lesson(file)));
    /// Plays the step to its end and returns the ready Pods, left and right.
    fn both(state: &mut State) -> (usize, Option<usize>) {
        if state.player.as_ref().unwrap().state.phase == Phase::Asking {
            state.update(LessonMsg::Answer(0));
        }
        run(state, 60, 64);
        while !state
            .compare
            .sync_branch(&state.timeline.run, &state.selection, 1_000)
        {}
        let beside = state.compare.branch.as_ref();
        (
            ready(&state.timeline.run),
            beside.map(|beside| ready(&beside.run)),
        )
    }
    assert_eq!(both(&mut state), (3, None));
    state.update(LessonMsg::Next);
    assert_eq!(both(&mut state), (3, Some(3)));
    state.update(LessonMsg::Next);
    state.update(LessonMsg::Answer(3));
    run(&mut state, 5, 64);
    let lost = ready(&state.timeline.run);
    assert_eq!((lost, both(&mut state)), (2, (3, Some(2))));
    state.update(LessonMsg::Next);
    assert_eq!(both(&mut state), (3, Some(2)));
    // Back and forth the machine has the history of the step.
    state.update(LessonMsg::Back);
    state.update(LessonMsg::Back);
    assert_eq!(both(&mut state), (3, Some(3)));
    state.update(LessonMsg::Next);
    assert_eq!(both(&mut state), (3, Some(2)));
    state.update(LessonMsg::Next);
    state.update(LessonMsg::Next);
    assert_eq!(both(&mut state).1, None, "no machine in the next step");
}
