import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { guide } from './docs/blocks.js';
import { settingsTable } from './support/settingsTable.js';
import { runHere } from './cli/runHere.js';

const readme = guide('README.md');

/** What one sets first; the whole table stands in docs/settings.md. */
const firstSettings = ['baseUrl', 'model', 'apiKey', 'priority', 'interTokenTimeoutS', 'maxConcurrency', 'hedgeAfterS', 'hedgeStallAfterS', 'hedgeMaxRatio', 'callDeadlineS', 'backendUrl', 'telemetryUrl'];

describe('README', () => {
  test('its table of the first settings is made from the schema', () => {
    const between = /<!-- settings:[^\n]*-->\n\n?([\s\S]*?)\n?<!-- \/settings -->/.exec(readme)?.[1];
    expect(between?.trim()).toBe(settingsTable(firstSettings));
  });

  test('its floors are those that the architecture is held to', () => {
    const rooms = [...readFileSync('spec/architecture.spec.ts', 'utf8').matchAll(/^ {2}(\w+): \{ floor: (\d), rooms/gm)].map(([, room = '', floor = '']) => `${floor} ${room}`);
    const told = [...readme.matchAll(/^\| (\d) \| `lib\/(\w+)` \|/gm)].map(([, floor = '', room = '']) => `${floor} ${room}`);
    expect([...told].sort()).toEqual(rooms.filter((room) => !room.endsWith(' index')).sort());
    expect(told).toEqual([...told].sort((one, other) => Number(one[0]) - Number(other[0])));
  });

  test('its table of commands has every command, and each option of it exists', async () => {
    const { stdout: help } = await runHere(['--help']);
    const commands = [...help.split('Commands:')[1]!.split('\n\n')[0]!.matchAll(/^ {2}(\w+)/gm)].map(([, command = '']) => command).filter((command) => command !== 'help');
    const rows = [...readme.matchAll(/^\| `polygateway (\w+)[^`]*` \| (.*) \|$/gm)].map(([, command = '', text = '']) => ({ command, options: text.match(/--[\w-]+/g) ?? [] }));
    expect(rows.map(({ command }) => command).sort()).toEqual(commands.sort());
    for (const { command, options } of rows) {
      const { stdout } = await runHere([command, '--help']);
      expect(options.filter((option) => !new RegExp(`${option}\\b`).test(stdout)).map((option) => `${command} ${option}`)).toEqual([]);
    }
  });

  test('can be read in five minutes', () => {
    expect(readme.split('\n').length).toBeLessThan(260);
  });
});
