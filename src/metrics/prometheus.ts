import type * as PromClient from 'prom-client';
import { entriesIn } from '../base/records.ts';
import type { UserSelection } from '../client/facades/user-selection.ts';
import type { Instruments } from '../core/instruments.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { ProcessFigures } from './process-figures.ts';
import type { Recorder } from './recorder.ts';
import { METRICS, type MetricKey, type Sample, type Samples } from './table.ts';

/** The package `prom-client`, as it is imported. */
export type PrometheusClient = Pick<
  typeof PromClient,
  'Counter' | 'Gauge' | 'Histogram' | 'Registry'
>;

/** What `prometheus(…)` is made of. */
export interface PrometheusOptions {
  /** The package: `import * as client from 'prom-client'`. */
  readonly client: PrometheusClient;
  /** Where the metrics are registered. Default: a registry of their own. */
  readonly registry?: PromClient.Registry | undefined;
  /**
   * Users with figures of their own: each is a label, so every one costs memory in each program that
   * reads them. Default `'none'`.
   */
  readonly users?: UserSelection | undefined;
}

const KEYS: OptionKeys<PrometheusOptions> = keysOf<PrometheusOptions>()({
  client: true,
  registry: true,
  users: true,
});

/** The instruments of a client, and what they show. */
export interface Prometheus extends Instruments {
  /** Of the answer to a scrape. */
  readonly contentType: string;
  /** Everything in the registry, in the text format of Prometheus. */
  text(): Promise<string>;
}

const PREFIX = 'fairloom_';

/**
 * Measures a client for Prometheus: give it as `metrics` to a `Fairloom`, and answer scrapes with
 * `text()`.
 *
 * @throws `InvalidOptionError` for the first option that is not what it should be.
 */
export function prometheus(options: PrometheusOptions): Prometheus {
  checkOptions('prometheus', options, KEYS);
  const { client, users = 'none' } = options;
  if (typeof client?.Counter !== 'function') {
    throw new InvalidOptionError('client', 'the package prom-client', client);
  }
  if (options.registry !== undefined && typeof options.registry?.metrics !== 'function') {
    throw new InvalidOptionError('registry', 'a Registry of prom-client', options.registry);
  }
  const registry = options.registry ?? new client.Registry();
  const recorder: Recorder = new PrometheusRecorder(client, registry, () => figures.look());
  const figures: ProcessFigures = new ProcessFigures(recorder, users);
  return Object.assign(figures, {
    contentType: registry.contentType,
    text: () => registry.metrics(),
  });
}

type Labels = Readonly<Record<string, string>>;

class PrometheusRecorder implements Recorder {
  readonly #counters = new Map<MetricKey, PromClient.Counter>();
  readonly #histograms = new Map<MetricKey, PromClient.Histogram>();

  constructor(
    client: PrometheusClient,
    registry: PromClient.Registry,
    look: () => Promise<Samples>,
  ) {
    for (const [key, spec] of entriesIn(METRICS)) {
      const common = {
        name: PREFIX + spec.name,
        help: spec.help,
        labelNames: [...spec.labels],
        registers: [registry],
      };
      // What this look finds takes the place of what the one before found.
      const show = async (metric: { reset(): void }, put: (sample: Sample) => void) => {
        const found = await look();
        metric.reset();
        for (const sample of found.get(key) ?? []) put(sample);
      };
      if (spec.kind === 'histogram') {
        const buckets = [...(spec.buckets ?? [])];
        this.#histograms.set(key, new client.Histogram({ ...common, buckets }));
      } else if (spec.kind === 'gauge') {
        const gauge: PromClient.Gauge = new client.Gauge({
          ...common,
          collect: () => show(gauge, ({ labels, value }) => gauge.set(labels, value)),
        });
      } else if (spec.isLookedAt === true) {
        const counter: PromClient.Counter = new client.Counter({
          ...common,
          collect: () => show(counter, ({ labels, value }) => counter.inc(labels, value)),
        });
      } else {
        this.#counters.set(key, new client.Counter(common));
      }
    }
  }

  add(key: MetricKey, labels: Labels, by = 1): void {
    this.#counters.get(key)?.inc(labels, by);
  }

  observe(key: MetricKey, labels: Labels, seconds: number): void {
    this.#histograms.get(key)?.observe(labels, seconds);
  }
}
