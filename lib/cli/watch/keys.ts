import { Observable } from 'rxjs';
import type { Terminal } from '../terminal.js';

export type Key = 'quit' | 'interrupt';

/** Keys as they are pressed, where there is a keyboard. While somebody listens, Ctrl-C is a key and no signal. */
export function keys(input: Terminal['input']): Observable<Key> {
  return new Observable((listener) => {
    if (!isKeyboard(input)) return undefined;
    const onData = (data: Buffer): void => {
      const text = data.toString();
      if (text.includes('\u0003')) listener.next('interrupt');
      else if (/[qQ\u0004]/.test(text)) listener.next('quit');
    };
    input.setRawMode(true);
    input.on('data', onData);
    return () => {
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
    };
  });
}

function isKeyboard(input: Terminal['input']): input is Terminal['input'] & { setRawMode(on: boolean): void } {
  return input.isTTY === true && 'setRawMode' in input;
}
