//! The chart of a rollout: its layers, its words, and the table of revisions at the instant shown.

use super::paper::{Paper, escape, mono, ui};
use crate::rollout::Chart;
use crate::shape::Item;
use i18n::format::Px;
use i18n::msg;

/// Styles of its layers and lines; `$name` is a token.
pub(super) const SHEET: &str = ".chart text{font-size:11px;fill:$text-3;dominant-baseline:auto}.chart .head{font-weight:600;font-size:13px;fill:$text}\
.chart .time{font-size:10px;font-family:$font-mono}.chart .lim{fill:$text-2}.chart text.bad{fill:$st-notready-text;font-weight:500}\
.chart .short{fill:$st-notready;fill-opacity:.22}.chart .grid{stroke:$border;fill:none}.chart .limit{fill:none;stroke:$text-3;stroke-width:1.5}\
.chart .least{stroke-dasharray:5 4}.chart .ahead{stroke:$edge;stroke-dasharray:2 4}.chart .now{stroke:$accent;fill:none;stroke-width:1.5}\
.chart .layer{fill:$st-ready;fill-opacity:.55;stroke:$st-ready}.chart .layer.r1{fill-opacity:.3}.chart .layer.r2{fill-opacity:.1}\
.chart .layer.none{fill:none;stroke:$border-strong}.chart .layer.unr{fill:url(#unready);fill-opacity:1;stroke-dasharray:3 3;stroke-opacity:.7}\
.chart .layer.fls{fill:url(#failing);fill-opacity:1;stroke:$st-failed}.chart .layer.trm{fill:$text-3;fill-opacity:.12;stroke:$text-3;stroke-dasharray:2 3}.chart .line{stroke:$st-ready;stroke-opacity:.55}\
.chart .line.fls{stroke:$st-failed;stroke-opacity:.75}.chart text.rev{fill:$text}\
.chart :is(.lim,.rev.on){paint-order:stroke;stroke:$surface;stroke-width:4px;stroke-linejoin:round}\
.chart .leader{fill:none;stroke:$text-3}.chart .leader.bad{stroke:$st-notready}.chart .dot{fill:$text-2;stroke:$surface;stroke-width:1.5}\
.chart .dot.bad{fill:$st-notready}.chart .fold{fill:$surface;fill-opacity:.7;stroke:$border-strong}";

const PATTERNS: &str = "<pattern id=\"unready\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"line\" d=\"M1 0V6\"/></pattern>\
<pattern id=\"failing\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\"><path class=\"line fls\" d=\"M1 0V6\"/></pattern>";

pub(super) fn draw(paper: &mut Paper, item: &Item, of: &Chart) {
    paper.raw("<g class=\"chart\">");
    paper.raw(PATTERNS);
    for (class, d) in &of.paths {
        paper.raw(&format!("<path class=\"{class}\" d=\"{d}\"/>"));
    }
    for (x, y, anchor, class, text) in &of.words {
        let mut words = String::new();
        escape(&paper.say(text), &mut words);
        paper.raw(&format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>",
            Px(*x),
            Px(*y)
        ));
    }
    paper.raw("</g>");
    revisions(paper, item, of);
}

/// Draws the swatch of an area.
fn swatch(paper: &mut Paper, class: &str, (x, y): (f64, f64)) {
    let class = if class.starts_with('r') {
        ["rdy ", class].concat()
    } else {
        class.to_string()
    };
    let (x, y) = (Px(x + 0.5), Px(y - 5.5));
    paper.raw(&format!("<g class=\"chart\"><rect class=\"layer {class}\" x=\"{x}\" y=\"{y}\" width=\"11\" height=\"11\" rx=\"3\"/></g>"));
}

fn revisions(paper: &mut Paper, item: &Item, of: &Chart) {
    let (left, room) = (of.left, item.rect.w - of.left - 16.0);
    let (title, line) = (paper.say(&of.title), paper.say(&of.line(of.now, false)));
    let small = of.left < of.plot.x;
    let (head, plain) = (ui(13.0, "text").semi(), ui(12.0, "text-2"));
    if small && !of.low {
        paper.text(left, 22.0, room, head, &title);
        paper.text(left, 42.0, room, plain, &line);
    } else {
        paper.run(
            left,
            22.0,
            room,
            &[(&title, head), ("  ", plain), (&line, plain)],
        );
    }
    let top = if small && !of.low { 54.0 } else { 34.0 };
    if of.low {
        return row_of_revisions(paper, of, (left, top + 10.0, room));
    }
    let keys: Vec<_> = of
        .keys
        .iter()
        .map(|(class, revision, [image, hash])| {
            (*class, *revision, paper.say(image), paper.say(hash))
        })
        .collect();
    let names = mono(12.0, "text-2");
    let heads = [msg::chart_image(), msg::chart_revision_head()].map(|head| paper.say(&head));
    let images = keys
        .iter()
        .map(|(_, _, image, _)| names.width(image))
        .fold(names.width(&heads[0]), f64::max)
        + 36.0;
    let hashes = if small {
        0.0
    } else {
        keys.iter()
            .map(|(_, _, _, hash)| names.width(hash))
            .fold(names.width(&heads[1]), f64::max)
            + 16.0
    };
    let (head, y) = (ui(11.0, "text-3"), top + 10.0);
    paper.text(left, y, images, head, &heads[0]);
    if !small {
        paper.text(left + images, y, hashes, head, &heads[1]);
    }
    let mut columns = Vec::new();
    let mut x = left + images + hashes;
    for (words, class) in of.heads() {
        let words = paper.say(&words);
        let wide = head.width(&words);
        x += wide + if class.is_empty() { 0.0 } else { 34.0 };
        if !class.is_empty() {
            swatch(paper, class, (x - wide - 20.0, y));
        }
        paper.text_end(x, y, wide + 4.0, head, &words);
        columns.push(x);
    }
    for (at, (class, revision, image, hash)) in keys.iter().enumerate() {
        let y = top + 30.0 + 20.0 * at as f64;
        swatch(paper, class, (left, y));
        paper.text(left + 20.0, y, images - 24.0, mono(12.0, "text"), image);
        if !small {
            paper.text(left + images, y, hashes, names, hash);
        }
        let numbers = of.numbers(*revision, of.now);
        columns.iter().zip(numbers).for_each(|(x, number)| {
            paper.text_end(*x, y, 60.0, ui(12.0, "text-2").medium(), &number)
        });
    }
}

/// Draws the revisions in one row, for a low frame.
fn row_of_revisions(paper: &mut Paper, of: &Chart, (left, y, room): (f64, f64, f64)) {
    let mut x = left;
    for (class, revision, [image, _]) in &of.keys {
        let (image, share) = (paper.say(image), of.share(*revision, of.now));
        if x + 60.0 > left + room {
            break;
        }
        swatch(paper, class, (x, y));
        x +=
            20.0 + paper.run(
                x + 20.0,
                y,
                left + room - x - 20.0,
                &[
                    (&image, mono(12.0, "text")),
                    (&format!("  {share}"), ui(12.0, "text-2")),
                ],
            ) + 20.0;
    }
}
