//! The graph of imports between the files of `src/`, read with a parser.
//!
//! An edge from one file to another means that code of the first names something the second defines, through a `use` (grouped,
//! renamed, `self`, `super`) or through a path written where it is used, macros included. Re-exports are followed to the file that
//! defines the name, so a module that only re-exports its children depends on none of them. `#[cfg(test)]` items are left out.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A struct and the number of its fields.
pub struct Struct {
    pub file: String,
    pub name: String,
    pub fields: usize,
}

/// One file of `src/`, or an inline module of it.
struct Module {
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names defined here.
    defined: BTreeSet<String>,
    /// Names that a `use` brings in, with their paths.
    aliases: BTreeMap<String, Vec<String>>,
    /// Paths whose names a `use path::*` brings in.
    globs: Vec<Vec<String>>,
    /// Paths that the code of this module names.
    paths: BTreeSet<Vec<String>>,
}

/// The files of `src/` and what they import.
pub struct Imports {
    modules: Vec<Module>,
    /// Lines of each file without its tests.
    pub lines: BTreeMap<String, usize>,
    /// Structs with named fields.
    pub structs: Vec<Struct>,
    /// Names of the types that other files may use, with the files that define them.
    pub types: BTreeMap<String, BTreeSet<String>>,
}

impl Imports {
    /// Reads every module reachable from `src/lib.rs`.
    pub fn read() -> Imports {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut all = Imports { modules: Vec::new(), lines: BTreeMap::new(), structs: Vec::new(), types: BTreeMap::new() };
        all.file(&root, &root.join("lib.rs"), None, &root);
        all
    }

    fn file(&mut self, root: &Path, path: &Path, parent: Option<usize>, folder: &Path) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let tree = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        let tests: usize = tree.items.iter().filter(|item| is_test(attributes(item))).map(lines_of).sum();
        self.lines.insert(name.clone(), text.lines().count() - tests);
        self.module(root, name, parent, folder, &tree.items)
    }

    fn module(&mut self, root: &Path, file: String, parent: Option<usize>, folder: &Path, items: &[syn::Item]) -> usize {
        let index = self.modules.len();
        self.modules.push(Module {
            file: file.clone(),
            parent,
            children: BTreeMap::new(),
            defined: BTreeSet::new(),
            aliases: BTreeMap::new(),
            globs: Vec::new(),
            paths: BTreeSet::new(),
        });
        let mut reader = Reader { module: &mut self.modules[index], structs: &mut self.structs, types: &mut self.types, top: true };
        items.iter().for_each(|item| reader.visit_item(item));
        for item in items {
            let syn::Item::Mod(item) = item else { continue };
            if is_test(&item.attrs) {
                continue;
            }
            let name = item.ident.to_string();
            let below = folder.join(&name);
            let child = match &item.content {
                Some((_, items)) => self.module(root, file.clone(), Some(index), &below, items),
                None => {
                    let flat = folder.join(format!("{name}.rs"));
                    let path: PathBuf = if flat.exists() { flat } else { below.join("mod.rs") };
                    self.file(root, &path, Some(index), &below)
                }
            };
            self.modules[index].children.insert(name, child);
        }
        index
    }

    /// The file that defines what a path names, seen from a module; nothing for a path of another crate or a module itself.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<&str> {
        let mut at = from;
        for (i, segment) in path.iter().enumerate() {
            let module = &self.modules[at];
            match segment.as_str() {
                "self" => continue,
                "crate" => at = 0,
                "super" => at = module.parent?,
                name if module.children.contains_key(name) => at = module.children[name],
                name if module.defined.contains(name) => return Some(&module.file),
                name => {
                    let rest = &path[i + 1..];
                    let joined = |base: &[String]| [base, rest].concat();
                    if depth == 0 {
                        return None;
                    }
                    if let Some(base) = module.aliases.get(name).filter(|base| i > 0 || base.first().is_some_and(|first| first != name)) {
                        return self.resolve(at, &joined(base), depth - 1);
                    }
                    let with_name: Vec<_> = module.globs.iter().map(|base| [base.as_slice(), &path[i..]].concat()).collect();
                    let by_glob = with_name.iter().find_map(|path| self.resolve(at, path, depth - 1));
                    // A name that a macro defines is not seen; a path that has come to a module of this crate ends there.
                    return by_glob.or((i > 0).then_some(&module.file));
                }
            }
        }
        None
    }

    /// For each file, the files it imports from.
    pub fn edges(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (index, module) in self.modules.iter().enumerate() {
            let own = edges.entry(module.file.clone()).or_default();
            let targets = module.paths.iter().filter_map(|path| self.resolve(index, path, 8));
            own.extend(targets.filter(|target| **target != module.file).map(str::to_string));
        }
        edges
    }

    /// The names by which files of a circle import each other.
    pub fn names(&self, circle: &[String]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (index, module) in self.modules.iter().enumerate().filter(|(_, module)| circle.contains(&module.file)) {
            for path in &module.paths {
                let target = self.resolve(index, path, 8).filter(|target| *target != module.file);
                found.extend(
                    target
                        .filter(|to| circle.iter().any(|file| file == to))
                        .map(|to| format!("{} -> {to}: {}", module.file, path.join("::"))),
                );
            }
        }
        found
    }

    /// Circles of files: the strongly connected components of more than one, the largest first.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let edges = self.edges();
        let reach: BTreeMap<&String, BTreeSet<&String>> = edges.keys().map(|file| (file, reachable(&edges, file))).collect();
        let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
        for (file, there) in &reach {
            let circle: Vec<String> = there.iter().filter(|other| reach[*other].contains(file)).map(|other| other.to_string()).collect();
            if circle.len() > 1 {
                found.insert(circle);
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        found
    }
}

fn reachable<'a>(edges: &'a BTreeMap<String, BTreeSet<String>>, from: &'a String) -> BTreeSet<&'a String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        for next in &edges[file] {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Collects what the code of one module names and defines.
struct Reader<'a> {
    module: &'a mut Module,
    structs: &'a mut Vec<Struct>,
    types: &'a mut BTreeMap<String, BTreeSet<String>>,
    top: bool,
}

impl Reader<'_> {
    fn defines(&mut self, name: &syn::Ident) {
        if self.top {
            self.module.defined.insert(name.to_string());
        }
    }

    fn defines_type(&mut self, name: &syn::Ident, visibility: &syn::Visibility) {
        self.defines(name);
        if self.top && !matches!(visibility, syn::Visibility::Inherited) {
            self.types.entry(name.to_string()).or_default().insert(self.module.file.clone());
        }
    }

    fn use_tree(&mut self, before: &mut Vec<String>, tree: &syn::UseTree, public: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.use_tree(before, &path.tree, public);
                before.pop();
            }
            syn::UseTree::Name(name) => self.import(before, &name.ident.to_string(), &name.ident.to_string(), public),
            syn::UseTree::Rename(name) => self.import(before, &name.ident.to_string(), &name.rename.to_string(), public),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(before, tree, public)),
            syn::UseTree::Glob(_) => self.module.globs.push(before.clone()),
        }
    }

    fn import(&mut self, before: &[String], name: &str, alias: &str, public: bool) {
        let mut path = before.to_vec();
        let mut alias = alias;
        if name != "self" {
            path.push(name.to_string());
        } else if alias == "self" {
            alias = before.last().map_or("", String::as_str);
        }
        if !public {
            self.module.paths.insert(path.clone());
        }
        self.module.aliases.insert(alias.to_string(), path);
    }

    /// Paths in the tokens of a macro: names joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.named(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    colons = 0;
                    self.named(std::mem::take(&mut path));
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.named(path);
    }

    fn named(&mut self, path: Vec<String>) {
        if !path.is_empty() {
            self.module.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attributes(item)) {
            return;
        }
        match item {
            syn::Item::Mod(_) => return,
            syn::Item::Use(item) => {
                let public = !matches!(item.vis, syn::Visibility::Inherited);
                self.use_tree(&mut Vec::new(), &item.tree, public);
                return;
            }
            syn::Item::Const(item) => self.defines(&item.ident),
            syn::Item::Static(item) => self.defines(&item.ident),
            syn::Item::Fn(item) => self.defines(&item.sig.ident),
            syn::Item::Enum(item) => self.defines_type(&item.ident, &item.vis),
            syn::Item::Type(item) => self.defines_type(&item.ident, &item.vis),
            syn::Item::Trait(item) => self.defines_type(&item.ident, &item.vis),
            syn::Item::Macro(item) => item.ident.iter().for_each(|name| self.defines(name)),
            syn::Item::Struct(item) => {
                self.defines_type(&item.ident, &item.vis);
                let file = self.module.file.clone();
                self.structs.push(Struct { file, name: item.ident.to_string(), fields: item.fields.len() });
            }
            _ => {}
        }
        let top = std::mem::replace(&mut self.top, false);
        visit::visit_item(self, item);
        self.top = top;
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes: &[syn::Attribute] = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.named(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn lines_of(item: &syn::Item) -> usize {
    let span = item.span();
    span.end().line - span.start().line + 1
}

#[test]
fn paths_are_followed_to_the_file_that_defines_the_name() {
    let edges = Imports::read().edges();
    let imports = |from: &str, to: &str| edges[from].contains(to);
    // A `use` in braces of `super`, a re-export, and a path in an expression.
    assert!(imports("engine/sim.rs", "engine/journal.rs"));
    assert!(imports("kubectl/get.rs", "api/kind.rs"));
    assert!(imports("engine/sim.rs", "engine/scheduler/mod.rs"));
    assert!(!imports("api/kind.rs", "engine/sim.rs"));
}
