//! Parser of lessons, which reports errors with their lines.

use super::expr::{Expr, ExprError, Expressions};
use super::format::{
    Answers, BesideMachine, CaptionPiece, Choice, Lesson, LessonStep, LessonTask, Predict,
    ReviewQuestion, Text,
};
use super::script::LONGEST;
use apiserver::control_loop;
use apiserver::{Actor, Component, ControllerId};
use cluster::loops;
use controller_runtime::cluster::ClusterConfig;
use i18n::{Message, msg};
use kubectl::nearest;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Version of the format.
pub const VERSION: i64 = 1;
/// Maximum number of steps of a lesson.
const MAX_STEPS: usize = 200;

/// Error in a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Error of the YAML parser, or of a scenario's cluster or action, in its words.
    Text(String),
    /// Missing field.
    Missing(&'static str),
    /// Unknown field, with the nearest name.
    Unknown(String, Option<&'static str>),
    /// Wrong type; the expected one: `text`, `list`, `number`.
    Type(&'static str),
    /// Unsupported version of the format.
    Version,
    /// Unknown diagram.
    NoView(String),
    /// Unknown machine beside the cluster.
    NoMachine(String),
    /// Unknown controller.
    NoLoop(String),
    /// Number of a choice that there is not.
    NoChoice(u64),
    /// Placeholder in a text that is shown as it is written.
    Placeholder,
    /// Question with fewer than two choices and no number.
    NoAnswers,
    /// Too many steps.
    TooLong,
    /// Duplicate field of a mapping.
    Repeated(String),
    /// Second document.
    Second,
    /// Unterminated placeholder.
    OpenHole,
    /// Actions that take too long.
    Lasts,
    /// Invalid expression.
    Expression(ExprError),
}

/// Error with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonError {
    /// Line, from 1.
    pub line: usize,
    /// Path of the field.
    pub path: String,
    /// Error.
    pub problem: Problem,
}

impl LessonError {
    /// Returns the error as a message.
    pub fn message(&self) -> Message {
        let what = match &self.problem {
            Problem::Text(text) => Message::state(text),
            Problem::Missing(field) => msg::lesson_missing(*field),
            Problem::Unknown(field, None) => msg::lesson_unknown_field(field),
            Problem::Unknown(field, Some(near)) => msg::lesson_unknown_field_near(field, *near),
            Problem::Type("text") => msg::lesson_no_text(),
            Problem::Type("list") => msg::lesson_no_list(),
            Problem::Type("number") => msg::lesson_no_number(),
            Problem::Type(_) => msg::lesson_no_mapping(),
            Problem::Repeated(field) => msg::lesson_repeated(field),
            Problem::Second => msg::lesson_second(),
            Problem::OpenHole => msg::lesson_open_hole(),
            Problem::Version => msg::lesson_version(VERSION),
            Problem::NoMachine(word) => msg::lesson_no_machine(word),
            Problem::NoView(view) => msg::lesson_no_view(
                view,
                Message::list(
                    views::ALL
                        .iter()
                        .map(|view| Message::name(view.id))
                        .collect(),
                ),
            ),
            Problem::NoLoop(name) => msg::lesson_no_loop(name),
            Problem::NoAnswers => msg::lesson_no_answers(),
            Problem::NoChoice(number) => msg::lesson_no_choice(*number as i64),
            Problem::Placeholder => msg::lesson_placeholder(),
            Problem::TooLong => msg::lesson_too_long(MAX_STEPS),
            Problem::Lasts => msg::lesson_lasts(LONGEST.0 / 1000),
            Problem::Expression(error) => of_expression(error),
        };
        if self.path.is_empty() {
            what
        } else {
            msg::lesson_at(&self.path, what)
        }
    }
}

/// Returns the error of an expression as a message.
pub fn of_expression(error: &ExprError) -> Message {
    match error {
        ExprError::Unexpected(token) if token.is_empty() => msg::lesson_expression_ends(),
        ExprError::Unexpected(token) => msg::lesson_expression_unexpected(token),
        ExprError::NoFunction(name, None) => msg::lesson_no_function(name),
        ExprError::NoFunction(name, Some(near)) => msg::lesson_no_function_near(name, *near),
        ExprError::Arguments(_, usage) => msg::lesson_arguments(*usage),
        ExprError::OnlyNow(name) => msg::lesson_only_now(*name),
        ExprError::Nested => msg::lesson_nested(),
        ExprError::TooDeep => msg::lesson_too_deep(),
        ExprError::TooLong => msg::lesson_expression_long(),
    }
}

/// Returns true if a text is a lesson, by its first field.
pub fn is_lesson(text: &str) -> bool {
    let mut lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && *line != "---");
    lines.next().is_some_and(|line| line.starts_with("lesson:"))
}

/// Parses a lesson; returns all errors if there are any.
pub fn parse(text: &str) -> Result<Lesson, Vec<LessonError>> {
    let read = manifest::parse(text.as_bytes());
    if let Some(fault) = read.diagnostics.first() {
        return Err(vec![LessonError {
            line: fault.line,
            path: String::new(),
            problem: Problem::Text(fault.fault.to_string()),
        }]);
    }
    let value = read
        .documents
        .first()
        .map_or(Json::Null, |document| document.value.clone());
    let mut reader = Reader::default();
    let lesson = reader.lesson(&value);
    let line = |path: &str| manifest::locate(text.as_bytes(), 0, path).map_or(1, |(line, ..)| line);
    let mut faults: Vec<LessonError> = reader
        .faults
        .into_iter()
        .map(|(path, problem)| LessonError {
            line: line(&path),
            path,
            problem,
        })
        .collect();
    // In a manifest the last of duplicate fields counts; here half of a step would be lost.
    faults.extend(
        manifest::repeated(text.as_bytes()).map(|(line, key)| LessonError {
            line,
            path: String::new(),
            problem: Problem::Repeated(key),
        }),
    );
    faults.extend(read.documents.get(1).map(|more| LessonError {
        line: more.line,
        path: String::new(),
        problem: Problem::Second,
    }));
    if faults.is_empty() {
        Ok(lesson)
    } else {
        Err(faults)
    }
}

/// Reader of values that collects errors.
#[derive(Default)]
struct Reader {
    faults: Vec<(String, Problem)>,
    /// Expressions of the current step.
    over: Expressions,
    /// Loops that the steps so far have written.
    loops: BTreeSet<String>,
}

/// Returns the names of the ControlLoops that an action applies.
fn loops_of(action: &Json) -> Vec<String> {
    let text = action["apply"].as_str().unwrap_or("");
    let documents = manifest::parse(text.as_bytes()).documents.into_iter();
    documents
        .filter(|document| document.value["kind"] == control_loop::KIND)
        .filter_map(|document| Some(document.value["metadata"]["name"].as_str()?.to_owned()))
        .collect()
}

/// Fields of a lesson. `static/lesson.schema.json` has these and those below (`tests/command/lesson_schema.rs`).
pub const LESSON: &[&str] = &[
    "lesson", "title", "summary", "learned", "review", "cluster", "seed", "steps",
];
/// Fields of a question after the last step.
pub const REVIEW: &[&str] = &["ask", "choices", "right", "because"];
/// Fields of a step.
pub const STEP: &[&str] = &[
    "say", "look", "view", "beside", "loop", "do", "predict", "task", "notes", "expect",
];
/// Fields of a question.
pub const PREDICT: &[&str] = &["ask", "choices", "number", "because"];
/// Fields of a choice.
pub const CHOICE: &[&str] = &["say", "if"];
/// Fields of a task.
pub const TASK: &[&str] = &[
    "goal",
    "check",
    "hints",
    "about",
    "solution",
    "alternative",
    "wrong",
];
/// Fields of a text.
pub const TEXT: &[&str] = &["en", "zh"];

impl Reader {
    fn fault(&mut self, path: &str, problem: Problem) {
        self.faults.push((path.to_owned(), problem));
    }

    /// Returns a mapping, after checking that it has only known fields.
    fn fields<'v>(
        &mut self,
        value: &'v Json,
        path: &str,
        known: &[&'static str],
    ) -> Option<&'v Map<String, Json>> {
        let Some(map) = value.as_object() else {
            self.fault(path, Problem::Type("mapping"));
            return None;
        };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let near = nearest(key, known.iter().copied(), 2);
            self.fault(&within(path, key), Problem::Unknown(key.clone(), near));
        }
        Some(map)
    }

    fn lesson(&mut self, value: &Json) -> Lesson {
        let mut lesson = Lesson {
            title: Text::default(),
            summary: Text::default(),
            learned: Vec::new(),
            review: Vec::new(),
            cluster: ClusterConfig::default(),
            seed: 1,
            steps: Vec::new(),
        };
        let Some(map) = self.fields(value, "", LESSON) else {
            return lesson;
        };
        if map.get("lesson").and_then(Json::as_i64) != Some(VERSION) {
            self.fault("lesson", Problem::Version);
        }
        lesson.title = self.needed_text(map, "title", "");
        lesson.summary = self.text(map, "summary", "");
        lesson.learned = self.texts(map, "learned", "");
        let review = self.list(map, "review", "").iter().enumerate();
        lesson.review = review
            .map(|(at, question)| self.review(question, &format!("review[{at}]")))
            .collect();
        match map.get("seed").map(Json::as_u64) {
            Some(Some(seed)) => lesson.seed = seed,
            Some(None) => self.fault("seed", Problem::Type("number")),
            None => {}
        }
        let cluster = map.get("cluster").unwrap_or(&Json::Null);
        match scenario::known_cluster_fields(cluster).and_then(|()| scenario::cluster(cluster)) {
            Ok(cluster) => lesson.cluster = cluster,
            Err(words) => self.fault("cluster", Problem::Text(words)),
        }
        match map.get("steps") {
            Some(Json::Array(steps)) if steps.len() > MAX_STEPS => {
                self.fault("steps", Problem::TooLong)
            }
            Some(Json::Array(steps)) if !steps.is_empty() => {
                lesson.steps = steps
                    .iter()
                    .enumerate()
                    .map(|(at, step)| self.step(step, &format!("steps[{at}]")))
                    .collect();
            }
            Some(Json::Array(_)) | None => self.fault("", Problem::Missing("steps")),
            Some(_) => self.fault("steps", Problem::Type("list")),
        }
        lesson
    }

    fn step(&mut self, value: &Json, path: &str) -> LessonStep {
        self.over = Expressions::default();
        let mut step = LessonStep {
            say: Text::default(),
            look: None,
            view: None,
            beside: None,
            control_loop: None,
            actions: Rc::default(),
            predict: None,
            task: None,
            notes: Text::default(),
            expect: Vec::new(),
            over: Rc::default(),
        };
        let Some(map) = self.fields(value, path, STEP) else {
            return step;
        };
        step.say = self.needed_text(map, "say", path);
        step.look = self.word(map, "look", path).map(Into::into);
        if let Some(word) = self.word(map, "view", path) {
            step.view = views::by_id(word);
            if step.view.is_none() {
                self.fault(&within(path, "view"), Problem::NoView(word.to_owned()));
            }
        }
        match self.word(map, "beside", path) {
            None => {}
            Some("event-driven") => step.beside = Some(BesideMachine::EventDriven),
            Some(word) => self.fault(&within(path, "beside"), Problem::NoMachine(word.to_owned())),
        }
        let actions = map.get("do").and_then(Json::as_array).into_iter().flatten();
        self.loops.extend(actions.flat_map(loops_of));
        if let Some(word) = self.word(map, "loop", path) {
            let own = self
                .loops
                .contains(word)
                .then(|| ControllerId::of_loop(word));
            let own = own.flatten().map(Component::Loop);
            step.control_loop = own.map(Actor::component).or_else(|| loops::named(word));
            if step.control_loop.is_none() {
                self.fault(&within(path, "loop"), Problem::NoLoop(word.to_owned()));
            }
        }
        step.actions = self.actions(map, "do", path);
        step.predict = map
            .get("predict")
            .map(|predict| self.predict(predict, &within(path, "predict")));
        step.task = map
            .get("task")
            .map(|task| self.task(task, &within(path, "task")));
        step.notes = self.text(map, "notes", path);
        for (at, claim) in self.list(map, "expect", path).iter().enumerate() {
            let at = within(path, &format!("expect[{at}]"));
            step.expect.extend(self.expression(claim, &at));
        }
        step.over = Rc::new(std::mem::take(&mut self.over));
        step
    }

    fn predict(&mut self, value: &Json, path: &str) -> Predict {
        let mut predict = Predict {
            ask: Text::default(),
            answer: Answers::Choices(Vec::new()),
            because: Text::default(),
        };
        let Some(map) = self.fields(value, path, PREDICT) else {
            return predict;
        };
        predict.ask = self.needed_text(map, "ask", path);
        predict.because = self.text(map, "because", path);
        let choices = self.list(map, "choices", path);
        match map.get("number") {
            Some(number) if choices.is_empty() => {
                if let Some(expr) = self.expression(number, &within(path, "number")) {
                    predict.answer = Answers::Number(expr);
                }
            }
            None if choices.len() > 1 => {
                let all = choices.iter().enumerate().filter_map(|(at, choice)| {
                    self.choice(choice, &format!("{path}.choices[{at}]"))
                });
                predict.answer = Answers::Choices(all.collect());
            }
            _ => self.fault(path, Problem::NoAnswers),
        }
        predict
    }

    fn review(&mut self, value: &Json, path: &str) -> ReviewQuestion {
        let Some(map) = self.fields(value, path, REVIEW) else {
            return ReviewQuestion::default();
        };
        let choices = self.texts(map, "choices", path);
        if choices.len() < 2 {
            self.fault(path, Problem::NoAnswers);
        }
        let right = match map.get("right").map(Json::as_u64) {
            None => {
                self.fault(path, Problem::Missing("right"));
                1
            }
            Some(None) => {
                self.fault(&within(path, "right"), Problem::Type("number"));
                1
            }
            Some(Some(right)) => {
                if !(1..=choices.len() as u64).contains(&right) {
                    self.fault(&within(path, "right"), Problem::NoChoice(right));
                }
                right as usize
            }
        };
        let question = ReviewQuestion {
            ask: self.needed_text(map, "ask", path),
            choices,
            right: right.saturating_sub(1),
            because: self.text(map, "because", path),
        };
        let texts = [&question.ask, &question.because];
        let is_filled = |text: &Text| text.holes().next().is_some();
        let has_placeholder =
            texts.into_iter().any(is_filled) || question.choices.iter().any(is_filled);
        if has_placeholder {
            self.fault(path, Problem::Placeholder);
        }
        question
    }

    fn choice(&mut self, value: &Json, path: &str) -> Option<Choice> {
        let map = self.fields(value, path, CHOICE)?;
        let say = self.needed_text(map, "say", path);
        Some(Choice {
            say,
            when: self.needed_expression(map, "if", path)?,
        })
    }

    fn task(&mut self, value: &Json, path: &str) -> LessonTask {
        let mut task = LessonTask {
            goal: Text::default(),
            check: Rc::new(Expr::Number(0)),
            hints: Vec::new(),
            about: None,
            solution: Rc::default(),
            alternative: Rc::default(),
            wrong: Rc::default(),
        };
        let Some(map) = self.fields(value, path, TASK) else {
            return task;
        };
        task.goal = self.needed_text(map, "goal", path);
        if let Some(check) = self.needed_expression(map, "check", path) {
            task.check = Rc::new(check);
        }
        task.hints = self.texts(map, "hints", path);
        task.about = self.word(map, "about", path).map(Into::into);
        task.solution = self.actions(map, "solution", path);
        task.alternative = self.actions(map, "alternative", path);
        task.wrong = self.actions(map, "wrong", path);
        if task.solution.is_empty() {
            self.fault(path, Problem::Missing("solution"));
        }
        task
    }

    fn texts(&mut self, map: &Map<String, Json>, key: &str, path: &str) -> Vec<Text> {
        let texts = self.list(map, key, path).iter().enumerate();
        let path = within(path, key);
        let texts = texts.map(|(at, text)| self.read_text(text, &format!("{path}[{at}]")));
        texts.collect()
    }

    fn list<'v>(&mut self, map: &'v Map<String, Json>, key: &str, path: &str) -> &'v [Json] {
        match map.get(key) {
            None | Some(Json::Null) => &[],
            Some(Json::Array(list)) => list,
            Some(_) => {
                self.fault(&within(path, key), Problem::Type("list"));
                &[]
            }
        }
    }

    fn word<'v>(&mut self, map: &'v Map<String, Json>, key: &str, path: &str) -> Option<&'v str> {
        let word = map.get(key)?;
        if !word.is_string() {
            self.fault(&within(path, key), Problem::Type("text"));
        }
        word.as_str()
    }

    fn actions(
        &mut self,
        map: &Map<String, Json>,
        key: &str,
        path: &str,
    ) -> Rc<[scenario::ScenarioStep]> {
        let mut all = Vec::new();
        for (at, action) in self.list(map, key, path).iter().enumerate() {
            match scenario::step(action) {
                Ok(action) => all.push(action),
                Err(words) => self.fault(
                    &format!("{}[{at}]", within(path, key)),
                    Problem::Text(words),
                ),
            }
        }
        let waits = all.iter().map(|action| {
            if let scenario::ScenarioStep::Wait(scenario::Wait::For(span)) = action {
                *span
            } else {
                0
            }
        });
        if waits.fold(0, u64::saturating_add) > LONGEST.0 {
            self.fault(&within(path, key), Problem::Lasts);
        }
        all.into()
    }

    fn needed_expression(
        &mut self,
        map: &Map<String, Json>,
        key: &'static str,
        path: &str,
    ) -> Option<Expr> {
        match map.get(key) {
            Some(text) => self.expression(text, &within(path, key)),
            None => {
                self.fault(path, Problem::Missing(key));
                None
            }
        }
    }

    fn expression(&mut self, value: &Json, path: &str) -> Option<Expr> {
        let Some(text) = value.as_str() else {
            self.fault(path, Problem::Type("text"));
            return None;
        };
        match self.over.read(text) {
            Ok(expr) => Some(expr),
            Err(error) => {
                self.fault(path, Problem::Expression(error));
                None
            }
        }
    }

    fn needed_text(&mut self, map: &Map<String, Json>, key: &'static str, path: &str) -> Text {
        if !map.contains_key(key) {
            self.fault(path, Problem::Missing(key));
        }
        self.text(map, key, path)
    }

    fn text(&mut self, map: &Map<String, Json>, key: &str, path: &str) -> Text {
        map.get(key)
            .map(|value| self.read_text(value, &within(path, key)))
            .unwrap_or_default()
    }

    /// Reads a text, or one per language.
    fn read_text(&mut self, value: &Json, path: &str) -> Text {
        if let Some(text) = value.as_str() {
            return Text {
                en: self.pieces(text, path),
                zh: Vec::new(),
            };
        }
        let Some(map) = self.fields(value, path, TEXT) else {
            return Text::default();
        };
        let mut of = |language: &'static str| match map.get(language) {
            Some(Json::String(text)) => self.pieces(text, &within(path, language)),
            Some(_) => {
                self.fault(&within(path, language), Problem::Type("text"));
                Vec::new()
            }
            None => Vec::new(),
        };
        let (en, zh) = (of("en"), of("zh"));
        if en.is_empty() {
            self.fault(path, Problem::Missing("en"));
        }
        Text { en, zh }
    }

    fn pieces(&mut self, text: &str, path: &str) -> Vec<CaptionPiece> {
        let mut all = Vec::new();
        let mut rest = text.trim();
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((hole, next)) = after.split_once("}}") else {
                self.fault(path, Problem::OpenHole);
                break;
            };
            if !before.is_empty() {
                all.push(CaptionPiece::Plain(before.into()));
            }
            match self.over.read(hole) {
                Ok(expr) => all.push(CaptionPiece::Hole(expr)),
                Err(error) => self.fault(path, Problem::Expression(error)),
            }
            rest = next;
        }
        if !rest.is_empty() {
            all.push(CaptionPiece::Plain(rest.into()));
        }
        all
    }
}

fn within(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
