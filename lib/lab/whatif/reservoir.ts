/** A uniform sample of bounded size from a stream whose length nobody knows before. */
export interface Reservoir<T> {
  readonly items: readonly T[];
  add(this: void, item: T): void;
}

export function createReservoir<T>(size: number, random: () => number): Reservoir<T> {
  const items: T[] = [];
  let seen = 0;
  return {
    items,
    add(item) {
      seen += 1;
      if (items.length < size) {
        items.push(item);
        return;
      }
      const place = Math.floor(random() * seen);
      if (place < size) items[place] = item;
    },
  };
}
