/** A share in a sentence: `4.1 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
