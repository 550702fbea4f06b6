//! The stage: pan, zoom, fit, the keyboard's way through the objects, and what enters and leaves.

use super::cells::Sheet;
use super::dom::{self, icon, tile};
use super::language::{Lang, marked, say};
use super::list::List;
use super::minimap::Minimap;
use super::shapes::{Shape, over, still, under};
use crate::api::{Kind, ObjectRef};
use crate::engine::Op;
use crate::i18n::format::Px;
use crate::i18n::format::clock;
use crate::i18n::{Arg, Message, msg};
use crate::projection::changes::{Change, fate};
use crate::projection::model::Id;
use crate::views::card::Card;
use crate::views::shape::{Body, Item, Label, Rect, Scene};
use crate::views::view::{Legend, Scale, View};
use crate::views::viewport::LOW_FRAME;
use gloo_timers::callback::Timeout;
use std::collections::BTreeSet;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};
use yew::prelude::*;

/// Side of the sheets that cells of many shapes are painted on.
const SHEET: f64 = 1024.0;
/// The column and the row of a sheet, and what is on it.
type OnSheet = ((i32, i32), Vec<Rc<Item>>);

/// Where a sheet begins.
fn corner((column, row): (i32, i32)) -> (f64, f64) {
    (f64::from(column) * SHEET, f64::from(row) * SHEET)
}

/// What the stage shows.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// The language.
    pub lang: Lang,
    /// The diagram.
    pub scene: Rc<Scene>,
    /// The uid of what is selected.
    pub selected: Option<String>,
    /// Its descriptor.
    pub view: &'static View,
    /// Changes with the view and with every rewind: what enters then has no cause to show.
    pub scope: String,
    /// `stage`, or another where two are shown.
    #[prop_or("stage")]
    pub id: &'static str,
    /// Whether moves and entrances are shown.
    pub animate: bool,
    /// In a frame of another page the wheel belongs to that page.
    pub embed: bool,
    /// What the line below a frame tells of: it is brought into sight.
    #[prop_or_default]
    pub follow: Option<ObjectRef>,
    /// Said where nothing is drawn.
    pub empty: Html,
    /// Objects as a nested list instead of a drawing.
    pub as_list: bool,
    /// The theme.
    pub dark: bool,
    /// Whether all of the page is there.
    pub whole: bool,
    /// A person chose an object.
    pub on_select: Callback<Option<ObjectRef>>,
    /// A person chose a loop.
    pub on_loop: Callback<String>,
    /// A person asks why.
    pub on_why: Callback<ObjectRef>,
    /// The size of the stage.
    pub on_size: Callback<(f64, f64)>,
    /// The pointer or the focus rests on an object.
    pub on_hover: Callback<Option<ObjectRef>>,
    /// What is said of it.
    pub card: Option<Rc<Card>>,
    /// What differs between two instants, while they are compared.
    #[prop_or_default]
    pub changes: Option<Rc<Vec<Change>>>,
    /// The picture is to be saved, as SVG or PNG; and what is to be told when it is.
    pub on_export: Callback<(&'static str, Callback<()>)>,
}

/// What happens to the stage.
pub enum Msg {
    /// Its size changed.
    Size,
    /// A pointer went down, moved, went up.
    Down(PointerEvent),
    Move(PointerEvent),
    Up(PointerEvent),
    /// The wheel.
    Wheel(WheelEvent),
    /// A click.
    Click(MouseEvent),
    /// A key.
    Key(KeyboardEvent),
    /// Zoom by a factor about the middle.
    Zoom(f64),
    /// As it opened; all of it in sight, however small; or as it opened because it could have been larger for a while.
    Fit,
    All,
    Refit,
    /// Ghosts are gone.
    Bury(u32),
    /// The focus is on this item, and whether the keyboard brought it there.
    Focus(usize, bool),
    /// The pointer has rested long enough.
    Rest,
    /// The pointer has left.
    Leave,
    /// A place of the scene into the middle.
    Centre(f64, f64),
    /// The menu of what can be saved.
    Menu,
    /// One of its entries.
    Export(&'static str),
    /// The picture has been saved.
    Saved,
    /// The next of many items.
    More,
}

/// Milliseconds after which a card opens.
const REST: u32 = 150;
/// Of more items than this, those far out of sight are not put into the page.
const MANY: usize = 150;
/// So many of what is saved whole come at a time.
const WHOLE: usize = 30;
/// Milliseconds that saving may take.
const STILL: u32 = 15_000;
/// So many at a time are put into it where there are many, and so many are taken out.
const NEW: usize = 12;
const GOES: usize = 48;
/// Milliseconds between two parts: each has a frame of its own.
const FRAME: u32 = 20;
/// So far out of sight they are.
const FAR: f64 = 160.0;
/// The height of the controls at the foot.
const FOOT: f64 = 44.0;
/// What is a little too large is made so much smaller to be seen whole: letters of 12 px are 10.5 then, and smaller ones are made larger
/// (`views.css`).
const NEARLY: f64 = 0.875;
/// Width of a card, and the height it may have.
const CARD: f64 = 264.0;
const TALL: f64 = 256.0;

/// The stage.
pub struct Stage {
    node: NodeRef,
    size: (f64, f64),
    /// Its height with the console and the line of the past closed: these come and go, and the picture keeps its scale.
    whole: f64,
    pan: (f64, f64),
    zoom: f64,
    touched: bool,
    /// A person wants all of it in sight.
    all: bool,
    /// The size at the last fit, and whether the width has been another since the last picture.
    fitted: (f64, f64),
    resized: bool,
    pointers: Vec<(i32, f64, f64)>,
    dragged: bool,
    ghosts: Vec<(u32, Rc<Item>)>,
    /// What has just come: it alone enters, also where the browser puts others back in.
    fresh: Vec<(u32, String)>,
    generation: u32,
    stop: usize,
    /// The focus goes there once it is in the page.
    goes: bool,
    /// What is saved as a picture is saved whole.
    saves: Option<&'static str>,
    /// Nothing moves while it is; not for longer than this.
    still: Option<Timeout>,
    /// What was shown when that began.
    scope: String,
    timers: Vec<Timeout>,
    observer: Option<(Closure<dyn FnMut()>, web_sys::ResizeObserver)>,
    quiet: bool,
    /// What the pointer or the focus is on, and where that is in the scene.
    over: Option<(ObjectRef, Rect)>,
    /// Whether its card is open.
    rested: bool,
    resting: Option<Timeout>,
    menu: bool,
    /// Runs while the picture could be larger.
    larger: Option<Timeout>,
    /// The items in the page by their place; of many also by uid, and when the next come.
    shown: Vec<usize>,
    there: BTreeSet<String>,
    more: Option<Timeout>,
    /// Where the map is, if there is one.
    map: Option<u8>,
    /// The size of the stage when it was placed.
    mapped: (f64, f64),
}

/// The key of an item's object, if the engine knows it.
pub fn key_of(id: &Id) -> Option<ObjectRef> {
    Some(ObjectRef::new(Kind::from_name(&id.kind)?, &id.namespace, &id.name))
}

/// Tells what a person chose: an object, or a loop.
fn pick(props: &Props, id: &Id) {
    if id.kind == "Loop" {
        props.on_loop.emit(id.name.clone());
    } else if let Some(key) = key_of(id) {
        props.on_select.emit(Some(key));
    }
}

/// How an object differs between the two instants that are compared.
fn mark(props: &Props, item: &Item) -> &'static str {
    let Some(changes) = &props.changes else { return "" };
    let Some(kind) = Kind::from_name(&item.id.kind) else { return "" };
    match fate(changes, (kind, &item.id.namespace, &item.id.name)) {
        Some(Op::Added) => "came",
        Some(_) => "differs",
        None => "",
    }
}

/// The height that panels at the foot take from the stage while they are open.
fn taken() -> f64 {
    let high = |of: &str, least: i32| {
        let found = dom::document().query_selector(of).ok().flatten();
        found.map_or(0, |panel| panel.client_height() + least).max(0)
    };
    // The console's line is always there; about the line of the past there is some room.
    f64::from(high(".app > .console", -31) + high(".canvas > .past", 12))
}

/// A pan that leaves no more than `over` empty, and nothing out of sight that has room.
fn slide(pan: f64, over: f64) -> f64 {
    pan.clamp(over.min(0.0), over.max(0.0))
}

/// What explains the signs of a diagram.
fn legend(of: &Legend, scene: &Scene) -> Html {
    let cells = scene.items.iter().any(|item| matches!(item.body, Body::Cells(_)));
    match of {
        Legend::Hidden => Html::default(),
        Legend::Signs(signs) => html! {
            <div class="legend">{ for signs.iter().map(|(class, words)| html! { <span><i class={*class} />{ say(words()) }</span> }) }</div>
        },
        Legend::PodStates => html! {
            <div class="legend">{ for scene.states().iter().map(|state| html! { <span>{ if cells { html! { <i class={super::cells::swatch(*state, false)} /> } } else { icon(state.glyph(), 14) } }{ say(scene.word(*state)) }</span> }) }if scene.has_older() { <span class="older">{ icon("pod-ready", 14) }{ say(msg::ui_older_revision()) }</span> }</div>
        },
    }
}

impl Stage {
    fn fit(&mut self, props: &Props) {
        let scene = &props.scene;
        let (w, h) = (self.size.0, self.whole);
        if w < 1.0 || h < 1.0 || scene.width < 1.0 {
            return;
        }
        let room = self.room_in(props, h);
        let narrow = w < 560.0 && h >= w;
        let (across, down) = (w / scene.width, room / scene.height);
        // What does not fit is panned; letters that nobody can read help nobody. Loops are laid out for the width there is.
        let least = match () {
            () if self.all => 0.25,
            () if props.view.fit.scale == Scale::Fixed => 1.0,
            // In a frame nobody makes them larger; a low one has lower cards.
            () if props.embed && h < LOW_FRAME && !scene.dense() => 1.0,
            () if props.embed => 0.85,
            () if w < 560.0 => 0.8,
            // A column is read as a whole, and what is beside it is panned to.
            () if props.view.fit.scale == Scale::WholeOrFixed && across.min(down) < NEARLY => 1.0,
            () => NEARLY,
        };
        // Where it has to be panned down anyway, it may be as wide as there is room; in a low frame little would be seen then.
        // Nodes with cells get higher and lower as Pods come and go, and keep their scale.
        self.zoom =
            if !self.all && (narrow || scene.dense() || down < least && h > 320.0) { across } else { across.min(down) }.clamp(least, 1.0);
        self.fitted = (w, h);
        self.place(props);
    }

    /// Puts the picture into the middle, or where it hangs from.
    fn place(&mut self, props: &Props) {
        let over = |size: f64, length: f64| (size - length * self.zoom).max(0.0);
        let left = over(self.size.0, props.scene.width) / 2.0;
        let whole = over(self.room_in(props, self.whole), props.scene.height) / 2.0;
        let top = if self.hangs(props) { 0.0 } else { whole.min(over(self.room(props), props.scene.height)) };
        self.pan = (left.round(), top.round());
    }

    /// The size has become another.
    fn measure(&mut self, props: &Props) {
        // A chart is drawn for the height there is.
        self.whole = self.size.1 + if props.view.fit.fills { 0.0 } else { taken() };
    }

    /// A panel at the foot has opened or closed: what is in sight stays where it is.
    fn give_way(&mut self, props: &Props, before: f64) {
        if self.size.1 > before {
            return self.place(props);
        }
        self.pan.1 = self.pan.1.min((self.room(props) - props.scene.height * self.zoom).max(0.0)).round();
    }

    /// Ownership grows to all sides; columns and tables hang from the top, and so does all of a phone.
    fn hangs(&self, props: &Props) -> bool {
        self.size.0 < 560.0 && self.size.1 >= self.size.0 || !props.embed && props.view.fit.hangs
    }

    /// Another height, as with a line more at the foot: as long as all of it stays in sight nothing moves.
    fn stays(&self, props: &Props) -> bool {
        self.size.0 == self.fitted.0
            && (self.whole - self.fitted.1).abs() < 80.0
            && self.pan.1 + props.scene.height * self.zoom <= self.room(props)
    }

    /// The picture has become another. It keeps its place and scale as long as it is in sight.
    fn settle(&mut self, ctx: &Context<Self>, old: &Scene) {
        let props = ctx.props();
        let (pan, zoom) = (self.pan, self.zoom);
        self.fit(props);
        let larger = self.larger.take();
        // A chart is as large as the stage it is drawn for.
        if props.view.fit.fills {
            return;
        }
        let over = (self.size.0 - props.scene.width * zoom, self.room(props) - props.scene.height * zoom);
        if self.zoom >= zoom && !old.items.is_empty() {
            let left = slide(pan.0, over.0);
            let aside = over.0 > 0.0 && (over.0 - 2.0 * left).abs() > self.size.0 / 8.0;
            // It could be larger, or in the middle: that is worth a move only if it lasts. So the same state comes to look the same.
            if self.zoom > zoom * 1.01 || aside {
                let link = ctx.link().clone();
                self.larger = larger.or_else(|| Some(Timeout::new(3_000, move || link.send_message(Msg::Refit))));
            }
            let top = slide(pan.1, over.1);
            // It may hang a little lower or higher than the middle, by a fifth of the height.
            let top =
                if !self.hangs(props) && over.1 > 0.0 && (over.1 - 2.0 * top).abs() > self.room(props) / 5.0 { over.1 / 2.0 } else { top };
            (self.pan, self.zoom) = ((left.round(), top.round()), zoom);
        }
    }

    /// The height in which the controls at the foot cover nothing.
    fn room(&self, props: &Props) -> f64 {
        self.room_in(props, self.size.1)
    }

    /// The same in a stage of another height.
    fn room_in(&self, props: &Props, height: f64) -> f64 {
        if self.controlled(props, height) { height - FOOT } else { height }
    }

    /// Whether so much is out of sight that a map helps.
    fn hides(&self, scene: &Scene) -> bool {
        let seen = |pan: f64, length: f64, size: f64| (pan + length * self.zoom).min(size) - pan.max(0.0);
        let (across, down) = (seen(self.pan.0, scene.width, self.size.0), seen(self.pan.1, scene.height, self.size.1));
        let share = across.max(0.0) * down.max(0.0) / (scene.width * scene.height * self.zoom * self.zoom);
        share < 0.97
    }

    /// In which corner the map covers nothing. Once the picture was moved it stays where it is; if there was no such corner,
    /// it comes only then, where it covers least, and over Pods as cells never.
    fn place_map(&mut self, props: &Props) {
        if !self.controls(props) || props.as_list || !self.hides(&props.scene) {
            self.map = None;
            return;
        }
        if self.touched && self.map.is_some() && self.mapped == self.size {
            return;
        }
        let (w, h) = super::minimap::size(&props.scene);
        let z = self.zoom;
        let covered = |corner: &u8| {
            let (x, y) = self.corner(*corner, props);
            let (x, y) = (x - self.pan.0, y - self.pan.1);
            let meets = |item: &Rc<Item>| {
                let of = item.rect;
                of.h > 0.0 && of.x * z < x + w && of.right() * z > x && of.y * z < y + h && of.bottom() * z > y
            };
            // Of a label only its point is known: it is taken to be as wide as most of them are.
            let over = |label: &Label| {
                let (left, wide) = (if label.centred { label.x - 60.0 } else { label.x }, 120.0);
                left * z < x + w && (left + wide) * z > x && (label.y - 12.0) * z < y + h && (label.y + 12.0) * z > y
            };
            let labels = &props.scene.labels;
            props.scene.items.iter().filter(|item| meets(item)).count() + labels.iter().filter(|label| over(label)).count()
        };
        let cells = props.scene.items.iter().any(|item| matches!(item.body, Body::Cells(_)));
        self.map = (0..4)
            .map(|corner| (covered(&corner), corner))
            .min()
            .filter(|(of, _)| *of == 0 || self.touched && !cells)
            .map(|(_, corner)| corner);
        self.mapped = self.size;
    }

    /// Where the map lies in a corner: at the right first, at the foot first.
    fn corner(&self, corner: u8, props: &Props) -> (f64, f64) {
        let (w, h) = super::minimap::size(&props.scene);
        let x = if corner & 1 == 0 { self.size.0 - w - 12.0 } else { 12.0 };
        (x, if corner & 2 == 0 { self.room(props) - h - 8.0 } else { 12.0 })
    }

    /// A low stage has no room for them.
    fn controls(&self, props: &Props) -> bool {
        self.controlled(props, self.size.1)
    }

    fn controlled(&self, props: &Props, height: f64) -> bool {
        self.size.0 >= 560.0 && height >= 300.0 && !props.embed
    }

    /// The pictures that can be saved.
    fn menu(link: &yew::html::Scope<Self>) -> Html {
        html! {
            <div class="menu" role="menu" aria-label={say(msg::ui_save_the_picture())}>
                { for ["SVG", "PNG"].map(|form| html! { <button type="button" role="menuitem" onclick={link.callback(move |_| Msg::Export(form))}>{ form }</button> }) }
            </div>
        }
    }

    /// The object under the pointer and its place: a whole item, or one cell of many.
    fn under(&self, scene: &Scene, event: &MouseEvent) -> Option<(ObjectRef, Rect)> {
        // A chart tells more of itself than a card would.
        let item = scene.items.get(self.item_at(event.target())?).filter(|item| !matches!(item.body, Body::Chart(_)))?;
        if let Body::Cells(cells) = &item.body {
            let (x, y) = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
            let (x, y) = ((x - self.pan.0) / self.zoom - item.rect.x, (y - self.pan.1) / self.zoom - item.rect.y);
            let pod = cells.hit(x, y)?;
            let (column, row) = ((pod % cells.columns) as f64, (pod / cells.columns) as f64);
            let place = Rect::new(
                item.rect.x + cells.at.0 + column * cells.pitch,
                item.rect.y + cells.at.1 + row * cells.pitch,
                cells.side,
                cells.side,
            );
            return Some((key_of(&cells.pods[pod].id)?, place));
        }
        Some((key_of(&item.id)?, item.rect))
    }

    /// The pointer or the focus is on something else.
    fn point(&mut self, ctx: &Context<Self>, over: Option<(ObjectRef, Rect)>, at_once: bool) -> bool {
        if self.over == over {
            return false;
        }
        let had = std::mem::take(&mut self.rested);
        self.resting = None;
        if had {
            ctx.props().on_hover.emit(None);
        }
        self.over = over;
        if self.over.is_some() {
            let link = ctx.link().clone();
            self.resting = Some(Timeout::new(if at_once { 0 } else { REST }, move || link.send_message(Msg::Rest)));
        }
        had
    }

    /// Those that no node took stand at the foot: how many they are is told where that is out of sight, and leads there.
    fn far_tray(&self, ctx: &Context<Self>, title: &Message, rect: Rect) -> Html {
        let props = ctx.props();
        if props.embed || (rect.y + 40.0) * self.zoom + self.pan.1 < self.room(props) {
            return Html::default();
        }
        let pods = match title.args() {
            [Arg::Count(pods)] => *pods,
            _ => 0,
        };
        let words = say(msg::tray_far(pods));
        let go = ctx.link().callback(move |event: MouseEvent| {
            event.stop_propagation();
            Msg::Centre(rect.cx(), rect.cy())
        });
        // Where no controls keep that room free, what it would cover is not drawn there.
        let under = (!self.controls(props)).then(|| html! { <div class="foot under" /> });
        html! { <>{ under }<button type="button" class="btn sm tofar" style={format!("bottom:{}px", if props.scene.dense() { 12 } else { 52 })} onclick={go} onpointerdown={Callback::from(|event: PointerEvent| event.stop_propagation())}>{ icon("i-down", 14) }{ words }</button></> }
    }

    fn card(&self, props: &Props) -> Html {
        match (&self.over, &props.card, self.rested) {
            (Some((_, rect)), Some(card), true) => self.carded(*rect, card),
            _ => Html::default(),
        }
    }

    /// The card beside what it is about, within the stage.
    fn carded(&self, rect: Rect, card: &Card) -> Html {
        let (x, y) = (rect.x * self.zoom + self.pan.0, rect.y * self.zoom + self.pan.1);
        let (w, h) = (rect.w * self.zoom, rect.h * self.zoom);
        let (width, height) = self.size;
        // Below, above, or beside it: where there is room.
        let middle = (x + w / 2.0 - CARD / 2.0).clamp(8.0, (width - CARD - 8.0).max(8.0));
        let (left, place) = if height - y - h >= TALL {
            (middle, format!("top:{}px", y + h + 10.0))
        } else if y >= TALL {
            (middle, format!("bottom:{}px", height - y + 10.0))
        } else {
            let right = x + w + 10.0;
            let left = if right + CARD <= width { right } else { (x - CARD - 10.0).max(8.0) };
            (left, format!("top:{}px", y.clamp(8.0, (height - TALL).max(8.0))))
        };
        html! {
            <div class="hover" role="tooltip" id="hover" style={format!("left:{left}px;{place}")}>
                <div class="row">{ tile(card.kind.name()) }<div class="grow"><div class="row"><small class="grow">{ say(&card.caption) }</small>
                    if let Some((words, class, glyph)) = &card.pill { <span class={classes!("pill", *class)}>if !glyph.is_empty() { { icon(glyph, 12) } }{ say(words) }</span> }
                    </div><b class="mono">{ &card.name }</b></div>
                </div>
                if !card.facts.is_empty() {
                    <dl class="kv">{ for card.facts.iter().map(|(name, value)| html! { <><dt>{ say(name) }</dt><dd>{ say(value) }</dd></> }) }</dl>
                }
                if let Some((actor, at)) = &card.by {
                    <p class="last">{ marked(&card.effect) }<small>{ say(actor) }{ " · " }{ clock(*at) }</small>
                        if !card.short.is_empty() { <small>{ say(&card.short) }</small> }
                    </p>
                }
            </div>
        }
    }

    fn zoom_about(&mut self, scene: &Scene, factor: f64, x: f64, y: f64) {
        let zoom = (self.zoom * factor).clamp(0.25, 2.0);
        let grown = zoom / self.zoom;
        self.zoom = zoom;
        // What fits stays in sight, and what does not fills the stage.
        let place = |at: f64, pan: f64, size: f64, length: f64| slide(at - (at - pan) * grown, size - length * zoom);
        self.pan = (place(x, self.pan.0, self.size.0, scene.width), place(y, self.pan.1, self.size.1, scene.height));
        self.touched = true;
    }

    fn item_at(&self, target: Option<web_sys::EventTarget>) -> Option<usize> {
        let element: Element = target?.dyn_into().ok()?;
        element.closest("[data-index]").ok().flatten()?.get_attribute("data-index")?.parse().ok()
    }

    /// Brings an item into view and moves the focus to it.
    fn focus(&mut self, props: &Props, index: usize) {
        let Some(item) = props.scene.items.get(index) else { return };
        self.stop = index;
        self.touched |= self.bring(props, item.rect);
        self.goes = !self.go();
    }

    /// Brings what a person chose into sight, else what the line below a frame tells of. Tables and nodes would be torn at each
    /// line: there the head stays where it is.
    fn follow(&mut self, props: &Props) {
        let hangs = props.view.fit.keeps_head;
        let is = |item: &&Rc<Item>| !hangs && props.follow.is_some() && key_of(&item.id) == props.follow;
        let chosen = |item: &&Rc<Item>| Some(item.id.uid.as_str()) == props.selected.as_deref();
        let items = &props.scene.items;
        // Where it has room in the picture as it opened, that is shown; half of it is enough.
        self.place(props);
        if let Some(rect) = items.iter().find(chosen).or_else(|| items.iter().find(is)).map(|item| item.rect)
            && (!hangs || rect.cy() * self.zoom + self.pan.1 > self.room(props))
        {
            self.bring(props, rect);
        }
    }

    /// Moves the picture until a place of it is in sight; whether it had to be moved.
    fn bring(&mut self, props: &Props, rect: Rect) -> bool {
        let (w, h) = (self.size.0, self.room(props));
        let (x, y) = (rect.x * self.zoom + self.pan.0, rect.y * self.zoom + self.pan.1);
        let (iw, ih) = (rect.w * self.zoom, rect.h * self.zoom);
        let shift = |at: f64, size: f64, room: f64| {
            if at < 12.0 {
                12.0 - at
            } else if at + size > room - 12.0 {
                (room - 12.0 - at - size).max(12.0 - at)
            } else {
                0.0
            }
        };
        let (dx, dy) = (shift(x, iw, w), shift(y, ih, h));
        self.pan = (self.pan.0 + dx, self.pan.1 + dy);
        dx != 0.0 || dy != 0.0
    }

    /// Moves the focus to its item, if that is in the page.
    fn go(&self) -> bool {
        let find = |stage: Element| stage.query_selector(&format!(".item[data-index='{}']:not(.ghost)", self.stop)).ok().flatten();
        self.node.cast::<Element>().and_then(find).is_some_and(|element| {
            dom::focus(&element);
            true
        })
    }

    /// Which of those in sight are in the page: where many come at once, they come one part after the other, and what is
    /// there stays.
    fn admit(&mut self, ctx: &Context<Self>) {
        self.place_map(ctx.props());
        let items = &ctx.props().scene.items;
        let all = self.shows_all(ctx.props());
        let whole = all || self.saves.is_some();
        // They leave in parts too: to take very many out of the page at once takes long.
        let (mut goes, mut late) = (GOES, false);
        let mut stays = |item: &Item| {
            let there = self.there.contains(&item.id.uid);
            let stays = there && goes == 0;
            late |= stays;
            goes -= usize::from(there && !stays);
            stays
        };
        let seen = |(index, item): &(usize, &Rc<Item>)| *index == self.stop || self.admits(item, whole) || stays(item);
        let sight: Vec<usize> = items.iter().enumerate().filter(seen).map(|(index, _)| index).collect();
        // Of a few all come, and are known to be there when they have become many.
        let mut room = match (all, whole) {
            (true, _) => usize::MAX,
            (_, true) => WHOLE,
            _ => NEW,
        };
        let mut waits = late;
        let shown = sight.into_iter().filter(|index| {
            let there = *index == self.stop || self.there.contains(&items[*index].id.uid);
            let comes = !there && room > 0;
            room -= usize::from(comes);
            waits |= !there && !comes;
            there || comes
        });
        let shown: Vec<usize> = shown.collect();
        self.there = shown.iter().map(|index| items[*index].id.uid.clone()).collect();
        self.shown = shown;
        if !waits {
            self.more = None;
        } else if self.more.is_none() {
            let link = ctx.link().clone();
            self.more = Some(Timeout::new(FRAME, move || link.send_message(Msg::More)));
        }
    }

    /// Whether an item belongs into the page. One without Pods has no height, and nothing to see.
    fn admits(&self, item: &Item, all: bool) -> bool {
        item.rect.h > 0.0 && (all || self.sees(item.rect))
    }

    /// The shapes whose cells are painted on sheets, by sheet: all that are on one with some of those in the page.
    fn sheets(&self, scene: &Scene) -> Vec<OnSheet> {
        let bare = |item: &&Rc<Item>| matches!(&item.body, Body::Cells(cells) if cells.bare());
        let place = |item: &Rc<Item>| ((item.rect.x / SHEET).floor() as i32, (item.rect.y / SHEET).floor() as i32);
        let mut sheets: Vec<OnSheet> = Vec::new();
        for at in self.shown.iter().filter_map(|index| scene.items.get(*index)).filter(bare).map(place) {
            if !sheets.iter().any(|(of, _)| *of == at) {
                sheets.push((at, Vec::new()));
            }
        }
        for item in scene.items.iter().filter(bare) {
            if let Some((_, items)) = sheets.iter_mut().find(|(of, _)| *of == place(item)) {
                items.push(item.clone());
            }
        }
        sheets
    }

    /// Whether there are so few that those out of sight are in the page too.
    fn shows_all(&self, props: &Props) -> bool {
        props.scene.items.len() <= MANY
    }

    /// Whether an item is in sight, or nearly.
    fn sees(&self, rect: Rect) -> bool {
        let near = |from: f64, to: f64, pan: f64, size: f64| to * self.zoom + pan > -FAR && from * self.zoom + pan < size + FAR;
        near(rect.x, rect.right(), self.pan.0, self.size.0) && near(rect.y, rect.bottom(), self.pan.1, self.size.1)
    }

    fn local(&self, x: f64, y: f64) -> (f64, f64) {
        self.node.cast::<Element>().map_or((x, y), |stage| {
            let rect = stage.get_bounding_client_rect();
            (x - rect.left(), y - rect.top())
        })
    }

    fn choose(&self, ctx: &Context<Self>, event: &MouseEvent) {
        let scene = &ctx.props().scene;
        let Some(item) = self.item_at(event.target()).and_then(|index| scene.items.get(index)) else {
            return ctx.props().on_select.emit(None);
        };
        if let Body::Cells(cells) = &item.body {
            let (x, y) = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
            let (x, y) = ((x - self.pan.0) / self.zoom - item.rect.x, (y - self.pan.1) / self.zoom - item.rect.y);
            if let Some(pod) = cells.hit(x, y) {
                ctx.props().on_select.emit(key_of(&cells.pods[pod].id));
            }
            return;
        }
        pick(ctx.props(), &item.id);
    }

    fn key(&mut self, ctx: &Context<Self>, event: &KeyboardEvent) -> bool {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return false;
        }
        if event.key() == "Escape" && (self.rested || self.menu) {
            event.stop_propagation();
            self.menu = false;
            self.point(ctx, None, true);
            return true;
        }
        let scene = ctx.props().scene.clone();
        let count = scene.items.len();
        let at = self.item_at(event.target());
        let usable = |index: &usize| !still(&scene.items[*index].body) && scene.items[*index].rect.h > 0.0;
        let to = match (event.key().as_str(), at) {
            ("ArrowDown", Some(at)) if event.shift_key() => (0..count).find(|index| scene.items[*index].parent == Some(at)),
            ("ArrowUp", Some(at)) if event.shift_key() => scene.items[at].parent,
            ("ArrowDown", at) => (at.map_or(0, |at| at + 1)..count).find(usable),
            ("ArrowUp", at) => (0..at.unwrap_or(count)).rev().find(usable),
            ("Enter", Some(at)) => {
                event.prevent_default();
                pick(ctx.props(), &scene.items[at].id);
                return false;
            }
            ("w" | "W", Some(at)) => {
                if let Some(key) = key_of(&scene.items[at].id) {
                    ctx.props().on_why.emit(key);
                }
                return false;
            }
            (" ", Some(at)) => {
                event.prevent_default();
                event.stop_propagation();
                pick(ctx.props(), &scene.items[at].id);
                return false;
            }
            ("+" | "=", _) => {
                self.zoom_about(&scene, 1.25, self.size.0 / 2.0, self.size.1 / 2.0);
                event.stop_propagation();
                return true;
            }
            ("-", _) => {
                self.zoom_about(&scene, 0.8, self.size.0 / 2.0, self.size.1 / 2.0);
                event.stop_propagation();
                return true;
            }
            ("0", _) => {
                (self.touched, self.all) = (false, true);
                self.fit(ctx.props());
                event.stop_propagation();
                return true;
            }
            _ => return false,
        };
        event.prevent_default();
        event.stop_propagation();
        if let Some(to) = to {
            self.focus(ctx.props(), to);
        }
        true
    }

    fn drag(&mut self, scene: &Scene, event: &PointerEvent) -> bool {
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        let Some(at) = self.pointers.iter().position(|pointer| pointer.0 == event.pointer_id()) else { return false };
        let (_, ox, oy) = self.pointers[at];
        if let [a, b] = self.pointers[..] {
            let far = |a: (i32, f64, f64), b: (i32, f64, f64)| (a.1 - b.1).hypot(a.2 - b.2).max(1.0);
            let before = far(a, b);
            self.pointers[at] = (event.pointer_id(), x, y);
            let after = far(self.pointers[0], self.pointers[1]);
            let (mx, my) = self.local((self.pointers[0].1 + self.pointers[1].1) / 2.0, (self.pointers[0].2 + self.pointers[1].2) / 2.0);
            self.zoom_about(scene, after / before, mx, my);
        } else {
            if !self.dragged && (x - ox).hypot(y - oy) < 4.0 {
                return false;
            }
            self.pointers[at] = (event.pointer_id(), x, y);
        }
        if !self.dragged {
            self.dragged = true;
            if let Some(stage) = self.node.cast::<Element>() {
                let _ = stage.set_pointer_capture(event.pointer_id());
            }
        }
        self.pan = (self.pan.0 + x - ox, self.pan.1 + y - oy);
        self.touched = true;
        true
    }

    /// Does what a message says; whether the stage is to be drawn.
    fn act(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Size => {
                let Some(stage) = self.node.cast::<Element>() else { return false };
                let size = (f64::from(stage.client_width()), f64::from(stage.client_height()));
                if size == self.size {
                    return false;
                }
                let ((width, before), whole) = (self.size, self.whole);
                self.size = size;
                self.measure(ctx.props());
                self.resized = (self.resized || size.0 != width) && ctx.props().scene.stage != (size.0, self.whole);
                self.quiet = true;
                if self.touched {
                } else if (width, whole) == (size.0, self.whole) {
                    self.give_way(ctx.props(), before);
                } else if !self.stays(ctx.props()) {
                    self.fit(ctx.props());
                }
                ctx.props().on_size.emit((size.0, self.whole));
                true
            }
            Msg::Down(event) => {
                if event.button() == 0 && self.pointers.len() < 2 {
                    self.dragged &= !self.pointers.is_empty();
                    self.pointers.push((event.pointer_id(), f64::from(event.client_x()), f64::from(event.client_y())));
                }
                false
            }
            Msg::Move(event) if self.pointers.is_empty() && event.pointer_type() == "mouse" => {
                let over = self.under(&ctx.props().scene, &event);
                self.point(ctx, over, false)
            }
            Msg::Move(event) => {
                let hidden = self.point(ctx, None, true);
                self.drag(&ctx.props().scene, &event) | hidden
            }
            Msg::Up(event) => {
                self.pointers.retain(|pointer| pointer.0 != event.pointer_id());
                false
            }
            Msg::Wheel(event) => {
                let zooming = event.ctrl_key() || event.meta_key();
                if ctx.props().embed && !zooming || ctx.props().as_list {
                    return false;
                }
                event.prevent_default();
                if zooming {
                    let (x, y) = self.local(f64::from(event.client_x()), f64::from(event.client_y()));
                    self.zoom_about(&ctx.props().scene, (-event.delta_y() * 0.002).exp(), x, y);
                } else {
                    self.pan = (self.pan.0 - event.delta_x(), self.pan.1 - event.delta_y());
                    self.touched = true;
                }
                true
            }
            Msg::Click(event) => {
                let shut = std::mem::take(&mut self.menu);
                if !std::mem::take(&mut self.dragged) {
                    self.choose(ctx, &event);
                }
                shut
            }
            Msg::Key(event) => self.key(ctx, &event),
            Msg::Zoom(factor) => {
                self.zoom_about(&ctx.props().scene, factor, self.size.0 / 2.0, self.size.1 / 2.0);
                true
            }
            Msg::Refit if self.touched => false,
            Msg::Fit | Msg::Refit | Msg::All => {
                self.all = matches!(msg, Msg::All) || self.all && matches!(msg, Msg::Refit);
                self.larger = None;
                self.touched = false;
                self.fit(ctx.props());
                true
            }
            Msg::Bury(generation) => {
                self.ghosts.retain(|(of, _)| *of > generation);
                self.fresh.retain(|(of, _)| *of > generation);
                if self.ghosts.is_empty() && self.fresh.is_empty() {
                    self.timers.clear();
                }
                true
            }
            Msg::Focus(index, by_key) => {
                let moved = self.stop != index;
                self.stop = index;
                let item = ctx.props().scene.items.get(index).filter(|_| by_key);
                let over = item.and_then(|item| Some((key_of(&item.id)?, item.rect)));
                self.point(ctx, over, true) | moved
            }
            Msg::Rest => {
                self.resting = None;
                self.rested = self.over.is_some();
                ctx.props().on_hover.emit(self.over.as_ref().map(|(key, _)| key.clone()));
                true
            }
            Msg::Leave => self.point(ctx, None, true),
            Msg::Centre(x, y) => {
                self.pan = (self.size.0 / 2.0 - x * self.zoom, self.size.1 / 2.0 - y * self.zoom);
                self.touched = true;
                true
            }
            Msg::Saved => {
                // What has changed meanwhile is not known.
                (self.still, self.larger, self.resting, self.quiet) = (None, None, None, true);
                self.pointers.clear();
                self.ghosts.clear();
                self.fresh.clear();
                self.dragged = false;
                self.stop = self.stop.min(ctx.props().scene.items.len().saturating_sub(1));
                if self.scope != ctx.props().scope {
                    self.touched = false;
                    self.there.clear();
                    self.fit(ctx.props());
                }
                ctx.link().send_message(Msg::Size);
                true
            }
            Msg::More => {
                self.more = None;
                true
            }
            Msg::Menu => {
                self.menu = !self.menu;
                true
            }
            Msg::Export(form) => {
                self.menu = false;
                self.saves = Some(form);
                true
            }
        }
    }
}

impl Component for Stage {
    type Message = Msg;
    type Properties = Props;

    fn create(_: &Context<Self>) -> Self {
        Stage {
            node: NodeRef::default(),
            size: (0.0, 0.0),
            whole: 0.0,
            pan: (0.0, 0.0),
            zoom: 1.0,
            touched: false,
            all: false,
            fitted: (0.0, 0.0),
            resized: false,
            pointers: Vec::new(),
            dragged: false,
            ghosts: Vec::new(),
            fresh: Vec::new(),
            generation: 0,
            stop: 0,
            goes: false,
            saves: None,
            still: None,
            scope: String::new(),
            timers: Vec::new(),
            observer: None,
            quiet: true,
            over: None,
            rested: false,
            resting: None,
            menu: false,
            larger: None,
            shown: Vec::new(),
            there: BTreeSet::new(),
            more: None,
            map: None,
            mapped: (0.0, 0.0),
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &Props) -> bool {
        if self.still.is_some() {
            return false;
        }
        let props = ctx.props();
        // The callbacks are new each time and do the same.
        let plain = |props: &Props| (props.animate, props.embed, props.as_list, props.dark, props.whole, props.lang);
        let same = Rc::ptr_eq(&old.scene, &props.scene)
            && (&old.selected, &old.scope, &old.card, plain(old)) == (&props.selected, &props.scope, &props.card, plain(props))
            && (&old.changes, &old.follow) == (&props.changes, &props.follow);
        if same {
            return false;
        }
        let mut opens = false;
        if !Rc::ptr_eq(&old.scene, &props.scene) {
            // What was laid out for another width may still come.
            let resized = self.resized && props.scene.stage == (self.size.0, self.whole);
            self.resized &= !resized;
            // Another manifest is another picture: nothing of the one before is in it.
            // Another run may have the same uids.
            let same = |item: &Rc<Item>| props.scene.items.iter().any(|new| new.id == item.id);
            let foreign = !old.scene.items.iter().take(50).any(same);
            let other = old.scope != props.scope || foreign;
            // A rewind is no other picture: it keeps its place, so that one sees what differs.
            let elsewhere = foreign || old.scope.split('/').next() != props.scope.split('/').next();
            opens = elsewhere;
            self.quiet = other || !props.animate;
            if other {
                self.ghosts.clear();
                self.fresh.clear();
                self.touched &= !elsewhere;
                self.all &= !elsewhere;
            } else if props.animate && old.scene.items.len() < 400 {
                let lacks = |scene: &Scene, item: &Item| !scene.items.iter().any(|other| other.id.uid == item.id.uid);
                self.generation += 1;
                let before = self.ghosts.len() + self.fresh.len();
                let gone = old.scene.items.iter().filter(|item| lacks(&props.scene, item));
                self.ghosts.extend(gone.map(|item| (self.generation, item.clone())));
                let come = props.scene.items.iter().filter(|item| lacks(&old.scene, item));
                self.fresh.extend(come.map(|item| (self.generation, item.id.uid.clone())));
                if self.ghosts.len() + self.fresh.len() > before {
                    let (link, generation) = (ctx.link().clone(), self.generation);
                    self.timers.push(Timeout::new(340, move || link.send_message(Msg::Bury(generation))));
                }
            }
            self.ghosts.retain(|(_, ghost)| !props.scene.items.iter().any(|item| item.id.uid == ghost.id.uid));
            self.stop = self.stop.min(props.scene.items.len().saturating_sub(1));
            if other {
                self.there.clear();
            }
            if elsewhere {
                let whole = self.whole;
                self.measure(props);
                if self.whole != whole {
                    props.on_size.emit((self.size.0, self.whole));
                }
            }
            if !self.touched && (elsewhere || resized) {
                self.fit(props);
            } else if !self.touched && (old.scene.width, old.scene.height) != (props.scene.width, props.scene.height) {
                self.settle(ctx, &old.scene);
            }
        }
        // It opens at the top.
        let told = (&old.follow, &old.selected) != (&props.follow, &props.selected);
        if props.embed && !self.touched && !opens && told {
            self.follow(props);
        }
        self.admit(ctx);
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        if self.still.is_some() && !matches!(msg, Msg::Saved) {
            return false;
        }
        let drawn = self.act(ctx, msg);
        if drawn {
            self.admit(ctx);
        }
        drawn
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Stage");
        let props = ctx.props();
        let link = ctx.link();
        let scene = &props.scene;
        let nothing = scene.items.is_empty();
        let chosen = |item: &Item| props.selected.as_deref() == Some(item.id.uid.as_str());
        let world =
            format!("transform:translate({}px,{}px) scale({});--z:{}", Px(self.pan.0), Px(self.pan.1), Px(self.zoom), Px(self.zoom));
        let onfocus = link.batch_callback(|event: FocusEvent| {
            let element: Element = event.target()?.dyn_into().ok()?;
            Some(Msg::Focus(element.get_attribute("data-index")?.parse().ok()?, element.matches(":focus-visible").unwrap_or(false)))
        });
        let moved_away = link.callback(|_: FocusEvent| Msg::Leave);
        // So many that glide at once would each be a layer of the browser's.
        let quiet = self.quiet || !props.animate || scene.items.len() > MANY;
        let shown = self.shown.iter().filter_map(|index| Some((*index, scene.items.get(*index)?)));
        let drawing = html! {
            <div class={classes!("world", quiet.then_some("still"), (!self.pointers.is_empty()).then_some("held"))} style={world} role="group" aria-label={say(&scene.summary)} onfocusin={onfocus} onfocusout={moved_away}>
                { under(scene) }
                { for self.ghosts.iter().map(|(_, item)| html! { <Shape lang={props.lang} key={format!("ghost/{}", item.id.uid)} item={item.clone()} index={0} selected=false stop=false ghost=true dark={props.dark} /> }) }
                { for shown.map(|(index, item)| html! {
                    <Shape lang={props.lang} key={item.id.uid.clone()} item={item.clone()} index={index} selected={chosen(item)} stop={index == self.stop} dark={props.dark} whole={props.whole} fresh={self.fresh.iter().any(|(_, uid)| *uid == item.id.uid)} mark={mark(props, item)} />
                }) }
                { for self.sheets(scene).into_iter().map(|(place, items)| html! { <Sheet key={format!("sheet/{place:?}")} at={corner(place)} origin={corner(place)} items={items} dark={props.dark} /> }) }
                { over(scene, (-self.pan.0 / self.zoom).max(0.0)) }
            </div>
        };
        html! {
            <div
                ref={self.node.clone()}
                class={classes!("stage", props.as_list.then_some("listed"))}
                id={props.id}
                tabindex={if nothing { Some("-1") } else { None }}
                onpointerdown={link.callback(Msg::Down)}
                onpointermove={link.callback(Msg::Move)}
                onpointerup={link.callback(Msg::Up)}
                onpointercancel={link.callback(Msg::Up)}
                onpointerleave={link.callback(|_: PointerEvent| Msg::Leave)}
                onwheel={link.callback(Msg::Wheel)}
                onclick={link.callback(Msg::Click)}
                onkeydown={link.callback(Msg::Key)}
            >
                if nothing {
                    <div class="nothing">{ props.empty.clone() }</div>
                } else if props.as_list {
                    <List lang={props.lang} key={props.scope.clone()} scene={scene.clone()} on_select={props.on_select.clone()} />
                } else {
                    { drawing }
                    if self.size.0 >= 620.0 && self.size.1 >= 300.0 && !props.embed && !scene.dense() {
                        { legend(&props.view.legend, scene) }
                    }
                    { self.card(props) }
                    // It comes last, with a Pod and a note in it.
                    { for scene.items.iter().rev().take(4).find_map(|item| if let Body::Tray { title, .. } = &item.body { Some(self.far_tray(ctx, title, item.rect)) } else { None }) }
                    // Where there is a legend too, what is under both is not drawn there.
                    if self.pan.1 + scene.height * self.zoom > self.room(props) + 12.0 {
                        <div class={classes!("foot", (!self.controls(props)).then_some("bare"))} />
                    }
                    if let Some(at) = self.map.map(|corner| self.corner(corner, props)) {
                        <Minimap at={at} scene={scene.clone()} pan={self.pan} zoom={self.zoom} size={self.size} on_centre={link.callback(|(x, y)| Msg::Centre(x, y))} />
                    }
                    if self.controls(props) {
                        <div class="zoom" onclick={Callback::from(|event: MouseEvent| event.stop_propagation())} onpointerdown={Callback::from(|event: PointerEvent| event.stop_propagation())}>
                            <button type="button" aria-label={say(msg::ui_zoom_out())} onclick={link.callback(|_| Msg::Zoom(0.8))}>{ icon("i-minus", 14) }</button>
                            <button type="button" class="pc" aria-label={say(msg::ui_readable_size())} onclick={link.callback(|_| Msg::Fit)}>{ format!("{}%", (self.zoom * 100.0).round() as i64) }</button>
                            <button type="button" aria-label={say(msg::ui_zoom_in())} onclick={link.callback(|_| Msg::Zoom(1.25))}>{ icon("i-plus", 14) }</button>
                            <button type="button" aria-label={say(msg::ui_fit_everything())} onclick={link.callback(|_| Msg::All)}>{ icon("i-fit", 14) }</button>
                            <button type="button" id="export" aria-label={say(msg::ui_save_the_picture())} aria-haspopup="menu" aria-expanded={self.menu.to_string()} onclick={link.callback(|_| Msg::Menu)}>{ icon("i-save", 14) }</button>
                            if self.menu { { Self::menu(link) } }
                        </div>
                    }
                }
            </div>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if std::mem::take(&mut self.goes) {
            self.go();
        }
        if self.more.is_none()
            && let Some(form) = self.saves.take()
        {
            let link = ctx.link().clone();
            self.scope.clone_from(&ctx.props().scope);
            self.still = Some(Timeout::new(STILL, move || link.send_message(Msg::Saved)));
            ctx.props().on_export.emit((form, ctx.link().callback(|()| Msg::Saved)));
        }
        if !first {
            return;
        }
        let link = ctx.link().clone();
        let changed = Closure::<dyn FnMut()>::new(move || link.send_message(Msg::Size));
        if let (Ok(observer), Some(stage)) = (web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()), self.node.cast::<Element>()) {
            observer.observe(&stage);
            self.observer = Some((changed, observer));
        }
        ctx.link().send_message(Msg::Size);
    }

    fn destroy(&mut self, _: &Context<Self>) {
        if let Some((_, observer)) = &self.observer {
            observer.disconnect();
        }
    }
}
