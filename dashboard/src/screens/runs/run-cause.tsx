/** Where a run began to fail, or what it waits for, in the words of `explain`. */
import type { VNode } from 'preact';
import { shownNode } from '../../../../src/domain/task/node-name.ts';
import type { RunDetails, RunExplanation } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { CommandLine } from '../../parts/command-line.tsx';
import { Icon } from '../../parts/icon.tsx';
import { linkTo } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';

/** Nothing of a run that finished. */
export function RunCause({ run }: { readonly run: RunDetails }): VNode | null {
  const { value } = useReading(
    run.state === 'finished' ? undefined : source('GET /runs/{id}/explain', [run.id]),
  );
  if (value === undefined) return null;
  if (value.causes.length > 0) return <Causes why={value} />;
  return value.waitsFor.length > 0 ? <Waits why={value} /> : null;
}

function Causes({ why: { causes, command } }: { readonly why: RunExplanation }): VNode {
  const [first] = causes;
  return (
    <div class="cause">
      <div class="cause-what">
        {causes.slice(0, 3).map(({ node, taskId, attempt, error }) => (
          <div key={`${node} ${taskId}`}>
            <h2>
              <Icon name="failed" />
              <a href={linkTo('tasks', taskId)}>
                {node === '' ? 'the run itself' : shownNode(node)}
              </a>
              <span>{first?.taskId === taskId ? 'failed first' : 'failed too'}</span>
            </h2>
            {error === undefined ? null : (
              <p>
                <b>{error.name}</b>: {error.message}
              </p>
            )}
            <p class="ink2">{attempt === 0 ? 'It was never started.' : `On attempt ${attempt}.`}</p>
          </div>
        ))}
        {causes.length > 3 ? <p>And {causes.length - 3} more.</p> : null}
      </div>
      {command === undefined ? null : (
        <div class="cause-do">
          <CommandLine text={command} />
        </div>
      )}
    </div>
  );
}

function Waits({ why: { waitsFor, command } }: { readonly why: RunExplanation }): VNode {
  return (
    <div class="cause is-wait">
      <div class="cause-what">
        <h2>It waits for</h2>
        <ul class="waits">
          {waitsFor.map(({ node, why }) => (
            <li key={node}>
              <a href={linkTo('tasks', why.id)}>
                {node === '' ? 'the run itself' : shownNode(node)}
              </a>
              <span>{why.obstacles[0]?.text ?? why.state}</span>
            </li>
          ))}
        </ul>
      </div>
      {command === undefined ? null : (
        <div class="cause-do">
          <CommandLine text={command} />
        </div>
      )}
    </div>
  );
}
