/** Lines that the handlers of a task have logged; the last one stays in sight while it runs. */

import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TaskLogLine } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { useReading } from '../../state/readings.ts';

interface LogPanelProps {
  readonly id: string;
  readonly isLive: boolean;
}

/** Nothing where nothing was logged. */
export function LogPanel({ id, isLive }: LogPanelProps): VNode | null {
  const { value } = useReading(source('GET /tasks/{id}/logs', [id]));
  const box = useRef<HTMLDivElement>(null);
  const count = value?.items.length ?? 0;
  useEffect(() => {
    const element = box.current;
    if (isLive && count > 0 && element !== null) element.scrollTop = element.scrollHeight;
  }, [count, isLive]);
  if (value === undefined || count === 0) return null;
  return (
    <Panel title="Log" meta={isLive ? 'of all attempts, live' : 'of all attempts'}>
      <Scroller kind="logs" box={box} label="Lines of the log">
        <table>
          <tbody>
            {value.items.map((line) => (
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
        {node === undefined ? '' : ` ${node}`}
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
