import { remark } from 'docusaurus-plugin-loopscope';

export default {
  title: 'Course',
  url: 'https://your.site',
  baseUrl: '/course/',
  onBrokenLinks: 'throw',
  plugins: ['docusaurus-plugin-loopscope'],
  presets: [['classic', { docs: { routeBasePath: '/', remarkPlugins: [remark] }, blog: false, theme: {} }]],
};
