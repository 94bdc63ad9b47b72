/** What is not shown. */
import { expect, it } from 'vitest';
import { redaction } from '../../src/http/redaction.ts';

it('replaces what a pattern names, wherever it begins, and nothing that is no payload', () => {
  const show = redaction(['*.password', 'card.*'], false);
  expect(
    show({
      id: 'password',
      password: 'of the task',
      input: { password: 'hunter2', deep: [{ password: 7 }], card: { no: '4111', ok: 1 }, a: 1 },
    }),
  ).toEqual({
    id: 'password',
    password: 'of the task',
    input: {
      password: '[redacted]',
      deep: [{ password: '[redacted]' }],
      card: { no: '[redacted]', ok: '[redacted]' },
      a: 1,
    },
  });
});

it('replaces in words what it has replaced elsewhere, and what follows its key', () => {
  const show = redaction(['*.password'], false);
  expect(
    show({
      input: { password: 'hunter2' },
      error: { name: 'Error', message: 'hunter2 is wrong', stack: 'password="a b" at x' },
      items: [{ message: 'login {"password":"q\\"w","user":"ann"} password: x' }],
    }),
  ).toEqual({
    input: { password: '[redacted]' },
    error: {
      name: 'Error',
      message: '[redacted] is wrong',
      stack: 'password=[redacted] at x',
    },
    items: [{ message: 'login {"password":[redacted],"user":"ann"} password: [redacted]' }],
  });
});

it('leaves payloads and words out whole', () => {
  const show = redaction([], true);
  expect(
    show({
      id: 't',
      input: 1,
      error: { name: 'E', message: 'm', stack: 's' },
      items: [{ value: 1 }],
    }),
  ).toEqual({ id: 't', error: { name: 'E', message: '', stack: '' }, items: [{}] });
});
