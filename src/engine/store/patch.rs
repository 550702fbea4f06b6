//! JSON, merge and strategic merge patches, and the three-way merge of apply.
