import type { Counter, Histogram, Meter, Observable } from '@opentelemetry/api';
import { entriesIn } from '../base/records.ts';
import type { UserSelection } from '../client/facades/user-selection.ts';
import type { Instruments } from '../core/instruments.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { ProcessFigures } from './process-figures.ts';
import type { Recorder } from './recorder.ts';
import { METRICS, type MetricKey, type Samples } from './table.ts';

/** Options of `openTelemetryMetrics(…)`. */
export interface OpenTelemetryMetricsOptions {
  /** Creates the instruments: `metrics.getMeter('fairloom')` of `@opentelemetry/api`. */
  readonly meter: Meter;
  /** Users with their own figures. Default `'none'`. */
  readonly users?: UserSelection | undefined;
}

const KEYS: OptionKeys<OpenTelemetryMetricsOptions> = keysOf<OpenTelemetryMetricsOptions>()({
  meter: true,
  users: true,
});

const PREFIX = 'fairloom_';

/**
 * Measures a client for OpenTelemetry: set it as `metrics` of a `Fairloom`.
 *
 * @throws `InvalidOptionError` for the first invalid option.
 */
export function openTelemetryMetrics(options: OpenTelemetryMetricsOptions): Instruments {
  checkOptions('openTelemetryMetrics', options, KEYS);
  const { meter, users = 'none' } = options;
  if (typeof meter?.createCounter !== 'function') {
    throw new InvalidOptionError('meter', 'a Meter of @opentelemetry/api', meter);
  }
  const recorder: Recorder = new MeterRecorder(meter, () => figures.look());
  const figures: ProcessFigures = new ProcessFigures(recorder, users);
  return figures;
}

type Labels = Readonly<Record<string, string>>;

class MeterRecorder implements Recorder {
  readonly #counters = new Map<MetricKey, Counter>();
  readonly #histograms = new Map<MetricKey, Histogram>();

  constructor(meter: Meter, look: () => Promise<Samples>) {
    const lookedAt = new Map<MetricKey, Observable>();
    for (const [key, spec] of entriesIn(METRICS)) {
      const name = PREFIX + spec.name;
      const common = { description: spec.help };
      if (spec.kind === 'histogram') {
        const advice = { explicitBucketBoundaries: [...(spec.buckets ?? [])] };
        this.#histograms.set(key, meter.createHistogram(name, { ...common, unit: 's', advice }));
      } else if (spec.kind === 'gauge') {
        lookedAt.set(key, meter.createObservableGauge(name, common));
      } else if (spec.isLookedAt === true) {
        lookedAt.set(key, meter.createObservableCounter(name, common));
      } else {
        this.#counters.set(key, meter.createCounter(name, common));
      }
    }
    meter.addBatchObservableCallback(
      async (result) => {
        for (const [key, samples] of await look()) {
          const instrument = lookedAt.get(key);
          if (instrument === undefined) continue;
          for (const { labels, value } of samples) result.observe(instrument, value, labels);
        }
      },
      [...lookedAt.values()],
    );
  }

  add(key: MetricKey, labels: Labels, by = 1): void {
    this.#counters.get(key)?.add(by, labels);
  }

  observe(key: MetricKey, labels: Labels, seconds: number): void {
    this.#histograms.get(key)?.record(seconds, labels);
  }
}
