/** Runs layers of tests in one vitest, so that none waits for the last file of another. */
import { type LayerResult, resultIn } from './layer-result.ts';
import { run } from './run.ts';

/** The result of a run as a whole. */
export interface LayersRun {
  /** vitest's report of failures only. */
  readonly output: string;
  /** 1 for a run that failed without a failed test, and for each layer that did not finish. */
  readonly failed: number;
}

/** Reports each layer as soon as it has ended. */
export async function runLayers(
  names: readonly string[],
  ended: (layer: LayerResult) => void,
): Promise<LayersRun> {
  const left = new Set(names);
  let failed = 0;
  const other: string[] = [];
  const read = (line: string): void => {
    const layer = resultIn(line);
    if (layer === undefined) {
      other.push(line);
      return;
    }
    left.delete(layer.name);
    failed += layer.failed;
    ended(layer);
  };
  const projects = names.flatMap((name) => ['--project', name]);
  const { code } = await run(
    ['vitest', 'run', ...projects, '--reporter=./scripts/layer-reporter.ts'],
    read,
  );
  const lost = left.size > 0 ? left.size : code !== 0 && failed === 0 ? 1 : 0;
  const unended = [...left].map((name) => `the layer "${name}" did not come to its end`);
  return { output: [...other, ...unended].join('\n').trim(), failed: lost };
}
