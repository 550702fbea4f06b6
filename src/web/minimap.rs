//! Small map of the whole diagram with a frame around the visible part, shown when the diagram does not fit.

use std::fmt::Write;
use std::rc::Rc;
use views::shape::{CardBody, Item, Rect, Scene};
use views::viewport::{map_scale, map_size};
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};
use yew::prelude::*;

/// Properties of the map.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Diagram.
    pub scene: Rc<Scene>,
    /// Position of the map in the stage.
    pub at: (f64, f64),
    /// Position of the diagram's corner in the stage.
    pub pan: (f64, f64),
    /// Zoom factor of the diagram.
    pub zoom: f64,
    /// Size of the stage.
    pub size: (f64, f64),
    /// Centres the stage on a point of the scene.
    pub on_centre: Callback<(f64, f64)>,
}

/// Draws the map.
#[component]
pub fn Minimap(props: &Props) -> Html {
    super::dom::renders("Minimap");
    let (scene, zoom) = (&props.scene, props.zoom);
    let (w, h) = props.size;
    let (scale, (wide, high)) = (map_scale(scene), map_size(scene));
    let (x, y) = (
        (-props.pan.0 / zoom).max(0.0),
        (-props.pan.1 / zoom).max(0.0),
    );
    let right = ((w - props.pan.0) / zoom).min(scene.width);
    let bottom = ((h - props.pan.1) / zoom).min(scene.height);
    let on_centre = props.on_centre.clone();
    let go = Callback::from(move |event: PointerEvent| {
        event.stop_propagation();
        if event.buttons() & 1 == 0 {
            return;
        }
        // Yew listens at the root, so `current_target` would be the root.
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        if let Some(map) = target.and_then(|target| target.closest(".minimap").ok().flatten()) {
            let _ = map.set_pointer_capture(event.pointer_id());
            let rect = map.get_bounding_client_rect();
            on_centre.emit((
                (f64::from(event.client_x()) - rect.left()) / scale,
                (f64::from(event.client_y()) - rect.top()) / scale,
            ));
        }
    });
    html! {
        <svg class="minimap" style={format!("left:{}px;top:{}px", props.at.0, props.at.1)} width={wide.to_string()} height={high.to_string()} viewBox={format!("0 0 {} {}", scene.width, scene.height)}
            aria-hidden="true" onpointerdown={go.clone()} onpointermove={go} onclick={Callback::from(|event: MouseEvent| event.stop_propagation())}>
            <Shapes scene={scene.clone()} />
            <rect class="seen" x={x.to_string()} y={y.to_string()} width={(right - x).max(0.0).to_string()} height={(bottom - y).max(0.0).to_string()} rx="8" vector-effect="non-scaling-stroke" />
        </svg>
    }
}

/// Shapes of the map; not redrawn while panning.
#[derive(Properties)]
struct ShapesProps {
    scene: Rc<Scene>,
}

impl PartialEq for ShapesProps {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Rc<Item>, &Rc<Item>)| {
            Rc::ptr_eq(a, b) || (a.rect, &a.state) == (b.rect, &b.state)
        };
        let (here, there) = (&self.scene.items, &other.scene.items);
        Rc::ptr_eq(&self.scene, &other.scene)
            || here.len() == there.len() && here.iter().zip(there).all(same)
    }
}

/// Draws one path per colour, however many shapes there are.
#[component]
fn Shapes(props: &ShapesProps) -> Html {
    super::dom::renders("Minimap of shapes");
    let mut paths: [(&str, String); 3] = ["", "ok", "bad"].map(|class| (class, String::new()));
    for item in props
        .scene
        .items
        .iter()
        .filter(|item| !matches!(item.body, CardBody::Note(_)))
    {
        let colour = match item.state.as_str() {
            "ready" | "bound" => 1,
            "failed" | "notready" | "lost" => 2,
            _ => 0,
        };
        // Whole pixels suffice: the map is drawn many times smaller, and there may be ten thousand shapes.
        let Rect { x, y, w, h } = item.rect;
        let (x, y, w, h) = (x as i32, y as i32, w as i32, h as i32);
        let _ = write!(paths[colour].1, "M{x} {y}h{w}v{h}h-{w}z");
    }
    html! { <>{ for paths.into_iter().map(|(class, d)| html! { <path class={class} d={d} /> }) }</> }
}
