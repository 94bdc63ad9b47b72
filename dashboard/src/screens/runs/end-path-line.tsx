/** What the end of a run waited for, in words. */
import type { VNode } from 'preact';
import { shownNode } from '../../../../src/domain/task/node-name.ts';
import type { RunDetails } from '../../api/shapes.ts';
import { linkTo } from '../../state/address.ts';
import { lengthText } from '../../words/lengths.ts';
import type { PathStep } from './end-path.ts';

/** Of a long chain those that took longest say most. */
const SHOWN = 12;

interface EndPathProps {
  readonly path: readonly PathStep[];
  readonly run: RunDetails;
  /** Of what goes on. */
  readonly end: number;
}

/** Nothing where no node is a task. */
export function EndPath({ path, run, end }: EndPathProps): VNode | null {
  if (path.length === 0) return null;
  const took = ({ from, to = end }: PathStep): number => Math.max(0, to - from);
  const longest = new Set([...path].sort((a, b) => took(b) - took(a)).slice(0, SHOWN));
  const members = new Map(run.nodes.map(({ node, member = shownNode(node) }) => [node, member]));
  const left = path.length - longest.size;
  return (
    <div class="end-path">
      <b>{run.endedAt === undefined ? 'So far it waits for' : 'The end waited for'}</b>
      <ol>
        {path
          .filter((step) => longest.has(step))
          .map((step) => (
            <li key={step.node}>
              <a href={linkTo('tasks', step.taskId)}>{members.get(step.node)}</a>{' '}
              <span class="dim">
                {lengthText(took(step))}
                {waitText(took(step) - step.ranMs)}
              </span>
            </li>
          ))}
      </ol>
      {left === 0 ? null : <span class="dim">and {left} that took less.</span>}
    </div>
  );
}

/** Less is as good as none. */
const LEAST_WAIT_MS = 100;

/** In line, asleep, or between attempts. */
function waitText(ms: number): string {
  return ms < LEAST_WAIT_MS ? '' : `, ${lengthText(ms)} of it without running`;
}
