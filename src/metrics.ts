/** Figures for Prometheus (needs the package `prom-client`) and OpenTelemetry. */
export {
  type MonitoringOptions,
  type MonitoringServer,
  serveMonitoring,
} from './metrics/monitoring-server.ts';
export {
  type OpenTelemetryMetricsOptions,
  openTelemetryMetrics,
} from './metrics/open-telemetry.ts';
export {
  type Prometheus,
  type PrometheusClient,
  type PrometheusOptions,
  prometheus,
} from './metrics/prometheus.ts';
export type { UserSelection } from './metrics/store-figures.ts';
export {
  METRICS,
  type MetricKey,
  type MetricKind,
  type MetricScope,
  type MetricSpec,
} from './metrics/table.ts';
