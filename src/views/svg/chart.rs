//! The chart of a rollout: its layers, its words, and the table of revisions at the instant shown.

use super::paper::{Paper, escape, mono, ui};
use crate::i18n::Message;
use crate::i18n::format::Px;
use crate::i18n::msg;
use crate::views::rollout::Chart;
use crate::views::shape::Item;

/// What its layers and lines look like; `$name` is a token.
pub(super) const SHEET: &str = ".chart text{font-size:11px;fill:$text-3;dominant-baseline:auto}.chart .head{font-weight:600;font-size:13px;fill:$text}\
.chart .time{font-size:10px;font-family:$font-mono}.chart .lim{fill:$text-2}.chart text.bad{fill:$st-notready-text;font-weight:500}\
.chart .short{fill:$st-notready;fill-opacity:.22}.chart .grid{stroke:$border;fill:none}.chart .limit{fill:none;stroke:$text-3;stroke-width:1.5}\
.chart .least{stroke-dasharray:5 4}.chart .ahead{stroke:$edge;stroke-dasharray:2 4}.chart .now{stroke:$accent;fill:none;stroke-width:1.5}\
.chart .layer{fill:$st-ready;fill-opacity:.55}.chart .layer.r1{fill-opacity:.25}.chart .layer.r2,.chart .layer.r3{fill-opacity:.13}\
.chart .layer.unr{fill:url(#unready);fill-opacity:1}.chart .top{fill:none;stroke:$st-ready;stroke-width:1.5}\
.chart .top.unr{stroke-dasharray:3 3;stroke-width:1}.chart .top.r1{stroke-opacity:.6}.chart .line{stroke:$st-ready;stroke-opacity:.55;stroke-width:1}\
.chart .leader{fill:none;stroke:$text-3}.chart .leader.bad{stroke:$st-notready}.chart .dot{fill:$text-2;stroke:$surface;stroke-width:1.5}\
.chart .dot.bad{fill:$st-notready}.chart .fold{fill:$surface;fill-opacity:.7;stroke:$border-strong}";

const PATTERN: &str = "<pattern id=\"unready\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"line\" d=\"M1 0V6\"/></pattern>";

pub(super) fn draw(paper: &mut Paper, item: &Item, of: &Chart) {
    paper.raw("<g class=\"chart\">");
    paper.raw(PATTERN);
    for (class, d) in &of.paths {
        paper.raw(&format!("<path class=\"{class}\" d=\"{d}\"/>"));
    }
    for (x, y, anchor, class, text) in &of.words {
        let mut words = String::new();
        escape(&paper.say(text), &mut words);
        paper.raw(&format!("<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>", Px(*x), Px(*y)));
    }
    paper.raw("</g>");
    revisions(paper, item, of);
}

/// How opaque the colour of a revision is.
fn opacity(class: &str) -> f64 {
    match class {
        "r0" => 0.75,
        "r1" => 0.35,
        _ => 0.2,
    }
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
        paper.run(left, 22.0, room, &[(&title, head), ("  ", plain), (&line, plain)]);
    }
    let top = if small && !of.low { 54.0 } else { 34.0 };
    if of.low {
        return row_of_revisions(paper, of, (left, top + 10.0, room));
    }
    let keys: Vec<_> =
        of.keys.iter().map(|(class, revision, [image, hash])| (*class, *revision, paper.say(image), paper.say(hash))).collect();
    let names = mono(12.0, "text-2");
    let heads =
        [msg::chart_image(), msg::chart_revision_head(), Message::state("Ready"), msg::state_not_ready()].map(|head| paper.say(&head));
    let images = keys.iter().map(|(_, _, image, _)| names.width(image)).fold(names.width(&heads[0]), f64::max) + 36.0;
    let hashes =
        if small { 0.0 } else { keys.iter().map(|(_, _, _, hash)| names.width(hash)).fold(names.width(&heads[1]), f64::max) + 16.0 };
    let numbers = [left + images + hashes + 36.0, left + images + hashes + 106.0];
    let (head, y) = (ui(11.0, "text-3"), top + 10.0);
    paper.text(left, y, images, head, &heads[0]);
    if !small {
        paper.text(left + images, y, hashes, head, &heads[1]);
    }
    numbers.iter().zip(&heads[2..]).for_each(|(x, words)| paper.text_end(*x, y, 70.0, head, words));
    for (at, (class, revision, image, hash)) in keys.iter().enumerate() {
        let y = top + 30.0 + 20.0 * at as f64;
        paper.at((left, y - 6.0), opacity(class), |paper| paper.rect((0.0, 0.0, 12.0, 12.0), 3.0, "st-ready", None));
        paper.text(left + 20.0, y, images - 24.0, mono(12.0, "text"), image);
        if !small {
            paper.text(left + images, y, hashes, names, hash);
        }
        let counts = of.counts(*revision, of.now);
        numbers.iter().zip(&counts).for_each(|(x, number)| paper.text_end(*x, y, 60.0, ui(12.0, "text-2").medium(), number));
    }
}

/// In a low frame the revisions stand in one row.
fn row_of_revisions(paper: &mut Paper, of: &Chart, (left, y, room): (f64, f64, f64)) {
    let mut x = left;
    for (class, revision, [image, _]) in &of.keys {
        let (image, share) = (paper.say(image), of.share(*revision, of.now));
        if x + 60.0 > left + room {
            break;
        }
        paper.at((x, y - 6.0), opacity(class), |paper| paper.rect((0.0, 0.0, 12.0, 12.0), 3.0, "st-ready", None));
        x += 20.0
            + paper.run(x + 20.0, y, left + room - x - 20.0, &[(&image, mono(12.0, "text")), (&format!("  {share}"), ui(12.0, "text-2"))])
            + 20.0;
    }
}
