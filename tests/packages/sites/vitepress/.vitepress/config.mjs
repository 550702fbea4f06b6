import { withLoopscope } from 'markdown-it-loopscope/vitepress';

export default withLoopscope({ title: 'Course', base: '/course/', themeConfig: { nav: [{ text: 'Second', link: '/second' }] } });
