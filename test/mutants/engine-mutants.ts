/** Mutants of the engine's runs: groups, journals, steps of handlers. */
import type { Mutant } from './mutants.ts';

const DIR = 'src/engine/runs';
const AGAIN = 'steps-again.test.ts';
const FAULTS = 'runs-faults.test.ts';
const GROUPS = 'runs-groups.test.ts';
const INSIDE = 'runs-inside.test.ts';
const WAITS = 'runs-interleavings-waits.test.ts';

export const ENGINE_MUTANTS: readonly Mutant[] = [
  {
    name: 'engine: a member that failed is not run again',
    file: `${DIR}/group-drive.ts`,
    find: `const isKept = state !== undefined && state !== 'failed' && state !== 'canceled';`,
    replace: `const isKept = state !== undefined;`,
    first: WAITS,
  },
  {
    name: 'engine: members that finished run again when their run does',
    file: `${DIR}/group-drive.ts`,
    find: `return isKept ? (before.epochs?.[at] ?? before.epoch) : epoch;`,
    replace: `return isKept && at < 0 ? before.epoch : epoch;`,
    first: WAITS,
  },
  {
    name: 'engine: the newest epoch is taken for that of every member',
    file: `${DIR}/group-drive.ts`,
    find: `const epochOf = (at: number): number => epochs?.[at] ?? epoch;`,
    replace: `const epochOf = (at: number): number => (epochs === undefined ? at * 0 : 0) + epoch;`,
    first: WAITS,
  },
  {
    name: 'engine: a group with other members is taken for the one that is open',
    file: `${DIR}/group-drive.ts`,
    find: `      if (before.hash !== hash) throw new GroupChangedError(step.node.id);\n`,
    replace: '',
    first: GROUPS,
  },
  {
    name: 'engine: a group is not written down before its members are stored',
    file: `${DIR}/group-drive.ts`,
    find: `    journal.noteOpened(this.#key, opened);\n    await journal.flush();\n`,
    replace: `    journal.noteOpened(this.#key, opened);\n`,
    first: GROUPS,
  },
  {
    name: 'engine: members that were never stored are not missed',
    file: `${DIR}/group-drive.ts`,
    find: `    if (records.every((record) => record !== undefined)) return records;`,
    replace: `    if (records.length > 0) return records;`,
    first: FAULTS,
  },
  {
    name: 'engine: failFast decides nothing',
    file: `${DIR}/group-drive.ts`,
    find: `const isDecided = node.failFast && isLost(node.policy, states);`,
    replace: `const isDecided = node.failFast && states.length === 0;`,
    first: GROUPS,
  },
  {
    name: 'engine: failFast wakes nobody',
    file: `${DIR}/group-drive.ts`,
    find: `wakeOn: wakesEarly ? 'failure' : 'all',`,
    replace: `wakeOn: 'all',`,
    first: GROUPS,
  },
  {
    name: 'engine: what is left of a closed group goes on',
    file: `${DIR}/group-drive.ts`,
    find: `      await this.#cancel(open);\n`,
    replace: '',
    first: GROUPS,
  },
  {
    name: 'engine: a group has all the time',
    file: `${DIR}/group-drive.ts`,
    find: `this.#tools.clock.now() >= opened.dueAt;`,
    replace: `this.#tools.clock.now() < 0;`,
    first: GROUPS,
  },
  {
    name: 'engine: a group that was through in time fails when its run goes on late',
    file: `${DIR}/group-drive.ts`,
    find: `const isTimeUp = isLate && (open.length > 0 || records.some(isClosed));`,
    replace: `const isTimeUp = isLate;`,
    first: WAITS,
  },
  {
    name: 'engine: a worker that died while it closed a group has let it finish',
    file: `${DIR}/group-drive.ts`,
    find: `const isTimeUp = isLate && (open.length > 0 || records.some(isClosed));`,
    replace: `const isTimeUp = isLate && open.length > 0;`,
    first: WAITS,
  },
  {
    name: 'engine: a lost lease is no reason to stop storing members',
    file: `${DIR}/group-drive.ts`,
    find: `        if (refusal === 'lease-lost') throw new JournalLost();\n        if (refusal !== undefined)`,
    replace: `        if (refusal !== undefined && refusal !== 'lease-lost')`,
    first: FAULTS,
  },
  {
    name: 'engine: a policy goes before the time of its group',
    file: `${DIR}/group-end.ts`,
    find: `if (isTimeUp || !hasFinished(`,
    replace: `if (!hasFinished(`,
    first: GROUPS,
  },
  {
    name: 'engine: a member that cancels the run only fails',
    file: `${DIR}/group-end.ts`,
    find: `    if (member.state === 'run-canceled') return { type: 'canceled', cause: member.cause };\n`,
    replace: '',
    first: 'runs-dynamic.test.ts',
  },
  {
    name: 'engine: a group that an earlier attempt opened is taken for open',
    file: `${DIR}/group-drive.ts`,
    find: `if (before?.attempt === journal.attempt && !isAnew) {`,
    replace: `if (before !== undefined && !isAnew) {`,
    first: WAITS,
  },
  {
    name: 'engine: a run whose group failed is not retried',
    file: `${DIR}/drive.ts`,
    find: ` || error.code === 'GROUP_FAILED'`,
    replace: '',
    first: WAITS,
  },
  {
    name: 'engine: nodes are not written down',
    file: `${DIR}/producer.ts`,
    find: `      if (checkpoint === 'node') await journal.flush();\n`,
    replace: '',
    first: FAULTS,
  },
  {
    name: 'engine: nodes keep the token of the first lease',
    file: `${DIR}/producer.ts`,
    find: `      user: facts.user,\n      holder,\n`,
    replace: `      user: facts.user,\n      holder: { fencingToken: holder.fencingToken },\n`,
    first: FAULTS,
  },
  {
    name: 'engine: a journal that is lost is written on',
    file: `${DIR}/journal.ts`,
    find: `    if (answer === 'lost') throw new JournalLost();\n`,
    replace: '',
    first: FAULTS,
  },
  {
    name: 'engine: what was written down is written again',
    file: `${DIR}/journal.ts`,
    find: `    if (fresh.size === 0) return;\n    const entries = Object.fromEntries(fresh);\n    fresh.clear();\n`,
    replace: `    if (fresh.size === 0) return;\n    const entries = Object.fromEntries(fresh);\n`,
    first: FAULTS,
  },
  {
    name: 'engine: an epoch leaves no trace in the ids of members',
    file: `${DIR}/record.ts`,
    find: `.update(place)`,
    replace: `.update(place.slice(0, place.lastIndexOf('\\n')))`,
    first: WAITS,
  },
  {
    name: 'engine: chains of members are one too many',
    file: `${DIR}/members.ts`,
    find: `const before = ids[at - concurrency];`,
    replace: `const before = ids[at - concurrency - 1];`,
    first: GROUPS,
  },
  {
    name: 'engine: another step under the same number is answered',
    file: `${DIR}/sub-runs.ts`,
    find: `    else if (before !== hash) throw new ReplayMismatchError(key);\n`,
    replace: '',
    first: INSIDE,
  },
  {
    name: 'engine: what failed for a handler stays so in its next attempt',
    file: `${DIR}/sub-runs.ts`,
    find: `return failure.attempt === journal.attempt ? text : undefined;`,
    replace: `return failure.attempt === '' ? undefined : text;`,
    first: INSIDE,
  },
  {
    name: 'engine: an attempt after a redrive is taken for an earlier one',
    file: `${DIR}/journal.ts`,
    find: `[REDRIVES] ?? 0}`,
    replace: `[REDRIVES]?.slice(0, 0) ?? ''}`,
    first: AGAIN,
  },
  {
    name: 'engine: what failed for a handler stays so when it has given itself back',
    file: `${DIR}/drive.ts`,
    find: `failures: attempt - 1, releases }`,
    replace: `failures: attempt - 1, releases: releases * 0 }`,
    first: AGAIN,
  },
  {
    name: 'engine: what failed for the handler of a node stays so in its next attempt',
    file: `${DIR}/journal.ts`,
    find: `{within}`,
    replace: `{within.slice(0, 0)}`,
    first: AGAIN,
  },
  {
    name: 'engine: a node of a run that is put back has the tries left that it had',
    file: `${DIR}/journal.ts`,
    find: `return attempt === this.attempt ? tries : NO_TRIES;`,
    replace: `return attempt === '' ? NO_TRIES : tries;`,
    first: AGAIN,
  },
  {
    name: 'engine: runs of a node count on in its next attempt',
    file: 'src/engine/node-attempt.ts',
    find: `this.#runner ??= this.#call.runnerFor(this.#tries);`,
    replace: `this.#runner ??= this.#call.runnerFor({ failures: 0, releases: 0 });`,
    first: AGAIN,
  },
  {
    name: 'engine: steps of one handler run beside each other',
    file: `${DIR}/sub-runs.ts`,
    find: `        this.#before = run.catch(() => undefined);\n`,
    replace: '',
    first: WAITS,
  },
  {
    name: 'engine: a rerun from a node does not run it',
    file: `${DIR}/rerun.ts`,
    find: `state === 'finished' && !again.has(node)`,
    replace: `state === 'finished'`,
    first: 'runs-control.test.ts',
  },
  {
    name: 'engine: the first failure is one that followed another',
    file: 'src/domain/cause.ts',
    find: `    case 'upstream':
      return cause.id;`,
    replace: `    case 'upstream':
      return undefined;`,
    first: 'runs-dispatch.test.ts',
  },
];

const DOMAIN = 'src/domain';

/** Of the rules for walks, groups and plans. */
export const WALK_MUTANTS: readonly Mutant[] = [
  {
    name: 'walk: one cycle fewer than allowed',
    file: `${DOMAIN}/run-walk.ts`,
    find: `visit > node.dynamic.maxCycles + 1`,
    replace: `visit > node.dynamic.maxCycles`,
  },
  {
    name: 'walk: one step more than allowed',
    file: `${DOMAIN}/run-walk.ts`,
    find: `if (this.#steps >= LIMITS.runSteps) {`,
    replace: `if (this.#steps > LIMITS.runSteps) {`,
  },
  {
    name: 'walk: what stood around the target of a goto goes on',
    file: `${DOMAIN}/run-walk.ts`,
    find: `      this.#frames = this.#frames.slice(0, at + 1);\n`,
    replace: '',
  },
  {
    name: 'walk: a goto leaves a member',
    file: `${DOMAIN}/run-walk.ts`,
    find: `    if (this.#isMember) {\n`,
    replace: `    if (this.#isMember && this.#frames.length === 0) {\n`,
  },
  {
    name: 'walk: visits are not counted',
    file: `${DOMAIN}/run-walk.ts`,
    find: `(this.#visits.get(node.id) ?? 0) + 1;`,
    replace: `(this.#visits.get(node.id) ?? 0) * 0 + 1;`,
  },
  {
    name: 'walk: a node that was left out by a jump is run when its turn comes',
    file: `${DOMAIN}/walk-frame.ts`,
    find: `if (left === 0 && !this.#done.has(reader)) this.#ready.push(reader);`,
    replace: `if (left === 0) this.#ready.push(reader);`,
  },
  {
    name: 'walk: again runs what comes next',
    file: `${DOMAIN}/walk-frame.ts`,
    find: `    this.#at--;\n`,
    replace: '',
  },
  {
    name: 'walk: what followed the node that jumped is run too',
    file: `${DOMAIN}/walk-frame.ts`,
    find: `    for (const id of this.#following(from)) this.#done.add(id);\n`,
    replace: '',
  },
  {
    name: 'group: one member fewer than atLeast is enough',
    file: `${DOMAIN}/group-verdict.ts`,
    find: `members.length - bad.length < policy.count`,
    replace: `members.length - bad.length < policy.count - 1`,
  },
  {
    name: 'group: a strict one bears one failure',
    file: `${DOMAIN}/group-verdict.ts`,
    find: `return bad.length > 0;`,
    replace: `return bad.length > 1;`,
  },
  {
    name: 'group: every member is critical',
    file: `${DOMAIN}/group-verdict.ts`,
    find: `return bad.some(({ key }) => policy.members.includes(key));`,
    replace: `return bad.length > 0;`,
  },
  {
    name: 'plan: the first node of a block waits for nothing',
    file: `${DOMAIN}/graph-plan.ts`,
    find: `waits.length === 0 ? before : unique(waits)`,
    replace: `unique(waits)`,
  },
  {
    name: 'plan: no joins between many and many',
    file: `${DOMAIN}/graph-plan.ts`,
    find: `if (nodes.length < 2 || nodes.length * readers <= LIMITS.dependencies) return nodes;`,
    replace: `if (nodes.length < 2 || readers < LIMITS.graphNodes) return nodes;`,
  },
  {
    name: 'plan: a group that fails fast is dispatched',
    file: `${DOMAIN}/graph-plan.ts`,
    find: `  if (node.failFast) return 'fail-fast';\n`,
    replace: '',
  },
];
