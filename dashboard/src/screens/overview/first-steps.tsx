/** Nothing is stored yet: the lines that change it. */

import type { VNode } from 'preact';
import { CommandLine } from '../../parts/command-line.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { Empty } from '../../parts/shown.tsx';

const LINES = `const loom = new Fairloom({ backend });
const resize = task('resize', async (file: string) => file.length);
await loom.enqueue(resize, 'cat.png', { user: 'acme' });`;

/** What enqueues the first task, in code and from a shell. */
export function FirstSteps(): VNode {
  return (
    <Panel title="No task is stored yet">
      <Empty title="Three lines store one">
        <Scroller kind="code-box" label="The three lines">
          <pre>{LINES}</pre>
        </Scroller>
        <p>A worker in the same program, or in another one over Redis, runs it. From a shell:</p>
        <CommandLine text={`fairloom enqueue resize '"cat.png"' --user acme`} wide={true} />
        <p class="dim">This page shows it as soon as it is there.</p>
      </Empty>
    </Panel>
  );
}
