//! The whole diagram in small, with a frame around what is seen, once it no longer fits.

use crate::scene::shape::{Body, Scene};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};
use yew::prelude::*;

/// What the map shows.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// The diagram.
    pub scene: Rc<Scene>,
    /// Where its corner is.
    pub pan: (f64, f64),
    /// How large it is drawn.
    pub zoom: f64,
    /// The stage.
    pub size: (f64, f64),
    /// A place of the scene is to be in the middle.
    pub on_centre: Callback<(f64, f64)>,
}

/// The largest size of the map.
const LARGEST: (f64, f64) = (152.0, 104.0);

/// The map.
#[component]
pub fn Minimap(props: &Props) -> Html {
    super::dom::renders("Minimap");
    let (scene, zoom) = (&props.scene, props.zoom);
    let (w, h) = props.size;
    let scale = (LARGEST.0 / scene.width).min(LARGEST.1 / scene.height);
    let (x, y) = ((-props.pan.0 / zoom).max(0.0), (-props.pan.1 / zoom).max(0.0));
    let right = ((w - props.pan.0) / zoom).min(scene.width);
    let bottom = ((h - props.pan.1) / zoom).min(scene.height);
    let on_centre = props.on_centre.clone();
    let go = Callback::from(move |event: PointerEvent| {
        event.stop_propagation();
        if event.buttons() & 1 == 0 {
            return;
        }
        if let Some(map) = event.current_target().and_then(|target| target.dyn_into::<Element>().ok()) {
            let _ = map.set_pointer_capture(event.pointer_id());
            let rect = map.get_bounding_client_rect();
            on_centre.emit(((f64::from(event.client_x()) - rect.left()) / scale, (f64::from(event.client_y()) - rect.top()) / scale));
        }
    });
    html! {
        <svg class="minimap" width={(scene.width * scale).to_string()} height={(scene.height * scale).to_string()} viewBox={format!("0 0 {} {}", scene.width, scene.height)}
            aria-hidden="true" onpointerdown={go.clone()} onpointermove={go} onclick={Callback::from(|event: MouseEvent| event.stop_propagation())}>
            <Shapes scene={scene.clone()} />
            <rect class="seen" x={x.to_string()} y={y.to_string()} width={(right - x).max(0.0).to_string()} height={(bottom - y).max(0.0).to_string()} rx="8" vector-effect="non-scaling-stroke" />
        </svg>
    }
}

/// The shapes of the map; they stay while one pans.
#[derive(Properties)]
struct ShapesProps {
    scene: Rc<Scene>,
}

impl PartialEq for ShapesProps {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.scene, &other.scene)
    }
}

#[component]
fn Shapes(props: &ShapesProps) -> Html {
    super::dom::renders("Minimap of shapes");
    let seen = props.scene.items.iter().filter(|item| !matches!(item.body, Body::Note(_)));
    html! {
        <>{ for seen.map(|item| {
            let rect = item.rect;
            let bad = matches!(item.state.as_str(), "failed" | "notready" | "lost").then_some("bad");
            let ready = matches!(item.state.as_str(), "ready" | "bound").then_some("ok");
            html! { <rect class={classes!(bad, ready)} x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()} height={rect.h.to_string()} rx="10" /> }
        }) }</>
    }
}
