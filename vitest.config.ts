import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import type { InlineConfig } from 'vitest/node';
import { LAYERS, type Layer, programsOf } from './test/support/layers.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { newestCompiler } from './test/support/processes/compilers.ts';

/**
 * How long a test, a hook or a poll may take, in ms. Only what hangs takes so long, however busy the machine is: no
 * test passes or fails by the speed of the machine.
 */
const HANGS_MS = 600_000;

/** The test that runs other versions of the compiler. */
const COMPILERS = 'test/types/compilers.test.ts';

export default defineConfig({
  test: {
    // One more than the cores that there are at least: tests wait for servers, processes and timers.
    maxWorkers: 3,
    projects: LAYERS.map(project),
    globalSetup: ['test/support/generate-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // What a layer has compiled, no other compiles again.
    experimental: { fsModuleCache: true },
  },
});

/** A layer is a project, so `vitest run --project domain` runs it alone. */
function project(layer: Layer): TestProjectConfiguration {
  return {
    resolve: {
      alias: [
        { find: /^fairloom$/, replacement: source('index') },
        {
          find: /^fairloom\/(backend|config|conformance|file|http|metrics|redis|testing|tracing|types)$/,
          replacement: source('$1'),
        },
      ],
    },
    test: {
      name: layer.name,
      include: [`test/${layer.name}/**/*.test.ts`],
      pool: 'forks',
      setupFiles: [
        'test/support/property-seed.ts',
        ...(layer.redis ? ['test/support/redis/redis-env.ts'] : []),
      ],
      restoreMocks: true,
      // Files share nothing but modules, which take longest to load.
      isolate: false,
      // A test that asserts nothing passes whatever the code does.
      expect: { requireAssertions: true, poll: { timeout: HANGS_MS / 2 } },
      testTimeout: HANGS_MS,
      hookTimeout: HANGS_MS,
      globalSetup: [
        ...(layer.built ? ['test/support/processes/built-setup.ts'] : []),
        ...(programsOf([layer]).length > 0 ? ['test/support/processes/programs-setup.ts'] : []),
        ...(layer.redis ? ['test/support/global-setup.ts'] : []),
      ],
      ...(layer.name === 'types' ? compiled() : {}),
    },
  };
}

/** The other tests of types are compiled, not run: the compiler's answer is the result. */
function compiled(): InlineConfig {
  return {
    include: [COMPILERS],
    typecheck: {
      enabled: true,
      // The fastest; the compilers' own test holds what the others say of the same files.
      checker: newestCompiler(),
      include: ['test/types/**/*.test.ts'],
      exclude: [COMPILERS],
      tsconfig: 'test/types/tsconfig.json',
      ignoreSourceErrors: true,
    },
  };
}

function source(entry: string): string {
  return `${fileURLToPath(new URL('./src/', import.meta.url))}${entry}.ts`;
}
