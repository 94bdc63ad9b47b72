/** Tasks to fill stores with. */
import type { NewTask } from '../../../src/domain/task/task.ts';

/** A task with what is usual, but for what is said. */
export function newTask(facts: Partial<NewTask> & Pick<NewTask, 'id'>): NewTask {
  return {
    name: 'work',
    queue: 'default',
    user: 'ann',
    level: 3,
    cost: 1,
    payload: '{}',
    options: '{"retries":3}',
    dependsOn: [],
    edges: { onFailure: 'cancel', onCancel: 'cancel', onMissing: 'block', allowCrossUser: false },
    ...facts,
  };
}
