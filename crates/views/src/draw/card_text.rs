//! Texts of cards for their available width.

use super::painter::Painter;
use super::primitive::{NAME, mono};
use crate::shape::{Item, NodeBody, Rect};
use crate::variant;
use i18n::format::{front, middle};
use i18n::{Arg, Message, msg};
use projection::budget::Budget;
use projection::model::{ControllerCard, Counter, Metric, PodState};

/// Returns the name of an item, cut in the middle to its room.
pub(super) fn name(painter: &Painter, item: &Item, room: f64) -> String {
    middle(&item.id.name, painter.letters(NAME, room).max(8))
}

/// Texts of a controller's card.
pub(super) struct ControllerText {
    /// Line over the name.
    pub caption: Message,
    /// Name; two lines of a smaller font if `long`.
    pub name: String,
    /// True if the name does not fit into one line.
    pub long: bool,
    /// Line at the foot.
    pub footer: String,
    /// True if the footer is an image or a schedule, in a monospaced font.
    pub mono: bool,
}

/// Returns the texts of a controller's card for a width.
pub(super) fn controller(painter: &Painter, of: &ControllerCard, width: f64) -> ControllerText {
    // Beside tile and padding; a smaller font in two lines if that is too little.
    let most = painter.letters(NAME, width - 62.0);
    let (long, name) = (of.id.name.len() > most, front(&of.id.name, most * 2));
    // The name breaks at a hyphen: the distinguishing suffix has a line of its own.
    let name = match name.rsplit_once('-') {
        Some((of, end)) if long && of.len() >= most && end.len() <= most => {
            format!("{}-{end}", front(of, most - 1))
        }
        _ => name,
    };
    // The tile shows the kind if there is no room for both.
    let caption = if variant::has_short_caption(width) {
        of.caption.short()
    } else {
        of.caption
    };
    let caption = caption.words(&of.id.kind);
    // The tag distinguishes an image from others.
    let image = matches!(of.footer.args(), [Arg::Name(name)] if name.contains(':'));
    let beside = if of.chip.is_empty() {
        24.0
    } else {
        24.0 + painter.pill_width(None, &painter.say(&of.chip)) + 6.0
    };
    let footer = painter.say(&of.footer);
    let footer = if image {
        front(
            &footer,
            painter.letters(mono(11.0, ""), width - beside).max(6),
        )
    } else {
        footer
    };
    let mono = image || of.id.kind == "CronJob";
    ControllerText {
        caption,
        name,
        long,
        footer,
        mono,
    }
}

/// Texts of a controller in a low frame: its name, and its numbers in one line.
pub(super) struct BriefText<'a> {
    /// True if there is room for the tile.
    pub tiled: bool,
    /// Line over the name.
    pub caption: String,
    /// Name.
    pub name: String,
    /// Counters with their values as written.
    pub numbers: Vec<(String, &'a Counter)>,
    /// Tag of the image, at the right.
    pub tag: String,
}

/// Returns the texts of a controller's card in a low frame.
pub(super) fn brief<'a>(painter: &Painter, of: &'a ControllerCard, width: f64) -> BriefText<'a> {
    // Beside tile and padding.
    let most = |beside: f64| painter.letters(NAME, width - beside).max(4);
    let name = of.id.name.as_str();
    // The suffix distinguishes a ReplicaSet from its siblings.
    let own = if of.id.kind == "ReplicaSet" && name.len() > most(46.0) {
        name.rsplit('-').next().unwrap_or(name)
    } else {
        name
    };
    // The tile is dropped before the name is cut.
    let tiled = own.len() <= most(46.0);
    let small = variant::is_small_controller(width);
    let caption = if of.id.kind == "ReplicaSet" {
        of.caption.short()
    } else {
        of.caption
    };
    let caption = painter.say(&caption.words(&of.id.kind));
    let image = if of.id.kind == "ReplicaSet" {
        painter.say(&of.footer)
    } else {
        String::new()
    };
    let caption = if small || image.is_empty() {
        caption
    } else {
        format!("{caption} · {image}")
    };
    let tag = image
        .rsplit_once(':')
        .map(|(_, tag)| tag)
        .filter(|_| small)
        .unwrap_or_default()
        .to_string();
    let counter = |metric: Metric| of.counters.iter().find(|counter| counter.metric == metric);
    // As kubectl prints them if there is no room for words.
    let numbers = match (counter(Metric::Desired), counter(Metric::Ready)) {
        (Some(desired), Some(ready)) if small => {
            vec![(format!("{}/{}", ready.value, desired.value), ready)]
        }
        _ => of
            .counters
            .iter()
            .take(if small { 1 } else { 3 })
            .map(|counter| (counter.value.clone(), counter))
            .collect(),
    };
    BriefText {
        tiled,
        caption,
        name: front(own, most(if tiled { 46.0 } else { 18.0 })),
        numbers,
        tag,
    }
}

/// Returns the pill of a controller beside its numbers: the progress of a rollout is more informative than its strategy.
pub(super) fn wide_pill(of: &ControllerCard, rect: Rect) -> Option<&Message> {
    let pill = if of.id.kind == "Deployment" && !of.chip.is_empty() {
        &of.chip
    } else {
        &of.footer
    };
    (!pill.is_empty() && !variant::has_no_pill(rect)).then_some(pill)
}

/// Returns the name of a controller with its budget.
pub(super) fn stacked_name(painter: &Painter, of: &ControllerCard, room: f64) -> String {
    front(&of.id.name, painter.letters(NAME, room))
}

/// Returns true if the numbers of a controller need a smaller font.
pub(super) fn has_long_numbers(of: &ControllerCard) -> bool {
    of.counters.iter().any(|counter| counter.value.len() > 4)
}

/// Returns the pill of a node: class, icon, and words.
pub(super) fn node_pill(of: &NodeBody) -> (&'static str, &'static str, Message) {
    match (of.ready, of.cordoned) {
        (false, _) => ("failed", "i-error", Message::name("NotReady")),
        (true, true) => ("notready", "i-cordon", msg::pill_cordoned()),
        (true, false) => ("ready", "pod-ready", msg::pill_ready()),
    }
}

/// Splits the name of a tile after its last hyphen.
pub(super) fn tile_name(name: &str) -> (&str, &str) {
    name.split_at(name.rfind('-').map_or(0, |at| at + 1))
}

/// Path of the outline of a claim's ticket.
pub(super) fn ticket((w, h): (f64, f64)) -> String {
    format!(
        "M10 .5H{}A9.5 9.5 0 0 1 {r} 10V{}A6 6 0 0 0 {r} {}V{}A9.5 9.5 0 0 1 {} {b}H10A9.5 9.5 0 0 1 .5 {}V{}A6 6 0 0 0 .5 {}V10A9.5 9.5 0 0 1 10 .5Z",
        w - 10.0,
        h / 2.0 - 6.0,
        h / 2.0 + 6.0,
        h - 10.0,
        w - 10.0,
        h - 10.0,
        h / 2.0 + 6.0,
        h / 2.0 - 6.0,
        r = w - 0.5,
        b = h - 0.5
    )
}

/// Returns the name on a claim's ticket, with true if it takes two lines, so that it is not cut.
pub(super) fn claim_name(painter: &Painter, item: &Item) -> (String, bool) {
    let w = item.rect.w;
    let beside = if variant::is_slender(w) { 28.0 } else { 66.0 };
    let most = painter.letters(NAME, w - beside).max(4);
    let lines = variant::claim_lines(item.rect);
    (
        middle(&item.id.name, most * lines),
        lines > 1 && item.id.name.len() > most,
    )
}

/// Half the height of the ellipse at the top of a volume's cylinder.
pub(super) fn cylinder_rim(height: f64) -> f64 {
    if variant::is_slim_cylinder(height) {
        6.0
    } else {
        12.0
    }
}

/// Path of the side of a volume's cylinder; its top is an ellipse.
pub(super) fn cylinder((w, h): (f64, f64)) -> String {
    let rim = cylinder_rim(h);
    let (top, bottom) = (rim + 1.0, h - rim - 1.0);
    format!(
        "M1 {top}V{bottom}A{} {rim} 0 0 0 {} {bottom}V{top}",
        w / 2.0 - 1.0,
        w - 1.0
    )
}

/// Label of a part of a strip over cells: all Pods in a state, or the ready ones of older or of the newest revision.
pub(super) fn part_word(state: PodState, old: bool, rolls: bool) -> Message {
    match (rolls, state, old) {
        (true, PodState::Ready, true) => msg::totals_older(),
        (true, PodState::Ready, false) => msg::totals_newest(),
        _ => state.word(),
    }
}

/// Class of the pill of a Service, a policy or an autoscaler: that of a failure, if there is one.
pub(super) fn service_class(item: &Item) -> &'static str {
    match PodState::NotReady.class() {
        wrong if item.state == wrong => wrong,
        _ if item.id.kind == "Service" => "network",
        _ => "",
    }
}

/// State of a rollout: in a word, and as a Pod state for its colour.
pub(super) fn rolling(budget: &Budget) -> (Message, PodState) {
    if budget.fails() {
        (msg::pill_rollout_fails(), PodState::Failed)
    } else {
        (msg::pill_rolling_out(), PodState::Creating)
    }
}

/// Label of the client: an existing Pod, or an example.
pub(super) fn asks(state: Option<PodState>) -> Message {
    state.map_or_else(msg::net_example_client, |_| {
        Message::name(k8s_model::Kind::Pod)
    })
}

#[cfg(test)]
mod tests {
    use super::controller;
    use crate::draw::painter::{Painter, TextSetting};
    use i18n::{Catalogue, Message};
    use projection::model::{ControllerCard, Id};

    #[test]
    fn a_schedule_stands_in_letters_of_one_width() {
        let card = |kind: &str, footer: &str| ControllerCard {
            id: Id::named(kind, "backup"),
            footer: Message::name(footer),
            ..ControllerCard::default()
        };
        let setting = TextSetting::built_in(Catalogue::ENGLISH.into());
        let text = |of: &ControllerCard| controller(&Painter::new(&setting), of, 200.0);
        let schedule = text(&card("CronJob", "* * * * *"));
        assert!(schedule.mono && schedule.footer == "* * * * *");
        assert!(
            text(&card("ReplicaSet", "nginx:1.27")).mono
                && !text(&card("Deployment", "RollingUpdate")).mono
        );
    }
}
