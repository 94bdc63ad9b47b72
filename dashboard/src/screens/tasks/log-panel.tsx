/** Lines that the handlers of a task have logged; the last one stays in sight while it runs. */

import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shownNode } from '../../../../src/domain/task/node-name.ts';
import type { TaskLogLine } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { address, linkHere } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';

interface LogPanelProps {
  readonly id: string;
  readonly isLive: boolean;
}

/** Nothing where nothing was logged. */
export function LogPanel({ id, isLive }: LogPanelProps): VNode | null {
  const { value } = useReading(source('GET /tasks/{id}/logs', [id]));
  const box = useRef<HTMLDivElement>(null);
  const only = address.value.query.get('attempt');
  const lines = value?.items.filter(
    ({ attempt }) => only === undefined || String(attempt) === only,
  );
  const count = value?.items.length ?? 0;
  useEffect(() => {
    const element = box.current;
    if (isLive && count > 0 && element !== null) element.scrollTop = element.scrollHeight;
  }, [count, isLive]);
  useEffect(() => {
    if (only === undefined || count === 0) return;
    box.current?.scrollIntoView({ block: 'nearest' });
    box.current?.focus({ preventScroll: true });
  }, [only, count > 0]);
  if (lines === undefined || count === 0) return null;
  const whose = only === undefined ? 'of all attempts' : `of attempt ${only}`;
  return (
    <Panel
      title="Log"
      meta={isLive ? `${whose}, live` : whose}
      tools={
        only === undefined ? undefined : (
          <a href={linkHere({ attempt: undefined })}>Of all attempts</a>
        )
      }
    >
      <Scroller kind="logs" box={box} label="Lines of the log">
        <table>
          <tbody>
            {lines.map((line) => (
              <Line key={line.next} line={line} />
            ))}
          </tbody>
        </table>
      </Scroller>
    </Panel>
  );
}

function Line({
  line: { at, level, attempt, node, message, fields },
}: {
  readonly line: TaskLogLine;
}): VNode {
  return (
    <tr class={`l-${level}`}>
      <td>{timeText(at)}</td>
      <td class="lv">
        {level === 'info' ? null : <Icon name={level === 'warn' ? 'warn' : 'failed'} size={12} />}
        {level}
      </td>
      <td class="dim">
        {attempt}
        {node === undefined ? '' : ` ${shownNode(node)}`}
      </td>
      <td>
        {message} <span class="dim">{fields === undefined ? '' : JSON.stringify(fields)}</span>
      </td>
    </tr>
  );
}

function timeText(at: number): string {
  return `${new Date(at).toLocaleTimeString('en-GB')}.${String(at % 1_000).padStart(3, '0')}`;
}
