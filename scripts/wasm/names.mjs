// Names of functions as scripts/wasm/opening.txt has them: without what changes from build to build.

export const plain = (name) =>
  name
    .replace(/\[[0-9a-f]{8,16}\]/g, '') // of which crate version
    .replace(/\b(?:core|alloc|std|yew|serde_core|serde_json|serde_yaml|hashbrown)::(?:[a-z_0-9]+::)*(?=[A-Z])/g, '') // the way to a library's type
    .replace(/(__wbg_\w+?)_[0-9a-f]{16}/g, '$1')
    .replace(/\.\d+$/, '');
