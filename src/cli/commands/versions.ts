import type { OpenState, VersionStatus } from '../../client/facades/versions.ts';
import { isNamed, versionedName } from '../../domain/task/task-name.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shows } from '../terminal/operation-command.ts';
import type { View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import type { ShownBy } from '../views/shown.ts';

/** `fairloom versions [name]` */
export const VERSION_COMMAND: ShownBy = {
  versions: shows<Options>(async ({ loom, output, input: { name, limit } }) => {
    const { versions, looked, complete } = await loom.versions({ limit });
    const isMeant = (one: VersionStatus): boolean =>
      name === undefined || isNamed(versionedName(one.name, one.version), name);
    const meant = versions.filter(isMeant);
    if (meant.length > 0 || name === undefined) output.rows(meant, VERSIONS);
    if (!complete) output.note(`there are more than the ${looked} tasks that were looked at`);
    if (meant.length > 0 || name === undefined) return undefined;
    throw new CliError(
      EXIT.notFound,
      `nothing that is stored needs ${name}, and no live worker has it`,
    );
  }),
};

interface Options {
  readonly name?: string;
  readonly limit?: number;
}

const VERSIONS: View<VersionStatus> = {
  columns: () => [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'VERSION', cell: ({ version }) => version ?? '' },
    { title: 'NEEDED', cell: ({ needed }) => String(needed), align: 'right' },
    counted('QUEUED', 'queued'),
    counted('STARTED', 'started'),
    counted('DEFERRED', 'deferred'),
    counted('SCHEDULED', 'scheduled'),
    { title: 'RUNS', cell: ({ runs }) => String(runs), align: 'right' },
    { title: 'SCHEDULES', cell: ({ schedules }) => String(schedules), align: 'right' },
    { title: 'WORKERS', cell: ({ workers }) => cellText(workers.join(' ')) },
  ],
  json: (row) => row,
  id: ({ name, version }) => versionedName(name, version),
  none: 'no tasks and no live workers',
};

function counted(title: string, state: OpenState): ReturnType<View<VersionStatus>['columns']>[0] {
  return { title, cell: ({ tasks }) => String(tasks[state]), align: 'right' };
}
