/** Looks into the page, as texts: they run in the browser, and the specs' own program knows no document. */

export interface FigureSeen {
  readonly caption: string;
  readonly marks: number;
  readonly ticks: number;
  readonly named: boolean;
  readonly rows: number;
}

export const figuresSeen = String.raw`[...document.querySelectorAll('figure')].map((figure) => {
  const svg = figure.querySelector('.plot > svg[role="img"][aria-label]');
  const texts = [...(svg?.querySelectorAll('text') ?? [])].map(({ textContent }) => textContent);
  return {
    caption: figure.querySelector('figcaption p')?.textContent ?? '',
    marks: svg?.querySelectorAll('rect, path, circle').length ?? 0,
    ticks: texts.filter((text) => /^[−\d]/.test(text)).length,
    named: texts.some((text) => /^(share of|time|duration|longest silence|silence in|tokens$|backups$|attempts per|since the call|predicted)/.test(text)),
    rows: figure.querySelectorAll('details tbody tr').length,
  };
})`;

export const chartsOutside = `[...document.querySelectorAll('.plot > svg')].filter((svg) => svg.getBoundingClientRect().right > innerWidth).length`;

export const scrollWidth = 'document.documentElement.scrollWidth';

export const firstChartWidth = `Number(document.querySelector('.plot > svg').getAttribute('width'))`;

export const words = `document.querySelector('main').innerText.replaceAll('\u00a0', ' ')`;

export interface Contrasts {
  /** Luminance of the page's ground, 0 to 1. */
  readonly ground: number;
  /** Each pair of a text's colour and what it stands on. */
  readonly pairs: readonly { readonly what: string; readonly ratio: number }[];
}

/** By the definitions of WCAG 2. */
export const contrasts = String.raw`(() => {
  const parts = (colour) => [...colour.matchAll(/[\d.]+/g)].map(([text]) => Number(text));
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (node) => {
    const { backgroundColor } = getComputedStyle(node);
    return parts(backgroundColor)[3] === 0 && node.parentElement ? groundOf(node.parentElement) : backgroundColor;
  };
  const pairs = new Map();
  for (const node of document.querySelectorAll('main *')) {
    if (!node.checkVisibility() || ![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
    const { color, fill, stroke, strokeWidth } = getComputedStyle(node);
    const inChart = node.closest('.plot > svg') !== null;
    // A text in a bar has a rim of the bar's colour.
    const under = inChart && stroke !== 'none' && parseFloat(strokeWidth) > 3 ? stroke : groundOf(node);
    const front = inChart ? fill : color;
    const [low, high] = [light(front), light(under)].sort((a, b) => a - b);
    pairs.set(node.tagName + ' ' + front + ' on ' + under, (high + 0.05) / (low + 0.05));
  }
  return { ground: light(getComputedStyle(document.documentElement).backgroundColor), pairs: [...pairs].map(([what, ratio]) => ({ what, ratio })) };
})()`;

/** Pairs of texts of the figure that lie on each other. */
export const overlaps = (figure: string): string => `(() => {
  const texts = [...document.querySelectorAll('${figure} .plot > svg text')].flatMap((text) => (text.querySelector('tspan') ? [...text.querySelectorAll('tspan')] : [text])).filter((text) => text.textContent.trim() !== '');
  const boxes = texts.map((text) => ({ name: text.textContent, box: text.getBoundingClientRect() }));
  return boxes.flatMap((one, index) => boxes.slice(index + 1).filter((other) => one.box.left < other.box.right && other.box.left < one.box.right && one.box.top + 2 < other.box.bottom && other.box.top + 2 < one.box.bottom).map((other) => one.name + ' / ' + other.name));
})()`;

/** Texts of the axes of a section's first figure. */
export const axisTexts = (section: string): string => `[...document.querySelector('#${section} .plot > svg').querySelectorAll('[text-anchor] text')].map(({ textContent }) => textContent.replaceAll('\u00a0', ' '))`;

export interface ScrollPlaces {
  readonly scrolling: number;
  readonly still: number;
  /** Where either is not as it should be: a name and a way in where it scrolls, none where it does not. */
  readonly wrong: readonly string[];
}

export const scrollPlaces = `(() => {
  const places = [...document.querySelectorAll('.scroll')].filter((place) => place.checkVisibility() && place.clientWidth > 0).map((place) => ({
    name: place.querySelector('caption').textContent,
    scrolls: place.scrollWidth > place.clientWidth,
    named: place.getAttribute('role') === 'region' && place.tabIndex === 0 && place.getAttribute('aria-label') === place.querySelector('caption').textContent,
    reached: place.hasAttribute('tabindex') || place.hasAttribute('role'),
  }));
  return { scrolling: places.filter(({ scrolls }) => scrolls).length, still: places.filter(({ scrolls }) => !scrolls).length, wrong: places.filter(({ scrolls, named, reached }) => (scrolls ? !named : reached)).map(({ name }) => name) };
})()`;
