import type { MetricKey } from './table.ts';

/** Receiver of figures: Prometheus, OpenTelemetry. */
export interface Recorder {
  /** Adds to a counter. */
  add(key: MetricKey, labels: Readonly<Record<string, string>>, by?: number): void;
  /** Adds a value to a histogram, in seconds. */
  observe(key: MetricKey, labels: Readonly<Record<string, string>>, seconds: number): void;
}
