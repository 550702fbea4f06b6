//! What the stage is given, and what happens to it.

use crate::web::export::ImageFormat;
use crate::web::language::Lang;
use apiserver::Op;
use k8s_model::{Kind, ObjectRef};
use projection::changes::{Change, fate};
use projection::model::Id;
use session::Standings;
use session::selection::SelectionMsg;
use std::rc::Rc;
use views::card::Card;
use views::grouping::{FOLD, GROUP};
use views::shape::{Item, Scene};
use views::view::View;
use views::viewport::ViewedScene;
use web_sys::{MouseEvent, PointerEvent, WheelEvent};
use yew::prelude::*;

/// What a picture is of: it changes with the view and with every rewind, and what enters then has no cause to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneScope {
    /// The descriptor of the diagram.
    pub view: &'static View,
    /// Changes with every rewind.
    pub epoch: u64,
    /// Which part of the cluster it shows, and how that is grouped.
    pub part: u64,
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
    /// What it is a picture of.
    pub scope: SceneScope,
    /// Whether the next picture is being made, in parts: fewer items come into this one in a frame.
    #[prop_or_default]
    pub making: bool,
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
    /// Objects as a nested list instead of a drawing, with where those stand that are not well.
    pub list: Option<Rc<Standings>>,
    /// The theme.
    pub dark: bool,
    /// Whether all of the page is there.
    pub whole: bool,
    /// A person chose an object, a loop, or the heading of a group.
    pub on_pick: Callback<SelectionMsg>,
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
    /// How it is saved.
    #[prop_or_default]
    pub save: SaveProps,
}

/// How what is shown is saved.
#[derive(Clone, Default, PartialEq)]
pub struct SaveProps {
    /// The stretch of the history between the marks, in milliseconds.
    pub stretch: Option<(u64, u64)>,
    /// A person chose a form.
    pub on_save: Callback<ImageFormat>,
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
    /// The focus goes to this item.
    Go(usize),
    /// This item is chosen, or asked why it is as it is.
    Pick(usize, bool),
    /// What is open over the stage is closed.
    Shut,
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
    Export(ImageFormat),
    /// The next of many items.
    More,
}

/// The key of an item's object, if the engine knows it.
pub fn key_of(id: &Id) -> Option<ObjectRef> {
    Some(ObjectRef::new(
        Kind::from_label(&id.kind)?,
        &id.namespace,
        &id.name,
    ))
}

/// What a person chose with an item: an object, a loop, or the heading of a group, which folds it.
pub fn picked(id: &Id) -> Option<SelectionMsg> {
    match id.kind.as_str() {
        "Loop" => Some(SelectionMsg::Loop(Some(id.name.clone()))),
        GROUP | FOLD => Some(SelectionMsg::Fold(id.uid.clone())),
        _ => key_of(id).map(|key| SelectionMsg::Select(Some(key))),
    }
}

/// Tells what a person chose.
pub(super) fn pick(props: &Props, id: &Id) {
    if let Some(picked) = picked(id) {
        props.on_pick.emit(picked);
    }
}

/// How an object differs between the two instants that are compared.
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
