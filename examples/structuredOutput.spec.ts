import { describe, expect, test } from '@jest/globals';
import { like, marbles } from 'polygateway/testing';
import { readAppointment } from './structuredOutput.js';

const mail = 'Lunch with Ida on the first of May?';
const appointment = { title: 'Lunch', day: '2026-05-01', attendees: ['Ida'] };
const values = { g: JSON.stringify(appointment), b: JSON.stringify({ ...appointment, day: 'May 1st' }) };

describe('readAppointment', () => {
  test('a good answer is a typed value', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: '---g|' }, values });
    const socket = '                               ^---!    ';
    const expected = '                             ----(a|) ';

    expectObservable(readAppointment(gateway, mail)).toBe(expected, { a: appointment });
    expectSockets(gateway, { llm: socket });
  }));

  test('a bad one is sent back once, with what is wrong with it', marbles(({ testGateway, expectObservable, expectSockets, afterwards }) => {
    const gateway = testGateway({ sources: { llm: ['---b|', '---g|'] }, values });
    const sockets = [
      '                                            ^---!        ',
      '                                            ----^---!    ',
    ];
    const expected = '                             --------(a|) ';

    expectObservable(readAppointment(gateway, mail)).toBe(expected, { a: appointment });
    expectSockets(gateway, { llm: sockets });
    afterwards(() => {
      const [, second] = gateway.sources.llm.requests;
      expect(second?.request.messages).toEqual([
        expect.objectContaining({ role: 'system' }),
        { role: 'user', content: mail },
        { role: 'assistant', content: values.b },
        { role: 'user', content: expect.stringContaining('day') },
      ]);
    });
  }));

  test('an answer that stays bad is an error, and nothing more is asked', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: '---b|' }, values });
    const sockets = [
      '                                            ^---!     ',
      '                                            ----^---! ',
    ];
    const expected = '                             --------# ';

    expectObservable(readAppointment(gateway, mail)).toBe(expected, undefined, like({ code: 'invalid_answer', reason: 'wrong_shape', repairs: 1 }));
    expectSockets(gateway, { llm: sockets });
  }));

  test('leaving while a repair is awaited closes its socket', marbles(({ testGateway, expectObservable, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: ['---b|', '---g|'] }, values });
    const left = '                                 ------!';
    const sockets = [
      '                                            ^---!  ',
      '                                            ----^-!',
    ];

    expectObservable(readAppointment(gateway, mail), left).toBe('');
    expectSockets(gateway, { llm: sockets });
  }));
});
