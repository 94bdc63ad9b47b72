/** What limits would do to what waits and runs now. */
import type { VNode } from 'preact';
import { rateOf } from '../api/rates.ts';
import type { Texts } from '../api/setting-changes.ts';
import { lengthText } from '../words/lengths.ts';
import { countOf, countText } from '../words/numbers.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

interface LimitEffectProps {
  readonly running: number;
  readonly queued: number;
  /** `maxRunning`, `rate` and `maxQueued` as they are written; they are right. */
  readonly after: Texts;
}

/** Nothing where nothing is limited. */
export function LimitEffect({ running, queued, after }: LimitEffectProps): VNode | null {
  const lines = [
    runningLine(running, after['maxRunning']),
    rateLine(queued, after['rate']),
    queuedLine(queued, after['maxQueued']),
  ].filter((line) => line !== undefined);
  if (lines.length === 0) return null;
  return (
    <ul class="effect">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function runningLine(running: number, text = ''): string | undefined {
  if (text.trim() === '') return undefined;
  const over = running - Number(text);
  if (over < 0) return `${countText(running)} run now, ${countText(-over)} more may start.`;
  return over === 0
    ? `${countText(running)} run now: one has to end before another starts.`
    : `${countText(running)} run now and go on: ${countText(over + 1)} have to end before another starts.`;
}

function rateLine(queued: number, text = ''): string | undefined {
  if (text.trim() === '') return undefined;
  const { limit, per } = rateOf(text);
  const [, count = '', unit = ''] = /^([\d.]+)(\w+)$/.exec(per) ?? [];
  const perMs = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (queued === 0 || !(perMs > 0) || !(limit > 0)) return undefined;
  return `${countOf(queued, 'task')} in line would take at least ${lengthText((queued / limit) * perMs)} to start.`;
}

function queuedLine(queued: number, text = ''): string | undefined {
  if (text.trim() === '') return undefined;
  const left = Number(text) - queued;
  return left > 0
    ? `${countText(queued)} wait now, ${countText(left)} more are taken in.`
    : `${countText(queued)} wait now and stay: more are refused until fewer wait.`;
}
