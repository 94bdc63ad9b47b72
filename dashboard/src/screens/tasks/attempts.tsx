/** Attempts at a task, each with what it threw. */

import type { VNode } from 'preact';
import type { AttemptInfo, TaskDetails, TaskError } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Panel } from '../../parts/panel.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { linkHere } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { lengthText, momentText } from '../../words/lengths.ts';
import { countOf } from '../../words/numbers.ts';

/** The newest last, and open. */
export function Attempts({ task }: { readonly task: TaskDetails }): VNode | null {
  const { attempts } = task;
  const logs = useReading(source('GET /tasks/{id}/logs', [task.id])).value?.items ?? [];
  if (attempts.length === 0) return null;
  return (
    <Panel
      title="Attempts"
      meta="the newest last; those that finished are kept when they are the last"
    >
      <ol class="attempts">
        {attempts.map((one, at) => (
          <li key={one.leasedAt}>
            <Attempt
              attempt={one}
              isOpen={at === attempts.length - 1}
              logLines={logs.filter(({ attempt }) => attempt === one.attempt).length}
            />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function Attempt({
  attempt,
  isOpen,
  logLines,
}: {
  readonly attempt: AttemptInfo;
  readonly isOpen: boolean;
  readonly logLines: number;
}): VNode {
  const { error, outcome, decision, leasedAt, endedAt, worker, attempt: number } = attempt;
  return (
    <details open={isOpen}>
      <summary>
        <span class="a-n">{attempt.attempt}</span>
        <StateLabel state={outcome} />
        <span class="a-text cut">
          {error === undefined ? decision : `${error.name}: ${error.message}`}
        </span>
        <span class="a-at dim">{momentText(leasedAt, now.value)}</span>
        <span class="a-d num">{lengthText(endedAt - leasedAt)}</span>
        <span class="a-w dim cut">{worker}</span>
      </summary>
      <div class="a-body">
        {error === undefined ? null : <ErrorText error={error} />}
        <p class="dim">
          {lengthText(endedAt - leasedAt)} on {worker}. Then: {decision}.{' '}
          {logLines === 0 ? null : (
            <a href={linkHere({ attempt: String(number) })}>
              {countOf(logLines, 'line')} of the log
            </a>
          )}
        </p>
      </div>
    </details>
  );
}

/** What was thrown, and what that was made of. */
export function ErrorText({ error }: { readonly error: TaskError }): VNode {
  const { name, message, stack, code, cause } = error;
  return (
    <>
      <Scroller kind="code-box" label={`${name}, with its stack`}>
        <pre>
          {stack ?? `${name}: ${message}`}
          {code === undefined ? '' : `\ncode: ${code}`}
        </pre>
      </Scroller>
      {cause === undefined ? null : (
        <>
          <p class="dim">made of</p>
          <ErrorText error={cause} />
        </>
      )}
    </>
  );
}
