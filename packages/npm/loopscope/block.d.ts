/** The element that a block asks for. */
export interface Embed {
  /** Names and values in their order; null for an attribute without a value. */
  attributes: [name: string, value: string | null][];
  /** The manifest or lesson; may be empty. */
  text: string;
}

/** The attributes of the element. */
export const attributeNames: string[];

/** Returns the element that a block asks for, or null for a block that stays code; throws for an attribute that does not exist. */
export function embed(info: string, text: string): Embed | null;

/** A picture that needs no file. */
export interface Picture {
  src: string;
  alt: string;
}

/** Returns true if a picture can stand for a block: a manifest without a picture of its own. */
export function isDrawn(embed: Embed): boolean;

/** Returns an image of an SVG, described by its title. */
export function image(svg: string): Picture;

/** Returns the HTML of an element; `extra` is written into its tag, `picture` is shown without JavaScript. */
export function html(embed: Embed, extra?: string, picture?: Picture | null): string;
