/** What a task waits for, and who waits for it. */
import type { VNode } from 'preact';
import { shownTask } from '../../../../src/domain/task/node-name.ts';
import type { ReadAnswers } from '../../api/routes.generated.ts';
import type { TaskDetails } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ListFoot } from '../../parts/list-foot.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { usePages } from '../../state/pages.ts';
import { countText } from '../../words/numbers.ts';

/** Nothing where it stands alone. */
export function Neighbours({ task }: { readonly task: TaskDetails }): VNode | null {
  if (task.dependents !== undefined) return <WithDependents task={task} />;
  return <Around task={task} waiting={[]} foot={null} />;
}

function WithDependents({ task }: { readonly task: TaskDetails }): VNode {
  const pages = usePages(source('GET /tasks/{id}/dependents', [task.id], { limit: 50 }));
  return <Around task={task} waiting={pages.items} foot={<ListFoot pages={pages} />} />;
}

interface AroundProps {
  readonly task: TaskDetails;
  readonly waiting: ReadAnswers['GET /tasks/{id}/dependents']['items'];
  readonly foot: VNode | null;
}

function Around({ task, waiting, foot }: AroundProps): VNode | null {
  const { name, state, dependsOn, blockedBy, dependents } = task;
  const count = dependents?.count ?? 0;
  if (dependsOn.length === 0 && waiting.length === 0) return null;
  return (
    <Panel title="Before and after it" spaced={true}>
      <ul class="deps">
        {dependsOn.map((one) => (
          <li key={one}>
            <span class="dim">waited for</span>
            <StateLabel state={blockedBy.includes(one) ? 'deferred' : 'finished'}>
              {blockedBy.includes(one) ? 'not yet' : 'satisfied'}
            </StateLabel>
            <a class="mono cut" href={linkTo('tasks', one)}>
              {one}
            </a>
          </li>
        ))}
        <li class="self">
          <StateLabel state={state} />
          <b>{shownTask(name)}</b>
        </li>
        {waiting.map((one) => (
          <li key={one.id}>
            <span class="dim">waits for it</span>
            <StateLabel state={one.state} />
            <a class="cut" href={linkTo('tasks', one.id)}>
              {shownTask(one.name)} <span class="mono">{one.id}</span>
            </a>
          </li>
        ))}
      </ul>
      {count > waiting.length ? <p class="dim">{countText(count)} wait for it in all.</p> : null}
      {foot}
    </Panel>
  );
}
