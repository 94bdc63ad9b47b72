import type { ChaosReport } from './programme.ts';
import type { Times } from './recovery.ts';
import { isVacuous } from './vacuous.ts';

/** Why the run failed, or proves nothing; empty when it is as it should be. */
export function complaints({ lines, verdict, trouble }: ChaosReport): readonly string[] {
  const kills = lines.find(({ kind }) => kind === 'kill');
  const vacuous =
    kills !== undefined && isVacuous(kills.hit, kills.done)
      ? [`void: only ${kills.hit} of ${kills.done} kills met work in hand`]
      : [];
  return [
    ...verdict.lost.map((text) => `lost: ${text}`),
    ...verdict.doubles.map((text) => `double completion: ${text}`),
    ...verdict.surprises.map((text) => `unexpected end: ${text}`),
    ...trouble,
    ...vacuous,
  ];
}

/** The table of `docs/reliability.md`, and the counts below it. */
export function render(report: ChaosReport): string {
  const { lines, verdict, seed, seconds, resent, place } = report;
  const rows = lines
    .filter(({ done }) => done > 0)
    .map(({ kind, done, hit, tasks, noticed, recovery, again }) =>
      row([
        kind,
        String(done),
        `${Math.round((100 * hit) / done)} %`,
        String(tasks),
        ...[noticed, recovery, again].map(shown),
      ]),
    );
  const { accepted, finished, failed, lost3, canceled, starts, lost, doubles, surprises } = verdict;
  const { owners } = report;
  return [
    row(HEADS),
    row(['---', ...HEADS.slice(1).map(() => '---:')]),
    ...rows,
    '',
    `seed ${seed}, ${seconds} s, ${place}, Node ${process.version}`,
    `accepted ${accepted}: finished ${finished}, failed ${failed} (of these lost three times ${lost3}), canceled ${canceled}`,
    `starts per task ${(starts / Math.max(1, accepted)).toFixed(4)}, calls sent again ${resent}`,
    ...(owners > 0 ? [`kills of the owner of the data ${owners}`] : []),
    `lost ${lost.length}, double completions ${doubles.length}, unexpected ends ${surprises.length}`,
  ].join('\n');
}

const HEADS = [
  'fault',
  'done',
  'met work',
  'tasks in hand',
  'taken back',
  'recovery',
  'after another loss',
];

/** `p50 / p99 / max ms (n)` */
function shown({ count, p50, p99, max }: Times): string {
  return count === 0 ? '' : `${p50} / ${p99} / ${max} ms (${count})`;
}

function row(fields: readonly string[]): string {
  return `| ${fields.join(' | ')} |`;
}
