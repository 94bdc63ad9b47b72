/** Mutants of the rules that both backends follow. */
import type { Mutant } from './mutants.ts';

export const DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    name: 'round robin instead of fair turns',
    file: 'src/domain/fairness/fair-share.ts',
    find: `    const finish = head.start + head.step;`,
    replace: `    const finish = head.start;`,
  },
  {
    name: 'nobody has to wait to be eligible',
    file: 'src/domain/fairness/fair-share.ts',
    find: `    if (head === undefined || head.start > at + head.step * SLACK) continue;`,
    replace: `    if (head === undefined) continue;`,
  },
  {
    name: 'virtual time does not jump to the least tag',
    file: 'src/domain/fairness/fair-share.ts',
    find: `  return { index: best, v: at };`,
    replace: `  return { index: best, v };`,
  },
  {
    name: 'a newcomer has all the turns that it missed',
    file: 'src/domain/fairness/fair-share.ts',
    find: `  const floor = Math.ceil(v * scaleOf(weight));`,
    replace: `  const floor = Math.ceil(v * 0 * scaleOf(weight));`,
  },
  {
    name: 'a kept tag is forgotten',
    file: 'src/domain/fairness/fair-share.ts',
    find: `kept > fresh ? seated(next, kept) : fresh`,
    replace: `fresh`,
  },
  {
    name: 'a turn costs one, whatever it costs',
    file: 'src/domain/fairness/fair-share.ts',
    find: `Math.floor((cost * TURN) / SEATS + 0.5)`,
    replace: `Math.floor((cost > 0 ? TURN : 0) / SEATS + 0.5)`,
  },
  {
    name: 'a change of weight forgets what is ahead',
    file: 'src/domain/fairness/fair-share.ts',
    find: `  const ahead = Math.max(0, Math.ceil(tag - v * scaleOf(oldWeight)));`,
    replace: `  const ahead = Math.max(0, Math.ceil(tag - tag - v * scaleOf(oldWeight)));`,
  },
  {
    name: 'those who come at one moment tie',
    file: 'src/domain/fairness/fair-share.ts',
    find: `  const fresh = seated(next, next > floor && next <= floor + CROWD ? next : floor);`,
    replace: `  const fresh = floor;`,
  },
  {
    name: 'a correction moves a tag off its seat',
    file: 'src/domain/fairness/fair-share.ts',
    find: `  return tag < least ? seated(tag, least) : tag;`,
    replace: `  return Math.max(tag, Math.ceil(least));`,
  },
  {
    name: 'a tie goes to the lower level',
    file: 'src/domain/fairness/priority-shares.ts',
    find: `    if (best === 0 || tag < bestTag) {`,
    replace: `    if (best === 0 || tag <= bestTag) {`,
  },
  {
    name: 'priority by level alone',
    file: 'src/domain/fairness/priority-shares.ts',
    find: `    if (best === 0 || tag < bestTag) {`,
    replace: `    if (best === 0) {`,
  },
  {
    name: 'the burst of critical ones is one longer',
    file: 'src/domain/fairness/priority-shares.ts',
    find: `shares.criticalRun >= criticalBurst`,
    replace: `shares.criticalRun > criticalBurst`,
  },
  {
    name: 'a normal turn does not end the run of critical ones',
    file: 'src/domain/fairness/priority-shares.ts',
    find: `  shares.criticalRun = 0;\n  shares.v`,
    replace: `  shares.v`,
  },
  {
    name: 'a run of critical ones goes on when nothing has waited',
    file: 'src/domain/fairness/priority-shares.ts',
    find: `  shares.criticalRun = 0;\n}`,
    replace: `}`,
  },
  {
    name: 'an emptied level keeps its tag',
    file: 'src/domain/fairness/priority-shares.ts',
    find: `  if (level !== CRITICAL) shares.tag[level - 1] = 0;\n`,
    replace: '',
  },
  {
    name: 'a rate after a pause allows more than its burst',
    file: 'src/domain/fairness/rate-limit.ts',
    find: `(tat > now ? tat : now) + rate`,
    replace: `tat + rate`,
  },
  {
    name: 'a burst of one too many',
    file: 'src/domain/fairness/rate-limit.ts',
    find: `(rate.burst - 1) *`,
    replace: `rate.burst *`,
  },
  {
    name: 'the power is taken before the cap',
    file: 'src/domain/attempt/retry-policy.ts',
    find: `doublings >= enough ? policy.maxMs : policy.baseMs`,
    replace: `doublings < 0 ? policy.maxMs : policy.baseMs`,
  },
  {
    name: 'one attempt more than there are retries',
    file: 'src/domain/attempt/decider.ts',
    find: `  if (facts.attempt >= of) return`,
    replace: `  if (facts.attempt > of) return`,
  },
  {
    name: 'any token finishes',
    file: 'src/domain/task/transition.ts',
    find: `  return life.token === token ? undefined : refused('leaseLost');`,
    replace: `  return life.token !== '' || token !== '' ? undefined : refused('leaseLost');`,
  },
  {
    name: 'due before its time',
    file: 'src/domain/task/transition.ts',
    find: `life.dueAt > event.at) return refused('tooEarly');`,
    replace: `life.dueAt > event.at + 1) return refused('tooEarly');`,
  },
  {
    name: 'joined while something blocks it',
    file: 'src/domain/task/transition.ts',
    find: `life.join && !life.blocked ?`,
    replace: `life.join ?`,
  },
  {
    name: 'a join is queued',
    file: 'src/domain/task/transition.ts',
    find: `life.blocked || life.join ?`,
    replace: `life.blocked ?`,
  },
];
