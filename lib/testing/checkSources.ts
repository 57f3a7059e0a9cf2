import type { TestScheduler } from 'rxjs/testing';
import { checkedDiagram, inRunMode } from './checkedDiagram.js';

/** From now on `cold` and `hot` refuse what `toBe` refuses. */
export function checkSources(testScheduler: TestScheduler): void {
  const cold$ = testScheduler.createColdObservable.bind(testScheduler);
  const hot$ = testScheduler.createHotObservable.bind(testScheduler);
  testScheduler.createColdObservable = (diagram, values, error) => {
    checkedDiagram(diagram, values, 'cold');
    return cold$(inRunMode(diagram), values, error);
  };
  testScheduler.createHotObservable = (diagram, values, error) => {
    checkedDiagram(diagram, values, 'hot');
    return hot$(inRunMode(diagram), values, error);
  };
}
