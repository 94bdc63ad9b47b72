/** Operations on XCom: named values that tasks hand on. */
import { anything, length, required, text } from './fields.ts';
import { type Operation, operation } from './operation.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import { done, missing } from './refusal.ts';

const USER = {
  user: text('The user whose values are meant; default: `default`.', 'user'),
} as const;

const PLACE = {
  ...USER,
  namespace: text('Their namespace; default: `default`.', 'name'),
} as const;

const KEY = { key: required(text('The key of the value.', 'key')) } as const;

/** `xcom …` */
export const XCOM_OPERATIONS: readonly Operation[] = [
  operation('xcom.list', {
    command: 'xcom list',
    help: 'The values of a user in one namespace.',
    input: { ...PLACE, ...PAGE_FIELDS },
    run: async ({ loom, input: { user, namespace, ...page } }) =>
      loom.xcom.list({ user, namespace, ...pageOf(page) }),
  }),
  operation('xcom.namespaces', {
    command: 'xcom namespaces',
    help: 'The namespaces in which a user has values.',
    input: { ...USER, ...PAGE_FIELDS },
    run: async ({ loom, input: { user, ...page } }) => {
      const { items, ...more } = await loom.xcom.namespaces({ user, ...pageOf(page) });
      return { ...more, items: items.map((namespace) => ({ namespace })) };
    },
  }),
  operation('xcom.get', {
    command: 'xcom get <key>',
    help: 'One value.',
    input: { ...KEY, ...PLACE },
    run: async ({ loom, input: { key, ...place } }) => {
      const value = await loom.xcom.pull(key, place);
      if (value === undefined) throw missing(`value ${key}`);
      return { key, value };
    },
  }),
  operation('xcom.push', {
    command: 'xcom push <key> <value>',
    help: 'Puts a value in place of the one before; the value is JSON, @file, or - for stdin.',
    needs: 'configure',
    input: {
      ...KEY,
      value: anything('The value.'),
      ...PLACE,
      ttl: length('How long it is kept; default: that of the configuration.'),
    },
    run: async ({ loom, input: { key, value, ...place } }) => {
      await loom.xcom.push(key, value, place);
      return done(key, 'pushed');
    },
  }),
  operation('xcom.delete', {
    command: 'xcom delete <key>',
    help: 'Deletes a value.',
    needs: 'remove',
    effect: 'destroys',
    input: { ...KEY, ...PLACE },
    run: async ({ loom, input: { key, ...place } }) => {
      await loom.xcom.delete(key, place);
      return done(key, 'deleted');
    },
  }),
];
