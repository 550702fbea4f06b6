// <loop-scope> as a component of Vue: attributes by their names, events as `@ready`, `@ended` …
import { defineComponent, h } from 'vue';

export const LoopScope = defineComponent({
  name: 'LoopScope',
  inheritAttrs: false,
  props: { manifest: { type: String, default: '' } },
  setup(props, { attrs, slots }) {
    return () => {
      // A flag is an attribute without a value.
      const attributes = Object.entries(attrs).filter(([, value]) => value !== false).map(([name, value]) => [name, value === true ? '' : value]);
      return h('loop-scope', Object.fromEntries(attributes), props.manifest ? h('pre', `\n${props.manifest}`) : slots.default?.());
    };
  },
});
