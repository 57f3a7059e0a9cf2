import { contentOf } from './upstream/frames.mjs';

/** One call whose content and number of deltas are checked: what is lost, merged or mixed up fails. */
export function checkedCall({ call, whole }, deltas) {
  const expected = contentOf(deltas);
  const texts = whole ? 1 : deltas;
  return async (baseUrl) => {
    let content = '';
    let count = 0;
    await call(baseUrl, (text) => {
      content += text;
      count += 1;
    });
    if (content !== expected) throw new Error(`The content is not what was sent: ${content.length} characters instead of ${expected.length}.`);
    if (count !== texts) throw new Error(`The content came in ${count} parts instead of ${texts}.`);
  };
}
