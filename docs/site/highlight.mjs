import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';

const grammars = { ts: typescript, js: typescript, sh: bash, sql, json, python, html: xml };
for (const [name, grammar] of Object.entries(grammars)) hljs.registerLanguage(name, grammar);

export const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A block of code as HTML; what has no language (marbles, output, pictures) stays as it is. The block scrolls, so the keyboard has to reach it. */
export function codeBlock(code, language = '') {
  const html = language in grammars ? hljs.highlight(code, { language }).value : escaped(code);
  return `<pre tabindex="0"><code>${html}</code></pre>\n`;
}
