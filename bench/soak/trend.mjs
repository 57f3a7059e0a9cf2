/** The slope of the straight line that is nearest to these points, in units of y for each unit of x. */
export function slopeOf(points) {
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  return mean(([x, y]) => (x - meanX) * (y - meanY)) / mean(([x]) => (x - meanX) ** 2);
}
