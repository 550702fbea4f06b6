/** A plugin of Reveal.js: an element with `autoplay` plays while its slide is shown, and rests when another comes. */
export default function loopscope(): { id: string; init(deck: unknown): void };
