//! Objects become shapes, links and positions: pure geometry, no DOM.
