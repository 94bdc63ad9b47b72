import type { Run } from '../support/history.ts';
import type { Done } from './faults.ts';
import { FAULT_KINDS } from './options.ts';
import type { RunsReport } from './run-programme.ts';
import { isVacuous } from './vacuous.ts';

/** Why the programme failed, or proves nothing; empty when it is as it should be. */
export function runComplaints({ faults, verdict, trouble }: RunsReport): readonly string[] {
  const kills = faults.filter(({ kind }) => kind === 'kill');
  const hit = kills.filter((kill) => kill.hit.length > 0).length;
  const vacuous = isVacuous(hit, kills.length) ? [`void: ${hit} of ${kills.length} kills hit`] : [];
  return [
    ...verdict.lost.map((text) => `not ended: ${text}`),
    ...verdict.wrong.map((text) => `wrong end: ${text}`),
    ...verdict.doubles.map((text) => `recorded twice: ${text}`),
    ...trouble.map((text) => `left behind: ${text}`),
    ...vacuous,
  ];
}

/** The table of `docs/reliability.md`, and the counts below it. */
export function renderRuns(report: RunsReport): string {
  const { faults, verdict, seed, seconds, resent, place, trouble } = report;
  const rows = FAULT_KINDS.map((kind) => faults.filter((fault) => fault.kind === kind))
    .filter((done) => done.length > 0)
    .map((done) => row([done[0]?.kind ?? '', String(done.length), ...inHand(done)]));
  const { accepted, finished, failed, lost3, canceled, nodes, starts, results } = verdict;
  const { lost, wrong, doubles } = verdict;
  const told = Object.entries(verdict.waits)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
  return [
    row(HEADS),
    row(['---', ...HEADS.slice(1).map(() => '---:')]),
    ...rows,
    '',
    `seed ${seed}, ${seconds} s, ${place}, Node ${process.version}`,
    `runs ${accepted}: finished ${finished}, failed ${failed} (a member lost three times ${lost3}), canceled ${canceled}`,
    `nodes ${nodes}, starts ${starts}, results that were used ${results}, calls sent again ${resent}`,
    ...(told === '' ? [] : [`waits: ${told}`]),
    `not ended ${lost.length}, wrong ends ${wrong.length}, results recorded twice ${doubles.length}, left behind ${trouble.length}`,
  ].join('\n');
}

const HEADS = ['fault', 'done', 'met work', 'producers', 'members', 'other tasks'];

/** How many met work, and what of it was what. */
function inHand(done: readonly Done[]): readonly string[] {
  const met = done.filter(({ hit }) => hit.length > 0).length;
  const runs = done.flatMap(({ hit }) => hit);
  const of = (kind: string): string => String(runs.filter((run) => kindOf(run) === kind).length);
  const share = `${Math.round((100 * met) / done.length)} %`;
  return [share, of('producer'), of('member'), of('other')];
}

/** Nodes in place are named behind the task whose worker runs them. */
function kindOf({ task }: Run): 'producer' | 'member' | 'other' {
  if (task.includes(':')) return 'producer';
  return task.startsWith('~g.') ? 'member' : 'other';
}

function row(fields: readonly string[]): string {
  return `| ${fields.join(' | ')} |`;
}
