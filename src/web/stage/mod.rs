//! The stage: pan, zoom, fit, keyboard navigation of the objects, and their entering and leaving.

mod cards;
mod pointer;
mod props;
mod sheets;

pub use props::{SaveProps, SceneScope, picked};

use crate::web::cells::Sheet;
use crate::web::dom::{self, icon};
use crate::web::language::say;
use crate::web::list::List;
use crate::web::minimap::Minimap;
use crate::web::shapes::{Shape, over, still, under};
use cards::legend;
use gloo_timers::callback::Timeout;
use i18n::format::Px;
use i18n::msg;
use k8s_model::ObjectRef;
use props::{Msg, Props, key_of, mark};
use session::drawing::WriteShown;
use sheets::corner;
use std::rc::Rc;
use views::mounted::{ITEMS_ADDED, ITEMS_ADDED_MEANWHILE, MAX_WHOLE_ITEMS, Mounted};
use views::shape::{CardBody, Item, Rect, Scene};
use views::viewport::{PanelInsets, Viewport};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, MouseEvent, PointerEvent};
use yew::prelude::*;

/// Milliseconds after which a picture that could be larger is enlarged.
const REFIT_DELAY_MS: u32 = 3_000;
/// Milliseconds between two parts: each has a frame of its own.
const PART_INTERVAL_MS: u32 = 20;
/// Number of items from which a picture takes a whole frame: its new items are added in the next.
const LARGE_SCENE: usize = 2_000;

/// Delayed work.
#[derive(Default)]
struct Later {
    /// Timeout that runs while the picture could be larger.
    larger: Option<Timeout>,
    /// Timeout after which the next items are added to the page.
    more: Option<Timeout>,
}

/// Stage.
pub struct Stage {
    node: NodeRef,
    port: Viewport,
    mounted: Mounted,
    pointers: Vec<(i32, f64, f64)>,
    dragged: bool,
    ghosts: Vec<(u32, Rc<Item>)>,
    /// Items just added: only they are animated, also when the browser mounts others again.
    fresh: Vec<(u32, String)>,
    generation: u32,
    stop: usize,
    /// True if the focus moves to the stop once it is in the page.
    goes: bool,
    timers: Vec<Timeout>,
    observer: Option<(Closure<dyn FnMut()>, web_sys::ResizeObserver)>,
    quiet: bool,
    /// Object under the pointer or the focus, and its bounds in the scene.
    over: Option<(ObjectRef, Rect)>,
    /// True if its card is open.
    rested: bool,
    resting: Option<Timeout>,
    menu: bool,
    later: Later,
    /// True if the selected object is to be scrolled into view once it is drawn.
    reveals: bool,
}

/// Heights taken by panels at the foot of the stage while they are open.
fn taken() -> PanelInsets {
    let high = |of: &str, least: i32| {
        let found = dom::document().query_selector(of).ok().flatten();
        f64::from(
            found
                .map_or(0, |panel| panel.client_height() + least)
                .max(0),
        )
    };
    // One line of the console is always there, even if more lines are typed; that one is not counted.
    PanelInsets {
        console: high(".app.open-console > .console", -31),
        past: high(".canvas > .past", 12),
    }
}

/// Returns true if an item can have the focus: it is a button and has a height.
fn usable(scene: &Scene, index: usize) -> bool {
    scene
        .items
        .get(index)
        .is_some_and(|item| !still(&item.body) && item.rect.h > 0.0)
}

/// Returns the focusable item at an index, or the nearest after it, then before it.
fn stop_near(scene: &Scene, at: usize) -> usize {
    let may = |at: &usize| usable(scene, *at);
    let at = at.min(scene.items.len());
    (at..scene.items.len())
        .find(may)
        .or_else(|| (0..at).rev().find(may))
        .unwrap_or(0)
}

impl Stage {
    /// Scrolls an item into view and focuses it.
    fn focus(&mut self, props: &Props, index: usize) {
        let Some(item) = props.scene.items.get(index) else {
            return;
        };
        self.stop = index;
        self.port.touched |= self.port.bring(&props.picture(), item.rect);
        self.goes = !self.go();
    }

    /// Scrolls to the object selected by a person, else to that of the caption below a frame. Tables and nodes must not be cut within a
    /// row: there the head stays visible.
    fn follow(&mut self, props: &Props) {
        let hangs = props.scope.view.fit.keeps_head;
        let is =
            |item: &&Rc<Item>| !hangs && props.follow.is_some() && key_of(&item.id) == props.follow;
        let chosen = |item: &&Rc<Item>| {
            props
                .selected
                .as_deref()
                .is_some_and(|uid| item.id.is_of(uid))
        };
        let items = &props.scene.items;
        // If it fits into the opening picture, that is shown; half of it is enough.
        self.port.place(&props.picture());
        if let Some(rect) = items
            .iter()
            .find(chosen)
            .or_else(|| items.iter().find(is))
            .map(|item| item.rect)
            && (!hangs || !self.port.above_foot(&props.picture(), rect.cy()))
        {
            self.port.bring(&props.picture(), rect);
        }
    }

    /// Keeps the Tab stop on its object in a new picture. If the object is gone and had the focus, the item in its place gets it: otherwise
    /// the focus would leave the diagram.
    fn keep_stop(&mut self, old: &Scene, new: &Scene) {
        let was = old.items.get(self.stop);
        let kept = was.and_then(|was| new.items.iter().position(|item| item.id == was.id));
        self.goes |= kept.is_none() && self.holds_focus();
        self.stop = stop_near(new, kept.unwrap_or(self.stop));
    }

    /// Returns true if one of its items has the focus.
    fn holds_focus(&self) -> bool {
        let item = dom::document()
            .active_element()
            .filter(|element| element.matches(".item").unwrap_or(false));
        item.zip(self.node.cast::<Element>())
            .is_some_and(|(item, stage)| stage.contains(Some(&item)))
    }

    /// Focuses the stop's element, if it is in the page.
    fn go(&self) -> bool {
        let find = |stage: Element| {
            stage
                .query_selector(&format!(".item[data-index='{}']:not(.ghost)", self.stop))
                .ok()
                .flatten()
        };
        self.node
            .cast::<Element>()
            .and_then(find)
            .is_some_and(|element| {
                dom::focus(&element);
                true
            })
    }

    /// Decides which items are in the page, and when the next are added. `anew`: the whole picture is drawn as well.
    fn admit(&mut self, ctx: &Context<Self>, anew: bool) {
        let props = ctx.props();
        let waits = self.later.more.is_some() && !self.mounted.is_empty();
        self.port.place_map(&props.picture(), props.list.is_none());
        let sees = |item: &Item| self.port.sees(item.rect);
        // A picture in between must not add waiting items earlier.
        let room = match () {
            () if waits || anew && props.scene.items.len() > LARGE_SCENE => 0,
            () if props.making || anew && props.scene.items.len() > MAX_WHOLE_ITEMS => {
                ITEMS_ADDED_MEANWHILE
            }
            () => ITEMS_ADDED,
        };
        if !self.mounted.admit(&props.scene, self.stop, room, &sees) {
            self.later.more = None;
        } else if self.later.more.is_none() {
            let link = ctx.link().clone();
            self.later.more = Some(Timeout::new(PART_INTERVAL_MS, move || {
                link.send_message(Msg::More)
            }));
        }
    }

    /// Handles a message; returns true if the stage is to be redrawn.
    fn act(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        // A person who moves the picture is looking elsewhere.
        self.reveals &= !matches!(msg, Msg::Down(_) | Msg::Wheel(_) | Msg::Zoom(_));
        match msg {
            Msg::Size => {
                let Some(stage) = self.node.cast::<Element>() else {
                    return false;
                };
                let size = (
                    f64::from(stage.client_width()),
                    f64::from(stage.client_height()),
                );
                if !self.port.resize(size, taken(), &ctx.props().picture()) {
                    return false;
                }
                self.quiet = true;
                ctx.props().on_size.emit(self.port.stage());
                true
            }
            Msg::Down(event) => {
                if event.button() == 0 && self.pointers.len() < 2 {
                    self.dragged &= !self.pointers.is_empty();
                    self.pointers.push((
                        event.pointer_id(),
                        f64::from(event.client_x()),
                        f64::from(event.client_y()),
                    ));
                }
                false
            }
            Msg::Move(event) if self.pointers.is_empty() && event.pointer_type() == "mouse" => {
                let over = self.under(&ctx.props().scene, &event);
                self.point(ctx, over, false)
            }
            Msg::Move(event) => {
                let hidden = self.point(ctx, None, true);
                self.drag(&ctx.props().scene, &event, ctx.props().embed) | hidden
            }
            Msg::Up(event) => {
                self.pointers
                    .retain(|pointer| pointer.0 != event.pointer_id());
                false
            }
            Msg::Wheel(event) => {
                self.roll(&ctx.props().scene, &event);
                true
            }
            Msg::Click(event) => {
                let shut = std::mem::take(&mut self.menu);
                if !std::mem::take(&mut self.dragged) {
                    self.choose(ctx, &event);
                }
                shut
            }
            Msg::Pick(index, why) => self.pick(ctx.props(), index, why),
            Msg::Go(index) => {
                self.focus(ctx.props(), index);
                true
            }
            Msg::Shut => {
                self.menu = false;
                self.point(ctx, None, true);
                true
            }
            Msg::Zoom(factor) => {
                self.port.zoom_middle(&ctx.props().scene, factor);
                true
            }
            Msg::Refit if self.port.touched => false,
            Msg::Fit | Msg::Refit | Msg::All => {
                self.later.larger = None;
                let all = matches!(msg, Msg::All) || self.port.all && matches!(msg, Msg::Refit);
                self.port.refit(&ctx.props().picture(), all);
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
                ctx.props()
                    .on_hover
                    .emit(self.over.as_ref().map(|(key, _)| key.clone()));
                true
            }
            Msg::Leave => self.point(ctx, None, true),
            Msg::Centre(x, y) => {
                self.port.centre(x, y);
                true
            }
            Msg::More => {
                self.later.more = None;
                true
            }
            Msg::Menu => {
                self.menu = !self.menu;
                true
            }
            Msg::Export(form) => {
                self.menu = false;
                ctx.props().save.on_save.emit(form);
                true
            }
        }
    }
}

impl Component for Stage {
    type Message = Msg;
    type Properties = Props;

    fn create(ctx: &Context<Self>) -> Self {
        Stage {
            node: NodeRef::default(),
            port: Viewport::default(),
            mounted: Mounted::default(),
            pointers: Vec::new(),
            dragged: false,
            ghosts: Vec::new(),
            fresh: Vec::new(),
            generation: 0,
            stop: stop_near(&ctx.props().scene, 0),
            goes: false,
            timers: Vec::new(),
            observer: None,
            quiet: true,
            over: None,
            rested: false,
            resting: None,
            menu: false,
            later: Later::default(),
            reveals: false,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &Props) -> bool {
        let props = ctx.props();
        // The callbacks are new each time but do the same.
        let plain = |props: &Props| {
            (
                props.animate,
                props.embed,
                props.list.clone(),
                props.dark,
                props.whole,
                props.lang,
            )
        };
        let same = Rc::ptr_eq(&old.scene, &props.scene)
            && (&old.selected, &old.scope, &old.card, plain(old))
                == (&props.selected, &props.scope, &props.card, plain(props))
            && (&old.changes, &old.follow, &old.writes)
                == (&props.changes, &props.follow, &props.writes);
        if same {
            return false;
        }
        let mut opens = false;
        if !Rc::ptr_eq(&old.scene, &props.scene) {
            let resized = self.port.take_resized(&props.scene);
            // Another manifest is another picture, without items of the previous one. Another run may have the same uids.
            let same = |item: &Rc<Item>| props.scene.items.iter().any(|new| new.id == item.id);
            let foreign = !old.scene.items.iter().take(50).any(same);
            let other = old.scope != props.scope || foreign;
            // A rewind is not another picture: the position is kept, so that differences are visible.
            let elsewhere =
                foreign || (old.scope.view, old.scope.part) != (props.scope.view, props.scope.part);
            opens = elsewhere;
            self.quiet = other || !props.animate;
            if other {
                self.ghosts.clear();
                self.fresh.clear();
                self.port.touched &= !elsewhere;
                self.port.all &= !elsewhere;
            } else if props.animate && old.scene.items.len() < 400 {
                let lacks = |scene: &Scene, item: &Item| {
                    !scene.items.iter().any(|other| other.id.uid == item.id.uid)
                };
                self.generation += 1;
                let before = self.ghosts.len() + self.fresh.len();
                let gone = old
                    .scene
                    .items
                    .iter()
                    .filter(|item| lacks(&props.scene, item));
                self.ghosts
                    .extend(gone.map(|item| (self.generation, item.clone())));
                let come = props
                    .scene
                    .items
                    .iter()
                    .filter(|item| lacks(&old.scene, item));
                self.fresh
                    .extend(come.map(|item| (self.generation, item.id.uid.clone())));
                if self.ghosts.len() + self.fresh.len() > before {
                    let (link, generation) = (ctx.link().clone(), self.generation);
                    self.timers.push(Timeout::new(340, move || {
                        link.send_message(Msg::Bury(generation))
                    }));
                }
            }
            self.ghosts.retain(|(_, ghost)| {
                !props
                    .scene
                    .items
                    .iter()
                    .any(|item| item.id.uid == ghost.id.uid)
            });
            self.keep_stop(&old.scene, &props.scene);
            if other {
                self.mounted.clear();
            }
            if elsewhere {
                let stage = self.port.stage();
                self.port.measure(&props.picture(), taken());
                if self.port.stage() != stage {
                    props.on_size.emit(self.port.stage());
                }
            }
            if !self.port.touched && (elsewhere || resized) {
                self.port.fit(&props.picture());
            } else if !self.port.touched
                && (old.scene.width, old.scene.height) != (props.scene.width, props.scene.height)
            {
                // The timeout continues while the picture could be larger.
                let waits = self.later.larger.take();
                if self
                    .port
                    .settle(&props.picture(), old.scene.items.is_empty())
                {
                    let link = ctx.link().clone();
                    self.later.larger = waits.or_else(|| {
                        Some(Timeout::new(REFIT_DELAY_MS, move || {
                            link.send_message(Msg::Refit)
                        }))
                    });
                }
            }
        }
        self.reveals |= !props.embed && old.selected != props.selected;
        let chosen = |item: &&Rc<Item>| {
            props
                .selected
                .as_deref()
                .is_some_and(|uid| item.id.is_of(uid))
        };
        if self.reveals
            && let Some(rect) = props.scene.items.iter().find(chosen).map(|item| item.rect)
        {
            self.reveals = false;
            self.port.bring(&props.picture(), rect);
        }
        // A new picture opens at the top.
        let told = (&old.follow, &old.selected) != (&props.follow, &props.selected);
        if props.embed && !self.port.touched && !opens && told {
            self.follow(props);
        }
        self.admit(ctx, true);
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let drawn = self.act(ctx, msg);
        if drawn {
            self.admit(ctx, false);
        }
        drawn
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Stage");
        let props = ctx.props();
        let link = ctx.link();
        let scene = &props.scene;
        let nothing = scene.items.is_empty();
        let chosen = |item: &Item| {
            props
                .selected
                .as_deref()
                .is_some_and(|uid| item.id.is_of(uid))
        };
        let world = format!(
            "transform:translate({}px,{}px) scale({});--z:{}",
            Px(self.port.pan.0),
            Px(self.port.pan.1),
            Px(self.port.zoom),
            Px(self.port.zoom)
        );
        let onfocus = link.batch_callback(|event: FocusEvent| {
            let element: Element = event.target()?.dyn_into().ok()?;
            Some(Msg::Focus(
                element.get_attribute("data-index")?.parse().ok()?,
                element.matches(":focus-visible").unwrap_or(false),
            ))
        });
        let moved_away = link.callback(|_: FocusEvent| Msg::Leave);
        // So many animated items would each be a layer of the browser.
        let quiet = self.quiet || !props.animate || scene.items.len() > MAX_WHOLE_ITEMS;
        let shown = self.mounted.shown(scene);
        let writes: &[WriteShown] = if quiet { &[] } else { &props.writes };
        let drawing = html! {
            <div class={classes!("world", quiet.then_some("still"), (!self.pointers.is_empty()).then_some("held"))} style={world} role="group" aria-label={say(&scene.summary)} onfocusin={onfocus} onfocusout={moved_away}>
                { under(scene, writes, |top, bottom| self.port.sees_rows(top, bottom)) }
                { for self.ghosts.iter().map(|(_, item)| html! { <Shape lang={props.lang} key={format!("ghost/{}", item.id.uid)} item={item.clone()} index={0} selected=false stop=false ghost=true dark={props.dark} /> }) }
                { for shown.map(|(index, item)| html! {
                    <Shape lang={props.lang} key={item.id.uid.clone()} item={item.clone()} index={index} selected={chosen(item)} stop={index == self.stop} dark={props.dark} fresh={self.fresh.iter().any(|(_, uid)| *uid == item.id.uid)} mark={mark(props, item)} />
                }) }
                { for self.sheets(scene).into_iter().map(|(place, items)| html! { <Sheet key={format!("sheet/{place:?}")} at={corner(place)} origin={corner(place)} items={items} dark={props.dark} /> }) }
                { over(scene, writes, (-self.port.pan.0 / self.port.zoom).max(0.0), |top, bottom| self.port.sees_rows(top, bottom)) }
            </div>
        };
        let (embed, listed) = (props.embed, props.list.is_some());
        let (to, shown) = (link.clone(), scene.clone());
        let onkeydown = dom::answer(link, move |stage: &Stage, event| {
            to.send_message_batch(stage.key(&shown, event).into_iter().collect())
        });
        html! {
            <div
                ref={self.node.clone()}
                class={classes!("stage", props.list.is_some().then_some("listed"))}
                id={props.id}
                tabindex={if nothing { Some("-1") } else { None }}
                onpointerdown={link.callback(Msg::Down)}
                onpointermove={link.callback(Msg::Move)}
                onpointerup={link.callback(Msg::Up)}
                onpointercancel={link.callback(Msg::Up)}
                onpointerleave={link.callback(|_: PointerEvent| Msg::Leave)}
                onwheel={link.batch_callback(move |event: WheelEvent| Self::wheel(event, embed, listed))}
                onclick={link.callback(Msg::Click)}
                onkeydown={onkeydown}
            >
                if nothing {
                    <div class="nothing">{ props.empty.clone() }</div>
                } else if let Some(standings) = &props.list {
                    <List standings={standings.clone()} lang={props.lang} key={format!("{:?}", props.scope)} scene={scene.clone()} on_pick={props.on_pick.clone()} />
                } else {
                    { drawing }
                    if self.port.has_legend(&props.picture()) {
                        { legend(&props.scope.view.legend, scene) }
                    }
                    { self.card(props) }
                    // The tray is among the last items, with a Pod and a note in it.
                    { for scene.items.iter().rev().take(4).find_map(|item| if let CardBody::Tray { pods, .. } = &item.body { Some(self.far_tray(ctx, *pods, item.rect)) } else { None }) }
                    // If there is a legend too, the diagram is not drawn under both.
                    if self.port.overflows(&props.picture()) {
                        <div class={classes!("foot", (!self.port.controls(&props.picture())).then_some("bare"))} />
                    }
                    if let Some(at) = self.port.map.map(|corner| self.port.corner(corner, &props.picture())) {
                        <Minimap at={at} scene={scene.clone()} pan={self.port.pan} zoom={self.port.zoom} size={self.port.size} on_centre={link.callback(|(x, y)| Msg::Centre(x, y))} />
                    }
                    if self.port.controls(&props.picture()) {
                        <div class="zoom" onclick={Callback::from(|event: MouseEvent| event.stop_propagation())} onpointerdown={Callback::from(|event: PointerEvent| event.stop_propagation())}>
                            <button type="button" data-key="-" aria-label={say(msg::button_zoom_out())} title={say(msg::with_key(msg::button_zoom_out(), "-"))} onclick={link.callback(|_| Msg::Zoom(0.8))}>{ icon("i-minus", 14) }</button>
                            <button type="button" class="pc" aria-label={say(msg::button_zoom_readable())} title={say(msg::button_zoom_readable())} onclick={link.callback(|_| Msg::Fit)}>{ format!("{}%", (self.port.zoom * 100.0).round() as i64) }</button>
                            <button type="button" data-key="+" aria-label={say(msg::button_zoom_in())} title={say(msg::with_key(msg::button_zoom_in(), "+"))} onclick={link.callback(|_| Msg::Zoom(1.25))}>{ icon("i-plus", 14) }</button>
                            <button type="button" data-key="0" aria-label={say(msg::button_zoom_to_fit())} title={say(msg::with_key(msg::button_zoom_to_fit(), "0"))} onclick={link.callback(|_| Msg::All)}>{ icon("i-fit", 14) }</button>
                            <button type="button" id="export" aria-label={say(msg::button_save_image())} title={say(msg::button_save_image())} aria-haspopup="menu" aria-expanded={self.menu.to_string()} onclick={link.callback(|_| Msg::Menu)}>{ icon("i-save", 14) }</button>
                            if self.menu { { Self::menu(link, ctx.props()) } }
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
        if !first {
            return;
        }
        let link = ctx.link().clone();
        let changed = Closure::<dyn FnMut()>::new(move || link.send_message(Msg::Size));
        if let (Ok(observer), Some(stage)) = (
            web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()),
            self.node.cast::<Element>(),
        ) {
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
