import { entriesIn, keysIn, recordOf } from '../../../base/records.ts';
import * as lua from '../lua/scripts.generated.ts';
import { defineScript, type Script, withManualTime } from './script.ts';

/** The scripts, by their effect. */
export type Verb =
  | 'lag'
  | 'append'
  | 'askAnswer'
  | 'askGet'
  | 'askList'
  | 'attempts'
  | 'cancel'
  | 'checkpoint'
  | 'chunk'
  | 'dependents'
  | 'edges'
  | 'enqueue'
  | 'errorGroups'
  | 'extend'
  | 'facts'
  | 'get'
  | 'graphLoad'
  | 'graphSave'
  | 'lease'
  | 'leases'
  | 'leaveLine'
  | 'list'
  | 'listJoin'
  | 'pause'
  | 'publish'
  | 'queueList'
  | 'queueSet'
  | 'reconcile'
  | 'redrive'
  | 'register'
  | 'remove'
  | 'runNow'
  | 'scheduleDue'
  | 'scheduleFire'
  | 'scheduleLeave'
  | 'scheduleList'
  | 'scheduleRemove'
  | 'scheduleSet'
  | 'seal'
  | 'seriesAdd'
  | 'seriesPut'
  | 'seriesRead'
  | 'seriesTake'
  | 'settle'
  | 'signal'
  | 'status'
  | 'tick'
  | 'unregister'
  | 'userGet'
  | 'userList'
  | 'userQueues'
  | 'userSet'
  | 'watch'
  | 'workerList'
  | 'writeChannel'
  | 'xcomList'
  | 'xcomRead'
  | 'xcomWrite';

/** Operation of each verb in errors. */
export const OPERATIONS: Readonly<Record<Verb, string>> = {
  lag: 'lag',
  append: 'streams.append',
  askAnswer: 'asks.answer',
  askGet: 'asks.get',
  askList: 'asks.list',
  attempts: 'attempts',
  cancel: 'cancel',
  checkpoint: 'runs.checkpoint',
  chunk: 'enqueue',
  dependents: 'dependents',
  edges: 'enqueue',
  enqueue: 'enqueue',
  errorGroups: 'errorGroups',
  extend: 'extend',
  facts: 'facts',
  get: 'get',
  graphLoad: 'graphs.load',
  graphSave: 'graphs.save',
  lease: 'lease',
  leases: 'list',
  leaveLine: 'waitForWork',
  list: 'list',
  listJoin: 'register',
  pause: 'runs.pause',
  publish: 'waits.publish',
  queueList: 'queues.list',
  queueSet: 'queues.set',
  reconcile: 'reconcile',
  redrive: 'redrive',
  register: 'register',
  remove: 'remove',
  runNow: 'runNow',
  scheduleDue: 'schedules.due',
  scheduleFire: 'schedules.fire',
  scheduleLeave: 'schedules.leave',
  scheduleList: 'schedules.list',
  scheduleRemove: 'schedules.remove',
  scheduleSet: 'schedules.set',
  seal: 'enqueue',
  seriesAdd: 'series.add',
  seriesPut: 'series.add',
  seriesRead: 'series.read',
  seriesTake: 'series.add',
  settle: 'settle',
  signal: 'waits.signal',
  status: 'status',
  tick: 'tick',
  unregister: 'unregister',
  userGet: 'users.get',
  userList: 'users.list',
  userQueues: 'users.everywhere',
  userSet: 'users.set',
  watch: 'waitForEnd',
  workerList: 'workers.list',
  writeChannel: 'runs.writeChannel',
  xcomList: 'xcom.list',
  xcomRead: 'xcom.read',
  xcomWrite: 'xcom.write',
};

/**
 * Behavior of a verb on a server whose memory is full: it only `reads`, also on a replica and for an account that may
 * not write; it ends, frees or continues stored tasks, and is allowed (`goes-on`: its script deletes `K.oom()` before
 * it writes); or it `grows`, and is refused before it has written anything, unless this call frees.
 */
export const WHEN_FULL: Readonly<Record<Verb, 'reads' | 'goes-on' | 'grows'>> = {
  append: 'grows',
  askAnswer: 'goes-on',
  askGet: 'reads',
  askList: 'reads',
  attempts: 'reads',
  cancel: 'goes-on',
  checkpoint: 'goes-on',
  chunk: 'grows',
  dependents: 'reads',
  edges: 'reads',
  enqueue: 'grows',
  errorGroups: 'reads',
  extend: 'goes-on',
  facts: 'reads',
  get: 'reads',
  graphLoad: 'reads',
  graphSave: 'grows',
  lag: 'reads',
  lease: 'goes-on',
  leases: 'reads',
  leaveLine: 'goes-on',
  list: 'reads',
  listJoin: 'goes-on',
  pause: 'goes-on',
  publish: 'grows',
  queueList: 'reads',
  queueSet: 'goes-on',
  reconcile: 'goes-on',
  redrive: 'goes-on',
  register: 'goes-on',
  remove: 'goes-on',
  runNow: 'goes-on',
  scheduleDue: 'goes-on',
  scheduleFire: 'grows',
  scheduleLeave: 'goes-on',
  scheduleList: 'reads',
  scheduleRemove: 'goes-on',
  scheduleSet: 'grows',
  seal: 'goes-on',
  seriesAdd: 'grows',
  seriesPut: 'grows',
  seriesRead: 'reads',
  seriesTake: 'reads',
  settle: 'goes-on',
  signal: 'goes-on',
  status: 'reads',
  tick: 'goes-on',
  unregister: 'goes-on',
  userGet: 'reads',
  userList: 'reads',
  userQueues: 'reads',
  userSet: 'goes-on',
  watch: 'goes-on',
  workerList: 'reads',
  writeChannel: 'goes-on',
  xcomList: 'reads',
  xcomRead: 'reads',
  xcomWrite: 'grows',
};

/** All verbs as functions that Redis stores, built once. */
export interface Library {
  /** Derived from its text, so that processes of several versions share a server. */
  readonly name: string;
  /** Text for `FUNCTION LOAD`. */
  readonly text: string;
  /** Name of each function; a call with care has its own, with the verb as its last argument. */
  readonly functions: Readonly<Record<Verb | 'careful', string>>;
}

/** All texts that are sent to Redis. */
export interface Scripts {
  /** All verbs, each as a function. */
  readonly library: Library;
  /** The same as a script, for calls that the server refuses to functions; the last argument names the verb. */
  readonly script: Script;
}

/** Prefix of the names of libraries of all versions. */
export const LIBRARIES = 'fairloom_';

/** A library with this name and text. */
export function libraryOf(name: string, text: string): Library {
  const verbs: readonly (Verb | 'careful')[] = [...keysIn(WHEN_FULL), 'careful'];
  return { name, text, functions: recordOf(verbs, (verb) => `${name}_${verb}`) };
}

/** Reads, and extends the time of what it read if it may write. */
const PROLONGS: Verb = 'graphLoad';

/** The scripts on the server's clock. */
export const SCRIPTS: Scripts = ofAllVerbs(lua.library);

/** Fails every call that is sent again with care; `reconcile` is always sent so. */
const NEVER_AGAIN = `if string.find(word, '^!') and word ~= '!reconcile' then
  error(string.sub(word, 2) .. ' broke off')
end
`;

/** The same scripts on a clock that a test sets. */
export function manualScripts(repairs = false): Scripts {
  return ofAllVerbs(withManualTime(lua.library), repairs ? '' : NEVER_AGAIN);
}

/** `first` runs before each call. */
function ofAllVerbs(text: string, first = ''): Scripts {
  // Lua's globals are absent while a library is loaded, so the first call builds the verbs.
  const body = `local verbs, make = nil, function()
${text}end
local function run(word, keys, args)
${first}verbs = verbs or make()
return verbs(word, keys, args)
end
`;
  const name = `${LIBRARIES}${defineScript(body).sha.slice(0, 12)}`;
  const functions = entriesIn(WHEN_FULL).map(([verb, means]) => {
    const flags = means === 'reads' && verb !== PROLONGS ? "'no-writes'" : '';
    return register(`${name}_${verb}`, `run('${verb}', keys, args)`, flags);
  });
  const careful = register(`${name}_careful`, 'run(table.remove(args), keys, args)', '');
  return {
    library: libraryOf(name, [`#!lua name=${name}`, body, ...functions, careful].join('\n')),
    script: defineScript(`${body}return run(table.remove(ARGV), KEYS, ARGV)`),
  };
}

function register(name: string, call: string, flags: string): string {
  const callback = `function(keys, args) return ${call} end`;
  return `redis.register_function{function_name='${name}', callback=${callback}, flags={${flags}}}`;
}
