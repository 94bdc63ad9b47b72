/**
 * Reports the layers of a vitest run: at the end of each a line that scripts/run-layers.ts reads, and at the
 * end of all vitest's report of the failed tests. Passed tests are not reported.
 */
import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';
import { type LayerResult, lineOf } from './layer-result.ts';

interface Tally extends LayerResult {
  passed: number;
  failed: number;
  skipped: number;
  readonly failures: string[];
  ms: number;
  filesLeft: number;
}

export default class LayerReporter extends DefaultReporter {
  readonly #layers = new Map<string, Tally>();

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    for (const { project } of specifications) this.#layer(project.name).filesLeft += 1;
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    const layer = this.#layer(module.project.name);
    const before = layer.failed;
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      if (state === 'passed') layer.passed += 1;
      if (state === 'skipped') layer.skipped += 1;
      if (state === 'failed') fail(layer, `${module.relativeModuleId} > ${test.fullName}`, errors);
    }
    if (!module.ok() && layer.failed === before) {
      fail(layer, `${module.relativeModuleId}: a hook failed, or it did not load`, module.errors());
    }
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    layer.ms += collectDuration + setupDuration + duration;
    layer.filesLeft -= 1;
    if (layer.filesLeft === 0) process.stdout.write(`${lineOf(layer)}\n`);
  }

  protected override printTestModule(): void {
    // The line of its layer counts it; the end of the run reports the failed test.
  }

  #layer(name: string): Tally {
    const known = this.#layers.get(name);
    if (known !== undefined) return known;
    const made = { name, passed: 0, failed: 0, skipped: 0, failures: [], ms: 0, filesLeft: 0 };
    this.#layers.set(name, made);
    return made;
  }
}

function fail(layer: Tally, what: string, errors: readonly { message: string }[] = []): void {
  layer.failed += 1;
  layer.failures.push(`${what}: ${errors[0]?.message.split('\n')[0] ?? ''}`);
}
