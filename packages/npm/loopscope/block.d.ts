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

/** Returns the HTML of an element; `extra` is written into its tag. */
export function html(embed: Embed, extra?: string): string;
