import { escaped } from './highlight.mjs';
import { pageOf } from './guides.mjs';

/** A page of the site: `page` is the guide that is shown, `groups` all of them with titles, `before` and `after` its neighbours. */
export function renderPage({ guide, title, description, html, sections, groups, before, after, version }) {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(guide === 'README' ? title : `${title} - polygateway`)}</title>
<meta name="description" content="${escaped(description)}">
<link rel="stylesheet" href="site.css">
</head>
<body>
<header>
<a class="name" href="index.html">polygateway</a> <span class="version">${version}</span>
<a class="to-guides" href="#all-guides">Guides</a>
<a href="api/index.html">API</a>
</header>
<div class="columns">
<main>
${html}
<nav class="neighbours" aria-label="Previous and next">
${[neighbour(before, 'prev', '← '), neighbour(after, 'next', '', ' →')].filter(Boolean).join('\n')}
</nav>
</main>
<nav id="all-guides" aria-label="Guides">
${groups.map((group) => navigationOf(group, guide, sections)).join('\n')}
</nav>
</div>
</body>
</html>
`;
}

function neighbour(other, rel, before = '', after = '') {
  return other && `<a rel="${rel}" href="${pageOf(other.guide)}">${before}${escaped(other.title)}${after}</a>`;
}

function navigationOf({ title, guides }, shown, sections) {
  return `<p>${title}</p>\n<ul>\n${guides.map((one) => `<li>${entry(one, shown)}${one.guide === shown ? sectionList(sections) : ''}</li>`).join('\n')}\n</ul>`;
}

function entry({ guide, title, href }, shown) {
  return `<a href="${href ?? pageOf(guide)}"${guide === shown ? ' aria-current="page"' : ''}>${escaped(title)}</a>`;
}

function sectionList(sections) {
  return sections.length === 0 ? '' : `\n<ul>\n${sections.map(({ id, words }) => `<li><a href="#${id}">${escaped(words)}</a></li>`).join('\n')}\n</ul>\n`;
}
