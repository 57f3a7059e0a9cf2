import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours a text, or leaves it as it is where no colours are wanted. */
export type Paint = (this: void, style: Style, text: string) => string;

/** `validateStream` off, since Node 22 would look at standard output whatever the text is for. */
export function createPaint(coloured: boolean): Paint {
  return coloured ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}

export interface ColourWish {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}

/** Colours only in a terminal, or where `FORCE_COLOR` wants them; not where `--no-color`, `NO_COLOR` or `TERM=dumb` forbids them. */
export function wantsColour({ args, env, isTerminal }: ColourWish): boolean {
  if (args.includes('--no-color') || Boolean(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}
