/** Why the first task of a user is next, or is not, in the words of `explain`. */
import type { VNode } from 'preact';
import { shownTask } from '../../../../src/domain/task/node-name.ts';
import { source } from '../../api/sources.ts';
import { Panel } from '../../parts/panel.tsx';
import { linkTo } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { Obstacles } from '../tasks/obstacles.tsx';

/** Of the task at the head of its line. */
export function NextOfUser({
  user,
  queue,
}: {
  readonly user: string;
  readonly queue: string;
}): VNode {
  const first = useReading(source('GET /tasks', [], { state: 'queued', user, queue, limit: 1 }));
  const task = first.value?.items[0];
  const why = useReading(
    task === undefined ? undefined : source('GET /tasks/{id}/explain', [task.id]),
  );
  return (
    <Panel
      title="Its next turn"
      meta={
        task === undefined ? undefined : (
          <a href={linkTo('tasks', task.id)}>
            {shownTask(task.name)} <span class="mono">{task.id}</span>
          </a>
        )
      }
      spaced={true}
    >
      {task === undefined ? (
        <p class="dim">It has nothing in line.</p>
      ) : why.value?.state === 'queued' ? (
        <Obstacles explanation={why.value} />
      ) : (
        <p class="dim">It is having its turn.</p>
      )}
    </Panel>
  );
}
