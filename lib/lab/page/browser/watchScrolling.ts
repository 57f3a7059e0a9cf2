/** Lets the keyboard reach places that scroll, by the name of their table, and only as long as they do. */
export function watchScrolling(page: Element): void {
  const seen = new ResizeObserver((entries) => {
    // Every width is asked for before anything is changed.
    const places = entries.map(({ target }) => ({ target, scrolls: target.scrollWidth > target.clientWidth }));
    for (const { target, scrolls } of places) name(target, scrolls);
  });
  for (const place of page.querySelectorAll('.scroll')) seen.observe(place);
}

function name(place: Element, scrolls: boolean): void {
  const attributes = { tabindex: '0', role: 'region', 'aria-label': place.querySelector('caption')?.textContent ?? '' };
  for (const [key, value] of Object.entries(attributes)) {
    if (scrolls) place.setAttribute(key, value);
    else place.removeAttribute(key);
  }
}
