// A plugin of Reveal.js: an element with `autoplay` plays while its slide is shown, and rests when another comes. In slides of Markdown a
// block ```loopscope becomes an element.
import { embed, html } from 'loopscope/block';

const scopes = (slide) => (slide ? slide.querySelectorAll('loop-scope[autoplay]') : []);

/** Replaces the blocks that the Markdown plugin has made: it writes the words after the fence as the class. */
function embedBlocks(slides) {
  for (const code of slides.querySelectorAll('pre > code')) {
    const found = embed(code.className, code.textContent);
    if (found) code.parentElement.outerHTML = html(found);
  }
}

/** To be listed after the Markdown plugin, and before one that highlights code. */
export default () => ({
  id: 'loopscope',
  init(deck) {
    embedBlocks(deck.getSlidesElement());
    deck.on('ready', () => scopes(deck.getCurrentSlide()).forEach((scope) => scope.play()));
    deck.on('slidechanged', ({ currentSlide, previousSlide }) => {
      scopes(previousSlide).forEach((scope) => scope.pause());
      scopes(currentSlide).forEach((scope) => scope.play());
    });
  },
});
