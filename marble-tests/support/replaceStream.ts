import type { Observable } from 'rxjs';
import type { ChatDelta } from '../../lib/model/delta.js';
import type { ValidRequest } from '../../lib/model/request.js';
import type { StreamContext } from '../../lib/model/source.js';
import type { ScriptedSource } from '../../lib/sources/scriptedSource.js';

type Stream = (request: ValidRequest, context: StreamContext) => Observable<ChatDelta>;

/** Puts another stream in a scripted source's place; the scripted one notes requests where the other subscribes it. */
export function replaceStream(source: ScriptedSource | undefined, replace: (scripted: Stream) => Stream): void {
  if (source === undefined) throw new Error('there is no such source');
  Object.assign(source, { stream: replace(source.stream.bind(source)) });
}
