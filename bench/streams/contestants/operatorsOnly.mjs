import { Observable, connect, ignoreElements, last, merge, tap } from 'rxjs';
import { importBuilt } from '../../support/places.mjs';
import { readChunks } from './readChunks.mjs';

const limits = { firstMs: 120_000, betweenMs: 20_000 };

const delta$ = (baseUrl) =>
  new Observable((subscriber) => {
    const departure = new AbortController();
    let over = false;
    const onChunk = (chunk) => {
      const text = chunk.choices[0]?.delta.content;
      if (text) subscriber.next(text);
    };
    const onEnd = () => {
      over = true;
      subscriber.complete();
    };
    const onError = (error) => {
      over = true;
      subscriber.error(error);
    };
    void readChunks(baseUrl, { onChunk, onEnd, onError, signal: departure.signal });
    return () => over || departure.abort();
  });

/** The floor as an Observable, with the watchdog, the hedge's signal and the stall metrics beside it. */
export async function open() {
  const { livenessTimeout, silence, stallMetrics } = await importBuilt('operators/index.js');
  const onSilence = () => {
    throw new Error('A silence was told: the machine is too busy to measure this.');
  };
  return {
    call: (baseUrl, onText) =>
      new Promise((resolve, reject) => {
        let figures;
        delta$(baseUrl)
          .pipe(
            livenessTimeout({ ...limits, betweenMs: 30_000, totalMs: 600_000 }),
            connect((text$) =>
              merge(
                text$.pipe(tap(onText), ignoreElements()),
                text$.pipe(silence(limits), tap(onSilence), ignoreElements()),
                text$.pipe(stallMetrics({ thresholdMs: 1_000 }), last()),
              ),
            ),
          )
          .subscribe({ next: (value) => (figures = value), error: reject, complete: () => (figures.count > 0 ? resolve() : reject(new Error('no figures'))) });
      }),
    close: () => undefined,
  };
}
