//! Tests of this crate together with those below it.

mod api_groups;
mod explain_causes;
mod explain_control_loop;
mod explain_diagnose_held_up;
mod explain_remedies;
mod explain_replaced;
mod explain_words;
mod projection_changes;
mod projection_rollout_track;
mod views_card;
mod views_grouping;
mod views_loops;
mod views_loops_pass_tests;
mod views_network;
mod views_network_matrix;
mod views_nodes;
mod views_ownership;
mod views_ownership_overview;
mod views_storage;
mod views_svg;
