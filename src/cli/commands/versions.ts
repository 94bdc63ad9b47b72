import type { Command } from 'commander';
import type { OpenState, VersionStatus } from '../../client/facades/versions.ts';
import { isNamed, versionedName } from '../../domain/task/task-name.ts';
import { integerArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import type { View } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { cellText } from '../terminal/text-table.ts';

interface Options {
  readonly limit?: number;
}

type Rest = [options: Options, command: Command];

/** `fairloom versions [name]` */
export function addVersions(program: Command, shell: Shell): void {
  program
    .command('versions [name]')
    .description('per version of each task what still needs it, and which live workers have it')
    .option('--limit <n>', 'tasks that it looks at; default: 100000', integerArgument(1))
    .action((name: string | undefined, ...rest: Rest) => {
      const [{ limit }, command] = rest;
      return withLoom(shell, command, async (loom, output) => {
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
      });
    });
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
