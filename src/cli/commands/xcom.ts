import type { XComFact } from '../../domain/task/xcom.ts';
import type { XComNamespace } from '../../operations/answers.ts';
import { missing } from '../../operations/refusal.ts';
import { shownMoment } from '../terminal/moments.ts';
import { shows } from '../terminal/operation-command.ts';
import { jsonLines, type View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import { type ConfirmOptions, confirm } from '../views/confirm.ts';
import { noted, rows, type ShownBy, thing } from '../views/shown.ts';

/** `fairloom xcom …` */
export const XCOM: ShownBy = {
  ...rows('xcom.list', valueView),
  ...rows('xcom.namespaces', () => NAMESPACE_VIEW),
  ...thing('xcom.get', ({ key, value }) => ({ id: key, text: jsonLines(value) })),
  'xcom.push': noted('key', 'is pushed'),
  'xcom.delete': shows<Place, ConfirmOptions>(async (call) => {
    const { loom, output, input, own } = call;
    const { key, ...place } = input;
    if ((await loom.xcom.pull(key, place)) === undefined) throw missing(`value ${key}`);
    if (!(await confirm('delete', [key], { ...own, noun: 'value' }, output))) return undefined;
    await call.run();
    output.note(`${key} is deleted`);
    return undefined;
  }),
};

interface Place {
  readonly key: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** With moments as seen from `now` (ms since the epoch). */
function valueView(now: number): View<XComFact> {
  return {
    columns: () => [
      { title: 'KEY', cell: ({ key }) => cellText(key) },
      { title: 'PUSHED', cell: ({ pushedAt }) => shownMoment(pushedAt, now) },
      { title: 'BY TASK', cell: ({ writer }) => cellText(writer ?? '') },
      { title: 'GOES', cell: ({ expiresAt }) => goesText(expiresAt, now) },
    ],
    json: (value) => value,
    id: ({ key }) => key,
    none: 'no values',
  };
}

/** While a task keeps a value, its end is not known. */
function goesText(at: number | undefined, now: number): string {
  return at === undefined ? 'kept by a task' : shownMoment(at, now);
}

const NAMESPACE_VIEW: View<XComNamespace> = {
  columns: () => [{ title: 'NAMESPACE', cell: ({ namespace }) => cellText(namespace) }],
  json: (namespace) => namespace,
  id: ({ namespace }) => namespace,
  none: 'no namespaces',
};
