import * as Plot from '@observablehq/plot';
import { svgDocument } from './svgDocument.mjs';

const lineHeightPx = 16;
const colours = Plot.scale({ color: { type: 'ordinal', scheme: 'observable10', domain: [...Array(10).keys()] } }).range;

// Answers a whole SVG file. `x` and `y` are the labels of the axes; `series` is [{ name, points: [[x, y], …] }]. A logarithmic axis is marked at the values measured.
export function linePlot({ title, x, y, series, logX = false, logY = false }) {
  const measured = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  const svg = Plot.plot({
    document: svgDocument(), width: 760, height: 420, marginTop: 60, marginRight: 190, marginLeft: 64, marginBottom: 44,
    style: 'background: white; color: black;',
    x: { type: logX ? 'log' : 'linear', label: null, ...(logX && measured.length <= 10 && { ticks: measured, tickFormat: '~s' }) },
    y: { type: logY ? 'log' : 'linear', label: null, grid: true, zero: !logY, ...(logY && { ticks: 5, tickFormat: '~s' }) },
    marks: [
      Plot.text([title], { frameAnchor: 'top-left', dx: -50, dy: -50, fontSize: 14, fontWeight: 'bold' }),
      Plot.text([y], { frameAnchor: 'top-left', dx: -50, dy: -24, fontSize: 12 }),
      Plot.text([x], { frameAnchor: 'bottom-right', dy: 38, fontSize: 12 }),
      ...series.flatMap((one, index) => marksOf(one, index, measured.length <= 30)),
    ],
  });
  svg.setAttribute('xmlns', svg.namespaceURI);
  return `${svg}\n`;
}

function marksOf({ name, points }, index, withDots) {
  const colour = colours[index % colours.length];
  return [
    Plot.line(points, { stroke: colour, strokeWidth: 2 }),
    ...(withDots ? [Plot.dot(points, { fill: colour, r: 3 })] : []),
    Plot.text([name], { frameAnchor: 'top-right', textAnchor: 'start', dx: 14, dy: index * lineHeightPx, fill: colour, fontSize: 12 }),
  ];
}
