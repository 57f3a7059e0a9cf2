/** What is wrong with an answer to a broken request: `undefined` if nothing is. */
export function faultOf({ status, body }: { status: number; body: string }): string | undefined {
  if (status >= 500) return `answered ${status}: ${body.slice(0, 300)}`;
  if (status < 400 || body === '') return undefined;
  const error = parsed(body);
  return isOpenAiError(error) ? undefined : `not in OpenAI's shape, ${status}: ${body.slice(0, 300)}`;
}

/** Each answer of what came over one connection, which all have a length or end it. */
export function* answersIn(text: string): Generator<{ status: number; body: string }> {
  const heads = [...text.matchAll(/HTTP\/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/g)];
  for (const [at, { 0: head, 1: status, 2: headers, index }] of heads.entries()) {
    const rest = text.slice(index + head.length, heads[at + 1]?.index ?? text.length);
    const [, length] = /^content-length: (\d+)\r$/im.exec(headers ?? '') ?? [];
    yield { status: Number(status), body: length === undefined ? '' : rest.slice(0, Number(length)) };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOpenAiError(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { message, type, param, code } = body.error as Record<string, unknown>;
  return typeof message === 'string' && typeof type === 'string' && param !== undefined && typeof code === 'string';
}
