import type * as PromClient from 'prom-client';
import { entriesIn } from '../base/records.ts';
import type { UserSelection } from '../client/facades/user-selection.ts';
import type { Instruments } from '../core/instruments.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { ProcessFigures } from './process-figures.ts';
import type { Recorder } from './recorder.ts';
import { METRICS, type MetricKey, type Sample, type Samples } from './table.ts';

/** The imported package `prom-client`. */
export type PrometheusClient = Pick<
  typeof PromClient,
  'Counter' | 'Gauge' | 'Histogram' | 'Registry'
>;

/** Options of `prometheus(…)`. */
export interface PrometheusOptions {
  /** The package: `import * as client from 'prom-client'`. */
  readonly client: PrometheusClient;
  /** Registry of the metrics. Default: a new one. */
  readonly registry?: PromClient.Registry | undefined;
  /**
   * Users with their own figures: each is a label, and costs memory in every program that reads
   * them. Default `'none'`.
   */
  readonly users?: UserSelection | undefined;
}

const KEYS: OptionKeys<PrometheusOptions> = keysOf<PrometheusOptions>()({
  client: true,
  registry: true,
  users: true,
});

/** Instruments of a client, and their text. */
export interface Prometheus extends Instruments {
  /** Content type of the answer to a scrape. */
  readonly contentType: string;
  /** Everything in the registry, in the text format of Prometheus. */
  text(): Promise<string>;
}

const PREFIX = 'fairloom_';

/**
 * Measures a client for Prometheus: set it as `metrics` of a `Fairloom`, and answer scrapes with
 * `text()`.
 *
 * @throws `InvalidOptionError` for the first invalid option.
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
      // The samples of this read replace those of the previous one.
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
