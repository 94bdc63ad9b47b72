/** Figures for Prometheus (needs the package `prom-client`) and OpenTelemetry. */

export type { UserSelection } from './client/facades/user-selection.ts';
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
export {
  METRICS,
  type MetricKey,
  type MetricKind,
  type MetricScope,
  type MetricSpec,
} from './metrics/table.ts';
