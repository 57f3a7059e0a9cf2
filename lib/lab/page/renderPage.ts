import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ReportFigures } from '../report/reportFigures.js';
import type { Thresholds, WhatIf } from '../whatif/whatIf.js';
import { noticesText } from './notices.js';
import type { PageData } from './pageData.js';

export interface PageOptions {
  readonly figures: ReportFigures;
  /** Adds the section on other thresholds. */
  readonly whatIf?: WhatIf;
  /** The thresholds that are set now, where they are known; drawn into the distribution of silences. */
  readonly current?: Thresholds;
  /** Whose settings are meant; default LLM. */
  readonly scope?: string;
}

/**
 * The report as one HTML file that asks the network for nothing: script and style are in it, and its content security policy
 * allows these two alone. Throws an `Error` where the page's script was not built.
 */
export function renderPage({ figures, whatIf, current, scope = 'LLM' }: PageOptions): string {
  const script = asset('browser.js');
  const style = asset('browser.css');
  const data: PageData = { version: version(), figures, scope, ...(whatIf && { whatIf }), ...(current && { current }) };
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy({ script, style })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Where the time went - polygateway report</title>
<style>${style}</style>
</head>
<body>
<main id="page">
<h1>Where the time went</h1>
<noscript><p>This report draws itself: please allow its script, which is part of this file and asks the network for nothing.</p></noscript>
</main>
<script type="application/json" id="data">${embedded(data)}</script>
<script>${script}</script>
<!--
${noticesText()}
-->
</body>
</html>
`;
}

/** What could end the element early, or begin a comment in it, is written as an escape that JSON reads back. */
function embedded(data: PageData): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}

function policy({ script, style }: { readonly script: string; readonly style: string }): string {
  return `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; base-uri 'none'; form-action 'none'`;
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

// From lib and from dist alike, the folder dist is three up.
const root = '../../../';

function asset(name: string): string {
  const place = new URL(`${root}dist/lab/page/${name}`, import.meta.url);
  try {
    return readFileSync(place, 'utf8').trim();
  } catch (cause) {
    throw new Error(`The report's page needs ${place.pathname}, which cannot be read; \`npm run build\` makes it.`, { cause });
  }
}

function version(): string {
  const { version: text } = createRequire(import.meta.url)(`${root}package.json`) as { version: string };
  return text;
}
