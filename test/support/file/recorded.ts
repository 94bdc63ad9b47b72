/** A subject of the model whose steps are written down, for fixtures. */
import { type Carry, kindOf, partsOf } from '../../../src/backends/file/log/calls.ts';
import {
  Engine,
  EngineClock,
  lineOf,
  type StepName,
} from '../../../src/backends/file/replay/engine.ts';
import { RETENTION, START_MS, type Subject } from '../../model/harness.ts';

/** Told of each step, once it was taken: its line, and the engine after it. */
export type Noted = (line: string, engine: Engine) => void;

/** Begins with the step that says how long ended tasks are kept. */
export async function recordedSubject(noted: Noted): Promise<Subject> {
  let now = START_MS;
  const clock = new EngineClock({ now: () => now, setTimer: () => ({ cancel: () => undefined }) });
  const engine = new Engine(clock);
  const step = (name: StepName, args: readonly unknown[]): Promise<unknown> => {
    const line = lineOf(now, name, args);
    // It has happened when this returns, so lines stand in the order of their steps.
    const answer = engine.step(now, name, args);
    noted(line, engine);
    return answer;
  };
  const carry: Carry = async (name, args) => {
    const kind = kindOf(name);
    if (name === 'retention' || (kind !== 'look' && kind !== 'wait')) return step(name, args);
    return engine.look(name, args);
  };
  await step('retention', [RETENTION]);
  return {
    name: 'recorded',
    backend: {
      name: 'recorded',
      capabilities: { durable: true, shared: true },
      ...partsOf(carry),
      open: async () => ({ description: '', warnings: [] }),
      close: async () => engine.close(),
    },
    retention: RETENTION,
    setClock: (ms) => {
      now = ms;
    },
    close: async () => engine.close(),
  };
}
