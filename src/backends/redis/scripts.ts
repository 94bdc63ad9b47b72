import * as lua from './lua.generated.ts';
import { defineScript, onManualTime, type Script } from './script.ts';

/** The scripts, by what they do. */
export type Verb =
  | 'arrears'
  | 'attempts'
  | 'cancel'
  | 'checkpoint'
  | 'chunk'
  | 'dependents'
  | 'edges'
  | 'enqueue'
  | 'extend'
  | 'facts'
  | 'get'
  | 'graphLoad'
  | 'graphSave'
  | 'lease'
  | 'leaveLine'
  | 'list'
  | 'listJoin'
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
  | 'settle'
  | 'standing'
  | 'tick'
  | 'unregister'
  | 'userGet'
  | 'userList'
  | 'userSet'
  | 'watch'
  | 'workerList'
  | 'writeChannel'
  | 'xcomList'
  | 'xcomRead'
  | 'xcomWrite';

export type Scripts = Readonly<Record<Verb, Script>>;

/** Every script, by the verb of the port or of this backend. */
export const SCRIPTS: Scripts = {
  arrears: defineScript('arrears', lua.arrears),
  attempts: defineScript('attempts', lua.attempts),
  cancel: defineScript('cancel', lua.cancel),
  checkpoint: defineScript('runs.checkpoint', lua.checkpoint),
  chunk: defineScript('enqueue', lua.chunk),
  dependents: defineScript('dependents', lua.dependents),
  edges: defineScript('enqueue', lua.edges),
  enqueue: defineScript('enqueue', lua.enqueue),
  extend: defineScript('extend', lua.extend),
  facts: defineScript('facts', lua.facts),
  get: defineScript('get', lua.get),
  graphLoad: defineScript('graphs.load', lua.graphLoad),
  graphSave: defineScript('graphs.save', lua.graphSave),
  lease: defineScript('lease', lua.lease),
  leaveLine: defineScript('waitForWork', lua.leaveLine),
  list: defineScript('list', lua.list),
  listJoin: defineScript('register', lua.listJoin),
  queueList: defineScript('queues.list', lua.queueList),
  queueSet: defineScript('queues.set', lua.queueSet),
  reconcile: defineScript('reconcile', lua.reconcile),
  redrive: defineScript('redrive', lua.redrive),
  register: defineScript('register', lua.register),
  remove: defineScript('remove', lua.remove),
  runNow: defineScript('runNow', lua.runNow),
  scheduleDue: defineScript('schedules.due', lua.scheduleDue),
  scheduleFire: defineScript('schedules.fire', lua.scheduleFire),
  scheduleLeave: defineScript('schedules.leave', lua.scheduleLeave),
  scheduleList: defineScript('schedules.list', lua.scheduleList),
  scheduleRemove: defineScript('schedules.remove', lua.scheduleRemove),
  scheduleSet: defineScript('schedules.set', lua.scheduleSet),
  seal: defineScript('enqueue', lua.seal),
  settle: defineScript('settle', lua.settle),
  standing: defineScript('standing', lua.standing),
  tick: defineScript('tick', lua.tick),
  unregister: defineScript('unregister', lua.unregister),
  userGet: defineScript('users.get', lua.userGet),
  userList: defineScript('users.list', lua.userList),
  userSet: defineScript('users.set', lua.userSet),
  watch: defineScript('waitForEnd', lua.watch),
  workerList: defineScript('workers.list', lua.workerList),
  writeChannel: defineScript('runs.writeChannel', lua.writeChannel),
  xcomList: defineScript('xcom.list', lua.xcomList),
  xcomRead: defineScript('xcom.read', lua.xcomRead),
  xcomWrite: defineScript('xcom.write', lua.xcomWrite),
};

/** The same scripts on a clock that a test sets. */
export function manualScripts(): Scripts {
  const entries = Object.entries(SCRIPTS).map(([verb, script]) => [verb, onManualTime(script)]);
  return Object.fromEntries(entries) as Record<Verb, Script>;
}
