/** What the library takes of its surroundings, and where. */
import { describe, expect, it } from 'vitest';
import { codeOf, filesBelow, read } from '../support/files.ts';

const sources = filesBelow('src', /\.ts$/).filter((path) => !path.endsWith('.generated.ts'));

/** Files whose code matches. */
function users(pattern: RegExp, ...except: readonly string[]): readonly string[] {
  return sources.filter((path) => !except.includes(path) && pattern.test(codeOf(read(path))));
}

describe('globals', () => {
  // Timers themselves are a rule of Biome, which sees what is a global and what an import.
  // F11
  it('of time are looked up in base/globals.ts alone, once', () => {
    const reads =
      /\bDate\.now\b|\bnew Date\(\s*\)|\bprocess\s*\.\s*(nextTick|hrtime)\b|\bglobalThis\b/;
    expect(users(reads, 'src/base/globals.ts')).toEqual([]);
  });

  // F11
  it('of time are no business of pure code', () => {
    const pure = /^src\/(domain|workflow|schedules\/timing|graph|backends\/memory)\//;
    const imports = /base\/globals\.ts'|'node:(timers|perf_hooks)/;
    const found = sources.filter((path) => pure.test(path) && imports.test(read(path)));
    expect(found).toEqual([]);
  });
});

describe('signals', () => {
  // F61
  it('are joined by linkAbort, never by AbortSignal.any', () => {
    expect(users(/\bAbortSignal\s*\.\s*(timeout|[a]ny)\b/)).toEqual([]);
  });

  // F15
  it('have one listener for all who watch them', () => {
    const listens = /\baddEventListener\b|\bonabort\b|\bsetMaxListeners\b/;
    expect(users(listens, 'src/base/abort-watch.ts')).toEqual([]);
  });
});
