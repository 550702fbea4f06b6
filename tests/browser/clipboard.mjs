/** Puts a text in the place of the editor's as a person does, from the clipboard. */
export const paste = async (page, text) => (await copied(page, text))();

/** Brings a text to the page, as into a clipboard: what is returned pastes it. That the text came from here is no work of the page. */
export async function copied(page, text) {
  const clipboard = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    return data;
  }, text);
  const editor = page.locator('.cm-content');
  return async () => {
    await editor.focus();
    await page.keyboard.press('Control+a');
    await editor.evaluate((content, clipboardData) => content.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })), clipboard);
  };
}
