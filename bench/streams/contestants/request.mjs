export const model = 'mock-large-2';
export const messages = [
  { role: 'system', content: 'You are a terse assistant. Answer in plain text.' },
  { role: 'user', content: 'Tell me something about the history of the semaphore telegraph, in a few hundred words, and name the people involved.' },
];
export const apiKey = 'sk-mock';

/** A client for each base URL, made when it is first asked for. */
export function perBaseUrl(make) {
  const made = new Map();
  const clientFor = (baseUrl) => made.get(baseUrl) ?? made.set(baseUrl, make(baseUrl)).get(baseUrl);
  return Object.assign(clientFor, { all: () => [...made.values()] });
}
