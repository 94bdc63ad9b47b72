import { createHash } from 'node:crypto';
import { argsOf } from '../../../src/backends/file/log/calls.ts';
import { Engine, EngineClock } from '../../../src/backends/file/replay/engine.ts';

const STILL = new EngineClock({ now: () => 0, setTimer: () => ({ cancel: () => undefined }) });

/** A short text of all that the engine answers to these lines of a log. */
export async function answersOf(lines: readonly string[]): Promise<string> {
  const engine = new Engine(STILL);
  const hash = createHash('sha256');
  for (const line of lines) {
    const [moment, name, ...args] = JSON.parse(line);
    const answer = await engine.step(moment, name, argsOf(name, args)).catch(String);
    hash.update(`${JSON.stringify(answer ?? null)}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
