//! Properties and messages of the stage.

use crate::web::export::ImageFormat;
use crate::web::language::Lang;
use apiserver::Op;
use k8s_model::{Kind, ObjectRef};
use projection::changes::{Change, fate};
use projection::model::Id;
use session::Standings;
use session::drawing::WriteShown;
use session::selection::SelectionMsg;
use std::rc::Rc;
use views::card::Card;
use views::grouping::{FOLD, GROUP};
use views::shape::{Item, Scene};
use views::view::View;
use views::viewport::ViewedScene;
use web_sys::{MouseEvent, PointerEvent, WheelEvent};
use yew::prelude::*;

/// Scope of a picture: it changes with the view and with every rewind, and items that enter then are not animated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneScope {
    /// Diagram.
    pub view: &'static View,
    /// Changes with every rewind.
    pub epoch: u64,
    /// Hash of the part of the cluster shown, and its grouping.
    pub part: u64,
}

/// Properties of the stage.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Language of the page.
    pub lang: Lang,
    /// Scene of the diagram.
    pub scene: Rc<Scene>,
    /// Writes of the newest pass.
    #[prop_or_default]
    pub writes: Rc<[WriteShown]>,
    /// Uid of the selected object.
    pub selected: Option<String>,
    /// Scope of the picture.
    pub scope: SceneScope,
    /// True while the next picture is being made in parts: fewer items are added per frame.
    #[prop_or_default]
    pub making: bool,
    /// Element id: `stage`, or another if two are shown.
    #[prop_or("stage")]
    pub id: &'static str,
    /// True if moves and entrances are animated.
    pub animate: bool,
    /// True in a frame of another page, to which the wheel belongs.
    pub embed: bool,
    /// Object of the caption below a frame: it is scrolled into view.
    #[prop_or_default]
    pub follow: Option<ObjectRef>,
    /// Placeholder if nothing is drawn.
    pub empty: Html,
    /// Shows a nested list in place of the drawing, with the states of objects that have a problem.
    pub list: Option<Rc<Standings>>,
    /// True if the theme is dark.
    pub dark: bool,
    /// True if the whole module is loaded.
    pub whole: bool,
    /// A person selected an object, a loop, or the heading of a group.
    pub on_pick: Callback<SelectionMsg>,
    /// A person asked for the explanation of an object.
    pub on_why: Callback<ObjectRef>,
    /// The stage was resized.
    pub on_size: Callback<(f64, f64)>,
    /// The pointer or the focus is on an object.
    pub on_hover: Callback<Option<ObjectRef>>,
    /// Card of the hovered object.
    pub card: Option<Rc<Card>>,
    /// Differences between two compared instants.
    #[prop_or_default]
    pub changes: Option<Rc<Vec<Change>>>,
    /// Properties of saving.
    #[prop_or_default]
    pub save: SaveProps,
}

/// Properties of saving the picture.
#[derive(Clone, Default, PartialEq)]
pub struct SaveProps {
    /// Interval of the history between the marks, in milliseconds.
    pub stretch: Option<(u64, u64)>,
    /// A person chose a format.
    pub on_save: Callback<ImageFormat>,
}

/// Message of the stage.
pub enum Msg {
    /// The stage was resized.
    Size,
    /// A pointer was pressed, moved, released.
    Down(PointerEvent),
    Move(PointerEvent),
    Up(PointerEvent),
    /// The wheel was turned.
    Wheel(WheelEvent),
    /// The stage was clicked.
    Click(MouseEvent),
    /// Moves the focus to this item.
    Go(usize),
    /// Selects this item or, if true, asks for its explanation.
    Pick(usize, bool),
    /// Closes what is open over the stage.
    Shut,
    /// Zooms by a factor about the middle.
    Zoom(f64),
    /// Fits as on opening; fits everything, however small; or fits again because the picture could have been larger for a while.
    Fit,
    All,
    Refit,
    /// Removes ghosts.
    Bury(u32),
    /// The focus is on this item; true if the keyboard moved it there.
    Focus(usize, bool),
    /// The pointer has hovered long enough.
    Rest,
    /// The pointer has left.
    Leave,
    /// Centres a point of the scene.
    Centre(f64, f64),
    /// Opens or closes the menu of formats.
    Menu,
    /// Saves in a format.
    Export(ImageFormat),
    /// Adds the next of many items.
    More,
}

/// Returns the key of an item's object, if the engine knows its kind.
pub fn key_of(id: &Id) -> Option<ObjectRef> {
    Some(ObjectRef::new(
        Kind::from_label(&id.kind)?,
        &id.namespace,
        &id.name,
    ))
}

/// Returns the selection of an item: an object, a loop, or the heading of a group, which is folded.
pub fn picked(id: &Id) -> Option<SelectionMsg> {
    match id.kind.as_str() {
        "Loop" => cluster::loops::named(&id.name).map(|actor| SelectionMsg::Loop(Some(actor))),
        GROUP | FOLD => Some(SelectionMsg::Fold(id.uid.clone())),
        _ => key_of(id).map(|key| SelectionMsg::Select(Some(key))),
    }
}

/// Reports the selection of an item.
pub(super) fn pick(props: &Props, id: &Id) {
    if let Some(picked) = picked(id) {
        props.on_pick.emit(picked);
    }
}

/// Class of an object's difference between the two compared instants.
pub(super) fn mark(props: &Props, item: &Item) -> &'static str {
    let Some(changes) = &props.changes else {
        return "";
    };
    let Some(kind) = Kind::from_label(&item.id.kind) else {
        return "";
    };
    match fate(changes, (kind, &item.id.namespace, &item.id.name)) {
        Some(Op::Added) => "came",
        Some(_) => "differs",
        None => "",
    }
}

impl Props {
    pub(super) fn picture(&self) -> ViewedScene<'_> {
        ViewedScene {
            scene: &self.scene,
            fit: self.scope.view.fit,
            embed: self.embed,
        }
    }
}
