/** The text of docs/acl.example: the permissions of an account of a process that uses Fairloom. */
import { readFileSync } from 'node:fs';

const LIBRARY = new URL('../../src/backends/redis/lua/expanded/library.lua', import.meta.url);

/**
 * Commands that the client sends besides scripts, with the reason. `test/redis/faults/acl.test.ts` watches a server
 * and fails when one is missing here, or is here and never sent.
 */
export const CLIENT_COMMANDS: Readonly<Record<string, string>> = {
  fcall: 'runs a function',
  'function|load': 'teaches the server the library of functions',
  eval: 'teaches the server a script',
  evalsha: 'runs it',
  blpop: 'an idle worker waits for its token',
  subscribe: 'hears of the ends of tasks that are waited for, and of streams that are read',
  unsubscribe: 'ends the notices of a stream without readers',
  xrange: 'reads a stream',
  'client|id': 'names the channel of this process, and large batches',
  info: 'version and durability at the start; ioredis asks whether the server is ready',
  hget: 'the layout version of the namespace',
  hsetnx: 'marks a namespace that is new',
  set: 'stores a snapshot of a large graph',
  get: 'reads it',
  hgetall: 'a worker reads what a run has written down, a reader which streams there are',
  hmget: 'and values of its channels',
  ping: 'health checks',
  smembers: 'reconcile walks the queues',
  hscan: 'and all records',
  zrange: 'a listing of what runs asks for the workers that run anything',
  zcard: 'figures of what waits: how many',
  zrangebyscore: 'and since when',
};

/** Every command that a script calls, in lower case and in order. */
export function scriptCommands(): readonly string[] {
  const found = new Set<string>();
  const calls = /\b(?:redisP?|real\.p?)call\(\s*'(\w+)'/gi;
  for (const [, name = ''] of readFileSync(LIBRARY, 'utf8').matchAll(calls))
    found.add(name.toLowerCase());
  return [...found].sort();
}

/** The rules of the account, without its name and password. */
function aclRules(prefix: string): readonly string[] {
  const commands = [...new Set([...scriptCommands(), ...Object.keys(CLIENT_COMMANDS)])].sort();
  return [
    'resetkeys',
    `~${prefix}:*`,
    'resetchannels',
    `&${prefix}:*`,
    '-@all',
    ...commands.map((name) => `+${name}`),
  ];
}

export function renderAcl(): string {
  const why = Object.entries(CLIENT_COMMANDS).map(([name, reason]) => `#   ${name}: ${reason}`);
  return [
    '# The account of a process that uses Fairloom, client or worker, for `aclfile` or ACL SETUSER.',
    '# Made by `npm run docs` from the Lua scripts and the client; the contract suite runs as it.',
    '#',
    '# Change the password, and fq when you use another prefix. Redis 7 or newer; 6.2 has no subcommands in',
    '# its rules and no functions: there, write +client for +client|id, and leave +fcall and +function|load out.',
    '#',
    '# What the client sends besides scripts:',
    ...why,
    '# The rest is what scripts call. CONFIG GET is left out on purpose: it would show passwords. The',
    '# start line then says "fsync unknown"; add +config|get if you want it to know. SCAN is left out',
    '# too: with +scan, reconcile also finds sets of dependencies whose task is gone; and FUNCTION LIST and',
    '# DELETE: with +function|list +function|delete, doctor names and removes libraries of other versions.',
    `user fairloom on >change-this-password ${aclRules('fq').join(' ')}`,
    '',
  ].join('\n');
}
