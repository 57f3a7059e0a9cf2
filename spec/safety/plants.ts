/** Secrets that look like words, so that nothing but knowing them hides them; the signs in them change in a URL. */
export const plants = {
  apiKey: 'quiet+otter/4417=lantern',
  header: 'amber+walrus/9023=teapot',
  query: 'misty+heron/6158=anchor',
  proxy: 'dusty+badger/7741=window',
  redis: 'frosty+gecko/3386=basket',
  postgres: 'sunny+marmot/5092=pencil',
  client: 'windy+falcon/8274=ribbon',
  stranger: 'rainy+ferret/1965=saddle',
} as const;

export type Plant = keyof typeof plants;

/** Each plant that a text holds, as it is, half of it, or as texts carry such things. */
export function leaksIn(text: string): Plant[] {
  return (Object.keys(plants) as Plant[]).filter((plant) => formsOf(plants[plant]).some((form) => text.includes(form)));
}

function formsOf(secret: string): string[] {
  const halves = [secret.slice(0, 11), secret.slice(-11)];
  const encoded = halves.map(encodeURIComponent);
  return [...halves, ...encoded, ...encoded.map(withSmallHex), ...inBase64(secret), ...inBase64(secret).map(forUrls), Buffer.from(secret).toString('hex')];
}

function withSmallHex(text: string): string {
  return text.replace(/%../g, (code) => code.toLowerCase());
}

/** A middle part of it, wherever it begins in what was encoded. */
function inBase64(secret: string): string[] {
  return [0, 1, 2].map((before) => Buffer.from('#'.repeat(before) + secret).toString('base64').slice(4, 20));
}

function forUrls(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}
