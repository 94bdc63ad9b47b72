/** Keys that gather calls: every standing of the task that holds the key, before and in a window. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type OwnerState,
  openWindow,
  type Window,
  windowStep,
} from '../../src/domain/task/window.ts';

const NOW = 1_000_000;

describe('debounce', () => {
  const spec = { policy: 'debounce', waitMs: 5_000, maxWaitMs: 12_000 } as const;

  it('opens with the first call', () => {
    expect(openWindow(spec, NOW)).toEqual({
      kind: 'new',
      dueAt: NOW + 5_000,
      window: { from: NOW },
    });
    const short = openWindow({ ...spec, maxWaitMs: 1 }, NOW);
    expect(short.dueAt).toBe(NOW + 1);
  });

  it.each([
    [0, NOW + 5_000],
    [7_000, NOW + 5_000],
    [9_000, NOW + 3_000],
    [12_000, NOW],
    [60_000, NOW],
  ])('%i ms after the first call it moves the start to %i', (since, dueAt) => {
    const window = { from: NOW - since };
    expect(windowStep(spec, window, 'scheduled', NOW)).toEqual({ kind: 'replace', dueAt });
  });

  it('without a longest wait it moves on for ever', () => {
    const endless = { policy: 'debounce', waitMs: 5_000 } as const;
    const step = windowStep(endless, { from: 0 }, 'scheduled', NOW);
    expect(step).toEqual({ kind: 'replace', dueAt: NOW + 5_000 });
  });

  it('replaces the input of a task that is due, and follows one that has begun', () => {
    expect(windowStep(spec, { from: 0 }, 'waiting', NOW)).toEqual({ kind: 'replace' });
    expect(windowStep(spec, { from: 0 }, 'begun', NOW)).toEqual(openWindow(spec, NOW));
  });
});

describe('throttle', () => {
  const spec = { policy: 'throttle', perMs: 10_000, trailing: true } as const;
  const inside: Window = { from: NOW - 4_000, until: NOW + 6_000 };
  const ahead: Window = { from: NOW + 6_000, until: NOW + 16_000 };

  it('opens at once', () => {
    const window = { from: NOW, until: NOW + 10_000 };
    expect(openWindow(spec, NOW)).toEqual({ kind: 'new', dueAt: NOW, window });
  });

  it.each<OwnerState>(['scheduled', 'waiting', 'begun'])(
    'the next task of a window whose own is %s ends it and opens the next',
    (status) => {
      expect(windowStep(spec, inside, status, NOW)).toEqual({
        kind: 'new',
        dueAt: NOW + 6_000,
        window: { from: NOW + 6_000, until: NOW + 16_000 },
      });
    },
  );

  it.each<[OwnerState, object]>([
    ['scheduled', { kind: 'replace' }],
    ['waiting', { kind: 'replace' }],
    ['begun', { kind: 'new', dueAt: NOW + 6_000, window: ahead }],
  ])('before the window of a task that is %s', (status, step) => {
    expect(windowStep(spec, ahead, status, NOW)).toEqual(step);
  });

  it('without trailing every other call is answered with the task', () => {
    const dropping = { ...spec, trailing: false };
    for (const window of [inside, ahead]) {
      expect(windowStep(dropping, window, 'begun', NOW)).toEqual({ kind: 'return' });
    }
  });
});

it('windows of one key never overlap, and no start is in the past', () => {
  const gap = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.array(gap, { maxLength: 30 }),
      (perMs, gaps) => {
        const spec = { policy: 'throttle', perMs, trailing: true } as const;
        let now = NOW;
        let { window } = openWindow(spec, now);
        for (const pause of gaps) {
          now += pause;
          const status: OwnerState = now >= window.from ? 'begun' : 'scheduled';
          const isOver = now >= (window.until ?? 0);
          const step = isOver ? openWindow(spec, now) : windowStep(spec, window, status, now);
          if (step.kind !== 'new') continue;
          expect(step.dueAt).toBeGreaterThanOrEqual(now);
          expect(step.window.from).toBeGreaterThanOrEqual(window.until ?? 0);
          expect(step.window.until).toBe(step.window.from + perMs);
          window = step.window;
        }
      },
    ),
  );
});
