/** The anchors that GitHub gives to the headings of a document, in their order: no two are the same. */
export function slugs() {
  const seen = new Map();
  return (heading) => {
    const slug = heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
