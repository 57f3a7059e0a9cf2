/** What a source says to a call depends on the call alone, so that every answer can be checked, whoever gave it. */
export const textOf = (call) => piecesOf(call).join('');

export function piecesOf(call) {
  return Array.from({ length: sizeOf(call) }, (_, at) => `${call}:${at} `);
}

/** One call in ten is longer than what is kept for a reader who is slow. */
function sizeOf(call) {
  return call % 10 === 0 ? 1500 : 4 + (call % 20);
}

export const vectorOf = (call, at) => [call, at, 1];

export const inputsOf = (call) => Array.from({ length: 1 + (call % 5) }, (_, at) => `${markOf(call)} item-${at}`);

/** Stands in every request, so that whoever sees it knows the call. */
export const markOf = (call) => `call-${call}`;

export function callIn(body) {
  return Number(/call-(\d+)/.exec(body)?.[1]);
}
