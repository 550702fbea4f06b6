//! Reports to the page around a frame: the clock's state, and the progress in a lesson (`static/host.js`).

use super::dom;
use i18n::Message;
use serde_json::{Value, json};
use session::State;
use session::playback::Reached;
use std::cell::RefCell;
use wasm_bindgen::JsValue;

/// Fault that the page shows as long as it lasts, with a code for the embedding page.
#[derive(Clone, PartialEq, Debug)]
pub struct PageFault {
    /// `source`, `link`, `lesson`, `view`, `manifest` or `file`.
    pub code: &'static str,
    /// Line of the manifest or lesson, from 1; 0 if there is none.
    pub line: usize,
    /// Description.
    pub words: Message,
}

impl PageFault {
    /// Creates a fault without a line.
    pub fn new(code: &'static str, words: Message) -> PageFault {
        PageFault {
            code,
            line: 0,
            words,
        }
    }
}

thread_local! {
    /// Values reported last.
    static TOLD: RefCell<(bool, Value)> = const { RefCell::new((false, Value::Null)) };
    /// Fault reported last.
    static TOLD_FAULT: RefCell<Option<PageFault>> = const { RefCell::new(None) };
}

/// Reports a fault to the embedding page, once.
pub fn tell_fault(fault: Option<&PageFault>) {
    let Some(tell) = dom::function("loopscopeTell") else {
        return;
    };
    TOLD_FAULT.with_borrow_mut(|told| {
        if told.as_ref() == fault {
            return;
        }
        if let Some(fault) = fault {
            let detail = json!({ "code": fault.code, "line": fault.line, "message": super::language::say(&fault.words) });
            let _ = tell.call2(&JsValue::NULL, &"error".into(), &detail.to_string().into());
        }
        *told = fault.cloned();
    });
}

/// Progress in the lesson, for other scripts; null without one. While resuming, the last reported value.
pub fn lesson(state: &State) -> Value {
    let Some(player) = &state.player else {
        return Value::Null;
    };
    if state.is_resuming() {
        return TOLD.with(|told| told.try_borrow().map_or(Value::Null, |told| told.1.clone()));
    }
    player.told(super::language::tongue())
}

/// Sends a person's actions to the followed cluster (`static/follow.js`).
pub fn send(state: &mut State) {
    let Some(following) = &mut state.following else {
        return;
    };
    if following.outbox.is_empty() {
        return;
    }
    let Some(send) = dom::function("loopscopeSend") else {
        return;
    };
    for (path, body) in following.outbox.drain(..).filter_map(|sent| sent.request()) {
        let _ = send.call2(&JsValue::NULL, &path.into(), &body.into());
    }
}

/// Reports changes.
pub fn tell(state: &mut State) {
    let reached = state
        .timeline
        .playback
        .as_mut()
        .map(|playback| std::mem::take(&mut playback.reached))
        .unwrap_or_default();
    let Some(tell) = dom::function("loopscopeTell") else {
        return;
    };
    let say = |event: &str, detail: &Value| {
        drop(tell.call2(&JsValue::NULL, &event.into(), &detail.to_string().into()))
    };
    for reached in &reached {
        match (reached, &state.timeline.playback) {
            (Reached::Marker(index), Some(playback)) => {
                let marker = &playback.markers[*index];
                say(
                    "marker",
                    &json!({ "time": marker.at as f64 / 1000.0, "label": marker.label, "index": index }),
                );
            }
            (Reached::End(at), _) => say("ended", &json!({ "time": *at as f64 / 1000.0 })),
            _ => {}
        }
    }
    let playing = state.timeline.playing;
    let lesson = lesson(state);
    TOLD.with_borrow_mut(|(told_playing, told_lesson)| {
        if *told_playing != playing {
            say(
                if playing { "play" } else { "pause" },
                &json!({ "time": state.timeline.run.now() as f64 / 1000.0 }),
            );
            *told_playing = playing;
        }
        if *told_lesson != lesson {
            if !lesson.is_null() {
                say(
                    if told_lesson["step"] == lesson["step"] {
                        "lesson"
                    } else {
                        "step"
                    },
                    &lesson,
                );
            }
            if lesson["over"] == true && told_lesson["over"] != true {
                say("ended", &lesson);
            }
            *told_lesson = lesson;
        }
    });
}
