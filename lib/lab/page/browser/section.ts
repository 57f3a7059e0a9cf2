import { element } from './element.js';
import type { Child } from './element.js';

/** A part of the page; its title is an answer in a sentence. */
export interface Section {
  readonly id: string;
  /** For the list of contents. */
  readonly short: string;
  readonly title: string;
  readonly children: readonly Child[];
}

export function sectionElement({ id, title, children }: Section): HTMLElement {
  return element('section', { id, 'aria-labelledby': `${id}-title` }, element('h2', { id: `${id}-title` }, title), ...children);
}

export function contents(sections: readonly Section[]): HTMLElement {
  const links = sections.map(({ id, short }) => element('li', {}, element('a', { href: `#${id}` }, short)));
  return element('nav', { 'aria-label': 'Contents' }, element('ul', {}, ...links));
}
