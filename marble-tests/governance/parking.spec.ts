import { describe, expect, test } from '@jest/globals';
import { catchError, map, of } from 'rxjs';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import { createParking, longestParkMs } from '../../lib/governance/parking.js';
import { ticket } from './gates.js';

type ParkingGate = ReturnType<typeof createParking>;

/** A parking place on a clock that the test sets. */
function parkingAt(): { parking: ParkingGate; at: (ms: number) => ParkingGate; ask: (sourceId?: string) => unknown } {
  let nowMs = 0;
  const parking = createParking({ now: () => nowMs });
  return {
    parking,
    at: (ms) => {
      nowMs = ms;
      return parking;
    },
    ask: (sourceId = 'a/1') => {
      let answer: unknown;
      parking.enter({ ...ticket, sourceId }).pipe(map(() => 'in'), catchError((error: unknown) => of((error as AdmissionRefused).retryAfterMs))).subscribe((value) => { answer = value; });
      return answer;
    },
  };
}

describe('parking', () => {
  test('R3: a parked source is refused, with the time that is left, until exactly then', () => {
    const { at, ask } = parkingAt();
    at(100).park('a/1', 1000);
    expect(ask()).toBe(1000);
    at(1099);
    expect(ask()).toBe(1);
    at(1100);
    expect(ask()).toBe('in');
  });

  test('R3: only that source', () => {
    const { parking, ask } = parkingAt();
    parking.park('a/1', 1000);
    expect(ask('b/1')).toBe('in');
    expect(parking.parked()).toEqual({ 'a/1': 1000 });
  });

  test('BO-10: a second, longer wish extends the first', () => {
    const { at, ask } = parkingAt();
    at(100).park('a/1', 1000);
    at(350).park('a/1', 60_000);
    at(2000);
    expect(ask()).toBe(58_350);
    at(60_349);
    expect(ask()).toBe(1);
    at(60_350);
    expect(ask()).toBe('in');
  });

  test('BO-10, R3: a shorter later wish never shortens it', () => {
    const { at, ask } = parkingAt();
    at(0).park('a/1', 60_000);
    at(1000).park('a/1', 1000);
    expect(ask()).toBe(59_000);
    at(1000).park('a/1', 59_000);
    expect(ask()).toBe(59_000);
  });

  test('a wish that is over counts for nothing', () => {
    const { at, ask } = parkingAt();
    at(0).park('a/1', 60_000);
    at(70_000).park('a/1', 500);
    expect(ask()).toBe(500);
  });

  test('no source is parked for ever, whatever it asked for', () => {
    const { at, ask } = parkingAt();
    at(0).park('a/1', 9e9);
    expect(ask()).toBe(longestParkMs);
    at(longestParkMs);
    expect(ask()).toBe('in');
  });

  test('tells who is parked, and forgets who is not', () => {
    const { at } = parkingAt();
    at(0).park('a/1', 1000);
    at(0).park('b/1', 2000);
    expect(at(500).parked()).toEqual({ 'a/1': 500, 'b/1': 1500 });
    expect(at(1000).parked()).toEqual({ 'b/1': 1000 });
    expect(at(5000).parked()).toEqual({});
  });

  test('its refusal names source and time', () => {
    const { parking } = parkingAt();
    parking.park('a/1', 999.2);
    let refusal: unknown;
    parking.enter(ticket).subscribe({ error: (error: unknown) => { refusal = error; } });
    expect(refusal).toBeInstanceOf(AdmissionRefused);
    expect(refusal).toMatchObject({ sourceId: 'a/1', retryAfterMs: 999.2, message: 'a/1 asked for a pause of 1000 ms more' });
  });

  test('looks at the clock when it is subscribed, not when it is asked', () => {
    const { at, parking } = parkingAt();
    at(0).park('a/1', 1000);
    const entry$ = parking.enter(ticket);
    at(1000);
    let seen = 'nothing';
    entry$.subscribe(() => { seen = 'in'; });
    expect(seen).toBe('in');
  });
});
