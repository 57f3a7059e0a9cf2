import { axisX, gridX, plot, rect, ruleX, text, tip, pointer } from '@observablehq/plot';
import { colourOf, fillOf } from './paints.js';
import type { Part } from './timeParts.js';

export interface Row {
  readonly label: string;
  /** Stands at the right end of the label's line. */
  readonly note: string;
  readonly parts: readonly Part[];
}

export interface StackedRowsOptions {
  readonly width: number;
  readonly rows: readonly Row[];
  /** Where the axis ends; the longest row where absent. */
  readonly until?: number;
  readonly axis: string;
  readonly format: (value: number) => string;
  /** Of the axis; `format` where absent. */
  readonly tickFormat?: (value: number) => string;
  readonly ticks?: readonly number[];
}

interface Segment extends Part {
  readonly row: Row;
  readonly from: number;
  readonly to: number;
  readonly top: number;
}

const rowHeight = 54;
const barHeight = 22;
const labelHeight = 22;
const marginLeft = 12;
const marginRight = 28;

/** A bar of parts a row; its label stands above it, so that it has the chart's whole width however narrow that is. */
export function stackedRows({ width, rows, until, axis, format, tickFormat = format, ticks }: StackedRowsOptions): Element {
  const height = rows.length * rowHeight + 44;
  const segments = rows.flatMap(segmentsOf);
  const end = until ?? (Math.max(0, ...segments.map(({ to }) => to)) || 1);
  const pixels = (value: number): number => (value / end) * (width - marginLeft - marginRight);
  const wide = segments.filter(({ from, to, value }) => pixels(to - from) > format(value).length * 7 + 8);
  const tops = rows.map((row, index) => ({ row, y: index * rowHeight + labelHeight / 2 }));
  const xTicks = { ticks: ticks ? [...ticks] : Math.max(2, Math.floor(width / 110)) };
  return plot({
    width,
    height,
    marginLeft,
    marginRight,
    marginTop: 0,
    marginBottom: 44,
    x: { domain: [0, end], label: null },
    y: { type: 'identity', axis: null },
    marks: [
      gridX(xTicks),
      rect(segments, { x1: 'from', x2: 'to', y1: 'top', y2: (d: Segment) => d.top + barHeight, fill: (d: Segment) => fillOf(d.paint), stroke: 'var(--paper)', strokeWidth: 1 }),
      ruleX([0], { stroke: 'var(--ink)' }),
      text(wide, { x: (d: Segment) => (d.from + d.to) / 2, y: (d: Segment) => d.top + barHeight / 2, text: (d: Segment) => format(d.value), fill: (d: Segment) => `var(--on-${d.paint.colour})`, stroke: (d: Segment) => colourOf(d.paint), strokeWidth: 5, fontWeight: 600 }),
      text(tops, { frameAnchor: 'left', y: 'y', text: (d: { row: Row }) => d.row.label, fontWeight: '600', lineWidth: (width - 40) / 14 - 8, textOverflow: 'ellipsis' }),
      text(tops, { frameAnchor: 'right', y: 'y', text: (d: { row: Row }) => d.row.note, fill: 'var(--muted)' }),
      axisX({ anchor: 'bottom', label: axis, labelAnchor: 'center', labelArrow: 'none', labelOffset: 38, tickFormat, ...xTicks }),
      tip(segments, pointer({ x: (d: Segment) => (d.from + d.to) / 2, y: (d: Segment) => d.top + barHeight / 2, title: (d: Segment) => `${d.row.label}\n${d.paint.name}: ${format(d.value)}`, maxRadius: 60 })),
    ],
  });
}

function segmentsOf(row: Row, index: number): Segment[] {
  let from = 0;
  return row.parts
    .map(({ paint, value }) => {
      const segment = { row, paint, value, from, to: from + value, top: index * rowHeight + labelHeight };
      from += value;
      return segment;
    })
    .filter(({ value }) => value > 0);
}
