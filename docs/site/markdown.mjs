import { Marked } from 'marked';
import { codeBlock, escaped } from './highlight.mjs';
import { slugs } from './slugs.mjs';

/**
 * A document as HTML: `{ title, description, html, sections }`. `linkTo(href)` says where a link leads on the site; `recipeOf(href)` gives
 * the HTML that stands for a paragraph that is nothing but this link, or `undefined`.
 */
export function renderMarkdown(text, { linkTo, recipeOf }) {
  const slug = slugs();
  const sections = [];
  let title = '';
  let description = '';
  const renderer = {
    heading({ tokens, depth }) {
      const words = plain(this, tokens);
      const id = slug(words);
      if (depth === 1) title = words;
      if (depth === 2) sections.push({ id, words });
      const html = this.parser.parseInline(tokens);
      return depth === 1 ? `<h1 id="${id}">${html}</h1>\n` : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${html}</a></h${depth}>\n`;
    },
    code({ text: code, lang, name }) {
      const file = name === undefined ? '' : `<p class="file"><code>${escaped(name)}</code></p>\n`;
      return `${file}${codeBlock(code, lang?.split(' ')[0])}`;
    },
    link({ href, tokens }) {
      return `<a href="${escaped(linkTo(href))}">${this.parser.parseInline(tokens)}</a>`;
    },
    paragraph({ tokens }) {
      const recipe = tokens.length === 1 && tokens[0].type === 'link' ? recipeOf(tokens[0].href, plain(this, tokens)) : undefined;
      description ||= plain(this, tokens).replaceAll(/\s+/g, ' ');
      return recipe ?? `<p>${this.parser.parseInline(tokens)}</p>\n`;
    },
    table({ header, rows }) {
      const cells = (row, tag) => row.map((cell) => element(tag, this.parser.parseInline(cell.tokens))).join('');
      const head = header.some(({ tokens }) => tokens.length > 0) ? `<thead><tr>${cells(header, 'th')}</tr></thead>` : '';
      return `<div class="wide" tabindex="0"><table>${head}<tbody>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')}</tbody></table></div>\n`;
    },
    html({ text: html }) {
      return html.startsWith('<!--') ? '' : html;
    },
  };
  const html = new Marked({ renderer, gfm: true, hooks: { processAllTokens: withNames } }).parse(text);
  return { title, description, html, sections };
}

/** Gives a block the name that `file=…` says, unless the line above it is that name already. */
function withNames(tokens) {
  const solid = tokens.filter(({ type }) => type !== 'space');
  solid.forEach((token, at) => {
    const name = token.type === 'code' ? / file=(\S+)/.exec(token.lang ?? '')?.[1] : undefined;
    if (name !== undefined && solid[at - 1]?.text !== `\`${name}\``) token.name = name;
  });
  return tokens;
}

/** A column without a name has a plain cell at its head: an empty heading would be read out. */
function element(tag, html) {
  return tag === 'th' && html !== '' ? `<th scope="col">${html}</th>` : `<td>${html}</td>`;
}

function plain({ parser }, tokens) {
  return unescaped(parser.parseInline(tokens, parser.textRenderer));
}

function unescaped(html) {
  return html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}
