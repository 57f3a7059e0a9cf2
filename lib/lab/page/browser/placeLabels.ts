/** In pixels. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Label {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
  /** From the sign to the label. */
  readonly distance: number;
  /** It is drawn where it covers least if nowhere is room; otherwise left out. */
  readonly needed?: boolean;
}

export interface Placed<L extends Label> {
  readonly label: L;
  /** From the sign to the middle of the label. */
  readonly dx: number;
  readonly dy: number;
}

const lineHeight = 15;
const characterWidth = 7.3;

/** Puts each label beside its sign, on the first side with room within `frame`: below first, since a curve of costs falls to the right and leaves room there. */
export function placeLabels<L extends Label>(labels: readonly L[], { frame, taken }: { readonly frame: Box; readonly taken: readonly Box[] }): Placed<L>[] {
  const full = [...taken];
  const placed: Placed<L>[] = [];
  for (const label of labels) {
    const sides = sidesOf(label).map((side) => ({ ...side, covered: covered(side.box, full) + (isWithin(side.box, frame) ? 0 : 1000) }));
    const best = sides.reduce((least, side) => (side.covered < least.covered ? side : least));
    if (best.covered > 0 && label.needed !== true) continue;
    full.push(best.box);
    placed.push({ label, dx: best.dx, dy: best.dy });
  }
  return placed;
}

type Side = Pick<Placed<Label>, 'dx' | 'dy'> & { readonly box: Box };

function sidesOf({ x, y, lines, distance }: Label): [Side, ...Side[]] {
  const width = Math.max(...lines.map(({ length }) => length)) * characterWidth;
  const height = lines.length * lineHeight;
  const [beside, over] = [width / 2 + distance, height / 2 + distance];
  const side = (dx: number, dy: number): Side => ({ dx, dy, box: boxAround(x + dx, y + dy, { width, height }) });
  return [side(beside, over - distance / 2), side(-beside, over - distance / 2), side(0, over), side(0, over + lineHeight), side(0, -over), side(beside, -over), side(-beside, -over), side(beside, 0), side(-beside, 0)];
}

export function boxAround(x: number, y: number, { width, height }: { readonly width: number; readonly height: number }): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

/** Small boxes along a line. */
export function boxesAlong([fromX, fromY]: readonly [number, number], [toX, toY]: readonly [number, number]): Box[] {
  const steps = Math.ceil(Math.hypot(toX - fromX, toY - fromY) / 5) + 1;
  return Array.from({ length: steps + 1 }, (_, step) => boxAround(fromX + ((toX - fromX) * step) / steps, fromY + ((toY - fromY) * step) / steps, { width: 2, height: 2 }));
}

const covered = (box: Box, others: readonly Box[]): number => others.filter((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom).length;

const isWithin = (box: Box, frame: Box): boolean => box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
