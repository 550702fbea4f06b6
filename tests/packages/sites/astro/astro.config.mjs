import mdx from '@astrojs/mdx';
import { defineConfig } from 'astro/config';
import loopscope from 'remark-loopscope/astro';

export default defineConfig({ base: '/course', integrations: [loopscope(), mdx()] });
