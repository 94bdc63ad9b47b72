/** Definitions of the engine's own tasks, which every worker has: of runs and bulk actions. */
import { TaskDefinition } from '../workflow/task-definition.ts';
import { BULK_TASK, DRIVE_TASK, GIVEN_TASK, GROUP_TASK } from './record.ts';

/** Its input is the output of the group. */
const group = new TaskDefinition({
  name: 'group',
  taskName: GROUP_TASK,
  options: { timeout: 'none' },
  code: { kind: 'function', handler: (output) => output },
});

/** Its input is its result. */
const given = new TaskDefinition({
  name: 'given',
  taskName: GIVEN_TASK,
  options: { timeout: 'none' },
  code: { kind: 'function', handler: (output) => output },
});

/** Its worker walks the graph; it has no handler. */
const drive = new TaskDefinition({
  name: 'drive',
  taskName: DRIVE_TASK,
  options: { retries: 0, timeout: 'none' },
  code: { kind: 'function', handler: () => undefined },
});

/** Its worker changes the selected tasks; it has no handler. */
const bulk = new TaskDefinition({
  name: 'bulk',
  taskName: BULK_TASK,
  options: { retries: 0, timeout: 'none' },
  code: { kind: 'function', handler: () => undefined },
});

/** Definitions by name, as workers register them. */
const OWN: ReadonlyMap<string, TaskDefinition> = new Map([
  [GROUP_TASK, group],
  [DRIVE_TASK, drive],
  [GIVEN_TASK, given],
  [BULK_TASK, bulk],
]);

/** The engine's own task with this name. */
export function ownTask(name: string): TaskDefinition | undefined {
  return OWN.get(name);
}

/** Names of all of them. */
export function ownNames(): readonly string[] {
  return [...OWN.keys()];
}
