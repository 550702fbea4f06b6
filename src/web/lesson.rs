//! The panel of a lesson: its caption, its question and its task.

use super::dom::{self, icon};
use super::language::{Lang, say};
use super::terms::{coded, prose};
use i18n::{Message, msg};
use lesson::library::LibraryEntry;
use session::lesson::{LessonCard, LessonMsg, Phase, QuestionCard, Result, ReviewCard};
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, SubmitEvent};
use yew::prelude::*;

/// Properties of the panel.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Contents.
    pub card: LessonCard,
    /// Language of the page.
    pub lang: Lang,
    /// Handles a message.
    pub on: Callback<LessonMsg>,
    /// True while presenting.
    pub presents: bool,
    /// Presenting is to start or end.
    pub on_present: Callback<()>,
    /// Next lesson.
    pub following: Option<&'static LibraryEntry>,
    /// Another lesson was chosen.
    pub on_lesson: Callback<&'static str>,
    /// Saves the progress in lessons, if the page may save files.
    pub on_save: Option<Callback<()>>,
    /// Tools of a task if the page has no panels.
    pub tools: Html,
    /// Link to the full page, in a frame.
    pub full: Html,
}

fn glyph(result: Result) -> Option<&'static str> {
    match result {
        Result::Open => None,
        Result::Right | Result::Solved | Result::Read | Result::Shown => Some("i-check"),
        Result::Wrong => Some("i-diff"),
    }
}

/// Properties of the questions after the last step.
#[derive(Properties, PartialEq)]
struct ReviewProps {
    /// Language of the page.
    lang: Lang,
    /// Questions.
    questions: Vec<ReviewCard>,
    /// Abilities that the questions check.
    learned: Html,
}

/// Draws what was learnt, and in its place the questions that check it, one after the other, each with its answer once one was given.
#[component]
fn Review(props: &ReviewProps) -> Html {
    let (asked, given) = (use_state(|| None::<usize>), use_state(|| None::<usize>));
    // What had the focus is gone with the question before.
    let group = use_node_ref();
    use_effect_with(*asked, {
        let group = group.clone();
        move |asked| {
            let group = group.cast::<web_sys::Element>();
            if let Some(group) = group.filter(|_| asked.is_some()) {
                dom::focus(&group);
            }
        }
    });
    let ask = |at: usize| {
        let (asked, given) = (asked.clone(), given.clone());
        Callback::from(move |_: MouseEvent| {
            asked.set(Some(at));
            given.set(None);
        })
    };
    let Some((at, of)) = asked.and_then(|at| Some((at, props.questions.get(at)?))) else {
        let begins = !props.questions.is_empty() && asked.is_none();
        return html! {
            <div class="review" ref={group} tabindex="-1">{ props.learned.clone() }
                if begins { <div><button type="button" class="btn sm" onclick={ask(0)}>{ icon("i-check", 14) }{ say(msg::lesson_review(props.questions.len())) }</button></div> }
            </div>
        };
    };
    let choices = of.choices.iter().enumerate().map(|(at, text)| {
        let given = given.clone();
        let choice = ChoiceState {
            is_given: *given == Some(at),
            is_right: given.map(|_| at == of.right),
        };
        let onclick = Callback::from(move |_: MouseEvent| {
            if given.is_none() {
                given.set(Some(at));
            }
        });
        // The button that was pressed keeps the focus.
        choice.draw(text, false, onclick)
    });
    html! {
        <div class="review ask" ref={group} tabindex="-1" role="group" aria-label={of.ask.replace('`', "")}>
            <p><b>{ prose(&of.ask) }</b></p>
            <div class="choices">{ for choices }</div>
            if let Some(given) = *given {
                <p>{ say(if given == of.right { msg::lesson_was_right() } else { msg::lesson_review_wrong() }) }{ " " }{ prose(&of.because) }{ " " }
                    <button type="button" class="btn sm" onclick={ask(at + 1)}>{ say(if at + 1 < props.questions.len() { msg::lesson_review_next() } else { msg::lesson_review_end() }) }</button></p>
            }
        </div>
    }
}

/// Draws the panel.
#[component]
pub fn LessonPanel(props: &Props) -> Html {
    super::dom::renders("LessonPanel");
    let card = &props.card;
    let (phase, (at, all)) = (card.phase, card.step);
    let to = |msg: LessonMsg| props.on.reform(move |_: MouseEvent| msg.clone());
    let dot = |(index, result): (usize, &Result)| {
        let here = index + 1 == at;
        html! { <li class={classes!("dot", here.then_some("here"), (*result == Result::Wrong).then_some("wrong"))}>{ glyph(*result).map(|name| icon(name, 10)).unwrap_or_default() }</li> }
    };
    let next = match phase {
        Phase::Asking => Some((msg::lesson_skip_question(), LessonMsg::Next)),
        Phase::Playing => Some((msg::lesson_skip_ahead(), LessonMsg::Hurry)),
        Phase::Task => Some((msg::lesson_skip_task(), LessonMsg::Next)),
        Phase::Lost => None,
        Phase::Done if at < all => Some((msg::lesson_next(), LessonMsg::Next)),
        _ => None,
    };
    super::notes::show(card);
    let presents = props.presents;
    let present = props.on_present.reform(|_: MouseEvent| ());
    let save = props.on_save.as_ref().filter(|_| !presents).map(|on| {
        let on = on.reform(|_: MouseEvent| ());
        html! { <button type="button" class="btn sm ghost icon" aria-label={say(msg::lesson_save_progress())} title={say(msg::lesson_save_progress())} onclick={on}>{ icon("i-save", 14) }</button> }
    });
    let notes = {
        let card = card.clone();
        Callback::from(move |_: MouseEvent| super::notes::open(&card))
    };
    let finish = (phase == Phase::Done && at == all).then(|| {
        let following = props.following.map(|entry| {
            let onclick = props.on_lesson.reform(move |_: MouseEvent| entry.name);
            html! { <button type="button" class="btn primary sm following" {onclick}><span class="ell">{ say(msg::lesson_following((entry.title)())) }</span>{ icon("i-arrow-right", 14) }</button> }
        });
        let last = following.is_none();
        html! { <><button type="button" class={classes!("btn", "sm", "finish", last.then_some("primary"))} onclick={to(LessonMsg::Close)}>{ icon("i-check", 14) }{ say(msg::lesson_finish()) }</button>{ following.unwrap_or_default() }</> }
    });
    let learned = html! {
        if !card.learned.is_empty() { <div class="learned"><b>{ say(msg::lesson_learned()) }</b><ul>{ for card.learned.iter().map(|text| html! { <li>{ prose(text) }</li> }) }</ul></div> }
    };
    let score = card
        .score
        .filter(|(_, asked)| *asked > 0)
        .map(|(right, asked)| html! { <div class="score">{ icon("i-check", 14) }{ say(msg::lesson_score(right, asked)) }</div> });
    html! {
        <section class="lesson" id="lesson" data-phase={phase.word()} aria-label={say(msg::lesson_label(&card.title))}>
            <div class="row"><h2 class="ell">{ &card.title }</h2><ol class="dots" aria-hidden="true">{ for card.results.iter().enumerate().map(dot) }</ol>
                <span class="dim">{ say(msg::lesson_step(at, all)) }</span>{ save.unwrap_or_default() }<span class="grow" />
                if presents { <button type="button" class="btn sm ghost notes" onclick={notes}>{ say(msg::lesson_notes()) }</button> }
                <button type="button" class="btn sm ghost presents" aria-pressed={presents.to_string()} title={say(msg::lesson_present_means())} onclick={present}>{ say(msg::lesson_present()) }</button>
                { props.full.clone() }
                <button type="button" class="btn ghost icon" aria-label={say(msg::lesson_close())} title={say(msg::lesson_close())} onclick={to(LessonMsg::Close)}>{ icon("i-cross", 14) }</button></div>
            <div class="told" role="status" aria-atomic="false" tabindex="0">
                { question(props) }
                if !card.say.is_empty() { <p>{ prose(&card.say) }</p> }
                { task(props) }
                { score.unwrap_or_default() }
                if !card.learned.is_empty() || !card.review.is_empty() { <Review lang={props.lang} questions={card.review.clone()} {learned} /> }
                if card.paused { <p class="dim">{ icon("i-pause", 12) }{ say(msg::lesson_paused()) }</p> }
            </div>
            { props.tools.clone() }
            <div class="row acts">
                <button type="button" class="btn sm" disabled={at == 1} onclick={to(LessonMsg::Back)}>{ say(msg::lesson_back()) }</button>
                if at > 1 || phase != Phase::Done || card.question.is_some() || card.task.is_some() { <button type="button" class="btn sm ghost again" onclick={to(LessonMsg::Again)}>{ say(msg::lesson_again()) }</button> }
                if card.task.as_ref().is_some_and(|task| task.more_hints) && phase == Phase::Task { <button type="button" class="btn sm ghost hints" onclick={to(LessonMsg::Hint)}>{ say(msg::lesson_hint()) }</button> }
                if card.task.as_ref().is_some_and(|task| !task.more_hints) && phase == Phase::Task { <button type="button" class="btn sm ghost show" onclick={to(LessonMsg::Show)}>{ say(msg::lesson_show()) }</button> }
                <span class="grow" />
                if let Some((next, msg)) = next { <button type="button" id="lesson-next" class={classes!("btn", "sm", (phase == Phase::Done).then_some("primary"))} onclick={to(msg)}>{ say(next) }{ icon("i-arrow-right", 14) }</button> }
                { finish.unwrap_or_default() }
            </div>
        </section>
    }
}

/// Draws the question, its choices, and the result.
fn question(props: &Props) -> Html {
    let Some(card) = &props.card.question else {
        return Html::default();
    };
    let asking = props.card.phase == Phase::Asking;
    let answers = if card.choices.is_empty() {
        number(props, card, asking)
    } else {
        choices(props, card, asking)
    };
    html! {
        <div class="ask" role="group" aria-label={card.ask.replace('`', "")}><p><b>{ prose(&card.ask) }</b></p>{ answers }
            if card.right.is_some() { { verdict(props, card) } }
        </div>
    }
}

/// State of a choice, which its button shows.
#[derive(Clone, Copy)]
struct ChoiceState {
    /// True if it is the answer given.
    is_given: bool,
    /// True if it is the right one; `None` before that is told.
    is_right: Option<bool>,
}

impl ChoiceState {
    /// Draws the button; a disabled one loses the focus.
    fn draw(self, text: &str, disabled: bool, onclick: Callback<MouseEvent>) -> Html {
        let (given, right) = (self.is_given, self.is_right == Some(true));
        let mark = match (right, given && self.is_right.is_some()) {
            (true, _) => icon("i-check", 14),
            (false, true) => icon("i-cross", 14),
            _ => Html::default(),
        };
        let answered = (!disabled && self.is_right.is_some()).then_some("true");
        html! { <button type="button" class={classes!("btn", "sm", "choice", right.then_some("right"), given.then_some("given"))} aria-pressed={given.to_string()} aria-disabled={answered} {disabled} {onclick}>{ mark }<span>{ coded(text, |words| html! { { words } }) }</span></button> }
    }
}

fn choices(props: &Props, card: &QuestionCard, asking: bool) -> Html {
    let choices = card.choices.iter().zip(0..).map(|(text, at)| {
        let choice = ChoiceState {
            is_given: card.given == Some(at),
            is_right: card.right.map(|right| right == at),
        };
        let onclick = props.on.reform(move |_: MouseEvent| LessonMsg::Answer(at));
        choice.draw(text, !asking, onclick)
    });
    html! { <div class="choices">{ for choices }</div> }
}

fn number(props: &Props, card: &QuestionCard, asking: bool) -> Html {
    let on = props.on.clone();
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        let input = super::dom::document()
            .query_selector("#prediction")
            .ok()
            .flatten();
        let value = input
            .and_then(|input| input.dyn_into::<HtmlInputElement>().ok())
            .map(|input| input.value_as_number());
        if let Some(value) = value.filter(|value| value.is_finite()) {
            on.emit(LessonMsg::Answer(value as i64));
        }
    });
    let given = card.given.map(|given| given.to_string());
    // A field is keyed by step and attempt, so that an earlier answer is not in it.
    let key = format!("{} {asking}", props.card.step.0);
    html! {
        <form {key} class="row" onsubmit={onsubmit}>
            <input id="prediction" type="number" inputmode="numeric" min="0" step="1" aria-label={say(msg::lesson_your_number())} disabled={!asking} value={given} />
            if asking { <button type="submit" class="btn sm primary">{ say(msg::lesson_predict()) }</button> }
        </form>
    }
}

fn verdict(props: &Props, card: &QuestionCard) -> Html {
    let Some(right) = card.right else {
        return Html::default();
    };
    let answer = |at: i64| match usize::try_from(at).ok().and_then(|at| card.choices.get(at)) {
        Some(text) => Message::name(text),
        None => Message::name(at.to_string()),
    };
    let (class, glyph, words) = match card.given {
        Some(given) if given == right => ("right", "i-check", msg::lesson_was_right()),
        Some(given) => (
            "wrong",
            "i-diff",
            msg::lesson_was_wrong(answer(given), answer(right)),
        ),
        None => ("", "i-info", msg::lesson_it_was(answer(right))),
    };
    let moment = props.on.reform(|_: MouseEvent| LessonMsg::Moment);
    html! {
        <div class={classes!("verdict", class)}><p>{ icon(glyph, 14) }<b>{ prose(&say(words)) }</b></p>
            if !card.because.is_empty() { <p>{ prose(&card.because) }</p> }
            if card.moment { <button type="button" class="btn sm ghost" onclick={moment}>{ icon("i-eye", 14) }{ say(msg::lesson_moment()) }</button> }
        </div>
    }
}

/// Draws the task, and the help so far.
fn task(props: &Props) -> Html {
    let Some(card) = &props.card.task else {
        return Html::default();
    };
    let phase = props.card.phase;
    let (class, name, state) = match phase {
        Phase::Done => ("right", "i-check", msg::lesson_task_done()),
        Phase::Lost => ("wrong", "i-warn", msg::lesson_task_lost()),
        _ => ("", "i-arrow-right", msg::lesson_task()),
    };
    let again = props.on.reform(|_: MouseEvent| LessonMsg::Again);
    html! {
        <div class={classes!("task", class)}><p>{ icon(name, 14) }<b>{ say(state) }</b>{ " " }{ prose(&card.goal) }</p>
            { for card.hints.iter().map(|hint| html! { <p class="hint">{ prose(hint) }</p> }) }
            if !card.why.is_empty() { <p class="hint">{ super::language::marked(&card.why) }</p> }
            if phase == Phase::Lost { <button type="button" class="btn sm" onclick={again}>{ say(msg::lesson_try_again()) }</button> }
        </div>
    }
}

/// Preference that holds the progress in a lesson.
pub fn kept_as(name: &str) -> String {
    format!("loopscope.lesson.{name}")
}

/// Returns true if a lesson was completed.
pub fn is_over(name: &str) -> bool {
    super::dom::kept(&kept_as(name)).as_deref() == Some("over")
}
