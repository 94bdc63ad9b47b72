/** What needs a hand, each with the command that helps; what is well takes one line. */
import type { VNode } from 'preact';
import type { Overview } from '../../api/shapes.ts';
import { CommandLine } from '../../parts/command-line.tsx';
import { Icon } from '../../parts/icon.tsx';
import { commandAbout, commandText } from '../../words/commands.ts';
import { lengthText } from '../../words/lengths.ts';
import { countOf } from '../../words/numbers.ts';

interface Problem {
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly text: string;
  readonly command: string;
}

/** A schedule that is due so long is late. */
const LATE_MS = 60_000;

/** All of them, the worst first. */
export function Problems({ overview }: { readonly overview: Overview }): VNode {
  const problems = problemsOf(overview);
  if (problems.length === 0) {
    return (
      <section class="panel health is-well" aria-label="Health">
        <p class="state t-ok">
          <Icon name="ok" />
          <span>Workers, schedules and queues are well.</span>
        </p>
      </section>
    );
  }
  return (
    <section class="panel health" aria-label="Health">
      {problems.map(({ tone, title, text, command }) => (
        <div key={title} class={`check-row t-${tone}`}>
          <Icon name={tone === 'bad' ? 'failed' : 'warn'} />
          <p>
            <b>{title}</b> {text}
          </p>
          <CommandLine text={command} />
        </div>
      ))}
    </section>
  );
}

function problemsOf({ workers, counts, queues = [], lagMs = 0 }: Overview): readonly Problem[] {
  const found: Problem[] = [];
  const queued = counts?.queued ?? 0;
  if (workers === 0 && queued > 0) {
    found.push({
      tone: 'bad',
      title: 'No worker is live.',
      text: `${countOf(queued, 'task')} wait in line.`,
      command: commandText('doctor'),
    });
  }
  if (lagMs > LATE_MS) {
    found.push({
      tone: 'warn',
      title: 'Schedules are late.',
      text: `One has been due for ${lengthText(lagMs)}: no process fires them.`,
      command: commandText('scheduler'),
    });
  }
  for (const { queue, settings, counts: own } of queues) {
    if (settings.paused !== true || own.queued === 0) continue;
    found.push({
      tone: 'warn',
      title: `Queue ${queue} is paused.`,
      text: `${countOf(own.queued, 'task')} wait in it.`,
      command: commandAbout(queue, 'queues', 'resume'),
    });
  }
  return found;
}
