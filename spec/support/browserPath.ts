import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The browser of this machine. */
export function browserPath(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = (process.env['PATH'] ?? '').split(delimiter).flatMap((place) => names.map((name) => join(place, name)));
  const found = [process.env['CHROME_PATH'] ?? '', ...places].find((path) => path !== '' && existsSync(path));
  if (found === undefined) throw new Error('No browser was found: set CHROME_PATH, or run `apt-get install -y chromium`.');
  return found;
}
