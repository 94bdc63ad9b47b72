import type { MetricKey } from './table.ts';

/** Where figures go: Prometheus, OpenTelemetry. */
export interface Recorder {
  /** Adds to a counter. */
  add(key: MetricKey, labels: Readonly<Record<string, string>>, by?: number): void;
  /** One value of a histogram, in seconds. */
  observe(key: MetricKey, labels: Readonly<Record<string, string>>, seconds: number): void;
}
